"""The split head on a spherical design, second derivatives bounded: docs/theorems/4.I-smooth-quadrature.md (design)."""

from __future__ import annotations

import math

from ..records.bound import Hypothesis
from ..records.problem import Problem
from ..records.theorem import Prefix, Promise, Theorem
from ._degrees import log_rising_tail
from .requirements import DESIGN
from .smooth_quadrature import ORDER, best_at_degree, smooth_class, smooth_quadrature_error, steepest


def smooth_design_error(concentration: float, degree: float, dim: int, lipschitz: float, smoothness: float) -> float:
    """Bound the error of a split head at equal weights exact to a degree by 4.I's without F, over 1 - W_g."""
    error = smooth_quadrature_error(
        concentration, degree, dim, lipschitz=lipschitz, sup_norm=0.0, smoothness=smoothness
    )
    if error == math.inf:
        return math.inf
    log_tail = log_rising_tail(degree, concentration, dim, power=ORDER)
    return error / -math.expm1(log_tail) if log_tail < 0.0 else math.inf


def _error(problem: Problem, prefix: Prefix) -> Promise:
    p, degree = problem, prefix.exactness or 0
    smooth, exact = smooth_class(p), Hypothesis("degree >= 4", degree >= ORDER)
    rule = Hypothesis("equal weights, exact to this degree", True)
    if not smooth.holds:
        return math.inf, (smooth, rule, exact)
    assert p.smoothness is not None
    error = smooth_design_error(p.fixed_concentration, degree, p.dim, lipschitz=steepest(p), smoothness=p.smoothness)
    return math.log(error), (smooth, rule, exact)


THEOREM = Theorem(
    "sharp-split-smooth", "docs/theorems/4.I-smooth-quadrature.md (design)",
    "split head on a spherical design, second derivatives bounded",
    head="split", options=("concentration", "smoothness"), error=_error,
    needs=("lipschitz", "smoothness", "concentration", "exactness"), uses=("sup_norm",), requires=DESIGN,
    measured="error", free_concentration=best_at_degree,
)  # fmt: skip
