"""Turned heads."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from scipy.stats import special_ortho_group

from spherapprox import CoreHead, EqualMeasurePartition, PointSet, SplitHead, points, sphere

both = pytest.mark.parametrize("kind", [CoreHead, SplitHead])


def turn(dim):
    return special_ortho_group.rvs(dim + 1, random_state=dim)


@both
@pytest.mark.parametrize("dim", [1, 2, 8])
def test_a_turned_head_is_the_head_at_points_turned_back(kind, dim):
    R, x = turn(dim), sphere.uniform(dim, 30, rng=1)
    rows = sphere.uniform(dim, 40, rng=2)
    for values in (rows[:, 0], rows[:, :2]):
        head = kind(rows, values, 20.0)
        turned = head.rotate(R)
        assert type(turned) is kind
        np.testing.assert_array_equal(turned.values, head.values)
        # roundings of inner products, of dim + 1 terms, times the concentration
        rounding = 1e-15 * (dim + 1) * 20.0
        np.testing.assert_allclose(turned(x), head(x @ R), rtol=0, atol=rounding * np.abs(head(x)).max())
        assert np.abs(turned(x) - head(x)).max() > 0.01 * np.abs(head(x)).max()
        np.testing.assert_allclose(turned.rotate(R.T).control_points, rows, rtol=0, atol=1e-15 * (dim + 1))


@both
def test_vectors_turn_with_the_sphere(kind):
    rows, x, R = sphere.uniform(2, 30, rng=3), sphere.uniform(2, 20, rng=4), turn(2)
    head = kind(rows, np.cross([0.0, 0.0, 1.0], rows), 9.0)  # a rotation field about the pole
    np.testing.assert_allclose(head.rotate(R, vectors=True)(x), head(x @ R) @ R.T, rtol=0, atol=1e-14)


@both
def test_gradients_turn(kind):
    rows, x, R = sphere.uniform(3, 30, rng=3), sphere.uniform(3, 20, rng=4), turn(3)
    head = kind(rows, rows[:, 0], 90.0)
    np.testing.assert_allclose(head.rotate(R).gradient(x), head.gradient(x @ R) @ R.T, rtol=0, atol=1e-12)


def test_point_sets_turn():
    rule = points.gauss_product(2, 5)
    R = Rotation.from_euler("xyz", [0.3, 0.2, 1.0])
    turned = CoreHead.from_target(lambda x: x[:, 0], rule, 3.0).rotate(R)
    assert isinstance(turned.points, PointSet)
    np.testing.assert_array_equal(turned.points.points, turned.control_points)
    np.testing.assert_array_equal(turned.points.points, rule.rotate(R).points)
    np.testing.assert_array_equal(turned.points.weights, rule.weights)
    assert turned.points.degree == rule.degree


@pytest.mark.parametrize("dim", [2, 5])
def test_a_partition_becomes_a_point_set_with_its_radius(dim):
    partition = EqualMeasurePartition(dim, 60)
    head = SplitHead.from_target(lambda x: x[:, 0], partition, 3.0)
    turned = head.rotate(turn(dim))
    assert isinstance(turned.points, PointSet)
    assert turned.points.covering_bound() == partition.cell_radius()
    np.testing.assert_array_equal(turned.points.points, turned.control_points)


@both
def test_float32_and_bare_rows_stay(kind):
    rows = sphere.uniform(2, 30, rng=5).astype(np.float32)
    turned = kind(rows, rows[:, 0], 9.0).rotate(turn(2))
    assert turned.control_points.dtype == turned.values.dtype == np.float32
    assert turned.points is turned.control_points
    assert kind(rows, rows, 9.0).rotate(turn(2), vectors=True).values.dtype == np.float32


@both
def test_reflections_turn_heads(kind):
    head = kind(np.eye(3), np.arange(3.0), 2.0)
    np.testing.assert_array_equal(head.rotate(-np.eye(3)).control_points, -np.eye(3))


def test_points_that_are_not_the_control_points_are_left_behind():
    rows, R = sphere.uniform(2, 30, rng=3), turn(2)
    turned = CoreHead(rows, rows[:, 0], 9.0, EqualMeasurePartition(2, 30)).rotate(R)
    np.testing.assert_array_equal(turned.control_points, rows @ R.T)
    assert turned.points is turned.control_points
