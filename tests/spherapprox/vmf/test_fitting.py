"""Estimates of direction and concentration, and what has none."""

import math

import mpmath as mp
import numpy as np
import pytest
import scipy.sparse
import scipy.stats
from processes import peak_memory
from sums import tilted

from spherapprox import VonMisesFisher, special


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


def test_points_without_a_direction_may_have_no_axis_either():
    angle = np.random.default_rng(0).uniform(0.0, 2.0 * np.pi, 400)  # about a great circle
    VonMisesFisher.fit(np.column_stack([np.cos(angle), np.sin(angle), np.zeros(400)]))
    assert VonMisesFisher.fit(np.eye(4), method="marginal")[1].concentration == 0.0  # n |mean|^2 = 1
    assert VonMisesFisher.fit(np.eye(4))[1].concentration > 1.0


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


@pytest.mark.parametrize(("dim", "lam", "n"), [(1, 2.0, 8), (2, 3.0, 6), (31, 20.0, 20), (255, 100.0, 50)])
def test_the_marginal_fit_takes_most_of_the_bias_away(dim, lam, n):
    kernel, trials = VonMisesFisher(dim, lam), 400
    samples = kernel.rvs(tilted(dim), size=(trials, n), rng=0)
    fits = [[VonMisesFisher.fit(x, method=m)[1] for m in ("mle", "marginal")] for x in samples]
    estimates = np.array([[fit.concentration for fit in pair] for pair in fits])
    # medians: on the circle and on S^2 the mean of few points' estimates is heavy in its tail
    mle, marginal = np.median(estimates, axis=0) - lam
    spread = 1.25 * np.subtract(*np.quantile(estimates, [0.84, 0.16], axis=0)) / 2 / math.sqrt(trials)
    assert mle > 4 * spread[0]
    assert abs(marginal) < 0.25 * mle + 2 * spread[1]


@pytest.mark.parametrize("form", ["csr_array", "csc_matrix", "coo_array", "lil_array"])
def test_sparse_rows_have_the_fit_of_dense_ones(form):
    rng = np.random.default_rng(0)
    x = rng.random((60, 40)) * (rng.random((60, 40)) < 0.2) + np.eye(60, 40)
    x /= np.linalg.norm(x, axis=1)[:, None]
    x[40:] = 0.0
    x[40:, 3], x[40:, 7] = 0.6, 0.8  # rows that agree
    weights = rng.random(60) * (rng.random(60) < 0.8)
    matrix = getattr(scipy.sparse, form)(x)
    for arguments in ((None, "mle"), (weights, "mle"), (None, "marginal")):
        direction, fitted = VonMisesFisher.fit(x, arguments[0], method=arguments[1])
        same, sparse = VonMisesFisher.fit(matrix, arguments[0], method=arguments[1])
        np.testing.assert_allclose(same, direction, atol=1e-15)
        assert sparse.kappa == pytest.approx(fitted.kappa, rel=1e-13)
    np.testing.assert_array_equal(matrix.toarray(), x)  # as it was
    single = VonMisesFisher.fit(matrix.astype(np.float32))[1]
    assert single.kappa == pytest.approx(VonMisesFisher.fit(x)[1].kappa, rel=1e-6)


def test_sparse_rows_of_narrow_samples_and_of_axes():
    x = VonMisesFisher(tilted(9), 1e13).rvs(200, rng=0)
    assert VonMisesFisher.fit(scipy.sparse.csr_array(x))[1].kappa == pytest.approx(
        VonMisesFisher.fit(x)[1].kappa, rel=1e-6
    )
    with pytest.raises(ValueError, match="at least two different points"):
        VonMisesFisher.fit(scipy.sparse.csr_array(np.tile(x[:1], (50, 1))))
    turned = VonMisesFisher(np.eye(400)[0], 4e3).rvs(50, rng=0) * np.where(np.arange(50) % 2, 1.0, -1.0)[:, None]
    with pytest.warns(RuntimeWarning, match="but an axis"):
        VonMisesFisher.fit(scipy.sparse.csr_array(turned))


def test_sparse_rows_without_weight_and_elements_in_parts_count_as_they_should():
    x = VonMisesFisher(tilted(9), 1e13).rvs(200, rng=0)
    weights = np.r_[np.full(200, 0.1), np.zeros(10)]
    with_others = scipy.sparse.csr_array(np.concatenate([x, np.eye(10)]))
    assert VonMisesFisher.fit(with_others, weights)[1].kappa == pytest.approx(VonMisesFisher.fit(x)[1].kappa, rel=1e-6)
    halves = scipy.sparse.csr_array(
        (np.repeat(0.5 * x.ravel(), 2), np.tile(np.repeat(np.arange(10), 2), 200), np.arange(0, 4001, 20)), (200, 10)
    )
    assert VonMisesFisher.fit(halves)[1].kappa == pytest.approx(VonMisesFisher.fit(x)[1].kappa, rel=1e-6)
    assert halves.nnz == 4000


def test_sparse_rows_are_never_made_dense():
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 10**5, (20_000, 8))
    x = scipy.sparse.csr_array(
        (np.full(160_000, 8**-0.5), columns.ravel(), np.arange(0, 160_001, 8)), shape=(20_000, 10**5)
    )
    x.sum_duplicates()
    x.data /= np.repeat(np.sqrt(x.power(2).sum(axis=1)), np.diff(x.indptr))
    (direction, fitted), peak = peak_memory(lambda: VonMisesFisher.fit(x))
    assert fitted.dim == 10**5 - 1
    assert direction.shape == (10**5,)
    assert peak < 1e8  # the rows would take 1.6e10, 2048 by 2048 inner products for the warning of axes 3e7


def test_tensors_and_numbers_of_16_bits_have_a_fit():
    torch = pytest.importorskip("torch")
    for columns, kappa in ((3, 50.0), (300, 400.0)):
        x = VonMisesFisher(tilted(columns - 1), kappa).rvs(400, rng=0)
        expected = VonMisesFisher.fit(x)[1].kappa
        tensor = torch.tensor(x, requires_grad=True)
        assert VonMisesFisher.fit(tensor)[1].kappa == expected
        assert VonMisesFisher.fit(x.astype(np.float16))[1].kappa == pytest.approx(expected, rel=1e-3)
        for kind in (torch.float16, torch.bfloat16):
            assert VonMisesFisher.fit(tensor.to(kind), torch.ones(400))[1].kappa == pytest.approx(expected, rel=5e-3)
    with pytest.raises(ValueError, match="got length 2"):
        VonMisesFisher.fit(2 * torch.eye(3, dtype=torch.bfloat16))
    with pytest.raises(ValueError, match=r"1 of length 0, row 2 first: .* drop them, x\[np.any"):
        VonMisesFisher.fit(torch.diag(torch.tensor([1.0, 1.0, 0.0])).to(torch.bfloat16))
