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
from ..fitting.growth import equal_measure, inserted, pruned
from ..fitting.projection import Samples
from ..fitting.sup import Judge, minimax
from ..fitting.tokens import Tokens
from .attempt import STEPS, Found, Wanted, attempt, improved
from .fixed import constant, families, fitted_values, kernel

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

    wanted: Wanted
    report: Callable[[Found], None]
    rungs: dict[int, Found] = field(default_factory=dict)
    known: dict[int, Tokens] = field(default_factory=dict)
    """Tokens of an earlier search, to start from."""
    again: set[int] = field(default_factory=set)
    """Numbers of tokens of rungs that are to be fitted again when the search comes to them."""
    joined: Float64 | None = None
    """Points where fits missed eps."""
    _last: tuple[tuple[int, int], Judge] | None = None

    def run(self) -> Found:
        """Climb until some number of tokens reaches eps and one less fails; else return the best rung."""
        reached = [n for n, rung in self.rungs.items() if rung.error <= self.wanted.eps]  # by an earlier search
        low, high, n, tries = 0, min(reached, default=None), FIRST[0], 0
        while True:
            if n not in self.rungs or n in self.again:
                self._keep(n, self._fitted(n))
            if self.rungs[n].error <= self.wanted.eps:
                high = n
            else:
                low = max(low, n)
            tries += high is not None
            closed = high - low <= 1 if high is not None else low >= self.wanted.most
            if closed and not self._late() and (shorter := self._fixed((high or self.wanted.most + 1) - 1)):
                high, low = shorter, max(n for n in (0, *self.rungs) if n < shorter)
                closed = high - low <= 1
            if closed or self._late():
                break
            n = self._next(low, high, tries)
        return self.rungs[self.best()]

    def join(self, x: Float64) -> None:
        """Add points to all samples from now on."""
        self.joined = x if self.joined is None else np.concatenate([self.joined, x])

    def expected(self) -> int | None:
        """Extrapolate the number of tokens that reaches eps, by log error = a - b N^(1/m) of the nearest rungs."""
        known = [(n, rung.error) for n, rung in sorted(self.rungs.items()) if 0.0 < rung.error < math.inf]
        if len(known) < 2:
            return None
        u = np.array([n ** (1.0 / self.wanted.dim) for n, _ in known])
        logs = np.log([error for _, error in known]) - math.log(self.wanted.eps)
        near = np.argsort(np.abs(logs))[:3]
        slope, constant = np.polyfit(u[near], logs[near], 1)
        if not slope < 0.0:
            return None
        log = self.wanted.dim * math.log(max(-constant / slope, 1.0))
        return math.ceil(math.exp(min(log, math.log(_MOST_EXPECTED))))

    def _next(self, low: int, high: int | None, tries: int) -> int:
        """Return the next number of tokens to try, between one that fails and one that reaches eps."""
        top = min(self.wanted.most, 2 * max(self.rungs)) if high is None else high - 1
        if high is None and max(self.rungs) < FIRST[-1]:
            return min(next(n for n in FIRST if n > max(self.rungs)), top)
        guess = min(max(self.expected() or top, low + 1), top)
        # in a bracket the errors of rungs that reach eps say little: they stop there
        return guess if guess not in self.rungs and (high is None or tries < 2) else (low + top + 1) // 2

    def limit(self, most: int) -> None:
        """Try no more tokens than some number."""
        self.wanted = replace(self.wanted, most=min(self.wanted.most, most))

    def best(self) -> int:
        """Return the fewest tokens that reach eps, or those of least error."""
        reached = [n for n, rung in self.rungs.items() if rung.error <= self.wanted.eps]
        return min(reached) if reached else min(self.rungs, key=lambda n: self.rungs[n].error)

    def _late(self) -> bool:
        return time.monotonic() > self.wanted.deadline

    def _keep(self, n: int, found: Found) -> None:
        self.rungs[n] = found
        self.again.discard(n)
        self.report(found)

    def judge(self, n: int) -> Judge:
        """Return the samples that n tokens are fitted to, and more that check the fit."""
        wanted = self.wanted
        rng, d = np.random.default_rng(wanted.seed), wanted.dim + 1
        p = wanted.function(np.eye(1, d)).shape[1]
        count = max(_LEAST_SAMPLES, _PER_NUMBER * n * (d + p))
        key = count, 0 if self.joined is None else len(self.joined)
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        found = []
        for size in (count, _CHECKED * count):
            x = sample(wanted.dim, size, rng)
            x = x if self.joined is None else np.concatenate([x, self.joined])
            found.append(Samples.of(x, wanted.function(x)))
        self._last = key, Judge(found[0], found[1], wanted.norm, wanted.value_bound, wanted.dtype, wanted.size)
        return self._last[1]

    def _fitted(self, n: int) -> Found:
        """Fit tokens from one start after another, until eps is reached."""
        wanted, begin, judge = self.wanted, time.monotonic(), self.judge(n)
        best, over, count = self._given(n, judge), threading.Event(), 0

        def stop() -> bool:
            return over.is_set() or self._late()

        def fit(start: Start) -> Found:
            return attempt(start[0], start[1](), judge, wanted, stop)

        starts = [] if best is not None and best.error <= wanted.eps else list(self._starts(n, judge))
        with closing(in_order(fit, starts, None)) as results:
            try:
                for result in results:
                    count, found = count + 1, self._verified(result, judge)
                    best = found if found.better(best) else best
                    if best is None or best.error <= wanted.eps or self._late():
                        break
            finally:
                over.set()
        assert best is not None
        if best.error > wanted.eps and not self._late():  # what the next rungs are extrapolated from
            best = self._verified(improved(best, judge, wanted, math.inf, self._late), judge)
        count -= self._late()  # the last one may have been cut short
        return replace(best, starts=max(count, 0), seconds=time.monotonic() - begin)

    def resume(self, n: int, tokens: Tokens, name: str, starts: int, failed: bool) -> Found:
        """Take over a rung of an earlier search; it is fitted again unless it `failed`, and its error is above eps."""
        wanted, judge = self.wanted, self.judge(n)
        self.known[n] = tokens
        found = self._verified(Found(tokens, wanted.ridge, judge(tokens, wanted.ridge), name, starts), judge)
        if n <= wanted.most:
            self.rungs[n] = found
            if found.error > wanted.eps and not failed:
                self.again.add(n)
        return found

    def _given(self, n: int, judge: Judge) -> Found | None:
        """Return tokens that are not fitted: of an earlier search, or a constant; None if there are none."""
        wanted = self.wanted
        given = [(self.known[n], "resumed")] if n in self.known else []
        if n == 1:
            given.append((constant(judge, wanted.normalize, wanted.unit), "constant"))
        found = [Found(tokens, wanted.ridge, judge(tokens, wanted.ridge), name) for tokens, name in given]
        return self._verified(min(found, key=lambda one: one.error), judge) if found else None

    def _verified(self, found: Found, judge: Judge) -> Found:
        """Search for errors above eps between the samples; fit again with such points among them."""
        wanted = self.wanted
        if wanted.norm != "sup" or found.error > wanted.eps:
            return found
        for last in (False,) * _EXCHANGES + (True,):
            rng = np.random.default_rng(wanted.seed + 1)
            stored = judge.stored(found.tokens, found.ridge)
            b = stored.keys[stored.lengths > 0.0] / stored.lengths[stored.lengths > 0.0, None]
            start = np.concatenate([sample(wanted.dim, len(judge.checked.x), rng), b])
            x, peaks = local_maxima(partial(self._errors, stored), start, _PEAKS, rng)
            if peaks.max() >= found.error:
                found = replace(found, error=float(peaks.max()), at=x[int(peaks.argmax())])
            if found.error <= wanted.eps or last:
                return found
            x = x[peaks > wanted.eps]
            self.join(x)
            judge = judge.joined(x, wanted.function(x))
            tokens = least_squares(found.tokens, judge.fit, found.ridge, STEPS, stop=self._late)
            tokens, error = minimax(tokens, judge, found.ridge, stop=self._late)
            found = replace(found, tokens=tokens, error=error, at=None)
            if error > wanted.eps:
                return found
        raise AssertionError

    def _errors(self, tokens: Tokens, x: Float64) -> Float64:
        return np.asarray(np.linalg.norm(tokens(x) - self.wanted.function(x), axis=1))

    def _starts(self, n: int, judge: Judge) -> Iterator[Start]:
        """Yield names and makers of tokens to start from."""
        wanted, samples = self.wanted, judge.fit
        longer, shorter = [k for k in self.rungs if k > n], [k for k in self.rungs if k < n]
        if n in self.known:
            yield "resumed", lambda: self.known[n]
        if longer:
            above = self.rungs[min(longer)].tokens
            yield "prune", partial(pruned, above, samples, len(above) - n, wanted.ridge)
        for start in range(wanted.starts):
            shape = wanted.dim, n, samples.y.shape[1], wanted.normalize, wanted.unit
            yield f"equal {start}", partial(equal_measure, *shape, start, wanted.seed + start)
        if shorter:
            below = self.rungs[max(shorter)].tokens
            yield "insert", partial(inserted, below, samples, n - len(below))
        elif not wanted.normalize:
            yield "kernel", partial(kernel, judge, wanted.ridge, wanted.unit)

    def _fixed(self, most: int) -> int | None:
        """Return the least number of tokens, up to one, for which control points that stay reach eps; None if none."""
        best = None
        for name, family in families(self.wanted.dim):
            low, n = 0, most if best is None else len(best.tokens) - 1
            while low < n and not self._late():
                found = self._with_values(name, family(n))
                if found.error <= self.wanted.eps:
                    best, n = found, (low + len(found.tokens)) // 2
                elif best is None or found.start != best.start:
                    break
                else:
                    low, n = n, (n + len(best.tokens)) // 2
        if best is None:
            return None
        self._keep(len(best.tokens), best)
        return len(best.tokens)

    def _with_values(self, name: str, b: Float64) -> Found:
        """Return tokens at control points that stay."""
        wanted, begin, judge = self.wanted, time.monotonic(), self.judge(len(b))
        tokens, error = fitted_values(b, judge, wanted.ridge, wanted.normalize, wanted.unit)
        found = self._verified(Found(tokens, wanted.ridge, error, name, 1), judge)
        return replace(found, seconds=time.monotonic() - begin)
