import copy
import dataclasses
import math
import pickle
import tracemalloc

import mpmath as mp
import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.special
import scipy.stats
import truth

from spherapprox import VonMisesFisher, special


def test_integrals_of_a_narrow_kernel():
    # where the kernel is narrow beside rho, D is its peak times the cap's measure and the part just beyond it
    dim, lam, rho = 8, 1e12, 0.3
    kernel = VonMisesFisher(dim, lam)
    expected = kernel.log_density(1.0) + special.log_cap_measure(dim, rho)
    assert kernel.shift_variation(rho, log=True) == pytest.approx(expected, abs=1e-4)
    assert kernel.shift_variation(rho, log=True) > expected
    mean = math.exp(math.lgamma(4.5) - math.lgamma(4.0)) * math.sqrt(2.0 / lam)  # E|x| of a Gaussian in R^8
    assert kernel.mean_angle() == pytest.approx(mean, rel=1e-11)
    assert VonMisesFisher(128, 1e9).shifted_mean_angle(2.5) == math.inf
    assert VonMisesFisher(128, 1e9).shifted_mean_angle(2.5, log=True) > 1e9


@pytest.mark.parametrize("dim", [1, 2, 100, 10**6])
@pytest.mark.parametrize("lam", [5e-324, 1e-20, 1.0, 1e16, 1e200])
def test_integrals_hold_over_the_whole_range(dim, lam):
    kernel = VonMisesFisher(dim, lam)
    mean = kernel.mean_angle()
    assert 0.0 < mean <= math.pi / 2 + 1e-15
    previous = -math.inf
    for rho in (5e-324, 1e-150, 1e-20, 1e-3, 1.0, math.pi / 2, 2.4, math.pi):
        variation, shifted = (f(rho, log=True) for f in (kernel.shift_variation, kernel.shifted_mean_angle))
        assert not math.isnan(variation)
        assert variation >= previous - 1e-9
        assert math.log(mean + rho) - 1e-13 * max(1.0, abs(shifted)) <= shifted < math.inf
        previous = variation


def test_integrals_at_the_ends():
    kernel = VonMisesFisher(3, 2.0)
    assert kernel.shift_variation(0.0) == 0.0
    assert kernel.shifted_mean_angle(0.0) == kernel.mean_angle()
    # rho = pi: (theta + pi) k(0) over k(pi)
    assert kernel.shifted_mean_angle(math.pi) == pytest.approx(1.5 * math.pi * math.exp(4.0), rel=1e-14)
    uniform = VonMisesFisher(5, 0.0)
    assert uniform.mean_angle() == pytest.approx(math.pi / 2, rel=1e-15)
    assert uniform.shift_variation(1.0) == 0.0
    assert uniform.shifted_mean_angle(0.25) == pytest.approx(math.pi / 2 + 0.25, rel=1e-15)
    circle = VonMisesFisher(1, 0.0)
    for power in (0.01, 0.5, 1.0, 1.7, 2.0, 4.0):
        assert circle.mean_angle(power) == pytest.approx(math.pi**power / (power + 1), rel=1e-14)
    assert circle.mean_angle(0.0) == 1.0


@pytest.mark.parametrize(("dim", "lam"), [(1, 0.3), (1, 40.0), (2, 5.0), (3, 12.0), (8, 0.01), (8, 40.0), (17, 30.0)])
def test_funk_hecke_by_quadrature(dim, lam):
    kernel = VonMisesFisher(dim, lam)
    t, weights = scipy.special.roots_jacobi(80, dim / 2 - 1, dim / 2 - 1)
    weights /= weights.sum()
    density = kernel(t)
    assert weights @ density == pytest.approx(1.0, rel=1e-12)
    eigenvalues = kernel.eigenvalues(20)
    for degree in range(21):
        assert weights @ (density * special.gegenbauer(degree, dim, t)) == pytest.approx(eigenvalues[degree], abs=1e-13)
    entropy = -weights @ (density * kernel.log_density(t))
    assert kernel.entropy("normalized") == pytest.approx(entropy, rel=1e-11)


def test_eigenvalues_over_many_degrees():
    degrees = np.arange(0, 5001, 97)  # between and beyond the degrees where the products start afresh
    for lam in (1e5, 1e12):
        kernel = VonMisesFisher(3, lam)
        np.testing.assert_allclose(kernel.eigenvalues(5000)[degrees], kernel.eigenvalue(degrees), rtol=1e-14)
        logs = kernel.eigenvalues(5000, log=True)
        np.testing.assert_allclose(logs[degrees], special.log_iv_ratio(1.0, lam, degrees), rtol=1e-14)
    uniform = VonMisesFisher(3, 0.0)
    assert uniform.eigenvalues(2).tolist() == [1.0, 0.0, 0.0]
    assert uniform.eigenvalues(1, log=True).tolist() == [0.0, -math.inf]
    least, tiny = (VonMisesFisher(2, 1.0).shift_variation(rho, log=True) for rho in (5e-324, 1e-200))
    assert least == pytest.approx(tiny + math.log(5e-324) - math.log(1e-200), rel=1e-14)
    assert VonMisesFisher(3, 1e-310).eigenvalues(2, log=True)[1] == pytest.approx(math.log(1e-310) - math.log(4.0))


@pytest.mark.parametrize(("dim", "lam"), [(1, 2.0), (2, 10.0), (2, 1e-9), (9, 33.0)])
def test_density_and_entropy_agree_with_scipy(dim, lam):
    mean = np.eye(dim + 1)[-1]
    peer = scipy.stats.vonmises_fisher(mean, lam)
    kernel = VonMisesFisher(dim, lam)
    x = kernel.rvs(mean, size=7, rng=2)
    np.testing.assert_allclose(kernel.logpdf(x, mean), peer.logpdf(x), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel.pdf(x, mean), peer.pdf(x), rtol=1e-12)
    np.testing.assert_allclose(kernel.log_density(x[:, -1], measure="surface"), peer.logpdf(x), rtol=1e-12, atol=1e-12)
    assert kernel.entropy() == pytest.approx(peer.entropy(), rel=1e-9)


def test_density_at_extremes():
    assert VonMisesFisher(767, 1e-3).logpdf(np.eye(768)[:1], np.eye(768)[0])[0] == pytest.approx(1458.722151, abs=1e-5)
    assert VonMisesFisher(10**6, 1e300).log_density(1.0) > 1e8
    assert VonMisesFisher(10**6, 1e12)(1.0) == math.inf
    for dim in (1, 2, 10**6):
        for lam in (0.0, 5e-324):
            kernel = VonMisesFisher(dim, lam)
            assert kernel.log_density([-1.0, 0.0, 1.0]).tolist() == [-lam, 0.0, lam]
            assert math.copysign(1.0, kernel.log_normalizer) == math.copysign(1.0, kernel.entropy("normalized")) == 1.0
        largest = VonMisesFisher(dim, 1e300)
        assert largest.log_density([-1.0, 0.5, 1.0])[:2].tolist() == [-2e300, -0.5e300]
        assert largest(-1.0) == 0.0
        assert 300 < largest.log_density(1.0) / dim < 400
        assert largest.entropy("normalized") == pytest.approx(0.5 * dim - largest.log_density(1.0), rel=1e-14)
    poles = VonMisesFisher(2, 1e300).logpdf([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]], [0.0, 0.0, 1.0])
    assert poles[0] == VonMisesFisher(2, 1e300).log_density(1.0, "surface")
    assert poles[1] == -2e300


def test_density_takes_what_numpy_takes():
    kernel = VonMisesFisher(2, 1.0)
    assert type(kernel.log_density(0.5)) is type(kernel(np.float32(0.5))) is type(kernel(np.array(1))) is float
    assert kernel.log_density(np.zeros((2, 3))).shape == (2, 3)
    assert kernel.log_density([]).shape == kernel([]).shape == (0,)
    values = kernel(np.array([[math.nan, 0.25]], dtype=np.float32))
    assert values.dtype == np.float64
    assert math.isnan(values[0, 0])
    assert values[0, 1] == kernel(0.25)


def seam_cases():
    """Dimensions and concentrations, many of them about dim + 1, where the forms of log density and entropy meet."""
    rng = np.random.default_rng(3)
    for i in range(90):
        dim = int(rng.choice([1, 2, 3, 10, 67, 255, 767, 10**4, 10**6]))
        top = min(1.0, math.log10(3e3 / dim)) if dim > 100 else 3.0
        lam = (dim + 1) * 10 ** rng.uniform(-7, top) if i % 3 or dim > 1000 else (dim + 1) * rng.uniform(0.95, 1.05)
        yield dim, lam


def test_density_is_accurate_where_its_forms_meet_and_apart():
    t = np.array([-1.0, -0.3, -1e-3, 0.0, 1e-7, 0.5, 0.999, 1.0])
    with mp.workdps(40):
        for dim, lam in seam_cases():
            log_c = -truth.log_0f1(0.5 * (dim - 1), lam)
            for cosine, got in zip(t, VonMisesFisher(dim, lam).log_density(t), strict=True):
                exact = log_c + mp.mpf(lam) * mp.mpf(cosine)
                # a unit in the last place of t, or of the terms
                scale = min(max(abs(log_c), lam * abs(cosine)), max(abs(log_c + lam), lam * (1 - cosine)))
                assert abs(got - exact) < 2e-15 * max(scale, abs(exact)), (dim, lam, cosine)


def test_logpdf_of_near_points_and_many_rows():
    # a point an angle 1e-8 away: 1 - cos = 5e-17 is lost in the cosine
    near = VonMisesFisher(2, 1e16).logpdf([[1e-8, 0.0, 1.0]], [0.0, 0.0, 1.0])[0]
    assert near == pytest.approx(VonMisesFisher(2, 1e16).log_density(1.0, "surface") - 0.5, abs=1e-14)
    for dim, n in ((1, 20_000), (30, 3000), (767, 100)):  # more than one block of rows
        kernel = VonMisesFisher(dim, 30.0)
        mean = np.eye(dim + 1)[0]
        x = kernel.rvs(mean, size=n, rng=0)
        got = kernel.logpdf(x, mean)
        np.testing.assert_allclose(got, kernel.log_density(x[:, 0], "surface"), rtol=1e-13, atol=1e-13)
        expected = np.exp(np.minimum(got, 709.0)) if dim < 100 else np.inf
        np.testing.assert_allclose(kernel.pdf(x, mean), expected, rtol=1e-15)
        single = x.astype(np.float32)
        assert np.array_equal(kernel.logpdf(single, mean), kernel.logpdf(single.astype(np.float64), mean))
    # rows that are only nearly of unit length: the error is of second order
    stretched = 1.0009 * kernel.rvs(mean, size=5, rng=0).astype(np.float32)
    exact = stretched.astype(np.float64) / np.linalg.norm(stretched.astype(np.float64), axis=1)[:, None]
    drop = kernel.logpdf(exact, mean) - kernel.log_density(1.0, "surface")
    np.testing.assert_allclose(kernel.logpdf(stretched, mean) - kernel.log_density(1.0, "surface"), drop, rtol=1.1e-3)


def tilted(dim):
    """A unit vector in general position."""
    mean = np.arange(1.0, dim + 2.0) * (-1.0) ** np.arange(dim + 1)
    return mean / np.linalg.norm(mean)


def angle_law(dim, lam):
    """The distribution function of the angle, by quadrature of its density."""
    mode = math.acos(2 * lam / (dim - 1 + math.hypot(dim - 1, 2 * lam))) if dim > 1 else 0.0
    reach = 14 / math.sqrt(lam + dim)
    angle = np.linspace(max(0.0, mode - reach), min(math.pi, mode + reach), 20_001)
    log = 2 * lam * (math.sin(mode / 2) ** 2 - np.sin(angle / 2) ** 2)
    if dim > 1:
        with np.errstate(divide="ignore"):
            log += (dim - 1) * (np.log(np.sin(angle)) - math.log(math.sin(mode)))
    total = scipy.integrate.cumulative_simpson(np.exp(log), x=angle, initial=0.0)
    return lambda x: np.interp(x, angle, total / total[-1])


LAWS = [(1, 0.0), (1, 0.3), (1, 2.5), (1, 1e4), (2, 0.0), (2, 1e-3), (2, 0.7), (2, 300.0), (3, 0.0), (3, 2.0),
        (3, 5e3), (8, 0.5), (8, 100.0), (23, 10.0), (24, 300.0), (100, 0.0), (100, 1e3), (767, 3e3),
        (4095, 1e4)]  # fmt: skip


@pytest.mark.parametrize(("dim", "lam"), LAWS)
def test_samples_follow_the_distribution(dim, lam):
    kernel, mean = VonMisesFisher(dim, lam), tilted(dim)
    n = 40_000 if dim < 30 else 4000 if dim < 1000 else 1000
    x = kernel.rvs(mean, size=n, rng=6)
    assert x.shape == (n, dim + 1)
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0, atol=3e-15)
    chord = np.linalg.norm(x - mean, axis=1)
    assert scipy.stats.kstest(2 * np.arcsin(chord / 2), angle_law(dim, lam)).pvalue > 1e-4
    # the cosine's mean is a_1, its variance 1 - a_1^2 - m a_1 / lam
    versine = 0.5 * chord**2
    a_1, u = kernel.eigenvalue(1), kernel.mean_one_minus_cos()
    variance = 2 * u - (dim / lam * a_1 if lam else 1 - 1 / (dim + 1)) - u * u
    assert abs(versine.mean() - u) < 4 * math.sqrt(variance / n)
    fourth = ((versine - u) ** 4).mean()
    assert abs(((versine - u) ** 2).mean() - variance) < 4 * math.sqrt((fourth - variance**2) / n)


@pytest.mark.parametrize("dim", [1, 2, 3, 50])
@pytest.mark.parametrize("lam", [1e9, 1e15])
def test_narrow_samples_keep_their_digits(dim, lam):
    # lam (1 - cos) is then of the Gamma law of m/2, as for a normal distribution in the tangent space
    mean = tilted(dim)
    x = VonMisesFisher(dim, lam).rvs(mean, size=10_000, rng=2)
    scaled = 0.5 * lam * ((x - mean) ** 2).sum(axis=1)
    assert scipy.stats.kstest(scaled, scipy.stats.gamma(dim / 2).cdf).pvalue > 1e-4


@pytest.mark.parametrize("dim", [1, 2, 3, 9, 40])
@pytest.mark.parametrize("lam", [0.0, 5.0, 1e6])
def test_samples_prefer_no_direction_about_the_mean(dim, lam):
    n = 20_000
    for mean in (tilted(dim), np.eye(dim + 1)[-1], -np.eye(dim + 1)[-1], np.eye(dim + 1)[0]):
        x = VonMisesFisher(dim, lam).rvs(mean, size=n, rng=8)
        basis = scipy.linalg.null_space(mean[None, :])  # (dim+1, dim)
        side = (x - mean) @ basis
        side /= np.linalg.norm(side, axis=1)[:, None]
        assert np.linalg.norm(side.mean(axis=0)) < 4.5 / math.sqrt(n)
        second = side.T @ side / n
        assert abs(second - np.eye(dim) / dim).max() < 6 / dim / math.sqrt(n) + 1e-12
        if dim > 1:  # one coordinate of a uniform point of S^(m-1)
            law = scipy.stats.beta((dim - 1) / 2, (dim - 1) / 2).cdf
            assert scipy.stats.kstest(0.5 * (1 + side[:, 0]), law).pvalue > 1e-4
            assert abs(np.corrcoef(side[:, 0] ** 2, x @ mean)[0, 1]) < 4.5 / math.sqrt(n)


@pytest.mark.parametrize("dim", [1, 2, 6, 23, 24, 300])
def test_samples_turn_with_the_mean(dim):
    # one seed gives congruent points about any mean: cosines and mutual inner products stay
    kernel = VonMisesFisher(dim, 3.0)
    reference = kernel.rvs(np.eye(dim + 1)[-1], size=50, rng=3)
    for mean in (tilted(dim), -tilted(dim), -np.eye(dim + 1)[-1], np.eye(dim + 1)[0], -np.eye(dim + 1)[0]):
        x = kernel.rvs(mean, size=50, rng=3)
        np.testing.assert_allclose(x @ mean, reference[:, -1], atol=2e-15)
        np.testing.assert_allclose(x @ x.T, reference @ reference.T, atol=4e-15)


@pytest.mark.parametrize("dim", [1, 2, 3, 40])
@pytest.mark.parametrize("lam", [0.0, 5e-324, 1e-200, 1e-17, 1e200, 1e300])
def test_samples_at_the_ends_of_concentration(dim, lam):
    mean = tilted(dim)
    x = VonMisesFisher(dim, lam).rvs(mean, size=500, rng=1)
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0, atol=1e-15)
    if lam > 1.0:
        np.testing.assert_allclose(x, np.tile(mean, (500, 1)), atol=4e-16)
    else:
        assert np.linalg.norm(x.mean(axis=0)) < 4.5 / math.sqrt(500)


def test_samples_of_a_million_columns():
    dim = 10**6
    for lam in (0.0, 1e6, 1e15):
        kernel = VonMisesFisher(dim, lam)
        x = kernel.rvs(tilted(dim), rng=0)
        assert x.shape == (1, dim + 1)
        assert np.linalg.norm(x) == pytest.approx(1.0, abs=1e-14)
        assert x[0] @ tilted(dim) == pytest.approx(kernel.eigenvalue(1), abs=5e-3)


def peak_memory(call):
    """The result, and bytes held at once while it is made, the result included."""
    tracemalloc.start()
    try:
        result = call()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_samples_need_little_memory_besides():
    for dim, n in ((2, 200_000), (3, 200_000), (999, 2000)):
        kernel, mean = VonMisesFisher(dim, 5.0), tilted(dim)
        x, peak = peak_memory(lambda kernel=kernel, mean=mean, n=n: kernel.rvs(mean, size=n, rng=0))
        assert peak < x.nbytes + 8 * n + 4e6


def test_numbers_of_numpy_are_as_good_as_floats():
    two = np.float16(2)
    kernel, plain = VonMisesFisher(two, np.float32(2)), VonMisesFisher(2, 2.0)
    assert kernel == plain
    assert kernel.eigenvalue(two) == plain.eigenvalue(2)
    assert kernel.mean_angle(two) == plain.mean_angle(2.0)
    assert np.array_equal(kernel.eigenvalues(two, log=np.True_), plain.eigenvalues(2, log=True))
    assert np.array_equal(kernel.rvs([0.0, 0.0, 1.0], two, rng=1), plain.rvs([0.0, 0.0, 1.0], 2, rng=1))


def test_samples_about_the_poles_and_shapes():
    kernel = VonMisesFisher(2, 1e16)
    for mean in (*np.eye(3), *-np.eye(3)):
        np.testing.assert_allclose(kernel.rvs(mean, size=3, rng=0), np.tile(mean, (3, 1)), atol=1e-7)
    assert kernel.rvs([0.0, 0.0, 1.0]).shape == (1, 3)
    assert kernel.rvs([0.0, 0.0, 1.0], size=(2, 4)).shape == (2, 4, 3)
    assert kernel.rvs([0.0, 0.0, 1.0], size=0).shape == (0, 3)
    assert kernel.rvs([0.0, 0.0, 1.0], size=(3, 0, 2)).shape == (3, 0, 2, 3)
    assert kernel.rvs([0.0, 0.0, 1.0], size=()).shape == (3,)
    single_sample = VonMisesFisher(2, 3.0).rvs(np.float32([1.0, 0.0, 0.0]), size=2, rng=9)
    again = VonMisesFisher(2, 3.0).rvs([1.0, 0.0, 0.0], size=2, rng=np.random.default_rng(9))
    np.testing.assert_array_equal(single_sample, again)
    # a mean that is only nearly a unit vector still gives unit rows
    np.testing.assert_allclose(np.linalg.norm(kernel.rvs(np.float32([0.6, 0.0, 0.8003])), axis=1), 1.0, atol=4e-16)
    # one generator goes on, and no seed is a new sample each time
    rng = np.random.default_rng(9)
    assert not np.array_equal(kernel.rvs([0.0, 0.0, 1.0], rng=rng), kernel.rvs([0.0, 0.0, 1.0], rng=rng))
    assert not np.array_equal(kernel.rvs([0.0, 0.0, 1.0]), kernel.rvs([0.0, 0.0, 1.0]))


@pytest.mark.parametrize("columns", [2, 3, 68, 256, 768, 4096])
@pytest.mark.parametrize("share", [0.5, 2.0, 50.0, 1e5])
def test_fit_recovers_the_concentration(columns, share):
    dim, lam = columns - 1, share * columns
    kernel, mean = VonMisesFisher(dim, lam), tilted(columns - 1)
    n = 3000 if columns < 1000 else 400
    direction, fitted = VonMisesFisher.fit(kernel.rvs(mean, size=n, rng=1))
    assert fitted.dim == dim
    a_1 = kernel.eigenvalue(1)
    # E |mean|^2 = a_1^2 + (1 - a_1^2)/n moves the estimate; the information is d a_1/d lam = 1 - a_1^2 - m a_1/lam
    moved = special.iv_ratio_inverse((dim - 1) / 2, math.sqrt(a_1**2 + (1 - a_1**2) / n))
    u = kernel.mean_one_minus_cos()
    information = 2 * u - u * u - dim / lam * a_1
    assert abs(fitted.concentration - moved) < 4 / math.sqrt(n * information)
    assert direction @ mean > 1 - 5 * u / a_1**2 / n
    assert direction @ direction == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("dim", [1, 2, 67, 767])
def test_fit_of_narrow_samples(dim):
    n = 2000
    for lam in (1e12, 1e15):
        x = VonMisesFisher(dim, lam).rvs(tilted(dim), size=n, rng=5)
        _, fitted = VonMisesFisher.fit(x)
        moved = lam * n / (n - 1)  # lam sum |x - mean|^2 is chi-squared of m (n-1) degrees of freedom
        assert abs(fitted.concentration / moved - 1) < 4 * math.sqrt(2 / (dim * n))


def test_fit_of_nearly_uniform_samples():
    for dim in (1, 2, 100):
        n = 4000
        x = VonMisesFisher(dim, 0.0).rvs(tilted(dim), size=n, rng=5)
        _, fitted = VonMisesFisher.fit(x)
        # n (dim+1) |mean|^2 is about chi-squared of dim+1 degrees of freedom, and a_1 = lam/(dim+1) for small lam
        assert fitted.concentration**2 * n / (dim + 1) < scipy.stats.chi2(dim + 1).isf(1e-4)
        assert VonMisesFisher.fit(np.vstack([x, -x]))[1].concentration < 1e-12
    # a small resultant: (1 - r) e_1 in balance with e_2 and -e_2 would be 0; the fit is (m+1) |mean|
    a = 1e-6
    _, slight = VonMisesFisher.fit([[a, math.sqrt(1 - a * a), 0.0], [a, -math.sqrt(1 - a * a), 0.0]])
    assert slight.concentration == pytest.approx(3 * a, rel=1e-9)


def test_fit_solves_the_likelihood_equation():
    x = VonMisesFisher(2, 5.0).rvs([0.0, 0.0, 1.0], size=50, rng=4)
    direction, fitted = VonMisesFisher.fit(x)
    resultant = x.mean(axis=0)
    np.testing.assert_allclose(direction, resultant / np.linalg.norm(resultant), atol=1e-15)
    assert fitted.eigenvalue(1) == pytest.approx(np.linalg.norm(resultant), rel=1e-14)
    best = fitted.logpdf(x, direction).sum()
    for factor in (0.99, 1.01):
        assert VonMisesFisher(2, fitted.concentration * factor).logpdf(x, direction).sum() < best
    peer_direction, peer = scipy.stats.vonmises_fisher.fit(x)
    np.testing.assert_allclose(direction, peer_direction, atol=1e-15)
    assert fitted.concentration == pytest.approx(peer, rel=1e-9)


def test_fit_counts_weights():
    x = VonMisesFisher(2, 5.0).rvs([0.0, 0.0, 1.0], size=50, rng=4)
    counts = np.arange(1, 51) % 4
    direction, weighted = VonMisesFisher.fit(x, weights=counts)
    for same in (
        VonMisesFisher.fit(np.repeat(x, counts, axis=0)),
        VonMisesFisher.fit(x[counts > 0], weights=counts[counts > 0]),
        VonMisesFisher.fit(x, weights=counts * 5e307),  # their sum overflows
        VonMisesFisher.fit(x, weights=counts * 5e-324),
    ):
        np.testing.assert_allclose(direction, same[0], atol=1e-15)
        assert weighted.concentration == pytest.approx(same[1].concentration, rel=1e-13)


def test_fit_is_to_directions():
    rng = np.random.default_rng(0)
    for lam in (2.0, 1e4, 1e13):
        x = VonMisesFisher(9, lam).rvs(tilted(9), size=300, rng=0)
        direction, fitted = VonMisesFisher.fit(x)
        stretched = x * (1 + 9e-7 * rng.uniform(-1, 1, (300, 1)))
        plain, again = VonMisesFisher.fit(stretched)
        np.testing.assert_allclose(plain, direction, atol=1e-15)
        assert again.concentration == pytest.approx(fitted.concentration, rel=1e-9)
    single = (1.0009 * VonMisesFisher(9, 1e8).rvs(tilted(9), size=300, rng=0)).astype(np.float32)
    double = single.astype(np.float64) / np.linalg.norm(single.astype(np.float64), axis=1)[:, None]
    of_single, of_double = (VonMisesFisher.fit(x)[1].concentration for x in (single, double))
    assert of_single == pytest.approx(of_double, rel=1e-9)
    assert of_single == pytest.approx(1e8, rel=0.1)
    narrow = VonMisesFisher(9, 9e13).rvs(tilted(9), size=3000, rng=0)
    rounded, exact = (VonMisesFisher.fit(x)[1].concentration for x in (narrow.astype(np.float32), narrow))
    assert rounded == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize(
    ("columns", "concentration", "n", "share"),
    [(3, 25.0, 100, 0.5), (3, 25.0, 5000, 0.45), (3, 3.0, 3000, 0.4), (2, 5.0, 60, 0.5), (300, 1000.0, 50, 0.5)],
)
@pytest.mark.parametrize("method", ["mle", "marginal"])
def test_axes_are_no_directions_and_the_remedy_finds_them(columns, concentration, n, share, method):
    x = VonMisesFisher(np.eye(columns)[0], concentration).rvs(n, rng=0)
    x *= np.where(np.random.default_rng(1).random(n) < share, -1.0, 1.0)[:, None]  # to the other side
    with pytest.warns(RuntimeWarning, match="no mean direction .* but an axis: .* fit x \\* np.where"):
        VonMisesFisher.fit(x, method=method)
    axis = np.linalg.eigh(x.T @ x)[1][:, -1]
    mean, fitted = VonMisesFisher.fit(x * np.where(x @ axis < 0, -1, 1)[:, None], method=method)  # no warning
    assert abs(mean[0]) > 0.9
    assert fitted.concentration == pytest.approx(concentration, rel=0.35)


def test_opposite_points_whose_mean_vanishes_have_an_axis():
    x = np.tile([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]], (20, 1))
    with pytest.warns(RuntimeWarning, match="eigenvalue 1, not 1/3"):
        assert VonMisesFisher.fit(x)[1].concentration == 0.0
    with pytest.warns(RuntimeWarning, match="eigenvalue 1, not 1/3"):
        VonMisesFisher.fit(np.concatenate([x, np.eye(3)]), np.r_[np.ones(40), np.zeros(3)])  # by their weights


@pytest.mark.parametrize("columns", [2, 3, 10, 400])
@pytest.mark.parametrize("concentration", [0.0, 0.5, 3.0, 100.0])
def test_points_of_the_distribution_are_not_taken_for_axes(columns, concentration):
    for n, seed in ((10, 0), (300, 1), (30_000 if columns < 20 else 600, 2)):
        VonMisesFisher.fit(VonMisesFisher(np.eye(columns)[0], concentration).rvs(n, rng=seed))  # warnings are errors


def test_points_about_a_great_circle_have_no_axis():
    angle = np.random.default_rng(0).uniform(0.0, 2.0 * np.pi, 400)
    VonMisesFisher.fit(np.column_stack([np.cos(angle), np.sin(angle), np.zeros(400)]))


def test_nearly_equal_and_opposite_points_have_a_fit():
    # two points an angle 2e-7 apart: 1 - |mean| = 5e-15, a_1 = 1 - 1/lam on S^2
    a = 1e-7
    _, narrow = VonMisesFisher.fit([[math.cos(a), math.sin(a), 0.0], [math.cos(a), -math.sin(a), 0.0]])
    assert narrow.concentration == pytest.approx(2.0 / a**2, rel=1e-8)
    direction, flat = VonMisesFisher.fit([[1.0, 0.0], [-1.0, 0.0]])
    assert flat.concentration == 0.0
    assert direction.tolist() == [0.0, 1.0]
    # rows that agree to rounding have no estimate, however many they are, whatever their length
    row = tilted(9)
    for same in (row[None, :], np.tile(row, (100_001, 1)), np.outer(1 + 9e-7 * np.linspace(-1, 1, 1000), row)):
        with pytest.raises(ValueError, match="'x' must hold at least two different points of positive weight, got"):
            VonMisesFisher.fit(same)
    with pytest.raises(ValueError, match="'x' must hold at least two different points"):
        VonMisesFisher.fit(np.eye(3), weights=[0, 2, 0])
    # the closest that differ: one unit in the last place across
    apart = [[1.0, 4e-15, 0.0], [1.0, -4e-15, 0.0]]
    assert VonMisesFisher.fit(apart)[1].concentration == pytest.approx(2.0 / 1.6e-29, rel=0.05)


def test_fit_and_logpdf_need_little_memory_besides():
    x = VonMisesFisher(64, 30.0).rvs(tilted(64), size=40_000, rng=0).astype(np.float32)
    (direction, fitted), peak = peak_memory(lambda: VonMisesFisher.fit(x))
    assert fitted.concentration == pytest.approx(30.0, rel=0.02)
    assert peak < x.nbytes
    _, peak = peak_memory(lambda: fitted.logpdf(x, direction))
    assert peak < x.nbytes


def test_what_is_written_for_scipy_works():
    mean = tilted(2)
    dist, kernel = VonMisesFisher(mean, 20), VonMisesFisher(2, 20.0)
    peer = scipy.stats.vonmises_fisher(mean, 20)
    x = dist.rvs(60, random_state=7).reshape(4, 5, 3, 3)
    np.testing.assert_array_equal(x.reshape(60, 3), kernel.rvs(mean, 60, 7))
    for name in ("pdf", "logpdf"):
        ours = getattr(dist, name)(x)
        assert ours.shape == (4, 5, 3)
        np.testing.assert_allclose(ours, getattr(peer, name)(x), rtol=1e-12, atol=1e-13)
        np.testing.assert_array_equal(ours.ravel(), getattr(kernel, name)(x.reshape(60, 3), mean))
        single = getattr(kernel, name)([0.0, 0.0, 1.0], mean)
        assert isinstance(single, float)
        assert single == pytest.approx(getattr(peer, name)([0.0, 0.0, 1.0]), rel=1e-12)
    assert dist.entropy() == pytest.approx(peer.entropy(), rel=1e-12)
    assert (dist.dim, dist.concentration, dist.kappa) == (2, 20.0, 20.0)
    assert dist.mu is dist.mean_direction
    for same in (VonMisesFisher(mu=mean, kappa=20), VonMisesFisher(mean_direction=mean, concentration=20)):
        assert same == dist
    expected = kernel.rvs(mean, size=5, rng=3)
    for sample in (
        kernel.rvs(5, mean, rng=3), kernel.rvs(5, tuple(mean), random_state=3), dist.rvs(5, 3), dist.rvs(5, mean, 3),
        dist.rvs(size=5, random_state=np.random.default_rng(3)), dist.rvs((5,), 3), dist.rvs(mean, 5, 3),
        dist.rvs(tuple(mean), 5, 3),
    ):  # fmt: skip
        np.testing.assert_array_equal(sample, expected)
    assert dist.rvs().shape == (1, 3)
    legacy = np.random.RandomState(4)
    assert not np.array_equal(dist.rvs(2, random_state=legacy), dist.rvs(2, random_state=legacy))
    first, second = (dist.rvs(2, random_state=np.random.RandomState(4)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_a_distribution_is_a_value_that_a_stored_mean_direction_is_part_of():
    kernel = VonMisesFisher(3.0, np.float32(2.0))
    assert kernel == VonMisesFisher(3, 2)
    assert hash(kernel) == hash(VonMisesFisher(3, 2))
    assert type(kernel.dim) is int
    mean = np.array([0.6, 0.8])
    dist = VonMisesFisher(mean, 2.0)
    mean[:] = 1.0, 0.0  # a copy is stored
    assert dist.mean_direction.tolist() == [0.6, 0.8]
    with pytest.raises(ValueError, match="read-only"):
        dist.mean_direction[0] = 1.0
    assert VonMisesFisher(1, 2.0).mean_direction is None
    others = [VonMisesFisher(1, 2.0), VonMisesFisher([0.8, 0.6], 2.0), VonMisesFisher([0.6, 0.8], 3.0)]
    assert not any(dist == plain for plain in others)
    assert len({dist, *others, VonMisesFisher([0.6, 0.8], 2.0)}) == 4
    for copied in (pickle.loads(pickle.dumps(dist)), copy.deepcopy(dist), dataclasses.replace(dist, concentration=2)):
        assert copied == dist
        assert not copied.mean_direction.flags.writeable
    assert dataclasses.replace(dist, concentration=5.0).rvs(3).shape == (3, 2)
    assert VonMisesFisher([1.0, -0.0], 1.0) == VonMisesFisher([1.0, 0.0], 1.0)
    assert repr(dist) == "VonMisesFisher(mean_direction=[0.6, 0.8], concentration=2.0)"
    assert repr(kernel) == "VonMisesFisher(dim=3, concentration=2.0)"
    assert len(repr(VonMisesFisher(tilted(500), 2.0))) < 150
    with pytest.raises(dataclasses.FrozenInstanceError):
        dist.concentration = 3.0


@pytest.mark.parametrize(
    ("dim", "lam", "n"), [(1, 0.5, 12), (2, 5.0, 6), (2, 1e9, 5), (30, 20.0, 15), (767, 300.0, 40)]
)
def test_the_marginal_fit_maximises_the_density_of_the_resultant(dim, lam, n):
    x = VonMisesFisher(dim, lam).rvs(tilted(dim), size=n, rng=3)
    direction, mle = VonMisesFisher.fit(x)
    same, fitted = VonMisesFisher.fit(x, method="marginal")
    np.testing.assert_array_equal(same, direction)
    with mp.workdps(60):
        lengths = [mp.norm(row) for row in x.tolist()]
        resultant = mp.norm([mp.fdot(zip(column, (1 / t for t in lengths), strict=True)) for column in x.T.tolist()])

        def ratio(z):
            above, below = (mp.besseli(mp.mpf(dim + k) / 2, z, maxterms=10**6) for k in (1, -1))
            return above / below

        # the derivative of n log c(lambda) - log c(lambda R), Schou (1978)
        def slope(z):
            return resultant * ratio(resultant * z) - n * ratio(z)

        low, high = (slope(mp.mpf(fitted.concentration) * (1 + s * mp.mpf("1e-9"))) for s in (-1, 1))
        assert high < 0 < low
    assert 0.0 < fitted.concentration < mle.concentration


def test_the_marginal_fit_of_points_without_direction_is_uniform():
    assert VonMisesFisher.fit(np.eye(4), method="marginal")[1].concentration == 0.0  # n |mean|^2 = 1
    assert VonMisesFisher.fit(np.eye(4))[1].concentration > 1.0


@pytest.mark.parametrize(("dim", "lam", "n"), [(1, 2.0, 8), (2, 3.0, 6), (31, 20.0, 20), (255, 100.0, 50)])
def test_the_marginal_fit_takes_most_of_the_bias_away(dim, lam, n):
    kernel, trials = VonMisesFisher(dim, lam), 400
    samples = kernel.rvs(tilted(dim), size=(trials, n), rng=0)
    estimates = np.array(
        [[VonMisesFisher.fit(x, method=m)[1].concentration for m in ("mle", "marginal")] for x in samples]
    )
    # medians: on the circle and on S^2 the mean of few points' estimates is heavy in its tail
    mle, marginal = np.median(estimates, axis=0) - lam
    spread = 1.25 * np.subtract(*np.quantile(estimates, [0.84, 0.16], axis=0)) / 2 / math.sqrt(trials)
    assert mle > 4 * spread[0]
    assert abs(marginal) < 0.25 * mle + 2 * spread[1]


@pytest.mark.parametrize("t", [[1.0, 0.0, 0.0], [[0.5, 0.5, 0.5]], [[1.0, 0.0]], np.zeros((0, 3))])
def test_cosines_of_any_shape_are_no_points(t):
    assert VonMisesFisher([0.0, 0.0, 1.0], 1.0)(t).shape == np.shape(t)
    assert VonMisesFisher(2, 1.0)(np.eye(3)).shape == (3, 3)  # cosines with three control points
