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
    kept, out = _parts(samples, generator)
    with one_blas_thread():
        tokens, ridge, error = _chosen(starts, samples, ridges, kept, out)
    if regularization is None and len(out.x) and _of_fixed(kept, out, len(b), normalize, concentration) < error:
        return fixed
    values = (size * (tokens.values + middle)).reshape(-1, *np.shape(y)[1:])
    dtype = fixed.control_points.dtype
    points = (tokens.keys / tokens.lengths[:, None]).astype(dtype)
    error = size * float(np.sqrt(error**2 + spread))
    return Fit(points, values.astype(dtype), tokens.concentration, ridge * total, error)


def _parts(samples: Samples, rng: np.random.Generator) -> tuple[Samples, Samples]:
    """Return the samples that choose a ridge by those that are left out, which few have none of."""
    order, m = rng.permutation(len(samples.x)), int(_SHARE * len(samples.x))
    m = m if len(order) >= _LEAST_ROWS else 0
    return samples.some(order[m:]), samples.some(order[:m])


def _of_fixed(samples: Samples, out: Samples, n: int, normalize: bool, concentration: float | None) -> float:
    """Return the error at rows that were left out of the fit with control points that stay."""
    found = fitting.fit(
        samples.x, samples.y, n=min(n, len(samples.x)), normalize=normalize, concentration=concentration,
        weights=samples.weights, rng=0,
    )  # fmt: skip
    b = found.control_points.astype(np.float64)
    tokens = Tokens(max(found.concentration, 1e-13) * b, found.values.astype(np.float64), normalize, True)
    return _rms(tokens, out)


def _chosen(
    starts: list[Tokens], samples: Samples, ridges: Float64, kept: Samples, out: Samples
) -> tuple[Tokens, float, float]:
    """Return tokens fitted to all samples, their ridge, and their error at rows that were left out."""
    if not len(out.x):
        ridge = float(ridges[0]) if len(ridges) == 1 else _DEFAULT_RIDGE
        found = [least_squares(tokens, samples, ridge, _LONG) for tokens in starts]
        errors = [_rms(tokens, samples) for tokens in found]
        return found[int(np.argmin(errors))], ridge, float(min(errors))
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
