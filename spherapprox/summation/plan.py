"""Which method evaluates a sum, and how it went: every method's price by a calibrated model, and the cheapest."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from types import ModuleType

import numpy as np

from .. import _checks
from . import dense
from .partial import Partial, Problem, put

_METHODS = ("dense", "truncated", "harmonic", "lowrank")
"""Modules with `sums(problem, rtol, workers, report)`, which evaluates; `obstacle(problem, rtol)`, which says why it
cannot, or nothing; `cost(problem, rtol, workers)`, the seconds that it will take. Small sums load only the first."""
ROW_BY_ROW = ("dense", "truncated")
"""Methods whose error is relative to each row's own sum of absolute values."""
METHODS = ("auto", *_METHODS)
CHEAP, LOADING = 1e-3, 0.1
"""Seconds below which dense sums are not compared with other methods, and below which none is loaded for that."""


@dataclass(frozen=True)
class Plan:
    """How a sum was evaluated, and how far it may be off.

    Parameters
    ----------
    method : str
        The method taken.
    reason : str
        Why it was taken.
    rtol : float
        A bound of ``|error| / sum_k |values_k| exp(-concentration |x - b_k|^2 / 2)`` over all rows (for a quotient,
        relative to the same sum over its denominator): the worst case of all roundings, usually 10 to 1000 times what
        happens. It leaves out what lies below the smallest normal number.
    path : str
        "numba" for compiled code, "numpy" for NumPy, "ducc0" where that optional package makes the Legendre transforms.
    costs : mapping of str to float
        The seconds that the model expects of each method that could have done it; empty if it was not asked.
    """

    method: str
    reason: str
    rtol: float
    path: str
    costs: Mapping[str, float] = field(default_factory=dict)


def check(method: str, rtol: float | None) -> None:
    """Raise unless the wishes for a method and for an accuracy are such."""
    _checks.choice(method, "method", METHODS)
    if rtol is not None:
        _checks.real(rtol, "rtol", above=0.0)
    elif method not in ("auto", "dense"):
        raise ValueError(f"'rtol' must be a number for method={method!r}, got None: only \"dense\" leaves out nothing")


def carry_out(
    problem: Problem, wish: str, rtol: float | None, workers: int, report: Callable[[int], object], row_by_row: bool
) -> tuple[Partial, Plan]:
    """Evaluate by the method wished for, or by the cheapest; `row_by_row` rules out errors on a common scale."""
    method, reason, costs = _choose(problem, wish, rtol, workers, row_by_row)
    sums = _module(method).sums(_computed(problem, method), rtol, workers, report)
    error = sums.error if method == "dense" else sums.error + _last_rounding(problem)
    if sums.doubtful is not None and len(sums.doubtful):
        again = dense.sums(problem.at_rows(sums.doubtful), rtol, workers, lambda pairs: None)
        put(sums.partial, sums.doubtful, again.partial)
        error = max(error, again.error)
        reason += f"; {len(sums.doubtful)} rows by all pairs, for their accuracy"
    return sums.partial, Plan(method, reason, error, sums.path, costs)


@cache
def _module(method: str) -> ModuleType:
    return importlib.import_module(f".{method}", __package__)


def _computed(problem: Problem, method: str) -> Problem:
    """Return the problem as the method computes it: all but "dense" in float64, so that few kernels are compiled."""
    return problem if method == "dense" else replace(problem, dtype=np.dtype(np.float64))


def _last_rounding(problem: Problem) -> float:
    """Return what the rounding of a result to float32 adds to its relative error."""
    return float(np.finfo(np.float32).eps) / 2.0 if problem.dtype == np.float32 else 0.0


def _choose(
    problem: Problem, wish: str, rtol: float | None, workers: int, row_by_row: bool
) -> tuple[str, str, dict[str, float]]:
    """Return the method, why, and the costs that were compared."""
    if wish != "auto":
        obstacle = _module(wish).obstacle(_computed(problem, wish), rtol)
        if row_by_row and wish not in ROW_BY_ROW:
            obstacle = "its error is not relative to each row's own sum"
        if obstacle:
            raise ValueError(f"'method' {wish!r} cannot be used here, {obstacle}: use method=\"auto\"")
        return wish, "asked for", {}
    if rtol is None:
        return "dense", "rtol=None allows nothing to be left out", {}
    price = dense.cost(problem, rtol, workers)
    if price < CHEAP or (price < LOADING and not any(f"{__package__}.{name}" in sys.modules for name in _METHODS[1:])):
        return "dense", f"expected: {price:.1g} s, not worth a comparison", {"dense": price}
    costs = expected(problem, rtol, workers, row_by_row)
    best = min(costs, key=lambda name: costs[name])
    others = ", ".join(f"{name} {cost:.2g} s" for name, cost in sorted(costs.items(), key=lambda item: item[1]))
    return best, f"expected: {others}", costs


def expected(problem: Problem, rtol: float, workers: int, row_by_row: bool) -> dict[str, float]:
    """Return the seconds that each method is expected to take, of those that can evaluate the problem."""
    able = [name for name in _METHODS if name in ROW_BY_ROW or not row_by_row]
    computed = {name: _computed(problem, name) for name in able}
    return {
        name: _module(name).cost(computed[name], rtol, workers)
        for name in able
        if not _module(name).obstacle(computed[name], rtol)
    }
