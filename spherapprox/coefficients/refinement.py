"""Refinement: residual steps at the control points, each of which adds the residual to the values."""

from __future__ import annotations

import numpy as np

from .._types import Float64, Floats
from .kernel import sums


def refine_values(
    f: Floats,
    rows: Floats,
    values: Floats,
    concentration: float,
    steps: int,
    *,
    normalize: bool,
    workers: int | None = None,
) -> Float64:
    """Return the values after some steps ``values + D^-1 (f - head(b))``.

    D is 1 for a split head (`normalize`), whose kernels are divided by their sum already; for a core head it is the
    sum of the kernels at each control point.
    """
    refine_values = values.astype(np.float64)
    if not normalize:
        row_sums = sums(rows, rows, np.ones(len(rows)), concentration, workers=workers)
        scale = row_sums.reshape(-1, *(1,) * (refine_values.ndim - 1))
    for _ in range(steps):
        residual = f - sums(rows, rows, refine_values, concentration, normalize=normalize, workers=workers)
        # 4.13 (c)
        refine_values += residual if normalize else residual / scale
    return np.asarray(refine_values)
