"""Dot-product attention as a split head on the sphere of dimension s + 1, by the methods of `evaluate` and one more."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import _checks
from ..._types import Floats
from ..evaluation import checked_wish
from .scores import PADDING
from .single_head import CHOLESKY, AttentionPlan, attend


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
    return _heads(query, key, value, scale=scale, method=method, rtol=rtol, rank=rank, workers=workers, explain=False)[
        0
    ]


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
    output, plans = _heads(
        query, key, value, scale=scale, method=method, rtol=rtol, rank=rank, workers=workers, explain=True
    )
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
    wish = checked_wish(method, rtol, workers, extra=(CHOLESKY,))._replace(explain=explain)
    if method != CHOLESKY:
        _checks.left_out(rank, "rank", f"for method={method!r}", remedy='it is of "cholesky"')
    shape = (*leading, q.shape[-2], v.shape[-1])
    size = (q.shape[-2] + k.shape[-2]) * (q.shape[-1] + PADDING) + math.prod(shape)  # a head is lifted at a time
    _checks.memory(8.0 * size, "the result", "take fewer queries at a time")

    result: Floats = np.empty(shape, np.result_type(q, k, v))
    plans = np.empty(leading, object)
    q, k, v = (np.broadcast_to(array, leading + array.shape[-2:]) for array in (q, k, v))
    for head in np.ndindex(leading):
        result[head], plans[head] = attend(
            q[head], k[head], v[head], scale=factor, wish=wish, rank=largest_rank, dtype=result.dtype
        )
    return result, plans


def _rows(array: ArrayLike, name: str) -> Floats:
    """Return the checked rows of queries, keys or values."""
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
