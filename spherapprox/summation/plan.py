"""Which method evaluates a sum, and how it went: every method's price by a calibrated model, and the cheapest."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType

import numpy as np

from .. import _checks
from .._threads import load
from . import dense
from .partial import Partial, Problem, Tolerance, put

_METHODS = ("dense", "truncated", "harmonic", "lowrank")
"""Modules with `sums(problem, tolerance, workers, report)`, which evaluates; `promise(problem, omitted)`, the bound of
all errors that it expects to prove; `obstacle(problem, tolerance)`, which says why it cannot, or nothing;
`cost(problem, tolerance)`, the seconds that one thread takes. Small sums load only the first."""
ROW_BY_ROW = ("dense", "truncated")
"""Methods whose error is relative to each row's own sum of absolute values."""
METHODS = ("auto", *_METHODS)
SMALLEST, LARGEST = 1e-30, 0.5
"""What is left out on purpose, at least, far below all roundings, and at most."""
LENIENT = 100.0
"""Times the roundings of "dense" that a method may have that was asked for by name: far less happens than is proven."""
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
        A bound of ``(|error| - atol) / S``, ``S = sum_k |values_k| exp(-concentration |x - b_k|^2 / 2)`` (for a
        quotient, S over its denominator), with all roundings, the last to the result's type too: the worst case,
        usually 10 to 1000 times what happens. For logarithms, of their absolute error.
    path : str
        "numba" for compiled code, "numpy" for NumPy, "ducc0" where that optional package makes the Legendre transforms.
    costs : mapping of str to float
        The seconds of one thread that the model expects of each method that was compared; empty if none was.
    scale : {"each row", "largest row"}
        What S is in the bound: the row's own, for "dense" and "truncated", or the largest row's of the same column, for
        "harmonic" and "lowrank", whose errors are about the same everywhere.
    excluded : mapping of str to str
        Why a method was not compared, and the `rtol` that would admit it, if one would.
    atol : float
        What may be lost to underflow besides: where terms are below the smallest normal number.
    """

    method: str
    reason: str
    rtol: float
    path: str
    costs: Mapping[str, float] = field(default_factory=dict)
    scale: str = "each row"
    excluded: Mapping[str, str] = field(default_factory=dict)
    atol: float = 0.0


def check(method: str, rtol: float | None) -> None:
    """Raise unless the wishes for a method and for an accuracy are such."""
    _checks.choice(method, "method", METHODS)
    if rtol is not None:
        _checks.real(rtol, "rtol", above=0.0)
    elif method not in ("auto", "dense"):
        raise ValueError(f"'rtol' must be a number for method={method!r}, got None: only \"dense\" leaves out nothing")


def carry_out(
    problem: Problem, wish: str, rtol: float | None, workers: int | None, report: Callable[[int], object],
    row_by_row: bool, *, explain: bool = False,
) -> tuple[Partial, Plan]:  # fmt: skip
    """Evaluate by the method wished for, or by the cheapest; `row_by_row` rules out errors on a common scale.

    Only with `explain` the plan names the tolerances that would admit other methods.
    """
    tolerance = None if rtol is None else allowed(problem, rtol, wish)
    chosen = _choose(problem, wish, tolerance, row_by_row, explain)
    sums = _module(chosen.method).sums(_computed(problem, chosen.method), tolerance, workers, report)
    error, reason = sums.error, chosen.reason
    if sums.doubtful is not None and len(sums.doubtful):
        again = dense.sums(problem.at_rows(sums.doubtful), tolerance, workers, lambda pairs: None)
        put(sums.partial, sums.doubtful, again.partial)
        error = max(error, again.error)
        reason += f"; {len(sums.doubtful)} rows by all pairs, for their accuracy"
        if len(sums.doubtful) == len(problem.x):
            chosen, error = replace(chosen, method="dense", scale="each row"), again.error
    return sums.partial, replace(chosen, reason=reason, rtol=error, path=sums.path)


def allowed(problem: Problem, rtol: float, wish: str = "auto") -> Tolerance:
    """Return the errors allowed: what "dense" promises for its roundings, and `rtol` beside these."""
    omitted = min(max(rtol, SMALLEST), LARGEST)
    return Tolerance(omitted, rtol + dense.promise(problem) * (1.0 if wish == "auto" else LENIENT))


def _module(method: str) -> ModuleType:
    return load(f"{__package__}.{method}")


def _computed(problem: Problem, method: str) -> Problem:
    """Return the problem as the method computes it: all but "dense" in float64, so that few kernels are compiled."""
    return problem if method == "dense" else replace(problem, dtype=np.dtype(np.float64))


def _plan(method: str, reason: str, costs: Mapping[str, float], excluded: Mapping[str, str]) -> Plan:
    """Return a plan whose sums have not been evaluated yet."""
    scale = "each row" if method in ROW_BY_ROW else "largest row"
    return Plan(method, reason, math.nan, "", costs, scale, excluded)


def _choose(problem: Problem, wish: str, tolerance: Tolerance | None, row_by_row: bool, explain: bool) -> Plan:
    """Return the method, why, and what was compared."""
    if tolerance is None:
        return _plan("dense", "asked for" if wish == "dense" else "rtol=None allows nothing to be left out", {}, {})
    if wish != "auto":
        obstacle = _obstacle(problem, wish, tolerance, row_by_row)
        if obstacle:
            obstacle += _remedy(problem, wish, tolerance, row_by_row)
            raise ValueError(f"'method' {wish!r} cannot be used here: {obstacle}; method=\"auto\" takes one that can")
        return _plan(wish, "asked for", {}, {})
    price = dense.cost(problem, tolerance)
    if price < CHEAP or (price < LOADING and not any(f"{__package__}.{name}" in sys.modules for name in _METHODS[1:])):
        return _plan("dense", f"expected: {price:.1g} s, not worth a comparison", {"dense": price}, {})
    costs, excluded = compare(problem, tolerance, row_by_row)
    if explain:
        excluded = {name: why + _remedy(problem, name, tolerance, row_by_row) for name, why in excluded.items()}
    best = min(costs, key=lambda name: costs[name])
    others = ", ".join(f"{name} {cost:.2g} s" for name, cost in sorted(costs.items(), key=lambda item: item[1]))
    return _plan(best, f"expected: {others}", costs, excluded)


def compare(problem: Problem, tolerance: Tolerance, row_by_row: bool) -> tuple[dict[str, float], dict[str, str]]:
    """Return the seconds that each method is expected to take, and why others are left out."""
    costs, excluded = {}, {}
    for name in _METHODS:
        obstacle = _obstacle(problem, name, tolerance, row_by_row)
        cost = math.inf if obstacle else _module(name).cost(_computed(problem, name), tolerance)
        if cost < math.inf:
            costs[name] = cost
        else:
            excluded[name] = obstacle or "no pair is far enough to be left out"
    return costs, excluded


def _obstacle(problem: Problem, method: str, tolerance: Tolerance, row_by_row: bool) -> str:
    """Say why a method cannot be used."""
    if row_by_row and method not in ROW_BY_ROW:
        return "its error is not relative to each row's own sum"
    module, computed = _module(method), _computed(problem, method)
    obstacle = str(module.obstacle(computed, tolerance))
    promised = math.inf if obstacle else module.promise(computed, tolerance.omitted)
    if obstacle or promised <= tolerance.total:
        return obstacle
    known = dense.promise(problem)
    return f'it expects to prove an error of {promised:.2g} of the largest row, "dense" {known:.2g} of each'


def _remedy(problem: Problem, method: str, tolerance: Tolerance, row_by_row: bool) -> str:
    """Return which rtol would admit a method that cannot be used, or nothing where none does."""
    roundings, enough = tolerance.total - tolerance.omitted, tolerance.omitted
    if not _obstacle(problem, method, tolerance, row_by_row):
        return ""
    while (enough := 1.2 * enough) < LARGEST:
        stated = float(f"{enough:.1e}")
        if not _obstacle(problem, method, Tolerance(stated, stated + roundings), row_by_row):
            return f": rtol={stated:.1e} would admit it"
    return ""
