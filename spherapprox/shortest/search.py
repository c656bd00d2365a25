"""The search for the fewest tokens: rungs of one length each, extrapolated, bracketed and closed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from .._types import Float64
from ..error.search import local_maxima, sample
from .growth import equal_measure, inserted, pruned
from .projection import Samples, fitted
from .sup import minimax, worst
from .tokens import Tokens

_FIRST = (1, 2, 4)
_STEPS = 60
"""Levenberg and Marquardt's steps of a fit, at most."""
_PROMISING = 1.8
"""Errors over eps up to which Lawson's weights are worth their time."""
_LEAST_SAMPLES, _PER_NUMBER, _CHECKED = 3000, 6, 5
"""Samples of a fit, at least and for each number of the head, and samples that check it for each of these."""
_PEAKS, _EXCHANGES = 50, 3
"""Local maxima of the error that join the samples when a fit misses eps there, and how often."""


@dataclass(frozen=True)
class Wanted:
    """What a search wants: a function (n, d) -> (n, p), the error, tokens of some kind, and how much work it may do."""

    function: Callable[[Float64], Float64]
    dim: int
    eps: float
    normalize: bool
    unit: bool
    ridge: float
    most: int
    starts: int
    seed: int
    deadline: float = math.inf


@dataclass(frozen=True)
class Found:
    """The best tokens of one length, their largest error seen, and how they came about."""

    tokens: Tokens
    error: float
    start: str = ""
    starts: int = 0
    seconds: float = 0.0

    def better(self, other: Found | None) -> bool:
        """Tell whether its error is smaller than that of another one, if there is one."""
        return other is None or self.error < other.error


@dataclass
class Search:
    """Rungs by their number of tokens, and the samples that they were fitted to and checked at."""

    wanted: Wanted
    report: Callable[[Found], None]
    rungs: dict[int, Found] = field(default_factory=dict)
    joined: Float64 | None = None
    """Points where fits missed eps."""

    def run(self) -> Found:
        """Climb until some number of tokens reaches eps and one less fails; else return the best rung."""
        low, high, n, tries = 0, None, _FIRST[0], 0
        while True:
            if n not in self.rungs:
                self.rungs[n] = self._fitted(n)
                self.report(self.rungs[n])
            if self.rungs[n].error <= self.wanted.eps:
                high = n
            else:
                low = max(low, n)
            tries += high is not None
            closed = high - low <= 1 if high is not None else low >= self.wanted.most
            if closed or time.monotonic() > self.wanted.deadline:
                break
            n = self._next(low, high, tries)
        return min(self.rungs.values(), key=lambda rung: rung.error) if high is None else self.rungs[high]

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
        return math.ceil(min(max(-constant / slope, 1.0) ** self.wanted.dim, 1e9)) if slope < 0.0 else None

    def _next(self, low: int, high: int | None, tries: int) -> int:
        """Return the next number of tokens to try, between one that fails and one that reaches eps."""
        top = min(self.wanted.most, 2 * max(self.rungs)) if high is None else high - 1
        if high is None and max(self.rungs) < _FIRST[-1]:
            return min(next(n for n in _FIRST if n > max(self.rungs)), top)
        guess = min(max(self.expected() or top, low + 1), top)
        # in a bracket the errors of rungs that reach eps say little: they stop there
        return guess if guess not in self.rungs and (high is None or tries < 2) else (low + top + 1) // 2

    def _samples(self, n: int) -> tuple[Samples, Samples]:
        """Return the samples that n tokens are fitted to, and more that check the fit."""
        rng, d = np.random.default_rng(self.wanted.seed), self.wanted.dim + 1
        p = self.wanted.function(np.eye(1, d)).shape[1]
        count = max(_LEAST_SAMPLES, _PER_NUMBER * n * (d + p))
        found = []
        for size in (count, _CHECKED * count):
            x = sample(self.wanted.dim, size, rng)
            x = x if self.joined is None else np.concatenate([x, self.joined])
            found.append(Samples.of(x, self.wanted.function(x)))
        return found[0], found[1]

    def _fitted(self, n: int) -> Found:
        """Fit tokens from one start after another, until eps is reached."""
        wanted, begin, best = self.wanted, time.monotonic(), None
        samples, checked = self._samples(n)
        for count, (name, make) in enumerate(self._starts(n, samples), 1):
            found = Found(fitted(make(), samples, wanted.ridge, _STEPS), math.inf, name, count)
            found = replace(found, error=worst(found.tokens, checked))
            if wanted.eps < found.error and (found.error < _PROMISING * wanted.eps or found.better(best)):
                tokens, error = minimax(found.tokens, samples, checked, wanted.ridge)
                found = replace(found, tokens=tokens, error=error)
            if found.error <= wanted.eps:
                found, samples, checked = self._verified(found, samples, checked)
            if found.better(best):
                best = found
            if best is not None and (best.error <= wanted.eps or time.monotonic() > wanted.deadline):
                break
        assert best is not None
        return replace(best, starts=count, seconds=time.monotonic() - begin)

    def _verified(self, found: Found, samples: Samples, checked: Samples) -> tuple[Found, Samples, Samples]:
        """Search for errors above eps between the samples; fit again with such points among them."""
        wanted = self.wanted
        for last in (False,) * _EXCHANGES + (True,):
            rng = np.random.default_rng(wanted.seed + 1)
            b = found.tokens.keys / found.tokens.lengths[:, None]
            start = np.concatenate([sample(wanted.dim, len(checked.x), rng), b])
            x, peaks = local_maxima(partial(self._errors, found.tokens), start, _PEAKS, rng)
            error = max(float(peaks.max()), worst(found.tokens, checked))
            if error <= wanted.eps or last:
                return replace(found, error=error), samples, checked
            x = x[peaks > wanted.eps]
            self.join(x)
            samples, checked = (part.joined(x, wanted.function(x)) for part in (samples, checked))
            tokens = fitted(found.tokens, samples, wanted.ridge, _STEPS)
            tokens, error = minimax(tokens, samples, checked, wanted.ridge)
            if error > wanted.eps:
                return replace(found, tokens=tokens, error=error), samples, checked
            found = replace(found, tokens=tokens)
        raise AssertionError

    def _errors(self, tokens: Tokens, x: Float64) -> Float64:
        return np.asarray(np.linalg.norm(tokens(x) - self.wanted.function(x), axis=1))

    def _starts(self, n: int, samples: Samples) -> Iterator[tuple[str, Callable[[], Tokens]]]:
        """Yield names and makers of tokens to start from."""
        wanted = self.wanted
        longer, shorter = [k for k in self.rungs if k > n], [k for k in self.rungs if k < n]
        if longer:
            above = self.rungs[min(longer)].tokens
            yield "prune", partial(pruned, above, samples, len(above) - n, wanted.ridge)
        for start in range(wanted.starts):
            shape = wanted.dim, n, samples.y.shape[1], wanted.normalize, wanted.unit
            yield f"equal {start}", partial(equal_measure, *shape, start, wanted.seed + start)
        if shorter:
            below = self.rungs[max(shorter)].tokens
            yield "insert", partial(inserted, below, samples, n - len(below))
