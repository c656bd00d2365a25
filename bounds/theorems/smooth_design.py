"""The split head on a spherical design, second derivatives bounded: docs/theorems/4.I-smooth-quadrature.md (design)."""

from __future__ import annotations

import math
from dataclasses import replace

from ..records.bound import Hypothesis
from ..records.theorem import Prefix, Promise, Theorem
from ._degrees import log_rising_tail
from .requirements import DESIGN
from .smooth_quadrature import ORDER, best_at_degree, smooth_class, smooth_quadrature_error, steepest


def smooth_design_error(concentration: float, degree: float, dim: int, lipschitz: float, smoothness: float) -> float:
    """Bound the error of a split head at equal weights exact to a degree by 4.I's without F, over 1 - W_g."""
    error = smooth_quadrature_error(concentration, degree, dim, lipschitz, 0.0, smoothness)
    if error == math.inf:
        return math.inf
    log_tail = log_rising_tail(degree, concentration, dim, ORDER)
    return error / -math.expm1(log_tail) if log_tail < 0.0 else math.inf


def _error(prefix: Prefix) -> Promise:
    p = prefix.problem
    smooth, exact = smooth_class(p), Hypothesis("degree >= 4", prefix.degree >= ORDER)
    rule = Hypothesis("equal weights, exact to this degree", True)
    if not smooth.holds:
        return math.inf, (smooth, rule, exact)
    assert p.second_derivative is not None
    # a sup norm that is not known is no constraint
    slope = steepest(p if prefix.sup_norm is not None else replace(p, sup_norm=math.inf))
    error = smooth_design_error(prefix.concentration, prefix.degree, p.dim, slope, p.second_derivative)
    return math.log(error), (smooth, rule, exact)


THEOREM = Theorem(
    "sharp-split-smooth", "docs/theorems/4.I-smooth-quadrature.md (design)",
    "split head on a spherical design, second derivatives bounded", "split",
    error=_error, needs=("lipschitz", "smoothness", "concentration", "degree"), uses=("sup_norm",), requires=DESIGN,
    validated=True, free_concentration=best_at_degree,
)  # fmt: skip
