"""Spherical designs: points with equal weights that integrate every polynomial up to a degree exactly."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from .. import _checks, sphere
from .._types import Float64, Seed
from . import newton
from .configurations import Configuration, configurations
from .pointset import PointSet
from .symmetry import Group, groups

MAX_CONDITIONS = 800  # the most equations that Newton's method is asked to solve
MAX_DEGREE = 120  # the largest degree of a numerical design: half a minute
_FEW = 128  # numbers of equations up to this are solved in less than a second; above it only the largest group is tried
_PREFERENCE = 1.5
"""A construction is taken if it has at most this many times the points of the design that Newton's method finds."""

STARTS: tuple[tuple[int, int, int, int], ...] = (
    (7, 1, 1, 0), (8, 2, 3, 0), (9, 5, 24, 0), (10, 2, 5, 1), (11, 5, 35, 0), (12, 2, 7, 1), (13, 5, 47, 0),
    (14, 2, 9, 3), (15, 3, 20, 0), (16, 2, 12, 4), (17, 3, 26, 8), (18, 2, 15, 6), (19, 3, 32, 2), (20, 2, 18, 3),
    (21, 3, 39, 0), (22, 2, 22, 6), (23, 3, 47, 0), (24, 2, 26, 0), (25, 3, 55, 4), (26, 2, 30, 0), (27, 3, 64, 4),
    (28, 2, 35, 0), (29, 2, 37, 2), (30, 2, 40, 1), (31, 1, 21, 0), (32, 2, 45, 0), (33, 2, 48, 2), (34, 2, 52, 0),
    (35, 2, 54, 0), (36, 2, 58, 0), (37, 1, 30, 0), (38, 2, 63, 4), (39, 1, 34, 0), (40, 1, 35, 2), (41, 1, 37, 1),
    (43, 1, 40, 4), (44, 1, 42, 0), (45, 1, 45, 0), (46, 1, 47, 0), (47, 1, 48, 0), (48, 1, 51, 2), (49, 1, 52, 7),
    (50, 1, 54, 4), (51, 1, 56, 2), (52, 1, 59, 1), (53, 0, 24, 8), (54, 1, 63, 6), (56, 0, 28, 2), (57, 0, 29, 5),
    (59, 0, 30, 6), (60, 0, 32, 0), (61, 0, 33, 0), (62, 0, 34, 4), (63, 0, 35, 0), (64, 0, 36, 1), (65, 0, 37, 2),
    (66, 0, 38, 3), (67, 0, 39, 4), (69, 0, 41, 1), (70, 0, 43, 3), (71, 0, 44, 5), (72, 0, 46, 0), (73, 0, 47, 2),
    (74, 0, 48, 0), (75, 0, 50, 3), (77, 0, 52, 2),
)  # fmt: skip
"""Starts of Newton's method that lead to designs of S^2: degree, index of the group, number of orbits, seed.

Each leads to its design from starts that are moved by 1e-9, too, so that rounding does not matter.
"""


def spherical_design(dim: int, degree: int, n: int | None = None, rng: Seed = 0) -> PointSet:
    """Return a spherical design: equal weights that integrate every polynomial up to a total degree exactly.

    Parameters
    ----------
    dim : int
        The manifold's dimension m >= 1.
    degree : int
        The total degree t >= 1. At hand are every degree on S^1, degrees to 120 on S^2, 11 on S^3, 7 on S^7, and 3 on
        every sphere.
    n : int, optional
        The number of points. None takes the fewest that are at hand, but a construction in closed form rather than a
        numerical design of more than two thirds of its points.
    rng : int, numpy.random.Generator or None
        Source of the numerical designs' starts, an int being a seed. The default 0 repeats starts that are known to
        lead to the designs of fewest points found.

    Returns
    -------
    PointSet
        Its `degree` is the degree that it is exact to, which may exceed the one asked for; `covering_radius` is in
        closed form for polygons, simplices, cross-polytopes, 24-cell, 600-cell, F4 and E8.

    Raises
    ------
    ValueError
        If `n` is below `design_bound`, or nothing of this degree or number is at hand.
    RuntimeError
        If Newton's method leads to no design from any of its starts, or to one that fails the check.

    Notes
    -----
    By construction: regular polygons; simplex (degree 2), cross-polytope (3); icosahedron (12 points of S^2, degree
    5); 24-cell, roots of F4 and 600-cell (24, 48, 120 of S^3; 5, 7, 11); 240 roots of E8 (S^7; 7) [2]_.

    Those of S^2 beyond are numerical: orbits of a finite group, whose points move until the invariant harmonics' means
    vanish (docs/theorems/5.9-designs.md): about t^2/2 points, to degree 12 as few as in [3]_. Their worst mean of a
    Schmidt harmonic is a few times 1e-16: the means of all zonal harmonics about 16 random poles are checked to be
    below 2e-15, and without `n` only solutions are taken that have an exact design near to them for certain (a singular
    Jacobian, which is common below the usual numbers of points, leaves that open). Degree 20 takes 0.1 s, degree 50 a
    second, degree 100 ten seconds, degree 120 half a minute of one core. The matrices are small: on a busy machine
    threads of the linear algebra library get in each other's way, which can take ten times longer
    (OPENBLAS_NUM_THREADS=1 helps).

    References
    ----------
    .. [1] P. Delsarte, J. M. Goethals, J. J. Seidel, "Spherical codes and designs", Geometriae Dedicata 6 (1977),
       363-388.
    .. [2] J. H. Conway, N. J. A. Sloane, "Sphere Packings, Lattices and Groups", Springer, chapters 4 and 14.
    .. [3] R. H. Hardin, N. J. A. Sloane, "McLaren's improved snub cube and other new spherical designs in three
       dimensions", Discrete and Computational Geometry 15 (1996), 429-441.

    Examples
    --------
    >>> from spherapprox import points
    >>> points.spherical_design(7, 6)  # the roots of E8
    PointSet(n=240, dim=7)
    >>> design = points.spherical_design(2, 7)  # McLaren's improved snub cube
    >>> len(design), round(float((design.points[:, 2] ** 6).mean() - 1 / 7), 12)
    (24, 0.0)
    """
    dim = _checks.dimension(dim, maximum=sphere.MAX_POINTS)
    degree = _checks.integer(degree, "degree", minimum=1, maximum=sphere.MAX_POINTS)
    if n is not None:
        why = f"no design of degree {degree} on S^{dim} has fewer points (Delsarte, Goethals and Seidel)"
        limit = "make fewer points"
        n = _checks.integer(n, "n", minimum=design_bound(dim, degree), maximum=sphere.MAX_POINTS, why=why, limit=limit)
    generator = _checks.generator(rng)
    if dim == 1:
        n = degree + 1 if n is None else n
        _checks.memory(40.0 * n, f"{n} points of S^1", "lower 'degree' or 'n'")
        azimuth = 2.0 * np.pi * (np.arange(n) / n)
        return PointSet(np.column_stack([np.cos(azimuth), np.sin(azimuth)]), None, np.pi / n, degree=n - 1)
    # Step 1: the constructions of this degree
    closed_forms = [c for c in configurations(dim) if c.degree >= degree and n in (None, c.n)]
    # Step 2: a numerical design, where it has far fewer points
    if dim == 2 and not (closed_forms and n is not None):
        design = _search(degree, n, closed_forms, generator=None if rng == 0 else generator)
        if design is not None:
            return design
    if closed_forms:
        form = closed_forms[0]
        _checks.memory(32.0 * form.n * (dim + 1), f"{form.n} points of S^{dim}", "lower 'degree'")
        x = np.asarray(form.points(), dtype=np.float64)
        norms = np.sqrt(np.einsum("ij,ij->i", x, x))[:, None]
        return PointSet(x / norms if (norms != 1.0).any() else x, None, form.covering_radius, degree=form.degree)
    raise ValueError(_alternatives(dim, degree, n))


def design_bound(dim: int, degree: int) -> int:
    """Return the lower bound of Delsarte, Goethals and Seidel for the number of points of a spherical design.

    Parameters
    ----------
    dim : int
        The manifold's dimension m >= 1.
    degree : int
        The degree t >= 0.

    Returns
    -------
    int
        C(m+e, m) + C(m+e-1, m) for t = 2e, 2 C(m+e, m) for t = 2e + 1 [1]_ (docs/theorems/5.9-designs.md). All but
        few designs need more points.

    Raises
    ------
    TypeError, ValueError
        If an argument is no integer of its range, or both are so large that the result would be of no use.

    References
    ----------
    .. [1] P. Delsarte, J. M. Goethals, J. J. Seidel, "Spherical codes and designs", Geometriae Dedicata 6 (1977),
       363-388.

    Examples
    --------
    >>> from spherapprox import points
    >>> points.design_bound(7, 7), points.design_bound(23, 11)  # the roots of E8, the Leech lattice
    (240, 196560)
    """
    dim = _checks.dimension(dim, maximum=sphere.MAX_POINTS)
    degree = _checks.integer(degree, "degree", minimum=0, maximum=sphere.MAX_POINTS)
    if min(dim, degree // 2) > 10**4:
        raise ValueError(f"'degree' must be at most 20001 for 'dim' above 10000, got {degree} and {dim}")
    half = degree // 2
    if degree % 2:
        return 2 * math.comb(dim + half, dim)
    return math.comb(dim + half, dim) + (math.comb(dim + half - 1, dim) if half else 0)


def _search(
    degree: int, n: int | None, closed_forms: list[Configuration], generator: np.random.Generator | None
) -> PointSet | None:
    """Return a design of S^2 by Newton's method, None where a construction is preferred or none is within reach."""
    limit = closed_forms[0].n / _PREFERENCE if closed_forms else math.inf
    largest = 0
    for size, group, orbits, seed in _candidates(degree, n):
        if size >= limit:
            return None
        _checks.memory(40.0 * orbits * size, f"the distances of {size} points", "lower 'degree' or 'n'")
        source = np.random.default_rng(seed) if generator is None else generator
        exact = group.sufficient_degree(degree)
        count = int(group.invariants(exact)[1:].sum())
        x = newton.solve(group, exact, orbits, attempts=8 if count <= 20 else 3, rng=source, certified=n is None)
        if x is not None:
            return _check_design(x, _exact_degree(group, exact))
        largest = size
    if largest and not closed_forms:
        raise RuntimeError(
            f"Newton's method led to no design of 'degree' = {degree} on S^2 with up to {largest} points: "
            "give another 'rng', or a larger 'n'"
        )
    return None


def _candidates(degree: int, n: int | None) -> Iterator[tuple[int, Group, int, int]]:
    """Yield numbers of points, groups, numbers of orbits and seeds, from few points to many."""
    if n is None:
        starts = [(len(groups()[g]) * q, g, q, seed) for t, g, q, seed in STARTS if t >= degree]
        for size, g, orbits, seed in sorted(starts)[:1]:
            yield size, groups()[g], orbits, seed
    counts = {}  # of equations, above `MAX_CONDITIONS` where they are too much work
    for group in groups():
        exact = group.sufficient_degree(degree)  # comb(exact + 2, 2) is about half the number of all harmonics
        affordable = exact <= MAX_DEGREE and math.comb(exact + 2, 2) <= MAX_CONDITIONS * len(group)
        counts[group] = int(group.invariants(exact)[1:].sum()) if affordable else MAX_CONDITIONS + 1
    limit = max(_FEW, min(counts.values()))
    shapes: list[tuple[int, int, Group, int]] = []
    for group, count in counts.items():
        least = max(1, -(-(count + group.freedom) // 2))  # as many unknowns as equations
        if count > (MAX_CONDITIONS if n is not None else min(limit, MAX_CONDITIONS)):
            continue
        if n is None:
            shapes += [(q * len(group), len(shapes) + q, group, q) for q in range(least, least + 2 + least // 8)]
        elif n % len(group) == 0 and n // len(group) >= least:
            shapes.append((n, len(shapes), group, n // len(group)))
    for size, _, group, orbits in sorted(shapes, key=lambda shape: shape[:2]):  # of equals the largest group first
        yield size, group, orbits, 0


def _exact_degree(group: Group, degree: int) -> int:
    """Return the degree to which a design of orbits is exact: the one below the next with an invariant harmonic."""
    further = 2
    while not (invariants := group.invariants(degree + further)[degree + 1 :]).any():  # high ones would overflow
        further *= 2
    return degree + int(np.argmax(invariants > 0))


def _check_design(x: Float64, degree: int) -> PointSet:
    """Return the record of a design of S^2, after a check of its means of Legendre polynomials about random poles."""
    cosines = x @ sphere.uniform(2, 16, 1).T
    before, value, worst = np.ones_like(cosines), cosines, 0.0
    for k in range(1, degree + 1):
        worst = max(worst, float(np.abs(value.mean(0)).max()))
        before, value = value, ((2 * k + 1) * cosines * value - k * before) / (k + 1)
    if not worst < 2e-15:
        raise RuntimeError(
            f"the points found are no design of degree {degree}: a mean is {worst:.1e}; give another 'rng'"
        )
    return PointSet(x, degree=degree)


def _alternatives(dim: int, degree: int, n: int | None) -> str:
    """Word the complaint that no such design is at hand, with the designs that are."""
    if n is not None:
        return (
            f"'n' = {n}: no design of degree {degree} on S^{dim} with this number of points is at hand: "
            "leave 'n' out for the fewest points that are"
        )
    best = max(configurations(dim), key=lambda form: form.degree)
    top = MAX_DEGREE if dim == 2 else best.degree
    return (
        f"'degree' must be at most {top} on S^{dim}, got {degree}: no design of more is "
        f"at hand (by construction {best.name}, {best.n} points of degree {best.degree}); gauss_product(dim, degree) "
        "integrates every degree with weights that are not equal"
    )
