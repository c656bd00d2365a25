"""Sums of harmonics at many points, which go by a grid: against 40 digits at hard points, and in any unit."""

import functools
import math

import mpmath
import numpy as np
import pytest

from spherapprox import harmonics, sphere
from spherapprox.harmonics import sums
from spherapprox.harmonics.nonuniform import synthesis
from spherapprox.harmonics.nonuniform.window import window

UNIT = 2.0**-52


def hard_points(degree):
    """Return points at the poles, near them at the scale of the degree, on the axes, and anywhere."""
    near = np.array([2.0 / (degree + 1), 0.0, 1.0]) + np.random.default_rng(0).standard_normal((4, 3)) / (degree + 1)
    poles = [[0, 0, 1], [0, 0, -1], [1e-200, 0, 1], [1e-9, 0, -1], [1, 0, 0], [0, -1, 0], [-1, 1e-300, 0]]
    x = np.concatenate([poles, near, near * [1, 1, -1], sphere.uniform(2, 4, rng=1)])
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def schmidt(degree, order, z, s):
    """Return Schmidt's function in the digits of mpmath."""
    last, now = mpmath.mpf(0), mpmath.sqrt((2 - (order == 0)) / mpmath.factorial(2 * order))
    now *= mpmath.fac2(2 * order - 1) * s**order
    for k in range(order + 1, degree + 1):
        before = mpmath.sqrt((k - 1) ** 2 - order**2) * last
        last, now = now, ((2 * k - 1) * z * now - before) / mpmath.sqrt(k**2 - order**2)
    return now


@functools.cache
def harmonic_truth(degree, order, x):
    """Return a harmonic of Schmidt's normalisation to 40 digits."""
    with mpmath.workdps(60 if order < 100 else 250):
        x, y, z = (mpmath.mpf(float(t)) for t in x)
        across = mpmath.sqrt(x * x + y * y)
        length = mpmath.sqrt(across**2 + z * z)
        m, turn = abs(order), mpmath.atan2(y, x) if across else mpmath.mpf(0)
        wave = mpmath.cos if order >= 0 else mpmath.sin
        return float(schmidt(degree, m, z / length, across / length) * wave(m * turn))


def by_grid(weights, x, scheme=None, monkeypatch=None):
    """Return the sums of Schmidt's harmonics by a grid: (n,) from ((K+1)^2,)."""
    if scheme is not None:
        monkeypatch.setattr(synthesis, "_SCHEMES", (scheme,))
    degree = math.isqrt(len(weights)) - 1
    return synthesis.sums_by_grid(sums._split_orders(weights[:, None], degree), x)[0]


@pytest.mark.parametrize("scheme", synthesis._SCHEMES, ids=str)
@pytest.mark.parametrize("degree", [0, 1, 5, 40, 255, pytest.param(700, marks=pytest.mark.once)])
def test_one_harmonic_against_forty_digits(degree, scheme, monkeypatch):
    x = hard_points(degree)
    for order in sorted({0, 1, -1, degree // 2, -degree} & set(range(-degree, degree + 1))):
        expected = [harmonic_truth(degree, order, tuple(row)) for row in x]
        weights = np.eye(1, (degree + 1) ** 2, harmonics.column(degree, order))[0]
        worst = np.abs(by_grid(weights, x, scheme, monkeypatch) - expected).max()
        assert worst <= UNIT * (20 + math.sqrt(degree + 1)), order


@pytest.mark.parametrize("scheme", synthesis._SCHEMES, ids=str)
def test_sums_are_those_of_single_terms(scheme, monkeypatch):
    degree, rng = 30, np.random.default_rng(2)
    x = np.concatenate([hard_points(degree), sphere.uniform(2, 300, rng=3)])
    table = harmonics.real_spherical_harmonics(degree, x, normalization="schmidt")
    for weights in (rng.standard_normal(31**2), rng.standard_normal(31**2) * 1e3 ** -(harmonics.degrees(30) / 10)):
        size = np.sqrt(np.add.reduceat(weights**2, np.arange(31) ** 2)).sum()
        assert np.abs(by_grid(weights, x, scheme, monkeypatch) - table @ weights).max() <= 1e-14 * size


def test_the_windows_aliases_are_as_small_as_stated_at_every_degree():
    for width, share in synthesis._SCHEMES:
        for degree in (0, 1, 7, 60, 255, 1000, 3000):
            cells = synthesis.grid_size(2.0 * share * (degree + 1))
            assert window(degree, cells, width, reach=synthesis._REACH).aliasing[-1] <= 5e-16


def test_many_points_go_by_the_grid_and_few_do_not():
    assert not sums.goes_by_grid(64, 1, 1000)
    assert not sums.goes_by_grid(1000, 1, 25)  # the grid is dearer
    assert not sums.goes_by_grid(10_000, 1, 10**6)  # no room for the grid
    assert all(sums.goes_by_grid(degree, 1, 10**6) for degree in (16, 64, 255, 1000))


@pytest.mark.parametrize("columns", [(), (3,)])
def test_synthesize_at_many_points_is_what_it_is_at_few(columns):
    degree, n = 40, 20_000
    x = np.concatenate([hard_points(degree), sphere.uniform(2, n, rng=4)])
    c = np.random.default_rng(5).standard_normal((41**2, *columns))
    assert sums.goes_by_grid(degree, 1, len(x))
    many, few = harmonics.synthesize(c, x), harmonics.synthesize(c, x[:500])
    assert many.shape == (len(x), *columns)
    assert many.flags.c_contiguous
    size = np.abs(c * np.sqrt(2 * harmonics.degrees(degree) + 1).reshape(-1, *[1] * len(columns))).sum()
    np.testing.assert_allclose(many[:500], few, rtol=0, atol=1e-14 * size)
    single = harmonics.synthesize(c, x.astype(np.float32))
    unit = x.astype(np.float32).astype(float)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    np.testing.assert_allclose(single, harmonics.synthesize(c, unit), rtol=0, atol=1e-14 * size)


def test_neither_threads_nor_units_nor_the_history_change_a_bit(monkeypatch):
    c, x = np.random.default_rng(6).standard_normal((121**2, 2)), sphere.uniform(2, 40_000, rng=7)
    results = []
    for workers in ("1", "2", "3"):
        monkeypatch.setenv("SPHERAPPROX_WORKERS", workers)
        results.append((harmonics.synthesize(c, x), harmonics.gradient(c[:, 0], x)))
        harmonics.synthesize(c[:100], x)
    for value, slope in results[1:]:
        assert np.array_equal(value, results[0][0])
        assert np.array_equal(slope, results[0][1])
    for scale in (2.0**-1000, 2.0**900):
        assert np.array_equal(harmonics.synthesize(scale * c, x), scale * results[0][0])
    assert not harmonics.synthesize(np.zeros(121**2), x).any()
