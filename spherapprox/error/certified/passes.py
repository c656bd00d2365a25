"""Which cells passed which test, and frames of tangent vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._types import Bools, Float64


@dataclass(frozen=True)
class Passes:
    """The cells of a block that passed Riesz's test, and those of the others that passed Taylor's."""

    riesz: Bools
    taylor: Bools


def tangent_frames(x: Float64) -> Float64:
    """Return orthonormal tangent vectors at points (n, d): the first columns of reflections, shape (n, d-1, d)."""
    n, d = x.shape
    v = x.copy()  # the reflection along it takes the last axis to -x or x
    v[:, -1] += np.where(x[:, -1] < 0.0, -1.0, 1.0)
    scale = 1.0 + np.abs(x[:, -1])
    return np.asarray(np.eye(d)[None, :-1] - v[:, :-1, None] * v[:, None, :] / scale[:, None, None])
