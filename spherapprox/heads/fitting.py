"""Heads for data: control points from the rows, values by regularised least squares, the rest by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _checks
from .._checks import Floats
from .selection import select
from .smoothing import Smoother, core_smoother, split_smoother

Float64 = NDArray[np.float64]

_FEW = 300
"""Control points up to which a concentration is searched for on the whole grid; with more it starts from there."""
_LEAST = 0.25
"""The least concentration that is tried: exp(<x, b>/4) is nearly linear."""
_WIDEST = 16.0
"""The largest one, times the squared median distance of a control point to the nearest other. Tuned."""


@dataclass(frozen=True)
class Fit:
    """What was fitted: control points (n, dim+1), values (n,) or (n, p), and what was chosen."""

    control_points: Floats
    values: Floats
    concentration: float
    regularization: float
    error: float
    """Root of the mean squared leave-one-out error, summed over columns."""


@dataclass(frozen=True)
class _Data:
    """Rows x (m, d), y (m, p), and which head, regularisation and precision are wanted."""

    x: Float64
    y: Float64
    normalize: bool
    regularization: float | None
    dtype: np.dtype[Any]


def fit(
    x: ArrayLike,
    y: ArrayLike,
    *,
    n: int,
    normalize: bool,
    concentration: float | None = None,
    regularization: float | None = None,
    rng: object = None,
) -> Fit:
    """Return a head's recipe for data; `CoreHead.fit` says what the arguments are."""
    rows = _checks.rows(x)
    values = _checks.values_for(y, "y", len(rows), "'x'")
    n = _checks.integer(n, "n", minimum=1, maximum=len(rows), limit="there are no more rows in 'x'")
    generator = _checks.generator(rng)
    if concentration is not None:
        concentration = _checks.concentration(concentration, maximum=1e300)
    if regularization is not None:
        regularization = _checks.real(regularization, "regularization", above=0.0)
    _checks.memory(40.0 * len(rows) * n, "least squares", "use a smaller 'n'")
    _checks.operations(20.0 * len(rows) * n * n, "least squares", "use a smaller 'n'")
    size = float(np.abs(values).max()) or 1.0  # squares of y neither overflow nor underflow
    table = values.reshape(len(values), -1).astype(np.float64) / size
    dtype = np.result_type(rows, values)
    data = _Data(rows.astype(np.float64), table, normalize, regularization, dtype)
    result = _fitted(data, n, concentration, generator)
    fitted = (size * result.values).reshape(-1, *values.shape[1:]).astype(dtype)
    error = size * result.error**0.5
    return Fit(result.control_points.astype(dtype), fitted, result.concentration, result.regularization, error)


def _fitted(data: _Data, n: int, concentration: float | None, rng: np.random.Generator) -> Fit:
    """Return the recipe for scaled data in float64."""
    trial = _Trials(data, select(data.x, n, rng))
    if concentration is None:
        few = trial if len(trial.b) <= _FEW else _Trials(data, select(data.x, _FEW, rng))
        concentration = few.descend(few.coarse(), 2.0**0.5)
        if trial is not few:
            concentration = trial.descend(concentration, 2.0**0.5)
        elif len(trial.b) > 1:
            concentration = trial.descend(concentration, 2.0**0.25)
    regularization, error = trial.best(concentration)
    values = trial.smoother(concentration).values(regularization)
    return Fit(trial.b, values, concentration, regularization, error)


class _Trials:
    """Leave-one-out errors for control points b (n, d), by concentration."""

    def __init__(self, data: _Data, b: Float64) -> None:
        from scipy.spatial.distance import cdist

        b = b.astype(data.dtype).astype(np.float64)  # the control points that the head will have
        self.data, self.b, self.unit = data, b, float(np.finfo(data.dtype).eps)
        self.squares, self.between = cdist(data.x, b, "sqeuclidean"), cdist(b, b, "sqeuclidean")
        self.known: dict[float, tuple[float, float]] = {}

    def smoother(self, concentration: float) -> Smoother:
        """Return the least squares problem."""
        if self.data.normalize:
            return split_smoother(self.squares, self.data.y, concentration, self.unit)
        return core_smoother(self.squares, self.between, self.data.y, concentration, self.unit)

    def best(self, concentration: float) -> tuple[float, float]:
        """Return the regularisation and its leave-one-out error."""
        if concentration not in self.known:
            smoother, wanted = self.smoother(concentration), self.data.regularization
            found = smoother.best() if wanted is None else (wanted, float(smoother.errors(np.array([wanted]))[0]))
            self.known[concentration] = found
        return self.known[concentration]

    def coarse(self) -> float:
        """Return the best concentration of a grid that goes up by factors of 2."""
        if len(self.b) == 1:
            return 1.0
        apart = self.between + np.diag(np.full(len(self.b), np.inf))
        top = _WIDEST / max(float(np.median(apart.min(axis=1))), 1e-20)
        steps = max(1, int(np.ceil(np.log2(max(top, 2.0 * _LEAST) / _LEAST))))
        grid = [_LEAST * 2.0**k for k in range(steps + 1)]
        return min(grid, key=lambda concentration: self.best(concentration)[1])

    def descend(self, concentration: float, factor: float) -> float:
        """Return a concentration that is better than those a factor larger and smaller."""
        for _ in range(20):
            around = (concentration, max(concentration / factor, _LEAST), concentration * factor)
            better = min(around, key=lambda trial: self.best(trial)[1])
            if better == concentration:
                break
            concentration = better
        return concentration
