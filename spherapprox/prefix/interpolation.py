"""`fit_prefix` and `fit_layer`: prefixes in closed form that give a frozen head, or layer, outputs at examples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._threads import one_blas_thread
from .._types import Float64
from .contexts import WIDEST, Contexts, arrays, read_contexts
from .keys import EPS, LOST, chosen, distinct
from .layer import AttentionLayer
from .reading import as_layer
from .rows import Prefix, finite


@dataclass(frozen=True, eq=False, repr=False)
class FittedPrefix(Prefix):
    """A prefix that was made for outputs at examples.

    Parameters
    ----------
    key, value, tokens
        As in `Prefix`.
    error : float
        The largest absolute difference of an output from its target at the examples, as measured.
    condition : float
        The condition number of the prefix's attention at the queries, by which values follow from targets: relative
        errors of values are about this times 1e-16. Of several heads, the largest.
    share : ndarray, shape (N,) or (heads, N)
        The prefix's share of the attention at each query.
    key_scale : float
        The length of keys over that of queries. Of several heads, the largest.
    """

    error: float = np.nan
    condition: float = np.nan
    share: Float64 = field(default_factory=lambda: np.empty(0))
    key_scale: float = np.nan

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, error={self.error:.3g}, condition={self.condition:.3g})"


def fit_prefix(
    query: ArrayLike,
    key: ArrayLike | Sequence[Any],
    value: ArrayLike | Sequence[Any],
    targets: ArrayLike,
    *,
    length: int | None = None,
    key_scale: float | None = None,
    scale: float | None = None,
) -> FittedPrefix:
    """Fit a prefix of a frozen head to outputs at examples, in closed form.

    With as many tokens as there are different queries, outputs are the targets; with fewer, values are those of least
    squares. `reachable` says what no prefix can.

    Parameters
    ----------
    query : array_like, shape (N, s)
        A query for each example.
    key, value : array_like, shapes (N, n, s) and (N, n, p), or lists of N arrays
        What each query attends to beside the prefix; n > 0, in lists of any lengths. The largest entry of the queries
        is from 1e-70 to 1e70, if it is not 0.
    targets : array_like, shape (N, p)
        Wanted outputs of the head, before the weights that follow.
    length : int, optional
        Number of tokens, at most that of different queries, which is the default.
    key_scale : float, optional
        The length of keys over that of queries (root mean squares), from 1e-70 to 1e70. By default a power of 2, with
        logits from about 1 on: for as many tokens as queries the smallest with a condition below 100, times the largest
        sum of masses over the prefix's, or else the one where this, times the largest logit, is least; for fewer tokens
        the one of the least squares.
    scale : float, optional
        Factor of the inner products, from 1e-70 to 1e70; 1 / sqrt(s) by default.

    Returns
    -------
    FittedPrefix
        Of shapes (length, s) and (length, p); keys point as queries do.

    Raises
    ------
    TypeError, ValueError
        If arrays do not fit together, equal queries have different contexts or targets (`reachable` says how close a
        prefix can come), queries are too close to each other, keys of the given length leave the prefix too little
        attention for any digit of the outputs to be right, or `length` exceeds the number of different queries.

    Notes
    -----
    Keys of one length in the directions of the queries make a query attend to its own token most, and to others less
    and less as they grow, so that the equations of the values tend to the identity; where two queries have one
    direction, keys are multiples of the queries, ``exp(scale * key_scale * <q_i, q_j>)`` being positive definite.
    Fewer keys belong to queries chosen by pivoted Cholesky of ``exp(-scale * key_scale * |q_i - q_j|^2 / 2)``.

    References
    ----------
    docs/theorems/8.5-interpolating-prefix.md.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prefix import fit_prefix
    >>> rng = np.random.default_rng(0)
    >>> query, targets = rng.standard_normal((2, 50, 8))  # 50 examples
    >>> key, value = rng.standard_normal((2, 50, 12, 8))  # each with 12 tokens of its own
    >>> prefix = fit_prefix(query, key, value, targets)
    >>> len(prefix), prefix.error < 1e-13, fit_prefix(query, key, value, targets, length=25).error < 2.5
    (50, True, True)
    """
    with one_blas_thread():
        contexts = read_contexts(query, key, value, scale)
        wanted = _checks.shaped(finite(targets, "targets"), "targets", contexts.mean.shape, note=" as outputs have")
        return _fitted(contexts, wanted, length, key_scale)


def _fitted(contexts: Contexts, wanted: Float64, length: object, key_scale: object) -> FittedPrefix:
    """Return the prefix for checked contexts and targets."""
    largest = max(float(np.abs(wanted).max()), float(np.abs(contexts.mean).max()))
    unit = math.ldexp(1.0, min(math.frexp(largest)[1], 1022)) if largest else 1.0
    contexts, wanted = replace(contexts, mean=contexts.mean / unit), wanted / unit
    examples = distinct(contexts, wanted)
    n = len(examples.query)
    count = n if length is None else _checks.integer(length, "length", minimum=1)
    if count > n:
        raise ValueError(f"'length' must be at most {n}, the number of different queries, got {count}")
    given = None if key_scale is None else _checks.real(key_scale, "key_scale", minimum=1.0 / WIDEST, maximum=WIDEST)
    keys, value, condition = chosen(examples, count, given)
    logits = contexts.scale * contexts.query @ keys.T  # (N, L)
    steepest = float(np.abs(logits).max())
    if not steepest * (condition if count == n else 1.0) * EPS < LOST:
        raise ValueError(
            f"'key_scale' must be smaller, or the nearest of 'query' left out: rounding of logits up to {steepest:.3g} "
            f"and a condition of {condition:.3g} leave no digit that counts"
        )
    top = np.maximum(logits.max(axis=1), contexts.log_mass)
    weights, own = np.exp(logits - top[:, None]), np.exp(contexts.log_mass - top)
    total = weights.sum(axis=1) + own
    outputs = (weights @ value + own[:, None] * contexts.mean) / total[:, None]
    size = math.sqrt(np.mean(keys**2) / max(float(np.mean(examples.query**2)), 1e-300))
    error = unit * float(abs(outputs - wanted).max())
    with np.errstate(over="ignore"):
        value = unit * value
    if not np.isfinite(value).all():
        raise ValueError(f"'targets' must be smaller: values overflow for targets and means up to {largest:.3g}")
    return FittedPrefix(keys, value, None, error, condition, weights.sum(axis=1) / total, size)


def fit_layer(
    layer: Any,
    x: ArrayLike,
    content: ArrayLike | Sequence[Any],
    targets: ArrayLike,
    *,
    length: int | None = None,
    key_scale: float | None = None,
) -> FittedPrefix:
    """Fit a prefix of a frozen attention layer to its outputs at examples, in closed form.

    Parameters
    ----------
    layer : AttentionLayer or torch.nn.MultiheadAttention
    x : array_like, shape (N, d)
        What asks, in each example.
    content : array_like, shape (N, n, d), or a list of N arrays (n_i, d)
        What each x attends to beside the prefix, most often itself included; n > 0.
    targets : array_like, shape (N, d_out)
        Wanted outputs of the layer.
    length : int, optional
        Number of tokens; by default, and at most, that of different x in a layer without shared keys, and times the
        heads that share one in grouped attention.
    key_scale : float, optional
        As in `fit_prefix`.

    Returns
    -------
    FittedPrefix
        Of shapes (key_value_heads, length, ...); its error is that of the layer's outputs, and is not small where
        targets are outside the range of the weights behind the heads.

    Raises
    ------
    TypeError, ValueError
        As `fit_prefix` does.

    Notes
    -----
    The outputs of heads change as little as possible, in the Euclidean norm, for the layer's output to be the target;
    then each head has a prefix of its own.

    References
    ----------
    docs/theorems/8.5-interpolating-prefix.md.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prefix import AttentionLayer, fit_layer
    >>> rng = np.random.default_rng(0)
    >>> layer = AttentionLayer(*rng.standard_normal((4, 16, 16)) / 4.0, heads=2)
    >>> content, targets = rng.standard_normal((30, 5, 16)), rng.standard_normal((30, 16))
    >>> prefix = fit_layer(layer, content[:, -1], content, targets)
    >>> len(prefix), bool(abs(layer.attend(content, prefix=prefix)[:, -1] - targets).max() < 1e-12)
    (30, True)
    """
    weights = as_layer(layer)
    with one_blas_thread():
        return _layer_fitted(weights, x, content, targets, length, key_scale)


def _layer_fitted(
    weights: AttentionLayer, x: ArrayLike, content: ArrayLike | Sequence[Any], targets: ArrayLike, length: object,
    key_scale: object,
) -> FittedPrefix:  # fmt: skip
    """Return the prefix of all heads of a layer."""
    asked = _checks.shaped(finite(x, "x"), "x", ("N", weights.width))
    seen = arrays(content, "content", len(asked), ("n", weights.width), "x")
    pairs = list(zip(asked[:, None], seen, strict=True))
    outputs = np.concatenate([weights.attend(*pair) for pair in pairs])  # (N, d_out)
    wanted = _checks.shaped(finite(targets, "targets"), "targets", outputs.shape, note=" as outputs have")
    change = wanted - outputs
    if weights.out is not None:
        change = change @ np.linalg.pinv(weights.out).T  # (N, heads * p)
    change = change.reshape(len(change), weights.heads, weights.value_dim)
    inputs = [weights.head_inputs(*pair) for pair in pairs]  # (heads, 1, s), (heads, n, s), (heads, n, p)
    parts = [_group(weights, inputs, change, g, length, key_scale) for g in range(weights.key_value_heads)]
    key, value = np.stack([part.key for part in parts]), np.stack([part.value for part in parts])
    prefix = Prefix(key, value)
    found = np.concatenate([weights.attend(*pair, prefix=prefix) for pair in pairs])
    share = np.concatenate([np.reshape(part.share, (-1, len(wanted))) for part in parts])
    worst = [max(getattr(part, name) for part in parts) for name in ("condition", "key_scale")]
    return FittedPrefix(key, value, None, float(abs(found - wanted).max()), worst[0], share, worst[1])


def _group(
    layer: AttentionLayer, inputs: list[Any], change: Float64, group: int, length: object, scale: object
) -> FittedPrefix:
    """Return the prefix of the heads that share one key, for changes (N, heads, p) of their outputs."""
    heads = range(group * layer.group_size, (group + 1) * layer.group_size)
    query = [q[h, 0] for h in heads for q, _, _ in inputs]
    key, value = [k[h] for h in heads for _, k, _ in inputs], [v[h] for h in heads for _, _, v in inputs]
    contexts = read_contexts(np.array(query), key, value, layer.scale)
    wanted = contexts.mean + np.concatenate([change[:, h] for h in heads])
    return _fitted(contexts, wanted, length, scale)
