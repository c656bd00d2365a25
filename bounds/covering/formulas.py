"""Closed formulas for covering numbers: log N from a dimension and an angular radius below pi/2 (4.2)."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import minimize_scalar

from spherapprox.special import log_cap_measure

_LOG_HALF = math.log(0.5)


def log_rogers_constant(dim: int) -> float:
    """Return log Phi(m), Phi(m) = e ((m+1) log(m+1) + (m+1) log log(m+1) + 5 (m+1)), for m >= 2 (Rogers).

    Parameters
    ----------
    dim : int
        The manifold's dimension m >= 2.

    Returns
    -------
    float
        Right to rounding.

    Examples
    --------
    >>> round(log_rogers_constant(8), 6)
    5.274717
    """
    d = dim + 1
    return 1.0 + math.log(d * (math.log(d) + math.log(math.log(d)) + 5.0))


def log_lower(dim: int, radius: float) -> float:
    """Return log 1/sigma(C(radius))."""
    return -float(log_cap_measure(dim, radius))


def log_simplex(dim: int, radius: float) -> float:
    """Return the log of what too few points cannot do: m + 2, and m + 3 below the simplex's radius."""
    return math.log(dim + 2 if radius >= simplex_radius(dim) else dim + 3)


def simplex_radius(dim: int) -> float:
    """Return the covering radius of dim + 2 points, a hair below it: the arc cosine is rounded."""
    return math.acos(1.0 / (dim + 1)) * (1.0 - 1e-15)


def log_fejes_toth(_dim: int, radius: float) -> float:
    """Return the log of L. Fejes Toth's bound on S^2, attained by 3, 4, 6 and 12 points."""
    # 2 w/(w - pi/6), w = arccot(sqrt 3 cos radius), the denominator by the difference formula of the tangent
    cosine, versine = math.cos(radius), 2.0 * math.sin(0.5 * radius) ** 2
    excess = math.atan2(math.sqrt(3.0) * versine, 1.0 + 3.0 * cosine)
    return math.log(2.0 * math.atan2(1.0, math.sqrt(3.0) * cosine)) - math.log(excess)


def log_volume(dim: int, radius: float) -> float:
    """Return log 1/sigma(C(radius/2))."""
    return -float(log_cap_measure(dim, radius / 2.0))


def log_greedy(dim: int, radius: float) -> float:
    """Return the log of the Lovasz-Stein bound over a net, with the best net."""

    def log_count(log_share: float) -> float:
        eta = math.exp(log_share) * radius
        net = log_cap_measure(dim, radius - eta / 2.0) - log_cap_measure(dim, eta / 2.0)
        return math.log1p(net) - float(log_cap_measure(dim, radius - eta))

    return _least(log_count, 1.0)


def log_random(dim: int, radius: float) -> float:
    """Return the log of what random caps and the filling of their holes need, with the best net."""

    def log_measures(log_share: float) -> tuple[float, float]:
        share = math.exp(log_share)
        return float(log_cap_measure(dim, radius * (1.0 - share))), float(log_cap_measure(dim, radius * share))

    def log_count(log_share: float) -> float:
        log_v, log_s = log_measures(log_share)
        count = math.log1p(max(log_v - log_s, 0.0)) - log_v
        return count + math.log1p(math.exp(-count))  # 1 + (1 + log(v/s)) / v

    def balance(log_share: float) -> float:
        # zero where the derivative is: log(v/s) = (sin^(m-1)(eta)/s) / (sin^(m-1)(radius-eta)/v)
        log_v, log_s = log_measures(log_share)
        share = math.exp(log_share)
        sines = math.log(math.sin(radius * (1.0 - share)) / math.sin(radius * share))
        return math.log(max(log_v - log_s, 1e-300)) + (dim - 1) * sines - (log_v - log_s)

    log_share = _secant(balance, -3.0 - math.log1p(0.2 * dim), -18.0, _LOG_HALF)
    inside = _least(log_count, 0.5) if log_share is None else log_count(log_share)
    return min(inside, log_count(_LOG_HALF))  # the edge is best in dimensions up to 3


def _secant(function: Callable[[float], float], start: float, bottom: float, top: float) -> float | None:
    """Return a zero within 1e-5 of a function whose slope is near 1, None if the search leaves [bottom, top]."""
    x, value = start, function(start)
    change = -value
    for _ in range(8):
        if not bottom < x + change < top:
            return None
        before, x = value, x + change
        if abs(change) < 1e-3:  # the last step of a secant search squares this
            return x
        value = function(x)
        if value == before:
            return None
        change *= value / (before - value)
    return None


def _least(log_count: Callable[[float], float], upper: float) -> float:
    """Minimise over the log of a share in (0, upper); any share is valid: only sharpness depends on the search."""
    bounds = (-18.0, math.log(upper) - 1e-9)
    return float(minimize_scalar(log_count, bounds=bounds, method="bounded", options={"xatol": 1e-7}).fun)


def log_rogers(dim: int, radius: float) -> float:
    """Return log Phi(m)/sin(radius)^(m+1)."""
    return log_rogers_constant(dim) - (dim + 1) * math.log(math.sin(radius))


def log_boroczky_wintsche(dim: int, radius: float) -> float:
    """Return log 400 m log m/sigma(C(radius))."""
    return math.log(400.0 * dim * math.log(dim)) - float(log_cap_measure(dim, radius))


def log_circle(_dim: int, radius: float) -> float:
    """Return the log of the number of arcs, rounded up."""
    return math.log(math.ceil(math.pi / radius))
