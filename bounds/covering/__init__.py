"""Covering numbers of S^m: how many caps of a given angular radius are enough, and how many are necessary."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from numpy.typing import ArrayLike
from scipy.optimize import brentq

from spherapprox import _checks
from spherapprox.special import cap_angle

from .._bound import Bound, Hypothesis, Side, over_arrays, settle
from . import formulas, lattice, polytope, zonal
from .formulas import log_rogers_constant

__all__ = [
    "METHODS",
    "NECESSARY",
    "SMALLEST_RADIUS",
    "SUFFICIENT",
    "covering_bound",
    "covering_number",
    "covering_radius",
    "log_rogers_constant",
]

_REFERENCE = "docs/theorems.md, 4.2"

SMALLEST_RADIUS = 1e-60
"""Angular radii below this are refused: they belong to no number that means anything here."""
MOST_POINTS = 1e300

_Formula = Callable[[int, float], float]


def _log_zonal(dim: int, radius: float) -> float:
    return zonal.zonal(dim, radius)[0]


_LOWER: dict[str, _Formula] = {
    "lower": formulas.log_lower,
    "fejes-toth": formulas.log_fejes_toth,
    "simplex": formulas.log_simplex,
}
_UPPER: dict[str, _Formula] = {
    "circle": formulas.log_circle,
    "polytope": polytope.log_polytope,
    "zonal": _log_zonal,
    "lattice": lattice.log_lattice,
    "volume": formulas.log_volume,
    "random": formulas.log_random,
    "greedy": formulas.log_greedy,
    "rogers": formulas.log_rogers,
    "boroczky-wintsche": formulas.log_boroczky_wintsche,
}

SUFFICIENT = ("best", *_UPPER)
"""Covering bounds that a prefix length may rest on."""
NECESSARY = ("best-lower", *_LOWER)
METHODS = (*SUFFICIENT, *NECESSARY)


def _tried(dim: int, side: Side) -> tuple[str, ...]:
    """Return the methods whose best is the best of all."""
    if side == "lower":
        return tuple(_LOWER)
    if dim == 1:
        return ("circle",)
    # "greedy" is never below "random" (4.2), and up to dim 3 the first four need half of what "random" needs
    return tuple(m for m in _UPPER if m not in ("circle", "greedy") and (m != "random" or dim > 3))


def _dim_hypotheses(method: str, dim: int) -> tuple[Hypothesis, ...]:
    """Return the conditions that a bound puts on the dimension."""
    if method == "circle":
        return (Hypothesis("dim = 1", dim == 1),)
    if method == "fejes-toth":
        return (Hypothesis("dim = 2", dim == 2),)
    if method == "rogers":
        return (Hypothesis("dim >= 2", dim >= 2),)
    if method == "boroczky-wintsche":
        return (Hypothesis("dim >= 3", dim >= 3),)
    if method in ("zonal", "lattice"):
        most = (zonal if method == "zonal" else lattice).MAX_DIM
        return (Hypothesis(f"2 <= dim <= {most}", 2 <= dim <= most),)
    return ()


def _hypotheses(method: str, dim: int, radius: float) -> tuple[Hypothesis, ...]:
    """Return all conditions of a bound below radius pi/2."""
    conditions = _dim_hypotheses(method, dim)
    if method == "rogers":
        conditions += (Hypothesis("sin(radius) <= 1/(dim+1)", math.sin(radius) <= 1.0 / (dim + 1)),)
    if method == "polytope":
        least = polytope.polytopes(dim)[0][0]
        conditions += (Hypothesis(f"radius >= {least:.6g}", radius >= least),)
    if method == "lattice":
        conditions += (Hypothesis("radius <= pi/4", radius <= lattice.LARGEST_RADIUS),)
    return conditions


def covering_bound(radius: float, dim: int, method: str) -> Bound:
    """Return one covering bound for checked arguments, with its hypotheses, which may fail: see `covering_number`.

    Parameters
    ----------
    radius : float
        Angular radius, of any size > 0.
    dim : int
        The manifold's dimension m, 1 to 1e6.
    method : str
        One of `METHODS`.

    Returns
    -------
    Bound
        Of the covering number; where a hypothesis fails its logarithm means nothing.

    Examples
    --------
    >>> covering_bound(0.5, 2, "boroczky-wintsche").failed
    ('dim >= 3',)
    """
    side: Side = "lower" if method in NECESSARY else "upper"
    if radius >= math.pi / 2:  # one point covers from radius pi on, two antipodes from pi/2 on, and both are needed
        log = 0.0 if radius >= math.pi else math.log(2.0)
        return Bound("covering number", log, side, method, _REFERENCE, radius=radius, whole=True)
    if method in ("best", "best-lower"):
        candidates = [covering_bound(radius, dim, m) for m in _tried(dim, side)]
        choose = min if side == "upper" else max
        return choose((b for b in candidates if b.holds), key=lambda b: b.log)
    conditions = _hypotheses(method, dim, radius)
    log, whole = math.inf if side == "upper" else 0.0, method in ("circle", "polytope", "simplex")
    if all(h.holds for h in conditions):
        if method == "zonal":
            log, whole = zonal.zonal(dim, radius)
        else:
            log = (_UPPER if side == "upper" else _LOWER)[method](dim, radius)
    return Bound("covering number", log, side, method, _REFERENCE, conditions, radius=radius, whole=whole)


def covering_number(radius: ArrayLike, *, dim: ArrayLike, method: str = "best", strict: bool = False) -> Bound:
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
        coverings, dim 2 to 64, radius <= pi/4), ``"volume"`` 1/sigma(C(radius/2)), ``"random"`` (random caps, then
        fill), ``"greedy"`` (Lovasz-Stein over a net), ``"rogers"`` (dim >= 2, sin(radius) <= 1/(dim+1)) and
        ``"boroczky-wintsche"`` (dim >= 3). Necessary numbers: ``"best-lower"``, the largest of ``"lower"``
        1/sigma(C(radius)), ``"fejes-toth"`` (dim 2) and ``"simplex"`` (dim + 2, from its radius down dim + 3).
    strict : bool
        Raise instead of returning the trivial bound where a hypothesis fails.

    Returns
    -------
    Bound
        Or an array of them, for array arguments. From radius pi/2 on, the exact 2, and 1 from pi on. The smallest
        covers known here are: at dim 2 polytopes and bands down to radius 0.1, then lattices; to dim 24, lattices at
        radii below 0.2 (dim 5), 0.1 (dim 8), 0.02 (dim 24); random caps otherwise.

    Raises
    ------
    ValueError, TypeError
        For a radius outside its range, a dim below 1 or above 1e6, or an unknown method.

    References
    ----------
    docs/theorems.md, 4.2.

    Examples
    --------
    >>> print(covering_number(0.1, dim=8, method="greedy"))
    greedy: covering number <= 10^10.51, radius 0.1  [docs/theorems.md, 4.2]
    >>> print(covering_number(0.01, dim=8))
    lattice: covering number <= 10^17.68, radius 0.01  [docs/theorems.md, 4.2]
    >>> print(covering_number(0.01, dim=8, method="best-lower"))
    lower: covering number >= 10^16.86, radius 0.01  [docs/theorems.md, 4.2]
    """
    method, strict = _checks.choice(method, "method", METHODS), _checks.flag(strict, "strict")

    def one(r: object, d: object) -> Bound:
        checked = _checks.real(r, "radius", above=0.0, minimum=SMALLEST_RADIUS, maximum=math.pi)
        return settle(covering_bound(checked, _checks.dimension(d, maximum=1_000_000), method), strict=strict)

    return over_arrays(one, radius, dim)  # type: ignore[no-any-return]


def covering_radius(n: ArrayLike, *, dim: ArrayLike, method: str = "best", strict: bool = False) -> Bound:
    """Bound the least angular radius with which n caps can cover S^m: the inverse of `covering_number`.

    Parameters
    ----------
    n : float or array_like
        Number of points, from 1 to 1e300; of a fraction the integer part counts.
    dim : int or array_like
        The manifold's dimension m >= 1.
    method : str
        As for `covering_number`: for a sufficient number the least radius at which it promises a cover by n caps, for
        a necessary one the radius below which it excludes one.
    strict : bool
        Raise instead of returning the trivial bound (pi, or 0 below) where a hypothesis fails.

    Returns
    -------
    Bound
        On the covering radius of the best n points. Exact for n <= dim + 2 (pi for one point, pi/2 up to dim + 1
        points, then the simplex), for dim 1, and for 6 and 12 points at dim 2.

    Raises
    ------
    ValueError, TypeError
        For n outside its range, a dim below 1 or above 1e6, or an unknown method.

    References
    ----------
    docs/theorems.md, 4.2.

    Examples
    --------
    >>> round(covering_radius(1000, dim=2).value, 4), round(covering_radius(1000, dim=2, method="best-lower").value, 4)
    (0.0798, 0.0696)
    """
    method, strict = _checks.choice(method, "method", METHODS), _checks.flag(strict, "strict")

    def one(count: object, d: object) -> Bound:
        checked = math.floor(_checks.real(count, "n", minimum=1.0, maximum=MOST_POINTS))
        bound = _radius_bound(checked, _checks.dimension(d, maximum=1_000_000), method)
        if bound.holds or strict:
            return settle(bound, strict=strict)
        return replace(bound, log=math.log(math.pi) if bound.side == "upper" else -math.inf)

    return over_arrays(one, n, dim)  # type: ignore[no-any-return]


def _radius_bound(n: int, dim: int, method: str) -> Bound:
    """Return the covering radius that one method promises or excludes for n points."""
    side: Side = "lower" if method in NECESSARY else "upper"
    conditions = _dim_hypotheses(method, dim)
    if method == "best":
        return _best_radius(n, dim)
    if method == "best-lower":
        candidates = [_radius_bound(n, dim, m) for m in _LOWER]
        return max((b for b in candidates if b.holds), key=lambda b: b.log)
    if not all(h.holds for h in conditions):
        radius = math.nan
    elif n <= dim + 1 and method != "lower":  # some closed hemisphere holds all n points
        radius = math.pi if n == 1 else math.pi / 2
    else:
        radius = _least_radius(n, dim, method) if side == "upper" else _excluded_radius(n, dim, method)
    log = math.log(radius) if radius > 0.0 else -math.inf
    while side == "upper" and math.exp(log) < radius:  # a cover is promised from this radius on
        log = math.nextafter(log, math.inf)
    constants = (("n", float(n)),)
    return Bound("covering radius", log, side, method, _REFERENCE, conditions, constants=constants)


def _best_radius(n: int, dim: int) -> Bound:
    """Return the least covering radius of all methods, each solved for only if it betters those before it."""
    best = _radius_bound(n, dim, "circle" if dim == 1 else "polytope")
    for method in _tried(dim, "upper") if n > dim + 1 else ():
        if covering_bound(best.value, dim, method).log < math.log(n) * (1.0 - 1e-15):
            best = min(best, _radius_bound(n, dim, method), key=lambda b: b.log)
    return best


def _excluded_radius(n: int, dim: int, method: str) -> float:
    """Return the radius below which n >= dim + 2 caps do not cover, 0 where the method says nothing."""
    if method == "lower":
        return float(cap_angle(dim, -math.log(n)))
    if method == "simplex":
        return formulas.simplex_radius(dim) if n == dim + 2 else 0.0
    # cos(radius) = cot(pi/6 + x)/sqrt 3 with x = pi/(3 (n-2)), written for 1 - cos = 2 sin^2(radius/2)
    tangent = math.tan(math.pi / 3.0 / (n - 2))
    return 2.0 * math.asin(math.sqrt(2.0 * tangent / (math.sqrt(3.0) + 3.0 * tangent)))


def _least_radius(n: int, dim: int, method: str) -> float:
    """Return the least radius at which a method promises a cover by n >= dim + 2 caps; pi/2 at most: two do then."""
    if method == "circle":
        return math.nextafter(math.pi / n, math.inf)
    if method == "polytope":
        return next(least for least, count in polytope.polytopes(dim) if count <= n)
    if method == "zonal":
        radii, counts = zonal.counted(dim)
        table = float(radii[counts <= n].min(initial=math.pi / 2))
        return min(table, _inverse(zonal.log_zonal_sum, n, dim, math.pi / 2))
    top = {"rogers": math.asin(1.0 / (dim + 1)), "lattice": lattice.LARGEST_RADIUS}.get(method, math.pi / 2)
    return _inverse(_UPPER[method], n, dim, top)


def _inverse(formula: _Formula, n: int, dim: int, top: float) -> float:
    """Return the least radius in (0, top] at which a falling formula is at most log n, pi/2 if there is none."""
    log_n, top = math.log(n), top * (1.0 - 1e-15)
    low = 0.99 * float(cap_angle(dim, -log_n))  # 1/sigma(C(low)) > n, and no cover has fewer caps
    if low >= top or formula(dim, top) > log_n:
        return math.pi / 2
    high = min(2.0 * low, top)
    while formula(dim, high) > log_n:
        low, high = high, min(2.0 * high, top)
    log_radius = brentq(
        lambda x: formula(dim, min(math.exp(x), top)) - log_n, math.log(low), math.log(high), xtol=1e-13, rtol=1e-13
    )
    radius, step = math.exp(float(log_radius)), 1e-15
    while formula(dim, min(radius, top)) > log_n:
        radius, step = radius * (1.0 + step), 2.0 * step
    return min(radius, top)
