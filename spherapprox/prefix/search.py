"""The search for the shortest prefix: lengths that are doubled, then bracketed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ..shortest.growth import pruned
from ..shortest.tokens import Tokens
from .fitting import Fit, finished, tried
from .problem import Problem
from .selection import METHODS, Masses, selected, starts


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
        begin, fits = time.monotonic(), []
        for name, make in self._starts(length):
            fits.append(tried(self.problem, make(), name))
            if time.monotonic() > self.deadline:
                break
        fit = finished(self.problem, fits, self.norm, enough)
        closed = [self._selected(length, method, fit.ridge) for method in METHODS]
        fit = self.fits[length] = min([fit, *closed], key=self._measure)
        self.report(fit, time.monotonic() - begin)
        return fit

    def measured(self, length: int) -> float:
        """Return the error of the fit of a length."""
        return self._measure(self.fits[length])

    def _measure(self, fit: Fit) -> float:
        return fit.errors.measure(self.norm, self.problem.samples.mass)

    def _selected(self, length: int, method: str, ridge: float) -> Fit:
        """Return tokens in closed form: fits are worse at times, for so long keys that all squares are flat."""
        tokens = selected(self.masses, length, method)
        return Fit(tokens, ridge, self.problem.errors(tokens), method)

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
            if closed or time.monotonic() > self.deadline:
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
            yield "prune", lambda: pruned(fit.tokens, self.problem.samples, len(fit.tokens) - length, fit.ridge)
        yield from starts(self.masses, length, self.count, self.seed)
