"""Covering numbers of S^m: how many caps of a given angular radius are enough, and how many are necessary."""

from __future__ import annotations

import math
from collections.abc import Callable

from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from spherapprox import _checks
from spherapprox.special import log_cap_measure

from ._bound import Bound, Hypothesis, Side, over_arrays, settle

_REFERENCE = "docs/theorems.md, 4.2"

SMALLEST_RADIUS = 1e-60
"""Angular radii below this are refused: they belong to no number that means anything here."""


def log_rogers_constant(dim: int) -> float:
    """Return log Phi(m), Phi(m) = e ((m+1) log(m+1) + (m+1) log log(m+1) + 5 (m+1)), for m >= 2 (Rogers)."""
    d = dim + 1
    return 1.0 + math.log(d * (math.log(d) + math.log(math.log(d)) + 5.0))


def _log_lower(dim: int, radius: float) -> float:
    return -float(log_cap_measure(dim, radius))


def _log_volume(dim: int, radius: float) -> float:
    return -float(log_cap_measure(dim, radius / 2.0))


def _log_greedy(dim: int, radius: float) -> float:
    def log_count(share: float) -> float:
        eta = share * radius
        net = log_cap_measure(dim, radius - eta / 2.0) - log_cap_measure(dim, eta / 2.0)
        return math.log1p(net) - float(log_cap_measure(dim, radius - eta))

    return _least(log_count, 1.0)


def _log_random(dim: int, radius: float) -> float:
    def log_count(share: float) -> float:
        log_v = float(log_cap_measure(dim, radius * (1.0 - share)))
        log_s = float(log_cap_measure(dim, radius * share))
        count = math.log1p(log_v - log_s) - log_v
        return count + math.log1p(math.exp(-count))  # 1 + (1 + log(v/s)) / v

    return _least(log_count, 0.5)


def _least(log_count: Callable[[float], float], upper: float) -> float:
    """Minimise over the share eta/radius in (0, upper); any share is valid, so only sharpness depends on the search."""

    def of_log(log_share: float) -> float:
        return log_count(math.exp(log_share))

    found = minimize_scalar(of_log, bounds=(-18.0, math.log(upper) - 1e-9), method="bounded", options={"xatol": 1e-9})
    return float(found.fun)


def _log_rogers(dim: int, radius: float) -> float:
    return log_rogers_constant(dim) - (dim + 1) * math.log(math.sin(radius))


def _log_circle(_dim: int, radius: float) -> float:
    return math.log(math.ceil(math.pi / radius))


_FORMULAS: dict[str, tuple[Side, Callable[[int, float], float]]] = {
    "lower": ("lower", _log_lower),
    "volume": ("upper", _log_volume),
    "greedy": ("upper", _log_greedy),
    "random": ("upper", _log_random),
    "rogers": ("upper", _log_rogers),
    "circle": ("upper", _log_circle),
}
METHODS = ("best", *_FORMULAS)


def _hypotheses(method: str, dim: int, radius: float) -> tuple[Hypothesis, ...]:
    if method == "circle":
        return (Hypothesis("dim = 1", dim == 1),)
    if method == "rogers":
        small = radius < math.pi / 2 and math.sin(radius) <= 1.0 / (dim + 1)
        return (Hypothesis("dim >= 2", dim >= 2), Hypothesis("sin(radius) <= 1/(dim+1)", small))
    return ()


def covering_bound(radius: float, dim: int, method: str) -> Bound:
    """Return one covering bound for checked arguments; its hypotheses may fail (see `covering_number`)."""
    if radius >= math.pi / 2:  # one point covers from radius pi on, two antipodes from pi/2 on, and both are needed
        log = 0.0 if radius >= math.pi else math.log(2.0)
        side: Side = "lower" if method == "lower" else "upper"
        return Bound("covering number", log, side, method, _REFERENCE, radius=radius, whole=True)
    if method == "best":
        candidates = [covering_bound(radius, dim, m) for m in _FORMULAS if m != "lower"]
        return min((b for b in candidates if b.holds), key=lambda b: b.log)
    side, formula = _FORMULAS[method]
    conditions = _hypotheses(method, dim, radius)
    log = formula(dim, radius) if all(h.holds for h in conditions) else math.inf
    return Bound("covering number", log, side, method, _REFERENCE, conditions, radius=radius, whole=method == "circle")


def covering_number(radius: ArrayLike, *, dim: ArrayLike, method: str = "best", strict: bool = False) -> Bound:
    """Bound the least number of caps of angular radius `radius` that cover S^m.

    Parameters
    ----------
    radius : float or array_like
        Angular radius in radians, from 1e-60 to pi.
    dim : int or array_like
        The manifold's dimension m >= 1 (points live in R^(m+1)).
    method : {"best", "lower", "volume", "greedy", "random", "rogers", "circle"}
        ``"lower"``: 1/sigma(C(radius)), necessary. The others are sufficient: ``"volume"`` 1/sigma(C(radius/2)),
        ``"greedy"`` (Lovasz-Stein over a net, optimised), ``"random"`` (random caps, then fill), ``"rogers"`` (dim >= 2
        and sin(radius) <= 1/(dim+1)), ``"circle"`` (dim 1, exact). ``"best"`` is the smallest of these.
    strict : bool
        Raise instead of returning the trivial bound where a hypothesis fails.

    Returns
    -------
    Bound
        Or an array of them, for array arguments. From radius pi/2 on, the exact 2, and 1 from pi on.

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
    """
    _checks.choice(method, "method", METHODS)

    def one(r: object, d: object) -> Bound:
        checked = _checks.real(r, "radius", above=0.0, minimum=SMALLEST_RADIUS, maximum=math.pi)
        return settle(covering_bound(checked, _checks.dimension(d, maximum=1_000_000), method), strict=strict)

    return over_arrays(one, radius, dim)  # type: ignore[no-any-return]
