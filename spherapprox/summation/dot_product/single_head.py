"""Attention of one head: rows of all lengths lifted together, octave by octave, or a factor of low rank."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..._types import Float64, Floats
from .. import bands, plan, scaling
from ..plan import ALL_PAIRS, METHODS, Plan, Wish, with_last_rounding
from ..problem import Problem
from . import cholesky
from .scores import LIFT, PADDING, Scores, unit_roundoff

CHOLESKY = "cholesky"
TOGETHER = {8: 512.0, 4: 64.0}
"""By the size of a number: the concentration up to which rows of all lengths are lifted together."""
_FLOAT64, _FLOAT32 = np.dtype(np.float64), np.dtype(np.float32)
_AFTERWARDS = "its rank and its error are known afterwards only: ask for it by name"


@dataclass(frozen=True, eq=False)
class AttentionPlan(Plan):
    """The method that computed attention of a head, the prices compared, and bounds of its error.

    Parameters
    ----------
    method, reason, costs, excluded
        As those of `Plan`: what was taken, why, and why the others were not.
    rtol, scale, atol
        As those of `Plan`, for the sums over the lifted rows; `error` has these in it. For "cholesky" `rtol` is
        relative to the largest of the absolute values.
    error : ndarray, shape (T,)
        A bound of the largest error of the outputs of each query, ``|output - exact|``, with all roundings: the worst
        case, usually 10 to 1000 times what happens.
    concentration : float
        ``scale R_q R_k``: no logit is larger in absolute value, once keys are relative to their centre. R_q is the
        length of the longest query, R_k that of the longest key.

    Examples
    --------
    >>> from spherapprox.summation import explain_attention
    >>> output, plan = explain_attention([[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [[0.0], [1.0]])
    >>> plan.method, plan.error.shape, bool(plan.error[0] < 1e-13)
    ('dense', (1,), True)
    """

    error: Float64 = field(default_factory=lambda: np.empty(0), repr=False)
    concentration: float = 0.0


def attend(
    query: Floats, key: Floats, value: Floats, *, scale: float, wish: Wish, rank: int | None, dtype: np.dtype[Any]
) -> tuple[Floats, AttentionPlan]:
    """Return the outputs (m, p) of one head, and their plan."""
    scores, largest = Scores.of(query, key, scale), float(np.abs(value).max())
    concentration = scores.concentration()
    if wish.method == CHOLESKY:
        answer, method_plan, shares = _by_factor(scores, value, wish, rank=rank)
    elif wish.method in ("auto", *ALL_PAIRS) and concentration > TOGETHER[dtype.itemsize]:
        answer, method_plan, shares = _by_octaves(scores, value, wish)
    else:
        answer, method_plan, shares = _together(scores, value, wish, dtype=dtype)
    rounded = with_last_rounding(method_plan, answer, dtype, log=False)
    excluded = rounded.excluded
    if wish.explain and wish.method == "auto":
        excluded = {**excluded, CHOLESKY: _AFTERWARDS}
    # 4.16, output: the lift and the sums, then the last rounding
    error = largest * (shares + (rounded.rtol - method_plan.rtol)) + rounded.atol
    error = np.minimum(error, 1.001 * (largest + np.abs(answer).max(axis=1)))
    record = AttentionPlan(**vars(rounded) | {"excluded": excluded, "error": error, "concentration": concentration})
    return answer.astype(dtype, copy=False), record


def _together(scores: Scores, value: Floats, wish: Wish, dtype: np.dtype[Any]) -> tuple[Float64, Plan, Float64]:
    """Return the outputs (m, p) with all rows lifted together, their plan, and error bounds (m,).

    Errors are relative to the largest absolute value, but for underflow.
    """
    single = dtype == _FLOAT32 and scores.concentration() <= TOGETHER[4]
    problem, concentration = _problem(scores, value, _FLOAT32 if single else _FLOAT64)
    answer, record = scaling.sums(problem, wish)
    return answer, record, np.full(len(answer), record.rtol + lift_error(concentration, problem.dtype))


def _problem(
    scores: Scores, value: Floats, dtype: np.dtype[Any], *, queries: Any = slice(None), keys: Any = slice(None)
) -> tuple[Problem, float]:
    """Return the split head of some queries and keys, and its concentration."""
    x, b, concentration = scores.rows(dtype, queries, keys)
    return Problem(x, b, 0.5 * concentration, dtype=dtype, values=value[keys], padding=PADDING), concentration


def lift_error(concentration: float, dtype: np.dtype[Any]) -> float:
    """Bound what the lift's roundings cost, relative to the largest absolute value."""
    # 4.16 (logits): 2 tanh(Delta/2)
    return 2.0 * math.tanh(0.5 * LIFT * unit_roundoff(dtype) * concentration)


def _by_octaves(scores: Scores, value: Floats, wish: Wish) -> tuple[Float64, Plan, Float64]:
    """Return the attention of `_together`, octave by octave of lengths, or by a cheaper method accurate enough."""
    problem, concentration = _problem(scores, value, _FLOAT64)
    selection, _ = plan.choose(scaling.as_weights(problem), wish, False)
    if selection.method not in ALL_PAIRS and wish.rtol is not None and lift_error(concentration, _FLOAT64) <= wish.rtol:
        return _together(scores, value, wish, dtype=_FLOAT64)
    pairs = wish._replace(method="dense" if wish.method == "auto" else wish.method)
    queries, keys = (np.frexp(np.maximum(sizes / TOGETHER[8], 0.5))[1] for sizes in scores.sizes())  # 0 for all below
    answer, shares = np.empty((len(queries), value.shape[1])), np.empty(len(queries))
    plans = []
    for octave in np.unique(queries):
        members = queries == octave
        parts = [
            _problem(scores, value, _FLOAT64, queries=members, keys=keys == other_octave)
            for other_octave in np.unique(keys)
        ]
        answer[members], record = bands.quotients([bands.Band(*part) for part in parts], pairs)
        shares[members] = record.rtol + lift_error(max(top for _, top in parts), _FLOAT64)
        plans.append(record)
    reason = selection.reason
    if len(plans) > 1 or np.unique(keys).size > 1:
        reason += f"; queries of {len(plans)} and keys of {np.unique(keys).size} sizes apart, for their accuracy"
    record = replace(
        plan.joint(plans), method=pairs.method, costs=selection.costs, excluded=selection.excluded, reason=reason,
        scale=METHODS["dense"], rtol=max(record.rtol for record in plans), atol=max(record.atol for record in plans),
    )  # fmt: skip
    return answer, record, shares


def _by_factor(scores: Scores, value: Floats, wish: Wish, rank: int | None) -> tuple[Float64, Plan, Float64]:
    """Return the attention of `_together` by pivoted Cholesky; queries without a certificate by all pairs."""
    assert wish.rtol is not None
    x, y = scores.balanced()
    octaves = int(np.frexp(np.abs(value).max())[1])
    table = np.ldexp(value.astype(np.float64), -octaves)
    if rank is None:  # as many operations as all pairs take
        (m, s), n = x.shape, len(y)
        rank = math.ceil(math.sqrt(float(m) * n * (s + value.shape[1] + 14.0) / (m + n)))
    factor = cholesky.attention(x, y, table, rtol=wish.rtol, rank=min(rank, len(x) + len(y)))
    with np.errstate(over="ignore"):  # of queries without a certificate
        answer = np.ldexp(factor.output, octaves)
    shares = factor.certificate + _logits_error(scores, y)
    doubtful = np.flatnonzero(~(factor.certificate <= wish.rtol))
    record = Plan(CHOLESKY, f"asked for, rank {factor.rank}", 0.0, scale="largest value")
    if doubtful.size:
        doubtful_scores, again = scores.at(doubtful), wish._replace(method="dense")
        apart = scores.concentration() > TOGETHER[8]
        answer[doubtful], by_pairs, shares[doubtful] = (
            _by_octaves(doubtful_scores, value, again)
            if apart
            else _together(doubtful_scores, value, again, dtype=_FLOAT64)
        )
        reason = f"{record.reason}; {doubtful.size} of {len(x)} queries by all pairs: their certificates exceed rtol"
        if 2 * doubtful.size > len(x):
            reason += ", low rank does not pay"
        method = "dense" if doubtful.size == len(x) else CHOLESKY
        record = replace(record, method=method, reason=reason, atol=by_pairs.atol)
    return answer, replace(record, rtol=float(shares.max())), shares


def _logits_error(scores: Scores, y: Float64) -> float:
    """Bound what the roundings of balanced rows cost, relative to the largest absolute value."""
    # 4.16, rounding: 14 lambda + (s/2 + 2) max |y|^2 + 8
    square, half = float(np.einsum("ij,ij->i", y, y).max()), 0.5 * y.shape[1]
    delta = unit_roundoff(_FLOAT64) * (14.0 * scores.concentration() + (half + 2.0) * square + 8.0)
    return 2.0 * math.tanh(0.5 * delta)
