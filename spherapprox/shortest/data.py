"""Heads for data whose control points move: least squares with a ridge that rows left out choose."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._threads import one_blas_thread
from .._types import Float64
from ..heads import fitting
from ..heads.fitting import Fit
from .descent import least_squares
from .projection import Samples
from .tokens import Tokens

_RIDGES = 10.0 ** -np.arange(1.0, 10.0)
"""Ridges that are tried, from the largest on, for values of size 1 and weights of mean 1."""
_LONGEST = 1e12
"""The largest concentration to start from: squares of larger ones overflow in the end, and no kernel is as narrow."""
_SHARE, _LEAST_ROWS = 0.2, 10
"""Share of the rows that are left out, and the number of rows below which none is."""
_DEFAULT_RIDGE = 1e-6
"""The ridge where no row can be left out."""
_BRIEF, _LONG = 15, 60
"""Steps of a fit on the way to smaller ridges, and of the last one."""
_NARROW = 3.0
"""What the concentration of fixed points is divided by for a second start: kernels that are too narrow hardly move."""


def fit(
    x: ArrayLike, y: ArrayLike, *, n: int | None, normalize: bool, concentration: float | None = None,
    regularization: float | None = None, weights: ArrayLike | None = None, rng: object = None,
) -> Fit:  # fmt: skip
    """Fit a head's recipe to data, control points included, with the arguments of `CoreHead.fit`."""
    # Step 1: the head at fixed points, which checks the arguments
    generator = _checks.generator(rng)
    fixed = fitting.fit(
        x, y, n=n, normalize=normalize, concentration=concentration, regularization=regularization, weights=weights,
        rng=generator,
    )  # fmt: skip
    # Step 2: distinct rows, values of size 1, weights of mean 1
    rows = np.asarray(x, dtype=np.float64)
    table = np.asarray(y, dtype=np.float64).reshape(len(rows), -1)
    size = float(np.abs(table).max()) or 1.0
    masses = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
    rows, table, masses, spread = fitting.merged(rows, table / size, masses / masses.max())
    middle = np.average(table, axis=0, weights=masses) if normalize else np.zeros(table.shape[1])
    total = float(masses.sum()) * (1.0 if weights is None else float(np.max(np.asarray(weights, dtype=np.float64))))
    samples = Samples(rows, table - middle, masses / masses.mean())
    # Step 3: move the points
    b = fixed.control_points.astype(np.float64)
    lengths = fixed.concentration * np.array([1.0] if concentration is not None else [1.0, 1.0 / _NARROW])
    starts = [
        Tokens(min(max(length, 1e-9), _LONGEST) * b, np.zeros((len(b), table.shape[1])), normalize, True)
        for length in lengths
    ]
    ridges = _RIDGES if regularization is None else np.array([regularization / total])
    with one_blas_thread():
        tokens, ridge, error = _chosen(starts, samples, ridges, generator)
    values = (size * (tokens.values + middle)).reshape(-1, *np.shape(y)[1:])
    dtype = fixed.control_points.dtype
    points = (tokens.keys / tokens.lengths[:, None]).astype(dtype)
    error = size * float(np.sqrt(error**2 + spread))
    return Fit(points, values.astype(dtype), tokens.concentration, ridge * total, error)


def _chosen(
    starts: list[Tokens], samples: Samples, ridges: Float64, rng: np.random.Generator
) -> tuple[Tokens, float, float]:
    """Return tokens fitted to all samples, their ridge, and their error at rows that were left out."""
    order, m = rng.permutation(len(samples.x)), int(_SHARE * len(samples.x))
    if len(order) < _LEAST_ROWS:
        ridge = float(ridges[0]) if len(ridges) == 1 else _DEFAULT_RIDGE
        found = [least_squares(tokens, samples, ridge, _LONG) for tokens in starts]
        errors = [_rms(tokens, samples) for tokens in found]
        return found[int(np.argmin(errors))], ridge, float(min(errors))
    kept, out = samples.some(order[m:]), samples.some(order[:m])
    trials = [
        (_rms(found, out), ridge, found) for tokens in starts for ridge, found in _path(tokens, kept, ridges, out)
    ]
    error, ridge, tokens = min(trials, key=lambda trial: trial[:2])
    return least_squares(tokens, samples, ridge, _LONG), ridge, error


def _path(tokens: Tokens, samples: Samples, ridges: Float64, out: Samples) -> Iterator[tuple[float, Tokens]]:
    """Yield fits for smaller and smaller ridges, each from the one before, until the error left out grows twice."""
    least, grown = np.inf, 0
    for ridge in ridges:
        tokens = least_squares(tokens, samples, float(ridge), _BRIEF)
        yield float(ridge), tokens
        error = _rms(tokens, out)
        grown = 0 if error < least else grown + 1
        least = min(least, error)
        if grown == 2:
            return


def _rms(tokens: Tokens, samples: Samples) -> float:
    """Return the root of the weighted mean squared error, summed over columns."""
    squares = np.square(tokens(samples.x) - samples.y).sum(axis=1)
    return float(np.sqrt(np.average(squares, weights=samples.weights)))
