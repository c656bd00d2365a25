"""Spherical designs: points with equal weights that integrate every polynomial up to a degree exactly."""

from __future__ import annotations

import bisect
import functools
import math
from collections.abc import Iterator

import numpy as np

from .. import _checks, sphere
from .._types import Float64
from . import newton
from .configurations import Configuration, configurations
from .invariants import gegenbauer_values
from .pointset import PointSet
from .starts import STARTS
from .symmetry import Group, groups

MAX_CONDITIONS = 800
"""The most equations that Newton's method is asked to solve."""

MAX_WORK = 4.2e7
"""The most steps of recurrences for one step of Newton's method, for m > 2: half a second."""

MAX_SPHERE_DEGREE = 120
"""The largest degree on S^2: half a minute."""

_FEW = 128
"""Numbers of equations up to this are solved in less than a second; above it only the largest group is tried."""

_PREFERENCE = 1.5
"""A construction is taken if it has at most this many times the points of the design that Newton's method finds."""


def spherical_design(
    dim: int, degree: int, n: int | None = None, rng: np.random.Generator | int | None = 0
) -> PointSet:
    """Return a spherical design: equal weights that integrate every polynomial up to a total degree exactly.

    Parameters
    ----------
    dim : int
        The manifold's dimension m >= 1.
    degree : int
        The total degree t >= 1. At hand are every degree on S^1; degrees to 120 on S^2, 35 on S^3, 15 on S^4, 11 on
        S^5, 9 on S^6, 11 on S^7, 7 on S^8 to S^10, 5 to S^23; degree 7 on S^15 and S^22, 11 on S^23, 5 on
        S^63 and S^255, and on S^(2p-1) for primes p; degree 3 on every sphere.
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
        closed form for polygons, simplices, cross-polytopes, 24-cell, 600-cell and the root systems.

    Raises
    ------
    ValueError
        If `n` is below `design_bound`, or nothing of this degree or number is at hand.
    RuntimeError
        If Newton's method leads to no design from any of its starts, or to one that fails the check.

    Notes
    -----
    By construction: regular polygons; simplex (degree 2), cross-polytope (3); icosahedron (12 points of S^2, degree
    5), 24-cell, roots of F4 and 600-cell (24, 48, 120 of S^3; 5, 7, 11); 27 and 72 points of S^5 (E6; 4, 5), 56 and
    126 of S^6 (E7; 5), 240 of S^7 (E8; 7), 4320 of S^15 (Barnes-Wall; 7), 275 and 891 of S^21 (4, 5), 552 and 4600 of
    S^22 (5, 7), 196560 of S^23 (Leech; 11) [2]_; unbiased bases of R^(4^k) and C^p.

    Numerical ones are orbits of a finite group, whose points move until the invariant harmonics' means vanish
    (docs/theorems/5.9-designs.md): about t^2/2 points on S^2, to degree 12 as few as in [3]_. Their worst mean of a
    Schmidt harmonic is a few times 1e-16: the means of all zonal harmonics about 16 random poles are checked to be
    below 2e-15, and without `n` only solutions are taken that have an exact design near to them for certain (a singular
    Jacobian, which is common below the usual numbers of points, leaves that open). On S^2 degree 20 takes 0.1 s, degree
    50 a second, degree 100 ten seconds, degree 120 half a minute of one core; degree 9 on S^5 and degree 5 on S^17 a
    second, degree 5 on S^23, 7 on S^10 and 15 on S^4 ten seconds, degree 35 on S^3 half a minute. The matrices are
    small: on a busy machine threads of the linear algebra library get in each other's way, which can take ten times
    longer (OPENBLAS_NUM_THREADS=1 helps).

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
        return _polygon(degree + 1 if n is None else n)
    # Step 1: the constructions of this degree
    known = [c for c in configurations(dim) if c.degree >= degree and n in (None, c.n)]
    # Step 2: a numerical design, where it has far fewer points
    found = None if known and n is not None else _numerical(dim, degree, n, known, None if rng == 0 else generator)
    if found is not None:
        return found
    if known:
        return _constructed(dim, known[0])
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


def _polygon(n: int) -> PointSet:
    """Return the regular polygon."""
    _checks.memory(40.0 * n, f"{n} points of S^1", "lower 'degree' or 'n'")
    azimuth = 2.0 * np.pi * (np.arange(n) / n)
    return PointSet(np.column_stack([np.cos(azimuth), np.sin(azimuth)]), None, np.pi / n, degree=n - 1)


def _constructed(dim: int, known: Configuration) -> PointSet:
    """Return a design in closed form."""
    _checks.memory(32.0 * known.n * (dim + 1), f"{known.n} points of S^{dim}", "lower 'degree'")
    x = np.asarray(known.points(), dtype=np.float64)
    norms = np.sqrt(np.einsum("ij,ij->i", x, x))[:, None]
    if (norms != 1.0).any():
        x = x / norms
    return PointSet(x, None, known.covering_radius, degree=known.degree)


def _numerical(
    dim: int, degree: int, n: int | None, known: list[Configuration], generator: np.random.Generator | None
) -> PointSet | None:
    """Return a design by Newton's method, None where a construction is to be preferred or none is within reach."""
    limit = known[0].n / _PREFERENCE if known else math.inf
    tried = 0
    for size, group, orbits, seed in _candidates(dim, degree, n):
        if size >= limit:
            return None
        _checks.memory(40.0 * orbits * size, f"the distances of {size} points", "lower 'degree' or 'n'")
        source = np.random.default_rng(seed) if generator is None else generator
        needed = group.sufficient_degree(degree)
        count = int(group.invariants(needed)[1:].sum())
        x = newton.solve(group, needed, orbits, 8 if count <= 20 else 3, source, proven=n is None)
        if x is not None:
            return _checked(x, _exact_degree(group, needed))
        tried = size
    if tried and not known:
        raise RuntimeError(
            f"Newton's method led to no design of 'degree' = {degree} on S^{dim} with up to {tried} points: "
            "give another 'rng', or a larger 'n'"
        )
    return None


def _candidates(dim: int, degree: int, n: int | None) -> Iterator[tuple[int, Group, int, int]]:
    """Yield numbers of points, groups, numbers of orbits and seeds, from few points to many."""
    if not _is_small(dim, degree):
        return
    if n is None:
        starts = [(len(groups(dim)[g]) * q, g, q, seed) for t, g, q, seed in STARTS.get(dim, ()) if t >= degree]
        for size, g, orbits, seed in sorted(starts)[:1]:
            yield size, groups(dim)[g], orbits, seed
    counts = {group: _conditions(group, degree) for group in groups(dim)}
    few = max(_FEW, min(counts.values()))
    some: list[tuple[int, int, Group, int]] = []
    for group, count in counts.items():
        least = max(1, -(-(count + group.freedom) // dim))  # as many unknowns as equations
        if count > (MAX_CONDITIONS if n is not None else min(few, MAX_CONDITIONS)):
            continue
        if n is None:
            some += [(q * len(group), len(some) + q, group, q) for q in range(least, least + 2 + least // 8)]
        elif n % len(group) == 0 and n // len(group) >= least:
            some.append((n, len(some), group, n // len(group)))
    for size, _, group, orbits in sorted(some, key=lambda entry: entry[:2]):  # of equals the largest group first
        yield size, group, orbits, 0


def _is_small(dim: int, degree: int) -> bool:
    """Tell whether some group may leave few enough equations, by a bound that needs no group."""
    return math.comb(dim + min(degree, 4), dim) <= 2 * MAX_CONDITIONS * (dim + 1)


def _conditions(group: Group, degree: int) -> int:
    """Return the number of equations, or a number above `MAX_CONDITIONS` where they are too much work."""
    dim = group.elements.shape[1] - 1
    degree = group.sufficient_degree(degree)
    if math.comb(degree + dim, dim) > MAX_CONDITIONS * len(group):  # about half of all harmonics
        return MAX_CONDITIONS + 1
    count = int(group.invariants(degree)[1:].sum())
    work = 2.0 * count**2 / dim * len(group) * degree  # of one step; S^2 has its own way to the harmonics
    is_quick = degree <= MAX_SPHERE_DEGREE if dim == 2 else work <= MAX_WORK
    return count if is_quick else MAX_CONDITIONS + 1


def _exact_degree(group: Group, degree: int) -> int:
    """Return the degree to which a design of orbits is exact: the one below the next with an invariant harmonic."""
    further = 2
    while not (more := group.invariants(degree + further)[degree + 1 :]).any():  # high ones would overflow
        further *= 2
    return degree + int(np.argmax(more > 0))


def _checked(x: Float64, degree: int) -> PointSet:
    """Return the record of a design, after a check of its means of zonal harmonics about random poles."""
    poles = sphere.uniform(x.shape[1] - 1, 16, 1)
    worst = np.max([np.abs(values.mean(0)).max() for values in gegenbauer_values(x @ poles.T, x.shape[1] - 1, degree)])
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
    best = max(configurations(dim), key=lambda known: known.degree)
    top = max(best.degree, _largest_degree(dim))
    return (
        f"'degree' must be at most {top} on S^{dim}, got {degree}: no design of more is "
        f"at hand (by construction {best.name}, {best.n} points of degree {best.degree}); gauss_product(dim, degree) "
        "integrates every degree with weights that are not equal"
    )


def _largest_degree(dim: int) -> int:
    """Return the largest degree of Newton's method."""
    if not _is_small(dim, 4):
        return 0
    most = (
        bisect.bisect_right(range(10**4), MAX_CONDITIONS, key=functools.partial(_conditions, group)) - 1
        for group in groups(dim)
    )
    return max(most)
