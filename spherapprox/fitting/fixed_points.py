"""Heads for data: control points by k-means, values by regularised least squares, parameters by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._threads import slices
from .._types import Float64, Floats, Indices
from .smoothing import Smoother, core_smoother, largest_of_best, split_smoother

_FALL = 0.02
"""Share by which twice as many control points must lower the mean squared error."""
_LEAST = 0.25
"""The least concentration that is tried: exp(<x, b>/4) is nearly linear."""
_WIDEST = 16.0
"""The largest one, times the squared median distance of a control point to the nearest other. Tuned."""
_ROUNDS = 10
"""Rounds of k-means: later ones move little."""
_NUMBERS = 2**22
"""Products that are held at once."""
_TIE = 1e-12
"""Products that differ by less are ties, which the order of rows breaks: roundings do not choose control points."""


class Effort(NamedTuple):
    """Control points where no number is given, and how far a fit goes.

    `work` are operations that twice as many points may take; up to `coarse_points` and `coarse_rows` a concentration is
    searched for on the whole grid, and more start from there; `steps` are those of a descent to a better one.
    """

    points: int = 300
    work: float = 5e11
    coarse_points: int = 300
    coarse_rows: int = 4096
    steps: int = 20


@dataclass(frozen=True)
class Fit:
    """A fitted recipe: control points (n, dim+1), values (n,) or (n, p), concentration and regularization."""

    control_points: Floats
    values: Floats
    concentration: float
    regularization: float
    error: float
    """Root of the weighted mean squared leave-one-out error, summed over columns."""


@dataclass(frozen=True)
class _Data:
    """Distinct rows x (m, d) with means y (m, p) and weights (m,), and the head's family and options."""

    x: Float64
    y: Float64
    weights: Float64
    spread: float
    """Weighted mean square of y about these means, summed over columns."""
    normalize: bool
    regularization: float | None
    dtype: np.dtype[Any]
    effort: Effort

    def take(self, rows: Indices) -> _Data:
        """Return some of the rows."""
        return replace(self, x=self.x[rows], y=self.y[rows], weights=self.weights[rows])


def fit(
    x: ArrayLike, y: ArrayLike, *, n: int | str, normalize: bool, concentration: float | None = None,
    regularization: float | None = None, weights: ArrayLike | None = None, rng: object = None,
    effort: Effort = Effort(),  # noqa: B008  # immutable
) -> Fit:  # fmt: skip
    """Fit a head's recipe to data, with the arguments of `CoreHead.fit`."""
    # Step 1: check the arguments
    rows = _checks.rows(x)
    values = _checks.values_for(y, "y", len(rows), owner="'x'")
    masses = _checks.weights_for(weights, "weights", len(rows))
    auto = isinstance(n, str) and _checks.choice(n, "n", ("auto",)) == "auto"
    n = min(effort.points, len(rows)) if auto else n
    n = _checks.integer(n, "n", minimum=1, maximum=len(rows), limit="there are no more rows in 'x'")
    generator = _checks.generator(rng)
    if concentration is not None:
        concentration = _checks.concentration(concentration, maximum=1e300)
    if regularization is not None:
        regularization = _checks.real(regularization, "regularization", above=0.0)
    work, remedy = f"a fit of {n} control points to {len(rows)} rows", "take fewer control points"
    _checks.memory(40.0 * len(rows) * n, work, remedy)
    _checks.operations(20.0 * len(rows) * n * n, work, remedy)
    # Step 2: scale y and the weights, and merge equal rows
    size = float(np.abs(values).max()) or 1.0  # squares of y neither overflow nor underflow
    table = values.reshape(len(values), -1).astype(np.float64) / size
    dtype, unit = np.result_type(rows, values), float(np.ldexp(1.0, np.frexp(masses.max())[1] - 1))
    distinct = merge_rows(rows.astype(np.float64), table, masses / unit)
    data = _Data(*distinct, normalize, None if regularization is None else regularization / unit, dtype, effort)
    # Step 3: fit, and scale back
    result = _fit_scaled(data, n, concentration, rng=generator)
    if auto:
        result = _double_points(data, result, concentration, rng=generator)
    with np.errstate(over="ignore"):
        scaled = (size * result.values).astype(dtype).reshape(-1, *values.shape[1:])
    if not np.isfinite(scaled).all():
        raise ValueError(f"'y' must be smaller, got up to {size:.3g}: values of the head overflow in {dtype}")
    error = size * (result.error + data.spread) ** 0.5
    return Fit(
        result.control_points.astype(dtype), scaled, result.concentration, regularization=unit * result.regularization,
        error=error,
    )  # fmt: skip


def warn_of_offset(y: ArrayLike, weights: ArrayLike | None, error: float) -> None:
    """Warn where a core head's leave-one-out error is above twice that of y's mean: y lies too far from 0 for it."""
    table = np.asarray(y, dtype=np.float64).reshape(np.shape(y)[0], -1)
    size = float(np.abs(table).max()) or 1.0
    table = table / size
    table -= table[0]  # a constant is exactly 0
    masses = np.ones(len(table)) if weights is None else np.asarray(weights, dtype=np.float64)
    masses = masses / masses.max()
    squares = np.square(table - np.average(table, axis=0, weights=masses)).sum(axis=1)
    deviation = size * float(np.average(squares, weights=masses)) ** 0.5
    if 0.0 < 2.0 * deviation < error < np.inf:
        _checks.warn_inaccurate(
            f"the leave-one-out error, {error:.3g}, is more than twice the standard deviation of 'y', {deviation:.3g}: "
            "a core head has no constant term, fit 'y' less its mean"
        )


def merge_rows(x: Float64, y: Float64, w: Float64) -> tuple[Float64, Float64, Float64, float]:
    """Return distinct rows, the means of y over equal ones, the sums of their weights, and y's spread about the means.

    Rows of weight 0 are dropped. Least squares are the same but for that spread; leaving out one of the rows in
    cross-validation leaves out all that are equal to it.
    """
    x, y, w = (array[w > 0.0] for array in (x, y, w))
    distinct, inverse = np.unique(x, axis=0, return_inverse=True)
    inverse = inverse.ravel()
    total = np.asarray(np.bincount(inverse, w), dtype=np.float64)
    means = np.stack([np.bincount(inverse, w * column) / total for column in y.T], axis=1)  # (distinct, p)
    spread = float(np.average(np.square(y - means[inverse]).sum(axis=1), weights=w))
    return distinct, means, total, spread


def _fit_scaled(data: _Data, n: int, concentration: float | None, rng: np.random.Generator) -> Fit:
    """Return the recipe for scaled data in float64."""
    # Step 1: choose control points
    trial = _Trials(data, select(data.x, data.weights, n, rng=rng))
    if concentration is None:
        # Step 2: search for the concentration, with few control points first
        coarse = trial
        if len(trial.b) > data.effort.coarse_points or len(data.x) > data.effort.coarse_rows:
            part = data.take(np.sort(rng.permutation(len(data.x))[: data.effort.coarse_rows]))
            coarse = _Trials(part, select(part.x, part.weights, min(n, data.effort.coarse_points), rng=rng))
        concentration = trial.descend(coarse.descend(coarse.coarse(), 2.0**0.5), 2.0**0.5)
        if 1 < len(trial.b) <= data.effort.coarse_points:
            concentration = trial.descend(concentration, 2.0**0.25)
    # Step 3: choose the regularisation, and solve for the values
    return trial.fit(concentration)


def _double_points(data: _Data, result: Fit, concentration: float | None, rng: np.random.Generator) -> Fit:
    """Return the recipe for twice as many control points, again and again, until that lowers the error no more."""
    trials: list[_Trials] = []
    while (before := len(result.values)) < len(data.x):
        n = min(2 * before, len(data.x))
        if 20.0 * (len(data.x) + 4.0 * n) * n * n > data.effort.work:
            break
        trial = _Trials(data, select(data.x, data.weights, n, rng=rng))
        # narrower kernels suit more control points
        grid = [result.concentration, 2.0 * result.concentration] if concentration is None else [concentration]
        if not min(trial.best(lam)[1] for lam in grid) < (1.0 - _FALL) * result.error:
            break
        result, trials = trial.fit(trial.largest()), [trial]
    if concentration is None:
        result = next((trial.fit(trial.descend(result.concentration, 2.0**0.5)) for trial in trials), result)
    return result


class _Trials:
    """Leave-one-out errors for control points b (n, d), by concentration."""

    def __init__(self, data: _Data, b: Float64) -> None:
        from scipy.spatial import distance  # in this order two threads never wait for each other

        b = b.astype(data.dtype).astype(np.float64)  # the control points that the head will have
        self.data, self.b, self.unit = data, b, float(np.finfo(data.dtype).eps)
        self.squares, self.between = distance.cdist(data.x, b, "sqeuclidean"), distance.cdist(b, b, "sqeuclidean")
        self.trials: dict[float, tuple[float, float]] = {}

    def smoother(self, concentration: float) -> Smoother:
        """Return the least squares problem of a concentration."""
        if self.data.normalize:
            return split_smoother(
                self.squares, self.data.y, self.data.weights, concentration=concentration, unit=self.unit
            )
        return core_smoother(
            self.squares, self.between, self.data.y, w=self.data.weights, concentration=concentration, unit=self.unit
        )

    def best(self, concentration: float) -> tuple[float, float]:
        """Return the best or the given regularisation, and its leave-one-out error."""
        if concentration not in self.trials:
            smoother, ridge = self.smoother(concentration), self.data.regularization
            trial = smoother.best() if ridge is None else (ridge, float(smoother.errors(np.array([ridge]))[0]))
            self.trials[concentration] = trial
        return self.trials[concentration]

    def fit(self, concentration: float) -> Fit:
        """Return the recipe of a concentration."""
        regularization, error = self.best(concentration)
        values = self.smoother(concentration).values(regularization)
        return Fit(self.b, values, concentration, regularization=regularization, error=error)

    def coarse(self) -> float:
        """Return the best concentration of a grid that goes up by factors of 2."""
        if len(self.b) == 1:
            return 1.0
        apart = self.between + np.diag(np.full(len(self.b), np.inf))
        top = _WIDEST / max(float(np.median(apart.min(axis=1))), 1e-20)
        steps = max(1, int(np.ceil(np.log2(max(top, 2.0 * _LEAST) / _LEAST))))
        for k in range(steps + 1):
            self.best(_LEAST * 2.0**k)
        return self.largest()

    def largest(self) -> float:
        """Return the largest of the concentrations that are best, of those tried."""
        grid = sorted(self.trials)
        return grid[largest_of_best(np.array([self.trials[concentration][1] for concentration in grid]))]

    def descend(self, concentration: float, factor: float) -> float:
        """Return a concentration that is better than those a factor larger and smaller."""
        for _ in range(self.data.effort.steps):
            for trial in (max(concentration / factor, _LEAST), concentration, concentration * factor):
                self.best(trial)
            if self.largest() == concentration:
                break
            concentration = self.largest()
        return concentration


def select(x: Float64, weights: Float64, n: int, rng: np.random.Generator) -> Float64:
    """Return n control points for distinct rows x (m, d) of unit length, or the rows if these are no more than n."""
    return x if len(x) <= n else k_means(x, weights, x[farthest_rows(x, n, rng)])


def farthest_rows(x: Float64, n: int, rng: np.random.Generator) -> Indices:
    """Return the indices (n,) of rows, each the farthest from those before it; the first is drawn."""
    rows = np.empty(n, dtype=np.intp)
    rows[0] = rng.integers(len(x))
    distances = np.full(len(x), np.inf)
    for k in range(1, n):
        np.minimum(distances, 2.0 - 2.0 * (x @ x[rows[k - 1]]), out=distances)
        distances[rows[k - 1]] = -1.0
        rows[k] = np.argmax(distances > distances.max() - _TIE)
    return rows


def k_means(x: Float64, weights: Float64, centres: Float64) -> Float64:
    """Return centres (n, d) of unit length after rounds of spherical k-means; one without rows stays where it is."""
    handicap = _TIE * np.arange(len(centres))
    for _ in range(_ROUNDS):
        sums = np.zeros_like(centres)
        for part in slices(len(x), max(1, _NUMBERS // len(centres))):
            np.add.at(sums, np.argmax(x[part] @ centres.T - handicap, axis=1), weights[part, None] * x[part])
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        directed = lengths > 1e-8  # else the mean has no direction
        centres = np.where(directed, sums / np.where(directed, lengths, 1.0), centres)
    return centres
