"""Contextual mappings: the Boltzmann operator, attention that separates the contexts of a token, and how far it does.

Scores are ``scale * <query x, key y>``, and a token x of a sequence y_1, ..., y_n goes to
``sum_j softmax(scores)_j output value y_j``; tokens are rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._norms import directions
from .._softmax import exponentiate, softmax
from .._threads import one_blas_thread
from .._types import Float64, Indices

__all__ = [
    "ContextualAttention",
    "boltzmann",
    "boltzmann_gradient",
    "context_separation",
    "contextual_attention",
    "separating_direction",
]

_EPS = 2.0**-52
_FAR = 800.0
"""Weights exp(-x) are 0 from here on."""
_LOG_ERROR = 1e-9
"""What a measured logarithm may be off by, relative to itself or absolutely where it is below 1."""
_LOST = 1e-290
"""Weights relative to the largest, and what they weigh, may vanish below this."""
_SLACK = 0.01
"""Share of the distance of scores that the directions after the first may take away."""
_MOST_DIGITS = 100_000
"""Digits that the measure of a separation may need: exponentials of so many take about a second."""
_WIDEST = 1e70
"""Of the largest entry of tokens, or of 1 over it: products of a few neither overflow nor vanish."""


def boltzmann(z: ArrayLike) -> Any:
    """Return the Boltzmann operator: the mean of numbers in the weights of their softmax.

    Parameters
    ----------
    z : array_like, shape (..., n)
        Finite numbers, n >= 1.

    Returns
    -------
    float or ndarray, shape (...)
        ``sum(z * softmax(z))`` over the last axis, between ``max(z) - log(n)`` and ``max(z)``; right to 1.2e-16 times
        its size plus 1e-15 (1 + log n), for numbers of any size.

    Raises
    ------
    TypeError, ValueError
        If `z` holds no finite numbers, or none at all.

    References
    ----------
    docs/theorems/8.9-contextual-mapping.md.

    Examples
    --------
    >>> from spherapprox.prompts.contextual import boltzmann
    >>> round(boltzmann([9.0, 4.5, 0.0]), 6), boltzmann([[1e9, 0.0], [3.0, 3.0]]).tolist()
    (8.949466, [1000000000.0, 3.0])
    """
    top, _, deficit, _ = _weighted(z)
    found = top - deficit
    return found if found.ndim else float(found)


def boltzmann_gradient(z: ArrayLike) -> Float64:
    """Return the gradient of the Boltzmann operator, ``p * (1 + z - boltzmann(z))`` with the weights p = softmax(z).

    Parameters
    ----------
    z : array_like, shape (..., n)
        Finite numbers, n >= 1.

    Returns
    -------
    ndarray, shape (..., n)
        Right to 1e-14 (1 + log n); numbers farther below the largest one than 745 have 0. The sum over n is 1.

    Raises
    ------
    TypeError, ValueError
        If `z` holds no finite numbers, or none at all.

    References
    ----------
    docs/theorems/8.9-contextual-mapping.md.

    Examples
    --------
    >>> from spherapprox.prompts.contextual import boltzmann_gradient
    >>> boltzmann_gradient([2.0, 0.0, -1.0]).round(4)
    array([ 1.1429, -0.0737, -0.0691])
    """
    _, below, deficit, weights = _weighted(z)
    return np.asarray(weights * (1.0 - below + deficit[..., None]))


def _weighted(z: ArrayLike) -> tuple[Float64, Float64, Float64, Float64]:
    """Return the largest number, how far all are below it, the mean of that in the softmax's weights, and these."""
    array = _checks.floating(_checks.detached(z), "z", (..., "n")).astype(np.float64)
    top = array.max(axis=-1)
    with np.errstate(over="ignore"):
        below = np.minimum(top[..., None] - array, _FAR)
    weights = softmax(-below)
    return np.asarray(top), below, np.asarray((below * weights).sum(axis=-1)), weights


def separating_direction(
    x: ArrayLike, *, rng: np.random.Generator | int | None = None, tries: int = 1000
) -> tuple[Float64, float]:
    """Find a direction along which points stay apart, relative to their distances.

    Parameters
    ----------
    x : array_like, shape (n, d)
        Different points, at least 2.
    rng : None, int or numpy.random.Generator
        Source of the directions; the same seed gives the same result.
    tries : int, default 1000
        Directions that are tried; the best is taken.

    Returns
    -------
    u : ndarray, shape (d,)
        A unit vector.
    ratio : float
        The least ``abs(u @ (x[i] - x[j])) / norm(x[i] - x[j])`` over i != j, right to about 1e-15. A try has less than
        r with a probability of at most n (n - 1) / 2 I_{r^2}(1/2, (d - 1)/2); `bounds.prompts.separating_ratio` is the
        r at which this is 1, a ratio that some direction reaches.

    Raises
    ------
    TypeError, ValueError
        If points are not finite, fewer than 2, or not different.

    References
    ----------
    docs/theorems/8.9-contextual-mapping.md.

    Examples
    --------
    >>> from spherapprox.prompts.contextual import separating_direction
    >>> u, ratio = separating_direction([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], rng=0)
    >>> 0.7 < ratio < 0.7072  # the best one is sin(pi / 4)
    True
    """
    points = _checks.floating(_checks.detached(x), "x", ("n", "d")).astype(np.float64)
    n, d = points.shape
    if n < 2:
        raise ValueError(f"'x' must hold at least 2 points, got shape {points.shape}")
    count = _checks.integer(tries, "tries", minimum=1)
    _checks.operations(float(n) * n * d * count, "the search for a direction", "take fewer points or tries")
    _checks.memory(8.0 * count * (n + d), "the projections of points", "take fewer points or tries")
    tried = _checks.generator(rng).standard_normal((count, d))
    octaves = int(np.frexp(np.abs(points).max())[1])
    points = np.ldexp(points, min(-octaves, 1020) if octaves < 0 else -1)  # chords neither overflow nor vanish
    if n == 2 and not np.array_equal(points[0], points[1]):
        tried[-1] = directions(points[1:] - points[:1])  # the best one there is
    tried = directions(tried)
    ratios = np.full(count, np.inf)
    with one_blas_thread():
        for i in range(n - 1):
            chords = points[i + 1 :] - points[i]
            if not chords.any(axis=1).all():
                same = i + 1 + int(np.argmin(chords.any(axis=1)))
                raise ValueError(f"'x' must hold different points, got rows {i} and {same} alike: np.unique drops them")
            np.minimum(ratios, np.abs(directions(chords) @ tried.T).min(axis=0), out=ratios)
    best = int(np.argmax(ratios))
    return tried[best], min(float(ratios[best]), 1.0)


@dataclass(frozen=True, eq=False)
class ContextualAttention:
    """One head of attention that separates the contexts of a token.

    Parameters
    ----------
    query, key, value : ndarray, shape (rank, d)
        Weights; scores are ``(query @ x) @ (key @ y)``, without a scale.
    output : ndarray, shape (d, rank)
        Weights from values to tokens; attention adds to a token at most a fourth of the least distance of two tokens.
    ratio : float
        The ratio of the separating direction.

    Examples
    --------
    >>> from spherapprox.prompts.contextual import contextual_attention
    >>> attention = contextual_attention([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 1.0]]], rank=2, rng=0)
    >>> attention.query.shape, attention.output.shape
    ((2, 2), (2, 2))
    """

    query: Float64
    key: Float64
    value: Float64
    output: Float64
    ratio: float

    def __repr__(self) -> str:
        return f"ContextualAttention(rank={len(self.query)}, d={self.query.shape[1]}, ratio={self.ratio:.3g})"


def contextual_attention(
    sequences: Any, *, rank: int = 1, rng: np.random.Generator | int | None = None
) -> ContextualAttention:
    """Construct an attention head of a given rank that separates the contexts of each token.

    Scores of different tokens are apart by 4 log(n) or more, n the longest length, under every token of the vocabulary.
    Outputs ``x + attention`` of one token in sequences with different sets of tokens are then different
    (`context_separation` says by how much), and those of different tokens half the distance of these apart.

    Parameters
    ----------
    sequences : array_like, shape (N, n, d), or list of arrays (n_i, d)
        Sequences of at least 2 tokens; the tokens of a sequence are different, none is 0. (A position, added to the
        tokens, makes them so.)
    rank : int, default 1
        Rank of each of the four matrices, at most d.
    rng : None, int or numpy.random.Generator
        Source of the directions; the same seed gives the same weights.

    Returns
    -------
    ContextualAttention

    Raises
    ------
    TypeError, ValueError
        If tokens are not finite, 0, or repeated in a sequence, a sequence has fewer than 2, or the rank is above d.

    References
    ----------
    docs/theorems/8.9-contextual-mapping.md.

    Examples
    --------
    >>> from spherapprox.prompts.contextual import context_separation, contextual_attention
    >>> sequences = [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 1.0]]]
    >>> w = contextual_attention(sequences, rng=0)
    >>> -40.0 < context_separation(sequences, w.query, w.key, w.value, output=w.output) < 0.0
    True
    """
    tokens, counts = _vocabulary(sequences)
    d = tokens.shape[1]
    width = _checks.integer(rank, "rank", minimum=1, maximum=d)
    _check_distinct(tokens, counts)
    generator = _checks.generator(rng)
    size = float(np.linalg.norm(tokens, axis=1).max())
    u, ratio = separating_direction(np.concatenate([tokens, np.zeros((1, d))]), rng=generator)
    apart = _least(tokens, lambda chords: np.abs(chords @ u)) * float(np.abs(tokens @ u).min())
    gap = 4.0 * math.log(int(counts.sum(axis=1).max()))
    slack = _SLACK * gap if width > 1 else 0.0
    factor = (gap + slack) / apart if apart > 0.0 else math.inf
    if not math.isfinite(factor):
        raise ValueError("'sequences' must hold tokens that 16 digits tell apart: some are almost the same")
    others = generator.standard_normal((d, width - 1))
    frame = np.linalg.qr(np.concatenate([u[:, None], others], axis=1))[0].T  # (rank, d)
    frame[0] = u
    scales = np.append(factor, np.full(width - 1, 0.5 * slack / size**2))
    output = 0.25 * _least(tokens, lambda chords: np.linalg.norm(chords, axis=1)) / size * np.eye(d, width)
    return ContextualAttention(frame, scales[:, None] * frame, frame, output, ratio)


def _vocabulary(sequences: Any) -> tuple[Float64, Float64]:
    """Return the tokens of sequences, (V, d), in an order of their own, and how often each has each, (N, V)."""
    whole = isinstance(sequences, np.ndarray) or hasattr(sequences, "detach")
    if not whole and not (isinstance(sequences, list | tuple) and len(sequences)):
        raise ValueError(f"'sequences' must be an array (N, n, d) or a list of arrays, got {_checks.show(sequences)}")
    if whole:
        sequences = _checks.floating(_checks.detached(sequences), "sequences", ("N", "n", "d"))
    arrays = [_checks.floating(_checks.detached(one), f"sequences[{i}]", ("n", "d")) for i, one in enumerate(sequences)]
    for i, array in enumerate(arrays):
        _checks.shaped(array, f"sequences[{i}]", ("n", arrays[0].shape[1]), note=", as the first has")
    rows = np.concatenate(arrays).astype(np.float64)
    largest = float(np.abs(rows).max())
    if largest and not 1.0 / _WIDEST <= largest <= _WIDEST:
        raise ValueError(f"'sequences' must have a largest entry from {1 / _WIDEST:g} to {_WIDEST:g}, got {largest:g}")
    tokens, which = np.unique(rows, axis=0, return_inverse=True)
    _checks.memory(8.0 * len(arrays) * len(tokens), "the counts of tokens", "take fewer sequences")
    counts = np.zeros((len(arrays), len(tokens)))
    owner = np.repeat(np.arange(len(arrays)), [len(array) for array in arrays])
    np.add.at(counts, (owner, which.reshape(-1)), 1.0)
    return tokens, counts


def _check_distinct(tokens: Float64, counts: Float64) -> None:
    """Check that the tokens of every sequence are different ones, at least 2, and none is 0."""
    lengths = counts.sum(axis=1)
    if lengths.min() < 2.0:
        raise ValueError(f"'sequences' must have at least 2 tokens each, got 1 in sequence {int(np.argmin(lengths))}")
    if counts.max() > 1.0:
        i = int(np.argmax(counts.max(axis=1)))
        raise ValueError(f"'sequences' must repeat no token, got one twice in sequence {i}: add positions")
    if not tokens.any(axis=1).all():
        i = int(np.argmax(counts[:, ~tokens.any(axis=1)].any(axis=1)))
        raise ValueError(f"'sequences' must not hold the token 0, got it in sequence {i}: add a constant to the tokens")


def _least(tokens: Float64, size: Callable[[Float64], Float64]) -> float:
    """Return the least size of the difference of two tokens."""
    return min(float(size(tokens[i + 1 :] - tokens[i]).min()) for i in range(len(tokens) - 1))


def context_separation(
    sequences: Any, query: ArrayLike, key: ArrayLike, value: ArrayLike, *, output: ArrayLike | None = None,
    scale: float = 1.0, log: bool = True,
) -> float:  # fmt: skip
    """Measure the least distance between the outputs of attention at one token in different contexts.

    Parameters
    ----------
    sequences : array_like, shape (N, n, d), or list of arrays (n_i, d)
        Sequences of tokens.
    query, key : array_like, shape (s, d)
        Weights of the scores ``scale * (query @ x) @ (key @ y)``.
    value : array_like, shape (p, d)
        Weights of the values.
    output : array_like, shape (q, p), optional
        Weights that are applied to the mean of the values; the identity by default.
    scale : float, default 1.0
        Factor of the scores, above 0.
    log : bool, default True
        Return the natural logarithm: separations are often below the smallest float.

    Returns
    -------
    float
        The least Euclidean distance between the outputs (those of attention alone, nothing added) at a token in two
        sequences that both have it, and have different sets of tokens; or its logarithm, which is right to 1e-9 of its
        size, or absolutely below 1. 0 (-inf) where two are equal, inf if no token occurs in two such sequences.

    Raises
    ------
    TypeError, ValueError
        If arrays are not finite or do not fit together, or if more than 1e5 digits are needed to tell two points apart.

    Notes
    -----
    Differences of two means are summed from what the sequences do not share, in logarithms: no digits are lost to
    cancellation, unless terms cancel. Where they do, mpmath takes as many digits as are needed. 200 sequences of 8
    tokens take 0.2 s.

    References
    ----------
    docs/theorems/8.9-contextual-mapping.md.

    Examples
    --------
    >>> from spherapprox.prompts.contextual import context_separation
    >>> sequences = [[[1.0], [2.0]], [[1.0], [3.0]]]
    >>> round(context_separation(sequences, [[1.0]], [[1.0]], [[1.0]], log=False), 6)
    1.030536
    >>> context_separation(sequences, [[50.0]], [[-50.0]], [[1.0]])
    -2500.0
    """
    tokens, counts = _vocabulary(sequences)
    weights = _Weights.checked(query, key, value, output, scale, tokens.shape[1])
    as_log = _checks.flag(log, "log")
    counts = np.unique(counts, axis=0)
    number = (counts > 0.0).sum(axis=0, dtype=np.float64)
    work = 100.0 * np.square(number) * np.minimum(number * counts.sum(axis=1).max(), len(tokens))
    _checks.operations(float(work.sum()), "the comparison of all contexts", "take fewer sequences")
    least, doubtful = math.inf, []
    with one_blas_thread():
        for t in range(len(tokens)):
            for i, others, known, low in _compared(t, tokens, counts, weights):
                least = min(least, float(known.min()))
                doubtful += [(low[k], t, i, others[k]) for k in np.flatnonzero(low < least)]
    for low, t, i, j in sorted(doubtful):
        if low < least:
            least = min(least, weights.exact(tokens, counts[i], counts[j], t))
    return least if as_log else math.exp(least)


@dataclass(frozen=True, eq=False)
class _Weights:
    """The weights of a head, checked, with what its rounding may be."""

    query: Float64
    key: Float64
    value: Float64
    output: Float64 | None
    scale: float

    @classmethod
    def checked(cls, query: Any, key: Any, value: Any, output: Any, scale: Any, d: int) -> _Weights:
        """Return the weights after checking that they fit tokens of d columns."""
        q = _matrix(query, "query", d, "tokens have")
        k, v = _matrix(key, "key", d, "tokens have"), _matrix(value, "value", d, "tokens have")
        if len(k) != len(q):
            raise ValueError(f"'query' and 'key' must have as many rows, got shapes {q.shape} and {k.shape}")
        o = None if output is None else _matrix(output, "output", len(v), "'value' has rows")
        return cls(q, k, v, o, _checks.real(scale, "scale", above=0.0))

    def scores(self, tokens: Float64, t: int) -> tuple[Float64, float]:
        """Return the scores (V,) of all tokens under one, and what their rounding, and that of sums, may be."""
        with np.errstate(over="ignore", invalid="ignore"):
            scores = (tokens @ self.key.T) @ (self.scale * (self.query @ tokens[t]))
            sizes = (np.abs(tokens) @ np.abs(self.key).T) @ (self.scale * (np.abs(self.query) @ np.abs(tokens[t])))
        if not np.isfinite(sizes).all():
            raise ValueError("'query', 'key' and 'scale' must be smaller: scores overflow")
        return scores, (2 * tokens.shape[1] + len(self.key) + 10) * _EPS * float(sizes.max())

    def values(self, tokens: Float64, t: int) -> tuple[Float64, Float64]:
        """Return what all tokens give less what one gives, (V, q), and the same of absolute values: what is rounded."""
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

        used = np.flatnonzero(mine + theirs)
        largest = float(np.abs(self.scores(tokens, t)[0][used]).max())
        # how far below the largest a term may be: two scores and their weights, and what arrays of mixed size hide
        arrays = [array for array in (self.query, self.key, self.value, self.output) if array is not None]
        most = 100.0 + 4.0 * largest / math.log(10.0)
        most += 4.0 * _decades(tokens[used]) + 2.0 * sum(map(_decades, arrays))
        digits = 50
        while True:
            with mpmath.workdps(digits + int(math.log10(1.0 + largest))):
                distance, size = self._distance(tokens[used], mine[used], theirs[used], tokens[t])
                if distance > size * mpmath.mpf(10) ** (12 - digits):
                    return float(mpmath.log(distance))
            if digits >= most or not size:
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


def _compared(
    t: int, tokens: Float64, counts: Float64, weights: _Weights
) -> Iterator[tuple[int, Indices, Float64, Float64]]:
    """Yield each context of a token, the later ones that have another set, and their log distances as found."""
    rows = np.flatnonzero(counts[:, t])
    used = np.flatnonzero(counts[rows].any(axis=0))
    tokens, counts, t = tokens[used], counts[np.ix_(rows, used)], int(np.searchsorted(used, t))
    scores, blur = weights.scores(tokens, t)
    values, sizes = weights.values(tokens, t)
    unit = float(sizes.max()) or 1.0
    values, sizes = values / unit, sizes / unit
    rounding = 8.0 * blur + (4 * len(tokens) + tokens.shape[1] + len(weights.value) + 20) * _EPS
    rounding *= math.sqrt(values.shape[1])
    for i in range(len(rows) - 1):
        others = i + 1 + np.flatnonzero(((counts[i + 1 :] > 0.0) != (counts[i] > 0.0)).any(axis=1))
        if len(others):
            found, low = _log_distances(counts[i], counts[others], scores, values, sizes, rounding)
            yield int(rows[i]), rows[others], found + math.log(unit), low + math.log(unit)


def _log_distances(
    mine: Float64, theirs: Float64, scores: Float64, values: Float64, sizes: Float64, rounding: float
) -> tuple[Float64, Float64]:
    """Return log distances of the mean over one context from those over others, and what those are at least.

    Where rounding leaves a distance in doubt the first is inf, else the second is.
    """
    # 8.9 (difference)
    shared = np.minimum(mine, theirs)  # (n, V)
    log_mine, log_theirs, log_shared = (_log_sums(c, scores) for c in (mine[None], theirs, shared))
    factor = log_shared - log_mine - log_theirs
    first = np.where(mine > shared, scores - log_mine[:, None], -np.inf)
    second = np.where(theirs > shared, scores + factor[:, None], -np.inf)
    shift = np.maximum(first.max(axis=1), second.max(axis=1))
    first = (mine - shared) * np.exp(first - shift[:, None])
    second = (theirs - shared) * np.exp(second - shift[:, None])
    other = theirs * np.exp(np.minimum(scores - log_theirs[:, None], 0.0))
    common = shared * np.exp(np.minimum(scores - log_shared[:, None], 0.0))
    weights = first - second, first.sum(axis=1)[:, None] * other, second.sum(axis=1)[:, None] * common
    difference = (weights[0] - weights[1] + weights[2]) @ values
    distance = np.abs(difference).max(axis=1)
    error = rounding * ((first + second + weights[1] + weights[2]) @ sizes).max(axis=1) + _LOST * sizes.max()
    known = error <= _LOG_ERROR * np.clip(-shift, 1.0, 0.1 / _LOG_ERROR) * distance
    with np.errstate(divide="ignore"):
        low = shift + np.log(np.maximum(distance - error, 0.0))
        scaled = difference / np.where(distance > 0.0, distance, 1.0)[:, None]
        found = shift + np.log(distance) + np.log(np.maximum(np.linalg.norm(scaled, axis=1), 1.0))
    return np.where(known, found, np.inf), np.where(known, np.inf, low)


def _log_sums(counts: Float64, scores: Float64) -> Float64:
    """Return the log of sum(counts * exp(scores)) over each row."""
    top, masses = exponentiate(np.where(counts > 0.0, scores, -np.inf))
    return np.asarray(top[:, 0] + np.log((counts * masses).sum(axis=1)))
