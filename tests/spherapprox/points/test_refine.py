import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pointsets import nearly_doubled, separation
from sums import unit

from spherapprox import EqualMeasurePartition, PointSet, points, special, sphere
from spherapprox._kernels.points import delaunay
from spherapprox.points import insertion, refine

fixed = settings(derandomize=True, deadline=None, max_examples=20)


def holes(x):
    """Return all maxima of the distance to the nearest of a few points of S^2, by brute force."""
    pairs, triples = (x[np.array(list(itertools.combinations(range(len(x)), k)), dtype=int)] for k in (2, 3))
    centers = [x, pairs.sum(axis=1).reshape(-1, 3)] + [np.cross(x, axis) for axis in np.eye(3)]
    if len(x) > 2:
        centers.append(np.cross(triples[:, 1] - triples[:, 0], triples[:, 2] - triples[:, 0]))
    centers = np.concatenate(centers)
    centers = centers[np.linalg.norm(centers, axis=1) > 1e-9]
    centers = unit(centers)
    return sphere.distance(np.vstack([centers, -centers])[:, None], x).min(axis=1).max()


@fixed
@given(st.integers(1, 2), st.integers(1, 6), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_each_inserted_point_is_a_farthest_one(dim, k, more, seed):
    start = sphere.uniform(dim, k, seed)
    finer = points.greedy(start, k + more)
    assert np.array_equal(finer.points[:k], start)
    assert np.ptp(finer.weights) == 0.0
    for i in range(k, k + more):
        distance = sphere.distance(finer.points[:i], finer.points[i]).min()
        if dim == 2:
            largest = holes(finer.points[:i])
        else:
            azimuth = np.sort(np.arctan2(*finer.points[:i, ::-1].T))
            largest = np.diff(azimuth, append=azimuth[0] + 2 * np.pi).max() / 2
        assert distance == pytest.approx(largest, rel=1e-9)
    assert finer.covering_bound() == pytest.approx(PointSet(finer.points).covering_bound(), rel=1e-12)


STARTS = {
    "random": lambda: points.uniform(2, 300, 1),
    "partition": lambda: EqualMeasurePartition(2, 300),
    "grid": lambda: points.gauss_product(2, 20),
    "octahedron": lambda: np.vstack([np.eye(3), -np.eye(3)]),
    "circle": lambda: sphere.from_latitude_longitude(50.0, np.arange(0.0, 360.0, 4.0)),
    "equator": lambda: sphere.from_latitude_longitude(0.0, np.arange(0.0, 360.0, 30.0)),
    "cluster": lambda: sphere.from_polar(np.column_stack([1e-3 * np.arange(40.0) / 40, 2.4 * np.arange(40.0)])),
    "doubled": lambda: points.uniform(2, 60, 1).merge(points.uniform(2, 60, 1)),
    "nearly doubled": lambda: nearly_doubled(1e-10),
    "close pairs": lambda: nearly_doubled(1e-7),
    "one": lambda: [[0.6, 0.0, 0.8]],
    "one twice": lambda: [[0.6, 0.0, 0.8], [0.6, 0.0, 0.8]],
    "poles": lambda: [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]],
    "noisy equator": lambda: _noisy_equator(1e-14),
    "noisy octahedron": lambda: _noisy_octahedron(1e-13),
    "single precision": lambda: points.uniform(2, 100, 4).points.astype(np.float32),
}


def _noisy_equator(by):
    """Return points whose convex hull is so thin that Qhull leaves some of them out."""
    rng = np.random.default_rng(1)
    return unit(sphere.from_latitude_longitude(0.0, rng.uniform(0.0, 360.0, 40)) + by * rng.standard_normal((40, 3)))


def _noisy_octahedron(by):
    """Return the octahedron with many copies of its vertices, all a little off."""
    rng = np.random.default_rng(0)
    return unit(np.vstack([np.eye(3), -np.eye(3)])[rng.integers(0, 6, 75)] + by * rng.standard_normal((75, 3)))


@pytest.mark.parametrize("name", STARTS)
def test_insertion_on_s2_from_any_start(name):
    start = STARTS[name]()
    k = len(start)
    finer = points.greedy(start, k + 500)
    assert np.abs(np.linalg.norm(finer.points[k:], axis=1) - 1.0).max() < 4e-16
    rows = unit(finer.points)
    radius = PointSet(rows).covering_bound()  # by Qhull
    assert finer.covering_bound() == pytest.approx(radius, rel=1e-9)
    at = [sphere.distance(finer.points[:i], finer.points[i]).min() for i in range(k, k + 500)]
    assert (np.diff(at) <= 1e-9).all()  # holes shrink
    assert at[-1] >= radius * (1 - 1e-9)
    table = sphere.distance(finer.points[k:, None], finer.points)
    table[np.arange(500), np.arange(k, k + 500)] = np.inf
    assert table.min() >= at[-1] * (1 - 1e-9)
    for i in (k, k + 7, k + 250):  # against a triangulation made anew
        assert at[i - k] == pytest.approx(PointSet(rows[:i]).covering_bound(), rel=1e-8)


@pytest.mark.parametrize(("dim", "n"), [(1, 2), (1, 100), (2, 3), (2, 4), (2, 50), (2, 3000)])
def test_started_from_one_point_it_is_separated_and_within_twice_the_best(dim, n):
    before, after = (points.greedy(sphere.uniform(dim, 1, 0), i) for i in (n - 1, n))
    assert separation(after.points) >= before.covering_bound() * (1 - 1e-9)
    assert after.covering_bound() <= before.covering_bound() * (1 + 1e-12)
    # docs/theorems/5.10-farthest-points.md: sigma(C(rho_(n-1) / 2)) <= 1/n <= sigma(C(rho_n))
    assert special.log_cap_measure(dim, before.covering_bound() / 2) <= -math.log(n) + 1e-9
    assert special.log_cap_measure(dim, after.covering_bound()) >= -math.log(n) - 1e-9
    best = {(2, 4): math.acos(1 / 3), (1, 100): math.pi / 100, (1, 2): math.pi / 2, (2, 3): math.pi / 2}
    assert after.covering_bound() <= 2 * best.get((dim, n), math.inf)


def test_insertion_repairs_itself(monkeypatch):
    start = points.uniform(2, 30, 0)
    finer = points.greedy(start, 60)
    insert, calls = delaunay.insert, []

    def stops_early(x, filled, *surface):
        calls.append(filled)
        return insert(x[: filled + 7], filled, *surface)[0], False

    monkeypatch.setattr(delaunay, "insert", stops_early)
    parts = points.greedy(start, 60)
    assert len(calls) == 5
    assert np.allclose(parts.points, finer.points, rtol=0, atol=1e-12)
    assert parts.covering_bound() == pytest.approx(finer.covering_bound(), rel=1e-12)
    slow = np.vstack([start.points, insertion.insert_on_sphere(start.points, 60, slack=-1.0)[0]])  # no triangulation
    for i in range(30, 60):
        at = sphere.distance(slow[:i], slow[i]).min()
        assert at == pytest.approx(PointSet(slow[:i]).covering_bound(), rel=1e-12)


def test_insertion_stops_at_a_spoilt_region():
    x = np.concatenate([sphere.uniform(2, 30, 0), np.empty((20, 3))])
    corners, beside = insertion._triangulation(x[:30])
    n, padding = len(corners), np.empty((40, 3), dtype=np.int64)

    def insert(neighbours):
        surface = np.vstack([corners, padding]), np.vstack([neighbours, padding])
        return delaunay.insert(x.copy(), 30, n, *surface, np.empty((n + 40, 3)), np.full(256, -1.0))

    assert insert(beside) == (50, True)
    filled, complete = insert(np.roll(beside, 1, axis=0))  # neighbours that are none
    assert not complete
    assert 31 <= filled <= 50


@pytest.mark.parametrize(("dim", "n"), [(3, 60), (5, 60), (25, 30)])
def test_insertion_beyond_s2_finds_large_holes(dim, n):
    start = sphere.uniform(dim, 1, 3)
    finer = points.greedy(start, n)
    assert not finer.covering_is_known
    assert np.array_equal(finer.points, points.greedy(start, n, rng=0).points)
    at = np.array([sphere.distance(finer.points[:i], finer.points[i]).min() for i in range(1, n)])
    assert np.allclose(finer.points[1], -start[0], rtol=0, atol=1e-12)
    sample = sphere.uniform(dim, 4000, 5)
    inner = (sample @ finer.points.T).max(axis=1)
    climbed = [insertion.ascend(y, finer.points) for y in sample[np.argsort(inner)[:40]]]
    largest = np.arccos(min((finer.points @ y).max() for y in climbed))
    assert largest <= 1.1 * at[-1]  # no hole found from elsewhere is much larger
    assert separation(finer.points) >= 0.9 * at[-1]
    assert (np.diff(at) < 0.15).all()


@pytest.mark.parametrize("dim", [3, 9])
def test_insertion_takes_no_point_nearer_than_the_best_candidate(dim):
    x, pool = sphere.uniform(dim, 10, 0), sphere.uniform(dim, 300, 1)
    added = insertion.from_pool(x, pool, range(60))
    for i in range(60):
        before = np.vstack([x, added[:i]])
        best = sphere.distance(pool[:, None], before).min(axis=1).max()
        assert sphere.distance(before, added[i]).min() >= best - 1e-9


def test_insertion_completes_the_simplex_in_many_dimensions():
    dim = 60
    last = points.greedy(np.eye(dim + 1), dim + 2, candidates=8).points[-1]
    assert np.allclose(last, -((dim + 1) ** -0.5), rtol=0, atol=1e-7)


@pytest.mark.parametrize("dim", [2, 3, 6])
def test_ascent_ends_at_a_local_maximum(dim):
    x = sphere.uniform(dim, 50, 1)
    for y in sphere.uniform(dim, 10, 2):
        top = insertion.ascend(y, x)
        distance = sphere.distance(x, top).min()
        assert distance >= sphere.distance(x, y).min()
        near = sphere.distance(x, top) < distance + 1e-9
        assert near.sum() >= dim + 1
        around = unit(top + 1e-4 * sphere.uniform(dim, 500, 3))
        assert sphere.distance(around[:, None], x).min(axis=1).max() <= distance + 1e-12


def test_inserting_nothing_keeps_the_points_and_seeds_differ():
    lattice = points.fibonacci(20)
    assert np.array_equal(points.greedy(lattice, 20).points, lattice.points)
    assert len(points.greedy(EqualMeasurePartition(3, 10), 12, candidates=5, progress=True)) == 12
    first, second = (points.greedy([[1.0, 0.0, 0.0, 0.0]], 30, rng=seed).points for seed in (1, 2))
    assert not np.array_equal(first, second)
    assert f"at most {refine.MAX_RELAXED} points" in points.relax.__doc__
    assert refine.MAX_CANDIDATES == 2**20
