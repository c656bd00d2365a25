"""`program`: write a split head into a frozen attention layer, as a prefix in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._norms import lengths
from ...._threads import one_blas_thread
from ...._types import Float64
from ....heads import SplitHead
from ..layer.layer import AttentionLayer
from ..layer.reading import as_layer
from ..layer.rows import Prefix, finite
from .equations import Interface, levels, logit_sides, logit_system, token_system, value_system
from .programmed import ProgrammedPrefix

KINDS = ("tokens", "key_values")
_LOST = 1e-3
"""Rounding over the largest value from which read-outs are worth nothing."""


def program(
    head: SplitHead, layer: Any, *, embedding: ArrayLike, readout: ArrayLike, shift: ArrayLike | None = None,
    kind: str = "tokens", offset: float = 0.0,
) -> ProgrammedPrefix:  # fmt: skip
    """Program a frozen attention layer by a prefix: read out, it computes a split head.

    Points y of the sphere enter the layer as ``x = embedding @ y + shift``; with the prefix before them the layer's
    outputs, times `readout`, are ``head(y)``, in sequences of any length, up to what the content's own share of the
    attention adds (`ProgrammedPrefix.bound`). Nothing is trained. See docs/theorems/8.6-programming-a-layer.md.

    Parameters
    ----------
    head : SplitHead
        The function to be computed, on S^m: from `SplitHead.from_target`, `shortest_head`, `SplitHead.fit`, ...
    layer : AttentionLayer or torch.nn.MultiheadAttention
        A layer of any weights, biases and scale; its heads may share keys and values.
    embedding : array_like, shape (d, m+1)
        How coordinates of y enter the layer.
    readout : array_like, shape (p, d_out) or (d_out,)
        How outputs are read; as many rows as the head has outputs.
    shift : array_like, shape (d,), optional
        What all inputs have in common, such as the embedding of a position; 0 by default.
    kind : {"tokens", "key_values"}
        Whether the prefix is made of tokens, from which the layer makes keys and values, or of keys and values of its
        own for each head (as in prefix-tuning, and in a cache), which asks less of the layer.
    offset : float, default 0
        A number added to all logits of the prefix: at large ones the content's share vanishes.

    Returns
    -------
    ProgrammedPrefix
        Its tokens, or keys and values, are the least in the Euclidean norm but for this: what is free makes the
        read-outs of values behind the single heads small, so that little cancels among heads.

    Raises
    ------
    TypeError, ValueError
        If shapes do not fit, rounding leaves no digit of the values, or the layer's rank is too small; the complaint
        says which equations have what rank. For tokens, (m+2) heads + p equations in d unknowns; for keys and values
        m+2 equations in s unknowns for each head of queries that shares a key, and p in those of the values. Layers of
        random weights have full rank if they have as many unknowns. A head whose queries at the shift are all 0 (no
        bias, no shift) has one equation less, and can have no `offset`.

    Notes
    -----
    Logits ``scale <W_Q x + b_Q, kappa>`` are to be ``lambda <y, b_k> + offset`` in every head, and the values, read
    out, ``v_k``: all is linear in the token. All heads then attend alike, with the weights of the split head.

    A norm before the layer is no obstacle. With ``layer_norm(x) = gain * x / sqrt(mean(x^2) + eps) + bias`` for inputs
    of zero mean, an orthonormal embedding E of zero column sums enters as
    ``embedding = gain[:, None] * E / sqrt(1 / d + eps)`` and ``shift = bias``, with the norm's own eps; the prefix
    stands behind the norm. Rotary embeddings turn queries by their positions: a prefix then acts as the head at one
    position only.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import EqualMeasurePartition, SplitHead
    >>> from spherapprox.prompts.prefix import AttentionLayer, program
    >>> rng = np.random.default_rng(0)
    >>> query, key, value, out = rng.standard_normal((4, 32, 32)) / 5.0
    >>> layer = AttentionLayer(query, key, value, out, key_bias=rng.standard_normal(32), heads=4)
    >>> head = SplitHead.from_target(lambda x: x[:, 2], EqualMeasurePartition(2, 500), 60.0)
    >>> embedding, readout = np.linalg.qr(rng.standard_normal((32, 3)))[0], rng.standard_normal(32)
    >>> programmed = program(head, layer, embedding=embedding, readout=readout)
    >>> programmed
    ProgrammedPrefix(length=500, kind='tokens', heads=4, condition=...)
    >>> y = np.array([[0.6, 0.0, 0.8], [0.0, 0.6, -0.8]])
    >>> programmed.attend(y).round(3), head(y).round(3)
    (array([ 0.786, -0.786]), array([ 0.786, -0.786]))
    """
    head = _checks.instance(head, "head", SplitHead, remedy="only softmax is attention")
    weights = as_layer(layer)
    kind = _checks.choice(kind, "kind", KINDS)
    offset = _checks.real(offset, "offset", minimum=-1e300, maximum=1e300)
    inputs = _interface(head, weights, embedding, shift=shift, readout=readout)
    if offset != 0.0 and not levels(weights, inputs).any(axis=1).all():
        raise ValueError(
            f"'offset' must be 0 where a head's queries are 0 at the shift, got {offset:g}: logits cannot be raised "
            "alike; give a 'shift', or take a layer with biases of queries"
        )
    concentrations = np.broadcast_to(np.asarray(head.concentration, dtype=np.float64), (len(head),))
    keys = concentrations[:, None] * head._directions()  # (N, m+1)
    values = head.values.astype(np.float64).reshape(len(head), -1)  # (N, p)
    with np.errstate(over="ignore", invalid="ignore"), one_blas_thread():
        make = _tokens if kind == "tokens" else _key_values
        prefix, condition = make(weights, inputs, keys, values=values, offset=offset)
        _check_digits(weights, inputs, prefix, largest=float(lengths(values).max()))
    return ProgrammedPrefix(head, weights, prefix, interface=inputs, offset=offset, condition=condition)


def _check_digits(layer: AttentionLayer, inputs: Interface, prefix: Prefix, largest: float) -> None:
    """Check that roundings of logits and of read-outs leave digits of values up to the largest."""
    slopes = (layer.query @ inputs.embedding).reshape(layer.heads, -1)  # (heads, s (m+1))
    keys = lengths(prefix.key).max(axis=1)  # (key_value_heads,)
    if prefix.tokens is not None:  # of which keys are made, and rounded
        weights = lengths(layer.key.reshape(layer.key_value_heads, -1))
        keys = np.maximum(keys, weights * lengths(prefix.tokens).max())
    key = np.repeat(keys, layer.group_size)
    logits = float((layer.scale * (lengths(slopes) + lengths(levels(layer, inputs))) * key).max())
    system = value_system(layer, inputs)
    values = lengths(np.moveaxis(prefix.value, 0, 1).reshape(len(prefix), -1))
    readout = float(lengths(system.matrix.ravel()) * values.max())
    readout += float(lengths(system.constant))
    if prefix.tokens is not None:
        readout += float(lengths((system.matrix @ layer.value).ravel()) * lengths(prefix.tokens).max())
    eps = float(np.finfo(np.float64).eps)
    if not eps * logits < _LOST or not eps * readout <= _LOST * largest:
        raise ValueError(
            f"'layer' must have queries that depend more on the points: products of queries and keys up to "
            f"{logits:.3g} and read-outs up to {readout:.3g} cancel to values up to {largest:.3g}, of which rounding "
            "leaves no digit; take a larger 'embedding', or a smaller 'shift', concentration or 'offset'"
        )


def _interface(
    head: SplitHead, layer: AttentionLayer, embedding: ArrayLike, shift: ArrayLike | None, readout: ArrayLike
) -> Interface:
    """Return the checked embedding, shift and read-out."""
    d, outputs = layer.width, len(layer.out_bias)
    e = _checks.shaped(
        finite(embedding, "embedding"), "embedding", (d, head.dim + 1), note=f" for a head on S^{head.dim}"
    )
    c = np.zeros(d) if shift is None else _checks.shaped(finite(shift, "shift"), "shift", (d,))
    columns = 1 if head.values.ndim == 1 else head.values.shape[1]
    shapes = [(columns, outputs), (outputs,)] if columns == 1 else [(columns, outputs)]
    r = _checks.shaped(finite(readout, "readout"), "readout", *shapes, note=" for the head's values")
    return Interface(e, c, r.reshape(columns, outputs))


def _tokens(
    layer: AttentionLayer, inputs: Interface, keys: Float64, values: Float64, offset: float
) -> tuple[Prefix, float]:
    """Return the prefix of tokens, and the condition of their equations."""
    logits = logit_sides(layer, inputs, keys, offset=offset, heads=range(layer.heads))
    sides = np.concatenate([logits, values], axis=1)
    tokens, condition = token_system(layer, inputs).solve(sides)
    return layer.prefix(tokens), condition


def _key_values(
    layer: AttentionLayer, inputs: Interface, keys: Float64, values: Float64, offset: float
) -> tuple[Prefix, float]:
    """Return the prefix of free keys and values, and the largest condition of their equations."""
    g, times = layer.key_value_heads, layer.group_size
    parts, conditions = [], []
    for group in range(g):
        heads = range(group * times, (group + 1) * times)
        sides = logit_sides(layer, inputs, keys, offset=offset, heads=heads)
        rows, condition = logit_system(layer, inputs, group).solve(sides)
        parts.append(rows)
        conditions.append(condition)
    rows, condition = value_system(layer, inputs).solve(values)
    split = np.moveaxis(rows.reshape(len(rows), g, layer.value_dim), 1, 0)
    return Prefix(np.stack(parts), split), max(*conditions, condition)
