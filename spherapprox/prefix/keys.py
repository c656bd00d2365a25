"""Keys of fitted prefixes, the choice of their length, and the values that follow."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from .._types import Float64
from .contexts import Contexts

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
_DEPENDENT = 1e-13
"""Squared distances from the span of chosen rows that are rounding."""


@dataclass(frozen=True, eq=False)
class Examples:
    """Different queries (N, s); log masses (N,) and means (N, p) of contexts; targets (N, p); the scale."""

    query: Float64
    log_mass: Float64
    mean: Float64
    target: Float64
    scale: float


def distinct(contexts: Contexts, targets: Float64) -> Examples:
    """Return the examples with different queries; equal ones need equal contexts and targets, which are about 1."""
    _, first, inverse = np.unique(contexts.query, axis=0, return_index=True, return_inverse=True)
    for i, j in enumerate(first[inverse.ravel()]):
        # sums of the same tokens in another order differ by roundings
        size = max(1.0, abs(float(contexts.log_mass[j])))
        differences = abs(contexts.log_mass[i] - contexts.log_mass[j]) / size, contexts.mean[i] - contexts.mean[j]
        if not max(float(np.abs(part).max()) for part in (*differences, targets[i] - targets[j])) <= _SAME:
            raise ValueError(
                f"'query' must have different rows for different contexts or targets, got equal rows {j} and {i}: "
                "'reachable' says how close a prefix can come"
            )
    kept = np.sort(first)
    return Examples(contexts.query[kept], contexts.log_mass[kept], contexts.mean[kept], targets[kept], contexts.scale)


def chosen(examples: Examples, count: int, given: float | None) -> tuple[Float64, Float64, float]:
    """Return keys (L, s), values (L, p) and the condition."""
    return _all(examples, given) if count == len(examples.query) else _some(examples, count, given)


def shapes(query: Float64) -> Iterator[Float64]:
    """Yield keys in the directions of queries, first of one length, then multiples; one of them for equal lengths."""
    lengths = np.linalg.norm(query, axis=1, keepdims=True)
    size = float(np.sqrt(np.mean(lengths**2)))
    if lengths.max() > (1.0 + 1e-12) * lengths.min():
        yield query * (size / np.where(lengths > 0.0, lengths, 1.0))
    yield query


def scales(examples: Examples, given: float | None) -> list[float]:
    """Return the lengths of keys over those of queries that are tried: powers of 2, from logits of about 1 on."""
    if given is not None:
        return [given]
    squares = examples.scale * float(np.mean(np.sum(examples.query**2, axis=1)))
    first = -math.ceil(math.log2(squares)) if squares > 0.0 else 0
    return [2.0 ** (first + power) for power in range(POWERS)]


def _all(examples: Examples, given: float | None) -> tuple[Float64, Float64, float]:
    """Return a key for each query, and the values with which outputs are targets."""
    keys = _best_keys(examples, given)
    weights, log_mass = _weights(examples, keys)
    rest = np.exp(np.minimum(examples.log_mass - log_mass, 700.0))[:, None]  # the content's mass over the prefix's
    sizes = np.linalg.svd(weights, compute_uv=False)
    condition = float(sizes[0] / sizes[-1])
    if not condition * (1.0 + float(rest.max())) * EPS < LOST:
        raise ValueError(
            "'key_scale' must be larger: the content's mass leaves the prefix a share of "
            f"{1.0 / (1.0 + rest.max()):.3g} of the attention, too little for its values to have a digit that counts"
        )
    wanted = examples.target + rest * (examples.target - examples.mean)
    return keys, np.asarray(np.linalg.solve(weights, wanted)), condition


def _best_keys(examples: Examples, given: float | None) -> Float64:
    """Return a key for each query: the shortest by which values grow little over targets, or the most accurate."""
    best, least, condition = examples.query, math.inf, math.inf
    for shape in shapes(examples.query):
        last, rises = math.inf, 0
        largest = examples.scale * float(abs(examples.query @ shape.T).max())
        for factor in scales(examples, given):
            weights, log_mass = _weights(examples, shape * factor)
            found = _condition(weights)
            grown = found * (1.0 + math.exp(min(float((examples.log_mass - log_mass).max()), 700.0)))
            error = grown * (1.0 + largest * factor)  # relative, in units of roundoff: logits are rounded
            if error < least:
                best, least, condition = shape * factor, error, found
            if grown < ENOUGH:
                return shape * factor
            rises += error > last  # not of inf after inf: keys so short are too near to each other
            last = error
            if rises == 2:
                break
    if not condition < LARGEST:
        i, j = _nearest(examples.query)
        remedy = "leave one of them out, or take a smaller 'length'" if given is None else "take another 'key_scale'"
        raise ValueError(
            f"'query' must have rows that keys can tell apart, got a condition of {condition:.3g}; the nearest rows "
            f"are {i} and {j}: {remedy}"
        )
    return best


def _some(examples: Examples, count: int, given: float | None) -> tuple[Float64, Float64, float]:
    """Return keys at some of the queries, and values of least squares."""
    best: tuple[Float64, Float64, float] | None = None
    least = math.inf
    for shape in shapes(examples.query):
        last, rises = math.inf, 0
        for factor in scales(examples, given):
            keys = shape[pivots(shape, examples.scale * factor, count)] * factor
            value, squares, condition = _least_squares(examples, keys)
            if best is None or squares < least:
                best, least = (keys, value, condition), squares
            rises += not squares < last
            last = squares
            if rises == 2:
                break
    assert best is not None
    return best


def _least_squares(examples: Examples, keys: Float64) -> tuple[Float64, float, float]:
    """Return values for keys, the sum of squares that remains, and the condition."""
    weights, log_mass = _weights(examples, keys)
    both = np.logaddexp(log_mass, examples.log_mass)
    share, rest = np.exp(log_mass - both)[:, None], np.exp(examples.log_mass - both)[:, None]
    matrix, wanted = share * weights, examples.target - rest * examples.mean
    value, _, _, sizes = np.linalg.lstsq(matrix, wanted, rcond=1e-6)
    squares = float(np.sum((matrix @ value - wanted) ** 2))
    return np.asarray(value), squares, float(sizes[0] / max(sizes[-1], 1e-300))


def _weights(examples: Examples, keys: Float64) -> tuple[Float64, Float64]:
    """Return the attention (N, L) over the keys alone, and their log mass (N,)."""
    logits = examples.scale * (examples.query @ keys.T)
    top = logits.max(axis=1, keepdims=True)
    weights = np.exp(logits - top)
    sums = weights.sum(axis=1, keepdims=True)
    return weights / sums, (top + np.log(sums))[:, 0]


def _condition(matrix: Float64) -> float:
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
    found: list[int] = []
    for k in range(count):
        i = int(np.argmax(remains))
        column = np.exp(-0.5 * scale * np.sum((rows - rows[i]) ** 2, axis=1))
        if remains[i] > _DEPENDENT:
            factor[k] = (column - factor[:k, i] @ factor[:k]) / math.sqrt(remains[i])
            remains = np.maximum(remains - factor[k] ** 2, 0.0)
        found.append(i)
        remains[found] = -1.0
    return found


def _nearest(rows: Float64) -> tuple[int, int]:
    """Return the two rows that are nearest to each other."""
    squares = np.sum(rows**2, axis=1)
    distances = squares[:, None] + squares - 2.0 * rows @ rows.T
    np.fill_diagonal(distances, np.inf)
    i, j = np.unravel_index(int(np.argmin(distances)), distances.shape)
    return int(min(i, j)), int(max(i, j))
