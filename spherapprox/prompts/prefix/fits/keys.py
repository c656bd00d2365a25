"""Keys of fitted prefixes, the choice of their length, and values that follow in closed form."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.linalg import lapack

from ...._types import Float64, Indices
from ..layer.contexts import Contexts
from .values import Examples, Heads, attention_alone, least_values

ENOUGH = 100.0
"""A growth of values over targets at which keys need not be longer."""
LARGEST = 1e8
"""The largest condition of values that are worth something."""
POWERS = 24
"""Lengths of keys that are tried, each twice the one before."""
EPS, LOST = float(np.finfo(np.float64).eps), 1e-3
"""The rounding of numbers, and the relative error from which outputs are worth nothing."""
_SAME = 1e-12
"""Differences of log masses, means and targets up to which equal queries ask for the same."""
_GAIN = 1e-9
"""What keys have to gain, over the squares of what is wanted: roundings choose none."""
_DEPENDENT = 1e-13
"""Squared distances from the span of chosen rows that are rounding."""


def distinct(contexts: Contexts, targets: Float64) -> tuple[Indices, bool]:
    """Return the rows of different queries, and whether equal ones have equal contexts and targets, about 1."""
    _, first, inverse = np.unique(contexts.query, axis=0, return_index=True, return_inverse=True)
    owner = first[inverse.ravel()]
    # sums of the same tokens in another order differ by roundings
    masses = (contexts.log_mass - contexts.log_mass[owner]) / np.maximum(1.0, np.abs(contexts.log_mass[owner]))
    differences = masses, contexts.mean - contexts.mean[owner], targets - targets[owner]
    return np.sort(first), max(float(np.abs(part).max()) for part in differences) <= _SAME


def shapes(query: Float64) -> Iterator[Float64]:
    """Yield keys in the directions of queries, first of one length, then multiples; one of them for equal lengths."""
    lengths = np.linalg.norm(query, axis=1, keepdims=True)
    size = float(np.sqrt(np.mean(lengths**2)))
    if lengths.max() > (1.0 + 1e-12) * lengths.min():
        yield query * (size / np.where(lengths > 0.0, lengths, 1.0))
    yield query


def scales(contexts: Contexts, scale: float | None) -> list[float]:
    """Return the lengths of keys over those of queries that are tried: powers of 2, from logits of about 1 on."""
    if scale is not None:
        return [scale]
    squares = contexts.scale * float(np.mean(np.sum(contexts.query**2, axis=1)))
    first = -math.ceil(math.log2(squares)) if squares > 0.0 else 0
    return [2.0 ** (first + power) for power in range(POWERS)]


def exact_values(contexts: Contexts, targets: Float64, scale: float | None) -> tuple[Float64, Float64, float]:
    """Return a key for each different query, the values with which outputs are targets, and the condition."""
    keys = _best_keys(contexts, scale)
    weights, log_mass = attention_alone(contexts, keys)
    ratio = np.exp(np.minimum(contexts.log_mass - log_mass, 700.0))[:, None]  # the content's mass over the prefix's
    sizes = np.linalg.svd(weights, compute_uv=False)
    condition = float(sizes[0] / max(float(sizes[-1]), 1e-300))
    if not condition * (1.0 + float(ratio.max())) * EPS < LOST:
        raise ValueError(
            "'key_scale' must be larger: the content's mass leaves the prefix a share of "
            f"{1.0 / (1.0 + ratio.max()):.3g} of the attention, too little for its values to have a digit that counts"
        )
    outputs = targets + ratio * (targets - contexts.mean)
    return keys, np.asarray(np.linalg.solve(weights, outputs)), condition


def _best_keys(contexts: Contexts, scale: float | None) -> Float64:
    """Return a key for each query: the shortest by which values grow little over targets, or the most accurate."""
    best, least, condition = contexts.query, math.inf, math.inf
    for shape in shapes(contexts.query):
        last, rises = math.inf, 0
        largest = contexts.scale * float(abs(contexts.query @ shape.T).max())
        for factor in scales(contexts, scale):
            weights, log_mass = attention_alone(contexts, shape * factor)
            estimate = _estimate(weights)
            grown = estimate * (1.0 + math.exp(min(float((contexts.log_mass - log_mass).max()), 700.0)))
            error = grown * (1.0 + largest * factor)  # relative, in units of roundoff: logits are rounded
            if error < least:
                best, least, condition = shape * factor, error, estimate
            if grown < ENOUGH:
                return shape * factor
            rises += error > last  # not of inf after inf: keys so short are too near to each other
            last = error
            if rises == 2:
                break
    if not condition < LARGEST:
        i, j = _nearest(contexts.query)
        remedy = "leave one of them out, or take a smaller 'length'" if scale is None else "take another 'key_scale'"
        raise ValueError(
            f"'query' must have rows that keys can tell apart, got a condition of {condition:.3g}; the nearest rows "
            f"are {i} and {j}: {remedy}"
        )
    return best


def few_keys(heads: Heads, rows: Indices, outputs: Float64, count: int, key_scale: float | None) -> Float64:
    """Return keys (L, s) at some of the queries: the best for outputs of these heads alone."""
    alone = Examples([heads], outputs).reduced()
    query, scale = heads.contexts.query[rows], heads.contexts.scale
    gain = _GAIN * float(np.square(alone.outputs).sum())
    best, least = np.empty(0), math.inf
    for shape in shapes(query):
        last, rises = math.inf, 0
        for factor in scales(heads.contexts, key_scale):
            keys = shape[pivots(shape, scale * factor, count)] * factor
            _, squares, _ = least_values(alone, keys[None])
            if not best.size or squares < least - gain:
                best, least = keys, squares
            rises += not squares < last - gain
            last = squares
            if rises == 2:
                break
    return best


def _estimate(matrix: Float64) -> float:
    """Return an estimate of the condition number, in the sum norm."""
    factors, _, info = lapack.dgetrf(matrix)
    if info:
        return math.inf
    reciprocal = float(lapack.dgecon(factors, np.abs(matrix).sum(axis=0).max())[0])
    return 1.0 / reciprocal if reciprocal > 0.0 else math.inf


def pivots(rows: Float64, scale: float, count: int) -> list[int]:
    """Return so many rows, chosen by pivoted Cholesky of ``exp(-scale |x_i - x_j|^2 / 2)``."""
    remains = np.ones(len(rows))
    factor = np.zeros((count, len(rows)))
    pivot_rows: list[int] = []
    for k in range(count):
        i = int(np.argmax(remains))
        column = np.exp(-0.5 * scale * np.sum((rows - rows[i]) ** 2, axis=1))
        if remains[i] > _DEPENDENT:
            factor[k] = (column - factor[:k, i] @ factor[:k]) / math.sqrt(remains[i])
            remains = np.maximum(remains - factor[k] ** 2, 0.0)
        pivot_rows.append(i)
        remains[pivot_rows] = -1.0
    return pivot_rows


def _nearest(rows: Float64) -> tuple[int, int]:
    """Return the two rows that are nearest to each other."""
    squares = np.sum(rows**2, axis=1)
    distances = squares[:, None] + squares - 2.0 * rows @ rows.T
    np.fill_diagonal(distances, np.inf)
    i, j = np.unravel_index(int(np.argmin(distances)), distances.shape)
    return int(min(i, j)), int(max(i, j))
