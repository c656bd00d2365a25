"""Tokens of sequences, and weights of attention: scores and values with their rounding, and exactly."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ... import _checks
from ..._types import Float64, Floats, Indices

EPS = 2.0**-52
_MOST_DIGITS = 100_000
"""Digits that the measure of a separation may need: exponentials of so many take about a second."""
_WIDEST = 1e70
"""Of the largest entry of tokens, or of 1 over it: products of a few neither overflow nor vanish."""


class Vocabulary(NamedTuple):
    """The tokens of sequences, (V, d), in an order of their own, how often each has each, (N, V), and all places.

    Of each place, in order: which token is there, and in which sequence it is.
    """

    tokens: Float64
    counts: Float64
    ids: Indices
    owners: Indices


def vocabulary(sequences: Any) -> Vocabulary:
    """Return the tokens of sequences."""
    arrays = ragged(sequences, "sequences")
    rows = np.concatenate(arrays).astype(np.float64)
    largest = float(np.abs(rows).max())
    if largest and not 1.0 / _WIDEST <= largest <= _WIDEST:
        raise ValueError(f"'sequences' must have a largest entry from {1 / _WIDEST:g} to {_WIDEST:g}, got {largest:g}")
    tokens, which = np.unique(rows, axis=0, return_inverse=True)
    _checks.memory(8.0 * len(arrays) * len(tokens), "the counts of tokens", "take fewer sequences")
    counts = np.zeros((len(arrays), len(tokens)))
    owners, ids = np.repeat(np.arange(len(arrays)), [len(array) for array in arrays]), which.reshape(-1)
    np.add.at(counts, (owners, ids), 1.0)
    return Vocabulary(tokens, counts, ids, owners)


def ragged(value: Any, name: str) -> list[Floats]:
    """Return sequences of rows with one number of columns, of an array (N, n, d) or a list of arrays (n_i, d)."""
    is_array = isinstance(value, np.ndarray) or hasattr(value, "detach")
    if not is_array and not (isinstance(value, list | tuple) and len(value)):
        raise ValueError(f"'{name}' must be an array (N, n, d) or a list of arrays, got {_checks.show(value)}")
    if is_array:
        value = _checks.floating(_checks.detached(value), name, ("N", "n", "d"))
    arrays = [_checks.floating(_checks.detached(rows), f"{name}[{i}]", ("n", "d")) for i, rows in enumerate(value)]
    for i, array in enumerate(arrays):
        _checks.shaped(array, f"{name}[{i}]", ("n", arrays[0].shape[1]), note=", as the first has")
    return arrays


def least_size(tokens: Float64, size: Callable[[Float64], Float64]) -> float:
    """Return the least size of the difference of two tokens, inf for a single one."""
    return min((float(size(tokens[i + 1 :] - tokens[i]).min()) for i in range(len(tokens) - 1)), default=math.inf)


@dataclass(frozen=True, eq=False)
class Weights:
    """The weights of a head, checked, with what its rounding may be."""

    query: Float64
    key: Float64
    value: Float64
    output: Float64 | None
    scale: float

    @classmethod
    def checked(cls, query: Any, key: Any, value: Any, *, output: Any, scale: Any, d: int) -> Weights:
        """Return the weights after checking that they fit tokens of d columns."""
        q = _matrix(query, "query", d, why="tokens have")
        k, v = _matrix(key, "key", d, why="tokens have"), _matrix(value, "value", d, why="tokens have")
        if len(k) != len(q):
            raise ValueError(f"'query' and 'key' must have as many rows, got shapes {q.shape} and {k.shape}")
        o = None if output is None else _matrix(output, "output", len(v), why="'value' has rows")
        return cls(q, k, v, o, _checks.real(scale, "scale", above=0.0))

    def scores(self, tokens: Float64, t: int) -> tuple[Float64, float]:
        """Return the scores (V,) of all tokens under one, and what their rounding, and that of sums, may be."""
        with np.errstate(over="ignore", invalid="ignore"):
            scores = (tokens @ self.key.T) @ (self.scale * (self.query @ tokens[t]))
            sizes = (np.abs(tokens) @ np.abs(self.key).T) @ (self.scale * (np.abs(self.query) @ np.abs(tokens[t])))
        if not np.isfinite(sizes).all():
            raise ValueError("'query', 'key' and 'scale' must be smaller: scores overflow")
        return scores, (2 * tokens.shape[1] + len(self.key) + 10) * EPS * float(sizes.max())

    def values(self, tokens: Float64, t: int) -> tuple[Float64, Float64]:
        """Return the values of all tokens less that of token t, (V, q), and these of absolute values, for roundings."""
        rows = tokens - tokens[t]
        sizes = np.abs(rows)
        with np.errstate(over="ignore", invalid="ignore"):
            for matrix in (self.value, self.output):
                if matrix is not None:
                    rows, sizes = rows @ matrix.T, sizes @ np.abs(matrix).T
        if not np.isfinite(sizes).all():
            raise ValueError("'value' and 'output' must be smaller: values overflow")
        return rows, sizes

    def exact(self, tokens: Float64, mine: Float64, theirs: Float64, t: int) -> float:
        """Return the log distance of what one token is given in two contexts, in as many digits as it takes."""
        import mpmath  # 0.1 s that cancellation alone needs

        columns = np.flatnonzero(mine + theirs)
        largest = float(np.abs(self.scores(tokens, t)[0][columns]).max())
        # how far below the largest a term may be: two scores and their weights, and what arrays of mixed size hide
        arrays = [array for array in (self.query, self.key, self.value, self.output) if array is not None]
        digit_limit = 100.0 + 4.0 * largest / math.log(10.0)
        digit_limit += 4.0 * _decades(tokens[columns]) + 2.0 * sum(map(_decades, arrays))
        digits = 50
        while True:
            with mpmath.workdps(digits + int(math.log10(1.0 + largest))):
                distance, size = self._distance(tokens[columns], mine[columns], theirs[columns], token=tokens[t])
                if distance > size * mpmath.mpf(10) ** (12 - digits):
                    return float(mpmath.log(distance))
            if digits >= digit_limit or not size:
                return -math.inf
            digits *= 2
            if digits > _MOST_DIGITS:
                raise ValueError(f"'query' must be smaller: scores up to {largest:.3g} hide a difference of two points")

    def _distance(self, tokens: Float64, mine: Float64, theirs: Float64, token: Float64) -> tuple[Any, Any]:
        """Return the distance of the means over two contexts, and the size of a value, in mpmath's working digits."""
        import mpmath

        def product(matrix: Float64, x: Any) -> list[Any]:
            return [mpmath.fdot(row, x) for row in matrix.tolist()]

        query = product(self.query, token.tolist())
        scores = [self.scale * mpmath.fdot(query, product(self.key, x)) for x in tokens.tolist()]
        top = max(scores)
        powers = [mpmath.exp(score - top) for score in scores]
        values = [product(self.value, x) for x in tokens.tolist()]
        if self.output is not None:
            values = [product(self.output, x) for x in values]
        first, second = ([c * e for c, e in zip(counts.tolist(), powers, strict=True)] for counts in (mine, theirs))
        a, b = mpmath.fsum(first), mpmath.fsum(second)
        columns = [*zip(*values, strict=True)]
        apart = [mpmath.fdot(first, column) / a - mpmath.fdot(second, column) / b for column in columns]
        return mpmath.norm(apart), max(abs(v) for row in values for v in row)


def _decades(array: Float64) -> float:
    """Return the decimal logarithm of the largest entry over the smallest that is not 0, with its digits."""
    sizes = np.abs(array[array != 0.0])
    return 16.0 + float(np.log10(sizes.max()) - np.log10(sizes.min())) if sizes.size else 0.0


def _matrix(value: Any, name: str, columns: int, why: str) -> Float64:
    """Return a matrix with so many columns, as others have it."""
    array = _checks.floating(_checks.detached(value), name, ("rows", columns), note=f", the columns that {why}")
    return array.astype(np.float64)
