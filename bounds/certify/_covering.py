"""Covering numbers of S^m in ball arithmetic at the precision set: docs/theorems/4.2-covering-numbers.md."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from flint import arb
from scipy.optimize import brentq, minimize_scalar

from ..covering import TABLE, covering_bound
from ..records.enclosure import CertificationError
from . import _formulas
from ._balls import less, precision

Formula = Callable[[int, arb, float], arb]
"""(dimension, angular radius below pi/2, share eta/radius) -> log N."""

_SEARCH_BITS = 64
_TWO = "antipodes"


class Choice(NamedTuple):
    """A covering bound with its free parameter, eta as a share of the radius; every share is valid."""

    method: str
    share: float = 0.0


def _formula(method: str) -> Formula:
    """Return the enclosure of a method: the function of `_formulas` with its name."""
    formula: Formula = getattr(_formulas, method.replace("-", "_"))
    return formula


def choose_formula(dim: int, radius: float, method: str) -> Choice:
    """Return the covering bound that float64 finds best at a radius, with nearly its share."""
    if radius >= 0.5 * math.pi:
        return Choice(_TWO)
    bound = covering_bound(radius, dim, method)
    largest, formula = TABLE[bound.theorem].share, _formula(bound.theorem)
    if largest == 0.0:
        return Choice(bound.theorem)
    # Step 1: the share, by the search of `covering.formulas`
    top = math.log(largest)

    def excess(log_share: float) -> float:
        with precision(_SEARCH_BITS + 4 * dim.bit_length()):
            return float(formula(dim, arb(radius), math.exp(log_share)) - arb(bound.log))

    best = float(minimize_scalar(excess, bounds=(-18.0, top - 1e-9), method="bounded", options={"xatol": 1e-7}).x)
    if largest < 1.0 and excess(top) <= excess(best):
        return Choice(bound.theorem, largest)
    # Step 2: float64 stopped a little beside its minimum: the share of its own value
    if excess(best) < -1e-14 * bound.log:
        best = float(brentq(excess, best, best + 1e-3, xtol=1e-15)) if excess(best + 1e-3) > 0.0 else best
    return Choice(bound.theorem, math.exp(best))


def log_covering(dim: int, radius: arb, choice: Choice) -> arb:
    """Return log N, for an exact radius."""
    if not less(radius, arb.pi()):
        return arb(0)
    if not less(radius, arb.pi() / 2):
        return arb(2).log()
    if choice.method == _TWO:
        raise CertificationError("a radius is pi/2 in float64, and below it")
    return _formula(choice.method)(dim, radius, choice.share)
