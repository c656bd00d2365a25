"""Fewer tokens for the heads of one sequence in one layer, by any of the methods."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import torch

from ..... import _checks
from ....._threads import slices
from . import descent, peers
from .options import CONTEXT, FITTED, FitOptions
from .problem import FOLDS, Heads, Targets, Tokens, are_held_out, errors, gather, part_of
from .selection import attend_most, pursue_masses
from .solving import attention_of, closed_form, solve_values

_ENTRIES = 2**25
"""Numbers of attention of the heads that are fitted at once: 256 MiB in float64, of which a few are held."""
_FEWEST = 20
"""Iterations for which a descent is begun."""
_FEW, _SPARE = 2.0, 3.0
"""Numbers at the queries over the free ones of tokens: up to the first errors elsewhere are several times larger, from
the second on a descent gains at other queries, too."""


@dataclass
class Plan:
    """A method, whether tokens have biases, the options, and when time ends."""

    method: str
    bias: bool
    options: FitOptions
    deadline: float = math.inf

    def __post_init__(self) -> None:
        if self.options.time_limit is not None:
            self.deadline = min(self.deadline, time.monotonic() + self.options.time_limit)

    def stop(self) -> bool:
        """Tell whether time has ended."""
        return time.monotonic() > self.deadline

    def coverage(self, heads: Heads, count: int) -> float:
        """Return the numbers at the queries over the free ones of `count` tokens, infinite where none are."""
        if self.method not in FITTED:
            return math.inf
        (m, s), p = heads.queries.shape[1:], heads.value.shape[2]
        moves = self.method == "descent" and self.iterations(heads, count) is not None
        return float(m * (p + 1) / (count * (p + 1 + s * moves)))

    def iterations(self, heads: Heads, count: int) -> int | None:
        """Return the iterations of a descent, None where there is work for too few, or queries are."""
        (m, s), p = heads.queries.shape[1:], heads.value.shape[2]
        work = descent.operations(m - m // FOLDS, s, p, count)
        iterations = int(min(self.options.iterations, self.options.work / work))
        few = m < FOLDS or m * (p + 1) < _SPARE * count * (s + p + 1)
        return None if few or iterations < min(_FEWEST, self.options.iterations) else iterations

    def shorten(self, heads: Heads, targets: Targets, count: int, scores: torch.Tensor | None) -> Tokens:
        """Return `count` tokens of each head; `scores` (G, n) are what the context says of its tokens."""
        if self.method not in FITTED:
            places = self._choose(heads, count, scores)
            return Tokens(gather(heads.key, places), gather(heads.value, places), None, places)
        size = max(_ENTRIES // (heads.queries.shape[1] * count), 1)
        parts = slices(len(heads.key), size)
        return joined([self._fit(heads.at(part), targets.at(part), count) for part in parts])

    def _choose(self, heads: Heads, count: int, scores: torch.Tensor | None) -> torch.Tensor:
        shape = heads.key.shape[:2]
        if self.method in CONTEXT:
            assert scores is not None
            return {"snapkv": peers.snapkv, "h2o": peers.h2o}[self.method](scores, count)
        places = {"recent": peers.recent, "uniform": peers.uniform}[self.method](shape, count)
        return places.to(heads.key.device)

    def _fit(self, heads: Heads, targets: Targets, count: int) -> Tokens:
        """Return tokens with biases and values of their own."""
        method = "top attention" if self.stop() else self.method
        ridge = self.options.ridge
        places = attend_most(targets, count) if method == "top attention" else pursue_masses(heads, targets, count)
        key, value = (gather(part, places) for part in (heads.key, heads.value))
        bias, value = closed_form(heads, targets, key, value, self.bias, ridge)
        chosen = Tokens(key, value, bias, places)
        if method != "descent" or (iterations := self.iterations(heads, count)) is None:
            return chosen
        return self._descended(heads, targets, chosen, places, iterations)

    def _descended(
        self, heads: Heads, targets: Targets, chosen: Tokens, places: torch.Tensor, iterations: int
    ) -> Tokens:
        """Return tokens at free keys, of each head those that were chosen where they are better at other queries."""
        count, mass, ridge = places.shape[1], self.options.mass, self.options.ridge
        out = are_held_out(heads.queries.shape[1], heads.key.device)
        (some, answers), (others, truth) = (part_of(heads, targets, rows) for rows in (~out, out))

        def measure(tokens: Tokens) -> torch.Tensor:
            error, mass_error = errors(tokens, others, truth)
            return (error.square() + (mass * mass_error).square()).nan_to_num(nan=math.inf)

        fit = descent.Fit.of(some, answers, self.bias, mass, ridge)
        starts = [descent.means(fit, count, torch.Generator().manual_seed(0)), gather(heads.key, places)]
        fitted = descent.refine(fit, starts, iterations, self.stop, measure)
        key, value = (gather(part, places) for part in (heads.key, heads.value))
        bias, value = closed_form(some, answers, key, value, self.bias, ridge)
        better = measure(fitted) < measure(Tokens(key, value, bias, None))
        fitted = replace(fitted, value=solve_all(heads, targets, fitted, ridge))
        return mixed(better, fitted, chosen)


def warn_of_few(coverage: float, source: str, count: int, amount: str) -> None:
    """Warn where queries, that come from an argument, are few for `count` tokens, which another one says."""
    if coverage < _FEW:
        _checks.warn_inaccurate(
            f"'{source}' must have {math.ceil(_FEW / coverage)} times the queries for {count} tokens: give more, or a "
            f"smaller '{amount}'; errors at other queries may be far larger, those of the table say by how much"
        )


def solve_all(heads: Heads, targets: Targets, tokens: Tokens, ridge: float) -> torch.Tensor:
    """Return the values of tokens that are best at all queries."""
    weights = attention_of(heads.logits(heads.queries, tokens.key), tokens.bias)
    return solve_values(weights, targets.outputs, tokens.value, ridge)


def mixed(mask: torch.Tensor, one: Tokens, other: Tokens) -> Tokens:
    """Return tokens of one kind where a mask (G,) has heads, else of the other; none have places."""
    key, value = (torch.where(mask[:, None, None], *pair) for pair in ((one.key, other.key), (one.value, other.value)))
    bias = None
    if one.bias is not None and other.bias is not None:
        bias = torch.where(mask[:, None], one.bias, other.bias)
    return Tokens(key, value, bias, None)


def joined(parts: list[Tokens]) -> Tokens:
    """Return the tokens of all heads, from those of some."""
    key, value = (torch.cat([getattr(part, name) for part in parts]) for name in ("key", "value"))
    biases = [part.bias for part in parts if part.bias is not None]
    places = [part.places for part in parts if part.places is not None]
    return Tokens(key, value, torch.cat(biases) if biases else None, torch.cat(places) if places else None)
