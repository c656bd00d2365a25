import copy
import itertools
import math
import pickle

import numpy as np
import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st
from pointsets import monomial_mean

from spherapprox import PointSet, points, sphere

fixed = settings(derandomize=True, deadline=None, max_examples=25)
GOLDEN = (1 + 5**0.5) / 2


@pytest.mark.parametrize(
    ("dim", "degree"), [(1, 0), (1, 1), (1, 7), (1, 30), (2, 0), (2, 1), (2, 4), (2, 9), (3, 5), (3, 8), (4, 4), (4, 5)]
)
def test_gauss_product_integrates_monomials_exactly(dim, degree):
    rule = points.gauss_product(dim, degree)
    assert len(rule) == (degree + 1) * (degree // 2 + 1) ** (dim - 1)
    assert (rule.weights > 0).all()
    assert math.fsum(rule.weights) == pytest.approx(1.0, abs=1e-15)
    for powers in itertools.product(range(degree + 1), repeat=dim + 1):
        if sum(powers) <= degree:
            value = rule.weights @ np.prod(rule.points ** np.array(powers), axis=1)
            assert abs(value - monomial_mean(powers)) < 2e-15


@pytest.mark.parametrize("degree", [0, 1])
def test_gauss_product_of_low_degree_in_a_million_dimensions(degree):
    rule = points.gauss_product(np.float32(10**6), np.float16(degree))
    assert rule.points.shape == (degree + 1, 10**6 + 1)
    assert np.abs(rule.weights @ rule.points).max() <= (1.0 if degree == 0 else 1e-15)


def test_gauss_product_of_high_degree_and_dimension():
    rule = points.gauss_product(2, 300)
    for power in (2, 20, 300):
        value = math.fsum(rule.weights * rule.points[:, 2] ** power)
        assert value == pytest.approx(monomial_mean((0, 0, power)), rel=1e-14)
    assert len(points.gauss_product(300, 1)) == 2


def test_gauss_nodes_are_right_to_the_last_bits():
    nodes = np.unique(points.gauss_product(2, 399).points[:, 2])
    assert np.abs(nodes - np.polynomial.legendre.leggauss(200)[0]).max() < 2.5e-16


@fixed
@given(st.integers(1, 3000))
def test_fibonacci_points_are_equispaced_in_height_and_azimuth(n):
    lattice = points.fibonacci(n)
    assert len(lattice) == n
    i = np.arange(n)
    assert np.allclose(lattice.points[:, 2], 1 - (2 * i + 1) / n, rtol=0, atol=1e-15)
    azimuth = np.arctan2(lattice.points[:, 1], lattice.points[:, 0])
    turns = azimuth / (2 * np.pi) - i / GOLDEN
    assert np.abs(turns - np.round(turns)).max() < 1e-12
    assert lattice.covering_bound() < 2.74 / n**0.5 or n == 1
    assert 0.5 - 0.5 * math.cos(lattice.covering_bound()) >= 1 / n * (1 - 1e-12)


def test_covering_radius_of_points_on_circles():
    circle = sphere.from_latitude_longitude(40.0, np.arange(0, 360, 30.0))
    assert PointSet(circle).covering_bound() == pytest.approx(math.radians(130), rel=1e-14)
    # the smallest cap about three points of an arc rests on the arc's ends, not on all three
    ends = float(sphere.distance(circle[0], circle[2]))
    assert PointSet(circle[:3]).covering_bound() == pytest.approx(math.pi - ends / 2, rel=1e-14)
    equator = sphere.from_latitude_longitude(0.0, [0.0, 90.0, 180.0, 270.0])
    assert PointSet(equator).covering_bound() == pytest.approx(math.pi / 2, rel=1e-15)
    assert PointSet([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]).covering_bound() == math.pi
    north = sphere.from_polar(np.column_stack([np.linspace(0, 0.3, 20), np.arange(20.0)]))
    assert PointSet(north).covering_bound() > math.pi - 0.31
    assert points.gauss_product(1, 9).covering_bound() == pytest.approx(math.pi / 10, rel=1e-14)
    grid = points.gauss_product(2, 40)  # many points on common circles
    distance = sphere.distance(sphere.uniform(2, 2000, 0)[:, None], grid.points).min(axis=1)
    assert distance.max() <= grid.covering_bound() < 0.12


@pytest.mark.parametrize("dim", [1, 2, 3, 8, 30])
def test_sobol_is_even_and_seeded(dim):
    n = 4096
    x = points.sobol(dim, n, 5)
    assert np.array_equal(x.points, points.sobol(dim, n, np.random.default_rng(5)).points)
    assert not np.array_equal(x.points, points.sobol(dim, n, 6).points)
    assert np.abs(np.linalg.norm(x.points, axis=1) - 1).max() < 2e-15
    # a random sample has errors of about n^-1/2 = 0.016 and 0.016 / sqrt(dim) here
    assert np.abs(x.points.mean(0)).max() < 0.15 * n**-0.5
    second = x.points.T @ x.points / n - np.eye(dim + 1) / (dim + 1)
    assert np.abs(np.diag(second)).max() < 0.3 * n**-0.5 / dim**0.5
    assert [len(points.sobol(dim, count, 0)) for count in (1, 2, 3, 1000)] == [1, 2, 3, 1000]
    assert np.array_equal(points.uniform(dim, 9, 1).points, sphere.uniform(dim, 9, 1))


@pytest.mark.parametrize("dim", [1, 2, 3, 9])
def test_sobol_has_the_marginal_distributions_of_the_sphere(dim):
    x = points.sobol(dim, 4096, 1).points
    for axis in range(2 if dim == 1 else 0, dim + 1):
        t = np.sort(x[:, axis])
        uniform = 0.5 + 0.5 * np.sign(t) * scipy.special.betainc(0.5, dim / 2, t * t)
        assert np.abs(uniform - (np.arange(4096) + 0.5) / 4096).max() < 0.03  # a random sample: 0.0136 on average
    # the last axis is stratified: one point in each of the 4096 bands of equal measure
    bands = np.floor(4096 * (0.5 + 0.5 * np.sign(x[:, -1]) * scipy.special.betainc(0.5, dim / 2, x[:, -1] ** 2)))
    assert dim == 1 or len(np.unique(bands)) == 4096


def test_a_point_set_keeps_its_own_copies():
    rows = np.eye(4)
    record = PointSet(rows, [0.5, 0.5, 0.5, -0.5], degree=np.float32(0))
    assert (len(record), record.dim, repr(record)) == (4, 3, "PointSet(n=4, dim=3)")
    assert np.array_equal(PointSet(rows).weights, np.full(4, 0.25))
    assert PointSet(rows).degree is None
    assert [points.gauss_product(*rule).degree for rule in ((2, 5), (4, 1), (1, 0))] == [5, 1, 0]
    rows[0] = 7.0
    for name, number in (("points", rows), ("degree", 7)):
        with pytest.raises(AttributeError):
            setattr(record, name, number)
    for same in (record, pickle.loads(pickle.dumps(record)), copy.copy(record), copy.deepcopy(record)):
        assert np.array_equal(same.points, np.eye(4))
        assert np.array_equal(same.weights, [0.5, 0.5, 0.5, -0.5])
        assert (type(same.degree), same.degree) == (int, 0)
        for array in (same.points, same.weights):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1.0
    assert PointSet(np.eye(3, dtype=np.float32)).points.dtype == np.float64
