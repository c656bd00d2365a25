"""Targets as proofs take them: values with their error, slopes by differences, and bounds of change."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._types import Float64
from ...target import Target
from .cells import Cells, divisions_for

_DEGREE_ANGLE = 0.35
"""Angle times degree of the grid that bounds a polynomial without a stated sup norm: by 6.1 within 7 %."""
_GRID = 1_000_000
"""Points of that grid, at most."""


@dataclass(frozen=True)
class Function:
    """A target f with the constants that proofs use; the polynomial p of its degree is within `remainder` of f.

    `value_error` bounds the error of its computed values, `curvature` and `third` bound second and third derivatives of
    f along geodesics (inf: unknown), `slope` its slope; |f| is at most `size`.
    """

    target: Callable[[Any], Any]
    degree: int | None
    remainder: float
    size: float
    slope: float
    exponent: float
    curvature: float
    third: float
    value_error: float
    constants: dict[str, str]

    def values(self, x: Float64) -> Float64:
        """Return values (n, p)."""
        return np.asarray(self.target(x), dtype=np.float64).reshape(len(x), -1)

    def change(self, radius: Float64) -> Float64:
        """Bound the change of f over caps of these radii."""
        with np.errstate(invalid="ignore"):
            return np.minimum(self.slope * radius**self.exponent, 2.0 * self.size)

    def gradients(self, x: Float64, frames: Float64) -> tuple[Float64, float]:
        """Return derivatives (n, p, m) along orthonormal tangent vectors (n, m, d), and a bound of each row's error."""
        noise = self.value_error + 2e-16 * self.size
        # central differences: noise/t + the smaller of curvature t/2 and third t^2/6
        steps = 2.0 * math.sqrt(_ratio(noise, self.curvature)), (3.0 * _ratio(noise, self.third)) ** (1.0 / 3.0)
        errors = {
            t: noise / t + min(0.5 * self.curvature * t, self.third * t * t / 6.0) for t in steps if 0.0 < t < 0.1
        }
        if not errors:
            return np.zeros(0), math.inf
        step = min(errors, key=lambda t: errors[t])
        n, m, d = frames.shape
        columns = []
        for j in range(m):
            moved = math.sin(step) * frames[:, j]
            right, left = self.values(_unit(math.cos(step) * x + moved)), self.values(_unit(math.cos(step) * x - moved))
            columns.append((right - left) / (2.0 * step))
        return np.stack(columns, axis=2), errors[step] * math.sqrt(m) * (1.0 + 1e-6)


def _ratio(a: float, b: float) -> float:
    return a / b if b > 0.0 else math.inf


def _unit(x: Float64) -> Float64:
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def known(target: Callable[[Any], Any], dim: int) -> Function | str:
    """Return what is known of a target, or why that is too little for a proof."""
    if not isinstance(target, Target):
        return "nothing is known of the target: wrap it, Target(f, dim, degree=...) or Target(f, dim, lipschitz=...)"
    if target.degree is None and target.lipschitz is None:
        return f"'{target.name}' states neither a degree nor a Lipschitz constant: Target(..., degree=) or lipschitz="
    size = target.sup_norm
    if size is None:
        size = _proven_size(target)
        if size is None and target.lipschitz is None:
            return (
                f"'{target.name}' states no sup norm, and its degree is too high to prove one: Target(..., sup_norm=)"
            )
    if size is None:
        size = _size_by_slope(target)
    bound = size
    slope, exponent = math.inf if target.lipschitz is None else target.lipschitz, target.exponent
    curvature = math.inf if target.smoothness is None else target.smoothness
    third = math.inf if target.third_derivative is None else target.third_derivative
    if target.degree is not None and target.remainder == 0.0:  # Bernstein, along great circles
        n = target.degree
        if n * bound <= slope or exponent < 1.0:
            slope, exponent = n * bound, 1.0
        curvature, third = min(curvature, n * n * bound), min(third, float(n) ** 3 * bound)
    entered = ("degree", "remainder", "sup_norm", "lipschitz", "smoothness", "third_derivative")
    origins = {name: target.origin(name) for name in entered}
    if target.degree is None:
        del origins["remainder"]
    return Function(
        target, target.degree, target.remainder, bound, slope, exponent, curvature, third,
        target.accuracy * bound, {k: v for k, v in origins.items() if v != "unknown"},
    )  # fmt: skip


def _size_by_slope(target: Target) -> float:
    """Return a bound of |f| from its value at a point and its modulus of continuity."""
    assert target.lipschitz is not None
    x = np.eye(1, target.dim + 1)
    return float(np.linalg.norm(np.asarray(target(x), np.float64))) + target.lipschitz * math.pi**target.exponent


def _proven_size(target: Target) -> float | None:
    """Return a bound of |f| of a target with a degree, from a grid by 6.1; None if the grid would be too large."""
    if target.degree is None:
        return None
    divisions = divisions_for(target.dim, _DEGREE_ANGLE / max(target.degree, 1))
    if 2 * (target.dim + 1) * float(divisions) ** target.dim > _GRID:
        return None
    x, radius = Cells.cover(target.dim, divisions).located()
    largest = float(np.linalg.norm(np.asarray(target(x), np.float64).reshape(len(x), -1), axis=1).max())
    cosine = math.cos(min(target.degree * float(radius.max()), 1.5))
    return ((largest + target.remainder) / cosine + target.remainder) * (1.0 + 1e-9) / (1.0 - 2.0 * target.accuracy)
