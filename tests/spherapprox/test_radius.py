from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox import EqualMeasurePartition, special, sphere
from spherapprox._kernels.partition import ascent, bundles, centroids, ranges, search, zone
from spherapprox._kernels.partition import largest as kernel
from spherapprox.partition import kinds, levels, radius
from spherapprox.partition.bounds import _with_growth
from spherapprox.partition.radius import bounds_of, enclosed, largest

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
        if partition.cell_radius_is_exact():
            assert partition.cell_radius() == pytest.approx(partition.radii().max(), rel=2e-14, abs=0)
        assert partition.cell_radius() >= partition.radii().max() * (1 - 2e-14)
        assert partition.cell_radius_is_exact() or kind == "centroid"


@fixed
@given(st.integers(2, 10), st.floats(4.0, 7.0))
def test_radius_about_midpoints_against_a_traversal(dim, log_n):
    n = int(10 ** (0.5 * log_n + 2.2))
    assert largest(dim, n) == (pytest.approx(traversed(dim, n), rel=2e-14, abs=0), True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("dim", "n"), [(3, 10**6), (4, 10**6), (5, 10**6), (6, 10**6), (8, 10**6), (12, 10**5)])
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
    _, (upper, _) = bounds_of(radius.KINDS[kind], dim, n)
    assert value <= upper
    assert visits[-1] < 60000


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_hold_for_every_count_of_a_cell(kind):
    rng = np.random.default_rng(0)
    for dim, most in ((3, 10**6), (4, 10**6), (6, 10**5)):
        bounds = bounds_of(radius.KINDS[kind], dim + 1, most)[0][dim].radius
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


@pytest.mark.parametrize("kind", KINDS)
def test_rest_of_the_collars_of_small_partitions_of_the_sphere(kind):
    for n in range(3, 120):
        angle, arcs = boundaries(2, n)
        step = (np.pi - 2 * angle[0]) / (len(angle) - 1)
        zones = zip(angle[:-1].tolist(), angle[1:].tolist(), arcs.tolist(), strict=True)
        radii = [kernel.of_arcs(radius.KINDS[kind], *zone) for zone in zones]
        for j in range(len(angle) // 2):
            at = min(angle[j], np.pi - angle[-1 - j], angle[0] + j * step)
            bound = kernel.rest(radius.KINDS[kind], float(n), float(at), (step, step))
            assert max(radii[j : len(arcs) - j]) <= bound


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
    assert partition.cell_radius_is_exact()
    x = sphere.uniform(dim, 4, dim)
    for point, i in zip(x, partition.locate(x).tolist(), strict=True):
        own = partition.radii(i, i + 1)[0]
        assert sphere.distance(point, partition.centers(i, i + 1)[0]) <= own * (1 + 1e-7) + 1e-15
        assert own <= partition.cell_radius()
    # the first collars have it or come near
    assert partition.radii(0, 5000 if dim > 2 else 100).max() <= partition.cell_radius()
    assert partition.radii(0, 100).max() >= 0.6 * partition.cell_radius()


def test_where_the_search_gives_up_the_radius_is_bounded(monkeypatch):
    exact = EqualMeasurePartition(8, 10**6).cell_radius()
    monkeypatch.setattr(radius, "_PLAIN", 10)
    monkeypatch.setattr(radius, "_VISITS", 200)
    partition = EqualMeasurePartition(8, 10**6)
    assert not partition.cell_radius_is_exact()
    assert exact <= partition.cell_radius() <= 1.1 * exact


def lengths(dim, n):
    """Return the lengths of the mean vectors of all cells."""
    spheres, arc = kinds._spheres(dim, *levels.zones(dim, n, 0, n))
    across, length = np.empty(n), np.empty(n)
    ascent.arcs(arc, across, length)
    for m, lower, upper in reversed(spheres):
        ascent.centroids(m, lower, upper, length, np.empty(n))
    return length


@fixed
@given(st.integers(2, 60), st.floats(0.01, 3.1), st.floats(0.001, 1.0), st.floats(0.0, 1.0))
def test_spread_of_a_zone(m, lower, part, inner):
    upper = lower + part * (3.13 - lower)
    t = np.linspace(lower, upper, 40001)
    weight = np.exp((m - 1) * (np.log(np.sin(t)) - np.log(np.sin(t)).max()))
    weight[[0, -1]] /= 2
    weight /= weight.sum()
    middle = weight @ t
    variance = weight @ (t - middle) ** 2
    assert variance <= centroids.variance(m, upper - lower) * (1 + 1e-7)
    sine, cosine = zone.means(m, lower, upper)
    own = 1 - sine**2 - cosine**2
    # half the mean squared chord between two points of the zone's arc
    assert own == pytest.approx(weight @ (1 - np.cos(t - middle)) * 2 - (weight @ (1 - np.cos(t - middle))) ** 2
                                - (weight @ np.sin(t - middle)) ** 2, rel=1e-6, abs=1e-14)  # fmt: skip
    assert own <= variance * (1 + 1e-6) + 1e-15
    _, length = zone.centroid(m, lower, upper, np.sqrt(1 - inner))
    assert 1 - length**2 == pytest.approx(own + sine**2 * inner, abs=1e-14)


@pytest.mark.parametrize("dim", [2, 3, 5, 10])
def test_spreads_hold_for_all_cells(dim):
    most = 10**5
    tables = bounds_of(kernel.CENTROID, dim + 1, int(30 * most ** (1 + 1 / dim)))[0][dim]
    for n in (1, 2, 3, 5, 17, 126, 1000, 12345, most):
        spread, bound = 1 - lengths(dim, n).min() ** 2, tables.spread[search.cell_of(n)]
        assert spread <= bound + 2e-15
        assert bound <= max(2.5 * spread, 1e-14)  # and are of use


@pytest.mark.parametrize(("dim", "n"), [(3, 10**5), (3, 54321), (4, 10**5), (5, 10**5)])
def test_rest_of_the_collars_about_centroids(dim, n):
    tables = bounds_of(kernel.CENTROID, dim, n)[0][dim - 1]
    grown = _with_growth(dim - 1, tables)
    partition = EqualMeasurePartition(dim, n, "centroid")
    first, (angle, _) = np.cumsum(partition.collar_counts), boundaries(dim, n)
    step = (np.pi - 2 * angle[0]) / (len(angle) - 1)
    radii, spread, useful = partition.radii(), 1 - lengths(dim, n) ** 2, 0
    for j in range(1, len(angle) // 2):
        at = min(angle[j], angle[0] + j * step)
        bound, own = ranges.rest(kernel.CENTROID, dim, float(n), at, (step, step), grown)
        there = slice(first[j], n - first[j])
        assert radii[there].max() <= bound
        assert spread[there].max() <= own
        useful += bound <= 1.5 * radii.max() and own <= 3.0 * spread.max()
    assert useful >= len(angle) // 2 - 4


def test_rest_about_centroids_holds_one_collar_and_is_attained():
    rng, worst = np.random.default_rng(0), np.zeros(2)
    for _ in range(1500):
        m, angle, width = int(rng.integers(3, 8)), rng.uniform(0.1, 1.4), 10 ** rng.uniform(-3, -1)
        lower = rng.choice([angle, rng.uniform(angle, np.pi - angle - width)])
        across, ratio = 10 ** rng.uniform(-2, -0.3), rng.uniform(0.0, 0.6)
        inside = across / math.sqrt(math.sin(lower) * math.sin(lower + width))
        bounds = centroids.rest_of_centroids(m, (angle, width, width, across, ratio), across / math.sin(angle))
        if bounds[0] < np.pi and inside < 1.5:
            length = max(math.cos(inside), math.sqrt(1.0 - ratio * inside**2 * rng.choice([0.0, 1.0, rng.random()])))
            center, mean = zone.centroid(m, lower, lower + width, length)
            there = zone.radius(lower, lower + width, center, inside), 1.0 - mean**2 - 1e-15
            worst = np.maximum(worst, np.divide(there, bounds))
    assert np.all((worst > 0.999) & (worst <= 1.0))


@given(st.floats(0.01, 3.0), st.floats(0.01, 1.0), st.floats(0.0, np.pi), st.floats(0.0, np.pi), st.floats(0.01, np.pi))
@fixed
def test_radius_about_a_centre_in_an_interval(lower, part, one, other, across):
    upper = lower + part * (3.13 - lower)
    bound = kernel.about_between(lower, upper, across, one, other)
    t, center = np.linspace(lower, upper, 401)[:, None], np.linspace(one, other, 401)
    square = np.sin((t - center) / 2) ** 2 + np.sin(t) * np.sin(center) * np.sin(across / 2) ** 2
    seen = 2 * np.arcsin(np.sqrt(square.max()))
    assert seen * (1 - 1e-12) <= bound <= seen + 0.01
    for threshold in (0.3, 0.8 * bound, 1.5 * bound):
        inside = kernel.allowed(lower, upper, one, other, threshold)
        assert inside <= np.pi / 2 + 1e-15
        if inside > 0:
            assert kernel.about_between(lower, upper, inside, one, other) <= max(threshold, 1e-7) * (1 + 1e-9)
        if inside < 1.57:
            assert kernel.about_between(lower, upper, inside + 1e-6, one, other) > threshold


def test_bundles_hold_their_cells():
    rng = np.random.default_rng(3)
    cells = np.empty((500, 5))
    cells[:, 0] = cells[:, 3] = rng.uniform(0.1, 0.5, 500)
    cells[:, 1] = cells[:, 2] = cells[:, 4] = rng.uniform(0.6, 0.9, 500)
    for most in (1, 7, 499):
        out = np.empty((most, 5))
        kept = out[: bundles.gathered(cells, 500, most, out)]
        assert kept[:, 0].max() == kept[:, 3].max() == cells[:, 0].max()
        for cell in cells:
            assert ((kept[:, 0] >= cell[0]) & (kept[:, 1] <= cell[1]) & (cell[2] <= kept[:, 2])).any()
        lifted = np.empty((len(kept), 5))
        for old, new in zip(kept, lifted, strict=True):
            bundles.lift((0.7, 0.9), *zone.means(5, 0.7, 0.9), old, new)
        for cell in cells:
            new = np.empty(5)
            bundles.lift((0.7, 0.9), *zone.means(5, 0.7, 0.9), cell, new)
            assert new[0] == new[3]
            assert ((lifted[:, 0] >= new[0]) & (lifted[:, 1] <= new[1]) & (new[2] <= lifted[:, 2])).any()


@pytest.mark.parametrize("plain", [0, 3 * 10**5])
@pytest.mark.parametrize(
    ("dim", "n"), [(3, 10**5), (4, 3 * 10**4), (5, 10**5), (8, 10**5), (16, 3 * 10**4), (30, 10**4)]
)
def test_centroids_in_few_bundles(monkeypatch, dim, n, plain):
    true = EqualMeasurePartition(dim, n, "centroid").radii().max()
    monkeypatch.setattr(radius, "_PLAIN", plain)
    assert largest(dim, n, "centroid") == (pytest.approx(true, rel=2e-14, abs=0), True)
    for name, value in (("_BUNDLES", 1), ("_LEAST", 3)):
        monkeypatch.setattr(radius, name, value)
    lower, upper = enclosed(dim, n, "centroid")
    assert lower * (1 - 2e-14) <= true <= upper * (1 + 2e-14)
    assert upper <= 1.03 * lower


@pytest.mark.parametrize(("dim", "n"), [(16, 10**10), (400, 10**6)])
def test_centroids_of_huge_partitions(dim, n):
    lower, upper = enclosed(dim, n, "centroid")
    assert upper <= 1.05 * lower
    assert enclosed(dim, n, "smallest-cap")[0] <= lower * (1 + 1e-13)
    partition = EqualMeasurePartition(dim, n, "centroid")
    assert partition.cell_radius() == upper
    for i in np.random.default_rng(dim).integers(n, size=3).tolist():
        assert partition.radii(i, i + 1)[0] <= upper * (1 + 2e-14)


def test_where_the_search_about_centroids_gives_up_the_radius_is_bounded(monkeypatch):
    true = largest(8, 10**6, "centroid")[0]
    monkeypatch.setattr(radius, "_PLAIN", 10)
    monkeypatch.setattr(radius, "_VISITS", 200)
    lower, upper = enclosed(8, 10**6, "centroid")
    assert lower <= true <= upper <= 1.05 * true  # it goes on until then
    monkeypatch.setattr(radius, "_MOST_VISITS", 200)
    lower, upper = enclosed(8, 10**6, "centroid")
    assert lower < upper
    assert lower <= true <= upper <= 1.2 * true


def test_an_interrupted_search_leaves_nothing_behind(monkeypatch):
    partition = EqualMeasurePartition(5, 10**5)

    def interrupt(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(radius.search, "open_all", interrupt)
        with pytest.raises(KeyboardInterrupt):
            _ = partition.cell_radius()
    assert partition.cell_radius() == EqualMeasurePartition(5, 10**5).cell_radius()
    assert partition.cell_radius_is_exact()
