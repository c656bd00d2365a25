"""The result of a search for the fewest tokens: a head of each length that was tried, and the one picked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _checks
from .._archive import Savable
from .._types import Float64
from ..error import ErrorInterval, sup_error
from ..heads.head import Head
from ..target import Target

_SLACK, _LEAST_SLACK = 0.05, 1e-3
"""Proven upper ends over the largest errors found, less 1: more is not worth less time, and less takes long."""


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
        measure; "kernel", "constant"; "partition", "Fibonacci", "Gauss": points that stayed where they are.
    starts : int
        Starts tried.
    seconds : float
        Time spent.

    Examples
    --------
    >>> from spherapprox import shortest_head, targets
    >>> row = shortest_head(targets.bump(2), 1e-6, "core").history[-1]
    >>> row.n, row.numbers, row.lower < 1e-6
    (1, 4, True)
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


@dataclass(frozen=True, eq=False)
class ShortestHead(Savable):
    """The shortest head that a search found, with the best one of each length that was tried.

    Parameters
    ----------
    history : tuple of Rung
        A row for each length that was tried, shortest first.
    n : int
        Number of tokens of the head that is picked: the shortest within eps; of least error, if none is.
    eps : float
        The error asked for, in the target's units.
    norm : {"sup", "rms"}
        The norm in which it is asked for.
    lower : int, optional
        Every head of this kind within eps has at least so many tokens; None if nothing is known.
    lower_reason : str
        What gave it, or why there is none; for heads with unit keys it holds for every concentration.
    notes : tuple of str
        What a reader should know, such as a number of tokens that may reach eps.

    See Also
    --------
    shortest_head : makes them; ``start=`` goes on from one. `spherapprox.load` reads what `save` wrote.

    Examples
    --------
    >>> from spherapprox import shortest_head, targets
    >>> found = shortest_head(targets.bump(2), 1e-6, "core")
    >>> found.n, found.reached, found.head
    (1, True, CoreHead(n=1, dim=2, concentration=10))
    """

    _kind = "shortest-head"

    history: tuple[Rung, ...]
    n: int
    eps: float
    norm: str = "sup"
    lower: int | None = None
    lower_reason: str = ""
    notes: tuple[str, ...] = ()

    def _arguments(self) -> Mapping[str, Any]:
        return dict(vars(self))

    @property
    def row(self) -> Rung:
        """The row of the head that is picked."""
        return next(row for row in self.history if row.n == self.n)

    @property
    def head(self) -> Head:
        """The head that is picked."""
        return self.row.head

    @property
    def error(self) -> ErrorInterval:
        """Its sup error, in the target's units, with a proven upper end if asked for."""
        return self.row.error

    @property
    def reached(self) -> bool:
        """Whether the error of the head that is picked is at most eps, as far as it was seen."""
        return self._within(self.row)

    @property
    def failed(self) -> tuple[int, int]:
        """The largest length below n that failed, and the starts tried there: evidence, no proof; (0, 0) if none."""
        rows = [row for row in self.history if row.n < self.n and not self._within(row)]
        return (rows[-1].n, rows[-1].starts) if rows and self.reached else (0, 0)

    def _within(self, row: Rung) -> bool:
        return (row.rms if self.norm == "rms" else row.lower) <= self.eps

    def pick(self, n: int, target: Target | None = None, *, certified: bool = False) -> ShortestHead:
        """Pick the head of another length.

        Parameters
        ----------
        n : int
            A length of the history.
        target : Target, optional
            What was approximated: given, the head's error is measured by `sup_error`; else it is the row's.
        certified : bool, default False
            Prove an upper end of the error, of a target that is given.

        Returns
        -------
        ShortestHead

        Raises
        ------
        TypeError, ValueError
            If no head of this length was found, or `certified` is asked for without a target.

        Examples
        --------
        >>> from spherapprox import shortest_head, targets
        >>> found = shortest_head(targets.zonal_harmonic(2, 2), 0.1, "core")
        >>> shorter = found.pick(found.history[0].n)
        >>> shorter.n, shorter.reached
        (1, False)
        """
        tried = tuple(row.n for row in self.history)
        if _checks.integer(n, "n", minimum=1) not in tried:
            raise ValueError(f"'n' must be a length that was tried, one of {', '.join(map(str, tried))}, got {n}")
        if _checks.flag(certified, "certified") and target is None:
            raise ValueError("'target' must be given for certified=True: a proof needs the function")
        if target is None:
            return replace(self, n=n)
        target = _checks.instance(target, "target", Target, remedy="Target(function, dim) makes one")
        picked = replace(self, n=n)
        slack = min(max(self.eps / max(picked.row.lower, 1e-300) - 1.0, _LEAST_SLACK), _SLACK)  # enough to prove eps
        error = sup_error(picked.head, target, certified=certified, slack=slack)
        if certified and error.reason:
            picked = replace(picked, notes=(*picked.notes, f"the proof of the error: {error.reason}"))
        return picked.with_error(error)

    def with_error(self, error: ErrorInterval) -> ShortestHead:
        """Return the result with another sup error of the head that is picked."""
        changed = replace(self.row, lower=error.lower, upper=error.upper, at=error.at)
        return replace(self, history=tuple(changed if row.n == self.n else row for row in self.history))

    def table(self) -> str:
        """Return the history as a text table.

        Returns
        -------
        str
            A line for each length; "proven" is the upper end of the error, where there is one, "numbers" those that are
            stored, "lost" the decimal digits that cancel.

        Examples
        --------
        >>> from spherapprox import shortest_head, targets
        >>> print(shortest_head(targets.bump(2), 1e-6, "core").table().splitlines()[0].split())
        ['N', 'error', 'rms', 'numbers', 'lambda', 'max', '|v|', 'lost', 'condition', 'start', 'starts', 's']
        """
        from tabulate import tabulate

        proven = any(row.upper < np.inf for row in self.history)
        headers = ["N", "error", "rms", "numbers", "lambda", "max |v|", "lost", "condition", "start", "starts", "s", ""]
        rows = [_cells(row, self._within(row)) for row in self.history]
        if proven:
            headers.insert(2, "proven")
            for cells, row in zip(rows, self.history, strict=True):
                cells.insert(2, f"{row.upper:.3g}" if row.upper < np.inf else "")
        align = ["left" if name in ("start", "") else "right" for name in headers]
        return str(tabulate(rows, headers=headers, disable_numparse=True, colalign=align))

    def __repr__(self) -> str:
        within = f"error={self.error.lower:.4g}, eps={self.eps:.4g}, reached={self.reached}"
        return f"ShortestHead(head={self.head!r}, {within})"

    def __str__(self) -> str:
        floor = f"at least {self.lower}: {self.lower_reason}" if self.lower is not None else ""
        return "\n".join([self.table(), *filter(None, [floor, *self.notes])])


def _cells(row: Rung, within: bool) -> list[object]:
    """Return the cells of a row of the table."""
    return [
        row.n, f"{row.lower:.3g}", f"{row.rms:.3g}", row.numbers, f"{row.concentration:.4g}",
        f"{row.largest_value:.3g}", f"{row.digits_lost:.1f}", f"{row.condition:.1g}", row.start, row.starts,
        f"{row.seconds:.1f}", "reached" if within else "",
    ]  # fmt: skip
