"""`reachable_by_layer`: outputs of a whole attention layer that prefixes of all its heads reach."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._threads import one_blas_thread
from ...._types import Float64
from ..layer.contexts import arrays
from ..layer.layer import AttentionLayer
from ..layer.reading import as_layer
from ..layer.rows import Prefix, array
from .floors import NORMS, sizes_of
from .reachability import Reachability, reachable
from .wishes import Limits

_ROUNDING = 1e-14
"""Targets of heads are off by so much times the condition of the weights behind them and the largest one."""
_RANK = 1e-10
"""Singular values of the weights behind the heads, over the largest, from which they count as independent."""


@dataclass(frozen=True, eq=False)
class LayerReachability:
    """How near prefixes bring the outputs of an attention layer to their targets.

    Parameters
    ----------
    error : float
        No prefix has a smaller error; a lower bound of the infimum.
    upper : float
        The error of `prefix`, as measured; inf without one.
    reachable : bool or None
        Whether prefixes reach all targets within `atol`, or come as near as one likes; None where that is not known.
    heads : tuple of Reachability
        What is known of each head of keys and values: its rows are those of its first head of queries, then those of
        the next one that shares it.
    prefix : Prefix or None
        A witness of shape (key_value_heads, L, ...), if there is one. It need not be near the infimum.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import AttentionLayer, reachable_by_layer
    >>> layer = AttentionLayer(*np.random.default_rng(0).standard_normal((4, 8, 8)), heads=2)
    >>> reachable_by_layer(layer, np.ones((1, 8)), np.ones((1, 5, 8)), np.zeros((1, 8)), atol=1e-6)
    LayerReachability(error=0, upper=..., reachable=True, heads=2)
    """

    error: float
    upper: float
    reachable: bool | None
    heads: tuple[Reachability, ...]
    prefix: Prefix | None

    def __repr__(self) -> str:
        return (
            f"LayerReachability(error={self.error:.4g}, upper={self.upper:.4g}, reachable={self.reachable}, "
            f"heads={len(self.heads)})"
        )


def reachable_by_layer(
    layer: Any, x: ArrayLike, content: ArrayLike | Sequence[ArrayLike], targets: ArrayLike, *,
    atol: float | None = None, norm: str = "max", limits: Limits | None = None,
) -> LayerReachability:  # fmt: skip
    """Tell whether a prefix gives an attention layer the outputs that are wanted, and how near any prefix comes.

    Keys and values of the prefix are free in all heads, up to the limits.

    Parameters
    ----------
    layer : AttentionLayer or torch.nn.MultiheadAttention
        Its weights behind the heads must have independent columns, as square ones of full rank have.
    x : array_like, shape (N, d)
        What asks, for each output that is wanted; equal rows see the same of a prefix.
    content : array_like, shape (N, n, d), or sequence of N arrays (n_i, d)
        What each x attends to, most often itself included.
    targets : array_like, shape (N, d_out)
        The outputs of the layer that are wanted, behind the weights behind the heads.
    atol, norm, limits
        As in `reachable`; limits are those of each head's keys and values.

    Raises
    ------
    TypeError, ValueError
        As `reachable` does, or if different outputs of the heads give one output of the layer.

    Notes
    -----
    With Z the pseudoinverse of the weights behind the heads, head h has to give ``Z_h (target - bias)``, and an error e
    of the layer is one of ``|Z_h| e`` at most there. So no error is below the largest of the heads' least errors over
    ``|Z_h|``, and targets are reached if and only if every head reaches its own.

    References
    ----------
    docs/theorems/8.2-reachable-targets.md, layers.

    Examples
    --------
    One token in two contexts, and outputs that are to be raised by 1 in both.

    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import AttentionLayer, reachable_by_layer
    >>> rng = np.random.default_rng(0)
    >>> layer = AttentionLayer(*rng.standard_normal((4, 8, 8)), heads=2)
    >>> x, content = np.tile(rng.standard_normal(8), (2, 1)), rng.standard_normal((2, 5, 8))
    >>> outputs = layer.attend(x[:, None], content)[:, 0]
    >>> reachable_by_layer(layer, x, content, outputs + 1.0).reachable
    False
    >>> reachable_by_layer(layer, x[:1], content[:1], outputs[:1] + 1.0).reachable
    True
    """
    # Step 1: check the arguments
    frozen, norm = as_layer(layer), _checks.choice(norm, "norm", NORMS)
    tolerance = None if atol is None else _checks.real(atol, "atol", minimum=0.0)
    asking = array(x, "x", ("N", frozen.width))
    contents = arrays(content, "content", len(asking), shape=("n", frozen.width), owner="x")
    out = frozen.output_weights
    outputs = array(targets, "targets", (len(asking), len(out)))
    limits = Limits() if limits is None else _checks.instance(limits, "limits", Limits)
    of_head = partial(reachable, scale=frozen.scale, norm=norm)
    with one_blas_thread():
        # Step 2: what every head has to give, and how near it comes
        inverse, condition = _inverse(out)
        shifted = outputs - frozen.out_bias
        inner = shifted @ inverse.T
        head_questions = _questions(frozen, asking, contents, inner=inner)
        heads = [of_head(*questions, limits=limits) for questions in head_questions]
        # Step 3: the bound, and a prefix
        beyond = sizes_of(shifted - inner @ out.T, True).max() / (1.0 if norm == "euclidean" else math.sqrt(len(out)))
        rounding = _ROUNDING * condition
        error = max(float(beyond) - rounding * float(np.abs(shifted).max()), 0.0)
        order = 2 if norm == "euclidean" else np.inf
        norms = [float(np.linalg.norm(block, order)) for block in np.split(inverse, frozen.heads)]
        error = max(error, *_bounds(heads, norms, len(asking), rounding=rounding * float(np.abs(inner).max())))
        longest = max((len(head.prefix) for head in heads if head.prefix is not None), default=0)
        equal_limits = replace(limits, length=longest or limits.length)
        prefixes = [
            head.prefix if limits.length is not None or head.prefix is None or len(head.prefix) == longest
            else of_head(*questions, limits=equal_limits).prefix
            for questions, head in zip(head_questions, heads, strict=True)
        ]  # fmt: skip
        parts = [(prefix.key, prefix.value) for prefix in prefixes if prefix is not None]
        prefix = Prefix(*map(np.stack, zip(*parts, strict=True))) if len(parts) == len(heads) else None
        upper = math.inf
        if prefix is not None:
            rows = [frozen.attend(row[None], own, prefix=prefix)[0] for row, own in zip(asking, contents, strict=True)]
            upper = float(sizes_of(np.array(rows) - outputs, norm == "euclidean").max())
    tolerance = 1e-12 * float(np.abs(outputs).max()) if tolerance is None else tolerance
    # all heads have as many tokens, on which masses depend if keys are limited
    free = limits.key_norm is None or limits.length is not None
    reached = upper <= tolerance or (free and all(head.reachable for head in heads))
    return LayerReachability(
        error, upper, False if error > tolerance else reached or None, heads=tuple(heads), prefix=prefix
    )


def _inverse(out: Float64) -> tuple[Float64, float]:
    """Return the pseudoinverse of the weights behind the heads, and their condition."""
    left_vectors, values, right_vectors = np.linalg.svd(out, full_matrices=False)
    if len(out) < out.shape[1] or not values[-1] > _RANK * values[0]:
        raise ValueError(
            f"'layer' must have independent columns of 'out', got shape {out.shape} and singular values from "
            f"{values[-1]:.3g} to {values[0]:.3g}: other outputs of the heads would do; ask `reachable` of each head"
        )
    return (right_vectors.T / values) @ left_vectors.T, float(values[0] / values[-1])


def _questions(
    layer: AttentionLayer, x: Float64, content: list[Float64], inner: Float64
) -> list[tuple[Float64, list[Float64], list[Float64], Float64]]:
    """Return queries, keys, values and targets of each head of keys, for all heads of queries that share it."""
    inputs = [layer.head_inputs(row[None], rows) for row, rows in zip(x, content, strict=True)]
    parts = inner.reshape(len(x), layer.heads, -1)
    questions = []
    for heads in np.split(np.arange(layer.heads), layer.key_value_heads):
        query = np.concatenate([[row_query[h, 0] for row_query, _, _ in inputs] for h in heads])
        key, value = [k[h] for h in heads for _, k, _ in inputs], [v[h] for h in heads for _, _, v in inputs]
        questions.append((query, key, value, np.concatenate([parts[:, h] for h in heads])))
    return questions


def _bounds(heads: Sequence[Reachability], norms: Sequence[float], count: int, rounding: float) -> list[float]:
    """Return the bound of the layer's error that the least errors of groups of rows give."""
    bounds, times = [], len(norms) // len(heads)
    for g, head in enumerate(heads):
        for rows, least in zip(head.groups, head.errors, strict=True):
            factor = max(norms[g * times + int(row) // count] for row in rows)
            bounds.append(max(float(least) - rounding, 0.0) / factor)
    return bounds
