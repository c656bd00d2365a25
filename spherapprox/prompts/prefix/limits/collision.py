"""`collision`: another content that no prefix tells apart from a given one; `unavoidable_error`: what follows of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from .... import _checks
from ...._norms import lengths
from ...._softmax import softmax
from ...._threads import one_blas_thread
from ...._types import Float64
from ..layer.layer import AttentionLayer
from ..layer.reading import as_layer
from ..layer.rows import finite
from ..layer.share import context

_RESIDUAL = 1e-12
"""Differences of log masses, and of mean values over the largest value, up to which contents collide."""
_ENOUGH = 1e-14
"""Differences at which the search ends: rounding leaves little less."""
_APART = 0.1
"""The least distance of two contents, over the size of the first."""
_WIDEST = 1e100
"""Of the largest entry, or of 1 over it: squares neither overflow nor vanish."""
_STARTS, _STEPS, _HALVINGS = 50, 100, 20
"""Random starts, steps from each, and how often a step is halved."""
_RANK = 1e-10
"""Singular values of the weights behind the heads, over the largest, from which they count as independent."""
_CUT = 1e-13
"""What is linearly dependent up to this share counts so."""


def collision(x: ArrayLike, layer: Any, *, rng: np.random.Generator | int | None = None) -> Float64:
    """Find other content that no prefix of a layer tells apart from given content, at its last token.

    Under every prefix, of any length and of any keys and values, all heads have the same outputs at the last token of
    both, but for what 1e-12 is times how far it moves them (Returns). If these outputs have to differ,
    `unavoidable_error` says how far every prefix is off at one of the two. See docs/theorems/8.4-collisions.md.

    Parameters
    ----------
    x : array_like, shape (T, d)
        The content: inputs of the layer, behind the norm that precedes it.
    layer : AttentionLayer or torch.nn.MultiheadAttention
        The layer.
    rng : None, int or numpy.random.Generator
        Where the search begins; the same seed gives the same content, where NumPy has the same BLAS and threads.

    Returns
    -------
    ndarray, shape (T, d)
        Content with the same last token, farther from x than 0.1 of its size (both in the Frobenius norm). At the last
        token the log mass of each head is the same to 1e-12 times the largest logit, or 1e-12, and the mean of the
        values to 1e-12 times the largest value: values of 1e12 in a prefix can tell them apart.

    Raises
    ------
    TypeError, ValueError
        If x is not finite or has other columns than d; if there are not more numbers in the other tokens, (T - 1) d,
        than each head's log mass and mean fix, the sum over the heads of 1 + rank of the value weights; if the search
        finds nothing.

    Notes
    -----
    A layer of 64 columns takes less than 0.1 s, one of 768 columns and 12 heads some seconds.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import AttentionLayer
    >>> from spherapprox.prompts.prefix import collision
    >>> rng = np.random.default_rng(0)
    >>> layer = AttentionLayer(*rng.standard_normal((3, 6, 6)), heads=2)
    >>> x = rng.standard_normal((5, 6))
    >>> other = collision(x, layer, rng=0)
    >>> prefix = layer.prefix(rng.standard_normal((4, 6)))
    >>> ours, theirs = (layer.attend(rows, prefix=prefix)[-1] for rows in (x, other))
    >>> float(abs(x - other).max()) > 0.1, float(abs(ours - theirs).max()) < 1e-11
    (True, True)
    """
    weights = as_layer(layer)
    rows = _content(x, "x", weights)
    generator = _checks.generator(rng)
    ranks = np.linalg.matrix_rank(weights.value.reshape(weights.key_value_heads, -1, weights.width))
    free, fixed = rows[:-1].size, weights.heads + int(ranks.sum()) * weights.group_size
    if not free > fixed:
        raise ValueError(
            f"'x' must have more numbers before its last token than the {fixed} that the heads' log masses and means "
            f"fix, got {free}: take at least {fixed // weights.width + 2} tokens"
        )
    _checks.memory(24.0 * rows.size * weights.heads * (1 + weights.value_dim), "the search", "take fewer tokens of 'x'")
    largest = float(np.abs(rows).max())
    if largest and not 1.0 / _WIDEST <= largest <= _WIDEST:
        raise ValueError(f"'x' must have a largest entry from {1.0 / _WIDEST:g} to {_WIDEST:g}, got {largest:g}")
    size = float(np.linalg.norm(rows))
    spread = size / np.sqrt(rows.size) or 1.0
    with one_blas_thread():
        state = _State(weights, rows)
        for _ in range(_STARTS):
            start = rows.copy()
            start[:-1] += spread * generator.standard_normal(rows[:-1].shape)
            inputs = _solve(weights, start, state)
            if inputs is not None and np.linalg.norm(inputs - rows) > _APART * size:
                return inputs
    raise ValueError(
        f"'x' has no other content that collides with it within reach of {_STARTS} random starts: take more tokens, or "
        "another seed for 'rng'"
    )


def unavoidable_error(x: ArrayLike, other: ArrayLike, layer: Any, targets: ArrayLike) -> float:
    """Bound from below the error of every prefix on two contents that collide.

    See docs/theorems/8.4-collisions.md.

    Parameters
    ----------
    x, other : array_like, shape (T, d) and (T', d)
        Two contents with the same last token, such as `collision` finds.
    layer : AttentionLayer or torch.nn.MultiheadAttention
        The layer. Its weights behind the heads must have independent columns, as square ones of full rank have: else
        values of any size cancel there, and show that contents collide up to rounding only.
    targets : array_like, shape (2, d_out) or (2, ...)
        What the layer should answer at the last token of either; in another shape, what a model should whose later
        layers see nothing but this token.

    Returns
    -------
    float
        For outputs of the layer, half the Euclidean distance of the two targets, less what differences of 2e-12 in log
        masses and means can do, 0 at least: whatever the prefix, one output is at least that far from its target, in
        exact arithmetic. For answers of a model half the distance: the bound for contents that collide exactly, since a
        model may magnify what differs by rounding.

    Raises
    ------
    TypeError, ValueError
        If arrays do not fit together, the weights behind the heads have dependent columns, the last tokens differ, or a
        head tells the contents apart: the complaint states by how much.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import AttentionLayer, unavoidable_error
    >>> from spherapprox.prompts.prefix import collision
    >>> rng = np.random.default_rng(0)
    >>> layer = AttentionLayer(*rng.standard_normal((3, 6, 6)), heads=1)
    >>> x = rng.standard_normal((5, 6))
    >>> round(unavoidable_error(x, collision(x, layer, rng=0), layer, [x.mean(axis=0), x.mean(axis=0) + 1.0]), 6)
    1.224745
    """
    weights = as_layer(layer)
    sizes = np.linalg.svd(weights.output_weights, compute_uv=False)
    if not (len(sizes) == weights.output_weights.shape[1] and sizes[-1] > _RANK * sizes[0]):
        raise ValueError(
            f"'layer' must have independent columns in its weights behind the heads, got shape "
            f"{weights.output_weights.shape} and singular values from {sizes[0]:.3g} to {sizes[-1]:.3g}: a prefix with "
            "values of 1e12 tells contents apart that collide up to rounding"
        )
    first, second = _content(x, "x", weights), _content(other, "other", weights)
    goals = finite(targets, "targets")
    if goals.ndim < 1 or len(goals) != 2 or not goals.size:
        raise ValueError(f"'targets' must have shape (2, ...), one row for each content, got {goals.shape}")
    if not np.array_equal(first[-1], second[-1]):
        raise ValueError("'other' must have the same last token as 'x': it is the query of both")
    state = _State(weights, first)
    residual = float(np.abs(_State(weights, second).away(state)).max())
    if not residual <= _RESIDUAL:
        raise ValueError(
            f"'other' must have the log masses and means of 'x' to {_RESIDUAL:g}, got a difference of {residual:.3g}: "
            "a prefix may tell them apart"
        )
    half = float(lengths((0.5 * goals[0] - 0.5 * goals[1]).reshape(1, -1))[0])
    if goals.shape[1:] != weights.out_bias.shape:
        return half
    # with errors e the heads' outputs are (e + away) / sizes[-1] from their means, at most (8.4, rounding)
    away = float(lengths(goals[:1] - weights.attend(first[-1:], first))[0])
    mass, value = (2.0 * _RESIDUAL * unit for unit in state.units)
    grown, moved = float(np.expm1(mass)) * sizes[0] / sizes[-1], value * sizes[0] * math.sqrt(state.mean.size)
    return max(float((half - 0.5 * moved - 0.5 * grown * away) / (1.0 + 0.5 * grown)), 0.0)


class _State:
    """What the heads take of a content at its last token: log masses (heads,) and means (heads, p)."""

    def __init__(self, layer: AttentionLayer, rows: Float64) -> None:
        query, self.key, self.value = layer.head_inputs(rows[-1:], rows)
        self.query = query[:, 0]  # (heads, s)
        self.log_mass, self.mean = context(self.query, self.key, self.value, scale=layer.scale)
        logits = layer.scale * (self.key @ self.query[..., None])[..., 0]
        self.weights = softmax(logits)  # (heads, T)
        self.units = max(1.0, float(np.abs(logits).max())), float(np.abs(self.value).max()) or 1.0

    def away(self, goal: _State) -> Float64:
        """Return the differences from another state, (heads, 1 + p), in the other's units."""
        mass, value = goal.units
        parts = (self.log_mass - goal.log_mass)[:, None] / mass, (self.mean - goal.mean) / value
        return np.concatenate(parts, axis=1)

    def jacobian(self, layer: AttentionLayer, goal: _State) -> Float64:
        """Return the derivatives of `away` in the tokens but the last, (heads (1 + p), (T - 1) d)."""
        mass, value = goal.units
        keys, values = (
            np.repeat(weights.reshape(layer.key_value_heads, -1, layer.width), layer.group_size, axis=0)
            for weights in (layer.key, layer.value)
        )
        steep = layer.scale * np.einsum("hs,hsd->hd", self.query, keys)  # gradients of the logits
        shifted = self.value - self.mean[:, None]  # (heads, T, p)
        means = values[:, :, None] + np.einsum("hjp,hd->hpjd", shifted, steep)  # (heads, p, T, d)
        masses = np.broadcast_to(steep[:, None, None], (len(steep), 1, *means.shape[2:]))
        gradients = np.concatenate([masses / mass, means / value], axis=1) * self.weights[:, None, :, None]
        return gradients[:, :, :-1].reshape(gradients.shape[0] * gradients.shape[1], -1)


def _solve(layer: AttentionLayer, rows: Float64, goal: _State) -> Float64 | None:
    """Return content near a start with the wanted state, by Newton's method with least steps; None if it stalls."""
    state = _State(layer, rows)
    away = state.away(goal)
    for _ in range(_STEPS):
        if np.abs(away).max() <= _ENOUGH:
            break
        step = np.zeros_like(rows)
        slopes = state.jacobian(layer, goal)
        solution = scipy.linalg.lstsq(slopes, -away.ravel(), cond=_CUT, lapack_driver="gelsy", check_finite=False)[0]
        step[:-1] = solution.reshape(step[:-1].shape)
        for size in 0.5 ** np.arange(_HALVINGS):
            nearer = _State(layer, rows + size * step)
            remainder = nearer.away(goal)
            if np.linalg.norm(remainder) < (1.0 - 0.1 * size) * np.linalg.norm(away):
                break
        else:
            break
        rows, state, away = rows + size * step, nearer, remainder
    return rows if np.abs(away).max() <= _RESIDUAL else None


def _content(x: ArrayLike, name: str, layer: AttentionLayer) -> Float64:
    return _checks.shaped(finite(x, name), name, ("T", layer.width), note=" for this layer")
