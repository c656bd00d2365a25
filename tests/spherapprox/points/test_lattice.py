"""Lattice covers: they cover, are all of the lattice that is needed, and are refused before they fill the memory."""

import itertools
import math

import numpy as np
import pytest
from scipy.linalg import helmert

from spherapprox import PointSet, points, sphere


@pytest.mark.parametrize(
    ("dim", "radius"), [(2, 0.3), (2, 0.05), (2, 0.7), (2, 1.5), (3, 0.25), (3, 1.0), (4, 0.45), (4, 1.5)]
)
def test_caps_of_the_radius_cover(dim, radius):
    for seed in range(3):
        cover = points.lattice_cover(dim, radius, rng=seed)
        interval = PointSet(cover.points).covering_interval(0.0)
        assert interval.upper <= radius == cover.covering_bound()
        if radius < 0.5:
            assert interval.lower >= 0.9 * radius


@pytest.mark.parametrize(("dim", "radius"), [(5, 0.6), (6, 0.6), (8, 0.8)])
def test_points_of_many_dimensions_are_within_the_radius(dim, radius):
    cover = points.lattice_cover(dim, radius)
    x = sphere.uniform(dim, 1000, 1)
    assert 0.5 * radius < np.arccos((x @ cover.points.T).max(axis=1)).max() <= radius


@pytest.mark.parametrize(("n", "radius"), [(3, 0.3), (3, 1.4), (4, 0.5), (5, 0.9)])
def test_cells_that_meet_the_sphere_are_kept_and_no_others(n, radius):
    shift = np.random.default_rng(5).random(n + 1)
    cell = math.sqrt(n * (n + 2) / (12 * (n + 1)))
    size = cell / math.sin(radius)
    reach = math.ceil(math.sqrt(2) * (size + cell)) + 2  # differences of coordinates are at most sqrt(2) |p|
    integers = np.stack(np.meshgrid(*[np.arange(-reach, reach + 1)] * n), axis=-1).reshape(-1, n)
    y = np.column_stack([np.zeros(len(integers)), integers]) + shift
    y -= y.mean(axis=1, keepdims=True)
    y = y[np.abs(np.linalg.norm(y, axis=1) - size) <= cell]
    vertex = (np.arange(n + 1) - n / 2) / (n + 1)
    h = np.max([y @ vertex[list(order)] for order in itertools.permutations(range(n + 1))], axis=0)
    length = np.linalg.norm(y, axis=1)
    truth = y[(length**2 + 2 * h + cell**2 >= size**2) & (length - h / length <= size)] @ helmert(n + 1).T
    truth /= np.linalg.norm(truth, axis=1, keepdims=True)
    cover = points.lattice_cover(n - 1, radius, rng=5).points
    assert cover.shape == truth.shape
    nearest = np.sqrt(np.square(cover[:, None] - truth).sum(axis=2)).argmin(axis=1)
    assert sorted(nearest) == list(range(len(truth)))
    assert np.abs(cover - truth[nearest]).max() < 1e-9


def test_seeds_tell_covers_apart():
    first, again = points.lattice_cover(3, 0.5, rng=7), points.lattice_cover(3, 0.5, rng=np.random.default_rng(7))
    assert np.array_equal(first.points, again.points)
    assert not np.array_equal(first.points[:9], points.lattice_cover(3, 0.5, rng=8).points[:9])
    assert np.array_equal(points.lattice_cover(2, 0.5).points, points.lattice_cover(2, 0.5, rng=0).points)
