"""The widest radius that keeps a promise over all concentrations, and the best concentration at a radius."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..covering import covering_bound
from ..records.bound import Bound, Hypothesis
from ..records.problem import LARGEST_CONCENTRATION, Problem
from ..records.theorem import Curve, Prefix, Theorem

FINEST = 1e-135
"""The smallest angle that a prefix length is computed for: the concentration needed is about dim over its square."""
LOG_SMALLEST = -700.0
"""The logarithm of the smallest radius that is looked at."""
_LOG_LARGEST = math.log(LARGEST_CONCENTRATION)
_LOG_SEARCHED = 690.0
"""The logarithm of the largest concentration that a radius is looked for at."""
_CLOSE = 3e-4
"""Points so far apart give a parabola whose top is right to about the square of this."""
NEVER = -1e4
"""Stands for log 0 where a search must compare values."""
NO_RADIUS = Hypothesis(f"a radius of at least {math.exp(LOG_SMALLEST):.1g}", False)


def increasing_root(function: Curve, start: float, slope: float, low: float, high: float) -> tuple[float, float]:
    """Return the zero of an increasing function on [low, high], or the end beyond which it lies, and the slope there.

    The secant method from `start`, first with the slope given, kept in the bracket and halved where it stalls. It ends
    where the next step would be below rounding: the error of a secant step is about the product of the last two.
    """
    x, below, above = min(max(start, low), high), -math.inf, math.inf  # where the function was seen < 0 and > 0
    value, previous = function(x), 0.3
    for _ in range(200):
        if value == 0.0 or (x <= low and value > 0.0) or (x >= high and value < 0.0):
            break
        below, above = (x, above) if value < 0.0 else (below, x)
        noise, newton = 4e-16 * (1.0 + abs(x)), -value / slope if math.isfinite(value) else 0.0
        if abs(newton) <= noise and not abs(value) <= 1e-6:
            # infinity has no slope, and values that dwarf those near the root give none that leads there
            newton = math.copysign(max(8.0, 2.0 * abs(previous)), -value)
        if abs(newton) <= noise:
            break
        if above - below <= noise:
            return below, slope
        new = min(max(x + newton, low, below), high, above)
        halved = math.isfinite(above - below) and (abs(newton) > 0.5 * abs(previous) or new in (below, above))
        if halved:
            new = 0.5 * (below + above)
        step, old, x = new - x, value, new
        if not halved and abs(step * previous) <= 0.25 * noise:
            break
        value, previous = function(x), step
        if abs(value - old) > 1e-11 and math.isfinite(value - old) and (value - old) * step > 0.0:
            slope = (value - old) / step
    return x, slope


def log_sum(a: float, b: float) -> float:
    """Return log(e^a + e^b)."""
    top, low = (a, b) if a >= b else (b, a)
    return top if math.isinf(top) else top + math.log1p(math.exp(low - top))


def golden(function: Curve, low: float, high: float) -> float:
    """Maximise a unimodal function to about 1% of the interval: for starting values."""
    ratio = 0.5 * (math.sqrt(5.0) - 1.0)
    lower, upper = high - ratio * (high - low), low + ratio * (high - low)
    at_lower, at_upper = function(lower), function(upper)
    for _ in range(10):
        if at_lower > at_upper:
            high, upper, at_upper = upper, lower, at_lower
            lower = high - ratio * (high - low)
            at_lower = function(lower)
        else:
            low, lower, at_lower = lower, upper, at_upper
            upper = low + ratio * (high - low)
            at_upper = function(upper)
    return 0.5 * (low + high)


def log_goal(problem: Problem) -> float:
    """Return the log of the modulus angle (eps/L)^(1/alpha), at most pi."""
    return min((math.log(problem.eps) - math.log(problem.lipschitz)) / problem.exponent, math.log(math.pi))


def too_fine(problem: Problem) -> Hypothesis | None:
    """Return the failing hypothesis of a goal whose concentration would leave the range of floats, else None."""
    fine = log_goal(problem) < math.log(FINEST)
    return Hypothesis(f"(eps/lipschitz)^(1/exponent) >= {FINEST:g}", False) if fine else None


def _radius(log_radius: float) -> float:
    return math.exp(log_radius) if log_radius > LOG_SMALLEST else 0.0


def _exp(log_concentration: float) -> float:
    return math.exp(min(log_concentration, _LOG_SEARCHED))


class Ridge:
    """Map log concentration to the log of the largest allowed radius, searched from the nearest solution known.

    `excess_at(concentration)` is a function of log radius, log(error/goal), or None where no radius will do.
    """

    def __init__(
        self, excess_at: Callable[[float], Curve | None], log_radius: float, slope: float, log_top: float
    ) -> None:
        self.excess_at = excess_at
        self.log_radius, self.slope, self.log_top = log_radius, slope, log_top
        self.known: dict[float, float] = {}

    def __call__(self, log_concentration: float) -> float:
        """Return the log of the largest allowed radius, `NEVER` for none."""
        if log_concentration not in self.known:
            self.known[log_concentration] = self.solve(_exp(log_concentration), self._guess(log_concentration))
        return self.known[log_concentration]

    def _guess(self, x: float) -> float:
        radii = sorted((p for p in self.known.items() if p[1] > NEVER), key=lambda p: abs(p[0] - x))
        if not radii:
            return self.log_radius
        if len(radii) < 3 or abs(radii[0][0] - x) > 1.0:
            return radii[0][1]
        (x0, y0), (x1, y1), (x2, y2) = radii[:3]
        first, second = (y1 - y0) / (x1 - x0), (y2 - y0) / (x2 - x0)
        return y0 + (x - x0) * (first + (x - x1) * (second - first) / (x2 - x1))  # Newton's parabola

    def solve(self, concentration: float, guess: float) -> float:
        """Return the log of the largest radius at a concentration, from a guess of it; `NEVER` for none."""
        excess = self.excess_at(concentration)
        if excess is None:
            return NEVER
        root, self.slope = increasing_root(excess, guess, self.slope, low=LOG_SMALLEST, high=self.log_top)
        return root if root > LOG_SMALLEST else NEVER


def peak(function: Curve, start: float, floor: float, least: float) -> float:
    """Maximise a unimodal function: uphill from start > floor until three points bracket the maximum.

    The function is `NEVER` up to `floor`, and constant to rounding below `least`, where the walk ends.
    """
    # Step 1: a point at which the function is defined
    step = 0.4
    while function(start) <= NEVER and step < 400.0:
        start, step = start + step, 2.0 * step
    # Step 2: a bracket a < b < c with its top at b
    step = min(step, 0.4)
    a, b, c = max(start - step, 0.5 * (floor + start)), start, start + step
    while function(c) > function(b) and step < 400.0:
        step *= 2.0
        a, b, c = b, c, c + step
    while function(a) > function(b):
        if a < least:
            return a
        step *= 2.0
        a, b, c = max(a - step, 0.5 * (floor + a)), a, b
    # Step 3: the top
    return _top_of(function, a, b, c=c)


def _top_of(function: Curve, a: float, b: float, c: float) -> float:
    """Return the maximiser between a and c, b being above both, to the rounding of the function's values.

    Parabolas through the three highest points, golden sections where they fail, as Brent does; it ends where those
    points are so close that the parabola's top is right and no higher than rounding.
    """
    x, w, v = b, *sorted((a, c), key=function, reverse=True)
    for count in range(40):
        first, second = (function(w) - function(x)) / (w - x), (function(v) - function(x)) / (v - x)
        bend = (second - first) / (v - w)
        step = -0.5 * (first + bend * (x - w)) / bend if bend < 0.0 else math.inf
        if abs(step) < _CLOSE:
            if abs((w - x) * (v - x)) <= 1.01 * _CLOSE * _CLOSE:
                break
            side = x - w if abs(x - w) <= 2.0 * _CLOSE else step
            step = math.copysign(_CLOSE, side)
        if not a < x + step < c or count > 12:
            step = 0.38 * (a - x if x - a > c - x else c - x)
        u = x + step
        if function(u) >= function(x):
            a, c = (x, c) if u > x else (a, x)
            x, w, v = u, x, w
        else:
            a, c = (a, u) if u > x else (u, c)
            w, v = (u, w) if function(u) >= function(w) or abs(w - x) > 9.0 * _CLOSE else (w, u)
        if c - a < 1e-8:
            break
    return x if abs(step) > _CLOSE else max((x, x + step), key=function)


def best_radius(
    excess_at: Callable[[float], Curve | None], start: tuple[float, float], slope: float, top: float, threshold: float,
    problem: Problem,
) -> tuple[float, float]:  # fmt: skip
    """Return (concentration, radius): the largest radius over all concentrations, or at the problem's own.

    `start` is a guess of both, `slope` that of log error in log radius, `threshold` the concentration below which no
    radius will do.
    """
    ridge = Ridge(excess_at, math.log(start[1]), slope, log_top=math.log(top))
    if problem.concentration is not None:
        return problem.concentration, _radius(ridge.solve(problem.concentration, math.log(start[1])))
    floor = math.log(threshold) if threshold > 0.0 else -math.inf
    x = peak(ridge, max(math.log(start[0]), floor + 1e-3), floor, least=math.log(1e-6 * problem.dim))
    uniform = ridge.solve(0.0, max(ridge(x), ridge.log_radius)) if threshold == 0.0 else NEVER
    return (_exp(x), _radius(ridge(x))) if ridge(x) > uniform else (0.0, _radius(uniform))


def best_concentration(log_error: Curve, dim: int, radius: float, slack: float = 1e-9) -> float:
    """Return the concentration at which an error bound is least, given its log as a function of the concentration.

    The bound may fall and then rise with the concentration, fall without end (the least concentration within `slack` of
    its infimum, relative, is returned) or rise throughout (0). Probes far from the minimum found guard against others.
    """

    def gain(log_concentration: float) -> float:
        return max(-log_error(math.exp(min(max(log_concentration, -690.0), _LOG_LARGEST))), 0.9 * NEVER)

    values: dict[float, float] = {}

    def function(x: float) -> float:
        if x not in values:
            values[x] = gain(x)
        return values[x]

    # Step 1: the maximum of the gain nearest to lambda = 1/radius, and a probe for others
    least = math.log(1e-6 * dim)
    x = peak(function, -math.log(radius), -math.inf, least=least)
    probe = max((x + offset for offset in (-14.0, -6.0, -2.0, 2.0, 6.0, 14.0)), key=function)
    if function(probe) > function(x) + 1e-9:
        x = peak(function, probe, -math.inf, least=least)
    # Step 2: lambda = 0, where nothing is gained by more
    if -log_error(0.0) >= function(x):
        return 0.0
    # Step 3: on a plateau the left end
    if function(x) - function(x - 0.01) < 1e-9:
        values[x] = max(values.values())
        low, high = max((y for y in values if values[y] < values[x] - slack), default=least), x
        while high - low > 1e-2:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if function(middle) < function(x) - slack else (low, middle)
        x = high
    return math.exp(min(x, _LOG_LARGEST))


def accuracy(threshold: float, concentration: float) -> Hypothesis:
    """Return the hypothesis that the kernel's own convolution error is small enough."""
    return Hypothesis(f"concentration > {threshold:.6g}", concentration > threshold or threshold == 0.0)


def least_error(problem: Problem, prefix: Prefix, log_error: Curve) -> float:
    """Return the concentration of the least error, searched."""
    return best_concentration(log_error, problem.dim, prefix.radius)


def from_cover(
    problem: Problem, theorem: Theorem, concentration: float, radius: float, *hypotheses: Hypothesis
) -> Bound:
    """Turn an allowed covering radius into a prefix length."""
    log, note = math.inf, ""
    if radius > 0.0:
        cover = covering_bound(radius, problem.dim, problem.covering)
        log, note = cover.log, f", {cover.theorem} cover"
        hypotheses += cover.hypotheses
    elif all(hypothesis.holds for hypothesis in hypotheses):
        hypotheses += (NO_RADIUS,)
    return theorem.prefix_length(log, *hypotheses, concentration=concentration, radius=radius, note=note)
