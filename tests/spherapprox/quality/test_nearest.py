"""The nearest of given points and the closest pair, against all pairs."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pointsets import exact_angle
from scipy.spatial import cKDTree

from spherapprox import sphere
from spherapprox.quality.nearest import Nearest, separation, unit

fixed = settings(derandomize=True, deadline=None, max_examples=20)
seeds = st.integers(0, 2**32 - 1)


def test_separation_over_several_blocks_of_products():
    x = sphere.uniform(9, 2100, 3)
    nearest, index = cKDTree(x).query(x, 2)
    i = int(np.argmin(nearest[:, 1]))
    j = int(index[i][index[i] != i][0])
    y = np.vstack([x[[i, j]], np.delete(x, [i, j], axis=0)])
    for shift in (0, 2047, 2098):  # the closest pair lies in the first block, across two, in the last
        for workers in (1, 3):
            assert separation(np.roll(y, shift, axis=0), workers=workers) == float(sphere.distance(x[i], x[j]))


def test_separation_of_pairs_that_single_precision_cannot_tell_apart():
    i = np.arange(40)
    order = np.random.default_rng(0).permutation(80)
    for angle in np.linspace(0.1, 1.2, 12):
        half, x = 0.5 * angle * (1 + 1e-9 * i), np.zeros((40, 2, 80))  # each pair in a plane of its own
        x[i, :, 2 * i] = np.cos(half)[:, None]
        x[i, 0, 2 * i + 1], x[i, 1, 2 * i + 1] = np.sin(half), -np.sin(half)
        assert separation(x.reshape(80, 80)[order]) == pytest.approx(angle, rel=1e-13)


@pytest.mark.parametrize("dim", [3, 12])
def test_nearest_points_against_all_pairs(dim):
    x, c = sphere.uniform(dim, 500, 0), sphere.uniform(dim, 700, 1)
    index, angle = Nearest(x, 2)(c)
    table = sphere.distance(c[:, None], x)
    assert np.array_equal(index, table.argmin(axis=1))
    assert np.allclose(angle, table.min(axis=1), rtol=0, atol=1e-15)


@pytest.mark.parametrize("dim", [2, 5, 11])
def test_the_nearest_of_points_about_the_antipode(dim):
    """Chords and inner products are flat there: they mistake the nearest by the root of a rounding."""
    rng = np.random.default_rng(0)
    x = unit(np.eye(dim + 1)[0] + 1e-8 * rng.standard_normal((50, dim + 1)))
    c = unit(-np.eye(dim + 1)[0] + 1e-8 * rng.standard_normal((30, dim + 1)))
    index, angle = Nearest(x, None)(c)
    table = sphere.distance(c[:, None], x)
    assert np.allclose(angle, table.min(axis=1), rtol=0, atol=1e-15)
    assert np.array_equal(angle, sphere.distance(c, x[index]))


@fixed
@given(st.integers(1, 14), st.integers(2, 60), seeds, st.sampled_from([1.0, 1e-3, 1e-9]))
def test_separation_against_all_pairs(dim, n, seed, size):
    x = unit(size * sphere.uniform(dim, n, seed) + np.eye(dim + 1)[0])
    i, j = np.triu_indices(n, 1)
    truth = sphere.distance(x[i], x[j]).min()
    assert separation(x) == pytest.approx(truth, rel=1e-15, abs=2e-16)


@pytest.mark.parametrize("dim", [2, 5, 9, 20])
def test_separation_of_blocks_of_points_and_to_all_digits(dim):
    x = sphere.uniform(dim, 5000, 0)
    x[4999] = unit((x[3] + 1e-9 * x[4])[None])[0]  # a pair in two different blocks
    with mpmath.workdps(40):
        truth = float(exact_angle(x[3], x[4999]))
    assert separation(x) == pytest.approx(truth, rel=1e-14)
    assert 1.0 - (x[3] @ x[4999]) < 1e-15  # inner products do not see it
