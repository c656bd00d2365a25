"""Covering numbers of S^m: sufficient and necessary numbers of caps of an angular radius."""

from __future__ import annotations

import math
from dataclasses import replace

from numpy.typing import ArrayLike

from spherapprox import _checks

from ..records.bound import Bound, Side, over_arrays, settle
from ..records.problem import LARGEST_DIM
from . import facets, formulas, lattice, polytope, slab, zonal
from ._method import HALF_PI
from .formulas import log_rogers_constant as log_rogers_constant

__all__ = ["covering_number", "covering_radius"]

_REFERENCE = "docs/theorems/4.2-covering-numbers.md"

SMALLEST_RADIUS = 1e-60
"""Angular radii below this are refused: they belong to no number that means anything here."""
MOST_POINTS = 1e300

TABLE = {
    method.name: method
    for method in (
        formulas.LOWER, formulas.FEJES_TOTH, facets.METHOD, formulas.SIMPLEX, formulas.CIRCLE, polytope.METHOD,
        zonal.METHOD, lattice.METHOD, slab.METHOD, formulas.VOLUME, formulas.RANDOM, formulas.GREEDY, formulas.ROGERS,
        formulas.BOROCZKY_WINTSCHE,
    )
}  # fmt: skip
"""Name -> method, in the order in which they are tried."""

SUFFICIENT = ("best", *(name for name, method in TABLE.items() if method.side == "upper"))
"""Covering bounds that a prefix length may rest on."""
NECESSARY = ("best-lower", *(name for name, method in TABLE.items() if method.side == "lower"))
METHODS = (*SUFFICIENT, *NECESSARY)


def _joining(dim: int, side: Side) -> tuple[str, ...]:
    """Return the methods whose best is the best of all."""
    return tuple(name for name, method in TABLE.items() if method.side == side and method.joins(dim))


def covering_bound(radius: float, dim: int, method: str) -> Bound:
    """Return the covering bound of a method; its hypotheses may fail, see `covering_number`."""
    method = _checks.choice(method, "method", METHODS)
    dim, radius = _checks.dimension(dim, maximum=LARGEST_DIM), _checks.real(radius, "radius", above=0.0)
    side: Side = "lower" if method in NECESSARY else "upper"
    if radius >= HALF_PI:  # 4.2: one point covers from radius pi on, two antipodes from pi/2 on, and both are needed
        log = 0.0 if radius >= math.pi else math.log(2.0)
        return Bound("covering number", log, side, theorem=method, reference=_REFERENCE, radius=radius, whole=True)
    if method in ("best", "best-lower"):
        candidates = [covering_bound(radius, dim, m) for m in _joining(dim, side)]
        best_of = min if side == "upper" else max
        return best_of((b for b in candidates if b.holds), key=lambda b: b.log)
    formula = TABLE[method]
    conditions = formula.needs(dim) + formula.needs_radius(dim, radius)
    log, is_whole = math.inf if side == "upper" else 0.0, formula.whole
    if all(h.holds for h in conditions):
        log, is_whole = formula.value(dim, radius)
    return Bound(
        "covering number", log, side, theorem=method, reference=_REFERENCE, hypotheses=conditions, radius=radius,
        whole=is_whole,
    )  # fmt: skip


def covering_number(radius: ArrayLike, *, dim: ArrayLike, method: str = "best") -> Bound:
    """Bound the least number of caps of angular radius `radius` that cover S^m.

    Parameters
    ----------
    radius : float or array_like
        Angular radius in radians, from 1e-60 to pi.
    dim : int or array_like
        The manifold's dimension m >= 1 (points live in R^(m+1)).
    method : str
        Sufficient numbers: ``"best"``, the smallest of ``"circle"`` (dim 1, exact), ``"polytope"`` (vertices of regular
        polytopes and the like), ``"zonal"`` (bands of latitude, dim 2 to 64), ``"lattice"`` (pieces of lattice
        coverings, dim 2 to 64, radius <= pi/4), ``"slab"`` (lattice points near a sphere, dim 2 to 64, whole below
        1e9), ``"volume"`` 1/sigma(C(radius/2)), ``"random"`` (random caps, then fill), ``"greedy"`` (Lovasz-Stein over
        a net), ``"rogers"`` (dim >= 2, sin(radius) <= 1/(dim+1)) and ``"boroczky-wintsche"`` (dim >= 3). Necessary
        numbers: ``"best-lower"``, the largest of ``"lower"`` 1/sigma(C(radius)), ``"fejes-toth"`` (dim 2),
        ``"coxeter-few-rogers"`` (angles of simplices, dim >= 2, radius <= pi/4) and ``"simplex"`` (dim + 2, from its
        radius down dim + 3).

    Returns
    -------
    Bound
        Or an array of them, for array arguments. From radius pi/2 on, the exact 2, and 1 from pi on. The smallest
        covers known here are: at dim 2 polytopes and bands down to radius 0.1, then lattices; to dim 18, lattices below
        radius 0.06 (dim 5), 0.025 (dim 8) or 0.012 (dim 16), slabs from there to 0.5, 0.4 or 0.1, at dim 8 orbits
        from 0.0999 to 0.106; at dim 23 slabs below 0.15; lattices at dim 24 below 0.01; else mostly random caps.

    Raises
    ------
    ValueError, TypeError
        For a radius outside its range, a dim below 1 or above 1e6, or an unknown method.

    Examples
    --------
    >>> from bounds import covering_number
    >>> print(covering_number(0.1, dim=8, method="greedy"))
    greedy: covering number <= 10^10.51, radius 0.1  [docs/theorems/4.2-covering-numbers.md]
    >>> print(covering_number(0.01, dim=8))
    lattice: covering number <= 10^17.68, radius 0.01  [docs/theorems/4.2-covering-numbers.md]
    >>> print(covering_number(0.01, dim=8, method="best-lower"))
    coxeter-few-rogers: covering number >= 10^17.27, radius 0.01  [docs/theorems/4.2-covering-numbers.md]
    """
    method = _checks.choice(method, "method", METHODS)

    @over_arrays
    def bound(r: object, d: object) -> Bound:
        checked = _checks.real(r, "radius", above=0.0, minimum=SMALLEST_RADIUS, maximum=math.pi)
        return settle(covering_bound(checked, _checks.dimension(d, maximum=LARGEST_DIM), method))

    return bound(radius, dim)  # type: ignore[no-any-return]


def covering_radius(n: ArrayLike, *, dim: ArrayLike, method: str = "best") -> Bound:
    """Bound the least angular radius with which n caps can cover S^m: the inverse of `covering_number`.

    Parameters
    ----------
    n : float or array_like
        Number of points, from 1 to 1e300; of a fraction the integer part counts.
    dim, method
        As for `covering_number`: for a sufficient number the least radius at which it promises a cover by n caps, for
        a necessary one the radius below which it excludes one.

    Returns
    -------
    Bound
        On the covering radius of the best n points. Exact for n <= dim + 2 (pi for one point, pi/2 up to dim + 1
        points, then the simplex), for dim 1, and for 6 and 12 points at dim 2.

    Raises
    ------
    ValueError, TypeError
        As `covering_number`.

    Examples
    --------
    >>> from bounds.covering import covering_radius
    >>> round(covering_radius(1000, dim=2).value, 4), round(covering_radius(1000, dim=2, method="best-lower").value, 4)
    (0.0798, 0.0696)
    """
    method = _checks.choice(method, "method", METHODS)

    @over_arrays
    def bound(count: object, d: object) -> Bound:
        checked = math.floor(_checks.real(count, "n", minimum=1.0, maximum=MOST_POINTS))
        radius = _radius_bound(checked, _checks.dimension(d, maximum=LARGEST_DIM), method)
        if radius.holds:
            return radius
        return replace(radius, log=math.log(math.pi) if radius.side == "upper" else -math.inf)

    return bound(n, dim)  # type: ignore[no-any-return]


def _radius_bound(n: int, dim: int, method: str) -> Bound:
    """Return the covering radius that a method, or the best of all, promises or excludes for n points."""
    if method == "best":  # each method is solved for only if it betters those before it
        best = _radius_bound(n, dim, "circle" if dim == 1 else "polytope")
        for name in _joining(dim, "upper") if n > dim + 1 else ():
            if covering_bound(best.value, dim, name).log < math.log(n) * (1.0 - 1e-15):
                best = min(best, _radius_bound(n, dim, name), key=lambda b: b.log)
        return best
    if method == "best-lower":
        candidates = [_radius_bound(n, dim, m) for m in _joining(dim, "lower")]
        return max((b for b in candidates if b.holds), key=lambda b: b.log)
    formula = TABLE[method]
    radius = formula.radius(n, dim)
    log = math.log(radius) if radius > 0.0 else -math.inf
    while formula.side == "upper" and math.exp(log) < radius:  # a cover is promised from this radius on
        log = math.nextafter(log, math.inf)
    constants = (("n", float(n)),)
    return Bound(
        "covering radius", log, formula.side, theorem=method, reference=_REFERENCE, hypotheses=formula.needs(dim),
        constants=constants,
    )  # fmt: skip
