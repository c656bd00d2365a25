"""The choice of the method that evaluates a sum: the price of each by a model, and the cheapest.

Prices depend on the sum alone, not on the machine nor on what ran before: the same sum takes the same method, and has
the same bits, everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from .._loading import load
from .._types import Float64
from . import dense
from .dense.all_pairs import SMALL_WORK
from .method import EXACT, Method, Report, Scale, Tolerance, silent
from .partial import Partial, write_rows
from .problem import Problem

METHODS: dict[str, Scale] = {
    "dense": "each row",
    "truncated": "each row",
    "harmonic": "largest row",
    "lowrank": "largest row",
    "numpy": "each row",
}
"""Modules that are a `Method` each, with what their errors are relative to. Small sums load only the first."""
ALL_PAIRS = ("dense", "numpy")
"""Methods that can leave out nothing; the second is taken only if it is asked for."""
ROW_BY_ROW = tuple(name for name, scale in METHODS.items() if scale == "each row")
if TYPE_CHECKING:
    from . import harmonic, lowrank, numpy_tiles, truncated

    _TYPED: tuple[Method, ...] = (dense, truncated, harmonic, lowrank, numpy_tiles)

SMALLEST, LARGEST = 1e-30, 0.5  # what is left out on purpose, at least, far below all roundings, and at most
LENIENT = 100.0
"""Times the roundings of "dense" that a method may have that was asked for by name: far less happens than is proven."""


@dataclass(frozen=True)
class Plan:
    """The method that evaluated a sum, the prices compared, and bounds of its error.

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
    costs : mapping of str to float
        The seconds of one thread that are expected of each method that was compared; empty if none was.
    scale : {"each row", "largest row"}
        What S is in the bound: the row's own, for "dense" and "truncated", or the largest row's of the same column, for
        "harmonic" and "lowrank", whose errors are about the same everywhere.
    excluded : mapping of str to str
        Why a method was not compared, and the `rtol` that would admit it, if one would.
    atol : float
        What may be lost to underflow besides: where terms are below the smallest normal number.
    seconds : float
        The seconds of one thread that are expected, kernels loaded.
    memory : float
        The bytes that are expected to be held at once, without the arguments and with the result.

    Examples
    --------
    >>> from spherapprox.summation import Plan
    >>> Plan("dense", "few points", rtol=1e-15).scale
    'each row'
    """

    method: str
    reason: str
    rtol: float = math.nan
    costs: Mapping[str, float] = field(default_factory=dict)
    scale: str = "each row"
    excluded: Mapping[str, str] = field(default_factory=dict)
    atol: float = 0.0
    seconds: float = math.nan
    memory: float = math.nan


class Wish(NamedTuple):
    """The options of `evaluate` of which sums know.

    With `explain` plans name tolerances that admit other methods, and prices; if `brief`, nobody reads the plan of a
    dense sum; if `dry`, plans are all that is wanted.
    """

    method: str
    rtol: float | None
    workers: int | None
    report: Report = silent
    explain: bool = False
    brief: bool = False
    dry: bool = False


_SMALL = Plan("dense", "it takes about a millisecond at most: not worth a comparison")


def evaluated(problem: Problem, wish: Wish, row_by_row: bool) -> tuple[Partial, Plan]:
    """Evaluate by the method wished for, or by the cheapest; `row_by_row` rules out errors on a common scale."""
    # Step 1: choose the method
    selection, tolerance = choose(problem, wish, row_by_row)
    if wish.explain:
        selection = _priced(selection, problem, tolerance)
    if wish.dry:  # one row stands for all, its sums of the size of the largest value
        return Partial(np.zeros(1), np.full((1, problem.p), 0.5), np.ones(1)), selection
    wish.report(0, len(problem.x) * len(problem.b))
    # Step 2: sum by it
    if selection.method == "dense":
        if wish.brief:
            return dense.partial_sums(problem, tolerance, wish.workers, wish.report)[0], selection
        state = dense.sums(problem, tolerance, wish.workers, report=wish.report)
        return state.partial, replace(selection, rtol=state.error)
    state = _method(selection.method).sums(_in_float64(problem), tolerance, wish.workers, wish.report)
    error, reason = state.error, selection.reason
    # Step 3: sum doubtful rows by all pairs
    if state.doubtful is not None and len(state.doubtful):
        again = dense.sums(problem.at_rows(state.doubtful), EXACT, wish.workers, report=silent)
        write_rows(state.partial, state.doubtful, again.partial)
        error = max(error, again.error)
        reason += f"; {len(state.doubtful)} rows by all pairs, for their accuracy"
        if len(state.doubtful) == len(problem.x):
            selection, error = replace(selection, method="dense", scale="each row"), again.error
    return state.partial, replace(selection, reason=reason, rtol=error)


def _priced(selection: Plan, problem: Problem, tolerance: Tolerance) -> Plan:
    """Return the plan with the time, memory and error that are expected."""
    method, computed = _method(selection.method), problem
    if selection.method != "dense":
        computed = _in_float64(problem)
    promise = method.promise(computed, tolerance.omitted)
    seconds = selection.costs.get(selection.method) or method.cost(computed, tolerance)
    return replace(selection, rtol=promise, seconds=seconds, memory=method.memory(computed, tolerance))


def joint(plans: list[Plan], kept: float = 0.0) -> Plan:
    """Return the plan of sums evaluated one after another: the first, with the time of all and the bytes they keep."""
    seconds, memory = sum(record.seconds for record in plans), max(record.memory for record in plans)
    return replace(plans[0], seconds=seconds, memory=memory + kept)


def choose(problem: Problem, wish: Wish, row_by_row: bool) -> tuple[Plan, Tolerance]:
    """Return the plan with the method and the prices compared, and the tolerance."""
    if wish.method in ALL_PAIRS:
        return Plan(wish.method, "asked for"), EXACT if wish.rtol is None else allowed(problem, wish.rtol)
    if wish.rtol is None:
        return Plan("dense", "rtol=None allows nothing to be left out"), EXACT
    if wish.method == "auto":
        if problem.work <= SMALL_WORK:
            return _SMALL if wish.brief else replace(_SMALL, costs={}, excluded={}), EXACT  # a reader may change them
        tolerance = allowed(problem, wish.rtol)
        costs, excluded = compare(problem, tolerance, row_by_row, everything=wish.explain)
        if wish.explain:
            excluded = {
                name: why + _remedy(problem, name, tolerance, row_by_row=row_by_row) for name, why in excluded.items()
            }
        return by_price(costs, excluded), tolerance
    tolerance = allowed(problem, wish.rtol, LENIENT)
    obstacle = _obstacle(problem, wish.method, tolerance, row_by_row=row_by_row)
    if obstacle:
        obstacle += _remedy(problem, wish.method, tolerance, row_by_row=row_by_row)
        remedy = 'method="auto" takes one that can'
        raise ValueError(f"'method' {wish.method!r} cannot be used here: {obstacle}; {remedy}")
    return Plan(wish.method, "asked for", scale=METHODS[wish.method]), tolerance


def by_price(costs: dict[str, float], excluded: dict[str, str]) -> Plan:
    """Return the plan of the cheapest method."""
    prices = sorted(costs.items(), key=lambda item: item[1])
    reason = "expected: " + ", ".join(f"{name} {cost:.2g} s" for name, cost in prices)
    name, seconds = prices[0]
    return Plan(name, reason, costs=costs, scale=METHODS.get(name, "each row"), excluded=excluded, seconds=seconds)


def allowed(problem: Problem, rtol: float, leniency: float = 1.0) -> Tolerance:
    """Return the errors allowed: what "dense" promises for its roundings, and `rtol` beside these."""
    omitted = min(max(rtol, SMALLEST), LARGEST)
    return Tolerance(omitted, rtol + dense.promise(problem) * leniency)


def with_last_rounding(record: Plan, answer: Float64, dtype: np.dtype[Any], log: bool) -> Plan:
    """Add the rounding of the answer to the result's type to the plan's error bounds."""
    limits = np.finfo(dtype)
    rounding = 0.0 if dtype.itemsize == 8 else float(limits.eps) / 2.0
    if log:
        rounding *= float(np.abs(answer[np.isfinite(answer)]).max(initial=0.0))
        return replace(record, rtol=record.rtol + rounding)
    return replace(record, rtol=record.rtol + rounding, atol=record.atol + float(limits.smallest_normal))


def _method(name: str) -> Method:
    """Load the module of a method."""
    return cast(Method, load(f"{__package__}.{'numpy_tiles' if name == 'numpy' else name}"))


def _in_float64(problem: Problem) -> Problem:
    """Return the problem in float64, as all methods but "dense" compute it: few kernels are compiled."""
    return problem._replace(dtype=np.dtype(np.float64))


def compare(
    problem: Problem, tolerance: Tolerance, row_by_row: bool, everything: bool = True
) -> tuple[dict[str, float], dict[str, str]]:
    """Return the expected seconds of each method that is compared, and the obstacles to the others.

    Without `everything` no sample is taken for truncated sums that cannot be the cheapest.
    """
    costs: dict[str, float] = {}
    excluded: dict[str, str] = {}
    for name in ("dense", "harmonic", "lowrank", "truncated"):
        obstacle = _obstacle(problem, name, tolerance, row_by_row=row_by_row)
        computed = problem if name == "dense" else _in_float64(problem)
        if not (everything or obstacle) and name == "truncated":
            least: float = load(f"{__package__}.truncated").least_cost(computed)
            if least > min(costs.values()):
                obstacle = "to sort the points alone takes longer than another method"
        cost = math.inf if obstacle else _method(name).cost(computed, tolerance)
        if cost < math.inf:
            costs[name] = cost
        else:
            excluded[name] = obstacle or "no pair is far enough to be left out"
    return costs, excluded


def _obstacle(problem: Problem, name: str, tolerance: Tolerance, row_by_row: bool) -> str:
    """Return the obstacle to a method; empty if there is none."""
    if row_by_row and name not in ROW_BY_ROW:
        return "its error is not relative to each row's own sum"
    method = _method(name)
    computed = problem if name == "dense" else _in_float64(problem)
    obstacle = method.obstacle(computed, tolerance)
    promised = math.inf if obstacle else method.promise(computed, tolerance.omitted)
    if obstacle or promised <= tolerance.total:
        return obstacle
    promise = dense.promise(problem)
    return f'it expects to prove an error of {promised:.2g} of the largest row, "dense" {promise:.2g} of each'


def _remedy(problem: Problem, method: str, tolerance: Tolerance, row_by_row: bool) -> str:
    """Return the `rtol` that would admit a method, as the end of a sentence; empty where none does."""
    roundings, enough = tolerance.total - tolerance.omitted, tolerance.omitted
    if not _obstacle(problem, method, tolerance, row_by_row=row_by_row):
        return ""
    while (enough := 1.2 * enough) < LARGEST:
        rtol = float(f"{enough:.1e}")
        if not _obstacle(problem, method, Tolerance(rtol, rtol + roundings), row_by_row=row_by_row):
            return f": rtol={rtol:.1e} would admit it"
    return ""
