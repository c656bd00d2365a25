import itertools
import math
import re
import tracemalloc
import types
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.special import eval_legendre

from spherapprox import harmonics, points, sphere
from spherapprox.points import configurations, designs, newton, symmetry


def monomial_mean(powers):
    """Return the mean of a monomial over the sphere: a ratio of products of odd numbers."""
    if any(p % 2 for p in powers):
        return 0.0
    over = math.prod(math.prod(range(1, int(p), 2)) for p in powers)
    return over / math.prod(len(powers) + 2 * i for i in range(int(sum(powers)) // 2))


def worst_monomial(x, degree):
    """Return the largest error of the mean of a monomial of this total degree."""
    worst = 0.0
    for columns in itertools.combinations_with_replacement(range(x.shape[1]), degree):
        powers = np.bincount(columns, minlength=x.shape[1])
        worst = max(worst, abs(math.fsum(np.prod(x[:, list(columns)], axis=1)) / len(x) - monomial_mean(powers)))
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


def cosine_counts(x, cosines):
    """Return how often each cosine is met in the Gram matrix, all of whose elements must be one of them."""
    gram = x @ x.T
    counts = [int((np.abs(gram - float(cosine)) < 1e-13).sum()) for cosine in cosines]
    assert sum(counts) == gram.size
    return counts


@pytest.mark.parametrize(("dim", "n", "degree"), [(7, 240, 7), (3, 24, 5)])
def test_constructions_are_designs_in_exact_arithmetic(dim, n, degree):
    design, cosines = points.spherical_design(dim, degree, n=n), [Fraction(k, 2) for k in (2, 1, 0, -1, -2)]
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
        root5, root2, half = mpmath.sqrt(5), mpmath.sqrt(2), mpmath.mpf(1) / 2
        cosines = {12: [1 / root5], 48: [half, 1 / root2], 120: [half, (root5 + 1) / 4, (root5 - 1) / 4]}[n]
        cosines = [mpmath.mpf(1), mpmath.mpf(-1), *cosines, *(-c for c in cosines)] + [mpmath.mpf(0)] * (dim == 3)
        sums = pair_sums(cosines, cosine_counts(design.points, cosines), dim, degree + 1)
        assert max(abs(s) for s in sums[:-1]) < 1e-33
        assert sums[-1] > 1


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


@pytest.mark.parametrize(
    ("dim", "degree", "n"), [(2, 2, 4), (3, 2, 5), (4, 3, 10), (3, 5, 24), (3, 7, 48), (3, 11, 120)]
)
def test_covering_radii_in_closed_form_agree_with_the_convex_hull(dim, degree, n):
    design = points.spherical_design(dim, degree, n)
    truth = float(np.arccos(-ConvexHull(design.points).equations[:, -1].max()))
    assert design.covering_bound() == pytest.approx(truth, abs=1e-13)


def test_the_covering_radius_of_e8_agrees_with_the_chamber():
    # docs/theorems/5.9-designs.md: the farthest points are fundamental weights, here by Bourbaki's Cartan matrix
    matrix = 2 * np.eye(8)
    for i, j in [(0, 2), (1, 3), *((k, k + 1) for k in range(2, 7))]:
        matrix[i, j] = matrix[j, i] = -1
    gram = np.linalg.inv(matrix)
    cosines = gram[7] / np.sqrt(np.diag(gram) * gram[7, 7])
    assert math.cos(points.spherical_design(7, 7).covering_bound()) == pytest.approx(cosines.min(), abs=1e-14)


# designs by Newton's method


@pytest.mark.parametrize(("degree", "n"), [(7, 24), (8, 36), (9, 48), (10, 60), (11, 70), (20, 216)])
def test_numerical_designs_integrate_spherical_harmonics(degree, n):
    design = points.spherical_design(2, degree)
    assert (len(design), design.degree) == (n, degree)
    assert np.ptp(design.weights) == 0.0
    assert np.abs(np.square(design.points).sum(1) - 1).max() < 1e-15  # roundings of dim + 1 squares
    assert (design.points @ design.points.T - 2 * np.eye(n)).max() < 1 - 0.2 / n  # no two points near to each other
    means = harmonics.real_spherical_harmonics(degree + 1, design.points, normalization="schmidt").mean(0)
    assert np.abs(means[1 : (degree + 1) ** 2]).max() < 5e-16
    assert np.abs(means[(degree + 1) ** 2 :]).max() > 1e-5


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


@pytest.mark.parametrize(("degree", "n"), [(5, 100), (4, 14), (7, 31 * 12), (2, 9)])
def test_any_feasible_number_of_points(degree, n):
    design = points.spherical_design(2, degree, n, rng=1)
    assert len(design) == n
    assert design.degree >= degree
    for k in range(1, degree + 1):
        assert worst_monomial(design.points, k) < 1e-15


def test_exact_degree_of_groups():
    assert designs._exact_degree(symmetry.groups()[0], 12) == 14  # the icosahedron's invariants: 6, 10, 12, 15


def test_points_that_coincide_are_no_design(monkeypatch):
    axis = np.eye(3)[2:]
    icosahedral = symmetry.groups()[0]
    images = icosahedral.orbits(axis).round(9) + 0.0
    assert len(np.unique(images, axis=0)) == 30  # an edge's midpoint: every point twice
    monkeypatch.setattr(newton.sphere, "uniform", lambda *_: axis.copy())
    unrelaxed = types.SimpleNamespace(integers=lambda _: 0)
    assert newton.solve(icosahedral, 5, 1, attempts=2, rng=unrelaxed) is None


def test_odd_harmonics_have_mean_0_on_orbits_with_antipodes():
    for group in symmetry.groups():
        has_antipodes = (np.abs(group.elements + np.eye(3)).max((1, 2)) < 1e-12).any()
        assert group.sufficient_degree(5) == (4 if has_antipodes else 5)
        assert group.sufficient_degree(4) == 4


def test_cross_polytope_is_written_once():
    tracemalloc.start()
    try:
        x = configurations._cross(500)
        assert tracemalloc.get_traced_memory()[1] < 1.1 * x.nbytes
    finally:
        tracemalloc.stop()


def test_starts_are_reproducible_and_seeded():
    first = points.spherical_design(2, 8).points
    assert np.array_equal(first, points.spherical_design(2, 8, rng=0).points)
    fourth, fifth = (points.spherical_design(2, 6, 60, rng=seed).points for seed in (4, 5))
    assert not np.array_equal(fourth, fifth)
    generator = np.random.default_rng(5)
    assert np.array_equal(points.spherical_design(2, 6, 60, rng=generator).points, fifth)


def test_constructions_are_preferred_unless_they_are_much_larger_and_degrees_are_the_largest():
    assert [len(points.spherical_design(2, degree)) for degree in (3, 5, 6)] == [6, 12, 24]
    assert len(points.spherical_design(3, 9)) == 120
    assert len(points.spherical_design(7, 5)) == 240
    design = points.spherical_design(2, 6)
    assert design.degree == 7
    assert worst_monomial(design.points, 7) < 1e-15


def test_starts_lead_to_designs_of_their_size():
    for degree, index, orbits, _ in designs.STARTS:
        group = symmetry.groups()[index]
        assert orbits * len(group) >= points.design_bound(2, degree)
        assert 2 * orbits >= group.invariants(degree)[1:].sum() + group.freedom
    degree, index, orbits, seed = designs.STARTS[8]
    design = newton.solve(symmetry.groups()[index], degree, orbits, attempts=1, rng=np.random.default_rng(seed))
    assert len(design) == orbits * len(symmetry.groups()[index])


# what is said to be at hand


def promised(degree):
    """Return the number of points that Newton's method is asked for first; None where a construction is preferred."""
    sizes = [c.n for c in configurations.configurations(2) if c.degree >= degree]
    size = next((size for size, *_ in designs._candidates(degree, None)), math.inf)
    return size if size < min(sizes, default=math.inf) / designs._PREFERENCE else None


def test_table_of_designs_has_all_sizes():
    page = (Path(__file__).parents[3] / "docs" / "theorems" / "5.9-designs.md").read_text(encoding="utf-8")
    rows = [
        [int(cell) for cell in re.search(rf"^\| {name} \|(.*)\|$", page, re.M)[1].split("|")]
        for name in (r"\$t\$", "points", "bound")
    ]
    assert len(rows[0]) == 14
    for degree, size, bound in zip(*rows, strict=True):
        assert (size, bound) == (promised(degree), points.design_bound(2, degree))


def test_largest_degrees_are_those_of_the_docstring():
    doc = " ".join(points.spherical_design.__doc__.split())
    assert "degrees to 120 on S^2, 11 on S^3, 7 on S^7, and 3 on every sphere" in doc
    assert designs.MAX_DEGREE == 120
    assert list(designs._candidates(120, None))
    assert not list(designs._candidates(121, None))
    best = {dim: max(c.degree for c in configurations.configurations(dim)) for dim in range(3, 30)}
    assert best == dict.fromkeys(range(3, 30), 3) | {3: 11, 7: 7}


# the lower bound


def polynomial_rank(dim, degrees):
    """Return the dimension of the polynomials of given degrees on the sphere."""
    x = sphere.uniform(dim, 400, 0)
    powers = (itertools.combinations_with_replacement(range(dim + 1), degree) for degree in degrees)
    rows = [np.prod(x[:, list(columns)], axis=1) for columns in itertools.chain(*powers)]
    return np.linalg.matrix_rank(np.array(rows))


@pytest.mark.parametrize(("dim", "half"), [(1, 3), (2, 0), (2, 3), (3, 2), (5, 2)])
def test_design_bound_counts_polynomials(dim, half):
    assert points.design_bound(dim, 2 * half) == polynomial_rank(dim, range(half + 1))
    assert points.design_bound(dim, 2 * half + 1) == 2 * polynomial_rank(dim, [half])


def test_tight_designs_attain_the_bound():
    for dim, degree, n in [(2, 5, 12), (7, 7, 240), (9, 2, 11), (9, 3, 20)]:
        assert len(points.spherical_design(dim, degree)) == points.design_bound(dim, degree) == n
    assert points.design_bound(23, 11) == 196560
    assert points.design_bound(1, 10**9) == 10**9 + 1
    assert points.design_bound(10**6, 3) == 2 * (10**6 + 1)


# groups and their invariants


def test_groups_are_closed_and_orthogonal():
    assert [len(g) for g in symmetry.groups()] == [60, 24, 12, 6, 3, 2, 1]
    for group in symmetry.groups():
        elements = group.elements
        assert np.array_equal(elements[0], np.eye(3))
        assert np.abs(elements @ elements.transpose(0, 2, 1) - np.eye(3)).max() < 5e-16
        products = np.einsum("aij,bjk->abik", elements[:: max(1, len(group) // 7)], elements).reshape(-1, 9)
        keys = {tuple(row) for row in elements.reshape(len(group), -1).round(6) + 0.0}
        assert len(keys) == len(group)
        assert {tuple(row) for row in products.round(6) + 0.0} == keys


def test_molien_series_counts_invariants():
    for group in symmetry.groups():
        counts = group.invariants(12)
        poles = group.orbits(sphere.uniform(2, 60, 0)).reshape(60, len(group), -1)
        t = np.einsum("ni,kgi->nkg", poles[:, 0], poles)
        for k in range(1, 13):
            rank = np.linalg.matrix_rank(eval_legendre(k, t).mean(2), tol=1e-10, hermitian=True)
            assert rank == min(60, counts[k])


@pytest.mark.parametrize(("index", "degree"), [(2, 9), (0, 12), (6, 4)])
def test_invariants_are_orthonormal_and_their_slopes_are_right(index, degree):
    group = symmetry.groups()[index]
    functions = newton.Invariants(group, degree)
    rule = points.gauss_product(2, 2 * degree)
    values = functions(rule.points)[0]
    assert len(values) == group.invariants(degree)[1:].sum()
    assert np.abs(values * rule.weights @ values.T - np.eye(len(values))).max() < 1e-12
    x = np.vstack([sphere.uniform(2, 6, 3), np.eye(3), -np.eye(3)])
    values, slopes, tangents = functions(x)
    assert np.abs(np.einsum("qui,qi->qu", tangents, x)).max() < 1e-15
    assert np.abs(tangents @ tangents.transpose(0, 2, 1) - np.eye(2)).max() < 1e-15
    moved = np.einsum("gij,nj->gni", group.elements, x)[-1]
    assert np.abs(functions(moved)[0] - values).max() < 1e-11
    h = 1e-5
    for u in range(2):
        ahead, behind = (np.cos(h) * x + s * np.sin(h) * tangents[:, u] for s in (1.0, -1.0))
        difference = (functions(ahead)[0] - functions(behind)[0]) / (2 * h)
        assert np.abs(difference - slopes[..., u]).max() < 1e-6 * max(1.0, np.abs(slopes).max())


def test_freedom_is_the_dimension_of_the_commuting_rotations():
    for group in symmetry.groups():
        generators = []
        for i, j in itertools.combinations(range(3), 2):
            skew = np.zeros((3, 3))
            skew[i, j], skew[j, i] = 1.0, -1.0
            generators.append((group.elements @ skew - skew @ group.elements).ravel())
        assert group.freedom == len(generators) - np.linalg.matrix_rank(np.array(generators))


# what is refused


def test_no_solution_is_no_design():
    icosahedral = symmetry.groups()[0]
    assert (
        newton.solve(icosahedral, 12, 1, attempts=2, rng=np.random.default_rng(0)) is None
    )  # three equations, two unknowns
    x = points.spherical_design(2, 8).points
    with pytest.raises(RuntimeError, match=r"no design of degree 9: a mean is .*'rng'"):
        designs._check_design(x, 9)
    with pytest.raises(RuntimeError, match=r"no design of degree 8: a mean is .*'rng'"):
        designs._check_design(sphere.from_polar(sphere.to_polar(x) * (1 + 1e-12)), 8)


def test_certificate_rejects_a_singular_jacobian():
    group = symmetry.groups()[2]
    functions = newton.Invariants(group, 8)
    x = points.spherical_design(2, 8).points[:: len(group)]
    values, slopes, _ = functions(x)
    flat = slopes.reshape(len(values), -1) / len(x)
    assert newton._is_certified(group, 8, flat)
    flat[-1] = flat[0]
    assert not newton._is_certified(group, 8, flat)
