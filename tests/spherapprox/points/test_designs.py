from __future__ import annotations

import importlib.util
import itertools
import math
import re
import sys
import tracemalloc
import types
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from scipy.spatial import ConvexHull

from spherapprox import harmonics, points, sphere
from spherapprox.points import configurations, designs, invariants, newton, symmetry


def monomial_mean(powers):
    """Return the mean of a monomial over the sphere: a ratio of products of odd numbers."""
    if any(p % 2 for p in powers):
        return 0.0
    over = math.prod(math.prod(range(1, int(p), 2)) for p in powers)
    return over / math.prod(len(powers) + 2 * i for i in range(int(sum(powers)) // 2))


def worst_monomial(x, degree):
    """Return the largest error of the mean of a monomial of this total degree."""
    worst = 0.0
    for chosen in itertools.combinations_with_replacement(range(x.shape[1]), degree):
        powers = np.bincount(chosen, minlength=x.shape[1])
        worst = max(worst, abs(math.fsum(np.prod(x[:, list(chosen)], axis=1)) / len(x) - monomial_mean(powers)))
    return worst


def pair_sums(cosines, counts, dim, degree):
    """Return sum_c counts[c] G_k(c) for k = 1, ..., degree in the arithmetic of the cosines."""
    before, now, sums = [c * 0 + 1 for c in cosines], list(cosines), []
    for k in range(1, degree + 1):
        sums.append(sum(int(n) * g for n, g in zip(counts, now, strict=True)))
        following = [
            ((2 * k + dim - 1) * c * g - k * b) / (k + dim - 1) for c, g, b in zip(cosines, now, before, strict=True)
        ]
        before, now = now, following
    return sums


def cosine_counts(x, cosines, rows=None):
    """Return how often each cosine is met in the Gram matrix, all of whose elements must be one of them."""
    gram = (x if rows is None else x[rows]) @ x.T
    values = np.array([float(c) for c in cosines])
    counts = []
    for value in values:
        near = np.abs(gram - value) < 1e-13
        counts.append(int(near.sum()))
    assert sum(counts) == gram.size
    return counts


def sphere_cosines(*fractions):
    return [Fraction(1), *map(Fraction, fractions)]


@pytest.mark.parametrize(
    ("dim", "n", "degree", "cosines"),
    [
        (5, 27, 4, sphere_cosines("1/4", "-1/2")),
        (5, 72, 5, sphere_cosines("1/2", 0, "-1/2", -1)),
        (6, 56, 5, sphere_cosines("1/3", "-1/3", -1)),
        (6, 126, 5, sphere_cosines("1/2", 0, "-1/2", -1)),
        (7, 240, 7, sphere_cosines("1/2", 0, "-1/2", -1)),
        (15, 288, 5, sphere_cosines("1/4", 0, "-1/4", -1)),
        (21, 275, 4, sphere_cosines("1/6", "-1/4")),
        (21, 891, 5, sphere_cosines("1/4", "-1/8", "-1/2")),
        (22, 552, 5, sphere_cosines("1/5", "-1/5", -1)),
        (3, 24, 5, sphere_cosines("1/2", 0, "-1/2", -1)),
    ],
)
def test_constructions_are_designs_in_exact_arithmetic(dim, n, degree, cosines):
    design = points.spherical_design(dim, degree, n=n)
    assert (len(design), design.dim, design.degree) == (n, dim, degree)
    counts = cosine_counts(design.points, cosines)
    assert counts[0] == n  # no point twice
    sums = pair_sums(cosines, counts, dim, degree + 1)
    assert sums[:-1] == [0] * degree  # Delsarte, Goethals, Seidel: sums over all pairs vanish
    assert sums[-1] > 0


@pytest.mark.parametrize(("dim", "n", "degree"), [(2, 12, 5), (3, 48, 7), (3, 120, 11)])
def test_polytopes_are_designs_to_forty_digits(dim, n, degree):
    design = points.spherical_design(dim, degree, n=n)
    with mpmath.workdps(40):
        root5, root2 = mpmath.sqrt(5), mpmath.sqrt(2)
        if dim == 2:
            cosines = [1 / root5]
        else:
            cosines = {48: [mpmath.mpf(1) / 2, 1 / root2], 120: [mpmath.mpf(1) / 2, (root5 + 1) / 4, (root5 - 1) / 4]}[
                n
            ]
        cosines = [mpmath.mpf(1), mpmath.mpf(-1), *cosines, *(-c for c in cosines)] + [mpmath.mpf(0)] * (dim == 3)
        sums = pair_sums(cosines, cosine_counts(design.points, cosines), dim, degree + 1)
        assert max(abs(s) for s in sums[:-1]) < 1e-33
        assert sums[-1] > 1


@pytest.mark.parametrize(
    ("shell", "norm", "products", "degree", "rows"),
    [
        (lambda: configurations.reed_muller_shell(4), 8, (8, 4, 2, 0, -2, -4, -8), 7, (0, 1000, 3839, 3840, 4000)),
        (configurations.leech_shell, 32, (32, 16, 8, 0, -8, -16, -32), 11, (0, 97151, 97152, 150000, 196000)),
    ],
)
def test_shells_of_lattices_are_designs_in_integers(shell, norm, products, degree, rows):
    # every kind of row, up to automorphisms; the zonal sums about each point vanish
    x = np.asarray(shell())
    assert len(x) == {7: 4320, 11: 196560}[degree]
    assert (np.einsum("ij,ij->i", x, x, dtype=np.int64) == norm).all()
    for row in rows:
        found, counts = np.unique(x @ x[row].astype(np.float32), return_counts=True)
        assert set(found.astype(int)) == set(products)
        sums = pair_sums([Fraction(int(f), norm) for f in found], counts, x.shape[1] - 1, degree + 1)
        assert sums[:-1] == [0] * degree
        assert sums[-1] != 0
    assert len(np.unique(x @ (3.0 ** np.arange(x.shape[1])))) == len(x)  # no point twice


def test_kissing_configuration_of_the_leech_kissing_configuration():
    design = points.spherical_design(22, 7)
    assert (len(design), design.degree) == (4600, 7)
    cosines = sphere_cosines("1/3", 0, "-1/3", -1)
    for row in (0, 1500, 4000):
        counts = cosine_counts(design.points, cosines, [row])
        assert counts[0] == 1
        assert pair_sums(cosines, counts, 22, 7) == [0] * 7


@pytest.mark.parametrize(("dim", "degree", "n"), [(9, 4, 150), (9, 5, 180), (5, 5, 72), (13, 4, 280)])
def test_unbiased_bases_integrate_monomials(dim, degree, n):
    p = (dim + 1) // 2
    x = configurations.unbiased_bases(p, degree + 1)
    assert x.shape == (n, dim + 1)
    for k in range(1, min(degree, 4) + 1):
        assert worst_monomial(x, k) < 3e-16
    powers = np.random.default_rng(0).integers(0, dim + 1, (300, degree))
    for chosen in powers:
        expected = monomial_mean(np.bincount(chosen, minlength=dim + 1))
        assert abs(np.prod(x[:, chosen], axis=1).mean() - expected) < 3e-16
    if n == 150:
        design = points.spherical_design(dim, degree, n=n)
        assert np.abs(design.points - x).max() < 1e-15


def test_kerdock_bases_are_unbiased():
    x = configurations.kerdock_bases(6)
    assert x.shape == (64 * 66, 64)
    half = x[: len(x) // 2].astype(np.float32)
    gram = (half @ half.T).reshape(33, 64, 33, 64)
    for a, b in itertools.product(range(33), repeat=2):
        if a == b:
            assert np.array_equal(gram[a, :, b], 64 * np.eye(64))
    off = gram[~np.eye(33, dtype=bool)[:, None, :, None] & np.ones_like(gram, dtype=bool)]
    assert (np.abs(off) == 8).all()


@pytest.mark.parametrize("dim", [2, 3, 4, 7, 30])
def test_simplex_and_cross_polytope(dim):
    simplex = points.spherical_design(dim, 2)
    assert len(simplex) == dim + 2
    gram = simplex.points @ simplex.points.T
    assert np.abs(gram + 1 / (dim + 1) - (dim + 2) / (dim + 1) * np.eye(dim + 2)).max() < 1e-15
    assert np.isclose(simplex.covering_bound(), np.pi - np.arccos(-1 / (dim + 1)), rtol=1e-14)
    cross = points.spherical_design(dim, 3)
    assert len(cross) == 2 * dim + 2
    assert worst_monomial(cross.points, 2) < 2e-16
    corner = np.full(dim + 1, (dim + 1) ** -0.5)
    assert sphere.distance(cross.points, corner).min() == pytest.approx(cross.covering_bound(), rel=1e-14)
    assert len(points.spherical_design(dim, 1)) == 2


@pytest.mark.parametrize(("degree", "n"), [(1, None), (6, None), (6, 9), (100, None)])
def test_designs_on_the_circle_are_polygons(degree, n):
    polygon = points.spherical_design(1, degree, n)
    assert len(polygon) == (n or degree + 1)
    assert polygon.degree == len(polygon) - 1
    z = polygon.points @ [1, 1j]
    for k in range(1, len(polygon)):
        assert abs((z**k).mean()) < 1e-14
    assert polygon.covering_bound() == pytest.approx(np.pi / len(polygon), rel=1e-14)


def hull_radius(x):
    """Return the covering radius from the facets of the convex hull."""
    return float(np.arccos(-ConvexHull(x).equations[:, -1].max()))


@pytest.mark.parametrize(
    ("dim", "degree", "n"),
    [(2, 2, 4), (3, 2, 5), (4, 3, 10), (3, 5, 24), (3, 7, 48), (3, 11, 120), (5, 4, 27), (5, 5, 72)],
)
def test_covering_radii_in_closed_form_agree_with_the_convex_hull(dim, degree, n):
    design = points.spherical_design(dim, degree, n)
    assert design.covering_bound() == pytest.approx(hull_radius(design.points), abs=1e-13)


def cartan(name):
    """Return the Cartan matrix of E6, E7 or E8 in Bourbaki's order."""
    rank = int(name[1:])
    matrix = 2 * np.eye(rank)
    for i, j in [(0, 2), (1, 3), *((k, k + 1) for k in range(2, rank - 1))]:
        matrix[i, j] = matrix[j, i] = -1
    return matrix


@pytest.mark.parametrize(
    ("name", "weight", "n"), [("E6", 0, 27), ("E6", 1, 72), ("E7", 6, 56), ("E7", 0, 126), ("E8", 7, 240)]
)
def test_covering_radii_of_root_systems_agree_with_the_chamber(name, weight, n):
    # docs/theorems/5.9-designs.md: the farthest points are fundamental weights
    gram = np.linalg.inv(cartan(name))
    cosines = gram[weight] / np.sqrt(np.diag(gram) * gram[weight, weight])
    known = next(c for c in configurations.configurations(len(gram) - 1) if c.n == n)
    assert math.cos(known.covering_radius) == pytest.approx(cosines.min(), abs=1e-14)


@pytest.mark.parametrize(("dim", "degree", "n"), [(6, 5, 56), (6, 5, 126), (7, 7, 240)])
def test_covering_radius_holds_and_is_attained(dim, degree, n):
    design = points.spherical_design(dim, degree, n)
    lattice = design.points @ design.points.T
    y = sphere.uniform(dim, 3000, 0)
    nearest = sphere.distance(y[:, None], design.points).min(1)
    assert nearest.max() < design.covering_bound() + 1e-12
    # the centre of a largest empty cap: sums of few points that are near to one another
    best = 0.0
    for clique in itertools.combinations(np.flatnonzero(lattice[0] > 0.2)[:14], 2):
        for sign in (1.0, -1.0):
            centre = design.points[clique[0]] + sign * design.points[clique[1]]
            if np.linalg.norm(centre) > 1e-6:
                best = max(best, sphere.distance(design.points, centre / np.linalg.norm(centre)).min())
    assert best <= design.covering_bound() + 1e-12


# designs by Newton's method


@pytest.mark.parametrize(
    ("dim", "degree", "n"),
    [(2, 7, 24), (2, 8, 36), (2, 9, 48), (2, 10, 60), (2, 11, 70), (4, 4, 29), (4, 7, 110)],
)
def test_numerical_designs_integrate_monomials(dim, degree, n):
    design = points.spherical_design(dim, degree)
    assert (len(design), design.degree) == (n, degree)
    assert np.ptp(design.weights) == 0.0
    assert np.abs(np.square(design.points).sum(1) - 1).max() < 1e-15  # roundings of dim + 1 squares
    for k in range(1, min(degree, 8) + 1):
        assert worst_monomial(design.points, k) < 1e-15
    if degree <= 8:
        assert worst_monomial(design.points, degree + 1) > 1e-5
    gram = design.points @ design.points.T - 2 * np.eye(n)
    assert gram.max() < 1 - 0.2 / n ** (2 / dim)  # no two points near to each other


@pytest.mark.parametrize("degree", [11, 20])
def test_numerical_designs_integrate_spherical_harmonics(degree):
    design = points.spherical_design(2, degree)
    means = harmonics.real_spherical_harmonics(degree + 1, design.points, normalization="schmidt").mean(0)
    assert np.abs(means[1 : (degree + 1) ** 2]).max() < 5e-16
    assert np.abs(means[(degree + 1) ** 2 :]).max() > 1e-5
    assert len(design) <= 0.5 * degree**2 + degree + 10


def test_numerical_design_to_thirty_digits():
    # the exact means of the rounded points, by the sum over all pairs, which squares the errors
    x = points.spherical_design(2, 8).points
    with mpmath.workdps(40):
        rows = [[mpmath.mpf(float(c)) for c in row] for row in x]
        rows = [[c / mpmath.sqrt(sum(b * b for b in row)) for c in row] for row in rows]
        cosines = [sum(a * b for a, b in zip(p, q, strict=True)) for p, q in itertools.combinations(rows, 2)]
        counts = [2] * len(cosines)
        sums = pair_sums([*cosines, mpmath.mpf(1)], [*counts, len(x)], 2, 9)
        rms = [float(mpmath.sqrt(max(s, 0))) / len(x) for s in sums]
    assert max(rms[:8]) < 1e-15
    assert rms[8] > 0.01


@pytest.mark.parametrize(
    ("dim", "degree", "n"), [(2, 5, 100), (2, 4, 14), (2, 7, 31 * 12), (3, 7, 80), (2, 2, 9), (5, 3, 20)]
)
def test_any_feasible_number_of_points(dim, degree, n):
    design = points.spherical_design(dim, degree, n, rng=1)
    assert len(design) == n
    assert design.degree >= degree
    for k in range(1, degree + 1):
        assert worst_monomial(design.points, k) < 1e-15


@pytest.mark.parametrize("dim", [9, 18, 23])
def test_odd_degrees_cost_what_the_even_ones_below_do(dim):
    # orbits that contain antipodes integrate odd polynomials anyway
    top = designs._largest_degree(dim)
    assert top % 2 == 1
    promised = [next(designs._candidates(dim, degree, None))[0] for degree in (top - 1, top)]
    assert promised[0] == promised[1] < 2000
    assert not list(designs._candidates(dim, top + 1, None))


def test_odd_degree_at_the_limit_is_found(monkeypatch):
    monkeypatch.setattr(designs, "MAX_CONDITIONS", 60)  # degree 4 takes 54 equations
    design = points.spherical_design(8, 5, n=162)
    assert (len(design), design.degree) == (162, 5)
    for k in (1, 2, 3, 4):
        assert worst_monomial(design.points, k) < 1e-15
    with pytest.raises(ValueError, match=r"'degree' must be at most 5 on S\^8"):
        points.spherical_design(8, 6)


def test_exact_degree_of_large_groups_without_overflow():
    # Molien's series of S^23 passes 2^63 long before its degree 98
    assert designs._exact_degree(symmetry.groups(23)[0], 4) == 5
    assert designs._exact_degree(symmetry.groups(2)[0], 12) == 14  # the icosahedron's invariants: 6, 10, 12, 15
    assert designs._exact_degree(symmetry.groups(3)[0], 0) == 11


def test_points_that_coincide_are_no_design(monkeypatch):
    axis = np.eye(3)[2:]
    icosahedral = symmetry.groups(2)[0]
    images = icosahedral.orbits(axis).round(9) + 0.0
    assert len(np.unique(images, axis=0)) == 30  # an edge's midpoint: every point twice
    monkeypatch.setattr(newton.sphere, "uniform", lambda *_: axis.copy())
    unrelaxed = types.SimpleNamespace(integers=lambda _: 0)
    assert newton.solve(icosahedral, 5, 1, 2, unrelaxed) is None


@pytest.mark.parametrize("dim", [2, 3, 5, 7])
def test_elements_up_to_sign_are_one_of_each_pair(dim):
    for group in symmetry.groups(dim):
        has_antipodes = (np.abs(group.elements + np.eye(dim + 1)).max((1, 2)) < 1e-12).any()
        half = group.up_to_sign
        assert len(half) == len(group) // (2 if has_antipodes else 1)
        both = np.concatenate([half, -half]) if has_antipodes else half
        keys = {tuple(row) for row in both.reshape(len(group), -1).round(6) + 0.0}
        assert keys == {tuple(row) for row in group.elements.reshape(len(group), -1).round(6) + 0.0}
        assert group.sufficient_degree(5) == (4 if has_antipodes else 5)
        assert group.sufficient_degree(4) == 4


def test_cross_polytope_is_written_once():
    tracemalloc.start()
    try:
        x = configurations._cross(500)
        assert tracemalloc.get_traced_memory()[1] < 1.1 * x.nbytes
    finally:
        tracemalloc.stop()


def test_import_makes_no_configuration(monkeypatch):
    def refuse(*_):
        raise AssertionError("made at import")

    monkeypatch.setattr(symmetry, "parities", refuse)
    spec = importlib.util.spec_from_file_location("spherapprox.points._fresh", configurations.__file__)
    fresh = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, fresh)
    spec.loader.exec_module(fresh)
    assert fresh.configurations(5)[-1].n == 72


def test_starts_are_reproducible_and_seeded():
    first = points.spherical_design(2, 8).points
    assert np.array_equal(first, points.spherical_design(2, 8, rng=0).points)
    one, other = (points.spherical_design(2, 6, 60, rng=seed).points for seed in (4, 5))
    assert not np.array_equal(one, other)
    generator = np.random.default_rng(5)
    assert np.array_equal(points.spherical_design(2, 6, 60, rng=generator).points, other)


def test_constructions_are_preferred_unless_they_are_much_larger():
    assert len(points.spherical_design(3, 9)) == 120  # numerical ones of 100 points would do
    assert len(points.spherical_design(5, 5)) == 72
    assert len(points.spherical_design(9, 4)) == 150  # 110
    assert len(points.spherical_design(7, 5)) == 112
    assert len(points.spherical_design(7, 7)) == 240


def test_degree_is_the_largest_known():
    design = points.spherical_design(2, 6)
    assert design.degree == 7
    assert worst_monomial(design.points, 7) < 1e-15
    assert points.spherical_design(3, 10, 240).degree == 11  # two copies of the 600-cell


def test_starts_lead_to_designs_of_their_size():
    for dim, starts in designs.STARTS.items():
        for degree, index, orbits, _ in starts:
            group = symmetry.groups(dim)[index]
            assert orbits * len(group) >= points.design_bound(dim, degree)
            assert dim * orbits >= group.invariants(degree)[1:].sum() + group.freedom
    for dim, position in ((2, 8), (4, 2), (8, 1)):
        degree, index, orbits, seed = designs.STARTS[dim][position]
        found = newton.solve(symmetry.groups(dim)[index], degree, orbits, 1, np.random.default_rng(seed))
        assert found is not None
        assert len(found) == orbits * len(symmetry.groups(dim)[index])


# what is said to be at hand


def promised(dim, degree):
    """Return the number of points that Newton's method is asked for first; None where a construction is preferred."""
    known = [c.n for c in configurations.configurations(dim) if c.degree >= degree]
    size = next((size for size, *_ in designs._candidates(dim, degree, None)), math.inf)
    return size if size < min(known, default=math.inf) / designs._PREFERENCE else None


def table_of_designs():
    """Return {(dim, degree): (points, bound)} as docs/theorems/5.9-designs.md has it, S^2, then the others."""
    page = (Path(__file__).parents[3] / "docs" / "theorems" / "5.9-designs.md").read_text(encoding="utf-8")
    rows = [
        [int(cell) for cell in re.search(rf"^\| {name} \|(.*)\|$", page, re.M)[1].split("|")]
        for name in (r"\$t\$", "points", "bound")
    ]
    first = {(2, degree): pair for degree, *pair in zip(*rows, strict=True)}
    others = {
        (int(dim), int(degree)): [int(size), int(bound)]
        for dim, cells in re.findall(r"^\| \$S\^\{(\d+)\}\$ \| (\d+: .*) \|$", page, re.M)
        for degree, size, bound in re.findall(r"(\d+): (\d+) \((\d+)\)", cells)
    }
    return first, others


def test_table_of_designs_has_all_sizes():
    first, others = table_of_designs()
    assert len(first) == 14
    for (dim, degree), (size, bound) in (first | others).items():
        assert (size, bound) == (promised(dim, degree), points.design_bound(dim, degree))
    for dim in range(3, 26):
        sizes = [promised(dim, degree) for degree in range(1, designs._largest_degree(dim) + 2)]
        ends = [k + 1 for k in range(len(sizes) - 1) if sizes[k] not in (None, sizes[k + 1])]  # the last of each size
        assert ends == [degree for m, degree in others if m == dim]


@pytest.mark.parametrize(("dim", "degree", "n"), [(12, 5, 338), (14, 4, 480)])
def test_designs_of_the_table_in_many_dimensions(dim, degree, n):
    design = points.spherical_design(dim, degree)
    assert (len(design), design.degree) == (n, 5)
    assert worst_monomial(design.points, 2) < 1e-15
    for chosen in np.random.default_rng(0).integers(0, dim + 1, (300, 4)):
        expected = monomial_mean(np.bincount(chosen, minlength=dim + 1))
        assert abs(np.prod(design.points[:, chosen], axis=1).mean() - expected) < 1e-15


def test_largest_degrees_are_those_of_the_docstring():
    said = " ".join(points.spherical_design.__doc__.split())
    said = said[said.index("degrees to 120") : said.index("degree 3 on every sphere")]
    ranges, constructions = said.split("; ", 1)
    top, last = {}, 1
    for degree, end in re.findall(r"(\d+) (?:on S\^\d+ )?(?:to|on) S\^(\d+)", ranges.replace("degrees to ", "")):
        top |= dict.fromkeys(range(last + 1, int(end) + 1), int(degree))
        last = int(end)
    assert last == 23
    primes = [p for p in range(3, 30) if all(p % k for k in range(2, p))]
    top = dict.fromkeys(range(2, 58), 3) | {2 * p - 1: 5 for p in primes} | top
    for degree, list_of_dims in re.findall(r"(\d+) on ((?:S\^\d+(?: and )?)+)", constructions):
        top |= {int(dim): int(degree) for dim in re.findall(r"\d+", list_of_dims)}
    assert (top[15], top[22], top[23], top[63], top[255]) == (7, 7, 11, 5, 5)
    for dim, degree in top.items():
        known = max(known.degree for known in configurations.configurations(dim))
        assert max(known, designs._largest_degree(dim)) == degree, dim


# the lower bound


def polynomial_rank(dim, degrees):
    """Return the dimension of the polynomials of given degrees on the sphere."""
    x = sphere.uniform(dim, 400, 0)
    columns = [
        np.prod(x[:, list(chosen)], axis=1)
        for degree in degrees
        for chosen in itertools.combinations_with_replacement(range(dim + 1), degree)
    ]
    return np.linalg.matrix_rank(np.array(columns))


@pytest.mark.parametrize(("dim", "half"), [(1, 3), (2, 0), (2, 3), (3, 2), (5, 2)])
def test_design_bound_counts_polynomials(dim, half):
    assert points.design_bound(dim, 2 * half) == polynomial_rank(dim, range(half + 1))
    assert points.design_bound(dim, 2 * half + 1) == 2 * polynomial_rank(dim, [half])


def test_tight_designs_attain_the_bound():
    for dim, degree, n in [(2, 5, 12), (5, 4, 27), (6, 5, 56), (7, 7, 240), (21, 4, 275), (22, 5, 552), (22, 7, 4600)]:
        assert points.design_bound(dim, degree) == n
    assert points.design_bound(23, 11) == 196560
    assert points.design_bound(1, 10**9) == 10**9 + 1
    assert points.design_bound(10**6, 3) == 2 * (10**6 + 1)


# groups and their invariants


@pytest.mark.parametrize("dim", [2, 3, 4, 5, 7])
def test_groups_are_closed_and_orthogonal(dim):
    for group in symmetry.groups(dim):
        elements = group.elements
        assert np.array_equal(elements[0], np.eye(dim + 1))
        assert np.abs(elements @ elements.transpose(0, 2, 1) - np.eye(dim + 1)).max() < 5e-16
        some = elements[:: max(1, len(group) // 7)]
        products = np.einsum("aij,bjk->abik", some, elements).reshape(-1, (dim + 1) ** 2)
        keys = {tuple(row) for row in elements.reshape(len(group), -1).round(6) + 0.0}
        assert len(keys) == len(group)
        assert {tuple(row) for row in products.round(6) + 0.0} == keys


def test_orders_of_groups():
    assert [len(g) for g in symmetry.groups(2)] == [60, 24, 12, 6, 3, 2, 1]
    assert [len(g) for g in symmetry.groups(3)] == [120, 48, 24, 8, 8, 4, 2, 1]
    assert [len(g) for g in symmetry.groups(7)] == [128, 16, 8, 2, 1]


@pytest.mark.parametrize(("dim", "degree"), [(2, 12), (3, 6), (4, 4), (7, 4)])
def test_molien_series_counts_invariants(dim, degree):
    for group in symmetry.groups(dim):
        counts = group.invariants(degree)
        poles = group.orbits(sphere.uniform(dim, 60, 0)).reshape(60, len(group), -1)
        t = np.einsum("ni,kgi->nkg", poles[:, 0], poles)
        for k, values in enumerate(invariants.gegenbauer_values(t, dim, degree), start=1):
            rank = np.linalg.matrix_rank(values.mean(2), tol=1e-10, hermitian=True)
            assert rank == min(60, counts[k])


@pytest.mark.parametrize(("dim", "index", "degree"), [(2, 2, 9), (2, 0, 12), (2, 6, 4), (3, 3, 6), (4, 0, 4)])
def test_invariants_are_orthonormal_and_their_slopes_are_right(dim, index, degree):
    group = symmetry.groups(dim)[index]
    functions = invariants.invariants(group, degree)
    rule = points.gauss_product(dim, 2 * degree)
    values = functions(rule.points)[0]
    assert len(values) == group.invariants(degree)[1:].sum()
    assert np.abs(values * rule.weights @ values.T - np.eye(len(values))).max() < 1e-12
    x = np.vstack([sphere.uniform(dim, 6, 3), np.eye(dim + 1), -np.eye(dim + 1)])
    values, slopes, tangents = functions(x)
    assert np.abs(np.einsum("qui,qi->qu", tangents, x)).max() < 1e-15
    assert np.abs(tangents @ tangents.transpose(0, 2, 1) - np.eye(dim)).max() < 1e-15
    moved = np.einsum("gij,nj->gni", group.elements, x)[-1]
    assert np.abs(functions(moved)[0] - values).max() < 1e-11
    h = 1e-5
    for u in range(dim):
        ahead, behind = (np.cos(h) * x + s * np.sin(h) * tangents[:, u] for s in (1.0, -1.0))
        difference = (functions(ahead)[0] - functions(behind)[0]) / (2 * h)
        assert np.abs(difference - slopes[..., u]).max() < 1e-6 * max(1.0, np.abs(slopes).max())


def test_both_ways_to_invariants_agree():
    group, x = symmetry.groups(2)[1], sphere.uniform(2, 40, 0)
    one = invariants.SphereInvariants(group, 14)(x)[0]
    other = invariants.ZonalInvariants(group, 14)(x)[0]
    assert np.abs(one.T @ one - other.T @ other).max() < 1e-11


def test_freedom_is_the_dimension_of_the_commuting_rotations():
    for dim in (2, 3, 4):
        for group in symmetry.groups(dim):
            size = dim + 1
            generators = []
            for i, j in itertools.combinations(range(size), 2):
                skew = np.zeros((size, size))
                skew[i, j], skew[j, i] = 1.0, -1.0
                generators.append((group.elements @ skew - skew @ group.elements).ravel())
            assert group.freedom == len(generators) - np.linalg.matrix_rank(np.array(generators))


# what is refused


def test_no_solution_is_no_design():
    icosahedral = symmetry.groups(2)[0]
    assert newton.solve(icosahedral, 12, 1, 2, np.random.default_rng(0)) is None  # three equations, two unknowns
    x = points.spherical_design(2, 8).points
    with pytest.raises(RuntimeError, match=r"no design of degree 9: a mean is .*'rng'"):
        designs._checked(x, 9)
    with pytest.raises(RuntimeError, match=r"no design of degree 8: a mean is .*'rng'"):
        designs._checked(sphere.from_polar(sphere.to_polar(x) * (1 + 1e-12)), 8)


def test_certificate_rejects_a_singular_jacobian():
    group = symmetry.groups(2)[2]
    functions = invariants.invariants(group, 8)
    x = points.spherical_design(2, 8).points[:: len(group)]
    values, slopes, _ = functions(x)
    flat = slopes.reshape(len(values), -1) / len(x)
    assert newton._is_certified(group, 8, flat)
    flat[-1] = flat[0]
    assert not newton._is_certified(group, 8, flat)
