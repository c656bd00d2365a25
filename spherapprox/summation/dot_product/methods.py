"""The method of each head: all pairs, those of `evaluate` for its lifted rows, or a factor of low rank."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..._types import Float64
from .. import dense as all_pairs_of_rows
from .. import plan, scaling
from ..plan import Plan, Wish
from ..problem import Problem
from . import cholesky, pairs
from .masks import Mask
from .records import CHOLESKY, LIFTED
from .scores import LIFT, PADDING, Scores, unit_roundoff

WIDE = 16  # columns beyond which no method was seen to be cheaper than all pairs
ASKED = "asked for"
SHORT = 3e-3  # seconds of all pairs, besides twice the lift, up to which no other method is compared
TOGETHER = 512.0  # the concentration up to which the lift costs less than all pairs may
SLOWER, LIFTING = 9e-10, 3e-8
"""Seconds that a pair takes longer on the processor of the other methods' prices; to lift a coordinate. Measured."""
_FLOAT64 = np.dtype(np.float64)
_AFTERWARDS = "its rank and its error are known afterwards only: ask for it by name"
_SKIPPED = f"not compared beyond {WIDE} columns: ask for it by name"


def compute(
    heads: pairs.Heads, mask: Mask, wish: Wish, rank: int | None, dtype: np.dtype[Any]
) -> tuple[pairs.Sums, list[Plan]]:
    """Return the attention of all heads in a type, and the plan of each: those by all pairs together."""
    count, (m, p) = len(heads.numbers), (heads.query.shape[1], heads.value.shape[2])
    first = _plan(heads, mask, wish, dtype)
    if first.method == "dense":
        return pairs.attend(heads, mask, dtype, wish.workers, wish.report, explain=wish.explain), [first] * count
    sums, plans, dense = pairs.Sums.empty(count, m, p, dtype), [], []
    for head in range(count):
        own, record = attend(heads.one(head), wish, first, rank=rank, dtype=dtype)
        plans.append(record)
        if own is None:
            dense.append(head)
        else:
            sums.write(head, own)
    if dense:
        some = np.array(dense)
        part = pairs.attend(heads.some(some), mask.some(some), dtype, wish.workers, wish.report, explain=wish.explain)
        sums.write(some, part)
    return sums, plans


def _plan(heads: pairs.Heads, mask: Mask, wish: Wish, dtype: np.dtype[Any]) -> Plan:
    """Return the plan of all heads: of the method asked for, of all pairs, or "auto" where they are compared."""
    (m, s), (n, p) = heads.query.shape[1:], heads.value.shape[1:]
    dense = Plan("dense", ASKED, seconds=pairs.cost(float(m) * n, s + p, dtype.itemsize))
    if mask.hides and wish.method not in ("auto", "dense"):
        raise ValueError(f"'solver' {wish.method!r} cannot be used with a mask: only \"dense\" knows of masks")
    if wish.method not in ("auto", "dense"):
        return Plan(wish.method, ASKED)
    others: dict[str, str] = {}
    if wish.method == "dense":
        reason = ASKED
    elif mask.hides:
        reason = "only all pairs know of masks"
    elif wish.rtol is None:
        reason = "rtol=None allows nothing to be left out"
    elif dense.seconds <= SHORT + 2.0 * LIFTING * (s + PADDING) * (m + n):
        reason = "it takes some milliseconds at most: not worth a comparison"
    elif s > WIDE:
        reason = "no other method is compared"
        others = dict.fromkeys((LIFTED, "harmonic", "lowrank", "truncated"), _SKIPPED) | {CHOLESKY: _AFTERWARDS}
    else:
        return replace(dense, method="auto")
    return replace(dense, reason=reason, excluded=others)


def attend(
    head: pairs.Head, wish: Wish, first: Plan, *, rank: int | None, dtype: np.dtype[Any]
) -> tuple[pairs.Sums | None, Plan]:
    """Return the attention of one head without a mask, and its plan; nothing if that is all pairs."""
    largest, limits, scores = float(np.abs(head.value).max()), np.finfo(dtype), Scores.of(*head[:2], head.scale)
    if wish.method == CHOLESKY:
        sums, record = _by_factor(head, scores, largest, wish=wish, rank=rank)
    else:
        problem = _lifted(head, scores, _FLOAT64)
        chosen = _cheapest(problem, scores, wish, dense=first, dtype=dtype) if first.method == "auto" else first
        if chosen.method == "dense":
            return None, chosen
        sums, record = _by_lift(head, problem, scores, wish=wish._replace(method=chosen.method), dtype=dtype)
        reason = record.reason.replace(ASKED, chosen.reason)
        record = replace(record, reason=reason, costs=chosen.costs, excluded=chosen.excluded)
    error = sums.error + float(limits.smallest_normal) + largest * float(limits.eps) * (dtype != _FLOAT64)
    return sums._replace(error=np.minimum(error, 1.001 * (largest + np.abs(sums.output).max(axis=1)))), record


def _cheapest(problem: Problem, scores: Scores, wish: Wish, dense: Plan, dtype: np.dtype[Any]) -> Plan:
    """Return the plan of the cheapest method for lifted rows, given the time of all pairs."""
    assert wish.rtol is not None
    (m, d), n, concentration = problem.x.shape, len(problem.b), scores.concentration()
    compared, _ = plan.choose(scaling.as_weights(problem), wish, False)
    lifted = all_pairs_of_rows.cost(problem._replace(dtype=_type(dtype, concentration))) + LIFTING * d * (m + n)
    pairs_seconds = dense.seconds + SLOWER * m * n * dtype.itemsize / 8.0
    costs = {**compared.costs, LIFTED: lifted, "dense": pairs_seconds}
    cheapest = plan.by_price(costs, {**compared.excluded, CHOLESKY: _AFTERWARDS})
    # 4.16, lengths that differ: the lift costs digits that all pairs keep
    if concentration <= TOGETHER or lift_error(concentration) <= wish.rtol:
        return cheapest
    reason = f"{cheapest.reason}; the lift of all others costs digits"
    return replace(dense, method="dense", reason=reason, costs=costs, excluded=cheapest.excluded)


def _by_lift(
    head: pairs.Head, problem: Problem, scores: Scores, *, wish: Wish, dtype: np.dtype[Any]
) -> tuple[pairs.Sums, Plan]:
    """Return the attention by the sums over lifted rows, and its plan."""
    is_dense, largest = wish.method == LIFTED, float(np.abs(head.value).max())
    if is_dense and _type(dtype, scores.concentration()) != problem.dtype:
        problem = _lifted(head, scores, dtype)
    answer, below, record = scaling.with_denominators(problem, wish._replace(method="dense") if is_dense else wish)
    assert below is not None
    record, concentration = replace(record, method=LIFTED) if is_dense else record, 2.0 * problem.rate
    logs = [np.full(len(answer), concentration), -problem.rate * below.shift, np.log(below.denominator)]
    change = LIFT * unit_roundoff(problem.dtype) * concentration
    # 4.16, output: the lift and the sums
    error = largest * (record.rtol + lift_error(concentration, problem.dtype)) + record.atol
    return _with_logs(scores, answer, error, logs=logs, share=record.rtol, change=change), record


def _with_logs(
    scores: Scores, answer: Float64, error: Float64 | float, *, logs: list[Float64], share: Any, change: Any
) -> pairs.Sums:
    """Return the sums of one head, and their logarithms from parts.

    The sums are off by `share` of themselves, their logarithms by `change` besides.
    """
    offsets, offset_errors = scores.offsets
    parts = np.stack([*logs, offsets])
    with np.errstate(divide="ignore"):  # where nothing is known of a sum
        # 4.16, logarithms: -log(1 - delta)
        log_error = change - np.log1p(-np.minimum(share, 1.0)) + 2.0**-51 * np.abs(parts).sum(axis=0) + offset_errors
    error = np.zeros(len(answer)) + error
    return pairs.Sums(answer, parts.sum(axis=0), error, log_error, np.array(scores.concentration()))


def _lifted(head: pairs.Head, scores: Scores, dtype: np.dtype[Any]) -> Problem:
    """Return the split head of lifted rows, in a type."""
    x, b, concentration = scores.rows(dtype)
    return Problem(x, b, 0.5 * concentration, dtype=dtype, values=head.value, padding=PADDING)


def _type(dtype: np.dtype[Any], concentration: float) -> np.dtype[Any]:
    """Return the type that all pairs of lifted rows are computed in."""
    return dtype if concentration <= pairs.SINGLE else _FLOAT64


def lift_error(concentration: float, dtype: np.dtype[Any] = _FLOAT64) -> float:
    """Bound what the lift's roundings cost, relative to the largest absolute value."""
    # 4.16 (logits): 2 tanh(Delta/2)
    return 2.0 * math.tanh(0.5 * LIFT * unit_roundoff(dtype) * concentration)


def _by_factor(
    head: pairs.Head, scores: Scores, largest: float, *, wish: Wish, rank: int | None
) -> tuple[pairs.Sums, Plan]:
    """Return the attention by pivoted Cholesky, and its plan; queries without a certificate by all pairs."""
    assert wish.rtol is not None
    x, y = scores.balanced()
    octaves = math.frexp(largest)[1]
    table = np.ldexp(head.value.astype(np.float64), -octaves)
    if rank is None:  # as many operations as all pairs take
        (m, s), n = x.shape, len(y)
        rank = math.ceil(math.sqrt(float(m) * n * (s + table.shape[1] + 14.0) / (m + n)))
    factor = cholesky.attention(x, y, table, rtol=wish.rtol, rank=min(rank, len(x) + len(y)))
    delta, half = _logits_error(scores, y), 0.5 * factor.certificate
    shares = factor.certificate + 2.0 * math.tanh(0.5 * delta)
    with np.errstate(all="ignore"):  # of queries without a certificate
        answer = np.ldexp(factor.output, octaves)
        error, change = largest * shares, delta + (x.shape[1] + 3.0) * unit_roundoff(_FLOAT64) * factor.logarithms[0]
        sums = _with_logs(scores, answer, error, logs=[*factor.logarithms], share=half, change=change)
    doubtful = np.flatnonzero(~(factor.certificate <= wish.rtol))
    method, reason = CHOLESKY, f"{ASKED}, rank {factor.rank}"
    if doubtful.size:
        by_pairs = pairs.attend_one(head._replace(query=head.query[doubtful]), _FLOAT64, wish.workers)
        for whole, part in zip(sums[:4], by_pairs[:4], strict=True):
            whole[doubtful] = part[0]
        reason += f"; {doubtful.size} of {len(x)} queries by all pairs: their certificates exceed rtol"
        if 2 * doubtful.size > len(x):
            reason += ", low rank does not pay"
        method = "dense" if doubtful.size == len(x) else CHOLESKY
    rtol = float(np.delete(shares, doubtful).max(initial=0.0))
    return sums, Plan(method, reason, rtol, scale="largest value")


def _logits_error(scores: Scores, y: Float64) -> float:
    """Bound what the roundings of balanced rows cost in a logit."""
    # 4.16, rounding: 14 lambda + (s/2 + 2) max |y|^2 + 8
    square, half = float(np.einsum("ij,ij->i", y, y).max()), 0.5 * y.shape[1]
    return float(unit_roundoff(_FLOAT64) * (14.0 * scores.concentration() + (half + 2.0) * square + 8.0))
