"""The result of a search for the fewest tokens: a head of each length that was tried, and the one picked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _checks
from .._archive import Savable
from ..error import ErrorInterval, sup_error
from ..error.measured import prove_error
from ..heads.head import Head
from ..target import Target
from .rung import Rung

_SLACK, _LEAST_SLACK, _LARGEST_SLACK = 0.05, 1e-3, 1e300
"""Proven upper ends over the largest errors found, less 1: where eps is not reached, and at least and at most."""


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
    options : str
        Those of the search that decide which heads will do.

    Raises
    ------
    TypeError, ValueError
        If the lengths of the history do not grow, n is none of them, or a field is of another kind.

    Examples
    --------
    >>> from spherapprox import shortest_head, targets
    >>> from spherapprox.shortest import SearchOptions
    >>> result = shortest_head(targets.bump(2), 1e-6, "core", search=SearchOptions(lower=False))
    >>> result.n, result.reached, result.head
    (1, True, CoreHead(n=1, dim=2, concentration=10))
    >>> result.pick(1).n, result.proved(targets.bump(2)).error.upper <= 1e-6
    (1, True)
    >>> print(result.table().splitlines()[0].split())
    ['N', 'error', 'rms', 'numbers', 'lambda', 'max', '|v|', 'lost', 'condition', 'start', 'starts', 's']
    """

    _kind = "shortest-head"

    history: tuple[Rung, ...]
    n: int
    eps: float
    norm: str = "sup"
    lower: int | None = None
    lower_reason: str = ""
    notes: tuple[str, ...] = ()
    options: str = ""

    def __post_init__(self) -> None:
        lengths = [_checks.instance(row, "history", Rung).n for row in _checks.instance(self.history, "history", tuple)]
        if self.n not in lengths or lengths != sorted(set(lengths)):
            raise ValueError(f"'history' must hold heads of more and more tokens, among them of n = {self.n}")
        _checks.real(self.eps, "eps", above=0.0)
        _checks.choice(self.norm, "norm", ("sup", "rms"))
        if self.lower is not None:
            _checks.integer(self.lower, "lower", minimum=0)
        for text in (*_checks.instance(self.notes, "notes", tuple), self.lower_reason, self.options):
            _checks.instance(text, "notes", str)

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

        Raises
        ------
        TypeError, ValueError
            If no head of this length was found, or `certified` is asked for without a target.
        """
        lengths = tuple(row.n for row in self.history)
        if _checks.integer(n, "n", minimum=1) not in lengths:
            raise ValueError(f"'n' must be a length that was tried, one of {', '.join(map(str, lengths))}, got {n}")
        if _checks.flag(certified, "certified") and target is None:
            raise ValueError("'target' must be given for certified=True: a proof needs the function")
        if target is None:
            return replace(self, n=n)
        target = _checks.instance(target, "target", Target, remedy="Target(function, dim) makes one")
        result = replace(self, n=n)
        result = result._with_error(sup_error(result.head, target))
        return result.proved(target) if certified else result

    def proved(self, target: Target, *, deadline: float = math.inf) -> ShortestHead:
        """Return the result with a proven upper end of the error: at most eps, where this is reached.

        Parameters
        ----------
        target : Target
            What was approximated.
        deadline : float, optional
            A time of `time.monotonic` that ends the proof.

        Returns
        -------
        ShortestHead
            With a note where there is no proof, or one of more than what was to be proven.

        Raises
        ------
        ValueError
            If target and head do not fit.
        """
        # enough to prove eps, and no more: a proof of what roundings decide takes long, and fails
        slack = min(self.eps / max(self.error.lower, 1e-300) * (1.0 - 1e-9) - 1.0, _LARGEST_SLACK)
        slack = max(slack, _LEAST_SLACK) if self.error.lower <= self.eps else _SLACK
        error = prove_error(self.head, target, self.error, slack=slack, deadline=deadline)
        notes = (*self.notes, *([f"the proof of the error: {error.reason}"] if error.reason else []))
        return replace(self, notes=notes)._with_error(error)

    def _with_error(self, error: ErrorInterval) -> ShortestHead:
        """Return the result with another sup error of the head that is picked; the largest error seen stays."""
        largest = error if error.lower >= self.row.lower else self.row
        changed = replace(self.row, lower=largest.lower, upper=error.upper, at=largest.at)
        return replace(self, history=tuple(changed if row.n == self.n else row for row in self.history))

    def table(self) -> str:
        """Return the history as a text table.

        Returns
        -------
        str
            A line for each length; "proven" is the upper end of the error, where there is one, "numbers" those that are
            stored, "lost" the decimal digits that cancel.
        """
        from tabulate import tabulate

        headers = ["N", "error", "rms", "numbers", "lambda", "max |v|", "lost", "condition", "start", "starts", "s", ""]
        rows: list[list[object]] = [
            [
                row.n, f"{row.lower:.3g}", f"{row.rms:.3g}", row.numbers, f"{row.concentration:.4g}",
                f"{row.largest_value:.3g}", f"{row.digits_lost:.1f}", f"{row.condition:.1g}", row.start, row.starts,
                f"{row.seconds:.1f}", "reached" if self._within(row) else "",
            ]
            for row in self.history
        ]  # fmt: skip
        if any(row.upper < np.inf for row in self.history):
            headers.insert(2, "proven")
            for cells, row in zip(rows, self.history, strict=True):
                cells.insert(2, _checks.upper_text(row.upper, 3) if row.upper < np.inf else "")
        align = ["left" if name in ("start", "") else "right" for name in headers]
        return str(tabulate(rows, headers=headers, disable_numparse=True, colalign=align))

    def __repr__(self) -> str:
        within = f"error={self.error.lower:.4g}, eps={self.eps:.4g}, reached={self.reached}"
        return f"ShortestHead(head={self.head!r}, {within})"

    def __str__(self) -> str:
        floor = f"at least {self.lower}: {self.lower_reason}" if self.lower is not None else ""
        return "\n".join([self.table(), *filter(None, [floor, *self.notes])])
