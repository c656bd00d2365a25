"""Dot-product attention as a split head on the sphere of dimension s + 1, by the methods of `evaluate` and one more."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _checks
from .._types import Float64, Floats
from . import bands, cholesky, plan, scaling
from .evaluation import check, with_last_rounding
from .plan import METHODS, Plan, Wish
from .problem import Problem
from .scores import LIFT, PADDING, Scores, unit_roundoff

CHOLESKY = "cholesky"
TOGETHER = {8: 512.0, 4: 64.0}
"""By the size of a number: the concentration up to which rows of all lengths are lifted together."""
_FLOAT64 = np.dtype(np.float64)
_FLOAT32 = np.dtype(np.float32)
_AFTERWARDS = "its rank and its error are known afterwards only: ask for it by name"


@dataclass(frozen=True, eq=False)
class AttentionPlan(Plan):
    """The method that computed attention of a head, the prices compared, and bounds of its error.

    Parameters
    ----------
    method, reason, path, costs, excluded
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


def attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    scale: float | None = None,
    method: str = "auto",
    rtol: float | None = 1e-14,
    rank: int | None = None,
    workers: int | None = None,
) -> Floats:
    """Compute dot-product attention of queries to keys of any length.

    It is ``softmax(scale * query key^T) value``, without a mask: each query sees all keys. Causal attention is
    ``AttentionLayer.attend(x, causal=True)`` of `spherapprox.prompts.prefix`. Rows become unit rows by two more
    coordinates (the lift), so that it is the split head of concentration ``scale R_q R_k`` on the sphere of dimension s
    + 1, and every method of `evaluate` does it, with its proven error.

    Parameters
    ----------
    query : array_like, shape (..., T, s)
        Queries; the leading axes are those of batches and heads, and broadcast.
    key : array_like, shape (..., n, s)
        Keys. Where heads of queries share some, as in grouped-query attention, repeat them, and values.
    value : array_like, shape (..., n, p)
        Values.
    scale : float, optional
        Factor of the inner products, 1 / sqrt(s) by default.
    method : {"auto", "dense", "truncated", "harmonic", "lowrank", "cholesky"}
        As that of `evaluate`. "harmonic" is for s = 1; "lowrank" takes polynomials of s variables, for small
        concentrations and few columns: not for heads of 64. "cholesky" takes a factor of low rank that follows the
        data, with an error for each query that is proven afterwards, which "auto" does not try.
    rtol : float or None, default 1e-14
        As that of `evaluate`: what may be left out, relative to averages of absolute values. With "cholesky", what a
        query's error may be relative to the largest absolute value: queries without this certificate are computed by
        all pairs.
    rank : int or None, default None
        Largest rank, of "cholesky" alone; None for one that costs as much as all pairs do.
    workers : int or None, default None
        As that of `evaluate`. The result is the same for any number, on one `path` of the plan.

    Returns
    -------
    ndarray, shape (..., T, p)
        float32 if query, key and value all are, else float64.

    See Also
    --------
    spherapprox.summation.explain_attention : the same with its plan.

    Raises
    ------
    TypeError, ValueError
        If arrays are empty, not finite or do not fit together, logits may exceed 1e300, or the method cannot be used.

    Notes
    -----
    Keys are taken relative to their centre, which changes nothing else. A logit is off by at most 6 roundings of the
    concentration, and outputs by as much times the largest absolute value: rows of all lengths are lifted together up
    to a concentration of 512 (64 in float32), and beyond that those of each octave of lengths apart, so that short rows
    do not pay for long ones. With L = scale |q| R_k for a query, by "dense" and "auto" its error was never seen above
    ``3e-16 (5 + max(L, min(concentration, 512)))`` times the largest absolute value, in float32
    ``2e-7 (1 + max(L, min(concentration, 64)))``; `AttentionPlan` has the proven bounds.

    References
    ----------
    docs/theorems/4.16-attention.md.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import attention
    >>> rng = np.random.default_rng(0)
    >>> query, key, value = rng.standard_normal((3, 2, 500, 4))  # two heads
    >>> weights = np.exp(query @ np.swapaxes(key, -1, -2) / 2.0)
    >>> exact = weights @ value / weights.sum(axis=-1, keepdims=True)
    >>> bool(np.abs(attention(query, key, value) - exact).max() < 1e-14)
    True
    """
    return _heads(query, key, value, scale, method=method, rtol=rtol, rank=rank, workers=workers, explain=False)[0]


def explain_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    scale: float | None = None,
    method: str = "auto",
    rtol: float | None = 1e-14,
    rank: int | None = None,
    workers: int | None = None,
) -> tuple[Floats, AttentionPlan | NDArray[np.object_]]:
    """Compute dot-product attention, and say how.

    Parameters
    ----------
    query, key, value, scale, method, rtol, rank, workers
        As those of `spherapprox.attention`.

    Returns
    -------
    ndarray, shape (..., T, p)
        The output, as `spherapprox.attention` returns it.
    AttentionPlan, or ndarray of them
        What was done, why, and bounds of the error; for arrays with leading axes one for each head.

    Raises
    ------
    TypeError, ValueError
        As `spherapprox.attention` does.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.summation import explain_attention
    >>> query, key, value = np.random.default_rng(0).standard_normal((3, 2, 500, 4))  # two heads
    >>> weights = np.exp(query @ np.swapaxes(key, -1, -2) / 2.0)
    >>> exact = weights @ value / weights.sum(axis=-1, keepdims=True)
    >>> output, plans = explain_attention(query, key, value, method="cholesky", rtol=1e-3)
    >>> bool(np.abs(output - exact)[0].max() <= plans[0].error.max() < 5e-3)
    True
    """
    output, plans = _heads(query, key, value, scale, method=method, rtol=rtol, rank=rank, workers=workers, explain=True)
    return output, plans if plans.ndim else plans[()]


def _heads(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, scale: float | None, *, method: str, rtol: float | None,
    rank: int | None, workers: int | None, explain: bool,
) -> tuple[Floats, NDArray[np.object_]]:  # fmt: skip
    """Return the outputs and the plans of all heads."""
    q, k, v = (_rows(array, name) for array, name in ((query, "query"), (key, "key"), (value, "value")))
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError(
            "'query', 'key' and 'value' must have shapes (..., T, s), (..., n, s) and (..., n, p), got "
            f"{q.shape}, {k.shape} and {v.shape}"
        )
    leading = _checks.broadcast_shape(_axes_remedy(q, k), query=q.shape[:-2], key=k.shape[:-2], value=v.shape[:-2])
    factor = q.shape[-1] ** -0.5 if scale is None else _checks.real(scale, "scale", above=0.0)
    largest_rank = None if rank is None else _checks.integer(rank, "rank", minimum=1)
    _check_method(method, rtol)
    if method != CHOLESKY:
        _checks.left_out(rank, "rank", f"for method={method!r}", 'it is of "cholesky"')
    wish = Wish(method, rtol, _checks.workers(workers), explain=explain)
    shape = (*leading, q.shape[-2], v.shape[-1])
    size = (q.shape[-2] + k.shape[-2]) * (q.shape[-1] + PADDING) + math.prod(shape)  # a head is lifted at a time
    _checks.memory(8.0 * size, "the result", "take fewer queries at a time")

    result: Floats = np.empty(shape, np.result_type(q, k, v))
    plans = np.empty(leading, object)
    q, k, v = (np.broadcast_to(array, leading + array.shape[-2:]) for array in (q, k, v))
    for head in np.ndindex(leading):
        result[head], plans[head] = _attended(q[head], k[head], v[head], factor, wish, largest_rank, result.dtype)
    return result, plans


def _rows(array: ArrayLike, name: str) -> Floats:
    remedy = "one column is value[:, None]" if name == "value" else f"one row is {name}[None, :]"
    array = _checks.detached(array)
    remedy = remedy if getattr(array, "ndim", 0) == 1 else ""
    return _checks.floating(array, name, (..., "rows", "columns"), remedy=remedy)


def _axes_remedy(query: Floats, key: Floats) -> str:
    """Word what leading axes are, and how heads of queries get keys that they share."""
    heads, shared = (array.shape[-3] if array.ndim > 2 else 1 for array in (query, key))
    words = "their leading axes are batches and heads"
    if heads > shared and heads % shared == 0:
        words += f"; where heads share keys, take np.repeat(key, {heads // shared}, axis=-3), and of value the same"
    return words


def _check_method(method: str, rtol: float | None) -> None:
    """Check the name of a method and the range of `rtol`."""
    _checks.choice(method, "method", ("auto", *METHODS, CHOLESKY))
    check("auto" if method == CHOLESKY else method, rtol)
    if method == CHOLESKY and rtol is None:
        raise ValueError(f"'rtol' must be a number for method={method!r}, got None: only \"dense\" leaves out nothing")


def _attended(
    query: Floats, key: Floats, value: Floats, scale: float, wish: Wish, rank: int | None, dtype: np.dtype[Any]
) -> tuple[Floats, AttentionPlan]:
    """Return the outputs (m, p) of one head, and their plan."""
    scores, largest = Scores.of(query, key, scale), float(np.abs(value).max())
    concentration = scores.concentration()
    if wish.method == CHOLESKY:
        answer, method_plan, shares = _by_factor(scores, value, wish, rank)
    elif wish.method in ("auto", "dense") and concentration > TOGETHER[dtype.itemsize]:
        answer, method_plan, shares = _by_octaves(scores, value, wish)
    else:
        answer, method_plan, shares = _together(scores, value, wish, dtype)
    rounded = with_last_rounding(method_plan, answer, dtype, False)
    excluded = rounded.excluded
    if wish.explain and wish.method == "auto":
        excluded = {**excluded, CHOLESKY: _AFTERWARDS}
    # 4.16, output: the lift and the sums, then the last rounding
    error = largest * (shares + (rounded.rtol - method_plan.rtol)) + rounded.atol
    error = np.minimum(error, 1.001 * (largest + np.abs(answer).max(axis=1)))
    record = AttentionPlan(
        rounded.method, rounded.reason, rounded.rtol, rounded.path, rounded.costs, rounded.scale, excluded,
        rounded.atol, error, concentration,
    )  # fmt: skip
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
    scores: Scores, value: Floats, dtype: np.dtype[Any], queries: Any = slice(None), keys: Any = slice(None)
) -> tuple[Problem, float]:
    """Return the split head of some queries and keys, and its concentration."""
    x, b, concentration = scores.rows(dtype, queries, keys)
    return Problem(x, b, 0.5 * concentration, dtype, value[keys], padding=PADDING), concentration


def lift_error(concentration: float, dtype: np.dtype[Any]) -> float:
    """Bound what the lift's roundings cost, relative to the largest absolute value."""
    # 4.16 (logits): 2 tanh(Delta/2)
    return 2.0 * math.tanh(0.5 * LIFT * unit_roundoff(dtype) * concentration)


def _by_octaves(scores: Scores, value: Floats, wish: Wish) -> tuple[Float64, Plan, Float64]:
    """Return what `_together` does, by all pairs of rows whose lengths are in the same octaves, lifted together.

    Another method is taken if it is the cheapest, and what the lift costs is within the tolerance.
    """
    problem, concentration = _problem(scores, value, _FLOAT64)
    chosen, _ = plan.choose(scaling.as_weights(problem), wish, False)
    if chosen.method != "dense" and wish.rtol is not None and lift_error(concentration, _FLOAT64) <= wish.rtol:
        return _together(scores, value, wish, _FLOAT64)
    dense = replace(wish, method="dense")
    queries, keys = (_octaves(sizes) for sizes in scores.sizes())
    answer, shares = np.empty((len(queries), value.shape[1])), np.empty(len(queries))
    plans = []
    for octave in np.unique(queries):
        members = queries == octave
        parts = [_problem(scores, value, _FLOAT64, members, keys == other) for other in np.unique(keys)]
        answer[members], record = bands.quotients([bands.Band(*part) for part in parts], dense)
        shares[members] = record.rtol + lift_error(max(top for _, top in parts), _FLOAT64)
        plans.append(record)
    reason = chosen.reason
    if len(plans) > 1 or np.unique(keys).size > 1:
        reason += f"; queries of {len(plans)} and keys of {np.unique(keys).size} sizes apart, for their accuracy"
    return answer, replace(
        chosen, method="dense", reason=reason, rtol=max(octave_plan.rtol for octave_plan in plans), path=plans[0].path,
        scale=METHODS["dense"], atol=max(octave_plan.atol for octave_plan in plans),
    ), shares  # fmt: skip


def _octaves(sizes: Float64) -> NDArray[np.int32]:
    """Return the octaves of sizes (n,) above `TOGETHER`, 0 for all below."""
    return np.frexp(np.maximum(sizes / TOGETHER[8], 0.5))[1]


def _by_factor(scores: Scores, value: Floats, wish: Wish, rank: int | None) -> tuple[Float64, Plan, Float64]:
    """Return what `_together` does, by pivoted Cholesky; queries without a certificate by all pairs."""
    assert wish.rtol is not None
    x, y = scores.balanced()
    octaves = int(np.frexp(np.abs(value).max())[1])
    table = np.ldexp(value.astype(np.float64), -octaves)
    largest_rank = _rank_worth(x, value.shape[1], len(y)) if rank is None else rank
    factor = cholesky.attention(x, y, table, wish.rtol, min(largest_rank, len(x) + len(y)))
    with np.errstate(over="ignore"):  # of queries without a certificate
        answer = np.ldexp(factor.output, octaves)
    shares = factor.certificate + _logits_error(scores, y)
    doubtful = np.flatnonzero(~(factor.certificate <= wish.rtol))
    record = Plan(CHOLESKY, f"asked for, rank {factor.rank}", 0.0, "numpy", scale="largest value")
    if doubtful.size:
        few, again = scores.at(doubtful), replace(wish, method="dense")
        apart = scores.concentration() > TOGETHER[8]
        answer[doubtful], by_pairs, shares[doubtful] = (
            _by_octaves(few, value, again) if apart else _together(few, value, again, _FLOAT64)
        )
        reason = f"{record.reason}; {doubtful.size} of {len(x)} queries by all pairs: their certificates exceed rtol"
        if 2 * doubtful.size > len(x):
            reason += ", low rank does not pay"
        method = "dense" if doubtful.size == len(x) else CHOLESKY
        record = replace(record, method=method, reason=reason, path=by_pairs.path, atol=by_pairs.atol)
    return answer, replace(record, rtol=float(shares.max())), shares


def _rank_worth(x: Float64, p: int, n: int) -> int:
    """Return the rank at which a factor takes as many operations as all pairs of queries x (m, s) and n keys."""
    m, s = x.shape
    return math.ceil(math.sqrt(float(m) * n * (s + p + 14.0) / (m + n)))


def _logits_error(scores: Scores, y: Float64) -> float:
    """Bound what the roundings of balanced rows cost, relative to the largest absolute value."""
    # 4.16, rounding: 14 lambda + (s/2 + 2) max |y|^2 + 8
    square, half = float(np.einsum("ij,ij->i", y, y).max()), 0.5 * y.shape[1]
    delta = unit_roundoff(_FLOAT64) * (14.0 * scores.concentration() + (half + 2.0) * square + 8.0)
    return 2.0 * math.tanh(0.5 * delta)
