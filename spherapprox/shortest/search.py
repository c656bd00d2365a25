"""The search for the fewest tokens: rungs of one length each, extrapolated, bracketed and closed."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from .._threads import in_order
from .._types import Float64
from ..error.search import local_maxima, sample
from ..fitting.descent import least_squares
from ..fitting.growth import equal_measure, insert_tokens, prune_tokens
from ..fitting.projection import Samples
from ..fitting.sup import Judge, minimax
from ..fitting.tokens import Tokens
from .candidate import STEPS, Candidate, Goal, fit_candidate, lower_error
from .fixed import best_kernel, constant_token, fit_values, point_families

FIRST = (1, 2, 4)
_LEAST_SAMPLES, _PER_NUMBER, _CHECKED = 3000, 6, 5
"""Samples of a fit, at least and for each number of the head, and samples that check it for each of these."""
_PEAKS, _EXCHANGES = 50, 3
"""Local maxima of the error that join the samples when a fit misses eps there, and how often."""
_MOST_EXPECTED = 1e9
Start = tuple[str, Callable[[], Tokens]]


@dataclass
class Search:
    """Rungs by their number of tokens, and the samples that they were fitted to and checked at."""

    goal: Goal
    report: Callable[[Candidate], None]
    rungs: dict[int, Candidate] = field(default_factory=dict)
    earlier: dict[int, Tokens] = field(default_factory=dict)
    """Tokens of an earlier search, to start from."""
    refits: set[int] = field(default_factory=set)
    """Numbers of tokens of rungs that are to be fitted again when the search comes to them."""
    misses: Float64 | None = None
    """Points where fits missed eps."""
    _last: tuple[tuple[int, int], Judge] | None = None

    def run(self) -> Candidate:
        """Climb until some number of tokens reaches eps and one less fails; else return the best rung."""
        reached = [n for n, rung in self.rungs.items() if rung.error <= self.goal.eps]  # by an earlier search
        low, high, n, tries, limit = 0, min(reached, default=None), FIRST[0], 0, self.goal.max_tokens
        while True:
            if n not in self.rungs or n in self.refits:
                self._keep_rung(n, self._fit_rung(n))
            if self.rungs[n].error <= self.goal.eps:
                high = n
            else:
                low = max(low, n)
            tries += high is not None
            closed = high - low <= 1 if high is not None else low >= limit
            if closed and not self._is_late() and (shorter := self._search_fixed((high or limit + 1) - 1)):
                high, low = shorter, max(n for n in (0, *self.rungs) if n < shorter)
                closed = high - low <= 1
            if closed or self._is_late():
                break
            n = self._next(low, high, tries)
        return self.rungs[self.best_length()]

    def join(self, x: Float64) -> None:
        """Add points to all samples from now on."""
        self.misses = x if self.misses is None else np.concatenate([self.misses, x])

    def expected_length(self) -> int | None:
        """Extrapolate the number of tokens that reaches eps, by log error = a - b N^(1/m) of the nearest rungs."""
        errors = [(n, rung.error) for n, rung in sorted(self.rungs.items()) if 0.0 < rung.error < math.inf]
        if len(errors) < 2:
            return None
        u = np.array([n ** (1.0 / self.goal.dim) for n, _ in errors])
        logs = np.log([error for _, error in errors]) - math.log(self.goal.eps)
        near = np.argsort(np.abs(logs))[:3]
        slope, constant = np.polyfit(u[near], logs[near], 1)
        if not slope < 0.0:
            return None
        log = self.goal.dim * math.log(max(-constant / slope, 1.0))
        return math.ceil(math.exp(min(log, math.log(_MOST_EXPECTED))))

    def _next(self, low: int, high: int | None, tries: int) -> int:
        """Return the next number of tokens to try, between one that fails and one that reaches eps."""
        top = min(self.goal.max_tokens, 2 * max(self.rungs)) if high is None else high - 1
        if high is None and max(self.rungs) < FIRST[-1]:
            return min(next(n for n in FIRST if n > max(self.rungs)), top)
        guess = min(max(self.expected_length() or top, low + 1), top)
        # in a bracket the errors of rungs that reach eps say little: they stop there
        return guess if guess not in self.rungs and (high is None or tries < 2) else (low + top + 1) // 2

    def best_length(self) -> int:
        """Return the fewest tokens that reach eps, or those of least error."""
        reached = [n for n, rung in self.rungs.items() if rung.error <= self.goal.eps]
        return min(reached) if reached else min(self.rungs, key=lambda n: self.rungs[n].error)

    def _is_late(self) -> bool:
        return time.monotonic() > self.goal.deadline

    def _keep_rung(self, n: int, candidate: Candidate) -> None:
        self.rungs[n] = candidate
        self.refits.discard(n)
        self.report(candidate)

    def judge(self, n: int) -> Judge:
        """Return the samples that n tokens are fitted to, and more that check the fit."""
        goal = self.goal
        rng, d = np.random.default_rng(goal.seed), goal.dim + 1
        p = goal.function(np.eye(1, d)).shape[1]
        count = max(_LEAST_SAMPLES, _PER_NUMBER * n * (d + p))
        key = count, 0 if self.misses is None else len(self.misses)
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        samples = []
        for size in (count, _CHECKED * count):
            x = sample(goal.dim, size, rng)
            x = x if self.misses is None else np.concatenate([x, self.misses])
            samples.append(Samples.of(x, goal.function(x)))
        self._last = (
            key,
            Judge(samples[0], samples[1], goal.norm, value_bound=goal.value_bound, dtype=goal.dtype, size=goal.size),
        )
        return self._last[1]

    def _fit_rung(self, n: int) -> Candidate:
        """Fit tokens from one start after another, until eps is reached."""
        goal, begin, judge = self.goal, time.monotonic(), self.judge(n)
        over, count = threading.Event(), 0
        # tokens that are not fitted: of an earlier search, or a constant
        first = [(self.earlier[n], "resumed")] if n in self.earlier else []
        if n == 1:
            first.append((constant_token(judge, goal.normalize, goal.unit), "constant"))
        candidates = [Candidate(tokens, goal.ridge, judge(tokens, goal.ridge), start=name) for tokens, name in first]
        best = self._verify(min(candidates, key=lambda rung: rung.error), judge) if candidates else None

        def fit(start: Start) -> Candidate:
            name, make_tokens = start
            return fit_candidate(name, make_tokens(), judge, goal=goal, stop=lambda: over.is_set() or self._is_late())

        starts = [] if best is not None and best.error <= goal.eps else list(self._list_starts(n, judge))
        with closing(in_order(fit, starts, None)) as results:
            try:
                for result in results:
                    count, candidate = count + 1, self._verify(result, judge)
                    best = candidate if best is None or candidate.error < best.error else best
                    if best.error <= goal.eps or self._is_late():
                        break
            finally:
                over.set()
        assert best is not None
        if best.error > goal.eps and not self._is_late():  # what the next rungs are extrapolated from
            best = self._verify(lower_error(best, judge, goal, promising=math.inf, stop=self._is_late), judge)
        count -= self._is_late()  # the last one may have been cut short
        return replace(best, starts=max(count, 0), seconds=time.monotonic() - begin)

    def resume(self, candidate: Candidate, *, failed: bool) -> Candidate:
        """Take over a rung of an earlier search; it is fitted again unless it `failed`, and its error is above eps."""
        goal, tokens, n = self.goal, candidate.tokens, len(candidate.tokens)
        judge = self.judge(n)
        self.earlier[n] = tokens
        candidate = self._verify(replace(candidate, error=judge(tokens, goal.ridge)), judge)
        if n <= goal.max_tokens:
            self.rungs[n] = candidate
            if candidate.error > goal.eps and not failed:
                self.refits.add(n)
        return candidate

    def _verify(self, candidate: Candidate, judge: Judge) -> Candidate:
        """Search for errors above eps between the samples; fit again with such points among them."""
        goal = self.goal
        if goal.norm != "sup" or candidate.error > goal.eps:
            return candidate
        for last in (False,) * _EXCHANGES + (True,):
            rng = np.random.default_rng(goal.seed + 1)
            stored = judge.store(candidate.tokens, candidate.ridge)
            b = stored.keys[stored.lengths > 0.0] / stored.lengths[stored.lengths > 0.0, None]
            start = np.concatenate([sample(goal.dim, len(judge.checked.x), rng), b])
            x, peaks = local_maxima(partial(self._errors, stored), start, _PEAKS, rng=rng)
            if peaks.max() >= candidate.error:
                candidate = replace(candidate, error=float(peaks.max()), at=x[int(peaks.argmax())])
            if candidate.error <= goal.eps or last:
                return candidate
            x = x[peaks > goal.eps]
            self.join(x)
            judge = judge.extend(x, goal.function(x))
            tokens = least_squares(candidate.tokens, judge.fit, candidate.ridge, steps=STEPS, stop=self._is_late)
            tokens, error = minimax(tokens, judge, candidate.ridge, stop=self._is_late)
            candidate = replace(candidate, tokens=tokens, error=error, at=None)
            if error > goal.eps:
                return candidate
        raise AssertionError

    def _errors(self, tokens: Tokens, x: Float64) -> Float64:
        return np.asarray(np.linalg.norm(tokens(x) - self.goal.function(x), axis=1))

    def _list_starts(self, n: int, judge: Judge) -> Iterator[Start]:
        """Yield names and makers of tokens to start from."""
        goal, samples = self.goal, judge.fit
        longer, shorter = [k for k in self.rungs if k > n], [k for k in self.rungs if k < n]
        if n in self.earlier:
            yield "resumed", lambda: self.earlier[n]
        if longer:
            above = self.rungs[min(longer)].tokens
            yield "prune", partial(prune_tokens, above, samples, len(above) - n, goal.ridge)
        kind = {"normalize": goal.normalize, "unit": goal.unit}
        for start in range(goal.starts):
            at = partial(equal_measure, goal.dim, n, samples.y.shape[1], **kind)
            yield f"equal {start}", partial(at, start=start, seed=goal.seed + start)
        if shorter:
            below = self.rungs[max(shorter)].tokens
            yield "insert", partial(insert_tokens, below, samples, n - len(below))
        elif not goal.normalize:
            yield "kernel", partial(best_kernel, judge, goal.ridge, goal.unit)

    def _search_fixed(self, max_tokens: int) -> int | None:
        """Return the least number of tokens, up to one, for which control points that stay reach eps; None if none."""
        best, goal = None, self.goal
        for name, family in point_families(goal.dim):
            low, n = 0, max_tokens if best is None else len(best.tokens) - 1
            while low < n and not self._is_late():
                begin, b = time.monotonic(), family(n)
                judge = self.judge(len(b))
                tokens, error = fit_values(b, judge, goal.ridge, normalize=goal.normalize, unit=goal.unit)
                trial = self._verify(Candidate(tokens, goal.ridge, error, start=name, starts=1), judge)
                trial = replace(trial, seconds=time.monotonic() - begin)
                if trial.error <= goal.eps:
                    best, n = trial, (low + len(trial.tokens)) // 2
                elif best is None or trial.start != best.start:
                    break
                else:
                    low, n = n, (n + len(best.tokens)) // 2
        if best is None:
            return None
        self._keep_rung(len(best.tokens), best)
        return len(best.tokens)
