"""Harmonics on S^m: orthonormal, with the reproducing kernel of their degree, and right to the stated digits."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox import harmonics, points, special, sphere

BASES = [(1, 60), (1, 200), (2, 24), (3, 10), (4, 6), (5, 5), (6, 4)]


@pytest.mark.parametrize(("dim", "degree"), BASES)
def test_orthonormal_on_an_exact_rule(dim, degree):
    rule = points.gauss_product(dim, 2 * degree)
    gram = np.zeros((1, 1))
    for rows, weights in zip(np.array_split(rule.points, 8), np.array_split(rule.weights, 8), strict=True):
        table = harmonics.hyperspherical_harmonics(degree, rows)
        gram = gram + (table.T * weights) @ table
    assert len(gram) == math.comb(dim + degree, dim) + math.comb(dim + degree - 1, dim)
    np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-13 if dim > 1 else 1e-15 * degree)


@settings(max_examples=15)
@given(st.integers(1, 9), st.integers(0, 2**31))
def test_the_addition_theorem_holds(dim, seed):
    """sum_j Y_lj(x) Y_lj(y) = dim H_l P_l(<x, y>) for pairs of points, their antipodes and poles among them."""
    degree = {1: 80, 2: 80, 3: 60, 4: 24}.get(dim, 6)
    x = sphere.uniform(dim, 4, seed)
    x = np.concatenate([x, -x[:1], np.eye(dim + 1)[-1:], -np.eye(dim + 1)[:1]])
    table = harmonics.hyperspherical_harmonics(degree, x)
    of = harmonics.hyperspherical_degrees(degree, dim)
    cosine = np.clip(x @ x.T, -1.0, 1.0)
    for deg in range(degree + 1):
        part = table[:, of == deg]
        # a rounding of the cosine weighs P_l' <= deg (deg + m - 1) / m
        tolerance = 1e-15 * (deg + 1) * (deg + dim)
        np.testing.assert_allclose(part @ part.T / part.shape[1], special.gegenbauer(deg, dim, cosine), atol=tolerance)


def truth(x, degree):
    """The basis at one point by the definition, colatitude by colatitude, in 40 digits."""
    with mpmath.workdps(40):
        x = [mpmath.mpf(float(t)) for t in x]
        norm = mpmath.sqrt(sum(t * t for t in x))
        x = [t / norm for t in x]
        z = mpmath.mpc(x[0], x[1])
        z /= abs(z) if abs(z) > 0 else 1
        parts = [[mpmath.sqrt(2) * (z**deg).real, mpmath.sqrt(2) * (z**deg).imag] if deg else [mpmath.mpf(1)]
                 for deg in range(degree + 1)]  # fmt: skip
        for k in range(2, len(x)):
            radius = mpmath.sqrt(sum(t * t for t in x[: k + 1]))
            t = x[k] / radius if radius else mpmath.mpf(0)
            s = mpmath.sqrt(1 - t * t)
            grown = [[] for _ in range(degree + 1)]
            for deg in range(degree + 1):
                rows = []
                for low in [deg, *range(deg)]:
                    alpha = low + mpmath.mpf(k - 1) / 2
                    n = deg - low
                    # the norm of s^low C_n^alpha for s_k sin^(k-1) dtheta
                    square = (
                        mpmath.pi * 2 ** (1 - 2 * alpha) * mpmath.gamma(n + 2 * alpha)
                        / (mpmath.factorial(n) * (n + alpha) * mpmath.gamma(alpha) ** 2)
                        / mpmath.beta(mpmath.mpf(k) / 2, mpmath.mpf(1) / 2)
                    )  # fmt: skip
                    value = s**low * mpmath.gegenbauer(n, alpha, t) / mpmath.sqrt(square)
                    rows.append([value * y for y in parts[low]])
                grown[deg] = rows
            parts = [[v for row in rows for v in row] for rows in grown]
        return [np.array([float(v) for v in part]) for part in parts]


@pytest.mark.parametrize(("dim", "degree"), [(1, 300), (3, 18), (4, 9), (7, 4)])
def test_against_forty_digits(dim, degree):
    x = np.concatenate([sphere.uniform(dim, 2, 5), sphere.uniform(dim, 1, 6) * 1e-3 + np.eye(dim + 1)[-1:]])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    table = harmonics.hyperspherical_harmonics(degree, x)
    of = harmonics.hyperspherical_degrees(degree, dim)
    for row, point in zip(table, x, strict=True):
        for deg, expected in enumerate(truth(point, degree)):
            part_of_degree = row[of == deg]
            assert len(part_of_degree) == len(expected)
            scale = math.sqrt(len(expected))
            np.testing.assert_allclose(part_of_degree, expected, atol=2e-15 * (deg + 1) * scale)


@pytest.mark.parametrize("dim", [1, 2, 3, 8])
def test_poles_and_nested_bases(dim):
    pole = np.eye(dim + 1)[-1:]
    values = harmonics.hyperspherical_harmonics(5, np.concatenate([pole, -pole, pole + 0.0]))
    of = harmonics.hyperspherical_degrees(5, dim)
    np.testing.assert_allclose(values[1], values[0] * (-1.0) ** of, atol=1e-14)
    sizes = np.bincount(of)
    if dim > 1:  # at the pole one harmonic of each degree is not zero: the zonal one, of size sqrt(dim H_l)
        for deg in range(6):
            zonal = [0.0] * (sizes[deg] - 1) + [sizes[deg] ** 0.5]
            np.testing.assert_allclose(np.sort(np.abs(values[0, of == deg])), zonal)
    x = sphere.uniform(dim, 5, 0)
    table = harmonics.hyperspherical_harmonics(5, x)
    np.testing.assert_array_equal(harmonics.hyperspherical_harmonics(3, x), table[:, of <= 3])
    single = harmonics.hyperspherical_harmonics(3, x.astype(np.float32))
    np.testing.assert_allclose(single, table[:, of <= 3], atol=1e-5)
    np.testing.assert_array_equal(harmonics.hyperspherical_harmonics(0, x), np.ones((5, 1)))


def test_high_degrees_near_a_pole_neither_under_nor_overflow():
    x = np.array([[1e-200, 0.0, 0.0, 1.0], [0.6e-3, 0.8e-3, 0.0, (1.0 - 1e-6) ** 0.5]])
    table = harmonics.hyperspherical_harmonics(60, x)
    sizes = np.arange(1, 62) ** 2
    sums = np.add.reduceat(np.square(table), np.cumsum(sizes) - sizes, axis=1)
    np.testing.assert_allclose(sums, np.broadcast_to(sizes, (2, 61)), rtol=1e-12)
    assert np.isfinite(harmonics.hyperspherical_harmonics(120, x[1:])).all()
