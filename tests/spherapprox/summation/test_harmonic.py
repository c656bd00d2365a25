import itertools
import math
import re

import mpmath as mp
import numpy as np
import pytest
from scipy.special import eval_legendre
from sums import sphere, truth, unit, wide

from spherapprox import evaluate
from spherapprox._kernels.harmonics.grids import APART, columns_of
from spherapprox._kernels.harmonics.legendre import filter_orders, padded_size
from spherapprox.harmonics.nonuniform import scattered as scattered_points
from spherapprox.harmonics.nonuniform import window
from spherapprox.harmonics.nonuniform.scattered import scattered
from spherapprox.summation import explain_sum, harmonic, plan
from spherapprox.summation.harmonic import expansion
from spherapprox.summation.method import Tolerance, silent
from spherapprox.summation.problem import Problem


def check(x, b, values, concentration, rtol, normalize=False):
    """Evaluate; the error must be within the bound that is stated, and where nothing was redone that within rtol."""
    values = values.reshape(len(b), -1)
    got, plan = explain_sum(x, b, values, concentration, method="harmonic", rtol=rtol, normalize=normalize)
    expected, scale = truth(x, b, values, concentration, normalize)
    worst = np.max(np.abs(got - expected) / np.maximum(scale.max(axis=0), 1e-300))
    assert plan.method == "harmonic" or f"{len(x)} rows by all pairs" in plan.reason
    assert worst <= plan.rtol
    return float(worst), plan.rtol


def clusters(dim):
    """Sets of points that are not uniform, among them the poles of the coordinates and the seam of the azimuth."""
    axes = np.concatenate([np.eye(dim + 1), -np.eye(dim + 1)])
    near = axes[dim] + 1e-3 * np.random.default_rng(5).standard_normal((200, dim + 1))
    seam = np.zeros((100, dim + 1))
    seam[:, 0], seam[:, 1] = -1.0, np.linspace(-1e-9, 1e-9, 100)
    sets = [sphere(300, dim, 1), axes, unit(near), sphere(1, dim, 2), seam]
    return [*sets, np.repeat(sphere(1, dim, 3), 50, axis=0), np.concatenate([sphere(4, dim, 4), -sphere(4, dim, 4)])]


@wide
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("dim", [1, 2])
def test_the_error_is_within_its_bound(dim, normalize):
    rng = np.random.default_rng(6)
    for b in clusters(dim):
        values = rng.random((len(b), 1)) + 0.1
        for concentration in (0.0, 0.3, 20.0, 500.0):
            x = np.concatenate([sphere(30, dim, 7), b[:20], -b[:20]])
            check(x, b, values, concentration, 1e-11, normalize)
        check(-b[:20], b, values, 20.0, 1e-11, normalize)


@wide
def test_sums_on_the_sphere_are_within_their_bound():
    cases = [(b, concentration) for b in clusters(2) for concentration in (20.0, 500.0)]
    for b, concentration, rtol in [(b, c, 1e-10) for b, c in cases] + [(clusters(2)[2], 5e3, 1e-9)]:
        x = np.concatenate([sphere(30, 2, 7), b[:20], -b[:20], np.eye(3)])
        values = np.random.default_rng(6).standard_normal((len(b), 1))
        check(x, b, values, concentration, rtol)  # of both signs
        scheme = expansion.design(2, concentration, rtol)
        problem = Problem(x, b, concentration / 2, x.dtype, np.abs(values), normalize=False)
        result = harmonic.sums(problem, Tolerance(rtol, rtol), 1, silent)
        expected, scale = truth(x, b, np.abs(values), concentration)
        error = np.max(np.abs(result.partial.numerators - expected)) / scale.max()
        assert error <= scheme.omitted * np.abs(values).sum() / scale.max() + scheme.rounding + 1e-14


@wide
@pytest.mark.parametrize("dim", [1, 2])
def test_uniform_points_keep_twelve_digits(dim):
    x, b = sphere(150, dim, 8), sphere(2000, dim, 9)
    values = np.random.default_rng(10).random(2000)
    for concentration, rtol in ((10.0, 1e-12), (1e3, 1e-12), (1e4, 4e-12)):
        error, bound = check(x, b, values, concentration, rtol)
        assert error <= 1e-13
        assert bound <= rtol
        problem = Problem(x, b, concentration / 2, x.dtype, values[:, None], normalize=False)
        assert not harmonic.sums(problem, Tolerance(rtol, rtol), 1, silent).doubtful.size  # nothing was redone
    error, bound = check(x, b, values, 1e3, 1e-5, normalize=True)
    assert bound <= 1e-5
    assert error > 1e-13  # the degree and the grid are no larger than wanted


@wide
@pytest.mark.parametrize("normalize", [False, True])
def test_the_scale_is_found_where_few_rows_are_near(normalize):
    b = unit(0.05 * sphere(300, 2, 29) + np.eye(3)[2])
    x = np.concatenate([-sphere(400, 2, 30), b[:3]])
    values = np.random.default_rng(31).standard_normal(300)
    problem = Problem(x, b, 100.0, x.dtype, values[:, None], normalize=normalize)
    result = harmonic.sums(problem, Tolerance(1e-10, 1e-10), 1, silent, sample=4)
    near = np.abs(x - b[0]).max(axis=1) < 0.1
    assert 3 <= near.sum() < 40
    assert not np.isin(result.doubtful, np.flatnonzero(near)).any()
    assert result.error <= 1e-10
    if not normalize:
        assert result.doubtful.size == 0


@wide
def test_rows_far_from_all_control_points_are_done_densely():
    b = sphere(400, 2, 14) * [0.2, 0.2, 1.0]
    b[:, 2] = np.abs(b[:, 2])
    b = unit(b)
    x = np.concatenate([b[:50], -b[:50]])
    values = b[:, 0] + 2.0
    got, plan = explain_sum(x, b, values, 800.0, method="harmonic", rtol=1e-9, normalize=True)
    expected, _ = truth(x, b, values, 800.0, True)
    assert plan.method == "harmonic" or f"{len(x)} rows by all pairs" in plan.reason
    assert np.max(np.abs(got / expected - 1.0)) <= 1e-9
    np.testing.assert_array_equal(got[50:], evaluate(x[50:], b, values, 800.0, normalize=True, method="dense"))
    # A core head has one scale for all rows: far rows alone are no reason for doubt, only far ones are.
    assert explain_sum(x, b, values, 800.0, method="harmonic", rtol=1e-9)[1].rtol <= 1e-9
    far = evaluate(x[50:], b, values, 800.0, method="harmonic", rtol=1e-9)
    np.testing.assert_array_equal(far, evaluate(x[50:], b, values, 800.0, method="dense"))
    # rows done densely count in the stated error
    b = np.array([[0.0, 0.0, 1.0]])
    x = np.array([[0.0, 0.0, 1.0], [0.0, 0.6, -0.8], [0.0, 0.0, -1.0]])
    _, plan = explain_sum(x, b, [1.0], 800.0, method="harmonic", normalize=True)
    _, dense = explain_sum(x[1:], b, [1.0], 800.0, method="dense", normalize=True)
    assert "2 rows by all pairs" in plan.reason
    assert plan.rtol >= dense.rtol


@wide
@pytest.mark.parametrize("dim", [1, 2])
def test_lengths_of_rows_are_part_of_the_bound(dim):
    x, b = sphere(100, dim, 15), sphere(500, dim, 16)
    long_x = x * (1.0 + 3e-7)
    error, _ = check(long_x, b, np.ones(500), 100.0, 1e-4)
    assert error > 1e-8  # it is there
    with pytest.raises(ValueError, match=r"expects to prove an error of \S+e-06 .*rtol=\S+ would admit it") as refusal:
        evaluate(long_x, b, np.ones(500), 100.0, method="harmonic", rtol=1e-8)
    enough = float(re.search(r"rtol=(\S+)", str(refusal.value))[1])
    assert check(long_x, b, np.ones(500), 100.0, enough)[1] <= enough
    single = (a.astype(np.float32) for a in (x, b, np.ones(500)))
    assert evaluate(*single, 9.0, method="harmonic", rtol=1e-4).dtype == np.float32


@wide
@pytest.mark.parametrize("dim", [1, 2])
def test_many_points_in_one_place_keep_their_digits(dim):
    b = np.repeat(sphere(2, dim, 24), 200_000, axis=0)
    values = np.full(len(b), 0.1)  # a plain running sum of these drifts
    x = sphere(20, dim, 26)
    got, plan = explain_sum(x, b, values, 5.0, method="harmonic", rtol=1e-12)
    sums = values.astype(np.longdouble).reshape(2, -1).sum(axis=1)
    expected, scale = truth(x, b[[0, -1]], sums, 5.0)
    assert np.max(np.abs(got - expected)) <= min(plan.rtol, 2e-14) * scale.max()


@pytest.mark.parametrize(
    ("dim", "concentration", "rtol"),
    [(1, 50.0, 1e-10), (1, 2e5, 1e-9), (2, 3.0, 1e-10), (2, 50.0, 1e-10), (2, 2e3, 1e-9)],
)
def test_any_number_of_workers_gives_the_same_bits(dim, concentration, rtol):
    # on grids of their own for some of the points, and on one grid by turns; with gaps and a cluster between
    x, b = sphere(70_000, dim, 17), sphere(70_001, dim, 18)
    b = unit(np.concatenate([b[np.abs(b[:, 0]) > 0.1], np.eye(dim + 1)[0] + 1e-3 * sphere(20_000, dim, 27)]))
    values = np.random.default_rng(19).standard_normal((len(b), 2))
    options = {"method": "harmonic", "rtol": rtol}
    alone, plan = explain_sum(x, b, values, concentration, **options)
    assert plan.method == "harmonic"
    for workers in (1, 3):
        np.testing.assert_array_equal(evaluate(x, b, values, concentration, **options, workers=workers), alone)
    expected, scale = truth(x[::7000], b, values, concentration)
    assert np.max(np.abs(alone[::7000] - expected) / np.abs(alone).max(axis=0)) <= 1e-9
    assert plan.rtol <= rtol
    limit = plan.rtol * np.maximum(scale.max(axis=0), np.abs(alone).max(axis=0))
    assert (np.abs(alone[::7000] - expected) <= limit).all()


@pytest.mark.parametrize("dim", [1, 2])
def test_the_window_is_narrow_where_that_is_cheap_and_good_enough(dim):
    widths = [expansion.design(dim, 10.0, 1e-12, octave).window.width for octave in (8, 24)]
    assert widths[-1] == window.WIDTHS[0]
    for octave in (8, 24):
        scheme = expansion.design(2, 1e3, 1e-13, octave)
        assert scheme.window.width == window.WIDTHS[-1]  # the narrow one cannot prove it
        assert scheme.omitted <= (expansion.SHARE + expansion.ALIASED) * 1e-13 * scheme.mean
    # a narrow one may alias more where roundings leave room
    roomy, tight = expansion.design(2, 100.0, 1e-12, 24), expansion.design(2, 10.0, 1e-13, 24)
    assert roomy.window.width == tight.window.width == window.WIDTHS[0]
    assert roomy.omitted <= (expansion.SHARE + expansion.NARROW) * 1e-12 * roomy.mean
    assert tight.omitted <= (expansion.SHARE + expansion.ALIASED) * 1e-13 * tight.mean


@pytest.mark.parametrize("dim", [1, 2])
def test_places_are_angles_and_lengths_are_measured(dim):
    x = sphere(3000, dim, 33)
    x[::2] *= 1.0 - 1e-7
    x = np.concatenate([x, np.eye(dim + 1), -np.eye(dim + 1)])
    scheme = window.window(40, 104, window.WIDTHS[-1])
    places = scattered(x, scheme, 1)
    angle = (places.place + (places.fraction + 1.0) / 2.0) * (2.0 * np.pi / scheme.n)
    expected = [np.mod(np.arctan2(x[:, 1], x[:, 0]), 2.0 * np.pi)]
    expected = [np.arctan2(np.hypot(x[:, 0], x[:, 1]), x[:, 2]), *expected] if dim == 2 else expected
    off = np.abs(angle - np.stack(expected, axis=1)[places.order])
    off[(np.abs(x[places.order, :2]) < 1e-300).all(axis=1), -1] = 0.0  # a pole has every azimuth
    assert np.minimum(off, 2.0 * np.pi - off).max() < 2e-15
    assert sorted(places.order) == list(range(len(x)))
    assert places.place.min() >= 0
    assert np.abs(places.fraction).max() <= 1.0 + 1e-9
    assert places.length_error == pytest.approx(1e-7, rel=1e-6)
    band = places.place[:, 0] // columns_of(True) * places.band if dim == 2 else 0
    keys = places.place[:, -1] // columns_of(dim == 2) + band
    np.testing.assert_array_equal(np.searchsorted(keys, np.arange(places.starts.shape[1])), places.starts[0])


def test_cost_grows_with_points_columns_and_concentration():
    for dim in (1, 2):  # loads the kernels
        evaluate(np.eye(dim + 1), np.eye(dim + 1), np.ones(dim + 1), 1.0, method="harmonic", rtol=1e-6)

    def cost(n, p, concentration, dim):
        b = np.broadcast_to(np.eye(dim + 1)[0], (n, dim + 1))
        problem = Problem(b, b, concentration / 2, np.dtype(float), np.repeat(b[:, :1], p, axis=1))
        return harmonic.cost(problem, Tolerance(1e-10, 1e-10))

    for dim in (1, 2):
        base = cost(10**6, 1, 1e4, dim)
        assert cost(10**7, 1, 1e4, dim) > 4 * base
        assert cost(10**6, 9, 1e4, dim) > 3 * base
        assert cost(10**6, 1, 1e6, dim) > base


def test_auto_takes_the_harmonic_method_for_many_points_only():
    def problem(n):
        b = np.broadcast_to(np.eye(3)[0], (n, 3))
        return Problem(b, b, 5.0, np.dtype(float), b[:, :1], False)

    few, many = (plan.compare(problem(n), Tolerance(1e-8, 1e-8), False)[0] for n in (50, 10**6))
    assert few["harmonic"] > few["dense"]
    assert many["harmonic"] < many["dense"]
    row_by_row = plan.compare(problem(50), Tolerance(1e-8, 1e-8), True)[0]
    assert "harmonic" not in row_by_row  # its error is not that of each row
    b = sphere(50, 2, 23)
    assert explain_sum(b, b, np.ones(50), 10.0, rtol=1e-8)[1].method == "dense"


@pytest.mark.parametrize(
    ("dim", "concentration", "rtol"), [(1, 5.0, 1e-10), (1, 300.0, 1e-3), (2, 0.2, 1e-12), (2, 900.0, 1e-8)]
)
def test_the_degree_is_the_least_whose_tail_is_allowed(dim, concentration, rtol):
    scheme = expansion.design(dim, concentration, rtol)
    degree = len(scheme.eigenvalues) - 1
    with mp.workdps(40):

        def eigenvalue(k):
            half = mp.besseli(k + mp.mpf(dim - 1) / 2, concentration) * mp.exp(-concentration)
            return half if dim == 1 else half * mp.sqrt(mp.pi / (2 * concentration))

        for k in (0, 1, degree // 2, degree):
            assert abs(scheme.eigenvalues[k] / eigenvalue(k) - 1) < 2e-14
        tail = mp.fsum((2 * k + 1 if dim == 2 else 2) * eigenvalue(k) for k in range(degree + 1, 2 * degree + 30))
        assert abs(scheme.mean / eigenvalue(0) - 1) < 1e-15
        assert tail <= scheme.omitted <= (expansion.SHARE + expansion.ALIASED) * rtol * scheme.mean
        # the degree is no larger than it has to be
        assert tail + (2 * degree + 1 if dim == 2 else 2) * eigenvalue(degree) > expansion.SHARE * rtol * scheme.mean


def taps(scheme, z):
    """All values of a window between grid points, (width, z), from the polynomials of its first ones."""
    table = scheme.polynomials.reshape(-1, scheme.width - 8)
    mirrored = np.polynomial.polynomial.polyval(-np.asarray(z), table[:, :8])[::-1]
    return np.concatenate([np.polynomial.polynomial.polyval(z, table), mirrored])


@pytest.mark.parametrize("width", window.WIDTHS)
@pytest.mark.parametrize("n", [104, 128, 160, 208])
def test_window_and_transform_match_mpmath(n, width):
    scheme = window.window(40, n, width)
    half = width // 2
    beta = math.pi * width * (1.02 - 41 / n)
    with mp.workdps(30):
        for j in (0, 3, half - 1, half, width - 4):
            for z in (-1.0, -0.3, 0.8):
                s = mp.mpf(j - (half - 1)) - (mp.mpf(z) + 1) / 2
                root = mp.sqrt(max(0, 1 - (s / half) ** 2))
                exact = (mp.besseli(0, mp.mpf(beta) * root) - 1) / (mp.besseli(0, beta) - 1)
                assert abs(taps(scheme, [z])[j, 0] - exact) < 1.5e-15
    z, weights = np.polynomial.legendre.leggauss(20)
    place = np.arange(width)[:, None] - (half - 1) - (z + 1.0) / 2.0
    for degree in (0, 17, 40):
        integral = (taps(scheme, z) * np.cos(2.0 * np.pi * degree / scheme.n * place)).sum(axis=0) @ weights / 2.0
        assert abs(scheme.transform[degree] - integral) < 1e-14


@pytest.mark.parametrize("width", window.WIDTHS)
@pytest.mark.parametrize("n", [512, 600])
def test_aliases_are_within_their_bound(n, width):
    # sum_i w(i - t) e^(2 pi i f (i - t)) is transform(f) up to the aliases, at any t.
    scheme = window.window(200, n, width)
    z = np.linspace(-1.0, 1.0, 41)
    place = np.arange(width)[:, None] - (width // 2 - 1) - (z + 1.0) / 2.0
    for degree in (0, 120, 200):
        total = (taps(scheme, z) * np.exp(2j * np.pi * degree / scheme.n * place)).sum(axis=0)
        error = np.abs(total / scheme.transform[degree] - 1.0).max()
        assert error <= scheme.aliasing[degree] + 1e-14 / scheme.transform[degree]
    assert error > 0.1 * scheme.aliasing[200]  # the bound is no larger than it has to be


@pytest.mark.parametrize("degree", [6, 90])
def test_legendre_filter_is_the_zonal_sum(degree):
    # Points on parallels and meridians: sum over orders of the filter's matrix is sum_l c_l (2l + 1) P_l(<x, y>).
    eigenvalues = np.append(1.0 / (1.0 + np.arange(degree + 1)), np.zeros(4))
    size = padded_size(16)
    theta = np.pi / 2 * (np.arange(size) + 0.3) / size
    total = np.zeros((size, 2))
    source = 5
    for parity in (0, 1):
        data = np.zeros((degree + 1, 4, size))
        data[:, 2 * parity, source] = 1.0
        filter_orders(0, degree + 1, degree, 2 * np.sin(theta / 2) ** 2, np.sin(theta), eigenvalues, data)
        turn = np.cos(0.7 * np.arange(degree + 1)) * np.where(np.arange(degree + 1) > 0, 2.0, 1.0)
        total[:, parity] = turn @ data[:, 2 * parity]
    for sign in (1.0, -1.0):
        cosine = sign * np.cos(theta) * np.cos(theta[source]) + np.sin(theta) * np.sin(theta[source]) * np.cos(0.7)
        degrees = np.arange(degree + 1)
        expected = ((2 * degrees + 1) * eigenvalues[:-4]) @ eval_legendre(degrees[:, None], cosine)
        np.testing.assert_allclose(total[:, 0] + sign * total[:, 1], expected, atol=1e-13 * np.abs(expected).max())


def test_legendre_functions_grow_from_below_the_range_of_floats():
    # P_mm = N sin^m is 1e-690 at the northern parallels, and degree sin(theta) < m at all: they are waves' tails.
    degree, m = 4003, 1500
    size = padded_size(1)
    theta = 0.352 + np.pi / degree * np.arange(size)
    data = np.zeros((1, 4, size))
    data[0, 0] = 1.0
    eigenvalues = np.zeros(degree + 5)
    eigenvalues[degree - 1] = 1.0
    filter_orders(m, m + 1, degree, 2 * np.sin(theta / 2) ** 2, np.sin(theta), eigenvalues, data)
    with mp.workdps(30):
        p = [_associated(degree - 1, m, t) for t in theta]
        expected = np.array([float(v * mp.fsum(p)) for v in p])
    np.testing.assert_allclose(data[0, 0], expected, atol=1e-12 * np.abs(expected).max())


def test_a_scale_from_a_narrow_grid_counts_its_aliases(monkeypatch):
    scheme = expansion.design(2, 1e3, 1e-12)
    left_out = scheme.coarse[2]
    monkeypatch.setattr(expansion, "COARSE_GRID", 1.0)
    assert scheme.coarse[2] > 2.0 * left_out


def _associated(degree, m, theta):
    """P_lm of mean square 1 over the sphere (with its azimuthal factor), by the recurrence in many digits."""
    x = mp.cos(mp.mpf(float(theta)))
    before, now = mp.mpf(0), mp.mpf(1)
    for k in range(m, degree):
        before, now = now, ((2 * k + 1) * x * now - (k + m) * before) / (k - m + 1)
    log = m * mp.log(mp.sin(mp.mpf(float(theta)))) + mp.loggamma(2 * m + 1) - m * mp.log(2) - mp.loggamma(m + 1)
    log += (mp.log(2 * degree + 1) + mp.loggamma(degree - m + 1) - mp.loggamma(degree + m + 1)) / 2
    return now * mp.exp(log)


def test_blocks_of_a_turn_share_no_grid_points(monkeypatch):
    turns = []

    def one_turn(task, count, *_, **__):
        turns.append([])
        for i in range(count):
            task(slice(i, i + 1))

    monkeypatch.setattr(scattered_points, "each_block", one_turn)
    scattered_points._by_turns(lambda rows, blocks, *_: turns[-1].append((rows, blocks)), (1,), 1, 11, 13, 1)
    assert sorted(len(turn) for turn in turns)[0] > 1
    for turn in turns:
        for one, other in itertools.combinations(turn, 2):
            gaps = [max(a[0] - b[1], b[0] - a[1]) for a, b in zip(one, other, strict=True)]
            assert max(gaps) >= APART
