"""Closed formulas for covering numbers: log N from a dimension and an angular radius below pi/2 (4.2)."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import minimize_scalar

from spherapprox import _checks
from spherapprox.special import cap_angle, log_cap_measure

from ..records.bound import Hypothesis
from ._method import Method

_LOG_HALF = math.log(0.5)


def log_rogers_constant(dim: int) -> float:
    """Return log Phi(m), Phi(m) = e ((m+1) log(m+1) + (m+1) log log(m+1) + 5 (m+1)), for m >= 2 (Rogers)."""
    d = _checks.integer(dim, "dim", minimum=2) + 1
    return 1.0 + math.log(d * (math.log(d) + math.log(math.log(d)) + 5.0))


def simplex_radius(dim: int) -> float:
    """Return the covering radius of dim + 2 points, a hair below it: the arc cosine is rounded."""
    return math.acos(1.0 / (dim + 1)) * (1.0 - 1e-15)


def log_fejes_toth(_dim: int, radius: float) -> float:
    """Return the log of L. Fejes Toth's bound on S^2, attained by 3, 4, 6 and 12 points."""
    # 4.2, fejes-toth: 2 w/(w - pi/6), tan(w - pi/6) = sqrt 3 (1 - cos rho)/(1 + 3 cos rho)
    cosine, versine = math.cos(radius), 2.0 * math.sin(0.5 * radius) ** 2
    excess = math.atan2(math.sqrt(3.0) * versine, 1.0 + 3.0 * cosine)
    return math.log(2.0 * math.atan2(1.0, math.sqrt(3.0) * cosine)) - math.log(excess)


def _fejes_toth_radius(n: int, _dim: int) -> float:
    # 4.2, fejes-toth: cos rho = cot(pi/6 + x)/sqrt 3 with x = pi/(3 (n-2)), written for 1 - cos = 2 sin^2(rho/2)
    tangent = math.tan(math.pi / 3.0 / (n - 2))
    return 2.0 * math.asin(math.sqrt(2.0 * tangent / (math.sqrt(3.0) + 3.0 * tangent)))


def log_greedy(dim: int, radius: float) -> float:
    """Return the log of the Lovasz-Stein bound over a net, with the best net."""

    def log_count(log_share: float) -> float:
        eta = math.exp(log_share) * radius
        # 4.2, greedy: (1 + log[sigma(C(rho - eta/2))/sigma(C(eta/2))])/sigma(C(rho - eta))
        net = log_cap_measure(dim, radius - eta / 2.0) - log_cap_measure(dim, eta / 2.0)
        return math.log1p(net) - float(log_cap_measure(dim, radius - eta))

    return _least(log_count, 1.0)


def log_random(dim: int, radius: float) -> float:
    """Return the log of the number of random caps and fill points at the best eta."""

    def log_measures(log_share: float) -> tuple[float, float]:
        share = math.exp(log_share)
        return float(log_cap_measure(dim, radius * (1.0 - share))), float(log_cap_measure(dim, radius * share))

    def log_count(log_share: float) -> float:
        log_v, log_s = log_measures(log_share)
        # 4.2, random then fill: 1 + (1 + log(v/s)) / v
        count = math.log1p(max(log_v - log_s, 0.0)) - log_v
        return count + math.log1p(math.exp(-count))

    def balance(log_share: float) -> float:
        # zero where the derivative is: log(v/s) = (sin^(m-1)(eta)/s) / (sin^(m-1)(radius-eta)/v)
        log_v, log_s = log_measures(log_share)
        share = math.exp(log_share)
        sines = math.log(math.sin(radius * (1.0 - share)) / math.sin(radius * share))
        return math.log(max(log_v - log_s, 1e-300)) + (dim - 1) * sines - (log_v - log_s)

    # Step 1: the stationary eta by secants, or else by a search
    log_share = _secant(balance, -3.0 - math.log1p(0.2 * dim), -18.0, top=_LOG_HALF)
    inside = _least(log_count, 0.5) if log_share is None else log_count(log_share)
    # Step 2: the edge, which is best in dimensions up to 3
    return min(inside, log_count(_LOG_HALF))


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


# 4.2: 1/sigma(C(rho))
LOWER = Method(
    "lower", lambda dim, radius: -float(log_cap_measure(dim, radius)), "lower",
    joins=lambda dim: True, hemispheres=False, least_radius=lambda n, dim: float(cap_angle(dim, -math.log(n))),
)  # fmt: skip
FEJES_TOTH = Method(
    "fejes-toth", log_fejes_toth, "lower", joins=lambda dim: True, least_radius=_fejes_toth_radius,
    needs=lambda dim: (Hypothesis("dim = 2", dim == 2),),
)  # fmt: skip
# 4.2, simplex: m + 2, or m + 3 below its covering radius
SIMPLEX = Method(
    "simplex", lambda dim, radius: math.log(dim + 2 if radius >= simplex_radius(dim) else dim + 3), "lower",
    joins=lambda dim: True, whole=True, least_radius=lambda n, dim: simplex_radius(dim) if n == dim + 2 else 0.0,
)  # fmt: skip
CIRCLE = Method(
    "circle", lambda _dim, radius: math.log(math.ceil(math.pi / radius)),
    joins=lambda dim: dim == 1, needs=lambda dim: (Hypothesis("dim = 1", dim == 1),),
    whole=True, least_radius=lambda n, _dim: math.nextafter(math.pi / n, math.inf),
)  # fmt: skip
# 4.2: 1/sigma(C(rho/2))
VOLUME = Method("volume", lambda dim, radius: -float(log_cap_measure(dim, radius / 2.0)))
# up to dim 3 the methods before it need half as many points
RANDOM = Method("random", log_random, joins=lambda dim: dim > 3, share=0.5)
# never below "random" (4.2)
GREEDY = Method("greedy", log_greedy, joins=lambda dim: False, share=1.0)
# 4.2, rogers: Phi(m)/sin(rho)^(m+1)
ROGERS = Method(
    "rogers", lambda dim, radius: log_rogers_constant(dim) - (dim + 1) * math.log(math.sin(radius)),
    needs=lambda dim: (Hypothesis("dim >= 2", dim >= 2),),
    needs_radius=lambda dim, radius: (
        Hypothesis("sin(radius) <= 1/(dim+1)", math.sin(radius) <= 1.0 / (dim + 1)),
    ),
    top=lambda dim: math.asin(1.0 / (dim + 1)),
)  # fmt: skip
# 4.2, boroczky-wintsche: 400 m log m/sigma(C(rho))
BOROCZKY_WINTSCHE = Method(
    "boroczky-wintsche",
    lambda dim, radius: math.log(400.0 * dim * math.log(dim)) - float(log_cap_measure(dim, radius)),
    needs=lambda dim: (Hypothesis("dim >= 3", dim >= 3),),
)  # fmt: skip
