"""Random points: their law, their digits and their memory."""

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.stats
from processes import peak_memory
from sums import tilted

from spherapprox import VonMisesFisher


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


def test_samples_need_little_memory_besides():
    for dim, n in ((2, 200_000), (3, 200_000), (999, 2000)):
        kernel, mean = VonMisesFisher(dim, 5.0), tilted(dim)
        x, peak = peak_memory(lambda kernel=kernel, mean=mean, n=n: kernel.rvs(mean, size=n, rng=0))
        assert peak < x.nbytes + 8 * n + 4e6


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
