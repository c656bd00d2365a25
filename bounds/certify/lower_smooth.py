"""The floor of methods that sample for bounded second derivatives, 4.J, in ball arithmetic."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from ..records.bound import Bound
from ..records.problem import Problem
from ..theorems._floor import SMALLEST_ANGLE
from ._floor import cover_of, from_below


@from_below
def prove(bound: Bound, problem: Problem) -> Callable[[], arb]:
    """Prepare the covering number at the radius of a bump of height eps (4.J)."""
    count = cover_of(problem, bound.radius)

    def log_points() -> arb:
        eps, lip, bend = arb(problem.eps), arb(problem.lipschitz), arb(problem.smoothness)
        # 4.J: the second radius is never the smaller one, so it is right where the slopes cannot be compared
        parabolas, capped = 2 * (eps / bend).sqrt(), eps / lip + lip / bend
        radius = parabolas if eps * bend <= lip**2 else capped
        return count(radius.max(arb(SMALLEST_ANGLE)))

    return log_points
