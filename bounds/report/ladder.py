"""The ladder of prefix lengths along an axis of eps or of dim, its hypotheses in words, and its rungs for JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from tabulate import tabulate

from spherapprox import _checks
from spherapprox._types import Float64

from ..api import COUNTED, ladder
from ..records.bound import Bound
from ..records.theorem import Statement
from ..theorems import as_statements
from ..theorems._ladder import checked, in_float64
from ..validation._progress import each


@dataclass(frozen=True)
class Curves:
    """The result of `evaluate_ladder`: log10 N of every theorem over an axis of eps or of dim, nan where none is said.

    Parameters
    ----------
    over : {"eps", "dim"}
        What varies.
    axis : ndarray, shape (n,)
        Its values.
    fixed : float
        The value of the other one.
    log10 : dict of str to ndarray, shape (n,)
        Theorem -> the decimal logarithm of its prefix length.
    sides : dict of str to {"upper", "lower"}
        Theorem -> whether its prefix length suffices, or no fewer tokens do.

    Examples
    --------
    >>> import bounds
    >>> curves = bounds.report.evaluate_ladder(0.1, dim=[2, 8])
    >>> curves.over, curves.axis, curves.fixed, curves.sides["sharp-core"]
    ('dim', array([2., 8.]), 0.1, 'upper')
    >>> curves.log10["thesis-core"].round(1)  # needs dim >= 8
    array([  nan, 944.6])
    """

    over: str
    axis: Float64
    fixed: float
    log10: dict[str, Float64]
    sides: dict[str, str]


def evaluate_ladder(
    eps: ArrayLike, *, dim: ArrayLike, lipschitz: float = 1.0, sup_norm: float = 1.0, exponent: float = 1.0,
    theorems: Iterable[str | Statement] | None = None, progress: bool | None = False,
) -> Curves:  # fmt: skip
    """Evaluate the ladder along an axis: one of `eps` and `dim` is an array, the other a number.

    Parameters
    ----------
    eps, dim, lipschitz, sup_norm, exponent, theorems
        As in `bounds.ladder`.
    progress : bool or None
        As in `run_study`.

    Raises
    ------
    ValueError
        Unless exactly one of `eps` and `dim` is a one-dimensional array.

    Examples
    --------
    >>> from bounds.report import evaluate_ladder
    >>> curves = evaluate_ladder([0.1, 0.5], dim=8)
    >>> curves.log10["lower"].round(2)
    array([9.28, 3.77])
    """
    shapes = np.ndim(eps), np.ndim(dim)
    if sorted(shapes) != [0, 1]:
        raise ValueError(f"one of 'eps' and 'dim' must be a sequence, the other a number, got shapes {shapes}")
    over = "eps" if shapes[0] else "dim"
    axis = _checks.shaped(_checks.numeric(eps if shapes[0] else dim, over), over, ("n",))
    fixed = dim if shapes[0] else eps
    constants: dict[str, Any] = {"lipschitz": lipschitz, "sup_norm": sup_norm, "exponent": exponent}
    constants["theorems"] = as_statements(theorems, COUNTED)
    ladders: list[Sequence[Bound]] = []
    for value in each(axis.tolist(), progress, "ladder", describe=lambda value: f"{over} = {value:.4g}"):
        e, d = (value, fixed) if shapes[0] else (fixed, value)
        ladders.append(ladder(e, dim=d, **constants))
    log10 = {
        rung[0].theorem: np.array([b.log10 if b.holds and math.isfinite(b.log) else math.nan for b in rung])
        for rung in zip(*ladders, strict=True)
    }
    sides: dict[str, str] = {bound.theorem: bound.side for bound in ladders[0]}
    return Curves(over, axis.astype(np.float64), float(np.asarray(fixed)), log10=log10, sides=sides)


def list_hypotheses(bounds: Sequence[Bound]) -> str:
    """Return the hypotheses of each theorem of a ladder with their truth, a line of up to 120 characters for each."""
    lines = [(bound.theorem, "; ".join(map(str, bound.hypotheses)) or "none") for bound in checked(bounds)]
    return str(tabulate(lines, tablefmt="plain", disable_numparse=True, maxcolwidths=[None, 90]))


def describe_rungs(bounds: Sequence[Bound]) -> list[dict[str, Any]]:
    """Return a ladder for a JSON document, a record for each theorem.

    "log10_n" is None, JSON's null, where a theorem says nothing; "in_float64" tells whether its head exists there.
    """
    return [
        {
            "theorem": b.theorem, "side": b.side, "log10_n": b.log10 if math.isfinite(b.log) else None,
            "concentration": b.concentration, "radius": b.radius, "holds": b.holds,
            "in_float64": in_float64(b),
            "hypotheses": [{"statement": h.statement, "holds": h.holds} for h in b.hypotheses],
            "constants": dict(b.constants), "reference": b.reference,
        }
        for b in checked(bounds)
    ]  # fmt: skip
