"""Covers of S^m by the vertices of polytopes, each with its covering radius.

docs/theorems/4.2-covering-numbers.md, polytope.
"""

from __future__ import annotations

import functools
import math

from ..records.bound import Hypothesis
from ._method import Method

ORBITS = (0.0999, 5_127_280_562)
"""The radius and the points of a cover of S^8 by orbits under W(E8) x W(A1) (4.M)."""

_GOLDEN = (1.0 + math.sqrt(5.0)) / 2.0

# dim: cosine of the covering radius, points (Coxeter, Regular Polytopes: inradius over circumradius; 421 for E8)
_EXCEPTIONAL = {
    2: (math.sqrt((5.0 + 2.0 * math.sqrt(5.0)) / 15.0), 12),  # icosahedron
    3: (_GOLDEN**2 / math.sqrt(8.0), 120),  # 600-cell
    7: (math.sqrt(0.5), 240),  # the roots of E8
    8: (math.cos(ORBITS[0]), ORBITS[1]),
}
_MOST_SIGNS = 3
"""Sign vectors with more entries than this are many more points than random caps need."""


@functools.cache
def polytopes(dim: int) -> tuple[tuple[float, int], ...]:
    """Return (covering radius, number of points) of explicit covers of S^dim, fewer at larger radii (4.2, polytope).

    The simplex; the vectors with k entries +-1, the others 0, for k^2 <= dim + 1 (k = 1: the cross-polytope, k = 2:
    the roots of D_n); in dimensions 2, 3 and 7 the icosahedron, the 600-cell and the roots of E8, in dimension 8 many
    orbits of one group.
    """
    n = dim + 1
    covers = [(1.0 / n, dim + 2)]
    covers += [(math.sqrt(k / n), 2**k * math.comb(n, k)) for k in range(1, _MOST_SIGNS + 1) if k * k <= n]
    covers += [_EXCEPTIONAL[dim]] if dim in _EXCEPTIONAL else []
    frontier: list[tuple[float, int]] = []
    for cosine, count in sorted(covers):  # from the largest radius down
        while frontier and frontier[-1][1] >= count:
            frontier.pop()
        frontier.append((math.acos(cosine) * (1.0 + 1e-15), count))  # a hair above the radius: acos is rounded
    return tuple(reversed(frontier))


def polytope_count(dim: int, radius: float) -> int | None:
    """Return the fewest points of an explicit cover with this radius, None below the least radius there is."""
    return next((count for least, count in reversed(polytopes(dim)) if least <= radius), None)


def _hypotheses(dim: int, radius: float) -> tuple[Hypothesis, ...]:
    least = polytopes(dim)[0][0]
    return (Hypothesis(f"radius >= {least:.6g}", radius >= least),)


METHOD = Method(
    "polytope", lambda dim, radius: math.log(polytope_count(dim, radius) or math.inf), needs_radius=_hypotheses,
    whole=True,
    least_radius=lambda n, dim: next(least for least, count in polytopes(dim) if count <= n),
)  # fmt: skip
