"""Taylor's test: the change of a head over a cell, from moments of its terms about the centre."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._kernels.simd.alignment import compiled_form, read_only
from ..._loading import load
from ..._threads import slices
from ..._types import Float64, Indices
from ...summation.near import NearBlocks

CUT = 30.0
"""Exponent beyond that of the largest term from which on terms are left out, but for logarithms of their number."""
OMITTED = 1e-12
"""More than all omitted terms amount to, relative to the sum of the absolute terms."""
_LIFT = 1.0 + 1e-9
"""Against roundings of sums of positive numbers."""
_FEW = 300
"""Cells or control points below which groups would take longer than all pairs. Tuned."""
_CELLS = 128
"""Cells of a group. Tuned."""


@dataclass(frozen=True)
class Moments:
    """What 6.5 (T) and (S) take of a head in cells.

    `along` (n, p, m) are its derivatives along the frame at the centre, `steep` (n,) their size, `second_order` (n,)
    bounds all changes of second order but `defect` (n,) times the first-order one, and `log_growth` (n,) is the
    logarithm of what the denominator grows by at most. `spread` (n,) is the largest distance of the target at the
    centre from a value that matters in the cell, inf for plain sums, and `far` (n,) bounds the weights of all others.
    `noise` (n,) bounds all roundings and omitted terms, relative to the sum of the absolute terms.
    """

    along: Float64
    steep: Float64
    second_order: Float64
    defect: Float64
    log_growth: Float64
    spread: Float64
    far: Float64
    noise: Float64

    def first_order(self, radii: Float64) -> Float64:
        """Bound the head's change of first order over caps."""
        return np.sin(np.minimum(radii, 0.5 * math.pi)) * self.steep * _LIFT

    def bend(self, radii: Float64) -> Float64:
        """Bound how far the first-order change is from the derivative times the angle."""
        return (radii * self.defect + radii**3 / 6.0) * self.steep * _LIFT


def cut(count: int, concentration: float) -> float:
    """Return the exponent beyond the largest term's from which on a sum of so many terms leaves terms out."""
    return CUT + math.log(count) + math.log1p(concentration)


def call_groups(
    call: Callable[..., None], x: Float64, chords: Float64, *, columns: Float64, rate: float, cut: float,
    arrays: Sequence[Float64], results: Sequence[Float64],
) -> None:  # fmt: skip
    """Call ``call(x, chords, near, arrays, results)`` for groups of cells, with `near` their control points.

    Cells have centres x (n, d) and the largest chords q (n,) from there, control points are columns (d, N). Those are
    near that `list_near` of the kernels would list for any of the cells. Of arrays and results, n rows each, the calls
    take the group's rows.
    """
    groups: Iterable[tuple[Indices | slice, Indices | slice]] = [(slice(None), slice(None))]
    if rate > 0.0 and min(len(x), columns.shape[1]) > _FEW:
        # list_near's reach: |o - c|^2 <= cut / rate + least
        blocks = NearBlocks(x, columns, cut / rate, margin=2.0 * float(chords.max()))
        if blocks.tree is not None:
            groups = (pair for block in slices(len(x), _CELLS) for pair in blocks.parts(block))
    for cells, near in groups:
        parts = [result[cells] for result in results]
        own, *rows = (compiled_form(array[cells], array.dtype) for array in (x, *arrays))
        call(own, chords[cells], near, rows, parts)
        for result, part in zip(results, parts, strict=True):
            result[cells] = part


def take(array: Any, near: Indices | slice, axis: int) -> Float64:
    """Return an array's part at near control points, as compiled code takes it."""
    return read_only(array if isinstance(near, slice) else np.take(array, near, axis=axis))


@dataclass(frozen=True)
class Terms:
    """The terms of a head: control points as rows (N, d) and as columns (d, N), and values (N, p).

    With `concentrations` (N,) of their own, the largest of which is `concentration`, rows are keys.
    """

    rows: Float64
    columns: Float64
    values: Float64
    concentration: float
    normalize: bool
    concentrations: Float64 | None = None

    @property
    def rate(self) -> float:
        """Half of the concentration; 0 where no distance alone says which terms are small, so that all are near."""
        return 0.5 * self.concentration if self.concentrations is None else 0.0

    @property
    def scale(self) -> float:
        """What the origins of moments are multiplied by to be keys."""
        return self.concentration if self.concentrations is None else 1.0

    @property
    def cut(self) -> float:
        """The exponent beyond the largest term's from which on terms are left out."""
        return cut(len(self.rows), self.concentration)

    def add_moments(self, x: Float64, chords: Float64, near: Any, arrays: Any, results: Any) -> None:
        """Write the moments of the near terms for a group of cells."""
        b, rows, values = take(self.columns, near, 1), take(self.rows, near, 0), take(self.values, near, 0)
        common = x, *arrays, chords, b, rows, values
        if (rates := self.concentrations) is None:
            kernel: Any = load("spherapprox._kernels.error.moments").local_moments
        else:
            kernel = load("spherapprox._kernels.error.keyed").keyed_moments
        kernel(*common, self.rate if rates is None else rates, self.normalize, self.cut, *results)


def moments(x: Float64, radii: Float64, frames: Float64, terms: Terms, sizes: Float64, target: Float64) -> Moments:
    """Return the moments of a head in cells about x (n, d) with frames (n, m, d).

    `sizes` (n,) bound |h| there, and `target` (n, p) are the target's values.
    """
    n, p, d = len(x), terms.values.shape[1], x.shape[1]
    chords = 2.0 * np.sin(0.5 * radii) * (1.0 + 1e-12)
    sag = 0.5 * np.square(chords)  # 1 - cos, which would lose all digits at small radii
    slopes, origins, sums = np.empty((n, p, d)), np.empty((n, d)), np.empty((n, 5))
    call_groups(
        terms.add_moments, x, chords, columns=terms.columns, rate=terms.rate, cut=terms.cut, arrays=[target],
        results=[slopes, origins, sums],
    )  # fmt: skip
    rests, growths, spread, far, roundings = sums.T
    # 6.5, rounding
    noise, lift = OMITTED + 8.0 * roundings, _LIFT + 8.0 * roundings
    along = np.einsum("npd,nmd->npm", slopes, frames)
    steep = np.linalg.norm(along.reshape(n, -1), axis=1)
    second_order = (sag * np.linalg.norm(np.einsum("npd,nd->np", slopes, x), axis=1) + rests) * lift
    if not terms.normalize:
        pull = np.einsum("nd,nd->n", origins, x) * (terms.scale * _LIFT)
        defect = -np.expm1(-pull * sag)  # 1 - kappa
        second_order, never = second_order + defect * sizes * _LIFT, np.full(n, math.inf)
        return Moments(
            along, steep, second_order, defect=defect, log_growth=np.zeros(n), spread=never, far=np.zeros(n),
            noise=noise,
        )  # fmt: skip
    # <y - c, o> for points y of the cell
    across = np.linalg.norm(np.einsum("nd,nmd->nm", origins, frames), axis=1)
    back = np.maximum(-np.einsum("nd,nd->n", origins, x), 0.0)
    log_growth = terms.scale * (np.sin(np.minimum(radii, 0.5 * math.pi)) * across + sag * back)
    log_growth = log_growth * _LIFT + np.log1p(growths * lift) + noise
    return Moments(
        along, steep, second_order, defect=growths * lift, log_growth=log_growth, spread=spread * _LIFT,
        far=far * lift + OMITTED, noise=noise,
    )  # fmt: skip
