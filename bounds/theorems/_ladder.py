"""The bounds of all theorems for one problem, as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from tabulate import tabulate

from spherapprox import _checks

from ..records.bound import Bound
from . import THEOREMS

_BEYOND = """
*  no head in float64 has it: its coefficients cancel in more than 16 digits. Larger concentrations, which take more
   points, cancel less: theorems.state(..., concentration=)."""


def in_float64(bound: Bound) -> bool:
    """Tell whether the head of a bound exists in float64: its coefficients do not cancel in all digits."""
    theorem = THEOREMS.get(bound.theorem)
    if theorem and not theorem.attained:
        return False
    constants = dict(bound.constants)
    cancelled = max(constants.get("log amplification", 0.0), constants.get("log weights", 0.0))
    return cancelled <= -math.log(np.finfo(np.float64).eps)


class Ladder(tuple[Bound, ...]):
    """The bounds of all theorems for one problem, which print as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        return table(self)


def table(bounds: Sequence[Bound]) -> str:
    """Return a ladder as a text table, a line for each theorem.

    A star marks a concentration whose head does not exist in float64: its coefficients cancel in all digits. A
    TypeError tells of anything but a sequence of bounds.
    """
    lines = []
    for bound in checked(bounds):
        lam = "" if bound.concentration is None else f"{bound.concentration:.6g}"
        lam += "" if in_float64(bound) else "*"
        note = bound.reference + ("; needs " + " and ".join(bound.failed) if bound.failed else "")
        size = ("" if bound.side == "upper" else ">= ") + ("-" if math.isinf(bound.log) else f"{bound.log10:.2f}")
        lines.append((bound.theorem, lam, size, note))
    headers = ("theorem", "concentration", "log10 N", "from")
    text = str(tabulate(lines, headers=headers, colalign=("left", "right", "right", "left"), disable_numparse=True))
    return text + ("" if all(map(in_float64, bounds)) else _BEYOND)


def checked(bounds: Sequence[Bound]) -> Sequence[Bound]:
    if isinstance(bounds, Bound) or not all(isinstance(bound, Bound) for bound in bounds):
        raise TypeError(
            f"'bounds' must be a sequence of Bound, as `ladder` returns for numbers, got {_checks.show(bounds)}: write "
            "[bound] for a single one"
        )
    return bounds
