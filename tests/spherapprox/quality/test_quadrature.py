import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pointsets import signed_rule

from spherapprox import PointSet, harmonics, points, special, sphere
from spherapprox._kernels.harmonics import hyperspherical
from spherapprox.harmonics.hyperspherical import sizes
from spherapprox.quality import quadrature

fixed = settings(derandomize=True, deadline=None, max_examples=30)


def double_sum(rule, degree):
    """Return the errors by the addition theorem: to 1e-8 or the relative accuracy of sums."""
    cosine = np.clip(rule.points @ rule.points.T, -1.0, 1.0)
    size = sizes(degree, rule.dim)
    means = [rule.weights @ special.gegenbauer(k, rule.dim, cosine) @ rule.weights for k in range(1, degree + 1)]
    return np.sqrt([0.0, *size[1:] * means])


@fixed
@given(st.integers(1, 9), st.integers(0, 9), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_error_of_any_rule_agrees_with_the_double_sum(dim, degree, n, seed):
    rule = signed_rule(dim, n, seed)
    errors = rule.quadrature_error(degree, by_degree=True)
    assert errors.shape == (degree + 1,)
    assert np.allclose(errors, double_sum(rule, degree), rtol=1e-12, atol=1e-14)
    assert rule.quadrature_error(degree) == pytest.approx(math.sqrt(math.fsum(errors**2)), rel=1e-14)


@pytest.mark.parametrize("dim", [1, 2, 3, 5, 12])
def test_cross_polytope_in_exact_arithmetic(dim):
    """Its points are poles and points with coordinates 0."""
    rule = PointSet(np.vstack([np.eye(dim + 1), -np.eye(dim + 1)])[::-1])
    before, at_zero = Fraction(0), Fraction(1)  # G_{k-1}(0) and G_k(0): (k + m - 1) G_{k+1} = -k G_{k-1}
    errors = rule.quadrature_error(7 if dim < 12 else 4, by_degree=True)
    for k, error in enumerate(errors):
        if k:
            before, at_zero = at_zero, -Fraction(k - 1, k + dim - 2) * before if k > 1 else Fraction(0)
        size = math.comb(dim + k, dim) - (math.comb(dim + k - 2, dim) if k > 1 else 0)
        square = Fraction(size, 2 * dim + 2) * (2 - 2 * (k % 2) + 2 * dim * at_zero) if k else Fraction(0)
        assert error == pytest.approx(math.sqrt(square), rel=1e-14, abs=2e-15)


def error_in_forty_digits(rule, degree):
    """Return the errors of each degree of the rounded points and weights themselves."""
    with mpmath.workdps(50):
        rows = [[mpmath.mpf(c) for c in row] for row in rule.points.tolist()]
        rows = [[c / mpmath.sqrt(mpmath.fdot(row, row)) for c in row] for row in rows]
        weights = [mpmath.mpf(w) for w in rule.weights.tolist()]
        squares = [mpmath.mpf(0)] * (degree + 1)
        for w, x in zip(weights, rows, strict=True):
            for v, y in zip(weights, rows, strict=True):
                t, before, value = mpmath.fdot(x, y), mpmath.mpf(0), mpmath.mpf(1)
                for k in range(degree + 1):
                    squares[k] += w * v * value
                    a = mpmath.mpf(k) / max(k + rule.dim - 1, 1)
                    before, value = value, (1 + a) * t * value - a * before if k else t
        size = sizes(degree, rule.dim).tolist()
        return [float(abs(sum(weights) - 1)), *(float(mpmath.sqrt(size[k] * squares[k])) for k in range(1, degree + 1))]


@pytest.mark.parametrize(("dim", "degree"), [(1, 12), (2, 6), (3, 3)])
def test_exact_rule_against_forty_digits(dim, degree):
    """The points' rounding is the true error there; the double sum cannot see it."""
    rule = points.gauss_product(dim, degree)
    errors, truth = rule.quadrature_error(degree + 1, by_degree=True), error_in_forty_digits(rule, degree + 1)
    assert max(truth[:-1]) < 2e-15
    assert np.abs(errors - truth).max() < 1e-15
    assert errors[-1] == pytest.approx(truth[-1], rel=1e-14)


DEGREES = {1: (0, 1, 200), 2: (0, 1, 2, 63, 100), 3: (1, 7, 24), 4: (2, 13), 5: (3, 8), 6: (1, 4, 7), 50: (1,)}


@pytest.mark.parametrize(("dim", "degree"), [(dim, degree) for dim, row in DEGREES.items() for degree in row])
def test_gauss_product_is_exact_to_its_degree_and_no_further(dim, degree):
    rule = points.gauss_product(dim, degree)
    errors = rule.quadrature_error(degree + 1, by_degree=True)
    assert errors[:-1].max() < 1e-15 * (4 + degree / 10)
    assert errors[-1] > 0.1


@pytest.mark.parametrize("n", [1, 40])
def test_basis_of_the_sphere_agrees_with_the_table_of_harmonics(n):
    rule, degree = signed_rule(2, n, 3), 40
    sums = rule.weights @ harmonics.real_spherical_harmonics(degree, rule.points)
    expected = [np.linalg.norm(sums[k * k : (k + 1) ** 2]) for k in range(degree + 1)]
    assert np.allclose(rule.quadrature_error(degree, by_degree=True)[1:], expected[1:], rtol=1e-12, atol=0)


def test_sines_whose_power_underflows():
    """At degree 2500 order 700 counts at sin(theta) = 0.3, where sin^700 is 1e-366: by the recurrence in 30 digits."""
    low, sine = 700, np.array([0.3, 0.9, 0.31, 0.0])
    cosine, out = np.sqrt((1.0 - sine) * (1.0 + sine)), np.empty((1801, 4))
    hyperspherical.of_colatitude(2, low, 1.5, cosine, sine, out)
    assert not out[:, 3].any()
    with mpmath.workdps(30):
        for j in range(3):
            t, before, last = mpmath.mpf(cosine[j]), mpmath.mpf(0), mpmath.mpf(0)
            value, truth = mpmath.mpf(1.5) * mpmath.mpf(sine[j]) ** low, []
            for n in range(1801):
                truth.append(float(value))
                b = mpmath.sqrt(mpmath.mpf((n + 1) * (n + 1 + 2 * low)) / (4 * (n + low + 1.5) * (n + low + 0.5)))
                before, value, last = value, (t * value - last * before) / b, b
            assert np.allclose(out[:, j], truth, rtol=1e-12, atol=1e-11 * np.abs(truth).max())
            assert np.abs(truth).max() > 0.1


@pytest.mark.parametrize(("dim", "degree"), [(1, 5), (2, 5), (3, 5), (7, 5), (300, 2)])
def test_one_point_has_the_dimension_of_each_degree(dim, degree):
    errors = PointSet(sphere.uniform(dim, 1, 4)).quadrature_error(degree, by_degree=True)
    assert np.allclose(errors[1:] ** 2, sizes(degree, dim)[1:], rtol=1e-13)


def test_ten_thousand_dimensions():
    rule = PointSet(sphere.uniform(10**4, 3, 0).astype(np.float32), [0.5, 0.7, -0.2])
    x = rule.points / np.linalg.norm(rule.points, axis=1, keepdims=True)
    expected = math.sqrt(10**4 + 1) * np.linalg.norm(rule.weights @ x)
    assert rule.quadrature_error(1) == pytest.approx(expected, rel=1e-12)


def test_points_of_one_parallel_in_any_order():
    rule = points.gauss_product(3, 8)
    order = np.random.default_rng(0).permutation(len(rule))
    shuffled = PointSet(rule.points[order], rule.weights[order])
    in_order = rule.quadrature_error(9, by_degree=True)
    assert np.allclose(shuffled.quadrature_error(9, by_degree=True), in_order, rtol=1e-13, atol=2e-15)
    # a pole's neighbours with the last coordinate 1 are not on one parallel, nor are the two poles
    x = np.array([[1e-9, 0.0, 1.0], [-2e-9, 0.0, 1.0]])
    assert quadrature.errors_by_degree(x, np.array([1.0, -1.0]), 1)[1] == pytest.approx(3**0.5 * 3e-9, rel=1e-14)
    x = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    assert np.allclose(quadrature.errors_by_degree(x, np.array([0.5, -0.5]), 2), [1.0, 3**0.5, 0.0], atol=1e-16)


@pytest.mark.parametrize(("dim", "degree", "n"), [(1, 500, 2500), (2, 100, 1500), (4, 6, 1500)])
def test_workers_and_blocks_change_nothing(dim, degree, n):
    rule = signed_rule(dim, n, 7)
    errors = rule.quadrature_error(degree, by_degree=True)
    for workers in (3, 10**6):
        assert np.array_equal(rule.quadrature_error(degree, by_degree=True, workers=workers), errors)
    in_blocks = quadrature.errors_by_degree(rule.points, rule.weights, degree, elements=2**14)
    assert np.allclose(in_blocks, errors, rtol=1e-12)


def climb(x, control):
    """Return the distance to the nearest control point of the farthest point found near x."""
    rng, step, here = np.random.default_rng(0), 0.1, -1.0
    for _ in range(150):
        tries = x + step * rng.standard_normal((20, x.size)) / x.size**0.5
        tries /= np.linalg.norm(tries, axis=1, keepdims=True)
        distance = np.arccos((tries @ control.T).max(axis=1))
        k = int(distance.argmax())
        if distance[k] > here:
            here, x = distance[k], tries[k]
        else:
            step *= 0.75
    return here


@pytest.mark.parametrize(("dim", "degree"), [(2, 0), (2, 1), (2, 2), (2, 5), (2, 30), (3, 4), (3, 9), (4, 4), (6, 2)])
def test_covering_radius_of_gauss_product(dim, degree):
    rule = points.gauss_product(dim, degree)
    radius = rule.covering_bound()
    if dim == 2:
        assert radius == pytest.approx(PointSet(rule.points).covering_bound(), rel=1e-10)
        return
    x = sphere.uniform(dim, 4000, 1)
    nearest = np.arccos((x @ rule.points.T).max(axis=1))
    assert nearest.max() <= radius
    starts = [*x[np.argsort(nearest)[-4:]], np.eye(dim + 1)[-1]]
    assert max(climb(start, rule.points) for start in starts) == pytest.approx(radius, rel=1e-6)
