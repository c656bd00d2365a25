import itertools
import math
import pickle

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pointsets import exact_angle, minimal_vectors_d

from spherapprox import EqualMeasurePartition, PointSet, points, sphere
from spherapprox.points.covering import hull as hulls
from spherapprox.points.covering import radius
from spherapprox.points.covering.radius import covering_interval
from spherapprox.quality.nearest import angles, separation, unit

fixed = settings(derandomize=True, deadline=None, max_examples=20)
seeds = st.integers(0, 2**32 - 1)


def cross(d):
    return np.vstack([np.eye(d), -np.eye(d)])


def cube(d):
    return np.array(list(itertools.product((-1, 1), repeat=d))) / d**0.5


def simplex(d):
    centred = np.eye(d + 1) - 1 / (d + 1)
    return unit(centred @ np.linalg.svd(centred)[2][:d].T)


def farthest(x, among):
    """Return the largest distance from one of the points `x` to the nearest of `among`."""
    return float(sphere.distance(x[:, None], among).min(axis=1).max())


def by_circumcentres(x):
    """Return the covering radius: a maximum lies opposite or at the centre of points that are equally far from it."""
    n, d = x.shape
    centres = [-x]
    for size in range(2, min(n, d) + 1):
        for subset in itertools.combinations(range(n), size):
            c = np.linalg.pinv(x[list(subset)]).sum(axis=1)
            if np.linalg.norm(c) > 1e-9:
                centres.append(unit(np.vstack([c, -c])))
    if n < d:  # what is orthogonal to all
        centres.append(np.linalg.svd(x)[2][-1:])
    return farthest(np.vstack(centres), x)


KNOWN = {
    "octahedron": (cross(3), math.acos(3**-0.5), math.pi / 2),
    "cross-polytope 4": (cross(4), math.pi / 3, math.pi / 2),
    "cross-polytope 12": (cross(12), math.acos(12**-0.5), math.pi / 2),
    "simplex 5": (simplex(5), math.acos(1 / 5), math.acos(-1 / 5)),
    "cube 3": (cube(3), math.acos(3**-0.5), math.acos(1 / 3)),
    "cube 6": (cube(6), math.acos(6**-0.5), math.acos(2 / 3)),
    "icosahedron": (points.spherical_design(2, 5).points, math.acos((1 / 3 + 2 / 45**0.5) ** 0.5), math.acos(5**-0.5)),
    "24-cell": (minimal_vectors_d(4), math.pi / 4, math.pi / 3),
    "600-cell": (points.spherical_design(3, 11).points, math.acos((3 + 5**0.5) / 32**0.5), math.pi / 5),
    "D5": (minimal_vectors_d(5), math.acos(2 / 10**0.5), math.pi / 3),
    "two": (np.eye(5)[:2], 0.75 * math.pi, math.pi / 2),
    "antipodes": (cross(5)[[0, 5]], math.pi / 2, math.pi),
    "one": (np.eye(5)[:1], math.pi, math.inf),
    "half of a cross-polytope": (cross(5)[:-1], math.pi / 2, math.pi / 2),
    "half of a large one": (cross(25)[:-1], math.pi / 2, math.pi / 2),
}
SMALL_HULLS = ("octahedron", "icosahedron", "24-cell", "600-cell", "cross-polytope 12")


@pytest.mark.parametrize("name", KNOWN)
def test_covering_radius_and_separation_of_known_sets(name):
    x, angle, distance = KNOWN[name]
    tilt = np.linalg.qr(np.random.default_rng(1).standard_normal((x.shape[1], x.shape[1])))[0]
    for rows in (x, unit(x @ tilt)):
        interval = covering_interval(rows, rtol=0.0)
        assert interval.lower == pytest.approx(angle, abs=2e-14)
        assert angle <= interval.upper + 4e-16
        # moments, above 16 columns, know a centred set to their rounding
        assert interval.upper - interval.lower < (5e-14 if name in SMALL_HULLS else 1e-8)
        assert farthest(interval.at[None], rows) == pytest.approx(interval.lower, abs=1e-15)
        assert separation(rows) == pytest.approx(distance, abs=1e-15)


@fixed
@given(st.integers(1, 4), st.integers(1, 9), seeds, st.floats(0.05, 1.0))
def test_against_all_circumcentres(dim, n, seed, squeeze):
    x = sphere.uniform(dim, n, seed)
    x[:, -1] = np.abs(x[:, -1]) / squeeze if seed % 2 else x[:, -1]  # half of the sets lie in a half-space
    x = unit(x)
    interval = covering_interval(x, rtol=0.0)
    truth = by_circumcentres(x)
    assert interval.lower == pytest.approx(truth, abs=1e-12)
    assert truth <= interval.upper <= truth + 1e-8


@fixed
@given(st.integers(1, 9), st.integers(1, 60), seeds, st.sampled_from([0, 50, 5000]))
def test_interval_holds_and_is_attained(dim, n, seed, budget):
    rng = np.random.default_rng(seed)
    x = sphere.uniform(dim, n, rng)
    interval = covering_interval(x, budget=budget)
    near_hole = unit(interval.at + 0.1 * rng.standard_normal((100, dim + 1)))
    assert farthest(np.vstack([sphere.uniform(dim, 100, rng), near_hole]), x) <= interval.upper
    assert farthest(interval.at[None], x) == pytest.approx(interval.lower, abs=1e-15)
    assert interval.lower <= interval.upper <= math.pi
    if dim > 2 and budget == 0 and interval.upper < math.pi / 2:
        exact = covering_interval(x, rtol=0.0)
        assert interval.lower <= exact.upper
        assert exact.lower <= interval.upper


def _degenerate(kind, dim, n, rng):
    """Return a single point, repeated ones, a cluster of any size down to roundings, or antipodes."""
    x = sphere.uniform(dim, 1 if kind == "single" else n, rng)
    if kind == "repeated":
        return x[np.zeros(n, dtype=int)]
    if kind == "cluster":
        return unit(x[0] + 10.0 ** -rng.integers(1, 17) * rng.standard_normal((n, dim + 1)))
    return np.vstack([x, -x]) if kind == "antipodes" else x


def _exact_radius_on_the_circle(x):
    azimuth = sorted(mpmath.atan2(*map(float, row[::-1])) for row in x)
    gaps = [b - a for a, b in itertools.pairwise([*azimuth, azimuth[0] + 2 * mpmath.pi])]
    return max(gaps) / 2


@settings(fixed, max_examples=60)
@given(st.integers(1, 3), st.integers(1, 6), seeds, st.sampled_from(["single", "repeated", "cluster", "antipodes"]))
def test_intervals_of_degenerate_points_hold_the_truth(dim, n, seed, kind):
    x = _degenerate(kind, dim, n, np.random.default_rng(seed))
    interval = covering_interval(x)
    with mpmath.workdps(30):
        attained = min(exact_angle(interval.at, row) for row in x)
        truth = _exact_radius_on_the_circle(x) if dim == 1 else attained
        assert interval.lower <= attained + 2e-15
        assert min(truth, math.pi) <= interval.upper <= math.pi
        assert interval.lower <= interval.upper <= interval.lower * (1.05 if dim > 2 else 1 + 1e-8) + 1e-14
        distances = [exact_angle(a, b) for a, b in itertools.combinations(x, 2)]
        closest = pytest.approx(float(min(distances)), rel=1e-15, abs=2e-16) if distances else math.inf
        assert separation(x) == closest
    if dim < 3:
        assert PointSet(x).covering_bound() == interval.upper


@pytest.mark.parametrize(
    ("dim", "n", "rtol"), [(2, 6000, 0.0), (3, 3000, 0.0), (4, 400, 0.0), (5, 60, 0.0), (3, 3000, 0.05)]
)
def test_growing_hulls_agree_with_the_hull_of_all(dim, n, rtol):
    x = sphere.uniform(dim, n, 3)
    facets = hulls.facets_of(x, np.arange(n))
    truth = facets.radii.max()
    interval = covering_interval(x, rtol)
    assert interval.lower <= truth * (1 + 1e-12)
    assert interval.upper >= truth * (1 - 1e-12)
    assert interval.upper <= interval.lower * (1 + rtol + 1e-12)
    assert dim > 2 or interval.upper - PointSet(x).covering_bound() < 1e-14


def test_intervals_of_clustered_points_hold():
    x = sphere.uniform(2, 3000, 5)
    x[:2990] = unit(1e-7 * x[:2990] + [0.0, 0.0, 1.0])
    for dim in (2, 3):
        rows = np.pad(x, ((0, 0), (dim - 2, 0)))
        rows[-10:] = sphere.uniform(dim, 10, 1)
        interval = covering_interval(rows, 0.0)
        truth = by_circumcentres(np.vstack([rows[:1], rows[-10:]]))
        assert interval.lower == pytest.approx(truth, abs=1e-6)
        assert interval.upper - interval.lower < 1e-9


@pytest.mark.parametrize("size", [1e-3, 1e-7, 1e-12])
def test_all_points_in_one_tiny_cap(size):
    x = unit(np.column_stack([size * np.vstack([cross(3), 0.5 * cube(3)]), np.ones(14)]))
    interval = covering_interval(x, 0.0)
    truth = math.pi - math.atan(size)
    assert truth - 1e-8 <= interval.lower <= truth + 4e-16
    assert truth - 4e-16 <= interval.upper <= truth + 1e-8


def test_upper_value_holds_where_the_search_for_a_half_space_ends_early():
    x = sphere.uniform(24, 60, 0)
    x = unit(x + 0.4 * np.eye(25)[0])
    exact = covering_interval(x, 0.0)
    assert math.pi / 2 < exact.lower <= exact.upper < exact.lower + 1e-12
    early = radius._half_space(x, multiplications=0.0)
    assert early.lower <= exact.upper
    assert exact.lower + 1e-6 < early.upper


def test_points_on_a_great_subsphere_and_in_half_spaces():
    great = np.pad(sphere.uniform(3, 200, 0), ((0, 0), (0, 2)))
    tilt = np.linalg.qr(np.random.default_rng(1).standard_normal((6, 6)))[0]
    for rows in (great, unit(great @ tilt)):
        interval = covering_interval(rows, 0.0)
        assert interval.lower == pytest.approx(math.pi / 2, abs=1e-15)
        assert math.pi / 2 <= interval.upper < math.pi / 2 + 1e-13
    cap = unit(np.column_stack([0.3 * sphere.uniform(3, 500, 2), np.ones(500)]))  # all on one small sphere
    interval = covering_interval(cap, 0.0)
    assert interval.lower == pytest.approx(math.pi - math.atan(0.3), abs=1e-12)
    assert interval.upper - interval.lower < 1e-12
    for n, dim in ((40, 400), (100, 100), (2, 20_000)):  # no more points than columns
        x = sphere.uniform(dim, n, 0)
        interval = covering_interval(x, 0.0)
        mean = np.linalg.solve(x @ x.T, np.ones(n)) if n <= dim else None
        assert interval.upper - interval.lower < 1e-14 * (50 + dim)
        if (mean > 0).all():  # the affine hull's point of least norm is in the hull
            assert interval.lower == pytest.approx(math.pi / 2 + math.asin(mean.sum() ** -0.5), abs=1e-12)


def test_beyond_hulls_directions_bound_the_radius_and_a_half_space_does():
    x = sphere.uniform(20, 400, 0)
    interval = covering_interval(x)
    assert farthest(sphere.uniform(20, 500, 1), x) < interval.lower < math.pi / 2 <= interval.upper < math.pi / 2 + 1e-6


def test_repeated_points_single_precision_and_lengths():
    x = sphere.uniform(3, 40, 0)
    lower = covering_interval(x, 0.0).lower
    assert covering_interval(np.repeat(x, 50, axis=0), 0.0).lower == pytest.approx(lower, abs=1e-14)
    assert covering_interval(np.repeat(x[:1], 1000, axis=0)).lower == math.pi
    assert covering_interval(x.astype(np.float32), 0.0).lower == pytest.approx(lower, abs=1e-6)
    assert covering_interval(x * (1 + 5e-7), 0.0).lower == pytest.approx(lower, abs=1e-14)
    assert separation(np.repeat(x, 2, axis=0)) == 0.0
    assert separation(np.vstack([x, x[7] * (1 + 1e-7)])) < 1e-15


def test_threads_change_nothing_and_a_larger_budget_does_not_widen():
    for dim, n in ((4, 300), (9, 60), (20, 60)):
        x = sphere.uniform(dim, n, 0)
        a, b = covering_interval(x, budget=500), covering_interval(x, budget=500, workers=2)
        assert a[:2] == b[:2]
        assert np.array_equal(a.at, b.at)
        assert separation(x) == separation(x, workers=2)
    x = sphere.uniform(5, 1000, 0)
    coarse, fine = covering_interval(x, budget=2000), covering_interval(x, budget=15_000)
    assert fine.upper - fine.lower < coarse.upper - coarse.lower
    assert max(coarse.lower, fine.lower) <= min(coarse.upper, fine.upper)


def test_covering_separation_and_their_ratio_are_those_of_known_sets():
    octahedron = PointSet(cross(3))
    assert octahedron.smallest_distance() == pytest.approx(math.pi / 2, abs=1e-15)
    assert octahedron.mesh_separation_ratio() == pytest.approx(4 * math.acos(3**-0.5) / math.pi, rel=1e-14)
    circle = points.gauss_product(1, 11)
    assert circle.mesh_separation_ratio() == pytest.approx(1.0, rel=1e-13)
    assert PointSet(np.eye(3)[:1]).smallest_distance() == math.inf
    assert PointSet(np.eye(3)[:1]).mesh_separation_ratio() == 1.0
    assert PointSet(np.eye(4)[[0, 0, 1]], covering_radius=2.5).mesh_separation_ratio() == math.inf
    assert not PointSet(np.eye(4)).covering_is_known
    partition = EqualMeasurePartition(3, 500)
    centres = PointSet(partition.centers(), covering_radius=partition.cell_radius())
    interval = centres.covering_interval(0.02)
    assert interval.upper <= 1.02 * interval.lower <= 1.02 * centres.covering_bound()
    assert centres.mesh_separation_ratio() == 2 * partition.cell_radius() / centres.smallest_distance() >= 1.0
    assert pickle.loads(pickle.dumps(centres)).smallest_distance() == centres.smallest_distance()


def test_the_interval_on_the_circle_is_half_the_largest_gap():
    azimuth = np.array([0.0, 0.5, 1.0, 3.0])
    interval = covering_interval(np.column_stack([np.cos(azimuth), np.sin(azimuth)]), rtol=0.5)
    assert interval.lower == pytest.approx(math.pi - 1.5, rel=1e-15)
    assert interval.lower <= interval.upper <= interval.lower + 1e-14
    assert np.arctan2(interval.at[1], interval.at[0]) == pytest.approx(1.5 - math.pi, rel=1e-14)
    for seed in range(20):  # and what is attained, not what rounding makes of the gap
        x = unit(sphere.uniform(1, 9, seed))
        interval = covering_interval(x)
        assert interval.lower <= angles(x, interval.at).min()


def test_progress_is_shown_when_asked(capsys):
    x = sphere.uniform(9, 50, 0)
    covering_interval(x, budget=1000)
    separation(x)
    assert capsys.readouterr().err == ""
    covering_interval(x, budget=1000, progress=True)
    separation(x, progress=True)
    bars = capsys.readouterr().err
    assert all(title in bars for title in ("covering radius", "separation"))
