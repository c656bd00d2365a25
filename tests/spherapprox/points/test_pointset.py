import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from spherapprox import CoreHead, EqualMeasurePartition, PointSet, SplitHead, Target, points, sphere

fixed = settings(derandomize=True, deadline=None, max_examples=30)


def test_the_largest_weights_and_the_smallest_radius_are_taken():
    weights = [1e100, -1e100, 1.0]
    rule = PointSet(np.eye(3), weights)
    assert rule.integrate([1.0, 2.0, 3.0]) == -1e100
    assert rule.quadrature_error(1, by_degree=True)[1] == pytest.approx(math.sqrt(6.0) * 1e100, rel=1e-14)
    assert rule.cap_discrepancy() == pytest.approx(math.sqrt(0.5 * math.sqrt(2.0)) * 1e100, rel=1e-14)
    angle = 2.0 * np.pi * np.arange(7) / 7.0
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    assert PointSet(circle, covering_radius=math.pi / 7.0 * (1.0 - 1e-10)).mesh_separation_ratio() == pytest.approx(1.0)
    assert PointSet(circle[:1], covering_radius=math.pi).mesh_separation_ratio() == 1.0


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 1000, 4095])
def test_integral_is_the_exact_sum_of_the_rounded_products(n):
    rng = np.random.default_rng(n)
    weights = rng.standard_normal(n) * 10.0 ** rng.integers(-6, 3, n)
    weights = np.append(weights, 1.0 - math.fsum(weights))
    rule = PointSet(sphere.uniform(3, n + 1, rng), weights)
    values = rng.standard_normal((n + 1, 3)) * 10.0 ** rng.integers(-9, 9, (n + 1, 1))
    rows = np.vectorize(Fraction, otypes=[object])
    exact = rows(weights) @ rows(values)
    size = np.abs(weights[:, None] * values).sum(axis=0)
    result = rule.integrate(values)
    assert result.shape == (3,)
    assert all(abs(Fraction(float(r)) - e) <= 1.2e-16 * s for r, e, s in zip(result, exact, size, strict=True))
    assert rule.integrate(values[:, 1]) == result[1]
    assert type(rule.integrate(values[:, 1])) is float


def test_integral_cancels_without_loss():
    rule = PointSet(np.tile(np.eye(2), (500, 1)))
    values = np.tile([1e16, 1.0, -1e16, 1.0], 250) * 1000.0
    assert rule.integrate(values) == 500.0
    huge = np.full(1000, 1.7e308)
    assert rule.integrate(huge) == pytest.approx(1.7e308, rel=1e-15)
    assert rule.integrate(np.full(1000, 3e-308)) == pytest.approx(3e-308, rel=1e-15)
    assert rule.integrate(np.zeros(1000)) == 0.0


def test_functions_and_values_are_integrated_alike():
    rule = points.gauss_product(3, 6)
    target = Target(lambda x: x[:, :2] ** 2, dim=3)
    quarter = np.full(2, 0.25)
    assert np.allclose(rule.integrate(target), quarter, rtol=0, atol=1e-15)
    assert np.allclose(rule.integrate(target(rule.points).tolist()), quarter, rtol=0, atol=1e-15)
    assert rule.integrate(np.arange(len(rule)) * 0 + 3) == pytest.approx(3.0)
    assert rule.integrate(lambda x: np.float32(x[:, 0] ** 2)) == pytest.approx(0.25, abs=1e-7)
    head = SplitHead.from_target(lambda x: x[:, 0] ** 2, EqualMeasurePartition(3, 50), 8.0)
    assert rule.integrate(head) == pytest.approx(float(rule.weights @ head(rule.points)), abs=1e-15)
    calls = []
    rule.integrate(lambda x: calls.append(x.shape) or x[:, 0])
    assert calls == [(len(rule), 4)]


@fixed
@given(st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_rotation_is_an_isometry_and_keeps_what_is_known(dim, seed):
    rng = np.random.default_rng(seed)
    R = scipy.stats.ortho_group.rvs(dim + 1, random_state=rng)
    rule = points.gauss_product(dim, 3)
    rule = PointSet(rule.points, rule.weights, covering_radius=1.5, degree=3)
    turned = rule.rotate(R)
    assert (turned.covering_bound(), turned.degree) == (1.5, 3)
    assert np.array_equal(turned.weights, rule.weights)
    assert np.allclose(turned.points, [R @ b for b in rule.points], rtol=0, atol=1e-15)
    assert np.abs(np.linalg.norm(turned.points, axis=1) - 1.0).max() < 4e-16
    a = rng.standard_normal(dim + 1)  # (a.x)^2 has the mean |a|^2 / (dim+1)
    assert turned.integrate(lambda x: (x @ a) ** 2) == pytest.approx(a @ a / (dim + 1), rel=1e-13)
    back = turned.rotate(R.T)
    assert np.allclose(back.points, rule.points, rtol=0, atol=1e-14)


def test_rotation_by_scipy_and_of_sloppy_rows():
    lattice = points.fibonacci(100)
    turn = Rotation.from_euler("xyz", [0.3, -1.2, 2.2])
    assert np.allclose(lattice.rotate(turn).points, turn.apply(lattice.points.copy()), rtol=0, atol=1e-15)
    assert lattice.rotate(turn).covering_bound() == pytest.approx(lattice.covering_bound(), rel=1e-12)
    single = PointSet(lattice.points.astype(np.float32))
    assert np.abs(np.linalg.norm(single.rotate(np.eye(3)).points, axis=1) - 1.0).max() < 3e-16
    assert lattice.rotate([[0, 1, 0], [1, 0, 0], [0, 0, 1]]).points[3, 0] == lattice.points[3, 1]


def test_merge_mixes_the_rules():
    rng = np.random.default_rng(3)
    coarse, fine = points.gauss_product(3, 4), points.gauss_product(3, 7)
    union = coarse.merge(fine, share=0.25)
    assert np.array_equal(union.points, np.vstack([coarse.points, fine.points]))
    assert math.fsum(union.weights) == pytest.approx(1.0, abs=1e-15)
    values = rng.standard_normal(len(union))
    parts = coarse.integrate(values[: len(coarse)]), fine.integrate(values[len(coarse) :])
    assert union.integrate(values) == pytest.approx(0.25 * parts[0] + 0.75 * parts[1], abs=1e-15)
    assert (union.degree, fine.merge(coarse).degree) == (4, 4)
    assert coarse.merge(PointSet(fine.points)).degree is None
    assert coarse.merge(EqualMeasurePartition(3, 10)).degree is None
    assert coarse.merge(fine, share=1).integrate(values) == pytest.approx(parts[0], abs=1e-15)


def test_merge_of_equal_weights_keeps_them_equal():
    lattice = points.fibonacci(37)
    union = lattice.merge(EqualMeasurePartition(2, 12)).merge(np.eye(3)).merge(lattice)
    assert np.allclose(union.weights, 1.0 / (37 + 12 + 3 + 37), rtol=4e-16, atol=0)
    assert np.array_equal(union.points[37:49], EqualMeasurePartition(2, 12).centers())
    SplitHead.from_target(lambda x: x[:, 0], union, 3.0)
    assert CoreHead.from_target(lambda x: x[:, 0], lattice.merge(np.eye(3), 0.9), 3.0).control_points.shape == (40, 3)


def test_covering_radius_of_a_union():
    lattice, random = points.fibonacci(50), points.uniform(2, 50, 0)
    union = PointSet(lattice.points, covering_radius=3.0).merge(random)
    table = sphere.distance(sphere.uniform(2, 4000, 0)[:, None], union.points).min(axis=1)
    assert 0.8 * union.covering_bound() < table.max() <= union.covering_bound() <= lattice.covering_bound()
    x, y = sphere.uniform(4, 9, 0), sphere.uniform(4, 7, 0)
    assert not PointSet(x).merge(y).covering_is_known
    assert not points.sobol(3, 8, 0).covering_is_known
    assert points.uniform(2, 50, rng=0).covering_is_known
    assert PointSet(x, covering_radius=1.5).merge(y).covering_bound() == 1.5
    assert PointSet(x).merge(PointSet(y, covering_radius=1.25)).covering_bound() == 1.25
    assert PointSet(x, covering_radius=1.5).merge(PointSet(y, covering_radius=1.25)).covering_bound() == 1.25
    partition = EqualMeasurePartition(4, 300)
    assert PointSet(x, covering_radius=3.0).merge(partition).covering_bound() == partition.cell_radius()
