"""The sums of one column of weights at the rows, and lower bounds of the sums of absolute terms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._types import Float64
from ...harmonics.nonuniform.scattered import Scattered, interpolate, spread
from ...harmonics.nonuniform.window import Window
from .expansion import Design
from .transforms import convolve, largest


@dataclass(frozen=True)
class Column:
    """The sums of a column of weights w at the rows, and bounds of their errors.

    `absolute` bounds what is left out and the transforms' rounding errors at every row; `total` is the sum of |w|.
    `sizes` are lower bounds of the sums of |w| K at the rows `where`, which are all rows or some of them.
    """

    values: Float64
    absolute: float
    total: float
    where: Any
    sizes: Float64


def column(
    scheme: Design, source: Scattered, weights: Float64, target: Scattered, *, workers: int, sample: int
) -> Column:
    """Return the sums of one column; of absolute terms, for weights of both signs, by a coarser expansion."""
    dim, window = scheme.dim, scheme.window
    total = float(np.abs(weights).sum())
    # Step 1: spread the weights onto a grid, those below 0 onto one of their own
    grids = spread(source, weights, 2 if weights.min() < 0.0 else 1, window=window, workers=workers)
    # Step 2: convolve and interpolate
    if len(grids) == 1:
        padded = convolve(dim, window, scheme.eigenvalues, grid=grids[0], out=window, workers=workers)
        values = interpolate(target, padded, window, workers=workers)
        absolute = _absolute(scheme, largest(dim, window, padded), total)
        return Column(values, absolute, total, where=slice(None), sizes=values - absolute)
    grids[0] -= grids[1]  # in place: grids may be large
    grids[1] *= 2.0
    grids[1] += grids[0]  # of |w|
    padded = convolve(dim, window, scheme.eigenvalues, grid=grids[0], out=window, workers=workers)
    values = interpolate(target, padded, window, workers=workers)
    del padded
    # Step 3: the sums of absolute terms, 4.9, weights of both signs
    eigenvalues, coarse, omitted = scheme.coarse
    padded = convolve(dim, window, eigenvalues, grid=grids[1], out=coarse, workers=workers)
    top = largest(dim, coarse, padded) + omitted * total
    absolute = _absolute(scheme, top, total)
    ratio = coarse.n / window.n
    where, sizes = _sizes(target, padded, coarse, ratio, workers=workers, sample=sample)
    return Column(values, absolute, total, where=where, sizes=sizes - (absolute + omitted * total))


def _absolute(scheme: Design, top: float, total: float) -> float:
    """Bound the error at every row; `top` bounds the sum of |w| K anywhere, but for what the expansion leaves out."""
    # 4.9 (e): D = (T + A) W + rounding (M + (T + A) W)
    left_out = scheme.omitted * total
    return left_out + scheme.rounding * (top + left_out)


def _sizes(
    target: Scattered, padded: Float64, window: Window, ratio: float, *, workers: int, sample: int
) -> tuple[Any, Float64]:
    """Return some rows and the function's values there; all rows if these miss where it is large.

    `ratio` is that of the grid's cells to those in which the rows' places are.
    """
    for part in (slice(None, None, max(len(target.order) // sample, 1)), slice(None)):
        position = ratio * (target.place[part] + 0.5 * (target.fraction[part] + 1.0))
        place = position.astype(np.int32)
        fraction = 2.0 * (position - place) - 1.0
        sorted_points = replace(target, place=place, fraction=fraction, order=np.arange(len(place)))
        values = interpolate(sorted_points, padded, window, workers=workers)
        if values.max() > 0.5 * padded.max():
            break
    return target.order[part], values
