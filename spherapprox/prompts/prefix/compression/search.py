"""The search for the shortest prefix: lengths that are doubled, then bracketed; and what is asked of it, `Descent`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from .... import _checks
from ...._threads import interruptible
from ....fitting.growth import prune_tokens
from ....fitting.tokens import Tokens
from .fitting import Effort, Fit, fit_briefly, fit_fully
from .problem import Problem
from .result import Trial
from .selection import METHODS, Masses, fit_chosen, fit_means, starts

Result = TypeVar("Result")
_PRUNINGS = 16
"""Tokens are pruned so many times at most."""


@dataclass(frozen=True)
class Descent:
    """How `compress` searches for keys and biases: the error that is made small, the starts, and the end.

    Parameters
    ----------
    norm : {"sup", "rms"}
        The error over the queries that is made small and compared with eps: the largest one, or the root mean square,
        which carries over better to other queries. It is that of the outputs, or that of the log masses times `mass`
        if this is larger.
    mass : float, optional
        What an error of 1 in the log mass counts, against one of the largest length of an output. 0.5 is the default
        with biases, what it amounts to at most beside other tokens (Notes of `CompressedPrefix`); 0 without, for a
        prefix that is used alone or has few tokens cannot keep both.
    starts : int, default 4
        Starts for each number of tokens: means of clusters of keys, tokens chosen by matching pursuit and by attention
        (`select`), then more clusters. A start stands for some 4e10 operations, a second or two of one core: where
        all would take more, there are fewer and shorter ones, and none at last (Notes of `compress`).
    rng : int, default 0
        Seed of the clusters; the same one gives the same prefix, where NumPy has the same BLAS and threads.
    time_limit : float, optional
        Seconds for the search, but for the first sums over all queries and one solution in closed form; the result
        then depends on the machine. It ends within the iteration that is going on, a second up to 500 tokens.
    progress : bool, default False
        Print a line for each number of tokens.
    held_out : int or tuple of int, default 5
        Queries that no fit sees, at which results say their errors: one of so many different ones (copies of it, too),
        or those of these numbers, counted from 0. 0 is for none.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import Descent, Prefix, compress
    >>> key, value, queries = np.random.default_rng(0).standard_normal((3, 60, 4))
    >>> compress(Prefix(key, value), queries, length=6, solver=Descent(norm="rms", starts=1)).n
    6
    """

    norm: str = "sup"
    mass: float | None = None
    starts: int = 4
    rng: int = 0
    time_limit: float | None = None
    progress: bool = False
    held_out: int | tuple[int, ...] = 5

    def __post_init__(self) -> None:
        _checks.choice(self.norm, "norm", ("sup", "rms"))
        if self.mass is not None:
            _checks.real(self.mass, "mass", minimum=0.0, maximum=1e100)
        _checks.integer(self.starts, "starts", minimum=1, maximum=1000)
        _checks.integer(self.rng, "rng", minimum=0, maximum=2**31)
        if self.time_limit is not None:
            _checks.real(self.time_limit, "time_limit", above=0.0)
        _checks.flag(self.progress, "progress")
        object.__setattr__(self, "held_out", check_held_out(self.held_out))


def check_held_out(value: object) -> int | tuple[int, ...]:
    """Return a checked 'held_out': one query of so many, or the numbers of some."""
    if isinstance(value, int | float):
        return _checks.integer(value, "held_out", minimum=0)
    places = _checks.instance(value, "held_out", tuple, list, np.ndarray, remedy="one of so many, or their numbers")
    return tuple(_checks.integer(place, f"held_out[{k}]", minimum=0) for k, place in enumerate(places))


class Clock:
    """Tells whether time has ended, or nobody waits any more."""

    def __init__(self, limit: float | None = None) -> None:
        self.deadline = math.inf if limit is None else time.monotonic() + limit

    def __call__(self) -> bool:
        """Return whether it has."""
        return time.monotonic() > self.deadline

    def run(self, function: Callable[[], Result]) -> Result:
        """Return a function's result; an interruption ends the wait at once, and the work at the next look."""
        try:
            return interruptible(function)
        except BaseException:
            self.deadline = -math.inf
            raise


@dataclass
class Search:
    """Fits by their length, for a problem and perhaps an error, with a row of the history for each."""

    problem: Problem
    others: Problem | None
    solver: Descent
    eps: float | None
    fits: dict[int, Fit] = field(default_factory=dict)
    history: dict[int, Trial] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.stop = Clock(self.solver.time_limit)
        self.masses = Masses(self.problem, self.stop)

    def fit(self, length: int, enough: float = 0.0) -> Fit:
        """Return the best fit of one length from all starts."""
        begin = time.monotonic()
        effort = Effort.of(self.problem, length, self.solver.starts)
        found: list[Fit] = []  # fits are worse at times, for so long keys that all squares are flat
        for method in reversed(METHODS):
            if found and (self.stop() or not effort.pursuit):
                break
            indices = self.masses.choose(method, length)
            tokens = fit_chosen(self.masses, indices)
            found.append(Fit(tokens, 0.0, self.problem.errors(tokens), start=method, indices=indices))
        if not (effort.starts or self.stop()):
            tokens = fit_means(self.masses, length, self.solver.rng, effort.clusters)
            found.append(Fit(tokens, 0.0, self.problem.errors(tokens), start="k-means"))
        fits = []
        for name, make in self._starts(length, effort):
            if self.stop():
                break
            fits.append(fit_briefly(self.problem, make(), name, effort.brief, stop=self.stop))
        if fits:
            options: dict[str, Any] = {"norm": self.solver.norm, "enough": enough, "stop": self.stop}
            found.append(fit_fully(self.problem, fits, effort, **options))
        fit = self.fits[length] = min(found, key=self._measure)
        self._report(fit, time.monotonic() - begin)
        return fit

    def _report(self, fit: Fit, seconds: float) -> None:
        """Add the row of a fit to the history, and print it if progress is shown."""
        e = fit.errors
        held_out = None if self.others is None else self.others.errors(fit.tokens).rms
        row = Trial(len(fit.tokens), **vars(e), held_out=held_out, start=fit.start, seconds=seconds)
        self.history[row.n] = row
        if self.solver.progress:
            goal = "" if self.eps is None else f" (eps {self.eps:.3g})"
            errors = f"error {row.error:.3g} rms {row.rms:.3g} mass error {row.mass_error:.3g}{goal}"
            print(f"N={row.n} {errors} by {row.start}, {row.seconds:.1f} s", flush=True)

    def error(self, length: int) -> float:
        """Return the error of the fit of a length."""
        return self._measure(self.fits[length])

    def _measure(self, fit: Fit) -> float:
        return fit.errors.measure(self.solver.norm, self.problem.samples.mass)

    def shortest(self, eps: float, limit: int) -> int | None:
        """Return the least length below the limit whose error is at most eps; None if there is none."""
        low, high = 0, None
        while True:
            length = min(max(2 * low, 1), limit - 1) if high is None else self._between(low, high, eps)
            self.fit(length, eps)
            if self.error(length) <= eps:
                high = length
            else:
                low = length
            closed = high - low <= 1 if high is not None else low >= limit - 1
            if closed or self.stop():
                return high

    def _between(self, low: int, high: int, eps: float) -> int:
        """Return a length in a bracket where log error, linear in log length below it, reaches eps."""
        lengths = sorted(n for n in self.fits if n <= low)[-2:]
        middle = (low + high) // 2
        if len(lengths) < 2 or len([n for n in self.fits if low <= n]) > 2:
            return middle
        (u, v), (a, b) = map(math.log, lengths), (math.log(max(self.error(n), 1e-300)) for n in lengths)
        guess = math.exp(v + (b - math.log(eps)) * (v - u) / (a - b)) if a > b else middle
        return min(max(math.ceil(min(guess, 1e9)), low + 1), high - 1)

    def _starts(self, length: int, effort: Effort) -> Iterator[tuple[str, Callable[[], Tokens]]]:
        """Yield names and makers of tokens to start from: those of a longer fit first."""
        longer = [n for n in self.fits if n > length]
        if longer and effort.starts:
            fit = self.fits[min(longer)]
            count = len(fit.tokens) - length
            options: dict[str, Any] = {"at_once": -(-count // _PRUNINGS), "stop": self.stop}
            yield "prune", lambda: prune_tokens(fit.tokens, self.problem.samples, count, fit.ridge, **options)
        yield from starts(self.masses, length, effort.starts, seed=self.solver.rng, rounds=effort.clusters)
