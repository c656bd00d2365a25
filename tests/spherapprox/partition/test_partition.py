import copy
import dataclasses
import itertools
import math
import pickle

import mpmath
import numpy as np
import pytest
import scipy.optimize
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox import EqualMeasurePartition, sphere
from spherapprox._kernels.partition import cap

CASES = list(itertools.product((1, 2, 3, 8), (1, 2, 3, 10, 1000)))
fixed = settings(derandomize=True, deadline=None, max_examples=40)


def cap_measure(dim, angle):
    """Return the measure of a cap, by SciPy and from the nearer pole."""
    nearer = np.minimum(angle, np.pi - angle)
    half = 0.5 * scipy.special.betainc(dim / 2, 0.5, np.sin(nearer) ** 2)
    return np.where(angle <= np.pi / 2, half, 1.0 - half)


def boxes(partition):
    return np.stack([partition.cell(i) for i in range(partition.n)])  # (n, dim, 2)


def cell_measures(box):
    dim = box.shape[1]
    measure = (box[:, -1, 1] - box[:, -1, 0]) / (2 * np.pi)
    for level in range(dim - 1):
        low, high = box[:, level].T
        measure = measure * (cap_measure(dim - level, high) - cap_measure(dim - level, low))
    return measure


def inner_points(box, rng):
    """Return one random point inside each cell, away from its faces."""
    where = 1e-6 + (1 - 2e-6) * rng.random(box.shape[:2])
    return sphere.from_polar(box[:, :, 0] + where * (box[:, :, 1] - box[:, :, 0]))


def farthest_points(box):
    """Return for each cell the point of its closure that is farthest from its centre, from the corner upwards."""
    dim = box.shape[1]
    low, high = box[:, -1].T
    full_turn = high - low > 6.28
    middle = np.where(full_turn, np.pi / 2, 0.5 * (low + high))
    far = np.where(full_turn, 1.5 * np.pi, low)
    center, corner = (np.column_stack([np.cos(t), np.sin(t)]) for t in (middle, far))
    for level in reversed(range(dim - 1)):
        low, high = box[:, level].T
        at = np.where(low == 0, 0.0, np.where(high == np.pi, np.pi, 0.5 * (low + high)))
        turn = np.arctan2(-np.sin(at) * (center * corner).sum(1), -np.cos(at))
        candidates = [low, high, np.clip(turn, low, high)]
        center = np.column_stack([np.sin(at)[:, None] * center, np.cos(at)])
        points = np.stack([np.column_stack([np.sin(t)[:, None] * corner, np.cos(t)]) for t in candidates])
        best = np.argmax(sphere.distance(points, center), axis=0)
        corner = points[best, np.arange(len(box))]
    return center, corner


@pytest.mark.parametrize(("dim", "n"), CASES)
def test_cells_have_measure_one_over_n(dim, n):
    partition = EqualMeasurePartition(dim, n)
    measures = cell_measures(boxes(partition))
    assert len(measures) == len(partition) == n
    assert np.allclose(measures, 1.0 / n, rtol=2e-11, atol=0)
    assert math.fsum(measures) == pytest.approx(1.0, abs=1e-13)
    assert partition.measure * n == 1.0


@pytest.mark.parametrize(("dim", "n"), CASES)
def test_points_of_a_cell_are_located_in_it_and_within_its_radius(dim, n):
    partition = EqualMeasurePartition(dim, n)
    box, centers, radii = boxes(partition), partition.centers(), partition.radii()
    rng = np.random.default_rng(n)
    for _ in range(8):
        x = inner_points(box, rng)
        assert np.array_equal(partition.locate(x), np.arange(n))
        assert (sphere.distance(x, centers) <= radii).all()
        faces = np.take_along_axis(box, rng.integers(0, 2, (n, dim, 1)), axis=2)[:, :, 0]
        assert (sphere.distance(sphere.from_polar(faces), centers) <= radii + 1e-14).all()


@pytest.mark.parametrize(("dim", "n"), CASES)
def test_radii_are_attained(dim, n):
    partition = EqualMeasurePartition(dim, n)
    center, corner = farthest_points(boxes(partition))
    assert np.allclose(center, partition.centers(), rtol=0, atol=5e-15)
    attained = sphere.distance(corner, partition.centers())
    assert np.allclose(attained, partition.radii(), rtol=0, atol=1e-13 if n > 3 else 1e-7)
    assert np.abs(attained - partition.radii()).max() < 1e-9
    assert abs(attained.max() - partition.cell_radius()) < 1e-9


@fixed
@given(st.integers(1, 10), st.integers(1, 10**6), st.integers(0, 2**32 - 1))
def test_random_partitions_are_partitions(dim, n, seed):
    partition = EqualMeasurePartition(dim, n)
    counts = partition.collar_counts
    assert counts.sum() == n
    assert counts.min() >= 1
    rng = np.random.default_rng(seed)
    start = int(rng.integers(0, n))
    stop = min(n, start + 300)
    centers = partition.centers(start, stop)
    assert np.array_equal(partition.locate(centers), np.arange(start, stop))
    x = sphere.uniform(dim, 300, rng)
    home = partition.locate(x)
    assert home.min() >= 0
    assert home.max() < n
    for point, angles, i in zip(x[:5], sphere.to_polar(x[:5]), home[:5].tolist(), strict=True):
        low, high = partition.cell(i).T
        assert (low <= angles + 1e-14).all()
        assert (angles <= high + 1e-14).all()
        radius = partition.radii(i, i + 1)[0]
        assert sphere.distance(point, partition.centers(i, i + 1)[0]) <= radius + 1e-14
        assert radius <= partition.cell_radius() * (1 + 1e-15)
    assert n * cap_measure(dim, partition.cell_radius()) >= 1.0 - 1e-12  # so many caps cover the sphere


def test_collar_counts_are_leopardis():
    half = [1, 17, 56, 104, 148, 174]
    counts = {(2, 10): [1, 4, 4, 1], (3, 6): [1, 4, 1], (3, 1000): half + half[::-1]}
    counts |= {(2, 1): [1], (8, 2): [1, 1], (5, 3): [1, 1, 1]}
    for (dim, n), zones in counts.items():
        assert EqualMeasurePartition(dim, n).collar_counts.tolist() == zones


@pytest.mark.parametrize("n", [*range(1, 40), 12345, 10**9 + 7])
def test_collar_counts_are_those_that_cells_are_found_in(n):
    zones, k = [], 0
    while k < n:
        north, south = cap.zone_of_index(n, k)
        zones.append(south - north)
        k = south
    assert EqualMeasurePartition(2, n).collar_counts.tolist() == zones


def test_collar_counts_in_blocks_stop_at_an_interruption(monkeypatch):
    partition = EqualMeasurePartition(2, 2 * 10**13)  # of 4 million collars
    counts = partition.collar_counts
    at_once = np.empty_like(counts[1:-1])
    cap.collar_counts(partition.n, 0, at_once)
    assert np.array_equal(counts[1:-1], at_once)
    starts = []

    def interrupted(n, j, counts):
        starts.append(j)
        if len(starts) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(cap, "collar_counts", interrupted)
    with pytest.raises(KeyboardInterrupt):
        partition.collar_counts  # noqa: B018
    assert starts == [0, 2**20, 2**21]


def leopardi_counts(dim, n):
    """Return Leopardi's counts by carrying the remainder along, and how near a rounding came to a tie."""
    cap = scipy.optimize.brentq(lambda t: cap_measure(dim, t) - 1 / n, 0, np.pi, xtol=1e-15)
    area = 2 * np.pi ** ((dim + 1) / 2) / math.gamma((dim + 1) / 2)
    collars = max(1, math.floor((np.pi - 2 * cap) / (area / n) ** (1 / dim) + 0.5))
    at = cap + (np.pi - 2 * cap) / collars * np.arange(collars + 1)
    counts, carried, tie = [1], 0.0, 1.0
    for ideal in n * np.diff(cap_measure(dim, at)):
        counts.append(math.floor(ideal + carried + 0.5))
        carried += ideal - counts[-1]
        tie = min(tie, 0.5 - abs(carried))
    return [*counts, 1], tie


@fixed
@given(st.integers(2, 12), st.integers(3, 10**5))
def test_collar_counts_follow_leopardis_algorithm(dim, n):
    counts, tie = leopardi_counts(dim, n)
    if tie > 1e-7:
        assert EqualMeasurePartition(dim, n).collar_counts.tolist() == counts


@pytest.mark.parametrize(("dim", "n"), [(2, 10**6), (2, 10**12), (3, 10**6), (8, 10**9), (40, 10**6), (200, 10**4)])
def test_colatitudes_match_mpmath(dim, n):
    partition = EqualMeasurePartition(dim, n)
    first = np.cumsum(partition.collar_counts)
    for zone in (0, len(first) // 3, len(first) - 2):
        cells = int(first[zone])
        angle = partition.cell(cells - 1)[0, 1]
        with mpmath.workdps(40):
            t = mpmath.mpf(float(angle))
            nearer = min(t, mpmath.pi - t)
            half = mpmath.betainc(mpmath.mpf(dim) / 2, 0.5, 0, mpmath.sin(nearer) ** 2, regularized=True) / 2
            target = mpmath.mpf(min(cells, n - cells)) / n
            density = mpmath.sin(nearer) ** (dim - 1) / mpmath.beta(mpmath.mpf(dim) / 2, 0.5)
            error = abs(half - target) / density
        assert error <= 4e-15 * float(nearer) + 5e-16


def test_the_pole_is_the_last_axis_and_cells_are_numbered_southwards():
    circle = EqualMeasurePartition(1, 8)
    azimuth = 2 * np.pi * (np.arange(8) + 0.5) / 8
    assert np.allclose(circle.centers(), np.column_stack([np.cos(azimuth), np.sin(azimuth)]), rtol=0, atol=1e-15)
    assert circle.locate([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0], [1.0, -1e-18]]).tolist() == [0, 2, 4, 6, 7]
    assert np.allclose(circle.cell(7), [[7 * np.pi / 4, 2 * np.pi]])
    for dim in (1, 2, 5):
        alone = EqualMeasurePartition(dim, 1)
        assert np.array_equal(alone.centers(), np.eye(dim + 1)[-1:])
        assert alone.cell_radius() == np.pi
        assert (alone.locate(sphere.uniform(dim, 50, 0)) == 0).all()
    two = EqualMeasurePartition(4, 2)
    assert np.array_equal(two.centers(), [[0, 0, 0, 0, 1], [0, 0, 0, 0, -1]])
    assert two.cell_radius() == np.pi / 2
    assert two.locate([[1.0, 0, 0, 0, 0], [0, 0, 0, 0, 1.0], [0, 0, 0, 0, -1.0]]).tolist() == [1, 0, 1]
    heights = EqualMeasurePartition(2, 50).centers()[:, 2]
    assert (np.diff(heights) <= 1e-15).all()


def test_every_point_lies_in_one_cell_also_on_the_faces():
    partition = EqualMeasurePartition(3, 60)
    axes = np.vstack([np.eye(4), -np.eye(4)])
    home = partition.locate(axes)
    assert ((home >= 0) & (home < 60)).all()
    assert home[3] == 0
    assert home[7] == 59
    assert np.array_equal(partition.locate(axes + 0.0), partition.locate(np.where(axes == 0, -0.0, axes)))


def test_rows_in_float32_and_of_any_layout_are_located():
    partition = EqualMeasurePartition(5, 4000)
    centers = partition.centers()
    assert np.array_equal(partition.locate(centers.astype(np.float32)), np.arange(4000))
    assert np.array_equal(partition.locate(np.asfortranarray(centers)), np.arange(4000))


KINDS = ("midpoint", "smallest-cap", "centroid")
COPIES = (
    copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p)),
    lambda p: dataclasses.replace(p, centers=p.center_kind), lambda p: eval(repr(p)),
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_partitions_are_values(kind):
    partition = EqualMeasurePartition(3, 1000, centers=kind)
    assert partition == EqualMeasurePartition(dim=3, n=1e3, centers=kind) != EqualMeasurePartition(2, 1000, kind)
    assert repr(EqualMeasurePartition(3, 1000)) == "EqualMeasurePartition(dim=3, n=1000)"
    with pytest.raises(dataclasses.FrozenInstanceError):
        partition.n = 5
    stored = pickle.dumps(partition)
    radius, diameter = partition.cell_radius(), partition.cell_diameter_bound()
    assert pickle.dumps(partition) == stored  # without what has been computed
    assert len(stored) < 200
    for make in COPIES:
        copied = make(partition)
        assert (copied.dim, copied.n, copied.center_kind) == (3, 1000, kind)
        assert copied == partition
        assert hash(copied) == hash(partition)
        assert np.array_equal(copied.centers(5, 99), partition.centers(5, 99))
        assert (copied.cell_radius(), copied.cell_diameter_bound()) == (radius, diameter)
    assert len({EqualMeasurePartition(3, 50, kind) for kind in KINDS}) == 3


def test_replaced_parameters_make_another_partition():
    partition = EqualMeasurePartition(3, 50, centers="centroid")
    assert partition.cell_radius() > 0.0  # computed once, and not for others
    for replace in (type(partition).__replace__, getattr(copy, "replace", type(partition).__replace__)):
        assert replace(partition, n=70) == EqualMeasurePartition(3, 70, centers="centroid")
        assert replace(partition, n=70).cell_radius() == EqualMeasurePartition(3, 70, centers="centroid").cell_radius()
        assert replace(partition, centers="midpoint") == EqualMeasurePartition(3, 50)
    assert dataclasses.replace(partition, n=70, centers="centroid") == EqualMeasurePartition(3, 70, "centroid")
    assert dataclasses.replace(partition, centers="midpoint").centers().shape == (50, 4)
    with pytest.raises((TypeError, ValueError), match=r"'centers' must be specified"):  # TypeError from Python 3.13 on
        dataclasses.replace(partition, n=70)
    assert dataclasses.asdict(partition) == {"dim": 3, "n": 50, "center_kind": "centroid"}
