"""The best head of one length that a search found, as a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _checks
from .._archive import Savable
from .._types import Float64
from ..error import ErrorInterval
from ..heads.head import Head


@dataclass(frozen=True, eq=False)
class Rung(Savable):
    """The best head of one length that a search found.

    Parameters
    ----------
    head : CoreHead or SplitHead
        The head.
    lower, upper : float
        Ends of its sup error, in the target's units: the largest error seen (of a head that was not picked, at the
        points that the search checked), and one that is proven, or inf.
    at : ndarray, shape (dim+1,)
        Where the largest error was seen.
    rms : float
        Root of the mean squared error at those points.
    condition : float
        Condition number of the weights of the values at the samples.
    digits_lost : float
        Decimal digits that cancel: log10 of the largest ``sum_k |A_k v_k|`` over sup |f|, at least 0.
    start : str
        What the fit began from: "prune" or "insert", from the rung above or below; "equal 0", ... from points of equal
        measure; "kernel", "constant"; "partition", "Fibonacci", "Gauss": points that stayed where they are; "itself":
        the head that was to be shortened.
    starts : int
        Starts tried, but for one that the time limit cut short.
    seconds : float
        Time spent.

    Raises
    ------
    TypeError, ValueError
        If a field is out of its range or of another kind.
    """

    _kind = "rung"

    head: Head
    lower: float
    upper: float
    at: Float64
    rms: float
    condition: float
    digits_lost: float
    start: str
    starts: int
    seconds: float

    def __post_init__(self) -> None:
        head = _checks.instance(self.head, "head", Head)
        for name in ("lower", "upper", "rms", "condition", "digits_lost", "seconds"):
            _checks.real(getattr(self, name), name, minimum=0.0, finite=False)
        _checks.floating(self.at, "at", (head.dim + 1,))
        _checks.instance(self.start, "start", str)
        _checks.integer(self.starts, "starts", minimum=0)

    def _arguments(self) -> Mapping[str, Any]:
        return dict(vars(self))

    @property
    def n(self) -> int:
        """Number of tokens."""
        return len(self.head)

    @property
    def numbers(self) -> int:
        """Numbers that are stored: keys, values, and a concentration that is common to all."""
        outputs = self.head.n_outputs or 1
        if np.ndim(self.head.concentration) == 0:
            return self.n * (self.head.dim + outputs) + 1
        return self.n * (self.head.dim + 1 + outputs)

    @property
    def concentration(self) -> float:
        """The concentration, or the mean of those of the tokens."""
        return float(np.mean(self.head.concentration))

    @property
    def largest_value(self) -> float:
        """The largest |v_k|."""
        return float(np.abs(self.head.values).max())

    @property
    def error(self) -> ErrorInterval:
        """The sup error."""
        return ErrorInterval(self.lower, self.upper, self.at)
