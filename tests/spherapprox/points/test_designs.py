import itertools
import math
import re
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from pointsets import monomial_mean
from processes import peak_memory
from scipy.spatial import ConvexHull

from spherapprox import harmonics, points, sphere
from spherapprox.points import configurations, designs, newton, symmetry


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
        triples = zip(cosines, now, before, strict=True)
        before, now = now, [((2 * k + dim - 1) * c * g - k * b) / (k + dim - 1) for c, g, b in triples]
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


def test_cross_polytope_is_written_once():
    x, peak = peak_memory(lambda: configurations._cross(500))
    assert peak < 1.1 * x.nbytes


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
