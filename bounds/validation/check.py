"""`Check`: a theorem or a lemma held against the interval that encloses what was achieved."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from spherapprox._checks import upper_text
from spherapprox._types import Float64

from ..records.bound import Bound

Verdict = Literal["proved", "holds", "vacuous", "violated", "not applicable", "undecided"]
Quantity = Literal["error", "error at points", "worst-case error", "convolution", "discretisation", "denominator"]

SYMBOLS = {"convolution": "|f - K*f|", "discretisation": "|K*f - h|", "denominator": "|d/(N c0) - 1|"}  # fmt: skip
"""The quantities of lemmas as they are written in tables."""


@dataclass(frozen=True)
class Check:
    """One theorem or lemma held against one quantity, measured or proven.

    Parameters
    ----------
    theorem : str
        Its name, as `error_bound` takes it; of a lemma the name of the quantity.
    bound : Bound or None
        What it promises; None where it does not speak of this head and target.
    achieved : float or None
        The largest value of the quantity that was found.
    verdict : {"proved", "holds", "vacuous", "violated", "not applicable", "undecided"}
        "proved": an upper bound of the quantity is proven, and lies below the promise; of a floor, a value above it was
        found. "holds": the quantity does not contradict the bound. "vacuous": nor could it, the bound is 2 sup|f| or
        more. "violated": it does; the theorem is proven, so a claim is wrong. "not applicable": a hypothesis fails, by
        what is known or since a claim was refuted. "undecided": what was found is compatible with either.
    reason : str
        Which hypothesis fails, where the bound is violated and what to suspect, or which constants are estimates.
    quantity : {"error", "error at points", "worst-case error", "convolution", "discretisation", "denominator"}
        What was measured: the error on this target, the largest over all targets of its Lipschitz constant, or a part
        of the error, ``|f - K*f|``, ``|K*f - h|`` or ``|d/(N c0) - 1|``, d the sum of kernels and c0 their mean. "error
        at points": the error held against the largest value found of a bound that is proven at each point.
    at : ndarray, shape (dim+1,), or None
        Where a violation was seen.
    suspects : tuple of str
        For "violated": the names of the claims that were refuted, or else of all that enter the bound.
    upper : float
        The proven upper end of the quantity; inf where none was proven.
    estimated : tuple of str
        The target's constants, estimates only, on which the verdict rests.

    Examples
    --------
    >>> import bounds
    >>> from spherapprox import EqualMeasurePartition, SplitHead, targets
    >>> target = targets.distance(2)
    >>> head = SplitHead.from_target(target, EqualMeasurePartition(2, 100), concentration=1e4)
    >>> checks = bounds.validate(head, target, n=1000, examine=["claims"]).checks
    >>> checks[-1].theorem, checks[-1].verdict
    ('sharp-split', 'holds')
    >>> all(check.achieved <= check.predicted for check in checks if check.predicted is not None)
    True
    >>> checks[-1].record()["quantity"]
    'error'
    """

    theorem: str
    bound: Bound | None
    achieved: float | None
    verdict: Verdict
    reason: str = ""
    quantity: Quantity = "error"
    at: Float64 | None = field(default=None, compare=False, repr=False)
    suspects: tuple[str, ...] = ()
    upper: float = math.inf
    estimated: tuple[str, ...] = ()

    @property
    def predicted(self) -> float | None:
        """The number that the bound promises; None where it says nothing."""
        return self.bound.value if self.bound is not None and self.bound.holds else None

    @property
    def ratio(self) -> float | None:
        """The bound over the value achieved: how far theory is from measurement; None where either is missing or 0."""
        if self.predicted is None or not self.achieved:
            return None
        return self.predicted / self.achieved

    def record(self) -> dict[str, Any]:
        """Return the check as a row of a table: strings and numbers by name, None for what is unknown or infinite."""
        return {
            "name": self.theorem, "quantity": self.quantity, "side": self.bound.side if self.bound else None,
            "predicted": to_json(self.predicted), "lower": to_json(self.achieved), "upper": to_json(self.upper),
            "ratio": to_json(self.ratio), "verdict": self.verdict, "estimated": ", ".join(self.estimated),
            "reason": self.reason, "reference": self.bound.reference if self.bound else None,
        }  # fmt: skip


def to_json(value: Any) -> Any:
    """Return a value as JSON has it: None for infinity and nan, lists of arrays, and text of other things."""
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int | float):
        return value if abs(value) < math.inf else None
    if isinstance(value, Mapping):
        return {str(key): to_json(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [to_json(entry) for entry in value]
    return to_json(value.tolist()) if hasattr(value, "tolist") else str(value)


def interval(lower: float | None, upper: float) -> str:
    """Write what was achieved: one number, or both ends where the upper one is proven."""
    if lower is None:
        return "-"
    return f"{lower:.4g}" if upper == math.inf else f"{lower:.4g} to {upper_text(upper)}"
