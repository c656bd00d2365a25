"""Dot-product attention with the arguments of torch's: all pairs by tiles, or a split head on the sphere S^(s+1)."""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import _checks
from ..._types import Floats
from ..plan import Plan
from ..progress import is_shown, reported
from .masks import Mask
from .methods import compute
from .pairs import Heads, Sums
from .records import AttentionPlan, AttentionSolver, solver_of, wish_of


def attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    attn_mask: ArrayLike | None = None,
    *,
    is_causal: bool | str = False,
    enable_gqa: bool = False,
    scale: float | None = None,
    solver: AttentionSolver | str | None = None,
) -> Floats:
    """Compute dot-product attention of queries to keys of any length, with the arguments of torch's.

    It is ``softmax(scale * query key^T + mask) value``. A query that sees no key has the output 0.

    Parameters
    ----------
    query : array_like, shape (..., T, s)
        Queries; the leading axes are those of batches and heads, and broadcast.
    key : array_like, shape (..., n, s)
        Keys.
    value : array_like, shape (..., n, p)
        Values.
    attn_mask : array_like of bool or float, optional
        Of a shape that broadcasts to (..., T, n): True where a query attends to a key, or numbers that are added to
        logits, of which -inf hides a key. None hides none.
    is_causal : {False, True, "lower_right", "upper_left"}, default False
        Whether queries see no later keys. True is "lower_right": the last query sees all keys, query i the first
        ``n - T + i + 1``, as where keys of earlier tokens are cached; where T > n the first T - n queries see none.
        "upper_left" has query i see the first i + 1, which is what torch's own ``is_causal=True`` means: the same for
        T = n alone. With `attn_mask` a query sees what both allow (torch refuses both).
    enable_gqa : bool, default False
        Whether heads share keys and values (grouped-query attention): of axis -3, that of heads, `query` has a multiple
        of those of `key`, and of `value`, and consecutive heads share.
    scale : float, optional
        Factor of the inner products, 1 / sqrt(s) by default.
    solver : AttentionSolver, str or None, default None
        How it is computed: an `spherapprox.summation.AttentionSolver`, or the name of its method. A mask is for "auto"
        and "dense".

    Returns
    -------
    ndarray, shape (..., T, p)
        float32 if query, key, value and a mask of floats all are, else float64.

    See Also
    --------
    spherapprox.summation.explain_attention : the same with its plan, error bounds and logarithms of the sums.

    Raises
    ------
    TypeError, ValueError
        If arrays are empty, not finite or do not fit together, the mask has nan or inf or is of integers, logits may
        exceed 1e300, or the method cannot be used.

    Notes
    -----
    All pairs go tile by tile, in memory that grows with T + n: tiles that a causal mask, a window or a padding hides
    are left out, found in masks of any kind, and those visible as a whole take no mask. A causal mask halves the work.

    Keys are taken relative to their centre, which changes nothing else. With L = scale |q| R_k for a query, R_k the
    length of the longest key from there, its error by "dense" was never seen above ``3e-16 (5 + L)`` times the
    largest absolute value, in float32 ``5e-7 (1 + L) + 4e-11 n``, the latter where values are of one sign, and computed
    in float64 where an L of the head is above 64. Where rows have at most 16 columns and sequences are long, "auto" may
    take "lifted", of which this holds with the largest L of the head. `AttentionPlan` has the proven bounds.

    References
    ----------
    docs/theorems/4.16-attention.md; Dao, Fu, Ermon, Rudra and Re, FlashAttention: fast and memory-efficient exact
    attention with IO-awareness, 2022.

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
    >>> causal = np.tril(weights)
    >>> exact = causal @ value / causal.sum(axis=-1, keepdims=True)
    >>> bool(np.abs(attention(query, key, value, is_causal=True) - exact).max() < 1e-14)
    True
    """
    arguments = _checked(query, key, value, attn_mask, is_causal=is_causal, enable_gqa=enable_gqa, scale=scale)
    return _attend(*arguments, solver_of(solver), explain=False)[0].output


def explain_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    attn_mask: ArrayLike | None = None,
    *,
    is_causal: bool | str = False,
    enable_gqa: bool = False,
    scale: float | None = None,
    solver: AttentionSolver | str | None = None,
) -> tuple[Floats, AttentionPlan]:
    """Compute dot-product attention, with bounds of its errors and the logarithms of its sums, and say how.

    Parameters
    ----------
    query, key, value, attn_mask, is_causal, enable_gqa, scale, solver
        As those of `spherapprox.attention`.

    Returns
    -------
    ndarray, shape (..., T, p)
        The output, as `spherapprox.attention` returns it.
    AttentionPlan
        What was done, why, bounds of the error and ``log(sum(exp(logits)))``, for all heads together.

    Raises
    ------
    TypeError, ValueError
        As `spherapprox.attention` does.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.summation import AttentionSolver, explain_attention
    >>> query, key, value = np.random.default_rng(0).standard_normal((3, 2, 500, 4))  # two heads
    >>> weights = np.exp(query @ np.swapaxes(key, -1, -2) / 2.0)
    >>> output, plan = explain_attention(query, key, value)
    >>> bool(np.abs(plan.log_sum_exp - np.log(weights.sum(axis=-1))).max() < 1e-13)
    True
    >>> exact = weights @ value / weights.sum(axis=-1, keepdims=True)
    >>> output, plan = explain_attention(query, key, value, solver=AttentionSolver("cholesky", rtol=1e-3))
    >>> bool(np.abs(output - exact).max() <= plan.error.max() < 5e-3)
    True
    """
    heads, mask, leading, dtype = _checked(
        query, key, value, attn_mask, is_causal=is_causal, enable_gqa=enable_gqa, scale=scale
    )
    sums, plans = _attend(heads, mask, leading, dtype, solver_of(solver), explain=True)
    each = np.empty(leading, object)
    each.reshape(-1)[:] = plans
    error, logs, log_error = (part.reshape(*leading, -1) for part in (sums.error, sums.log_sum_exp, sums.log_error))
    return sums.output, AttentionPlan(error, logs, log_error, sums.concentration.reshape(leading), each)


def _checked(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, attn_mask: Any, *, is_causal: object, enable_gqa: object,
    scale: float | None,
) -> tuple[Heads, Mask, tuple[int, ...], np.dtype[Any]]:  # fmt: skip
    """Return the checked heads and masks, the shape of the leading axes, and the result's type."""
    arrays = [_rows(array, name) for array, name in ((query, "query"), (key, "key"), (value, "value"))]
    q, k, v = arrays
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError(
            "'query', 'key' and 'value' must have shapes (..., T, s), (..., n, s) and (..., n, p), got "
            f"{q.shape}, {k.shape} and {v.shape}"
        )
    factor = q.shape[-1] ** -0.5 if scale is None else _checks.real(scale, "scale", above=0.0)
    names = [np.arange(math.prod(array.shape[:-2])).reshape(array.shape[:-2]) for array in arrays]
    remedy = "their leading axes are batches and heads"
    if _checks.flag(enable_gqa, "enable_gqa"):
        names[1:] = [_shared(q.shape, own, name) for own, name in zip(names[1:], ("key", "value"), strict=True)]
    elif q.ndim > 2 and k.ndim > 2 and q.shape[-3] > k.shape[-3] and q.shape[-3] % k.shape[-3] == 0:
        remedy += "; where heads share keys, take enable_gqa=True"
    leading = _checks.broadcast_shape(remedy, query=names[0].shape, key=names[1].shape, value=names[2].shape)
    mask = Mask.of(attn_mask, is_causal, (*leading, q.shape[-2]), k.shape[-2])
    size = sum(array.size for array in arrays) + math.prod(leading) * q.shape[-2] * (v.shape[-1] + q.shape[-1])
    _checks.memory(8.0 * size, "the result", "take fewer heads or queries at a time")
    numbers = np.empty((*leading, 3), np.intp)
    for column, own in enumerate(names):
        numbers[..., column] = own
    q, k, v = (array.reshape(-1, *array.shape[-2:]) for array in arrays)
    floats = [] if mask.array is None or mask.array.dtype == np.bool_ else [mask.array]
    return Heads(q, k, v, numbers.reshape(-1, 3), factor), mask, leading, np.result_type(*arrays, *floats)


def _shared(query: tuple[int, ...], own: NDArray[np.intp], name: str) -> NDArray[np.intp]:
    """Return the numbers of the keys or values that heads of queries have, consecutive heads the same."""
    if len(query) < 3 or own.ndim < 1 or query[-3] % own.shape[-1]:
        raise ValueError(
            f"'query' must have a multiple of the heads of '{name}', axis -3, for enable_gqa=True, got leading axes "
            f"{query[:-2]} and {own.shape}"
        )
    return np.repeat(own, query[-3] // own.shape[-1], axis=-1)


def _attend(
    heads: Heads, mask: Mask, leading: tuple[int, ...], dtype: np.dtype[Any], solver: AttentionSolver, *, explain: bool
) -> tuple[Sums, list[Plan]]:
    """Return the sums of all heads, outputs with the leading axes, and the plan of each head."""
    wish = wish_of(solver)._replace(explain=explain)
    with reported(wish) if is_shown.get() else nullcontext(wish) as shown:
        sums, plans = compute(heads, mask, shown, rank=solver.rank, dtype=dtype)
    return sums._replace(output=sums.output.reshape(*leading, *sums.output.shape[1:])), plans


def _rows(array: ArrayLike, name: str) -> Floats:
    """Return the checked rows of queries, keys or values."""
    remedy = "one column is value[:, None]" if name == "value" else f"one row is {name}[None, :]"
    array = _checks.detached(array)
    remedy = remedy if getattr(array, "ndim", 0) == 1 else ""
    return _checks.floating(array, name, (..., "rows", "columns"), remedy=remedy)
