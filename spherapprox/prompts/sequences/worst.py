"""The largest error over all functions of sequences of Lipschitz constant 1, in the sum or the maximum of distances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks, sphere
from ..._types import Float64
from ...coefficients import kernel
from ...error import ErrorInterval
from ...error.search import largest_error, local_maxima, sample
from ...summation import angle_mean
from . import controls

METRICS = ("max", "sum")
TRIED, STARTS, FINALS = 500, 16, 4
"""Sequences of maxima, and random ones; the worst of each, whose tokens move once; of these, whose tokens move on."""
SPREAD = 1000
"""Points from which a token is climbed to beside its maxima, which are none given the others."""
CLIMBS, MAXIMA = 256, 16
"""Climbs to local maxima of each token's mean angle, many of which differ by a percent; the largest, for sequences."""
_GAIN = 1e-9
"""Share of the mean distance by which tokens that move once more must raise it."""
ROWS = 2**22
"""Entries of the largest matrix of weights."""


def mean_distance(
    x: ArrayLike, points: Any, concentration: float | ArrayLike, *, metric: str = "max", lipschitz: ArrayLike = 1.0
) -> Float64:
    """Return the mean distance of sequences from the control sequences of a product, under the head's weights.

    It is the largest error at x of a `SequenceHead` whose values are those of a function f, over all f with
    ``|f(x) - f(y)| <= d(x, y)``, in any norm. See docs/theorems/7.3-product-prefixes.md.

    Parameters
    ----------
    x : array_like, shape (T, dim+1) or (batch, T, dim+1)
        Tokens of unit length.
    points : EqualMeasurePartition, PointSet or array_like (n, dim+1), or a list of T of them
        Control points of each token.
    concentration : float or array_like, shape (T,)
    metric : {"max", "sum"}
        ``d = lipschitz max_i theta(x_i, y_i)``, or ``d = sum_i lipschitz_i theta(x_i, y_i)``.
    lipschitz : float or array_like, shape (T,), default 1.0
        At least 0; one for each token with "sum" only.

    Returns
    -------
    ndarray, shape () or (batch,)
        With an error near 1e-14 of its size, or 1e-8 where angles near pi matter.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import EqualMeasurePartition
    >>> from spherapprox.prompts.sequences import mean_distance
    >>> x = np.array([[0.6, 0.0, 0.8], [0.0, 1.0, 0.0]])
    >>> [float(mean_distance(x, EqualMeasurePartition(2, 400), 200.0, metric=d).round(4)) for d in ("max", "sum")]
    [0.1275, 0.1454]
    """
    tokens = _checks.floating(_checks.detached(x), "x", ("T", "dim+1"), ("batch", "T", "dim+1"))
    task = _Task(points, concentration, tokens.shape[-2], metric=metric, lipschitz=lipschitz, source="x")
    rows = _checks.sequences(tokens, dim=task.points[0].shape[1] - 1).astype(np.float64)
    distances = task.distances(rows.reshape(-1, *rows.shape[-2:]))
    return distances.reshape(rows.shape[:-2])


def worst_case_error(
    points: Any, concentration: float | ArrayLike, *, length: int | None = None, metric: str = "max",
    lipschitz: ArrayLike = 1.0, n: int = 20_000, rng: np.random.Generator | int | None = 0,
) -> ErrorInterval:  # fmt: skip
    """Measure the largest error of a product's heads over all sequences and all functions of Lipschitz constant 1.

    With "sum" every token is searched for itself: a climb from each of the 256 largest errors that lie apart, which
    ends at the largest, to 1e-6 of it, where `n` is several times the number of control points. With "max" one token
    after another is, given the others, from the worst of a thousand sequences, until none gains 1e-9: a heuristic,
    which may miss the largest by a percent, with another rounding by another one.
    See docs/theorems/7.3-product-prefixes.md.

    Parameters
    ----------
    points, concentration, metric, lipschitz
        As in `mean_distance`.
    length : int, optional
        T; may be left out where points are a list.
    n : int, default 20000
        Points of the sphere where the mean angle of each token is taken; sequences are climbed to from its maxima.
    rng : None, int or numpy.random.Generator, default 0

    Returns
    -------
    ErrorInterval
        `lower` is the mean distance at the sequence `at`, (T, dim+1), the worst that was seen; `upper` is inf.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from spherapprox import EqualMeasurePartition
    >>> from spherapprox.prompts.sequences import worst_case_error
    >>> arcs = EqualMeasurePartition(1, 6)
    >>> [round(worst_case_error(arcs, 20.0, length=2, metric=metric, n=100).lower, 2) for metric in ("max", "sum")]
    [0.54, 1.05]
    """
    task = _Task(points, concentration, length, metric=metric, lipschitz=lipschitz)
    count = _checks.integer(n, "n", minimum=1, maximum=sphere.MAX_POINTS, limit="take a smaller 'n'")
    generator = _checks.generator(rng)
    maxima = task.maxima(count, generator)
    if task.metric == "sum":
        at = np.stack([rows[0] for rows in maxima])
        return ErrorInterval(float(task.distances(at[None])[0]), np.inf, at)
    spread = sample(maxima[0].shape[1] - 1, SPREAD, generator)
    near = [np.concatenate([rows, spread]) for rows in maxima]
    first = [task.climbed(x, near, generator, once=True) for x in task.starts(maxima, generator)]
    first.sort(key=lambda interval: -interval.lower)
    last = [task.climbed(interval.at, near, generator) for interval in first[:FINALS]]
    return max(last, key=lambda interval: interval.lower)


class _Task:
    """Control points, concentrations and Lipschitz constants of all tokens, and the metric."""

    def __init__(
        self, points: Any, concentration: Any, length: int | None, metric: str, lipschitz: Any, source: str = "length"
    ) -> None:
        self.points = controls.of_tokens(points, length, source)
        count = len(self.points)
        self.metric = _checks.choice(metric, "metric", METRICS)
        self.concentrations = np.broadcast_to(controls.concentrations(concentration, count), (count,))
        lipschitz = _checks.reals(lipschitz, "lipschitz", minimum=0.0, maximum=controls.LARGEST, nan=False)
        if lipschitz.shape not in ((), (count,)[: self.metric == "sum"]):
            raise ValueError(
                f"'lipschitz' must be a number{', or one for each token' if self.metric == 'sum' else ''}, got shape "
                f"{lipschitz.shape}: only metric='sum' takes one for each token"
            )
        self.lipschitz = np.broadcast_to(lipschitz, (count,))

    def distances(self, x: Float64, entries: int = ROWS) -> Float64:
        """Return the mean distances of sequences (batch, T, m+1), with so many entries of a matrix at a time."""
        sets = list(enumerate(zip(self.points, self.concentrations, self.lipschitz, strict=True)))
        if self.metric == "sum":
            return np.asarray(sum(lip * angle_mean(x[:, i], rows, float(lam)) for i, (rows, lam, lip) in sets))
        step = max(1, entries // sum(map(len, self.points)))
        return np.concatenate([self._largest(x[first : first + step]) for first in range(0, len(x), step)])

    def _largest(self, x: Float64) -> Float64:
        """Return the means of the largest angle of all tokens."""
        angles, above = self._tails(x, range(len(self.points)))
        # 7.3, proof: E max = integral of P(max > t)
        means = angles[:, 0] + (above[:, :-1] * np.diff(angles, axis=1)).sum(axis=1)
        return np.asarray(self.lipschitz[0] * means)

    def _tails(self, x: Float64, tokens: Sequence[int]) -> tuple[Float64, Float64]:
        """Return all angles of some tokens, sorted, and the probability that the largest is above each: (batch, n)."""
        remedy = "take fewer sequences"
        squares = [kernel.squared_distances(x[:, i], self.points[i], remedy) for i in tokens]
        theta = _angles(np.concatenate(squares, axis=1))
        order = np.argsort(theta, axis=1)
        above, first = np.zeros_like(theta), 0
        for i, part in zip(tokens, squares, strict=True):
            own = np.zeros_like(theta)
            own[:, first : first + part.shape[1]] = kernel.softmax_weights(part, float(self.concentrations[i]))
            own = np.take_along_axis(own, order, axis=1)
            tail = np.zeros_like(own)  # of this token alone
            tail[:, :-1] = np.cumsum(own[:, :0:-1], axis=1)[:, ::-1]
            above += np.minimum(tail, 1.0) * (1.0 - above)
            first += part.shape[1]
        return np.take_along_axis(theta, order, axis=1), above

    def maxima(self, n: int, rng: np.random.Generator) -> list[Float64]:
        """Return local maxima (k, m+1) of the mean angle of each token, the largest first; of equal tokens the same."""
        maxima: dict[tuple[bytes, float], Float64] = {}
        keys = [(rows.tobytes(), lam) for rows, lam in zip(self.points, self.concentrations.tolist(), strict=True)]
        for i, key in enumerate(keys):
            if key not in maxima:
                rows = self.points[i]
                error = partial(angle_mean, control_points=rows, concentration=float(self.concentrations[i]))
                x, values = local_maxima(error, sample(rows.shape[1] - 1, n, rng), CLIMBS, rng=rng)
                maxima[key] = np.asarray(x[np.argsort(-values, kind="stable")[:MAXIMA]])
        return [maxima[key] for key in keys]

    def starts(self, maxima: list[Float64], rng: np.random.Generator) -> Float64:
        """Return the worst of some sequences of maxima, and of random ones: (2 STARTS, T, m+1)."""
        mixed = np.stack([rows[rng.integers(len(rows), size=TRIED)] for rows in maxima], axis=1)
        random = sphere.uniform(mixed.shape[2] - 1, TRIED * len(maxima), rng=rng).reshape(mixed.shape)
        return np.concatenate([x[np.argsort(-self.distances(x), kind="stable")[:STARTS]] for x in (mixed, random)])

    def climbed(
        self, x: Float64, near: list[Float64], rng: np.random.Generator, *, once: bool = False
    ) -> ErrorInterval:
        """Climb from a sequence (T, m+1), one token after another: given the others, it is a function on S^m."""
        best, before, gains = x.copy(), -np.inf, True
        while gains:
            for i in range(len(x)):
                starts = np.concatenate([best[i : i + 1], near[i]])
                interval = largest_error(self.moving(best, i), starts, MAXIMA, rng=rng, progress=False)
                best[i] = interval.at
            gains, before = not once and interval.lower > (1.0 + _GAIN) * before, interval.lower
        return ErrorInterval(float(self.distances(best[None])[0]), np.inf, best)

    def moving(self, x: Float64, i: int) -> Callable[[Any], Float64]:
        """Return the mean distance as a function of token i, the others of a sequence (T, m+1) kept."""
        knots = means = np.array([0.0, np.pi])
        if tokens := [j for j in range(len(x)) if j != i]:
            angles, above = (rows[0] for rows in self._tails(x[None], tokens))
            steps = above[:-1] * np.diff(angles)
            # the mean of max(t, M), M the largest angle of these tokens: linear between their angles
            tails = np.append(np.cumsum(steps[::-1])[::-1], 0.0)
            knots, means = np.append(angles, np.pi), np.append(angles + tails, np.pi)

        def error(rows: Any) -> Float64:
            squares = kernel.squared_distances(rows, self.points[i], "take fewer control points")
            weights = kernel.softmax_weights(squares, float(self.concentrations[i]))
            return np.asarray(self.lipschitz[0] * (weights * np.interp(_angles(squares), knots, means)).sum(axis=1))

        return error


def _angles(squares: Float64) -> Float64:
    """Return the angles of squared distances."""
    return np.asarray(2.0 * np.arcsin(np.minimum(0.5 * np.sqrt(squares), 1.0)))
