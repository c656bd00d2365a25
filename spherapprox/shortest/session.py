"""A search from start to end: resumed, reported, kept in a file, and recorded in the target's units."""

from __future__ import annotations

import math
import os
import time
from dataclasses import dataclass, field, replace

import numpy as np

from .. import _checks
from .._threads import one_blas_thread
from ..error import ErrorInterval, sup_error
from ..fitting.sup import Judge, errors, round_to
from ..fitting.tokens import Tokens
from ..heads.head import Head
from ..heads.registry import FAMILIES
from ..target import Target
from .candidate import Candidate, Goal
from .result import ShortestHead
from .rung import Rung
from .search import FIRST, Search

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
    scalar: bool
    """Whether the target returns (n,) in place of (n, p)."""
    options: str
    progress: bool
    checkpoint: str | os.PathLike[str] | None
    own: Head | None = None
    """A head that is the target itself: the answer where no shorter one is found."""
    rows: dict[int, Rung] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._search = Search(self.goal, self._report)

    def resume(self, earlier: ShortestHead) -> None:
        """Take over the heads of an earlier search: what failed for an eps no smaller is not tried again."""
        harder = earlier.eps >= self._eps and earlier.options == self.options
        with one_blas_thread():
            for row in earlier.history:
                # on another target the row's head errs elsewise
                f = self.goal.size * self.goal.function(row.at[None])
                error = float(np.linalg.norm(row.head(row.at[None]).reshape(1, -1) - f))
                failed = row.starts >= self.goal.starts and harder and math.isclose(error, row.lower, rel_tol=_SAME)
                candidate = Candidate(self._tokens(row.head), self.goal.ridge, start=row.start, starts=row.starts)
                candidate = self._search.resume(candidate, failed=failed)
                if candidate.error < math.inf:
                    self.rows[row.n] = self._rung(candidate)

    def search(self, target: Target, notes: tuple[str, ...]) -> ShortestHead:
        """Search for the shortest head; where notes say why none is within eps, only the first rungs are tried."""
        hopeless = bool(notes)
        if hopeless:
            self._search.goal = replace(self.goal, max_tokens=min(self.goal.max_tokens, FIRST[-1]))
        with one_blas_thread():  # threads of ours fit from several starts, to the same bit
            best, error = self._run_search(target)
        if best.error > self.goal.eps or self._misses_eps(error):
            if self.own is not None:
                candidate = Candidate(self._tokens(self.own), self.goal.ridge, 0.0, start="itself")
                self.rows[len(self.own)] = replace(self._rung(candidate, judge=self._search.judge(1)), head=self.own)
                return self._result(len(self.own), ())
            notes += (self._shortfall(hopeless),)
            _checks.warn("; ".join(notes), RuntimeWarning)
        return self._result(len(best.tokens), notes)._with_error(error)

    @property
    def _eps(self) -> float:
        """The error asked for, in the target's units."""
        return self.goal.size * self.goal.eps

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
        row = self.rows[n] = self._rung(rung)
        if self.progress:
            failed = "" if rung.error <= self.goal.eps else f" not in {rung.starts} starts:"
            how = f"lambda {row.concentration:.3g}, max|v| {row.largest_value:.3g}, {rung.seconds:.1f} s"
            print(f"N={n}{failed} error {row.lower:.3g} (eps {self._eps:.3g}) by {rung.start}, {how}", flush=True)
        if self.checkpoint is not None:
            self._result(self._search.best_length(), ()).save(self.checkpoint)

    def _result(self, n: int, notes: tuple[str, ...]) -> ShortestHead:
        history = tuple(row for _, row in sorted(self.rows.items()))
        return ShortestHead(history, n, self._eps, norm=self.goal.norm, notes=notes, options=self.options)

    def _shortfall(self, hopeless: bool) -> str:
        """Return the reason why a search failed."""
        guess, note = self._search.expected_length(), f"no head within eps = {self._eps:.4g} was found"
        late = time.monotonic() > self.goal.deadline
        note += " before time_limit= ended the search" if late else ""
        if hopeless or guess is None or guess <= max(self._search.rungs):
            return note
        return f"{note}; some {guess} tokens may reach it{'' if late else ' (max_tokens=)'}"

    def _tokens(self, head: Head) -> Tokens:
        """Return the tokens of a head; unit keys have the mean concentration of free ones."""
        lengths = np.broadcast_to(np.asarray(head.concentration, dtype=np.float64), len(head))
        if self.goal.unit:
            lengths = np.full(len(head), max(float(lengths.mean()), 1e-13))
        keys = lengths[:, None] * head.control_points.astype(np.float64)
        values = head.values.reshape(len(head), -1).astype(np.float64) / self.goal.size
        return Tokens(keys, values, head.family == "split", unit=self.goal.unit)

    def _head(self, tokens: Tokens) -> Head:
        """Return the head of stored tokens."""
        goal, lengths = self.goal, tokens.lengths
        b = np.where(lengths[:, None] > 0.0, tokens.keys, np.eye(1, tokens.keys.shape[1]))
        b /= np.sqrt(np.square(b).sum(axis=1))[:, None]
        values = goal.size * tokens.values
        if goal.dtype is not None:
            values = round_to(values, goal.dtype)
        concentration = tokens.concentration if tokens.unit else lengths
        return FAMILIES[goal.family](b, values[:, 0] if self.scalar else values, concentration)

    def _rung(self, candidate: Candidate, judge: Judge | None = None) -> Rung:
        """Return the record of a candidate, by the judge of its length unless another is given."""
        judge = judge or self._search.judge(len(candidate.tokens))
        tokens, x, size = judge.store(candidate.tokens, candidate.ridge), judge.checked.x, self.goal.size
        residuals, weights = errors(tokens, judge.checked), tokens.matrix(judge.fit.x)
        largest = max(float(np.linalg.norm(judge.fit.y, axis=1).max()), 1e-300)
        sums = float((weights @ np.linalg.norm(tokens.values, axis=1)).max()) / largest
        beyond = candidate.at is not None and candidate.error >= residuals.max()  # between the samples
        return Rung(
            self._head(tokens), size * (candidate.error if beyond else float(residuals.max())), math.inf,
            at=np.array(candidate.at if beyond else x[int(residuals.argmax())]),
            rms=size * math.sqrt(float(np.square(residuals).mean())), condition=float(np.linalg.cond(weights)),
            digits_lost=max(math.log10(max(sums, 1e-300)), 0.0),
            start=candidate.start, starts=candidate.starts, seconds=candidate.seconds,
        )  # fmt: skip
