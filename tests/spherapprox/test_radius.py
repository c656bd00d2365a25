from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox import EqualMeasurePartition, special, sphere
from spherapprox._kernels import largest as kernel
from spherapprox._kernels import ranges, search
from spherapprox.partition import radius
from spherapprox.partition.radius import bounds_of, largest

KINDS = ("midpoint", "smallest-cap", "centroid")
fixed = settings(derandomize=True, deadline=None, max_examples=25)


def boundaries(dim, n):
    """Return the colatitudes between the zones of S^dim, and the counts in the collars."""
    counts = EqualMeasurePartition(dim, n).collar_counts
    first = np.cumsum(counts)[:-1]
    nearer = special.cap_angle(dim, np.log(np.minimum(first, n - first) / n))
    return np.where(2 * first <= n, nearer, np.pi - nearer), counts[1:-1]


def about_midpoints(low, high, across):
    """Return the radii of zones about their middles: the largest distance over a fine choice of colatitudes."""
    center = 0.5 * (low + high)
    far = np.pi + np.arctan2(np.sin(center) * np.cos(across), np.cos(center))
    t = np.stack([low, high, np.where(across > np.pi / 2, np.clip(far, low, high), low)])
    square = np.sin((t - center) / 2) ** 2 + np.sin(t) * np.sin(center) * np.sin(across / 2) ** 2
    return 2 * np.arcsin(np.sqrt(np.minimum(square, 1.0))).max(axis=0)


@functools.cache
def traversed(dim, n):
    """Return the largest radius about midpoints by going through everything."""
    if dim == 1 or n <= 2:
        return np.pi / n
    angle, counts = boundaries(dim, n)
    counts, kept = counts[counts > 0], np.append(counts > 0, True)
    inside = np.pi / counts if dim == 2 else np.array([traversed(dim - 1, c) for c in counts.tolist()])
    return max(angle[0], about_midpoints(angle[kept][:-1], angle[kept][1:], inside).max())


@fixed
@given(st.sampled_from(KINDS), st.integers(1, 10), st.floats(0, 4.4))
def test_radius_is_the_largest_of_the_radii(kind, dim, log_n):
    n = int(10**log_n)
    value, exact = largest(dim, n, kind)
    assert exact
    assert value == pytest.approx(EqualMeasurePartition(dim, n, kind).radii().max(), rel=2e-14, abs=0)


@pytest.mark.parametrize(("kind", "dim"), list(itertools.product(KINDS, (2, 3, 4, 9))))
def test_radius_of_few_cells(kind, dim):
    for n in range(1, 16):
        value, exact = largest(dim, n, kind)
        assert exact
        assert value == pytest.approx(EqualMeasurePartition(dim, n, kind).radii().max(), rel=2e-14, abs=0)


@pytest.mark.parametrize(("kind", "dim"), list(itertools.product(KINDS, (16, 40, 400))))
def test_radius_in_high_dimension(kind, dim):
    for n in (7, 100, 3000) if dim < 400 else (7, 100):
        partition = EqualMeasurePartition(dim, n, kind)
        if partition.radius_exact:
            assert partition.radius == pytest.approx(partition.radii().max(), rel=2e-14, abs=0)
        assert partition.radius >= partition.radii().max() * (1 - 2e-14)
        assert partition.radius_exact or kind == "centroid"


@fixed
@given(st.integers(2, 10), st.floats(4.0, 7.6))
def test_radius_about_midpoints_against_a_traversal(dim, log_n):
    n = int(10 ** (0.5 * log_n + 2.2))
    assert largest(dim, n) == (pytest.approx(traversed(dim, n), rel=2e-14, abs=0), True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("dim", "n"), [(3, 10**7), (4, 10**6), (5, 10**6), (6, 10**6), (8, 10**6), (12, 10**5)])
def test_a_search_with_bounds_finds_what_one_without_finds(monkeypatch, kind, dim, n):
    plain = None if kind == "centroid" else largest(dim, n, kind)
    monkeypatch.setattr(radius, "_PLAIN", 0)
    visits = []
    sweep = radius.Search.sweep
    monkeypatch.setattr(radius.Search, "sweep", lambda self, *a: (sweep(self, *a), visits.append(self.visits))[0])
    value, exact = largest(dim, n, kind)
    assert exact
    if plain is not None:
        assert value == pytest.approx(plain[0], rel=2e-14, abs=0)
    _, upper = bounds_of(radius.KINDS[kind], dim, n)
    assert value <= upper
    assert visits[-1] < 60000


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_hold_for_every_count_of_a_cell(kind):
    rng = np.random.default_rng(0)
    for dim, most in ((3, 10**6), (4, 10**6), (6, 10**5)):
        bounds = bounds_of(radius.KINDS[kind], dim + 1, most)[0][dim]
        counts = np.unique((10 ** rng.uniform(0.5, 4.5, 12 if kind == "centroid" else 60)).astype(int))
        for n in counts[counts < most**0.7].tolist():
            value, exact = largest(dim, n, kind)
            cell = search.cell_of(n)
            low, high = ranges.counts_of(cell)
            assert low <= n <= high
            assert not exact or value <= bounds[cell]
            assert kind == "centroid" or bounds[cell] <= 1.35 * value  # and are of use


@pytest.mark.parametrize("kind", KINDS)
def test_rest_of_the_collars_of_the_sphere(kind):
    for n in (500, 10**4, 123457):
        partition = EqualMeasurePartition(2, n, kind)
        first = np.cumsum(partition.collar_counts)
        starts = first[:-2]
        radii = np.array([partition.radii(i, i + 1)[0] for i in starts.tolist()])
        angle, _ = boundaries(2, n)
        step = (np.pi - 2 * angle[0]) / (len(angle) - 1)
        for j in range(3, len(angle) // 2, max(1, len(angle) // 9)):
            at = min(angle[j], angle[0] + j * step)
            bound = kernel.rest(radius.KINDS[kind], float(n), at, (step, step))
            assert radii[j : len(starts) - j].max() <= bound
    assert bound < 2.6 / np.sqrt(n)


@pytest.mark.parametrize(
    ("dim", "n", "kind"),
    [
        *((2, 2**53, kind) for kind in KINDS),
        *((dim, 10**12, "midpoint") for dim in (3, 4, 5, 8, 16)),
        (8, 10**12, "smallest-cap"),
        (3, 10**9, "centroid"),
    ],
)
def test_huge_partitions(dim, n, kind):
    partition = EqualMeasurePartition(dim, n, kind)
    assert partition.radius_exact
    x = sphere.uniform(dim, 4, dim)
    for point, i in zip(x, partition.locate(x).tolist(), strict=True):
        own = partition.radii(i, i + 1)[0]
        assert sphere.distance(point, partition.centers(i, i + 1)[0]) <= own * (1 + 1e-7) + 1e-15
        assert own <= partition.radius
    # the first collars have it or come near
    assert partition.radii(0, 5000 if dim > 2 else 100).max() <= partition.radius
    assert partition.radii(0, 100).max() >= 0.6 * partition.radius


def test_where_the_search_gives_up_the_radius_is_bounded(monkeypatch):
    exact = EqualMeasurePartition(8, 10**6).radius
    monkeypatch.setattr(radius, "_PLAIN", 10)
    monkeypatch.setattr(radius, "_VISITS", 200)
    partition = EqualMeasurePartition(8, 10**6)
    assert not partition.radius_exact
    assert exact <= partition.radius <= 1.1 * exact


def test_an_interrupted_search_leaves_nothing_behind(monkeypatch):
    partition = EqualMeasurePartition(5, 10**5)

    def interrupt(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(radius.search, "open_all", interrupt)
        with pytest.raises(KeyboardInterrupt):
            _ = partition.radius
    assert partition.radius == EqualMeasurePartition(5, 10**5).radius
    assert partition.radius_exact
