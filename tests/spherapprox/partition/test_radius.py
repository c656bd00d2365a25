import functools
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox import EqualMeasurePartition, special, sphere
from spherapprox._kernels.partition import ascent, bundles, collars, zone
from spherapprox._kernels.partition import largest as kernel
from spherapprox.partition import kinds, levels, radius
from spherapprox.partition.radius import enclose_radius, largest

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
    ends, counts = angle[np.append(counts > 0, True)], counts[counts > 0]
    inside = np.pi / counts if dim == 2 else np.array([traversed(dim - 1, c) for c in counts.tolist()])
    return max(angle[0], about_midpoints(ends[:-1], ends[1:], inside).max())


def radius_is_the_largest(kind, dim, n):
    true = EqualMeasurePartition(dim, n, kind).radii().max()
    return largest(dim, n, kind) == (pytest.approx(true, rel=1e-15 if kind == "midpoint" else 2e-14, abs=0), True)


@fixed
@given(st.sampled_from(KINDS), st.integers(1, 10), st.floats(0, 4.4))
def test_radius_is_the_largest_of_the_radii(kind, dim, log_n):
    assert radius_is_the_largest(kind, dim, int(10**log_n))


@pytest.mark.parametrize(("kind", "dim"), list(itertools.product(KINDS, (2, 3, 4, 9))))
def test_radius_of_few_cells_is_the_largest_of_the_radii(kind, dim):
    assert all(radius_is_the_largest(kind, dim, n) for n in range(1, 16))


@pytest.mark.parametrize(("kind", "dim"), list(itertools.product(KINDS, (16, 40, 400))))
def test_radius_in_high_dimension_is_the_largest_of_the_radii_or_a_bound(kind, dim):
    for n in (7, 100, 3000) if dim < 400 else (7, 100):
        partition = EqualMeasurePartition(dim, n, kind)
        if partition.cell_radius_is_exact():
            assert partition.cell_radius() == pytest.approx(partition.radii().max(), rel=2e-14, abs=0)
        assert partition.cell_radius() >= partition.radii().max() * (1 - 2e-14)
        assert partition.cell_radius_is_exact() or kind == "centroid"


@settings(fixed, max_examples=12)
@given(st.integers(2, 10), st.floats(4.0, 7.0))
def test_radius_about_midpoints_is_that_of_a_traversal(dim, log_n):
    n = int(10 ** (0.5 * log_n + 2.2))
    assert largest(dim, n) == (pytest.approx(traversed(dim, n), rel=2e-14, abs=0), True)


@pytest.mark.parametrize("kind", KINDS)
def test_the_equatorial_bound_holds_for_the_rest_of_the_collars(kind):
    for n in (500, 10**4, 123457):
        partition = EqualMeasurePartition(2, n, kind)
        first = np.cumsum(partition.collar_counts)
        starts = first[:-2]
        radii = np.array([partition.radii(i, i + 1)[0] for i in starts.tolist()])
        angle, _ = boundaries(2, n)
        step = (np.pi - 2 * angle[0]) / (len(angle) - 1)
        for j in range(3, len(angle) // 2, max(1, len(angle) // 9)):
            at = min(angle[j], angle[0] + j * step)
            bound = kernel.equatorial_bound(radius.CODES[kind], float(n), at, step)
            assert radii[j : len(starts) - j].max() <= bound
    assert bound < 2.6 / np.sqrt(n)


@pytest.mark.parametrize("kind", KINDS)
def test_the_equatorial_bound_holds_in_small_partitions(kind):
    for n in range(3, 120):
        angle, arcs = boundaries(2, n)
        step = (np.pi - 2 * angle[0]) / (len(angle) - 1)
        zones = zip(angle[:-1].tolist(), angle[1:].tolist(), arcs.tolist(), strict=True)
        radii = [kernel.of_arcs(radius.CODES[kind], *zone) for zone in zones]
        for j in range(len(angle) // 2):
            at = min(angle[j], np.pi - angle[-1 - j], angle[0] + j * step)
            bound = kernel.equatorial_bound(radius.CODES[kind], float(n), float(at), step)
            assert max(radii[j : len(arcs) - j]) <= bound


HUGE = [*itertools.product((2,), (2**53,), KINDS), *itertools.product((3, 4, 16), (10**12,), KINDS[:1])]
HUGE += [*itertools.product((8,), (10**10,), KINDS[:2]), (3, 10**9, "centroid")]


@pytest.mark.parametrize(("dim", "n", "kind"), HUGE)
def test_the_radius_of_huge_partitions_bounds_every_cell(dim, n, kind):
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


@pytest.mark.parametrize("dim", [3, 8, 39, 40, 400, 10**5])
def test_collars_are_those_of_the_cells(dim):
    for n in (3, 8, 50, 999, 12345, 10**8):
        space = collars.room(dim, n)
        first, angle = np.empty(space, np.int64), np.empty(space)
        total, close = collars.north(dim, n, first, angle)
        level, half = levels.level_of(dim, np.array([n])), total // 2 + 1
        assert len(level.first) == total + 1
        if not close:
            assert first[:half].tolist() == level.first[:half].tolist()
            assert angle[:half] == pytest.approx(level.angle[:half], rel=1e-14, abs=0)


@given(st.floats(0.01, 3.0), st.floats(0.01, 1.0), st.floats(0.0, np.pi), st.floats(0.0, np.pi), st.floats(0.01, np.pi))
@fixed
def test_radius_about_a_centre_in_an_interval_is_bounded_by_that_about_its_ends(lower, part, start, stop, across):
    upper = lower + part * (3.13 - lower)
    bound = bundles.about_between(lower, upper, across, start, stop)
    t, center = np.linspace(lower, upper, 401)[:, None], np.linspace(start, stop, 401)
    square = np.sin((t - center) / 2) ** 2 + np.sin(t) * np.sin(center) * np.sin(across / 2) ** 2
    largest_radius = 2 * np.arcsin(np.sqrt(square.max()))
    assert largest_radius * (1 - 1e-12) <= bound <= largest_radius + 0.01


def are_in_bundles(rows, radius, length):
    """Tell for each cell whether a bundle holds it."""
    upper, shortest, longest = (rows[:, k, None] for k in (bundles.UPPER, bundles.LEAST, bundles.MOST))
    return ((upper >= radius) & (shortest <= length) & (length <= longest)).any(axis=0)


def test_bundles_hold_their_cells():
    rng = np.random.default_rng(3)
    cells = np.empty((500, 5))
    for cell, own, length in zip(cells, rng.uniform(0.1, 0.5, 500), rng.uniform(0.6, 0.9, 500), strict=True):
        bundles.write_cell(own, length, cell)
    above, sine_cosine = np.empty((500, 5)), zone.means(5, 0.7, 0.9)
    for cell, out in zip(cells, above, strict=True):
        bundles.lift(0.7, 0.9, *sine_cosine, cell, out)
    assert np.array_equal(above[:, bundles.UPPER], above[:, bundles.RADIUS])
    for limit in (1, 7, 499):
        out = np.empty((limit, 5))
        rows = out[: bundles.gather(cells, 500, limit, out)]
        assert rows[:, bundles.UPPER].max() == rows[:, bundles.RADIUS].max() == cells[:, bundles.RADIUS].max()
        assert are_in_bundles(rows, cells[:, bundles.RADIUS], cells[:, bundles.LENGTH]).all()
        lifted = np.empty((len(rows), 5))
        for row, lift in zip(rows, lifted, strict=True):
            bundles.lift(0.7, 0.9, *sine_cosine, row, lift)
        assert are_in_bundles(lifted, above[:, bundles.RADIUS], above[:, bundles.LENGTH]).all()


@pytest.mark.parametrize("n", [1, 2, 3, 12, 1000, bundles.WHOLE, bundles.WHOLE + 1, 10**6])
def test_bundles_of_the_sphere_hold_all_cells(n):
    first = np.cumsum(EqualMeasurePartition(2, n).collar_counts)[:-1].tolist()
    cells = [0, *first[:: max(1, len(first) // 200)]]
    zones = [levels.zones(2, n, i, 1) for i in cells]
    spheres, arc = kinds._spheres(2, [], np.full(len(cells), n), np.array([local[0] for _, _, local in zones]))
    own, length = np.empty(len(cells)), np.empty(len(cells))
    ascent.arcs(arc, own, length)
    ascent.centroids(2, spheres[0][1], spheres[0][2], length, np.empty(len(cells)))
    radii = np.concatenate([EqualMeasurePartition(2, n, "centroid").radii(i, i + 1) for i in cells])
    out = np.empty((3000, 5))
    rows = out[: bundles.write_sphere(n, out)]
    rows[:, bundles.UPPER] += 4e-15  # colatitudes near the south pole have this rounding
    rows[:, bundles.LEAST] -= 1e-14
    rows[:, bundles.MOST] += 1e-14
    assert are_in_bundles(rows, radii, length).all()
    assert len(rows) < 250


@pytest.mark.parametrize(
    ("dim", "n"), [(3, 10**5), (4, 3 * 10**4), (5, 10**5), (8, 10**5), (16, 3 * 10**4), (30, 10**4)]
)
def test_few_bundles_enclose_the_radius_about_centroids(dim, n):
    true = EqualMeasurePartition(dim, n, "centroid").radii().max()
    assert largest(dim, n, "centroid") == (pytest.approx(true, rel=2e-14, abs=0), True)
    lower, upper = enclose_radius(dim, n, "centroid", n_bundles=1)
    assert lower * (1 - 2e-14) <= true <= upper * (1 + 2e-14)
    assert upper <= 1.01 * lower


@pytest.mark.parametrize(("dim", "n"), [(8, 10**9), pytest.param(16, 10**10, marks=pytest.mark.once), (400, 10**6)])
def test_radii_about_centroids_of_huge_partitions_are_nearly_attained(dim, n):
    lower, upper = enclose_radius(dim, n, "centroid")
    assert upper <= 1.0002 * lower
    assert enclose_radius(dim, n, "smallest-cap")[0] <= lower * (1 + 1e-13)
    partition = EqualMeasurePartition(dim, n, "centroid")
    assert partition.cell_radius() == upper
    for i in np.random.default_rng(dim).integers(n, size=3).tolist():
        assert partition.radii(i, i + 1)[0] <= upper * (1 + 2e-14)


def test_an_interrupted_sweep_leaves_nothing_behind(monkeypatch):
    partition = EqualMeasurePartition(5, 10**5)

    def interrupt(*args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(radius.sweep, "open_all", interrupt)
        with pytest.raises(KeyboardInterrupt):
            _ = partition.cell_radius()
    assert partition.cell_radius() == EqualMeasurePartition(5, 10**5).cell_radius()
    assert partition.cell_radius_is_exact()
