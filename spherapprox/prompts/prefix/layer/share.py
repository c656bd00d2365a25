"""`prefix_share`, `context`: the share of attention that a prefix takes, and all that it can learn of a context."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._softmax import log_sum_exp, softmax
from ...._types import Float64
from .rows import finite, scale_for


def prefix_share(query: ArrayLike, prefix_key: ArrayLike, key: ArrayLike, *, scale: float | None = None) -> Float64:
    """Compute the share of attention that a prefix takes from content.

    Parameters
    ----------
    query : array_like, shape (..., s)
        Queries.
    prefix_key : array_like, shape (..., L, s)
        Keys of the prefix. Leading axes broadcast against those of the queries, one prefix for each query: keys
        (heads, L, s) of a layer's heads meet queries (heads, T, s) as ``prefix_key[:, None]``.
    key : array_like, shape (..., n, s)
        Keys of the content, likewise.
    scale : float, optional
        Factor of the inner products, 1 / sqrt(s) by default.

    Returns
    -------
    ndarray, shape (...)
        ``sum(exp(logits of the prefix)) / sum(exp(all logits))``, in [0, 1], to a relative 1e-15 times the size of the
        logits, however small it is.

    Raises
    ------
    TypeError, ValueError
        If arrays are not finite or do not fit together, neither has a key, or logits overflow.

    References
    ----------
    docs/theorems/8.1-what-a-prefix-does.md; Hu et al. (2024), arXiv:2411.16525, equation (I.2).

    Examples
    --------
    >>> from spherapprox.prompts.prefix import prefix_share
    >>> print(prefix_share([1.0, 2.0], [[2.0, 0.0]], [[0.0, 1.0], [1.0, 1.0]], scale=1.0).round(6))
    0.211942
    """
    q, p, k = finite(query, "query"), finite(prefix_key, "prefix_key"), finite(key, "key")
    factor = _matching(q, scale, prefix_key=p, key=k)
    if not p.shape[-2] and not k.shape[-2]:
        raise ValueError("'prefix_key' and 'key' must not both be empty")
    return share_of(_logits(q, p, factor), _logits(q, k, factor))


def context(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, *, scale: float | None = None
) -> tuple[Float64, Float64]:
    """Compute all that a prefix can learn of a context: its log mass and its mean value.

    Parameters
    ----------
    query : array_like, shape (..., s)
        Queries.
    key, value : array_like, shapes (..., n, s) and (..., n, p)
        Keys and values of the content, n >= 1. Leading axes broadcast as in `prefix_share`.
    scale : float, optional
        Factor of the inner products, 1 / sqrt(s) by default.

    Returns
    -------
    log_mass : ndarray, shape (...)
        Logarithm of the sum of exp(logit).
    mean : ndarray, shape (..., p)
        Sum of the values with the weights softmax(logits): attention without a prefix.

    Raises
    ------
    TypeError, ValueError
        If arrays are empty, not finite or do not fit together, or logits overflow.

    References
    ----------
    docs/theorems/8.4-collisions.md: under every prefix the output depends on content through these two alone.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import context
    >>> log_mass, mean = context([1.0, 2.0], [[0.0, 1.0], [1.0, 1.0]], [[0.0], [1.0]], scale=1.0)
    >>> print(np.round(log_mass, 4), mean.round(4))
    3.3133 [0.7311]
    """
    q, k, v = finite(query, "query"), finite(key, "key"), finite(value, "value")
    factor = _matching(q, scale, key=k)
    if v.ndim < 2 or v.shape[-2] != k.shape[-2] or not k.shape[-2]:
        raise ValueError(f"'key' and 'value' must have as many rows, at least one, got shapes {k.shape} and {v.shape}")
    leading = {"query": q.shape[:-1], "key": k.shape[:-2], "value": v.shape[:-2]}
    _checks.broadcast_shape("one context for each query", **leading)
    logits = _logits(q, k, factor)  # (..., n)
    return log_sum_exp(logits), np.asarray((softmax(logits)[..., None, :] @ v)[..., 0, :])


def _matching(query: Float64, scale: float | None, **keys: Float64) -> float:
    """Return the scale, for keys that fit the queries."""
    if not query.ndim or not query.shape[-1]:
        raise ValueError(f"'query' must have shape (..., s), got {query.shape}")
    for name, rows in keys.items():
        if rows.ndim < 2 or rows.shape[-1] != query.shape[-1]:
            raise ValueError(
                f"'{name}' must have shape (..., rows, {query.shape[-1]}) as queries have columns, got {rows.shape}"
            )
    leading = {name: rows.shape[:-2] for name, rows in keys.items()}
    _checks.broadcast_shape("one set of rows for each query", query=query.shape[:-1], **leading)
    return scale_for(scale, query.shape[-1])


def _logits(query: Float64, key: Float64, scale: float) -> Float64:
    """Return the logits (..., n) of queries (..., s), each at its own keys (..., n, s)."""
    with np.errstate(over="ignore", invalid="ignore"):
        logits = scale * (key @ query[..., None])[..., 0]
    if not np.isfinite(logits).all():
        raise ValueError("logits scale * <query, key> must be finite: they overflow for these queries and keys")
    return np.asarray(logits)


def share_of(far: Float64, own: Float64) -> Float64:
    """Return the share of the first of two sets of logits in the sum of all exp(logit)."""
    with np.errstate(under="ignore"):
        return np.asarray(np.exp(-np.logaddexp(0.0, log_sum_exp(own) - log_sum_exp(far))))
