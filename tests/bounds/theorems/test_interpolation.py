"""Interpolation in the flat limit (4.G): small heads built at 60 digits, the counts, and the rank argument."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bounds.jackson import approximation_error
from bounds.records.problem import Problem
from bounds.theorems import _degrees
from bounds.theorems.interpolation import interpolation
from bounds.theorems.rank import log_rank_points, rank
from bounds.theorems.spectral import spectral
from spherapprox import sphere


def interpolation_error(lam, tail_degree, degree, dim, norm):
    """N rho_g |p|/a_n (4.G), p of degree n <= g and L2 norm |p|, N = dim P_g Fekete points."""
    log = _degrees.log_tail(tail_degree, lam, dim) - _degrees.log_eigenvalue(degree, lam, dim)
    log += _degrees.log_polynomials(tail_degree, dim) + math.log(norm)
    return math.exp(log) if log < 700.0 else math.inf


def polynomials(degree, dim):
    return math.comb(dim + degree, dim) + (math.comb(dim + degree - 1, dim) if degree else 0)


def circle_error(lam, tail_degree, cosines, n_points=None):
    """Return the largest error on S^1, and the weights' sum of sizes times e^lambda, of the head for sum c_l cos(l t).

    2g+1 equispaced points are Fekete points of degree g: their Lagrange functions are Dirichlet kernels over 2g+1.
    """
    with mpmath.workdps(60):
        n = 2 * tail_degree + 1 if n_points is None else n_points
        a = [mpmath.besseli(k, lam) / mpmath.besseli(0, lam) for k in range(len(cosines))]
        angles = [2 * mpmath.pi * k / n for k in range(n)]
        weights = [sum(c / r * mpmath.cos(k * t) for k, (c, r) in enumerate(zip(cosines, a, strict=True))) / n
                   for t in angles]  # fmt: skip
        worst = mpmath.mpf(0)
        for x in np.linspace(0.0, 6.2, 41):
            head = sum(w * mpmath.exp(lam * mpmath.cos(x - t)) for w, t in zip(weights, angles, strict=True))
            truth = sum(c * mpmath.cos(k * x) for k, c in enumerate(cosines))
            worst = max(worst, abs(head / mpmath.besseli(0, lam) - truth))
        size = sum(map(abs, weights)) * mpmath.exp(lam) / mpmath.besseli(0, lam)
        return float(worst), float(size)


@pytest.mark.parametrize("eps", [1e-1, 1e-6, 1e-12])
def test_seven_points_hold_every_trigonometric_polynomial_of_degree_three(eps):
    bound = interpolation(Problem(eps, 1, degree=3))
    assert bound.as_integer() == 7
    log_weights = dict(bound.constants)["log weights"]
    for cosines in ([0.1, -0.2, 0.3, 0.4], [0.0, 0.0, 0.0, 1.0]):  # |f| <= 1
        error, size = circle_error(bound.concentration, 3, cosines)
        assert error <= eps
        assert size <= math.exp(log_weights)
        # larger lambda, larger error: the promise is not idle
        assert circle_error(300.0 * bound.concentration, 3, cosines)[0] > eps
    # and six points hold fewer
    assert circle_error(bound.concentration, 3, [0.0, 0.0, 0.0, 1.0], n_points=5)[0] > 0.5


@pytest.mark.parametrize(("lam", "tail_degree"), [(0.3, 2), (2.0, 3), (2.0, 6), (10.0, 12)])
def test_error_bound_contains_on_the_circle(lam, tail_degree):
    cosines = [0.2, 0.5, -0.3]
    norm = math.sqrt(0.2**2 + 0.5 * (0.5**2 + 0.3**2))
    error, _ = circle_error(lam, tail_degree, cosines)
    promised = interpolation_error(lam, tail_degree, 2, 1, norm)
    assert error <= promised
    assert tail_degree > 3 or error > 1e-3 * promised  # with more points than degrees they are a quadrature besides


def test_the_simplex_holds_every_affine_function():
    """dim + 2 vertices are Fekete points of degree 1, with Lagrange functions (1 + (m+1) <x, b>)/(m+2)."""
    for dim in (2, 3, 5):
        n = dim + 2
        vertices = np.linalg.svd(np.eye(n) - 1.0 / n)[0][:, : n - 1] * math.sqrt(n / (n - 1.0))  # (n, dim+1)
        x = sphere.uniform(dim, 300, 2)
        cardinal = (1.0 + (dim + 1) * x @ vertices.T) / n
        assert np.allclose((1.0 + (dim + 1) * vertices @ vertices.T) / n, np.eye(n), atol=1e-13)
        assert np.abs(cardinal).max() <= 1.0 + 1e-12
        bound = interpolation(Problem(1e-3, dim, degree=1))
        lam, order = bound.concentration, 0.5 * (dim - 1)
        assert bound.as_integer() == n
        with mpmath.workdps(40):
            first = float(mpmath.besseli(order + 1, lam) / mpmath.besseli(order, lam))
            scale = float((mpmath.mpf(lam) / 2) ** order / mpmath.gamma(order + 1) / mpmath.besseli(order, lam))
        for slope in (vertices[0], np.eye(dim + 1)[1]):
            # int l_k p~ = <slope, b_k>/(n a_1) for p = <slope, x>
            weights = scale * (vertices @ slope) / (n * first)
            head = np.expm1(lam * x @ vertices.T) @ weights  # the weights sum to 0
            assert np.abs(head - x @ slope).max() <= 1e-3


def test_counts_are_dimensions_of_polynomials():
    bound = interpolation(Problem(0.1, 8))
    degree = next(n for n in itertools.count() if approximation_error(n, 8) <= (1 - 1e-3) * 0.1)
    assert dict(bound.constants)["degree"] == degree
    assert bound.as_integer() == polynomials(degree, 8)
    assert bound.log10 < 13.0  # far below the 15.1 of positive quadrature
    for eps in (0.5, 0.1, 0.013):  # Favard's constant
        n = math.ceil(math.pi / (2 * (1 - 1e-3) * eps)) - 1
        assert interpolation(Problem(eps, 1)).as_integer() == 2 * n + 1
    assert (
        interpolation(Problem(0.1, 8, slack=0.3)).log > bound.log > interpolation(Problem(0.1, 8, slack=0.0)).log - 0.1
    )
    smooth = interpolation(Problem(1e-4, 2, sobolev_order=3.0))
    assert smooth.as_integer() == (dict(smooth.constants)["degree"] + 1) ** 2


@settings(max_examples=50)
@example(dim=1, share=-9.0, log_sup=0.0)
@given(dim=st.integers(1, 300), share=st.floats(-9, 0.19), log_sup=st.floats(-1, 9))
def test_keeps_its_promise(dim, share, log_sup):
    eps, sup = 10.0**share, 10.0**log_sup
    bound = interpolation(Problem(eps, dim, sup_norm=sup))
    constants = dict(bound.constants)
    if eps >= min(sup, math.pi / 2):
        assert bound.value == 1.0
        return
    assert bound.holds
    assert bound.log == pytest.approx(_degrees.log_polynomials(constants["degree"], dim), rel=1e-14)
    assert approximation_error(int(constants["degree"]), dim) <= (1 - 1e-3) * eps * (1 + 1e-12)
    if constants["log concentration"] > -600:
        remainder = interpolation_error(
            bound.concentration, constants["tail degree"], constants["degree"], dim, sup + eps
        )
        # which is a difference of logarithms as large as this
        remainder /= 1.0 + 1e-15 * abs(_degrees.log_eigenvalue(constants["degree"], bound.concentration, dim))
        assert approximation_error(int(constants["degree"]), dim) + remainder <= eps * (1 + 1e-9)
    else:
        assert constants["log concentration"] < -600.0


@pytest.mark.parametrize("lam", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("dim", [1, 3])
def test_given_concentration_is_searched_in_full(dim, lam):
    eps = 0.25
    bound = interpolation(Problem(eps, dim, concentration=lam))

    def promises(n, g):
        return approximation_error(n, dim) + interpolation_error(lam, g, n, dim, 1.0 + eps) <= eps

    best = next(g for g in itertools.count() if any(promises(n, g) for n in range(g + 1)))
    assert dict(bound.constants)["tail degree"] == best
    assert bound.as_integer() == polynomials(best, dim)


def double_points(dim, degree, n_points, seed):
    """Return values and tangential derivatives of all polynomials of a degree at random points and their antipodes."""
    rng = np.random.default_rng(seed)
    half = sphere.uniform(dim, n_points, rng)
    exponents = [e for e in itertools.product(range(degree + 1), repeat=dim + 1) if sum(e) in (degree, degree - 1)]
    rows = []
    for b in np.concatenate([half, -half]):
        powers = np.array([[b[i] ** max(e, 0) for e in range(degree + 1)] for i in range(dim + 1)])
        value = np.array([math.prod(powers[i][e[i]] for i in range(dim + 1)) for e in exponents])
        slope = np.array([[
            e[j] * powers[j][e[j] - 1] * math.prod(powers[i][e[i]] for i in range(dim + 1) if i != j) if e[j] else 0.0
            for e in exponents] for j in range(dim + 1)])  # fmt: skip
        tangents = np.linalg.svd(b[None, :])[2][1:]  # (dim, dim+1)
        rows.append(value)
        rows.extend(tangents @ slope)
    return np.array(rows)  # (2 n_points (dim+1), dim P_n)


@pytest.mark.parametrize(("dim", "degree"), [(1, 7), (2, 5), (2, 6), (3, 5)])
def test_double_points_of_the_rank_argument(dim, degree):
    """No polynomial of degree n is singular at s pairs of antipodes in general position; with fewer, some are."""
    n_pairs = -(-math.comb(dim + degree, dim) // (dim + 1))
    table = double_points(dim, degree, n_pairs, 0)
    assert table.shape[1] == polynomials(degree, dim)
    singular = np.linalg.svd(table, compute_uv=False)
    assert singular[-1] > 1e-9 * singular[0]
    # one pair less imposes too few conditions already on one parity
    if (n_pairs - 1) * (dim + 1) < math.comb(dim + degree, dim):
        fewer = np.linalg.svd(double_points(dim, degree, n_pairs - 1, 0), compute_uv=False)
        assert len(fewer) < table.shape[1] or fewer[-1] < 1e-13 * fewer[0]
    assert math.exp(log_rank_points(float(degree), dim)) == pytest.approx(4 * n_pairs, rel=1e-13)


def test_the_rank_bound_is_below_interpolation():
    bound, second = rank(Problem(0.1, 8)), interpolation(Problem(0.1, 8))
    degree = int(dict(second.constants)["degree"])
    assert bound.as_integer() == 4 * -(-math.comb(8 + degree, 8) // 9)
    assert second.log10 - 0.64 < bound.log10 < second.log10 - 0.63
    for dim in (1, 2, 5, 100, 10**4):
        for eps in (1e-12, 1e-3, 0.3, 1.0, 1.4):
            assert rank(Problem(eps, dim, sup_norm=9.0)).log <= interpolation(Problem(eps, dim, sup_norm=9.0)).log
    assert not rank(Problem(0.1, 8, concentration=3.0)).holds
    big = math.comb(10**4 + 60, 60)
    assert log_rank_points(60.0, 10**4) >= math.log(4 * -(-big // (10**4 + 1))) * (1 - 1e-15)


def test_extreme_arguments_have_finite_bounds():
    for dim, eps in ((1, 1e-60), (2, 1e-60), (10**4, 1e-12), (10**6, 1e-3)):
        bound = interpolation(Problem(eps, dim))
        constants = dict(bound.constants)
        assert math.isfinite(constants["log weights"])
        assert bound.concentration == pytest.approx(math.exp(constants["log concentration"]))
    assert interpolation(Problem(0.5, 3, sup_norm=0.4, degree=7)).value == 1.0
    assert rank(Problem(1.6, 3, sup_norm=9.0)).value == 1.0
    for function in (interpolation, rank, spectral):
        rough = function(Problem(1e-3, 8, sobolev_order=4.0))
        assert rough.failed[0] == "sobolev_order > dim/2"
        assert rough.log == math.inf
    assert not interpolation(Problem(0.1, 2, degree=3, concentration=0.0)).holds
