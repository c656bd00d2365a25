"""The search for the shortest prefix: lengths that are doubled, then bracketed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from ....fitting.growth import prune_tokens
from ....fitting.tokens import Tokens
from .fitting import Fit, finished, tried
from .problem import Problem
from .selection import METHODS, Masses, selected, starts

_FOLDS = 5
"""Of so many queries one is left out to see what a fit does at others."""


@dataclass
class Search:
    """Fits by their length, and how they are made."""

    problem: Problem
    norm: str
    count: int
    seed: int
    deadline: float
    report: Callable[[Fit, float], None]
    fits: dict[int, Fit] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.masses = Masses(self.problem)

    def fitted(self, length: int, enough: float = 0.0) -> Fit:
        """Return the best fit of one length from all starts."""
        begin = time.monotonic()
        closed = [self._selected(length, method) for method in METHODS]
        fits = []
        for name, make in self._starts(length):
            if self.stop():
                break
            fits.append(tried(self.problem, make(), name, self.stop))
        if fits:
            closed.append(finished(self.problem, fits, self.norm, enough, self.stop))
        fit = self.fits[length] = min(closed, key=self._measure)
        self.report(fit, time.monotonic() - begin)
        return fit

    def left_out(self, length: int) -> float | None:
        """Return the root mean squared error at every fifth query of a brief fit to the others, if there is time."""
        different = np.sort(np.unique(self.problem.x, axis=0, return_index=True)[1])
        if len(different) < _FOLDS or self.stop():
            return None
        others = self.problem.at(np.delete(different, np.s_[::_FOLDS]))
        name, make = next(starts(Masses(others), length, 1, self.seed, self.stop))
        tokens = tried(others, make(), name, self.stop).tokens
        return self.problem.at(different[::_FOLDS]).errors(tokens).rms

    def stop(self) -> bool:
        """Tell whether time has ended."""
        return time.monotonic() > self.deadline

    def measured(self, length: int) -> float:
        """Return the error of the fit of a length."""
        return self._measure(self.fits[length])

    def _measure(self, fit: Fit) -> float:
        return fit.errors.measure(self.norm, self.problem.samples.mass)

    def _selected(self, length: int, method: str) -> Fit:
        """Return tokens in closed form: fits are worse at times, for so long keys that all squares are flat."""
        tokens = selected(self.masses, length, method, self.stop)
        return Fit(tokens, 0.0, self.problem.errors(tokens), method)

    def shortest(self, eps: float, limit: int) -> int | None:
        """Return the least length below the limit whose error is at most eps; None if there is none."""
        low, high = 0, None
        while True:
            length = min(max(2 * low, 1), limit - 1) if high is None else self._between(low, high, eps)
            self.fitted(length, eps)
            if self.measured(length) <= eps:
                high = length
            else:
                low = length
            closed = high - low <= 1 if high is not None else low >= limit - 1
            if closed or self.stop():
                return high

    def _between(self, low: int, high: int, eps: float) -> int:
        """Return a length in a bracket where log error, linear in log length below it, reaches eps."""
        known = sorted(n for n in self.fits if n <= low)[-2:]
        middle = (low + high) // 2
        if len(known) < 2 or len([n for n in self.fits if low <= n]) > 2:
            return middle
        (u, v), (a, b) = map(math.log, known), (math.log(max(self.measured(n), 1e-300)) for n in known)
        guess = math.exp(v + (b - math.log(eps)) * (v - u) / (a - b)) if a > b else middle
        return min(max(math.ceil(min(guess, 1e9)), low + 1), high - 1)

    def _starts(self, length: int) -> Iterator[tuple[str, Callable[[], Tokens]]]:
        """Yield names and makers of tokens to start from: those of a longer fit first."""
        longer = [n for n in self.fits if n > length]
        if longer:
            fit = self.fits[min(longer)]
            yield "prune", lambda: prune_tokens(fit.tokens, self.problem.samples, len(fit.tokens) - length, fit.ridge)
        yield from starts(self.masses, length, self.count, self.seed, self.stop)
