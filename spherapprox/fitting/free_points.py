"""Heads for data whose control points move: least squares with a ridge that rows left out choose."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._threads import one_blas_thread
from .._types import Float64, Indices
from . import fixed_points as fitting
from .descent import least_squares
from .fixed_points import Fit
from .projection import Samples
from .tokens import LONGEST, Tokens

_RIDGES = 10.0 ** -np.arange(1.0, 10.0)
"""Ridges that are tried, from the largest on, for values of size 1 and weights of mean 1."""
_FOLDS, _LEAST_ROWS = 5, 10
"""Folds of rows, one of which chooses a ridge, and the number of rows below which none is left out."""
_DEFAULT_RIDGE = 1e-6
"""The ridge where no row can be left out."""
_BRIEF, _LONG, _FINE = 40, 60, 10
"""Steps of a fit that chooses, of the last one, and of its end, which is not held to a grid."""
_GRAIN = 2.0**-12
"""Spacing of the grid on which fits step: else roundings would grow, step by step, until they choose the minimum."""
_TIE, _GAIN = 1e-3, 0.05
"""Shares by which a later start must be better, and control points that move better in squares than fixed ones."""
_NARROW = 3.0
"""What the concentration of fixed points is divided by for a second start: kernels that are too narrow hardly move."""


def fit(
    x: ArrayLike, y: ArrayLike, *, n: int | str, normalize: bool, concentration: float | None = None,
    regularization: float | None = None, weights: ArrayLike | None = None, rng: object = None,
    effort: fitting.Effort = fitting.Effort(),  # noqa: B008  # immutable
) -> Fit:  # fmt: skip
    """Fit a head's recipe to data, control points included, with the arguments of `CoreHead.fit`."""
    # Step 1: the head at fixed points, which checks the arguments
    generator = _checks.generator(rng)
    n = min(effort.points, len(np.atleast_1d(x))) if isinstance(n, str) and n == "auto" else n
    fixed = fitting.fit(
        x, y, n=n, normalize=normalize, concentration=concentration, regularization=regularization, weights=weights,
        rng=generator, effort=effort,
    )  # fmt: skip
    # Step 2: distinct rows, values of size 1, weights of mean 1
    rows = np.asarray(x, dtype=np.float64)
    table = np.asarray(y, dtype=np.float64).reshape(len(rows), -1)
    size = float(np.abs(table).max()) or 1.0
    masses = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
    rows, table, masses, spread = fitting.merge_rows(rows, table / size, masses / masses.max())
    middle = np.average(table, axis=0, weights=masses) if normalize else np.zeros(table.shape[1])
    total = float(masses.sum()) * (1.0 if weights is None else float(np.max(np.asarray(weights, dtype=np.float64))))
    samples = Samples(rows, table - middle, masses / masses.mean())
    # Step 3: move the points
    b = fixed.control_points.astype(np.float64)
    lengths = fixed.concentration * np.array([1.0] if concentration is not None else [1.0, 1.0 / _NARROW])
    starts = [
        Tokens(min(max(length, 1e-9), LONGEST) * b, np.zeros((len(b), table.shape[1])), normalize, unit=True)
        for length in lengths
    ]
    ridges = _RIDGES if regularization is None else np.array([regularization / total])
    m = len(samples.x)
    folds = np.array_split(generator.permutation(m), _FOLDS) if m >= _LEAST_ROWS else [np.arange(0)]
    with one_blas_thread():
        start, trial, ridge, error = _best_trial(starts, ridges, samples, fold=folds[0])
        if regularization is None and len(folds[0]):
            gain = _gain_of_moving(start, samples, ridge, folds=folds, concentration=fixed.concentration)
            if not gain > 0.0:
                return fixed
        tokens = least_squares(trial, samples, ridge, steps=_LONG, grain=_GRAIN)
        tokens = least_squares(tokens, samples, ridge, steps=_FINE)
    values = (size * (tokens.values + middle)).reshape(-1, *np.shape(y)[1:])
    dtype = fixed.control_points.dtype
    points = (tokens.keys / tokens.lengths[:, None]).astype(dtype)
    error = size * float(np.sqrt(error**2 + spread))
    return Fit(points, values.astype(dtype), tokens.concentration, regularization=ridge * total, error=error)


class _Trial(NamedTuple):
    start: Tokens
    tokens: Tokens
    ridge: float
    error: float


def _best_trial(starts: list[Tokens], ridges: Float64, samples: Samples, fold: Indices) -> _Trial:
    """Return the start, its fit, and the ridge that are best for the rows of a fold, and the error there."""
    if not len(fold):
        ridge = float(ridges[0]) if len(ridges) == 1 else _DEFAULT_RIDGE
        fits = [(start, least_squares(start, samples, ridge, steps=_LONG, grain=_GRAIN)) for start in starts]
        trials = [_Trial(start, tokens, ridge, error=_rms(tokens, samples)) for start, tokens in fits]
    else:
        inside, out = _split_fold(samples, fold)
        trials = [trial for start in starts for trial in _path(start, inside, ridges, out=out)]
    least = min(trial.error for trial in trials)
    return next(trial for trial in trials if trial.error <= (1.0 + _TIE) * least)


def _split_fold(samples: Samples, fold: Indices) -> tuple[Samples, Samples]:
    """Return the samples without those of a fold, and those."""
    inside = np.ones(len(samples.x), dtype=bool)
    inside[fold] = False
    return samples.take(np.flatnonzero(inside)), samples.take(fold)


def _gain_of_moving(
    start: Tokens, samples: Samples, ridge: float, *, folds: list[Indices], concentration: float
) -> float:
    """Return by how much control points that move err less in cross-validation than as many fixed ones, nearly."""
    gains, weights, length = [], [], min(max(concentration, 1e-13), LONGEST)
    for fold in folds:
        inside, out = _split_fold(samples, fold)
        recipe = fitting.fit(
            inside.x, inside.y, n=min(len(start), len(inside.x)), normalize=start.normalize,
            concentration=concentration, weights=inside.weights, rng=0,
        )  # fmt: skip
        b, values = recipe.control_points.astype(np.float64), recipe.values.astype(np.float64)
        fixed = Tokens(length * b, values, start.normalize, unit=True)
        free = least_squares(start, inside, ridge, steps=_BRIEF, grain=_GRAIN)
        gains.append((1.0 - _GAIN) * _squares(fixed, out) - _squares(free, out))
        weights.append(out.weights)
    return float(np.average(np.concatenate(gains), weights=np.concatenate(weights)))


def _path(start: Tokens, samples: Samples, ridges: Float64, out: Samples) -> Iterator[_Trial]:
    """Yield fits for smaller and smaller ridges and their errors left out, until these stay above the least twice.

    Each is from the start: keys that a larger ridge has merged are parted by nothing but roundings.
    """
    least, above = np.inf, 0
    for ridge in ridges:
        tokens = least_squares(start, samples, float(ridge), steps=_BRIEF, grain=_GRAIN)
        error = _rms(tokens, out)
        yield _Trial(start, tokens, float(ridge), error=error)
        above = 0 if error < (1.0 - _TIE) * least else above + 1
        least = min(least, error)
        if above == 2:
            return


def _squares(tokens: Tokens, samples: Samples) -> Float64:
    return np.asarray(np.square(tokens(samples.x) - samples.y).sum(axis=1))


def _rms(tokens: Tokens, samples: Samples) -> float:
    """Return the root of the weighted mean squared error, summed over columns."""
    return float(np.sqrt(np.average(_squares(tokens, samples), weights=samples.weights)))
