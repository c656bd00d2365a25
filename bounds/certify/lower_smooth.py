"""The floor of methods that sample for bounded second derivatives, 4.J, in ball arithmetic."""

from __future__ import annotations

from flint import arb

from ..records.bound import Bound
from ..records.enclosure import Enclosure
from ..records.problem import Problem
from ..theorems._floor import SMALLEST_ANGLE
from ._balls import enclose
from ._floor import cover_of


def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Enclose the covering number at the radius of a bump of height eps (4.J)."""
    assert bound.radius is not None
    count = cover_of(problem, bound.radius)

    def points() -> arb:
        eps, lip, bend = arb(problem.eps), arb(problem.lipschitz), arb(problem.smoothness)
        # 4.J: the second radius is never the smaller one, so it is right where the slopes cannot be compared
        parabolas, capped = 2 * (eps / bend).sqrt(), eps / lip + lip / bend
        radius = parabolas if eps * bend <= lip**2 else capped
        return count(radius.max(arb(SMALLEST_ANGLE))).max(0)

    return enclose(points, digits + 2)
