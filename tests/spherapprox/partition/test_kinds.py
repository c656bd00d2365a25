import itertools
import math

import mpmath
import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox import EqualMeasurePartition, special, sphere
from spherapprox._kernels.partition import zone

KINDS = ("midpoint", "smallest-cap", "centroid")
SMALL = list(itertools.product((1, 2, 3, 4, 5), (3, 4, 7, 40, 200)))
CASES = list(itertools.product((1, 2, 3, 8, 400), (1, 2, 3, 10, 1000, 10**12)))
fixed = settings(derandomize=True, deadline=None, max_examples=60)


def face_points(box, colatitudes=2):
    """Return corner points of the closed cell; points of whole spheres are those of the axes."""
    widest = np.append(np.full(len(box) - 1, np.pi), 2 * np.pi)
    bound = np.flatnonzero((box[:, 0] > 0) | (box[:, 1] < widest))
    depth = bound[-1] + 1 if bound.size else 0  # from this angle on the cell is a whole sphere
    free = len(box) - depth
    azimuths = np.linspace(*box[-1], colatitudes)
    x = np.column_stack([np.cos(azimuths), np.sin(azimuths)])
    if free:
        x = np.vstack([np.eye(free + 1), -np.eye(free + 1)])
    for low, high in box[: min(depth, len(box) - 1)][::-1]:
        angles = np.linspace(low, high, colatitudes)
        x = np.vstack([np.column_stack([np.sin(t) * x, np.full(len(x), np.cos(t))]) for t in angles])
    return x


def nine_cells(partition):
    return sorted(set(np.linspace(0, partition.n - 1, 9).astype(int).tolist()))


def quadrature(box, nodes=16):
    """Return points and weights, of sum 1, of a product Gauss rule on a cell whose angles are all bound or wide."""
    dim = len(box)
    t, w = np.polynomial.legendre.leggauss(nodes)
    grids, weights = [], []
    for level, (low, high) in enumerate(box):
        angle = 0.5 * (low + high) + 0.5 * (high - low) * t
        grids.append(angle)
        weights.append(w * np.sin(angle) ** (dim - 1 - level))
    x = sphere.from_polar(np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1).reshape(-1, dim))
    weight = weights[0]
    for more in weights[1:]:
        weight = np.multiply.outer(weight, more)
    return x, weight.ravel() / weight.sum()


@pytest.mark.parametrize(("dim", "n"), SMALL)
def test_smallest_caps_are_the_smallest(dim, n):
    partition = EqualMeasurePartition(dim, n, "smallest-cap")
    for i in nine_cells(partition):
        center, radius = partition.centers(i, i + 1)[0], partition.radii(i, i + 1)[0]
        if radius < np.pi / 2 - 1e-6:
            # the centre is a combination, with weights w >= 0, of corners at distance R from it. Then for any other
            # centre v sum w <x, v> = <center, v> <= 1 = sum w cos R: some corner is as far from v.
            x = np.unique(face_points(partition.cell(i)), axis=0)
            x = x[np.abs(sphere.distance(x, center) - radius) < 1e-12]
            assert scipy.optimize.linprog(np.zeros(len(x)), A_eq=x.T, b_eq=center).status == 0
        assert sphere.distance(face_points(partition.cell(i), 9), center).max() <= radius + 1e-14


@pytest.mark.parametrize(("dim", "n", "i"), [(2, 3, 1), (3, 3, 1), (4, 3, 1), (3, 5, 2), (4, 5, 2), (4, 7, 3)])
def test_smallest_caps_of_cells_in_no_half_sphere(dim, n, i):
    partition = EqualMeasurePartition(dim, n, "smallest-cap")
    center, radius = partition.centers(i, i + 1)[0], partition.radii(i, i + 1)[0]
    x = np.vstack([face_points(partition.cell(i), 13), partition.sample(i, rng=0, size=2000)])
    assert radius > np.pi / 2
    assert sphere.distance(x, center).max() == pytest.approx(radius, abs=1e-12)
    # caps about other centres would have to be larger, but for the points of the cell that are not among these
    rivals = np.vstack([sphere.uniform(dim, 500, 1), np.eye(dim + 1), -np.eye(dim + 1)])
    assert np.arccos(np.clip((rivals @ x.T).min(axis=1), -1, 1)).min() >= radius - 0.03 * dim


@fixed
@given(st.floats(1e-3, 3.1), st.floats(1e-3, 3.1), st.one_of(st.floats(0, np.pi), st.just(np.pi / 2), st.just(np.pi)))
def test_no_other_colatitude_has_a_smaller_radius(first, second, across):
    lower, upper = min(first, second), max(first, second)
    radius = zone.radius(lower, upper, zone.smallest_cap(lower, upper, across), across)
    center = np.linspace(0, np.pi, 181)[:, None]
    t = np.linspace(lower, upper, 101)
    cosines = np.cos(center) * np.cos(t) + np.sin(center) * np.sin(t) * math.cos(across)
    largest = np.arccos(np.clip(cosines.min(axis=1), -1, 1))
    assert radius <= largest.min() + 1e-7 + 2e-4 * (across > np.pi / 2)
    assert radius >= largest.min() - np.pi / 180


def mean_of(dim, lower, upper, length):
    """Return colatitude and length of the mean vector, by mpmath."""
    with mpmath.workdps(30):
        a, b = mpmath.mpf(lower), mpmath.mpf(upper)
        middle = (a + b) / 2
        cuts = mpmath.linspace(a, b, 7)
        density = lambda t: (mpmath.sin(t) / mpmath.sin(middle)) ** (dim - 1)  # noqa: E731
        forms = ((lambda t: 1), mpmath.sin, mpmath.cos)
        total, sine, cosine = (mpmath.quad(lambda t, f=f: density(t) * f(t), cuts) for f in forms)
        x, y = length * sine / total, cosine / total
        return mpmath.atan2(x, y), mpmath.hypot(x, y)


ZONES = [
    (2, 3e-8, 6e-8, 0.9), (2, 1.0, 1.0 + 3e-8, 1 - 1e-12), (2, 1.23, 1.91, 0.1), (3, 1e-4, 2e-4, 0.999),
    (3, 0.4, 1.4, 0.5), (8, 1.9, 2.5, 0.8), (8, 0.3, 1.0, 0.6), (30, 0.7, 1.3, 0.9), (400, 1.22, 1.43, 0.95),
    (10**4, 1.5, 1.54, 0.9), (10**4, 1.55, 1.62, 0.01), (10**6, 1.5638, 1.5679, 0.7),
]  # fmt: skip


@pytest.mark.parametrize(("dim", "lower", "upper", "length"), ZONES)
def test_centroid_of_a_zone_matches_mpmath(dim, lower, upper, length):
    center, mean = zone.centroid(dim, lower, upper, length)
    angle, size = mean_of(dim, lower, upper, length)
    assert abs(float(angle - center)) <= 1e-15 * float(angle)
    assert abs(float(mean / size - 1)) <= 1e-15
    # mirrored: as far as pi - upper and the zone's width are what they were
    mirrored = zone.centroid(dim, math.pi - upper, math.pi - lower, length)
    assert mirrored[0] == pytest.approx(math.pi - center, abs=1e-15)


@pytest.mark.parametrize(("dim", "angle"), [(2, 1e-8), (2, 1.2), (3, 0.3), (8, 0.9), (400, 1.2), (10**4, 1.5)])
def test_mean_length_of_a_cap_matches_mpmath(dim, angle):
    with mpmath.workdps(30):
        t, half = mpmath.mpf(angle), mpmath.mpf(dim) / 2
        area = mpmath.betainc(half, 0.5, 0, mpmath.sin(t) ** 2) / 2
        expected = mpmath.sin(t) ** dim / dim / area
    assert zone.centroid(dim, 0.0, angle, 0.3) == (0.0, pytest.approx(float(expected), rel=2e-15))
    assert zone.centroid(dim, math.pi - angle, math.pi, 0.3)[0] == math.pi


@pytest.mark.parametrize(("dim", "n"), [(1, 5), (2, 3), (2, 4), (2, 7), (2, 300), (3, 7), (3, 40), (3, 500), (4, 200)])
def test_centroids_are_directions_of_means_and_gain_an_order(dim, n):
    partition = EqualMeasurePartition(dim, n, "centroid")
    e = math.e  # f = exp(x_0) has gradient at most e and second derivatives along geodesics at most 2 e
    for i in nine_cells(partition):
        x, weight = quadrature(partition.cell(i), 16 if dim < 4 else 10)
        mean, center = weight @ x, partition.centers(i, i + 1)[0]
        if np.linalg.norm(mean) > 1e-10:
            assert np.abs(center - mean / np.linalg.norm(mean)).max() < 2e-13
        d = sphere.distance(x, center)
        error = abs(weight @ np.exp(x[:, 0]) - math.exp(center[0]))
        assert error <= e * (weight @ d**2) + e / 6 * (weight @ d**3) + 1e-12


@pytest.mark.parametrize(("dim", "n"), CASES)
def test_the_smallest_cap_has_the_smallest_radius_of_all_kinds(dim, n):
    count = 40 if dim < 10 else 4
    where = [0, n // 3, n // 2, max(0, n - count)]
    radii = {}
    for kind in KINDS:
        partition = EqualMeasurePartition(dim, n, centers=kind)
        rows = [(start, min(n, start + count)) for start in where]
        centers = np.vstack([partition.centers(*row) for row in rows])
        radii[kind] = np.concatenate([partition.radii(*row) for row in rows])
        assert np.abs(np.linalg.norm(centers, axis=1) - 1).max() < 5e-15
        if dim > 1:
            assert centers[0, -1] == 1.0
            assert centers[-1, -1] == (-1.0 if n > 1 else 1.0)
        cells = list(itertools.chain(*(range(*row) for row in rows)))
        for k in range(0, len(cells), 17):
            x = partition.sample(cells[k], rng=k, size=8)
            assert (partition.locate(x) == cells[k]).mean() > 0.9
            assert (sphere.distance(x, centers[k]) <= radii[kind][k] * (1 + 1e-14) + 1e-15).all()
            if dim < 10 and radii[kind][k] < np.pi / 2:
                attained = sphere.distance(face_points(partition.cell(cells[k])), centers[k]).max()
                assert attained == pytest.approx(radii[kind][k], rel=1e-9, abs=2e-15)
    for kind in ("midpoint", "centroid"):
        assert (radii["smallest-cap"] <= radii[kind] * (1 + 1e-14)).all()
        assert n < 1000 or dim in (1, 400) or (radii["smallest-cap"] < radii[kind] * 0.999).any()


def test_kinds_differ_where_they_should_and_agree_where_they_must():
    for dim, n in ((1, 50), (2, 1), (5, 1), (5, 2)):
        alike = [EqualMeasurePartition(dim, n, kind).centers() for kind in KINDS]
        assert np.array_equal(alike[0], alike[1])
        assert np.array_equal(alike[0], alike[2])
    x = sphere.uniform(3, 500, 0)
    rows = [EqualMeasurePartition(3, 700, kind) for kind in KINDS]
    for partition in rows[1:]:
        assert np.array_equal(partition.locate(x), rows[0].locate(x))
        assert np.array_equal(partition.cell(300), rows[0].cell(300))
        assert partition.cell_diameter_bound() == rows[0].cell_diameter_bound()
        assert np.abs(partition.centers() - rows[0].centers()).max() > 1e-3
    # an annulus about the equator has mean 0 and keeps its midpoint; its smallest cap is about a pole
    assert np.array_equal(EqualMeasurePartition(2, 3, "centroid").centers(1, 2), rows[0].__class__(2, 3).centers(1, 2))
    assert EqualMeasurePartition(2, 3, "smallest-cap").centers(1, 2)[0].tolist() == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("dim", "n"), [(2, 70000), (3, 5000), (8, 40000), (9, 4), (25, 20000)])
def test_a_range_of_any_kind_is_the_same_to_the_bit(kind, dim, n):
    partition = EqualMeasurePartition(dim, n, kind)
    centers, radii = partition.centers(), partition.radii()
    for start, stop in ((0, 0), (0, 1), (1, 2), (n // 3, n // 2), (max(n - 77, 0), n)):
        out = np.full((stop - start, dim + 1), np.nan)  # every coordinate is written
        assert np.array_equal(partition.centers(start, stop, workers=2, out=out), centers[start:stop])
        assert np.array_equal(partition.radii(start, stop), radii[start:stop])


def test_centres_of_any_kind_lie_in_their_cells_at_the_largest_counts():
    for dim, n, kind in ((2, 2**53, "smallest-cap"), (2, 2**53, "centroid"), (10**4, 1000, "centroid")):
        partition, cells = EqualMeasurePartition(dim, n, kind), (n // 3, n // 3 + 20)
        centers, radii = partition.centers(*cells), partition.radii(*cells)
        assert np.array_equal(partition.locate(centers), np.arange(*cells))
        assert (radii > 0).all()
        assert (radii <= EqualMeasurePartition(dim, n).radii(*cells) * 1.2).all()


@pytest.mark.parametrize(("dim", "n", "i"), [(1, 7, 3), (2, 50, 20), (2, 50, 49), (3, 3, 1), (4, 90, 31), (12, 30, 14)])
def test_samples_are_uniform_in_their_cell(dim, n, i):
    partition = EqualMeasurePartition(dim, n)
    x = partition.sample(i, rng=2, size=1500)
    assert x.shape == (1500, dim + 1)
    assert (partition.locate(x) == i).all()
    angles, box = sphere.to_polar(x), partition.cell(i)
    for level, (low, high) in enumerate(box):
        m = dim - level
        if m == 1:
            share = (angles[:, level] - low) / (high - low)
        else:
            inner, total = np.exp(special.log_cap_measure(m, low)), np.exp(special.log_cap_measure(m, high))
            share = (np.exp(special.log_cap_measure(m, angles[:, level])) - inner) / (total - inner)
        assert scipy.stats.kstest(share, "uniform").pvalue > 1e-4
    assert np.abs(np.corrcoef(angles, rowvar=False) - np.eye(dim)).max() < 0.1


def test_samples_have_their_shape_and_repeat_with_their_seed():
    partition = EqualMeasurePartition(3, 100)
    point = partition.sample(5, rng=7)
    assert point.shape == (4,)
    assert np.array_equal(point, partition.sample(5, rng=np.random.default_rng(7), size=1)[0])
    assert not np.array_equal(partition.sample(5), partition.sample(5))
    sphere_sample = EqualMeasurePartition(6, 1).sample(0, rng=0, size=2000)
    assert np.abs(sphere_sample.mean(axis=0)).max() < 0.04
    high = EqualMeasurePartition(10**4, 1000)
    assert high.locate(high.sample(77, rng=0, size=3)).tolist() == [77] * 3


@pytest.mark.parametrize(
    ("dim", "n"), [(1, 2), (1, 9), (2, 2), (2, 4), (2, 9), (2, 150), (3, 12), (3, 150), (4, 90), (5, 64)]
)
def test_diameter_bound_is_the_largest_diameter(dim, n):
    partition = EqualMeasurePartition(dim, n)
    largest = 0.0
    for i in range(n):
        x = face_points(partition.cell(i), 2 + 3 * (n < 20))
        largest = max(largest, sphere.distance(x[:, None], x[None]).max())
    assert largest == pytest.approx(partition.cell_diameter_bound(), abs=1e-9)
    assert partition.cell_diameter_bound() <= min(np.pi, 2 * partition.radii().max()) + 1e-14


@fixed
@given(st.floats(1e-3, 3.1), st.floats(1e-3, 3.1), st.floats(0, np.pi))
def test_diameter_of_a_zone_is_attained(first, second, across):
    lower, upper = min(first, second), max(first, second)
    t = np.linspace(lower, upper, 1001)  # the ends of a diameter are at most half a step from two of them
    cosines = np.cos(t)[:, None] * np.cos(t) + np.sin(t)[:, None] * np.sin(t) * math.cos(across)
    largest = math.acos(max(-1.0, min(1.0, cosines.min())))
    assert largest - 1e-7 <= zone.diameter(lower, upper, across) <= largest + 1e-3 * (upper - lower) + 1e-7


def test_diameter_bound_of_huge_partitions_is_at_most_twice_the_radius():
    for dim, n in ((2, 10**8), (8, 10**6), (2, 10**11)):
        partition = EqualMeasurePartition(dim, n)
        x = partition.sample(n // 2, rng=0, size=60)
        largest = sphere.distance(x[:, None], x[None]).max()
        assert largest <= partition.cell_diameter_bound() <= min(np.pi, 2 * partition.cell_radius())
    assert partition.cell_diameter_bound() == 2 * EqualMeasurePartition(2, 10**11, centers="smallest-cap").cell_radius()
    assert EqualMeasurePartition(2, 10**11, centers="centroid").cell_diameter_bound() == partition.cell_diameter_bound()
    assert EqualMeasurePartition(5, 1).cell_diameter_bound() == np.pi
