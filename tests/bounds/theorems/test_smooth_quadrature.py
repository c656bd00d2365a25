"""The core head by positive quadrature for bounded second derivatives (4.I): its lemmas, its promise and its count."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bounds
from bounds.records.problem import LARGEST_CONCENTRATION, Problem
from bounds.theorems import state, state_all
from bounds.theorems._degrees import log_rising_tail, log_term
from bounds.theorems.lower_smooth import bump_height
from bounds.theorems.quadrature import quadrature
from bounds.theorems.smooth_quadrature import (
    ORDER,
    REST,
    SLOPE,
    SQUARE,
    log_weight,
    moments,
    smooth_part,
    smooth_quadrature,
    smooth_quadrature_error,
    steepest,
)
from spherapprox import CoreHead, Target, points, sphere
from spherapprox.vmf import VonMisesFisher


def problem(eps, dim, **options):
    return Problem.checked(eps, dim, **{"smoothness": 1.0} | options)


def test_slopes_that_follow_from_other_constants_are_not_rounded_down():
    rng = np.random.default_rng(0)
    with mpmath.workdps(40):
        for bend, size in 10.0 ** rng.uniform(-3, 3, (300, 2)):
            given = problem(0.1, 3, smoothness=bend, sup_norm=size, lipschitz=1e9)
            exact = min(mpmath.pi * bend / 2, mpmath.sqrt(2 * mpmath.mpf(given.sup_norm) * mpmath.mpf(bend)))
            assert exact <= steepest(given) <= exact * (1 + mpmath.mpf(10) ** -14)


def waves(dim, rng, degree=4):
    """Return sum c_i T_k(<p_i, x>): T_k(<p, .>) is trigonometric of degree k along geodesics, so L, H = k, k^2."""
    poles, c, k = sphere.uniform(dim, 4, rng), rng.standard_normal(4), rng.integers(1, degree + 1, 4)
    size = np.abs(c)

    def f(x):
        return np.cos(np.arccos(np.clip(x @ poles.T, -1.0, 1.0)) * k) @ c

    return Target(f, dim, lipschitz=float(size @ k), sup_norm=float(size.sum()), smoothness=float(size @ k**2))


def bump(pole, radius, lipschitz, smoothness):
    """Return the bump of 4.J about a pole, whose height is the largest for its radius and constants."""
    s = min(0.5 * radius, lipschitz / smoothness)

    def f(x):
        angle = sphere.distance(x, pole[None, :])
        remainder = np.clip(radius - angle, 0.0, None)
        top = bump_height(radius, lipschitz, smoothness)
        near = top - 0.5 * smoothness * angle**2
        slope = top - smoothness * s * (angle - 0.5 * s)
        return np.where(angle < s, near, np.where(remainder < s, 0.5 * smoothness * remainder**2, slope))

    return f


# ----- lemmas


def test_powers_of_u_bound_the_angle_and_its_square_and_touch_them_at_both_poles():
    theta = np.linspace(1e-3, math.pi, 4000)
    u = 2.0 * np.sin(0.5 * theta) ** 2
    square = sum(c * u**j for j, c in enumerate(SQUARE, 1))
    remainder = theta - np.sin(theta) * sum(c * u**j for j, c in enumerate(SLOPE))
    assert (theta**2 <= square * (1.0 + 1e-14)).all()
    assert square[-1] == pytest.approx(math.pi**2, rel=1e-15)
    assert square[0] / theta[0] ** 2 == pytest.approx(1.0, abs=1e-14)
    assert (remainder >= -1e-15).all()
    assert (remainder <= REST * u**3.5 + 1e-15).all()
    assert pytest.approx(math.pi, rel=1e-15) == REST * 2.0**3.5


@pytest.mark.parametrize(
    ("dim", "lam"), [(1, 0.0), (1, 7.0), (1, 40.0), (2, 1e-300), (2, 20.0), (8, 45.0), (50, 1e12), (10**6, 1e6)]
)
def test_moments_are_those_of_the_kernel_to_rounding(dim, lam):
    with mpmath.workdps(400):
        half, lam = mpmath.mpf(dim) / 2, mpmath.mpf(lam)
        # 1F1 at 2 lambda, as a recurrence of exact moments from E u = 1 - I_(nu+1)/I_nu at many digits
        u = [mpmath.mpf(1)]
        if lam < 1e3 and dim < 100:
            below = mpmath.hyp1f1(half, dim, 2 * lam)
            u += [2**j * mpmath.rf(half, j) / mpmath.rf(dim, j) * mpmath.hyp1f1(half, dim + j, 2 * lam) / below
                  for j in range(1, 5)]  # fmt: skip
        else:
            ratio = mpmath.mpf(0)
            for j in range(1500, -1, -1):
                ratio = (2 * j + dim) / (j + dim + lam * (2 - ratio))
                u.insert(1, ratio)
            u = [mpmath.fprod(u[1 : j + 1]) for j in range(5)]
        exact = [float(value) for value in u[1:]]
    assert moments(float(lam), dim) == pytest.approx(exact, rel=4e-15)
    assert moments(float(lam), dim)[0] == pytest.approx(VonMisesFisher(dim, float(lam)).mean_one_minus_cos(), rel=4e-15)


@pytest.mark.parametrize(("dim", "degree", "lam"), [(1, 9, 6.0), (2, 6, 2.0), (2, 12, 12.0), (3, 7, 9.0)])
def test_sums_over_a_quadrature_are_near_the_integrals(dim, degree, lam):
    """Sums of u^j k and of u^n <a, b> k are within the factors of F, H and L of the rising tail (4.I, powers)."""
    rule, x = points.gauss_product(dim, degree), sphere.uniform(dim, 2000, 3)
    x = np.concatenate([x, rule.points[:50]])
    t = x @ rule.points.T
    k = np.exp(VonMisesFisher(dim, lam).log_density(t)) * rule.weights
    means, tail = (1.0, *moments(lam, dim)), math.exp(log_rising_tail(degree, lam, dim, ORDER))
    y, rise = (degree + 1.0) / lam, 1.0
    for j in range(ORDER + 1):
        rise *= 1.0 + max(j - 1.0, 0.0) / (dim + 2.0 * degree + 1.0 + j)
        b = 0.5 * rise * ((1.0 + y) ** j + abs(1.0 - y) ** j)
        assert np.abs((k * (1.0 - t) ** j).sum(axis=1) - means[j]).max() <= tail * b
        if j < len(SLOPE):
            along = (k * (1.0 - t) ** j) @ rule.points
            across = along - (along * x).sum(axis=1)[:, None] * x
            steepest = np.linalg.norm(across, axis=1).max()
            assert steepest <= tail * y * b


@pytest.mark.parametrize(
    ("dim", "degree", "lam"), [(1, 4, 1e-3), (2, 9, 4.0), (8, 46, 41.0), (8, 60, 1e9), (300, 25, 5.0)]
)
def test_the_factor_of_the_tail_is_that_of_the_statement(dim, degree, lam):
    lipschitz, sup, bend, y = 0.7, 3.0, 5.0, (degree + 1) / lam
    u = [math.prod(1.0 + i / (dim + 2 * degree + 2 + i) for i in range(j)) for j in range(5)]
    b = [u[j] * ((1.0 + y) ** j + abs(1.0 - y) ** j) / 2.0 for j in range(5)]
    square = 2.0 * b[1] + b[2] / 3.0 + 4.0 * b[3] / 45.0 + (math.pi**2 / 16.0 - 17.0 / 45.0) * b[4]
    remainder = math.pi / 2.0**3.5 * (b[3] / 4.0 + b[4])
    factor = sup + 0.5 * bend * square + lipschitz * (y * (1.0 + b[1] / 3.0 + 2.0 * b[2] / 15.0) + remainder)
    assert log_weight(lam, degree, dim, lipschitz, sup, bend) == pytest.approx(math.log(factor), abs=1e-13)
    terms = [
        (degree_l / (degree + 1.0)) ** 4 * math.exp(log_term(float(degree_l), lam, dim))
        for degree_l in range(degree + 1, degree + 400)
    ]
    tail = log_rising_tail(degree, lam, dim, ORDER)
    if lam < 1e3:
        assert math.log(sum(terms)) <= tail <= math.log(sum(terms)) + 0.2
        total = smooth_quadrature_error(lam, degree, dim, lipschitz, sup, bend)
        assert total == pytest.approx(smooth_part(lam, dim, lipschitz, bend) + factor * math.exp(tail), rel=1e-12)
    else:
        assert tail == math.inf == smooth_quadrature_error(lam, degree, dim, lipschitz, sup, bend)


# ----- the promise


@pytest.mark.filterwarnings("ignore:.concentration. is too large for these:RuntimeWarning")
@settings(max_examples=25)
@given(dim=st.integers(1, 3), degree=st.integers(4, 24), share=st.floats(0.02, 3.0), seed=st.integers(0, 99))
def test_error_bound_contains(dim, degree, share, seed):
    rng, rule = np.random.default_rng(seed), points.gauss_product(dim, degree)
    target, lam = waves(dim, rng), share * degree
    x = np.concatenate([sphere.uniform(dim, 400, rng), rule.points[:100]])
    head = CoreHead.from_target(target, rule, lam)
    bound = bounds.error_bound(theorem="sharp-core-smooth", target=target, points=rule, concentration=lam)
    assert np.abs(head(x) - target(x)).max() <= bound.value


def test_the_bound_is_nearly_the_error_where_the_target_bends_most():
    lam, rule = 80.0, points.gauss_product(2, 60)
    pole = rule.points[7]
    shapes = {"bump": (Target(bump(pole, 2.0, 1.0, 1.0), 2, lipschitz=1.0, sup_norm=1.0, smoothness=1.0), pole)}
    shapes["wave"] = (Target(lambda x: (x @ pole) ** 2, 2, lipschitz=1.0, sup_norm=1.0, smoothness=2.0), pole)
    for target, at in shapes.values():
        head = CoreHead.from_target(target, rule, lam)
        x = np.concatenate([at[None, :], sphere.uniform(2, 2000, 5)])
        bound = bounds.error_bound(theorem="sharp-core-smooth", target=target, points=rule, concentration=lam).value
        lipschitz = bounds.error_bound(
            theorem="sharp-core-quadrature", target=target, points=rule, concentration=lam
        ).value
        error = np.abs(head(x) - target(x)).max()
        assert 0.95 * bound < error <= bound < 0.2 * lipschitz


def test_values_in_any_norm_have_the_same_bound():
    rng, rule = np.random.default_rng(4), points.gauss_product(2, 20)
    parts, x = [waves(2, rng) for _ in range(3)], sphere.uniform(2, 500, 1)
    norm = {name: float(np.linalg.norm([getattr(p, name) for p in parts])) for name in ("lipschitz", "sup_norm")}
    norm["smoothness"] = float(np.linalg.norm([p.smoothness for p in parts]))
    target = Target(lambda y: np.stack([p(y) for p in parts], axis=1), 2, **norm)
    head = CoreHead.from_target(target, rule, 20.0)
    bound = bounds.error_bound(theorem="sharp-core-smooth", target=target, points=rule, concentration=20.0)
    assert np.linalg.norm(head(x) - target(x), axis=1).max() <= bound.value


@pytest.mark.parametrize(("dim", "eps"), [(1, 0.02), (2, 0.1), (2, 0.4), (3, 0.3)])
def test_the_head_of_the_theorem_keeps_eps(dim, eps):
    bound = smooth_quadrature(problem(eps, dim))
    rule = points.gauss_product(dim, int(dict(bound.constants)["degree"]))
    assert len(rule) == bound.as_integer()
    pole, x = rule.points[0], sphere.uniform(dim, 1500, 1)
    f = bump(pole, 2.0, 1.0, 1.0)
    head = CoreHead.from_target(f, rule, bound.concentration)
    assert np.abs(head(np.append(x, [pole], axis=0)) - f(np.append(x, [pole], axis=0))).max() <= eps


# ----- the count


def test_lipschitz_alone_is_better_where_second_derivatives_are_large():
    for dim in (2, 8, 64):
        for eps in (0.1, 1e-3):
            alone = quadrature(Problem(eps, dim)).log
            assert smooth_quadrature(problem(eps, dim, smoothness=0.5 / eps)).log < alone
            assert smooth_quadrature(problem(eps, dim, smoothness=8.0 / eps)).log > alone


def test_extreme_arguments_have_finite_bounds():
    assert smooth_quadrature(problem(0.1, 8, sup_norm=0.1)).value == 1.0
    assert smooth_quadrature_error(5.0, 3, 2, 1.0, 1.0, 1.0) == math.inf
    assert smooth_quadrature_error(0.0, 4, 2, 1.0, 1.0, 1.0) < math.inf
    for lam in (5e-324, 1e-200, LARGEST_CONCENTRATION):
        assert smooth_quadrature(problem(0.9, 8, concentration=lam, smoothness=0.3, sup_norm=9.0)).holds
        assert math.isfinite(log_weight(lam, 4.0, 8, 1.0, 1.0, 1.0))
    for refused in (problem(0.1, 8, concentration=30.0), problem(0.1, 8, concentration=0.0)):
        assert smooth_quadrature(refused).log == math.inf
    assert smooth_quadrature(problem(math.pi / 2, 8, sup_norm=9.0)).value == 1.0
    for dim in (1, 2, 10**6):
        least = 30 * dim * math.log(10.0) - 20 * dim * math.log(dim + 1.0)
        assert least < smooth_quadrature(problem(1e-60, dim)).log < math.inf
    for refused in (problem(0.1, 8, smoothness=None), problem(0.1, 8, exponent=0.5)):
        assert smooth_quadrature(refused).failed[0].startswith("a bound of second derivatives (smoothness=)")


def test_a_target_s_own_constant_is_used_and_its_absence_is_said():
    known = Target(lambda x: x[:, -1], 2, lipschitz=1.0, sup_norm=1.0, smoothness=1.0)
    unknown = Target(lambda x: x[:, -1], 2, lipschitz=1.0, sup_norm=1.0)
    result = bounds.prefix_length(0.1, target=known, theorem="sharp-core-smooth")
    assert result == bounds.prefix_length(0.1, dim=2, theorem=state("sharp-core-smooth", smoothness=1.0))
    assert result in bounds.ladder(0.1, target=known)
    assert result in bounds.ladder(0.1, dim=2, theorems=state_all(smoothness=1.0))
    silent = {bound.theorem for bound in bounds.ladder(0.1, target=unknown) if bound.failed}
    assert {"sharp-core-smooth", "lower-smooth"} <= silent
