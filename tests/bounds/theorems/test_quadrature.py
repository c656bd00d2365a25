"""The core head by positive quadrature (4.C), and the dimensions and tails that it shares with 4.7 and 4.G."""

import functools
import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.records.problem import LARGEST_CONCENTRATION, Problem
from bounds.theorems import _degrees
from bounds.theorems.quadrature import quadrature, quadrature_error, second_moment
from spherapprox import CoreHead, points, sphere, targets
from spherapprox.vmf import VonMisesFisher


def harmonics(degree, dim):
    """dim H_l by the definition: homogeneous polynomials of degree l, less those of degree l - 2."""
    lower = math.comb(degree + dim - 2, dim) if degree >= 2 else 0
    return math.comb(degree + dim, dim) - lower


@functools.cache
@mpmath.workdps(30)
def exact_term(degree, lam, dim):
    nu = mpmath.mpf(dim - 1) / 2
    return harmonics(degree, dim) * mpmath.besseli(nu + degree, lam) / mpmath.besseli(nu, lam)


@mpmath.workdps(30)
def exact_tail(degree, lam, dim):
    """rho_g by a long sum at 30 digits."""
    total, k = mpmath.mpf(0), degree + 1
    while (term := exact_term(k, lam, dim)) >= total * mpmath.mpf(10) ** -20:
        total, k = total + term, k + 1
    return total


@pytest.mark.parametrize("dim", [1, 2, 3, 8, 50, 1000])
@pytest.mark.parametrize("degree", [0, 1, 2, 5, 40, 333])
def test_dimensions_of_harmonics_and_polynomials(degree, dim):
    assert _degrees.log_harmonics(degree, dim) == pytest.approx(math.log(harmonics(degree, dim)), rel=1e-14, abs=1e-14)
    total = sum(harmonics(k, dim) for k in range(degree + 1))
    assert _degrees.log_polynomials(degree, dim) == pytest.approx(math.log(total), rel=1e-14, abs=1e-14)
    if degree:
        growth = math.log(harmonics(degree + 1, dim)) - math.log(harmonics(degree, dim))
        assert _degrees.log_growth(degree, dim) == pytest.approx(growth, abs=2e-13)


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (17.0, 16.0), (5.0, 1e6), (1e13, 1e4), (1e62, 8.0)])
def test_binomial_of_large_numbers(a, b):
    with mpmath.workdps(120):
        x, y = mpmath.mpf(a), mpmath.mpf(b)
        exact = float(mpmath.loggamma(x + y + 1) - mpmath.loggamma(x + 1) - mpmath.loggamma(y + 1))
    assert _degrees.log_binomial(a, b) == pytest.approx(exact, rel=3e-16)


def test_points_of_the_gauss_product_are_counted():
    for dim, degree in itertools.product((1, 2, 3, 4, 8), (4, 5, 10, 43)):
        gauss = (degree + 1) * (degree // 2 + 1) ** (dim - 1)
        assert round(math.exp(_degrees.log_gauss_points(degree, dim))) == gauss
        if gauss < 3000:
            assert len(points.gauss_product(dim, degree)) == gauss
        polynomials = sum(harmonics(k, dim) for k in range(degree + 1))
        pairs = 2 * sum(harmonics(k, dim) for k in range(0, degree, 2))  # even ones alone, and their antipodes
        best = min(gauss, pairs if degree % 2 else polynomials)
        assert math.exp(_degrees.log_quadrature_points(degree, dim)) == pytest.approx(best, rel=1e-12)
    for dim in (1, 2, 4, 30):
        counts = [_degrees.log_quadrature_points(float(g), dim) for g in range(60)]
        assert all(a < b for a, b in itertools.pairwise(counts[1:]))


CASES = [(8, 818.0, 265), (8, 35.0, 43), (2, 208.0, 84), (1, 10.0, 8), (2, 0.3, 5), (300, 2e3, 1100), (8, 5e-324, 5)]


@pytest.mark.parametrize(("dim", "lam", "degree"), CASES)
def test_tails_are_bounded_closely(dim, lam, degree):
    exact = [float(mpmath.log(exact_tail(degree - k, lam, dim))) for k in range(3)]
    bounds = _degrees.log_tails(degree, lam, dim)
    assert bounds[0] == _degrees.log_tail(degree, lam, dim)
    for truth, bound in zip(exact, bounds, strict=True):
        assert truth <= bound <= truth + 0.06


@pytest.mark.parametrize(("dim", "lam"), [(1, 3.0), (2, 10.0), (8, 100.0), (40, 0.01)])
def test_tails_near_the_start_are_at_most_the_peak(dim, lam):
    peak = VonMisesFisher(dim, lam).log_density(1.0)
    for degree in range(6):
        bound = _degrees.log_tail(degree, lam, dim)
        assert float(mpmath.log(exact_tail(degree, lam, dim))) <= bound <= peak
    assert _degrees.log_tail(3.0, 0.0, dim) == -math.inf


@settings(max_examples=60)
@given(dim=st.integers(1, 10**4), log_lam=st.floats(-20, 40), share=st.floats(0.0, 3.0))
def test_tails_fall_with_the_degree_and_rise_with_the_concentration(dim, log_lam, share):
    lam = math.exp(log_lam)
    degree = 4.0 + round(share * math.sqrt(dim * lam))
    tail = _degrees.log_tail(degree, lam, dim)
    assert math.isfinite(tail)
    assert _degrees.log_tail(1.5 * degree, lam, dim) <= tail + 1e-12 * abs(tail)
    assert _degrees.log_tail(degree, 1.5 * lam, dim) >= tail - 1e-12 * abs(tail)


def test_second_moment_is_the_integral():
    def integrand(t, power):
        angle = mpmath.acos(t)
        return (2 * (1 - t) + (mpmath.pi**2 - 4) / 4 * (1 - t) ** 2 if power else angle**2) * mpmath.exp(5 * t)

    for dim in (2, 4):
        weight = [mpmath.quad(lambda t, d=dim, f=f: f(t) * (1 - t * t) ** (d / 2 - 1), [-1, 0, 1]) for f in (
            lambda t: mpmath.exp(5 * t), lambda t: integrand(t, 1), lambda t: integrand(t, 0),
        )]  # fmt: skip
        assert second_moment(5.0, dim) == pytest.approx(float(weight[1] / weight[0]), rel=1e-13)
        assert second_moment(5.0, dim) > float(weight[2] / weight[0])
    assert second_moment(0.0, 3) == pytest.approx(second_moment(1e-8, 3), rel=1e-7)


@pytest.mark.parametrize(
    ("dim", "eps", "polynomials", "gauss", "degree", "lam"),
    [(8, 0.1, "15.1", "17.3", 265, 818), (8, 0.5, "9.07", "11.0", 43, 35), (16, 0.1, "30.3", "38.7", 502, 1637),
     (2, 0.1, "3.86", "3.56", 84, 208)],
)  # fmt: skip
def test_printed_counts_of_quadrature(dim, eps, polynomials, gauss, degree, lam):
    bound = quadrature(Problem(eps, dim))
    constants = dict(bound.constants)
    assert constants["degree"] == degree
    assert bound.concentration == pytest.approx(lam, rel=0.05)  # a whole degree leaves a range of lambda
    by_polynomials = _degrees.log_polynomials(float(degree), dim)
    for log, printed in ((by_polynomials, polynomials), (constants["log product Gauss"], gauss)):
        half = 0.501 * 10.0 ** -len(printed.partition(".")[2])
        assert log / math.log(10.0) == pytest.approx(float(printed), abs=half)
    assert bound.log <= min(by_polynomials, constants["log product Gauss"])


def test_the_least_degree_and_the_largest_concentration():
    assert quadrature_error(5.0, 3, 2, 1.0, 1.0) == math.inf > quadrature_error(5.0, 4, 2, 1.0, 1.0)
    assert 0.0 < quadrature(Problem(0.1, 8, concentration=LARGEST_CONCENTRATION)).log < math.inf
    for refused in (Problem(0.1, 8, concentration=700.0), Problem(0.1, 8, concentration=0.0),
                    Problem(0.1, 8, sobolev_order=9.0), Problem(0.1, 8, exponent=1e-3)):  # fmt: skip
        bound = quadrature(refused)
        assert (bound.log, bound.holds) == (math.inf, False)
    assert (
        quadrature(Problem(math.pi / 2, 8, sup_norm=9.0)).value == 1.0 < quadrature(Problem(1.5, 8, sup_norm=9.0)).value
    )
    for dim in (1, 2, 10**6):
        assert quadrature(Problem(1e-60, dim)).log > 60 * dim * math.log(10.0) - 20 * dim * math.log(dim + 1.0)


@pytest.mark.parametrize(("dim", "eps"), [(1, 0.05), (1, 0.7), (2, 0.2), (2, 0.6), (3, 0.7)])
def test_the_head_of_the_theorem_keeps_eps(dim, eps):
    """The head that the theorem describes, on the product Gauss rule, keeps eps on the distance, capped and not."""
    for cap in (math.pi, 1.0):
        problem = Problem(eps, dim, sup_norm=cap)
        bound = quadrature(problem)
        rule = points.gauss_product(dim, int(dict(bound.constants)["degree"]))
        if dim < 4:
            assert len(rule) == bound.as_integer()
        distance = targets.distance(dim, pole=rule.points[0])

        def target(x, distance=distance, cap=cap):
            return np.minimum(distance(x), cap)

        head = CoreHead.from_target(target, rule, bound.concentration)
        x = np.concatenate([sphere.uniform(dim, 1500, 1), rule.points[:200]])
        assert np.abs(head(x) - target(x)).max() <= eps


@pytest.mark.filterwarnings("ignore:.concentration. is too large for these:RuntimeWarning")
@settings(max_examples=15)
@given(dim=st.integers(1, 3), degree=st.integers(4, 18), log_lam=st.floats(-2, 4), seed=st.integers(0, 99))
def test_error_bound_contains(dim, degree, log_lam, seed):
    """At any degree and lambda, small ones too, the error of random Lipschitz targets is within the bound."""
    lam, rng = math.exp(log_lam), np.random.default_rng(seed)
    rule, x, poles = points.gauss_product(dim, degree), sphere.uniform(dim, 400, rng), sphere.uniform(dim, 5, rng)
    heights = rng.uniform(0.0, 1.0, 5)

    def target(y):
        return np.min([h + sphere.distance(y, p) for h, p in zip(heights, poles, strict=True)], axis=0)

    head = CoreHead.from_target(target, rule, lam)
    limit = quadrature_error(lam, degree, dim, 1.0, 1.0 + math.pi)
    assert np.abs(head(x) - target(x)).max() <= limit
