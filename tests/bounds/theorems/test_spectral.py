"""Spectral correction (4.7): its classes of targets, its error against measured ones, and its prefix lengths."""

import itertools
import math

import enclosures
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds import error_bound
from bounds.jackson import approximation_error
from bounds.records import Prefix
from bounds.records.problem import Problem
from bounds.theorems import _degrees, state
from bounds.theorems._approximation import log_sobolev_tail
from bounds.theorems.spectral import log_spectral_error, spectral
from spherapprox import CoreHead, evaluate, harmonics, points, sphere, sup_error, targets
from spherapprox.vmf import VonMisesFisher


def spectral_error(lam, tail_degree, degree, dim, norm):
    """rho_g |p|/a_n (4.7), p of degree n <= g and L2 norm |p|."""
    log = log_spectral_error(lam, tail_degree, degree, dim) + math.log(norm)
    return math.exp(log) if log < 700.0 else math.inf


def corrected_head(coefficients, rule, lam):
    """Return values of a core head from a polynomial's orthonormal coefficients on S^2, and p~ at its points."""
    top = math.isqrt(len(coefficients)) - 1
    kernel = VonMisesFisher(2, lam)
    tilde = harmonics.synthesize(coefficients / kernel.eigenvalues(top)[harmonics.degrees(top)], rule.points)
    return math.exp(kernel.log_density(1.0)) * rule.weights * tilde, tilde


@pytest.mark.parametrize(
    ("lam", "tail_degree", "n_points", "measured", "promised"),
    [(10.0, 30, 968, 6e-13, 2.5e-12), (100.0, 80, 4418, 3.7e-12, 3.3e-10)],
)
def test_the_magnetic_field_with_968_tokens_to_rounding(lam, tail_degree, n_points, measured, promised):
    """A head of 968 tokens is the Earth's field to rounding, as its a-priori bound says."""
    field = targets.geomagnetic_field(2025.0)
    degree = 13
    coefficients = harmonics.project(field, degree)
    rule = points.gauss_product(2, tail_degree + degree)
    assert len(rule) == n_points
    assert _degrees.log_gauss_points(tail_degree + degree, 2) == pytest.approx(math.log(n_points), rel=1e-14)
    values, tilde = corrected_head(coefficients, rule, lam)
    x = sphere.uniform(2, 1000, 3)
    error = np.abs(evaluate(x, rule.points, values, lam, rtol=None) - field(x)).max()
    by_values = math.exp(_degrees.log_tail(tail_degree, lam, 2)) * np.abs(tilde).max()
    rounding = 2e-15 * math.exp(VonMisesFisher(2, lam).log_density(1.0)) * np.abs(tilde).max()
    assert by_values == pytest.approx(promised, rel=0.04)
    assert error < max(by_values, rounding)
    assert error < 5.0 * measured
    # the same from the sup norm alone is larger, and both hold
    from_norm = spectral_error(lam, tail_degree, degree, 2, field.sup_norm)
    assert error < from_norm + rounding
    assert from_norm > 0.05 * by_values


def spread(degree, smoothness, rng):
    """Return orthonormal coefficients on S^2 of a function whose Sobolev norm of this smoothness is 1."""
    k = harmonics.degrees(degree)
    weight = (1.0 + k * (k + 1.0)) ** (0.5 * smoothness)
    raw = rng.standard_normal(len(k)) * np.exp(-rng.uniform(0.0, 0.3) * k)
    return raw / np.linalg.norm(raw) / weight


@settings(max_examples=20)
@given(degree=st.integers(0, 8), more=st.integers(0, 10), log_lam=st.floats(-1, 4), seed=st.integers(0, 99))
def test_error_bound_contains(degree, more, log_lam, seed):
    rng, lam, tail_degree = np.random.default_rng(seed), math.exp(log_lam), degree + more
    coefficients = rng.standard_normal((degree + 1) ** 2)
    rule, x = points.gauss_product(2, tail_degree + degree), sphere.uniform(2, 300, rng)
    values, _ = corrected_head(coefficients, rule, lam)
    error = np.abs(evaluate(x, rule.points, values, lam, rtol=None) - harmonics.synthesize(coefficients, x)).max()
    promised = spectral_error(lam, tail_degree, degree, 2, float(np.linalg.norm(coefficients)))
    assert error <= promised + 1e-14 * np.abs(values).sum()


@pytest.mark.parametrize(
    ("dim", "smoothness"), [(1, 0.8), (1, 6.0), (2, 1.3), (2, 40.0), (3, 2.0), (8, 5.0), (30, 18.0)]
)
def test_sobolev_tails_contain_the_sum(dim, smoothness):
    def term(k):
        count = _degrees.log_harmonics(float(k), dim)
        return mpmath.exp(count) * mpmath.mpf(1 + k * (k + dim - 1)) ** -smoothness

    for degree in (0, 3, 100):
        head = mpmath.fsum(term(k) for k in range(degree + 1, 2000))
        exact = head + mpmath.sumem(term, [2000, mpmath.inf], tol=1e-12) if 2 * smoothness - dim < 9 else head
        bound = mpmath.exp(log_sobolev_tail(float(degree), smoothness, dim))
        assert 1 - 1e-11 <= bound / exact < 1.001


def test_sobolev_class_on_the_sphere():
    """Cutting off at degree n costs at most what the tail allows, and zonal functions with its weights attain it."""
    degree, top, s = 4, 60, 2.5
    k = harmonics.degrees(top)
    x = sphere.uniform(2, 300, 1)
    limit = math.exp(0.5 * log_sobolev_tail(degree, s, 2))
    for seed in range(5):
        coefficients = spread(top, s, np.random.default_rng(seed))
        remainder = harmonics.synthesize(np.where(k > degree, coefficients, 0.0), x)
        assert np.abs(remainder).max() <= limit
    pole = np.array([[0.0, 0.0, 1.0]])
    extremal = harmonics.real_spherical_harmonics(top, pole)[0] * (1.0 + k * (k + 1.0)) ** -s * (k > degree)
    extremal /= np.linalg.norm(extremal * (1.0 + k * (k + 1.0)) ** (0.5 * s))
    assert harmonics.synthesize(extremal, pole)[0] == pytest.approx(limit, rel=1e-3)


@settings(max_examples=40)
@given(dim=st.integers(1, 400), degree=st.integers(0, 300), share=st.floats(-12, -0.01))
def test_band_limited_targets_need_one_rule_at_any_accuracy(dim, degree, share):
    """Any accuracy with the points of one rule of degree 2n: only the concentration goes down."""
    eps = 10.0**share
    bound = spectral(Problem(eps, dim, degree=degree))
    assert bound.holds
    assert bound.log == _degrees.log_quadrature_points(2.0 * degree, dim)
    log_lam = dict(bound.constants)["log concentration"]
    if log_lam > -50.0:
        assert bound.concentration == pytest.approx(math.exp(log_lam), rel=1e-14)
        assert spectral_error(bound.concentration, degree, degree, dim, 1.0) <= eps * (1 + 1e-9)
        assert spectral_error(1.2 * bound.concentration, degree, degree, dim, 1.0) > eps


def test_lipschitz_targets_take_the_degree_of_jackson():
    for dim, eps in ((1, 0.1), (2, 0.1), (8, 0.1), (8, 1e-3)):
        degree = next(n for n in itertools.count() if approximation_error(n, dim) <= (1 - 1e-3) * eps)
        bound = spectral(Problem(eps, dim))
        constants = dict(bound.constants)
        assert constants["degree"] == degree
        assert bound.log == pytest.approx(_degrees.log_quadrature_points(2.0 * degree, dim), rel=1e-14)
        remainder = spectral_error(bound.concentration, degree, degree, dim, 1.0 + eps)
        assert approximation_error(degree, dim) + remainder <= eps * (1 + 1e-12)
        assert (
            spectral(Problem(eps, dim, jackson_constant=1.0)) == bound
        )  # what is assumed for the thesis proves nothing here


@pytest.mark.parametrize("alpha", [0.4, 1.0])
def test_hoelder_targets_as_limits_of_lipschitz_ones(alpha):
    """The degree is right if min_M [max_t (t^alpha - M t)/2 + M e_n] <= eps, and not at n - 1."""
    eps, dim = 0.2, 2
    degree = int(dict(spectral(Problem(eps, dim, exponent=alpha, slack=0.0)).constants)["degree"])
    t = np.geomspace(1e-6, math.pi, 20001)

    def least(n):
        slopes = np.geomspace(0.5, 100.0, 800)[:, None] if alpha < 1 else np.ones((1, 1))
        return float(np.min(0.5 * np.max(t**alpha - slopes * t, axis=1) + slopes[:, 0] * approximation_error(n, dim)))

    assert least(degree) <= eps * (1 + 1e-4)
    assert least(degree - 1) > eps * (1 - 1e-4)


@pytest.mark.parametrize(
    "options", [{"degree": 5}, {"sobolev_order": 3.0}, {"sobolev_order": 1.8}, {}, {"exponent": 0.5}]
)
@pytest.mark.parametrize("lam", [0.5, 20.0, 300.0])
def test_given_concentration_is_searched_in_full(options, lam):
    """No pair of degrees does with fewer points than the one returned."""
    eps, dim = 0.3, 2
    problem = Problem(eps, dim, sup_norm=0.9, concentration=lam, **options)
    bound = spectral(problem)
    constants = dict(bound.constants)

    def error(n):
        if "degree" in options:
            return 0.0 if n >= options["degree"] else math.inf
        if "sobolev_order" in options:
            return math.exp(0.5 * log_sobolev_tail(n, options["sobolev_order"], dim))
        alpha = options.get("exponent", 1.0)
        return 0.5 * (2.0 * approximation_error(n, dim)) ** alpha

    def promises(n, g):
        size = 0.9 + (0.0 if "degree" in options or "sobolev_order" in options else eps)
        remainder = spectral_error(lam, g, n, dim, size)
        if "sobolev_order" in options:
            weights = VonMisesFisher(dim, lam).eigenvalues(n)
            k = np.arange(n + 1.0)
            norm = float(np.max((1.0 + k * (k + dim - 1.0)) ** (-0.5 * options["sobolev_order"]) / weights))
            remainder = min(remainder, spectral_error(lam, g, 0, dim, norm))
        return error(n) + remainder <= eps

    best = next(
        total for total in itertools.count() if any(promises(n, total - n) for n in range(min(total // 2, 60) + 1))
    )
    assert constants["exactness"] == best
    assert bound.log == pytest.approx(_degrees.log_quadrature_points(best, dim), rel=1e-14)


@pytest.mark.parametrize("lam", [2.0, 30.0])
def test_smooth_target_end_to_end(lam):
    """A head of the promised length, for functions of the class, stays within eps."""
    eps, s = 0.02, 2.5
    bound = spectral(Problem(eps, 2, sobolev_order=s, concentration=lam))
    constants = dict(bound.constants)
    degree, exactness = int(constants["degree"]), int(constants["exactness"])
    rule = points.gauss_product(2, exactness)
    assert len(rule) == bound.as_integer()
    x = sphere.uniform(2, 300, 5)
    for seed in range(6):
        coefficients = spread(40, s, np.random.default_rng(seed))
        values, _ = corrected_head(coefficients[: (degree + 1) ** 2], rule, lam)
        error = np.abs(evaluate(x, rule.points, values, lam, rtol=None) - harmonics.synthesize(coefficients, x)).max()
        assert error <= eps


def test_extreme_arguments_have_finite_bounds():
    assert spectral(Problem(0.5, 3, sup_norm=0.4, degree=7)).value == 1.0
    assert not spectral(Problem(1e-12, 1, sobolev_order=0.505)).holds
    assert not spectral(Problem(0.1, 2, degree=3, concentration=0.0)).holds
    assert spectral(Problem(0.1, 2, degree=0, concentration=0.0)).value == 1.0


@pytest.mark.parametrize(
    ("dim", "concentration", "degree", "exactness"),
    [(1, 3.0, 4, 12), (2, 10.0, 13, 43), (2, 1e-3, 2, 4), (3, 50.0, 6, 60), (8, 4.0, 3, 20)],
)
def test_error_against_the_sum_in_high_precision(dim, concentration, degree, exactness):
    bound = error_bound(
        theorem=state("sharp-core-spectral", degree=degree), dim=dim, sup_norm=2.0, concentration=concentration,
        points=Prefix(exactness=exactness),
    )  # fmt: skip
    tail = float(enclosures.log_tail(dim, concentration, exactness - degree).midpoint)
    expected = 2.0 * math.exp(tail) / float(enclosures.eigenvalue(dim, concentration, degree).midpoint)
    assert expected * (1.0 - 1e-9) <= bound.value <= 1.3 * expected  # a geometric series bounds the tail
    assert bound.side == "upper"
    assert not bound.failed


def test_error_contains_measured_errors():
    for dim, (exactness, concentration) in itertools.product((1, 2, 3), ((6, 2.0), (12, 5.0))):
        target, rule = targets.zonal_harmonic(dim, 3), points.gauss_product(dim, exactness)
        head = CoreHead.from_target(target, rule, concentration, "spectral", degree=3)
        bound = error_bound(
            theorem=state("sharp-core-spectral", degree=3), dim=dim, sup_norm=target.sup_norm,
            concentration=concentration, points=Prefix(exactness=exactness),
        )  # fmt: skip
        assert 1e-9 < sup_error(head, target, n=500, refine=2).lower <= bound.value


def test_the_error_needs_a_rule_of_twice_the_degree():
    def bound(degree, exactness, concentration):
        return error_bound(
            theorem=state("sharp-core-spectral", degree=degree), dim=2, sup_norm=1.0, concentration=concentration,
            points=Prefix(exactness=exactness),
        )  # fmt: skip

    outside = bound(4, 7, 1.0)
    assert outside.value == math.inf
    assert outside.failed == ("exactness >= 2 degree",)
    assert bound(0, 0, 0.0).value == 0.0
    assert bound(1, 2, 0.0).value == math.inf
    many = bound(4, 9, np.array([1.0, 2.0]))
    assert many[0].value < many[1].value
