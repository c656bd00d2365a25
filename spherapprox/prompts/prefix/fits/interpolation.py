"""`fit_prefix` and `fit_layer`: prefixes in closed form that give a frozen head, or layer, outputs at examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._norms import unit_of
from ...._threads import one_blas_thread
from ...._types import Float64
from ..layer.contexts import WIDEST, arrays, read_contexts
from ..layer.layer import AttentionLayer
from ..layer.reading import as_layer
from ..layer.rows import Prefix, finite
from .keys import EPS, LOST, distinct, exact_values, few_keys
from .values import Examples, Heads, least_values

_WORSE = 1e-9
"""Errors over the outputs up to which a prefix may be farther from targets than none: they are roundings."""


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

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import fit_prefix
    >>> query, key, value = np.eye(3), np.ones((3, 4, 3)), np.ones((3, 4, 2))
    >>> prefix = fit_prefix(query, key, value, [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    >>> prefix, prefix.error < 1e-12
    (FittedPrefix(length=3, s=3, p=2, ...), True)
    """

    error: float = np.nan
    condition: float = np.nan
    share: Float64 = field(default_factory=lambda: np.empty(0))
    key_scale: float = np.nan

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, error={self.error:.3g}, condition={self.condition:.3g})"


def fit_prefix(
    query: ArrayLike, key: ArrayLike | Sequence[Any], value: ArrayLike | Sequence[Any], targets: ArrayLike, *,
    length: int | None = None, key_scale: float | None = None, scale: float | None = None,
) -> FittedPrefix:  # fmt: skip
    """Fit a prefix of a frozen head to outputs at examples, in closed form.

    With as many tokens as there are different queries, outputs are the targets; with fewer, or where equal queries ask
    for different things, values are those of least squares. `reachable` says what no prefix can.
    See docs/theorems/8.5-interpolating-prefix.md.

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
        Of shapes (length, s) and (length, p); keys point as queries do. It is empty, with a warning, if this is nearer
        to the targets, in the root mean square.

    Raises
    ------
    TypeError, ValueError
        If arrays do not fit together or `length` exceeds the number of different queries; if outputs could be the
        targets, but queries are too close to each other, or keys of the given length leave the prefix too little
        attention for any digit of the outputs to be right.

    Warns
    -----
    RuntimeWarning
        If no prefix is nearer to the targets than one of `length` tokens at these queries.

    Notes
    -----
    Keys of one length in the directions of the queries make a query attend to its own token most, and to others less
    and less as they grow, so that the equations of the values tend to the identity; where two queries have one
    direction, keys are multiples of the queries, ``exp(scale * key_scale * <q_i, q_j>)`` being positive definite.
    Fewer keys belong to queries chosen by pivoted Cholesky of ``exp(-scale * key_scale * |q_i - q_j|^2 / 2)``.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import fit_prefix
    >>> rng = np.random.default_rng(0)
    >>> query, targets = rng.standard_normal((2, 50, 8))  # 50 examples
    >>> key, value = rng.standard_normal((2, 50, 12, 8))  # each with 12 tokens of its own
    >>> prefix = fit_prefix(query, key, value, targets)
    >>> len(prefix), prefix.error < 1e-13, fit_prefix(query, key, value, targets, length=25).error < 2.5
    (50, True, True)
    """
    with one_blas_thread():
        contexts = read_contexts(query, key, value, scale=scale)
        outputs = _checks.shaped(finite(targets, "targets"), "targets", contexts.mean.shape, note=" as outputs have")
        fit = _fit([Heads(contexts, np.eye(outputs.shape[1])[None])], outputs, length, key_scale=key_scale)
    return replace(fit, key=fit.key[0], value=fit.value[0], share=fit.share[0])


def fit_layer(
    layer: Any, x: ArrayLike, content: ArrayLike | Sequence[Any], targets: ArrayLike, *, length: int | None = None,
    key_scale: float | None = None,
) -> FittedPrefix:  # fmt: skip
    """Fit a prefix of a frozen attention layer to its outputs at examples, in closed form.

    See docs/theorems/8.5-interpolating-prefix.md.

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
        heads that share one in grouped attention. In a language model's first layer equal tokens are equal x.
    key_scale : float, optional
        As in `fit_prefix`.

    Returns
    -------
    FittedPrefix
        Of shapes (key_value_heads, length, ...); its error is that of the layer's outputs, and is not small where
        targets are outside the range of the weights behind the heads. It is empty, with a warning, if this is nearer to
        the targets, in the root mean square.

    Raises
    ------
    TypeError, ValueError

    Warns
    -----
    RuntimeWarning
        As `fit_prefix` does.

    Notes
    -----
    With as many tokens as different x the outputs of heads change as little as possible, in the Euclidean norm, for the
    layer's output to be the target; then each head has a prefix of its own. With fewer, or where equal x ask for
    different things, keys are best for the heads that share them alone, and values are those of least squares of the
    layer's outputs, of all heads at once.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import AttentionLayer, fit_layer
    >>> rng = np.random.default_rng(0)
    >>> layer = AttentionLayer(*rng.standard_normal((4, 16, 16)) / 4.0, heads=2)
    >>> content, targets = rng.standard_normal((30, 5, 16)), rng.standard_normal((30, 16))
    >>> prefix = fit_layer(layer, content[:, -1], content, targets)
    >>> len(prefix), bool(abs(layer.attend(content, prefix=prefix)[:, -1] - targets).max() < 1e-12)
    (30, True)
    """
    weights = as_layer(layer)
    sources = _checks.shaped(finite(x, "x"), "x", ("N", weights.width))
    contents = arrays(content, "content", len(sources), shape=("n", weights.width), owner="x")
    shape = len(sources), len(weights.out_bias)
    outputs = _checks.shaped(finite(targets, "targets"), "targets", shape, note=" as outputs have")
    with one_blas_thread():
        return _fit(_groups(weights, sources, contents), outputs - weights.out_bias, length, key_scale=key_scale)


def _groups(weights: AttentionLayer, sources: Float64, contents: list[Float64]) -> list[Heads]:
    """Return the heads of a layer, those together that share keys, for what asks (N, d) and its contents."""
    inputs = [weights.head_inputs(*pair) for pair in zip(sources[:, None], contents, strict=True)]
    out = np.moveaxis(weights.output_weights.reshape(-1, weights.heads, weights.value_dim), 1, 0)  # (heads, d_out, p)
    groups = []
    for first in range(0, weights.heads, weights.group_size):
        heads = range(first, first + weights.group_size)
        query = np.array([q[h, 0] for h in heads for q, _, _ in inputs])
        key, value = [k[h] for h in heads for _, k, _ in inputs], [v[h] for h in heads for _, _, v in inputs]
        groups.append(Heads(read_contexts(query, key, value, scale=weights.scale), out[heads.start : heads.stop]))
    return groups


def _fit(groups: list[Heads], outputs: Float64, length: object, key_scale: object) -> FittedPrefix:
    """Return the prefix of all heads for checked contexts and outputs (N, d_out), or an empty one if that is nearer."""
    scale = None if key_scale is None else _checks.real(key_scale, "key_scale", minimum=1.0 / WIDEST, maximum=WIDEST)
    prefix, nearer = fit_groups(groups, outputs, length, scale)
    if nearer:
        return prefix
    _checks.warn_inaccurate(
        f"no prefix of {len(prefix)} tokens at these queries is nearer to 'targets' than none is, so that an empty one "
        "is returned: take a larger 'length', or see 'reachable_by_layer'"
    )
    error, share = float(np.abs(Examples(groups, outputs).change()).max()), np.zeros_like(prefix.share)
    key, value = prefix.key[:, :0], prefix.value[:, :0]
    return replace(prefix, key=key, value=value, error=error, condition=1.0, share=share)


def fit_groups(
    groups: list[Heads], outputs: Float64, length: object, key_scale: float | None = None
) -> tuple[FittedPrefix, bool]:
    """Return the prefix of all heads for contexts and outputs (N, d_out), and whether it is nearer than none."""
    largest = max(float(np.abs(part).max()) for part in (outputs, *(heads.contexts.mean for heads in groups)))
    unit = unit_of(largest)
    contexts = [replace(heads.contexts, mean=heads.contexts.mean / unit) for heads in groups]
    examples = Examples(
        [replace(heads, contexts=own) for heads, own in zip(groups, contexts, strict=True)], outputs / unit
    )
    keys, values, condition = _solve(examples, length, key_scale)
    (missed, share), change = examples.missed(keys, values), examples.change()
    squares, query_squares = (
        np.square(part).mean(axis=(1, 2)) for part in (keys, np.array([heads.contexts.query for heads in groups]))
    )
    size = float(np.sqrt(squares / np.maximum(query_squares, 1e-300)).max())
    nearer = np.linalg.norm(missed) <= np.linalg.norm(change) + _WORSE * np.linalg.norm(examples.outputs)
    error = unit * float(np.abs(missed).max())
    with np.errstate(over="ignore"):
        values = unit * values
    if not np.isfinite(values).all():
        raise ValueError(f"'targets' must be smaller: values overflow for targets and means up to {largest:.3g}")
    prefix = FittedPrefix(keys, values, None, error=error, condition=condition, share=share, key_scale=size)
    return prefix, bool(nearer)


def _solve(examples: Examples, length: object, key_scale: float | None) -> tuple[Float64, Float64, float]:
    """Return keys and values of all groups, and the condition: exact ones if there are as many as different queries."""
    targets, groups = examples.head_targets(), examples.groups
    rows, consistency = zip(*(distinct(h.contexts, own) for h, own in zip(groups, targets, strict=True)), strict=True)
    n = max(map(len, rows))
    count = n if length is None else _checks.integer(length, "length", minimum=1)
    if count > n:
        raise ValueError(f"'length' must be at most {n}, the number of different queries, got {count}")
    queries = sum(heads.contexts.query.shape[0] for heads in groups)
    _checks.memory(32.0 * queries * count, "attention to the prefix", "take a smaller 'length', or fewer examples")
    exact = all(consistency) and min(map(len, rows)) == count
    if exact:
        parts = zip(groups, rows, targets, strict=True)
        fits = [exact_values(heads.contexts.at(i), own[i], key_scale) for heads, i, own in parts]
        keys, values = (np.array([fit[k] for fit in fits]) for k in (0, 1))
        condition = max(fit[2] for fit in fits)
    else:
        change = examples.change()
        lone = [change + heads.outputs(heads.contexts.mean) for heads in groups]
        parts = zip(groups, rows, lone, strict=True)
        keys = np.array([few_keys(heads, i, own, count=count, key_scale=key_scale) for heads, i, own in parts])
        values, _, condition = least_values(examples, keys)
    for heads, key in zip(groups, keys, strict=True):
        steepest = heads.contexts.scale * float(np.abs(heads.contexts.query @ key.T).max())
        if not steepest * (condition if exact else 1.0) * EPS < LOST:
            raise ValueError(
                f"'key_scale' must be smaller, or the nearest of 'query' left out: rounding of logits up to "
                f"{steepest:.3g} and a condition of {condition:.3g} leave no digit that counts"
            )
    return keys, values, condition
