"""Covers built point by point: polytopes, bands of latitude, pieces of lattices, and the counts promised for them."""

import functools
import itertools
import math

import numpy as np
import orbit_cover
import pytest
from scipy.integrate import dblquad
from scipy.spatial import ConvexHull, cKDTree

from bounds import covering_number
from bounds.covering.lattice import log_cube_volume, log_density
from bounds.covering.polytope import ORBITS, polytopes
from bounds.covering.zonal import counted, log_zonal_sum
from spherapprox import sphere
from spherapprox.special import log_cap_measure, log_surface_area

# ---------------------------------------------------------------------------------------------------- polytopes


def sign_vectors(n, k):
    vectors = np.zeros((0, n))
    for places in itertools.combinations(range(n), k):
        signs = np.array(list(itertools.product((-1.0, 1.0), repeat=k)))
        block = np.zeros((len(signs), n))
        block[:, places] = signs / math.sqrt(k)
        vectors = np.vstack([vectors, block])
    return vectors


def even_permutations(row):
    for order in itertools.permutations(range(4)):
        if round(np.linalg.det(np.eye(4)[list(order)])) == 1:
            yield [row[i] for i in order]


def six_hundred_cell():
    golden = (1 + math.sqrt(5)) / 2
    signs = itertools.product((-1.0, 1.0), repeat=3)
    rows = [r for a, b, c in signs for r in even_permutations((a * golden / 2, b / 2, c / (2 * golden), 0.0))]
    return np.vstack([sign_vectors(4, 1), sign_vectors(4, 4), rows])


def icosahedron():
    golden = (1 + math.sqrt(5)) / 2
    rows = [np.roll((0.0, a, b * golden), shift) for a in (-1, 1) for b in (-1, 1) for shift in range(3)]
    return np.array(rows) / math.hypot(1.0, golden)


@pytest.mark.parametrize(
    ("points", "dim"),
    [(icosahedron(), 2), (sign_vectors(3, 1), 2), (six_hundred_cell(), 3), (sign_vectors(4, 2), 3),
     (sign_vectors(5, 2), 4), (sign_vectors(6, 2), 5)],
)  # fmt: skip
def test_polytopes_have_their_covering_radius(points, dim):
    radius = math.acos(-ConvexHull(points).equations[:, -1].max())  # the farthest point lies over the nearest facet
    assert any(count == len(points) and least == pytest.approx(radius, abs=1e-12) for least, count in polytopes(dim))


def test_roots_of_e8_and_three_signs():
    halves = np.array([s for s in itertools.product((-0.5, 0.5), repeat=8) if sum(x < 0 for x in s) % 2 == 0])
    roots = np.vstack([sign_vectors(8, 2), halves / math.sqrt(2.0)])
    for points, dim in ((roots, 7), (sign_vectors(9, 3), 8)):
        x = sphere.uniform(dim, 1000, rng=1)
        for _ in range(30):  # away from the nearest point
            x -= 0.02 * points[np.argmax(x @ points.T, axis=1)]
            x /= np.linalg.norm(x, axis=1, keepdims=True)
        result = math.acos((x @ points.T).max(axis=1).min())
        least = next(least for least, count in polytopes(dim) if count == len(points))
        assert least - 0.05 < result <= least + 1e-12
        farthest = np.eye(dim + 1)[0] if dim == 7 else np.full(9, 1 / 3)
        assert math.acos((points @ farthest).max()) == pytest.approx(least, abs=1e-12)


# ---------------------------------------------------------------------------------------------------- zonal covers


@functools.cache
def band_cover(dim, radius):
    """Return the smallest cover by two poles and equal bands, built as 4.2 says, all numbers of bands tried."""
    if radius >= math.pi or dim == 1:
        n = max(1, math.ceil(math.pi / radius - 1e-12))
        azimuths = 2 * math.pi * np.arange(n) / n
        return np.stack([np.cos(azimuths), np.sin(azimuths)], axis=1) if dim == 1 else np.eye(dim + 1)[-1:]
    if radius >= math.pi / 2:
        return np.array([1.0, -1.0])[:, None] * np.eye(dim + 1)[-1]
    span, covers = math.pi - 2 * radius, []
    for bands in range(math.floor(span / (2 * radius)) + 1, math.ceil(0.75 * span * math.sqrt(dim) / radius) + 3):
        h, rows = span / (2 * bands), [np.array([1.0, -1.0])[:, None] * np.eye(dim + 1)[-1]]
        for j in range(bands):
            theta = radius + (2 * j + 1) * h
            s = 1.0 if abs(theta - math.pi / 2) <= h else max(math.sin(theta - h), math.sin(theta + h))
            half = (math.sin(radius / 2) ** 2 - math.sin(h / 2) ** 2) / (s * math.sin(theta))
            ring = band_cover(dim - 1, 2 * math.asin(math.sqrt(half)) if half < 1 else math.pi)
            rows.append(np.column_stack([math.sin(theta) * ring, np.full(len(ring), math.cos(theta))]))
        covers.append(np.vstack(rows))
    return min(covers, key=len)


def farthest(points, dim, n=20000):
    x = sphere.uniform(dim, n, rng=0)
    return 2 * math.asin(cKDTree(points).query(x)[0].max() / 2)


@pytest.mark.parametrize(("dim", "radius"), [(2, 1.0), (2, 0.7), (2, 0.2), (2, 0.05), (3, 0.8), (3, 0.45)])
def test_zonal_cover_can_be_built(dim, radius):
    radii, counts = counted(dim)
    records = np.flatnonzero(np.diff(counts, prepend=np.inf) < 0)  # fewer points than at any smaller radius
    i = next(i for i in records if radii[i] >= radius and radii[i] not in [r for r, _ in polytopes(dim)])
    points = band_cover(dim, float(radii[i]))
    assert farthest(points, dim) <= radii[i] + 1e-12
    assert len(points) <= counts[i] <= 1.3 * len(points)
    assert covering_number(float(radii[i]), dim=dim, method="zonal").as_integer() == counts[i]


def widest_sines(theta, half):
    ends = np.maximum(np.sin(theta - half), np.sin(theta + half))
    return np.where(abs(theta - math.pi / 2) <= half + 1e-12, 1.0, ends)


def test_zonal_sum_holds_for_the_cover_of_its_proof():
    for radius in (3.0, 1.5, 0.6, 0.11, 0.013):
        half = 2 * math.asin(math.sqrt(0.5) * math.sin(radius / 2))
        bands = math.ceil(math.pi / (2 * half))
        half = math.pi / (2 * bands)
        theta = half * (2 * np.arange(bands) + 1)
        widest = widest_sines(theta, half)
        ratio = (math.sin(radius / 2) ** 2 - math.sin(half / 2) ** 2) / (widest * np.sin(theta))
        count = np.ceil(math.pi / (2 * np.arcsin(np.sqrt(np.minimum(ratio, 1.0)))) - 1e-12).sum()
        y = 1 / math.sin(radius / 2)
        expected = 1 + math.pi / 4 * math.sqrt(2) * y  # P_2, multiplied out
        expected += math.pi / 2 * math.sqrt(2) * y * (2 / math.pi * (1 + math.pi / 4 * math.sqrt(2) * y) + 1)
        assert math.exp(log_zonal_sum(2, radius)) == pytest.approx(expected, rel=1e-13)
        assert count <= expected
    assert count > 0.9 * expected


def test_zonal_densities_at_small_radii():
    for dim in range(2, 8):  # the product, over the dimensions, of what bands of the best width cost on flat space
        share = math.pi ** (dim / 2) / math.gamma(dim / 2 + 1) / 2**dim  # of a ball in its cube
        density = share * math.prod(math.sqrt(k) * (k / (k - 1)) ** ((k - 1) / 2) for k in range(2, dim + 1))
        bound = covering_number(1e-9, dim=dim, method="zonal").log + log_cap_measure(dim, 1e-9)
        assert math.exp(bound) == pytest.approx(density, rel=1e-6)


# -------------------------------------------------------------------------------------------------- lattice covers


def dual_root_lattice(dim, radius, shift, reach):
    """Return the points of A_dim*, scaled to covering radius `radius` and shifted, within `reach` of the origin."""
    basis = np.linalg.qr(np.column_stack([np.ones(dim + 1), np.eye(dim + 1)[:, :dim]]))[0][:, 1:]  # of the hyperplane
    generators = (np.eye(dim + 1) @ basis)[:dim] * radius / math.sqrt(dim * (dim + 2) / (12 * (dim + 1)))
    shortest = 1 / np.linalg.norm(np.linalg.inv(generators), axis=0)  # lattice coordinates are at most |x| / shortest
    largest = [math.ceil(reach / s) + 1 for s in shortest]
    grid = np.stack(np.meshgrid(*(np.arange(-k, k + 1) for k in largest)), axis=-1).reshape(-1, dim)
    points = (grid + shift) @ generators
    return points[np.linalg.norm(points, axis=1) <= reach]


def cube_cover(dim, radius, rng):
    """Return a cover by 2 (dim+1) images of lattice pieces over cube cells, built as 4.2 says."""
    covers = []
    stretch = 1 + math.sqrt(2) * math.sin(radius)
    for axis, sign in itertools.product(range(dim + 1), (-1.0, 1.0)):
        points = dual_root_lattice(dim, radius, rng.uniform(size=dim), stretch * math.acos(1 / math.sqrt(dim + 1)))
        t = np.linalg.norm(points, axis=1, keepdims=True)
        u = points / np.maximum(t, 1e-300)
        cell = np.arctan(1 / np.abs(u).max(axis=1, keepdims=True))  # where the ray leaves the cube cell
        keep = t[:, 0] <= stretch * cell[:, 0]
        covers.append(np.insert(np.sin(t[keep]) * u[keep], axis, sign * np.cos(t[keep, 0]), axis=1))
    return np.vstack(covers)


@pytest.mark.parametrize(("dim", "radius", "tries"), [(2, 0.3, 40), (2, 0.04, 5), (3, 0.15, 5)])
def test_lattice_cover_can_be_built(dim, radius, tries):
    rng = np.random.default_rng(3)
    covers = [cube_cover(dim, radius, rng) for _ in range(tries)]
    assert max(farthest(points, dim, 5000) for points in covers[:3]) <= radius + 1e-12
    bound = covering_number(radius, dim=dim, method="lattice").value
    cell = math.pi ** (dim / 2) / math.gamma(dim / 2 + 1) * radius**dim / math.exp(log_density(dim))
    cubes = (1 + math.sqrt(2) * math.sin(radius)) ** dim * math.exp(log_cube_volume(dim)) / cell
    assert min(map(len, covers)) <= bound <= cubes * (1 + 1e-12)
    assert np.mean([len(points) for points in covers]) == pytest.approx(cubes, rel=0.05)


def test_the_volume_of_the_cubes_is_bounded_closely():
    def spread(x, y):
        s = math.hypot(x, y)
        return math.atan(s) / s / (1 + s * s)

    exact = 24 * dblquad(spread, 1e-12, 1, 1e-12, 1)[0]
    assert exact <= math.exp(log_cube_volume(2)) <= exact * (1 + 1e-4)
    x = np.random.default_rng(5).normal(size=(200000, 9))
    angle = np.arccos(np.abs(x).max(axis=1) / np.linalg.norm(x, axis=1))
    mean = ((angle / np.sin(angle)) ** 7).mean()
    assert math.exp(log_cube_volume(8) - log_surface_area(8)) == pytest.approx(mean, rel=5e-3)


def test_lattice_densities_are_conway_and_sloanes():
    table = {2: 1.2092, 3: 1.4635, 4: 1.7655, 8: 3.6658, 16: 15.3109, 24: 7.9035, 25: 16.006}
    for dim, density in table.items():  # Conway and Sloane, table 2.1 (A_n* and the Leech lattice)
        assert math.exp(log_density(dim)) == pytest.approx(density, abs=6e-5 if dim < 25 else 6e-4)
        bound = covering_number(1e-60, dim=dim, method="lattice").log + log_cap_measure(dim, 1e-60)
        assert math.exp(bound) == pytest.approx(density, rel=1e-4)
    points = dual_root_lattice(4, 1.0, np.full(4, 0.3), 3.2)
    x = np.random.default_rng(0).uniform(-1, 1, size=(20000, 4))
    assert 0.95 < cKDTree(points).query(x)[0].max() <= 1.0 + 1e-12


@pytest.mark.parametrize(("dim", "radius"), [(2, 0.3), (2, 1e-3), (8, 0.02), (24, 1e-4), (40, 1e-9)])
def test_lattice_optimum_is_close_to_a_scan(dim, radius):
    delta = np.geomspace(2 * radius, math.pi / 2, 4001)
    scan = dim * np.log1p(math.sin(radius) / np.sin(delta / 2)) + (dim - 1) * np.log(delta / np.sin(delta))
    log_ball = dim / 2 * math.log(math.pi) - math.lgamma(dim / 2 + 1)
    expected = log_density(dim) + log_surface_area(dim) - log_ball - dim * math.log(radius) + scan.min()
    assert covering_number(radius, dim=dim, method="lattice").log <= expected + 1e-3


# ----------------------------------------------------------------------------------------------- orbits of reflections


def farthest_from_orbits(centers, n, steps):
    """Return the distance of the farthest of points that move away from the nearest centre, kept in the chamber."""
    x, roots = np.abs(sphere.uniform(8, n, rng=2)), orbit_cover.simple_roots()
    for step in 0.3 * 0.9 ** np.arange(steps):
        x -= step * centers[np.argmax(x @ centers.T, axis=1)]
        while (x[:, :8] @ roots.T < -1e-12).any():
            i = np.argmin(x[:, :8] @ roots.T, axis=1)
            x[:, :8] -= np.minimum(np.einsum("ij,ij->i", x[:, :8], roots[i]), 0.0)[:, None] * roots[i]
        x[:, 8] = np.abs(x[:, 8])
        x /= np.linalg.norm(x, axis=1, keepdims=True)
    return np.arccos((x @ centers.T).max(axis=1)).max()


def test_the_cover_by_orbits_has_its_points_and_no_hole_is_seen():
    # the proof is tests/reference/orbit_cover.py, which takes minutes
    raw, count = orbit_cover.read_centers()
    assert count == ORBITS[1] == covering_number(0.1, dim=8).as_integer()
    centers, roots = raw / np.linalg.norm(raw, axis=1, keepdims=True), orbit_cover.simple_roots()
    assert 0.9 * ORBITS[0] < farthest_from_orbits(centers, 400, 60) <= ORBITS[0]
    orders = [orbit_cover.group_order(set(range(n)), roots) for n in (4, 5, 6, 7, 8)]  # A4, D5, E6, E7, E8
    assert orders == [120, 1920, 51840, 2903040, 2**14 * 3**5 * 5**2 * 7]


def test_radii_of_few_orbits_are_proved_and_a_missing_cone_is_seen(monkeypatch):
    raw, _ = orbit_cover.read_centers()
    centers = raw[:40] / np.linalg.norm(raw[:40], axis=1, keepdims=True)
    radius, cones = orbit_cover.prove_radius(centers)
    assert 0.98 * radius < farthest_from_orbits(centers, 2000, 80) <= radius
    propose = orbit_cover.propose_cones
    for keep in (slice(1, cones), np.r_[0, 0, np.arange(2, cones)]):
        monkeypatch.setattr(orbit_cover, "propose_cones", lambda *given, keep=keep: [a[keep] for a in propose(*given)])
        with pytest.raises(SystemExit, match="ridges"):
            orbit_cover.prove_radius(centers)
