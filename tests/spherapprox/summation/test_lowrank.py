import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import peak_memory
from scipy.special import iv
from sums import problem, sphere, truth, unit, wide

from spherapprox import evaluate
from spherapprox._kernels.summation import features, monomials
from spherapprox.summation import explain_sum, lowrank, plan
from spherapprox.summation.lowrank import chebyshev, jensen
from spherapprox.summation.method import Tolerance, silent
from spherapprox.summation.partial import Partial
from spherapprox.summation.problem import Problem

property_test = settings(derandomize=True, deadline=None, max_examples=20)


def distance(got, expected, scale):
    """The error of each column relative to its largest row of absolute values."""
    return float(np.max(np.abs(got - expected).max(axis=0) / scale.max(axis=0)))


def cap(n, dim, seed):
    return unit(sphere(n, dim, seed) * 0.2 + np.eye(dim + 1)[0])


def random_problem(x, b, concentration, p=1, normalize=False):
    return problem(x, b, np.random.default_rng(9).standard_normal((len(b), p)), concentration, normalize=normalize)


def exponents(part, columns):
    """The exponents of each monomial of a part, by what its segments say."""
    rows = np.zeros((len(part.degrees), columns), int)
    for first, start, count, column in part.segments:
        rows[first : first + count] = rows[start : start + count]
        rows[first : first + count, column] += 1
    return rows


@pytest.mark.parametrize(("z", "degree"), [(0.0, 0), (1e-5, 1), (0.1, 3), (1.0, 4), (1.0, 10), (5.0, 14), (12.0, 40)])
def test_the_polynomial_of_the_exponential_errs_by_its_tail(z, degree):
    values, sizes, uncertain = chebyshev.coefficients(z, degree)
    tail = math.exp(chebyshev.log_tail(z, degree))
    rounding = uncertain + 2.0**-52 * (degree + 1) * math.exp(z)
    with mp.workdps(40):
        series = [mp.besseli(k, z) * (1 if k == 0 else 2) for k in range(degree + 60)]
        for s in (mp.mpf(i) / 10 for i in range(-10, 11)):
            polynomial = mp.fsum(mp.mpf(float(c)) * s**j for j, c in enumerate(values))
            assert abs(polynomial - mp.exp(z * s)) <= tail + rounding
            chebyshev_sum = mp.fsum(c * mp.chebyt(k, s) for k, c in enumerate(series[: degree + 1]))
            assert abs(polynomial - chebyshev_sum) <= rounding
        assert mp.fsum(series[degree + 1 :]) <= tail <= 1.5 * mp.fsum(series[degree + 1 :])
    assert (np.abs(values) <= sizes).all()
    assert sizes.sum() <= math.exp(chebyshev.log_size(z, degree)) * (1 + 1e-12)


@pytest.mark.parametrize(("d", "degree"), [(2, 0), (2, 9), (3, 6), (5, 4), (6, 1), (9, 3)])
def test_monomials_are_all_there_once(d, degree):
    layout = monomials.layout(d, degree)
    first, second = exponents(layout.first, d), exponents(layout.second, d)
    np.testing.assert_array_equal(first.sum(axis=1), layout.first.degrees)
    np.testing.assert_array_equal(second.sum(axis=1), layout.second.degrees)
    pairs = [tuple(a + c) for a in first for c in second if a.sum() + c.sum() <= degree]
    assert len(set(pairs)) == len(pairs) == monomials.rank(d, degree) == (layout.scale > 0).sum()
    for part, rows in ((layout.first, first), (layout.second, second)):
        expected = [math.factorial(sum(row)) / math.prod(map(math.factorial, row)) for row in rows]
        np.testing.assert_allclose(part.multinomials, expected, rtol=1e-15)


@property_test
@given(seed=st.integers(0, 10**6), d=st.integers(2, 7), degree=st.integers(0, 5), n=st.integers(1, 600))
def test_moments_make_powers_of_inner_products(seed, d, degree, n):
    rng = np.random.default_rng(seed)
    layout, x, b = monomials.layout(d, degree), rng.standard_normal((7, d)), rng.standard_normal((n, d))
    w, c = rng.standard_normal((2, n)), rng.standard_normal(degree + 1)
    total = np.zeros((2, layout.moments))
    parts = (layout.first.segments, layout.second.segments)
    features.moments(b, w, *parts, layout.moment_rows, layout.n_second, total)
    table = np.take(total, layout.source, axis=1) * (layout.scale * c[layout.power])
    got = np.empty((7, 2))
    features.polynomials(x, table, *parts, layout.value_rows, layout.n_second, got)
    expected = np.polynomial.polynomial.polyval(x @ b.T, c) @ w.T
    scale = np.polynomial.polynomial.polyval(np.abs(x) @ np.abs(b).T, np.abs(c)) @ np.abs(w).T
    assert np.max(np.abs(got - expected) / scale) < 1e-14


CASES = [
    (1, 0.0, 1e-14), (1, 1.0, 1e-14), (1, 20.0, 1e-9), (2, 1e-3, 1e-14), (2, 1.0, 1e-14), (2, 8.0, 1e-10),
    (4, 1.0, 1e-12), (4, 5.0, 1e-6), (8, 1.0, 1e-6), (16, 0.5, 1e-5), (64, 0.01, 1e-4), (2000, 1e-6, 1e-5),
]  # fmt: skip


@wide
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize(("dim", "concentration", "rtol"), CASES)
def test_error_is_bounded(dim, concentration, rtol, normalize):
    x, b = sphere(53, dim), sphere(700 if dim < 1000 else 20, dim, 1)
    signed = np.random.default_rng(2).standard_normal((len(b), 3))
    near = -signed[:, :1] * (b[:, :1] > 0.0)  # some weights are 0
    for values in (signed, np.abs(signed), near):
        got, record = explain_sum(x, b, values, concentration, method="lowrank", rtol=rtol, normalize=normalize)
        expected, scale = truth(x, b, values, concentration, normalize)
        assert record.method == "lowrank"
        assert distance(got, expected, scale) <= min(record.rtol, rtol + 3e-15)
        assert record.rtol <= rtol + 2e-13 * math.exp(2.0 * concentration)


@wide
@pytest.mark.parametrize(("dim", "concentration"), [(2, 0.1), (2, 6.0), (4, 1.0)])
def test_rounding_is_bounded(dim, concentration):
    """With a degree so high that nothing else is left."""
    x, b = sphere(200, dim), sphere(3000, dim, 1)
    weights = np.random.default_rng(8).random((3000, 2))
    wish = Problem(x, b, concentration / 2.0, np.dtype(np.float64), weights, True)
    sums = lowrank.sums(wish, Tolerance(1e-19, math.inf), 1, silent)
    expected, scale = truth(x, b, weights, concentration)
    off = distance(sums.partial.numerators, expected, scale)
    order = (dim - 1) / 2
    mean = math.gamma(order + 1) * (2 / concentration) ** order * iv(order, concentration)  # of exp(lambda <x, b>)
    assert 1e-17 < off < 4.0 * lowrank.ROUNDING * math.exp(concentration) / mean
    assert off < sums.error < 1e-11
    denominator, _ = truth(x, b, np.ones(3000), concentration)
    np.testing.assert_allclose(sums.partial.denominator, denominator.astype(float), rtol=sums.error)


@wide
def test_rounding_is_bounded_where_terms_cancel():
    concentration = 6.0
    b = cap(300, 2, 6)
    wish = random_problem(-b[:50], b, concentration, 2)
    sums = lowrank.sums(wish, Tolerance(1e-22, math.inf), 1, silent)
    expected, scale = truth(wish.x, b, wish.values, concentration)
    off = distance(sums.partial.numerators, expected, scale)
    assert 2.0**-53 * (6.0 * concentration + 12.0) < off < sums.error < 3e-14 * math.exp(2.0 * concentration)


def test_tasks_and_runs_of_one_task_are_added_with_compensation():
    n = 64 * 2048
    weights = np.zeros((n, 1))
    weights[::2048] = 2.0**-54
    weights[0] = 1.0
    b = np.tile([[1.0, 0.0]], (n, 1))
    wish = Problem(b[:1], b, 0.0, np.dtype(np.float64), weights, False)
    result = lowrank.sums(wish, Tolerance(1e-14, 1e-12), 1, silent).partial.numerators
    assert abs(result - (1.0 + 2.0**-48)) < 2.5e-16
    x, b = sphere(3, 2), sphere(100_000, 2, 1)  # a task takes a sixteenth: three runs
    values = np.random.default_rng(2).standard_normal(len(b))
    sums = [evaluate(x, b, values, 0.5, method=method, rtol=1e-13) for method in ("lowrank", "dense")]
    assert distance(*sums, np.abs(values).sum()) < 1e-12


@wide
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_count_as_they_are_given(dtype):
    """Lengths that are off by as much as is allowed count as they are."""
    off = 0.99e-6 if dtype is np.float64 else 0.99e-3
    rng = np.random.default_rng(3)
    x, b = (sphere(n, 3, n) * (1 + rng.uniform(-off, off, (n, 1))) for n in (40, 300))
    x, b = x.astype(dtype), b.astype(dtype)
    values = rng.random(300).astype(dtype)
    for normalize in (False, True):
        got, record = explain_sum(x, b, values, 2.0, method="lowrank", rtol=1e-13, normalize=normalize)
        expected, scale = truth(x, b, values, 2.0, normalize)
        assert got.dtype == dtype
        assert distance(got[:, None], expected[:, None], scale[:, None]) <= (1e-14 if dtype is np.float64 else 7e-8)
        assert record.rtol < (3e-13 if dtype is np.float64 else 7e-8)


@wide
@pytest.mark.parametrize("normalize", [False, True])
def test_points_far_from_all_control_points_keep_to_the_bound(normalize):
    """The scale is far below the sum of weights: the degree has to grow with that."""
    b = cap(200, 2, 6)
    x = -b[:30]
    values = np.random.default_rng(7).standard_normal((200, 2))
    got, record = explain_sum(x, b, values, 3.0, method="lowrank", rtol=1e-10, normalize=normalize)
    expected, scale = truth(x, b, values, 3.0, normalize)
    assert scale.max() < 0.01 * np.abs(values).sum() or normalize
    assert distance(got, expected, scale) <= min(1e-10, record.rtol)


@wide
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("signed", [False, True])
def test_sums_that_roundings_would_spoil_are_dense(normalize, signed):
    """Opposite caps: the scale is exp(-2 lambda) of the sum of weights."""
    b = cap(200, 3, 6)
    values = np.random.default_rng(7).random((200, 2)) - 0.5 * signed
    got, record = explain_sum(-b[:30], b, values, 10.0, method="lowrank", rtol=1e-10, normalize=normalize)
    expected, scale = truth(-b[:30], b, values, 10.0, normalize)
    assert distance(got, expected, scale) <= record.rtol < 1e-12


def test_sums_that_merely_cancel_are_not_spoilt():
    """Jensen's bound of the scale and the result are small here, the scale is not."""
    x, b = sphere(40, 2, 35), sphere(3000, 2, 36)
    assert lowrank.sums(random_problem(x, b, 6.0), Tolerance(1e-14, 1e-12), 1, silent).doubtful is None


@wide
@pytest.mark.parametrize("rtol", [0.1, 1.0, 1e300])
def test_coarse_quotients_are_bounded(rtol):
    """Computed denominators are far from the true ones: the bound is by what divides."""
    b = cap(200, 2, 8)
    for x in (-b[:30], sphere(100, 2, 9), b[:1]):
        values = np.random.default_rng(10).standard_normal((200, 3))
        for concentration in (0.3, 1.0, 3.0, 6.0):
            got, record = explain_sum(x, b, values, concentration, method="lowrank", rtol=rtol, normalize=True)
            expected, scale = truth(x, b, values, concentration, True)
            assert distance(got, expected, scale) <= record.rtol <= 0.1


def test_quotients_err_by_what_divides():
    """Ten terms of 1, nine tenths of them lost in the denominator: the quotient is 10 instead of 1."""
    b = np.tile([[1.0, 0.0]], (10, 1))
    wish = Problem(b[:1], b, 1.0, np.dtype(float), np.ones((10, 1)), True)
    state = Partial(np.zeros(1), np.full((1, 1), 10.0), np.ones(1))
    assert 9.0 <= 0.9 * jensen.Scales.of(wish).sharpened(state, 0.9, True).need(True) <= 18.0 * (1.0 + 1e-9)


@wide
@pytest.mark.parametrize("normalize", [False, True])
def test_a_crude_polynomial_keeps_to_its_bound(normalize):
    """A degree that is too low by far: what is left out is nearly the sum, and still bounded."""
    b = cap(200, 2, 8)
    x = np.concatenate([-b[:30], sphere(30, 2, 9)])
    wish = random_problem(x, b, 2.0, 2, normalize)
    expected, scale = truth(x, b, wish.values, 2.0, normalize)
    errors = []
    for coarsest in (1.0, 30.0, 1e3):
        sums = lowrank.sums(wish, Tolerance(1e9, math.inf), 1, silent, coarsest=coarsest)
        below = sums.partial.denominator[:, None] if normalize else 1.0
        errors.append(sums.error)
        assert distance(sums.partial.numerators / below, expected, scale) <= sums.error
    assert max(errors) > 0.3


def test_the_layout_of_input_changes_no_bit_and_compiles_nothing():
    x, b, values = sphere(40, 2, 32), sphere(60, 2, 33), np.random.default_rng(34).standard_normal((60, 2))
    plain = evaluate(x, b, values, 1.0, method="lowrank")
    before = len(features.moments.signatures), len(features.polynomials.signatures)
    x.flags.writeable = b.flags.writeable = False
    np.testing.assert_array_equal(evaluate(x, b, np.asfortranarray(values), 1.0, method="lowrank"), plain)
    turned = evaluate(np.asfortranarray(x)[::-1], np.repeat(b, 2, axis=0)[::2], values, 1.0, method="lowrank")
    np.testing.assert_array_equal(turned[::-1], plain)
    assert (len(features.moments.signatures), len(features.polynomials.signatures)) == before  # nothing compiled again


def test_an_interruption_ends_the_sum_after_the_block():
    calls = []

    def stop(pairs):
        calls.append(pairs)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lowrank.sums(random_problem(sphere(1000, 2), sphere(40_000, 2, 1), 1.0), Tolerance(1e-10, 1e-8), 2, stop)
    assert len(calls) == 1


def test_memory_does_not_grow_with_the_points():
    peaks = []
    for n in (2000, 40_000):
        x, b = sphere(n, 4), sphere(n, 4, 1)
        lowrank.sums(random_problem(x[:5], b[:5], 1.0), Tolerance(1e-10, 1e-8), 1, silent)
        task = random_problem(x, b, 1.0)
        peaks.append(peak_memory(lambda task=task: lowrank.sums(task, Tolerance(1e-10, 1e-8), 1, silent))[1])
    assert peaks[1] < peaks[0] + 2.5e6  # all pairs: 1.3e10; results: 1e6


def test_auto_takes_the_lowrank_method_for_many_points_only():
    x, b = sphere(100, 4), sphere(100, 4, 1)
    assert explain_sum(x, b, np.ones(100), 1.0, rtol=1e-10)[1].method == "dense"
    many = np.tile(x, (10_000, 1))
    costs = plan.compare(random_problem(many, many, 1.0), Tolerance(1e-10, 1e-10), False)[0]
    assert min(costs, key=costs.get) == "lowrank"
    assert "lowrank" not in plan.compare(random_problem(many, many, 1e4), Tolerance(1e-10, 1e-10), False)[0]
    low, high = (lowrank.cost(random_problem(many, many, 1.0, p), Tolerance(1e-10, 1e-10)) for p in (1, 8))
    assert low < high < 9.0 * low
