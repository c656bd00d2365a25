"""`Method`: one covering bound, declared in the file that computes it, and the inverse of its formula."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy.optimize import brentq

from spherapprox.special import cap_angle

from ..records.bound import Hypothesis, Side

Formula = Callable[[int, float], float]
"""(dim, angular radius below pi/2) -> log N."""

HALF_PI = math.pi / 2.0


@dataclass(frozen=True)
class Method:
    """A covering bound of 4.2 for 0 < radius < pi/2, with its hypotheses and its inverse.

    `joins` decides by the dimension whether the best of all asks for it, `whole` marks exact whole numbers and
    `counted` returns (log N, whole) where that depends on the radius. `least_radius` takes (n, dim); without it the
    inverse of `log` up to `top` is taken. `hemispheres` marks bounds with radius pi/2 for n <= dim + 1 caps. `share` is
    the largest eta/radius where an eta is free.
    """

    name: str
    log: Formula
    side: Side = "upper"
    joins: Callable[[int], bool] = lambda dim: dim > 1
    needs: Callable[[int], tuple[Hypothesis, ...]] = lambda dim: ()
    needs_radius: Callable[[int, float], tuple[Hypothesis, ...]] = lambda dim, radius: ()
    whole: bool = False
    counted: Callable[[int, float], tuple[float, bool]] | None = None
    least_radius: Callable[[int, int], float] | None = None
    top: Callable[[int], float] = lambda dim: HALF_PI
    hemispheres: bool = True
    share: float = 0.0

    def value(self, dim: int, radius: float) -> tuple[float, bool]:
        """Return (log N, whether N is whole) where the hypotheses hold."""
        return (self.log(dim, radius), self.whole) if self.counted is None else self.counted(dim, radius)

    def radius(self, n: int, dim: int) -> float:
        """Return the radius that the method promises or excludes for n caps, nan where its hypotheses fail."""
        if not all(hypothesis.holds for hypothesis in self.needs(dim)):
            return math.nan
        if self.hemispheres and n <= dim + 1:
            return math.pi if n == 1 else HALF_PI
        return inverse(self.log, n, dim, top=self.top(dim)) if self.least_radius is None else self.least_radius(n, dim)


def inverse(formula: Formula, n: int, dim: int, top: float = HALF_PI) -> float:
    """Return the least radius in (0, top] at which a falling formula is at most log n, pi/2 if there is none."""
    log_n, top = math.log(n), top * (1.0 - 1e-15)
    # Step 1: a bracket, from 1/sigma(C(low)) > n: no cover has fewer caps
    low = 0.99 * float(cap_angle(dim, -log_n))
    if low >= top or formula(dim, top) > log_n:
        return HALF_PI
    high = min(2.0 * low, top)
    while formula(dim, high) > log_n:
        low, high = high, min(2.0 * high, top)
    # Step 2: the root over log radius
    log_radius = brentq(
        lambda x: formula(dim, min(math.exp(x), top)) - log_n, math.log(low), math.log(high), xtol=1e-13, rtol=1e-13
    )
    # Step 3: upward until the formula is at most log n in float64 too
    radius, step = math.exp(float(log_radius)), 1e-15
    while formula(dim, min(radius, top)) > log_n:
        radius, step = radius * (1.0 + step), 2.0 * step
    return min(radius, top)
