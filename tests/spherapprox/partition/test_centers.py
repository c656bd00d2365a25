import inspect
import itertools
import threading
from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import peak_memory

from spherapprox import EqualMeasurePartition, sphere
from spherapprox._kernels.partition import cap
from spherapprox._threads import each_block
from spherapprox.partition.tree import tree_of_points, tree_of_range

fixed = settings(derandomize=True, deadline=None, max_examples=20)


@cache
def north_of_zones(dim, n):
    """Return the numbers of cells north of each zone, and n."""
    return np.append(0, np.cumsum(EqualMeasurePartition(dim, n).collar_counts))


@cache
def exact_boundary(dim, n, first):
    """Return the colatitude of the cap of measure first/n, by Newton's method on the incomplete beta function."""
    half = mpmath.mpf(dim) / 2

    def excess(t):
        return mpmath.betainc(half, half, 0, mpmath.sin(t / 2) ** 2, regularized=True) - mpmath.mpf(first) / n

    def density(t):
        return mpmath.sin(t) ** (dim - 1) / mpmath.beta(half, mpmath.mpf(1) / 2)

    t = 2 * mpmath.asin(mpmath.sqrt(mpmath.mpf(first) / n))
    if dim > 2:
        for _ in range(80):  # dim 2 is exact as it stands
            step = excess(t) / density(t)
            t = min(max(t - step, t / 2), (t + mpmath.pi) / 2)
            if abs(step) < mpmath.mpf(10) ** -25:
                break
    return t


def exact_center(dim, n, i):
    if n == 1:
        return [mpmath.mpf(0)] * dim + [mpmath.mpf(1)]
    if dim == 1:
        azimuth = mpmath.pi * (2 * i + 1) / n
        return [mpmath.cos(azimuth), mpmath.sin(azimuth)]
    if i in (0, n - 1):
        return [mpmath.mpf(0)] * dim + [mpmath.mpf(1 if i == 0 else -1)]
    first = north_of_zones(dim, n)
    zone = int(np.searchsorted(first, i, side="right")) - 1
    north, south = int(first[zone]), int(first[zone + 1])
    theta = (exact_boundary(dim, n, north) + exact_boundary(dim, n, south)) / 2
    inside = exact_center(dim - 1, south - north, i - north)
    return [mpmath.sin(theta) * c for c in inside] + [mpmath.cos(theta)]


@pytest.mark.parametrize(
    ("dim", "n", "cells"),
    [
        (1, 7, range(7)),
        (1, 10**6, (0, 31, 63, 64, 12345, 500001, 999999)),
        (1, 2**53, (0, 1, 2**51 + 77, 2**53 - 1)),
        (2, 10**6, (0, 1, 2, 3, 500, 501, 123456, 499999, 500000, 654321, 999998)),
        (2, 10**10, (1, 77, 10**9 + 7, 5 * 10**9 + 63, 10**10 - 9)),
        (3, 10**6, (1, 40, 1234, 500000, 765432, 999990)),
        (8, 10**6, (17, 4321, 500000, 987654)),
        (12, 10**5, (99, 33333)),
        (40, 1000, (20, 500)),
    ],
)
def test_centres_match_mpmath(dim, n, cells):
    partition = EqualMeasurePartition(dim, n)
    for i in cells:
        center = partition.centers(i, i + 1)[0]
        with mpmath.workdps(40):
            off = [mpmath.mpf(float(c)) - e for c, e in zip(center, exact_center(dim, n, i), strict=True)]
            length = mpmath.sqrt(sum(mpmath.mpf(float(c)) ** 2 for c in center))
            assert mpmath.sqrt(sum(e * e for e in off)) < 1e-15
            assert abs(length - 1) < 5e-16


@fixed
@given(st.integers(2, 12), st.integers(1, 1500))
def test_a_collars_centres_are_those_of_the_sphere_below_lifted(dim, n):
    partition = EqualMeasurePartition(dim, n)
    centers, first = partition.centers(), north_of_zones(dim, n).tolist()
    pole = np.eye(dim + 1)[-1]
    assert np.array_equal(centers[0], pole)
    if n > 1:
        assert np.array_equal(centers[-1], -pole)
    for north, south in itertools.pairwise(first[1:-1]):
        theta = partition.cell(north)[0].mean()
        inside = EqualMeasurePartition(dim - 1, south - north).centers()
        assert np.allclose(centers[north:south, :-1], np.sin(theta) * inside, rtol=0, atol=4e-16)
        assert np.allclose(centers[north:south, -1], np.cos(theta), rtol=0, atol=4e-16)


RANGES = [
    (1, 300_000, 0, 300_000), (1, 2**53, 2**52 + 5, 2**52 + 200_005), (2, 10**6, 499_000, 699_000),
    (2, 10**12, 10**11 + 1, 10**11 + 200_001), (3, 150_000, 1, 150_000), (8, 70_000, 0, 70_000),
    (30, 10**6, 10, 20_010), (300, 1000, 0, 1000),
]  # fmt: skip


@pytest.mark.parametrize(("dim", "n", "start", "stop"), RANGES)
def test_a_centre_is_the_same_to_the_bit_on_any_threads_in_any_range(dim, n, start, stop):
    partition = EqualMeasurePartition(dim, n)
    centers = partition.centers(start, stop)
    assert np.array_equal(partition.centers(start, stop, workers=3), centers)
    out = np.full((stop - start, dim + 1), np.nan)
    assert partition.centers(start, stop, workers=-1, out=out) is out
    assert np.array_equal(out, centers)
    for low in np.random.default_rng(dim).integers(0, stop - start, 8).tolist():
        high = min(stop - start, low + 1 + low % 97)
        assert np.array_equal(partition.centers(start + low, start + high), centers[low:high])


@fixed
@given(st.integers(1, 16), st.floats(0, 1), st.floats(0, 1), st.integers(0, 700))
def test_centres_lie_in_their_cells_at_any_size(dim, size, where, rows):
    n = max(1, round((2**53 if dim <= 2 else 10**12) ** size))
    start = min(int(where * n), n - 1)
    stop = min(n, start + rows)
    partition = EqualMeasurePartition(dim, n)
    centers = partition.centers(start, stop)
    assert np.abs(np.linalg.norm(centers, axis=1) - 1.0).max(initial=0.0) < 1e-15
    if rows and stop > start:
        assert np.array_equal(partition.locate(centers), np.arange(start, stop))


@pytest.mark.parametrize(("dim", "n"), [(1, 2**41), (1, 2**53), (2, 2**53), (3, 10**12), (5, 10**12), (16, 10**12)])
def test_centres_lie_in_their_cells_in_the_largest_partitions(dim, n):
    partition = EqualMeasurePartition(dim, n)
    for start in np.random.default_rng(dim).integers(0, n - 4000, 5).tolist():
        assert np.array_equal(partition.locate(partition.centers(start, start + 4000)), np.arange(start, start + 4000))


@pytest.mark.parametrize("seed", range(5))
def test_collars_of_the_largest_partition_begin_and_end_with_whole_turns(seed):
    partition = EqualMeasurePartition(2, 2**53)
    last = int(np.random.default_rng(seed).integers(2**50, 2**53 - 2**50))
    north, beyond = partition.cell(last)[0, 0], last + 2**30
    while beyond - last > 1:  # the last cell of a collar
        middle = (last + beyond) // 2
        last, beyond = (middle, beyond) if partition.cell(middle)[0, 0] == north else (last, middle)
    assert partition.cell(last)[1, 1] == 2 * np.pi
    assert partition.cell(last + 1)[1, 0] == 0.0


@pytest.mark.parametrize(("dim", "n"), [(2, 10**6), (3, 10**5), (4, 5000), (8, 10**5), (16, 10**4), (60, 3000)])
def test_few_points_and_many_are_located_alike(dim, n):
    """Many go through tables of the whole partition, few go down a level at a time."""
    partition, rng = EqualMeasurePartition(dim, n), np.random.default_rng(dim)
    boxes = [partition.cell(i) for i in rng.integers(0, n, 60).tolist()]
    faces = sphere.from_polar(np.array([np.take_along_axis(b, rng.integers(0, 2, (dim, 1)), 1)[:, 0] for b in boxes]))
    signs = rng.integers(-1, 2, (100, dim + 1)).astype(float)
    signs = signs[np.abs(signs).sum(axis=1) > 0]
    lattice = signs / np.linalg.norm(signs, axis=1, keepdims=True)
    x = np.vstack([np.eye(dim + 1), -np.eye(dim + 1), faces, lattice, sphere.uniform(dim, 60_000, rng)])
    assert tree_of_points(dim, n, len(x) // 4) is not None
    home = partition.locate(x)
    assert np.array_equal(partition.locate(x, workers=2), home)
    low = len(x) - 60_000
    for part in (slice(0, 30), slice(30, low), slice(low, low + 40), slice(-300, None)):
        assert tree_of_points(dim, n, len(x[part]) // 4) is None
        assert np.array_equal(partition.locate(x[part]), home[part])


def test_cells_are_half_open():
    equator = EqualMeasurePartition(2, 6)  # 1 4 1: quarters about the equator
    quarters = np.array([[1.0, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]])
    assert equator.locate(quarters).tolist() == [1, 2, 3, 4]
    assert equator.locate(np.repeat(quarters, 100, axis=0)).tolist() == np.repeat([1, 2, 3, 4], 100).tolist()
    for dim in (2, 3, 7):
        halves = EqualMeasurePartition(dim, 2)
        assert (halves.locate(np.eye(dim + 1)[:-1]) == 1).all()
        tilted = np.tile(np.eye(dim + 1)[0], (100, 1))
        tilted[:, -1] = 1e-13
        assert (halves.locate(tilted) == 0).all()
        assert (halves.locate(np.tile(-np.eye(dim + 1)[-1], (100, 1))) == 1).all()


def boundaries(dim, n, start, stop):
    return len(tree_of_range(dim, n, start, stop).level.first)


def test_a_range_needs_few_tables():
    assert boundaries(2, 10**12, 0, 10**6) == 0
    middle = 5 * 10**11
    assert boundaries(8, 10**12, middle, middle + 1) < 300
    assert boundaries(8, 10**12, middle, middle + 10**5) < 2000
    assert boundaries(400, 10**6, 0, 1) < 10
    assert boundaries(8, 1000, 0, 1000) == boundaries(8, 1000, 0, 999) == boundaries(8, 1000, 1, 999)


def test_memory_does_not_grow_with_the_partition():
    for dim, n, rows in ((2, 10**12, 10**5), (8, 10**12, 10**5), (10**4, 10**6, 50)):
        partition, out = EqualMeasurePartition(dim, n), np.empty((rows, dim + 1))
        assert peak_memory(lambda p=partition, i=n // 2, out=out: p.centers(i, i + len(out), out=out))[1] < 2**23


def test_threads_share_the_tables():
    cases = [(5, 4000 + 7 * k) for k in range(8)]
    results = {}

    def work(case):
        results[case] = EqualMeasurePartition(*case).centers(workers=2)

    threads = [threading.Thread(target=work, args=(case,)) for case in cases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for case in cases:
        assert np.array_equal(results[case], EqualMeasurePartition(*case).centers())


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interruption_drops_the_blocks_to_come(workers):
    blocks = []

    def task(block):
        blocks.append(block)
        if block.start == 30:
            raise KeyboardInterrupt
        threading.Event().wait(0.002)

    with pytest.raises(KeyboardInterrupt):
        each_block(task, 2000, 10, workers)
    assert 4 <= len(blocks) < 100
    count = np.zeros(103, dtype=int)
    each_block(lambda block: count.__setitem__(block, count[block] + 1), 103, 10, workers)
    assert (count == 1).all()


@pytest.mark.parametrize("n", [1, 2, 3, 5, 300, 20_000, 10**7 + 3, 2**40 + 7, 2**52 + 9])
def test_midpoints_have_the_same_bits_before_and_after_compiling(n):
    for start in (0, n // 3, max(n - 700, 0)):
        centers = EqualMeasurePartition(2, n).centers(start, min(start + 700, n))
        for kernel in (cap.centers, inspect.unwrap(cap.centers)):
            out = np.empty_like(centers)
            kernel(n, start, 1.0, np.empty(0), out)
            np.testing.assert_array_equal(out, centers)
