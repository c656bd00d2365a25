"""The method of each head: all pairs, those of `evaluate` for its lifted rows, or a factor of low rank."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..._types import Float64
from .. import plan, scaling
from ..plan import Plan, Wish
from ..problem import Problem
from . import cholesky, pairs
from .masks import Mask
from .records import CHOLESKY, LIFTED
from .scores import LIFT, PADDING, Scores, unit_roundoff

WIDE = 16  # columns beyond which no method was seen to be cheaper than all pairs
ASKED = "asked for"
SHORT = 1e-3  # seconds of all pairs up to which no other method is compared
TOGETHER = 512.0  # the concentration up to which the lift costs less than all pairs may
SLOWER = 1.5  # times as long all pairs take on the processor of the other methods' prices
_FLOAT64 = np.dtype(np.float64)
_AFTERWARDS = "its rank and its error are known afterwards only: ask for it by name"
_SKIPPED = f"not compared beyond {WIDE} columns: ask for it by name"


def compute(
    heads: pairs.Heads, mask: Mask, wish: Wish, rank: int | None, dtype: np.dtype[Any]
) -> tuple[pairs.Sums, list[Plan]]:
    """Return the attention of all heads in a type, and the plan of each: those by all pairs together."""
    count, (m, p) = len(heads.numbers), (heads.query.shape[1], heads.value.shape[2])
    plans = _plans(heads, mask, wish, dtype)
    dense = np.array([record.method == "dense" for record in plans])
    if dense.all():
        return pairs.attend(heads, mask, dtype, wish.workers, wish.report, explain=wish.explain), plans
    sums = pairs.Sums.empty(count, m, p, dtype)
    if dense.any():
        some, own_mask = np.flatnonzero(dense), mask.some(np.flatnonzero(dense))
        part = pairs.attend(heads.some(some), own_mask, dtype, wish.workers, wish.report, explain=wish.explain)
        sums.write(some, part)
    for head in range(count):
        chosen = plans[head]
        if not dense[head]:
            own, record = attend(heads.one(head), wish._replace(method=chosen.method), rank, dtype=dtype)
            sums.write(head, own)
            reason = record.reason.replace(ASKED, chosen.reason)
            plans[head] = replace(record, reason=reason, costs=chosen.costs, excluded=chosen.excluded)
    return sums, plans


def _plans(heads: pairs.Heads, mask: Mask, wish: Wish, dtype: np.dtype[Any]) -> list[Plan]:
    """Return the plan of each head: of the cheapest method but the factor of low rank, or of the one asked for."""
    count, (m, s), (n, p) = len(heads.numbers), heads.query.shape[1:], heads.value.shape[1:]
    dense = Plan("dense", ASKED, seconds=pairs.cost(float(m) * n, s + p, dtype.itemsize))
    if mask.hides and wish.method not in ("auto", "dense"):
        raise ValueError(f"'solver' {wish.method!r} cannot be used with a mask: only \"dense\" knows of masks")
    if wish.method not in ("auto", "dense"):
        return [Plan(wish.method, ASKED)] * count
    others: dict[str, str] = {}
    if wish.method == "dense":
        reason = ASKED
    elif mask.hides:
        reason = "only all pairs know of masks"
    elif wish.rtol is None:
        reason = "rtol=None allows nothing to be left out"
    elif dense.seconds <= SHORT:
        reason = "it takes about a millisecond at most: not worth a comparison"
    elif s > WIDE:
        reason = "no other method is compared"
        others = dict.fromkeys(("harmonic", "lowrank", "truncated"), _SKIPPED) | {CHOLESKY: _AFTERWARDS}
    else:
        return [_cheapest(heads.one(head), wish, dense, dtype) for head in range(count)]
    return [replace(dense, reason=reason, excluded=others)] * count


def _cheapest(head: pairs.Head, wish: Wish, dense: Plan, dtype: np.dtype[Any]) -> Plan:
    """Return the plan of the cheapest method, given that of all pairs."""
    assert wish.rtol is not None
    scores = Scores.of(*head[:2], head.scale)
    problem, concentration = _lifted(head, scores, _FLOAT64), scores.concentration()
    compared, _ = plan.choose(scaling.as_weights(problem), wish, False)
    lifted = plan.dense.cost(problem._replace(dtype=_type(dtype, concentration)))
    costs = {**compared.costs, LIFTED: lifted, "dense": SLOWER * dense.seconds}
    cheapest = plan.by_price(costs, {**compared.excluded, CHOLESKY: _AFTERWARDS})
    # 4.16, lengths that differ: the lift costs digits that all pairs keep
    if concentration <= TOGETHER or lift_error(concentration) <= wish.rtol:
        return cheapest
    reason = f"{cheapest.reason}; the lift of all others costs digits"
    return replace(dense, reason=reason, costs=cheapest.costs, excluded=cheapest.excluded)


def attend(head: pairs.Head, wish: Wish, rank: int | None, dtype: np.dtype[Any]) -> tuple[pairs.Sums, Plan]:
    """Return the attention of one head without a mask, by a method other than all pairs, and its plan."""
    largest, limits, scores = float(np.abs(head.value).max()), np.finfo(dtype), Scores.of(*head[:2], head.scale)
    if wish.method == CHOLESKY:
        sums, record = _by_factor(head, scores, largest, wish=wish, rank=rank)
    else:
        sums, record = _by_lift(head, scores, largest, wish=wish, dtype=dtype)
    error = sums.error + float(limits.smallest_normal) + largest * float(limits.eps) * (dtype != _FLOAT64)
    return sums._replace(error=np.minimum(error, 1.001 * (largest + np.abs(sums.output).max(axis=1)))), record


def _by_lift(
    head: pairs.Head, scores: Scores, largest: float, *, wish: Wish, dtype: np.dtype[Any]
) -> tuple[pairs.Sums, Plan]:
    """Return the attention by the sums over lifted rows, and its plan."""
    is_dense = wish.method == LIFTED
    own = _type(dtype, scores.concentration()) if is_dense else _FLOAT64
    problem = _lifted(head, scores, own)
    answer, below, record = scaling.with_denominators(problem, wish._replace(method="dense") if is_dense else wish)
    assert below is not None
    record, concentration = replace(record, method=LIFTED) if is_dense else record, 2.0 * problem.rate
    logs = [np.full(len(answer), concentration), -problem.rate * below.shift, np.log(below.denominator)]
    # 4.16, logarithms: one more coordinate, of the query
    change = (LIFT + 1.0) * unit_roundoff(own) * concentration
    # 4.16, output: the lift and the sums
    error = largest * (record.rtol + lift_error(concentration, own)) + record.atol
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
    return unit_roundoff(_FLOAT64) * (14.0 * scores.concentration() + (half + 2.0) * square + 8.0)
