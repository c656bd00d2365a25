"""The mean angle W of 4.4, the worst-case error of a split head's points, over cells of the sphere."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..._loading import load
from ..._types import Float64
from ...summation import angle_mean
from .riesz import Riesz
from .search import Passes, Sample
from .taylor import OMITTED, call_groups, cut, take


@dataclass(frozen=True)
class MeanAngle:
    """The mean angle W to control points b (N, d) under the softmax weights."""

    b: Float64
    concentration: float
    unit: float = 1.0
    ceiling: float = math.pi

    @cached_property
    def columns(self) -> Float64:
        """Control points with a coordinate in each row, (d, N)."""
        return np.ascontiguousarray(self.b.T)

    def sample(self, x: Float64) -> Sample:
        """Return W at points."""
        means = angle_mean(x, self.b, self.concentration, workers=1)
        # angles of nearly opposite pairs are off by up to 3e-8, and weigh e^(-2 lambda) if any point is near
        rounding = 4e-8 if self.concentration < 20.0 or means.max() > 2.0 else 1e-11
        return Sample(means, np.zeros(len(x)), rounding)

    def riesz(self, bound: float, room: float, x: Float64) -> Riesz | None:
        """Return None: angles are no polynomials."""
        return None

    def check(self, x: Float64, radii: Float64, sample: Sample, bound: float, riesz: Riesz | None) -> Passes:
        """Tell which cells pass Taylor's test for W."""
        n, d = x.shape
        chords = 2.0 * np.sin(0.5 * radii) * (1.0 + 1e-12)
        (means, rests, roundings), (slopes, turns) = np.empty((3, n)), np.empty((2, n, d))
        kernels = load("spherapprox._kernels.error.moments")
        rate, exponent = 0.5 * self.concentration, cut(len(self.b), self.concentration)

        def call(x: Float64, chords: Float64, near: Any, arrays: Any, results: Any) -> None:
            b, rows = take(self.columns, near, 1), take(self.b, near, 0)
            kernels.angle_moments(x, chords, *arrays, b, rows, rate, exponent, *results)

        results = [means, slopes, turns, rests, roundings]
        call_groups(call, x, chords, columns=self.columns, rate=rate, cut=exponent, arrays=[radii], results=results)
        # 6.5 (W)
        radial = np.einsum("nd,nd->n", slopes, x)
        tangent = slopes - radial[:, None] * x
        linear = radii * np.linalg.norm(tangent - turns, axis=1) + radii**3 / 6.0 * np.linalg.norm(tangent, axis=1)
        change = (linear + 0.5 * np.square(chords) * np.abs(radial) + rests) * (1.0 + 1e-9)
        noise = math.pi * (OMITTED + 8.0 * roundings) * (1.0 + rests / radii)
        upper = np.maximum(sample.errors, means) + sample.rounding + change + noise
        return Passes(np.zeros(n, dtype=bool), np.asarray(upper <= bound))
