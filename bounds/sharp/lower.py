"""What no scheme can undercut: docs/theorems.md, 4.5 and 4.E."""

from __future__ import annotations

import math

from spherapprox.special import cap_angle, log_cap_measure

from .._bound import Bound, Hypothesis
from .._problem import Problem


def lower_radius(n: float, dim: int) -> float:
    """4.5: rho_N with N sigma(C(rho_N)) = 1."""
    return float(cap_angle(dim, -math.log(n)))


def lower(problem: Problem) -> Bound:
    """4.5: whatever uses only the values at N points needs N >= 1/sigma(C(eps/L)) for some L-Lipschitz target."""
    radius = problem.eps / problem.lipschitz
    log = -float(log_cap_measure(problem.dim, min(radius, math.pi)))
    below = Hypothesis("eps < sup_norm", problem.eps < problem.sup_norm)
    return Bound("prefix length", log, "lower", "lower", "docs/theorems.md, 4.5", (below,), None, radius)
