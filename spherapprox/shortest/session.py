"""A search from start to end: resumed, reported, kept in a file, and recorded."""

from __future__ import annotations

import math
import os
import time
from dataclasses import dataclass, field, replace

import numpy as np

from .. import _checks
from .._threads import one_blas_thread
from ..error import ErrorInterval, sup_error
from ..heads.head import Head
from ..target import Target
from .candidate import Candidate, Goal
from .result import ShortestHead
from .rung import Rung
from .search import FIRST, Search
from .units import Units

_SAME = 0.01
"""Relative difference of errors up to which they are those of the same target."""
_FEW_DIMENSIONS, _USUAL, _THOROUGH = 3, (20_000, 16), (50_000, 48)
"""Samples and climbs of the last search for the largest error: beyond this dimension samples are far apart."""
_REPEATS = 5
"""How often a search goes on where its head's error turns out to be larger."""


@dataclass
class Session:
    """A search, the records of its rungs, and where they are shown and kept."""

    goal: Goal
    units: Units
    options: str
    progress: bool
    checkpoint: str | os.PathLike[str] | None
    own: Head | None = None
    """A head that is the target itself: the answer where no shorter one is found."""
    rows: dict[int, Rung] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._search = Search(self.goal, self._report)

    def resume(self, earlier: ShortestHead) -> None:
        """Take over the heads of an earlier search: what failed as hard as now is wanted is not tried again."""
        harder = earlier.eps >= self._eps and earlier.options == self.options
        with one_blas_thread():
            for row in earlier.history:
                tokens = self.units.tokens(row.head, self.goal.unit)
                enough = row.starts >= self.goal.starts and harder and self._fits_target(row)
                candidate = self._search.resume(row.n, tokens, row.start, row.starts, enough)
                if candidate.error < math.inf:
                    self.rows[row.n] = self.units.row(candidate, self._search.judge(row.n))

    def _fits_target(self, row: Rung) -> bool:
        """Tell whether a row's head errs on the target of this search as the row says."""
        f = self.units.size * self.goal.function(row.at[None])
        error = float(np.linalg.norm(row.head(row.at[None]).reshape(1, -1) - f))
        return math.isclose(error, row.lower, rel_tol=_SAME)

    def search(self, target: Target, notes: tuple[str, ...]) -> ShortestHead:
        """Search for the shortest head; where notes say why none is within eps, only the first rungs are tried."""
        hopeless = bool(notes)
        if hopeless:
            self._search.limit_tokens(FIRST[-1])
        with one_blas_thread():  # threads of ours fit from several starts, to the same bit
            best, error = self._run_search(target)
        if best.error > self.goal.eps or self._misses_eps(error):
            if self.own is not None:
                return self._own_result(self.own)
            notes += (self._shortfall(hopeless),)
            _checks.warn("; ".join(notes), RuntimeWarning)
        return self._result(len(best.tokens), notes).with_error(error)

    def _own_result(self, own: Head) -> ShortestHead:
        """Return the head that is to be shortened."""
        candidate = Candidate(self.units.tokens(own, self.goal.unit), self.goal.ridge, 0.0, "itself")
        self.rows[len(own)] = replace(self.units.row(candidate, self._search.judge(1)), head=own)
        return self._result(len(own), ())

    @property
    def _eps(self) -> float:
        """The error wanted, in the target's units."""
        return self.units.size * self.goal.eps

    def _misses_eps(self, error: ErrorInterval) -> bool:
        return self.goal.norm == "sup" and error.lower > self._eps

    def _run_search(self, target: Target) -> tuple[Candidate, ErrorInterval]:
        """Run the search, again where its head's error turns out to be larger; return the head and its error."""
        for last in (False,) * _REPEATS + (True,):
            best = self._search.run()
            if best.error == math.inf:
                raise ValueError(
                    "'value_bound' or 'dtype' admits no head that was tried: raise it, or scale the target"
                )
            n, refine = _THOROUGH if target.dim > _FEW_DIMENSIONS else _USUAL
            error = sup_error(self.rows[len(best.tokens)].head, target, n=n, refine=refine)
            if last or best.error > self.goal.eps or not self._misses_eps(error):
                break
            self._search.join(error.at[None])
            del self._search.rungs[len(best.tokens)]
        return best, error

    def _report(self, rung: Candidate) -> None:
        """Record a rung, show it, and keep what has been found in the file."""
        n = len(rung.tokens)
        if rung.error == math.inf:  # nothing to keep
            if self.progress:
                print(f"N={n} not in {rung.starts} starts: no values within their bound", flush=True)
            return
        self.rows[n] = self.units.row(rung, self._search.judge(n))
        if self.progress:
            print(_progress_line(self.rows[n], rung, self.goal.eps, self._eps), flush=True)
        if self.checkpoint is not None:
            self._result(self._search.best_length(), ()).save(self.checkpoint)

    def _result(self, n: int, notes: tuple[str, ...]) -> ShortestHead:
        history = tuple(row for _, row in sorted(self.rows.items()))
        return ShortestHead(history, n, self._eps, self.goal.norm, notes=notes, options=self.options)

    def _shortfall(self, hopeless: bool) -> str:
        """Return what a reader should know of a search that failed."""
        guess, note = self._search.expected_length(), f"no head within eps = {self._eps:.4g} was found"
        late = time.monotonic() > self.goal.deadline
        note += " before time_limit= ended the search" if late else ""
        if hopeless or guess is None or guess <= max(self._search.rungs):
            return note
        return f"{note}; some {guess} tokens may reach it{'' if late else ' (max_tokens=)'}"


def _progress_line(row: Rung, candidate: Candidate, goal: float, eps: float) -> str:
    """Return a line for the progress."""
    failed = "" if candidate.error <= goal else f" not in {candidate.starts} starts:"
    how = f"lambda {row.concentration:.3g}, max|v| {row.largest_value:.3g}, {candidate.seconds:.1f} s"
    return f"N={row.n}{failed} error {row.lower:.3g} (eps {eps:.3g}) by {candidate.start}, {how}"
