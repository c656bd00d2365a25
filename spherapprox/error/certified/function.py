"""Targets as proofs take them: values with their error, slopes by differences, and bounds of change."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._norms import directions, lengths
from ..._types import Float64
from ...sphere.cells import Cells, divisions_for
from ...target import Target
from ...targets.circles import refutation

_DEGREE_ANGLE = 0.35
"""Degree times radius of the grid that bounds a polynomial without a stated sup norm: by 6.1 within 7 %."""
_GRID = 1_000_000
"""Points of that grid, at most."""
_SINGLE = 2.0**-22
"""Relative error of values that are returned in single precision."""


@dataclass(frozen=True)
class Function:
    """A target f with what proofs use of it; the polynomial p of its degree is within `remainder` of f.

    ``|f| <= size``, ``|f(x) - f(y)| <= slope theta^exponent``; `curvature` and `third` bound second and third
    derivatives along geodesics (inf: unknown), `value_error` the error of computed values; `constants` are the origins
    of the target's constants among these. Where f has a remainder and no modulus of its own, they are those of p.
    """

    target: Target
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

    def change(self, radii: Float64) -> Float64:
        """Bound the change of f within angles."""
        slopes = np.full(len(radii), math.inf) if self.slope == math.inf else self.slope * radii**self.exponent
        return np.minimum(slopes, 2.0 * (self.size + self.remainder))

    def gradients(self, x: Float64, frames: Float64) -> tuple[Float64, float]:
        """Return derivatives (n, p, m) along orthonormal tangent vectors (n, m, d), and a bound of each row's error."""
        noise = self.value_error + self.remainder + 2e-16 * self.size + self.slope * 4e-16**self.exponent
        # 6.5, slopes by differences: noise/t and the smaller of H t/2 and T t^2/6
        steps = 2.0 * math.sqrt(_ratio(noise, self.curvature)), (3.0 * _ratio(noise, self.third)) ** (1.0 / 3.0)
        errors = {
            t: noise / t + min(0.5 * self.curvature * t, self.third * t * t / 6.0) for t in steps if 0.0 < t < 0.1
        }
        if not errors:
            return np.zeros((len(x), 1, frames.shape[1])), math.inf
        step = min(errors, key=lambda t: errors[t])
        columns = []
        for j in range(frames.shape[1]):
            ahead, aside = math.cos(step) * x, math.sin(step) * frames[:, j]
            values = [self.values(directions(point)) for point in (ahead + aside, ahead - aside)]
            columns.append((values[0] - values[1]) / (2.0 * step))
        return np.stack(columns, axis=2), errors[step] * math.sqrt(len(columns)) * (1.0 + 1e-6)


def as_function(target: object) -> Function | str:
    """Return a target as proofs take it, or why too little of it is known for one."""
    if not isinstance(target, Target):
        return "nothing is known of the target: wrap it as Target(f, dim, degree=...) or Target(f, dim, lipschitz=...)"
    if target.degree is None and target.lipschitz is None:
        return f"'{target.name}' states neither a degree nor a Lipschitz constant: Target(..., degree=) or lipschitz="
    size = _size(target)
    if size is None:
        return f"'{target.name}' states no sup norm, and a degree too high to prove one: Target(..., sup_norm=)"
    if wrong := refutation(target):
        return f"'{target.name}' does not have the constants that it states: {wrong}"
    single = np.asarray(target(np.eye(1, target.dim + 1))).dtype == np.float32
    accuracy = max(target.accuracy, _SINGLE) if single else target.accuracy
    constants = {
        name: math.inf if getattr(target, name) is None else float(getattr(target, name))
        for name in ("lipschitz", "smoothness", "third_derivative")
    }
    bounds, exponent = dict(constants), target.exponent
    if target.degree is not None and (target.remainder == 0.0 or target.lipschitz is None):
        # Bernstein's inequality along great circles
        largest = size + target.remainder
        for power, name in enumerate(bounds, 1):
            bernstein = float(target.degree) ** power * largest
            if bernstein <= bounds[name] or (power == 1 and exponent < 1.0) or target.remainder > 0.0:
                bounds[name], exponent = bernstein, 1.0 if power == 1 else exponent
    entered = {name for name in bounds if bounds[name] == constants[name] < math.inf}
    entered |= {name for name in ("sup_norm", "degree") if getattr(target, name) is not None}
    entered |= {"remainder"} if target.remainder else set()
    return Function(
        target, target.degree, target.remainder, size=size, slope=bounds["lipschitz"], exponent=exponent,
        curvature=bounds["smoothness"], third=bounds["third_derivative"], value_error=accuracy * size,
        constants={name: target.origin(name) for name in sorted(entered)},
    )  # fmt: skip


def _size(target: Target) -> float | None:
    """Return a bound of |f|: as stated, or from a grid by 6.1, or from a value and the modulus of continuity."""
    if target.sup_norm is not None:
        return target.sup_norm
    if target.degree is not None:
        divisions = divisions_for(target.dim, _DEGREE_ANGLE / max(target.degree, 1))
        if 2 * (target.dim + 1) * float(divisions) ** target.dim <= _GRID:
            x, radii = Cells.cover(target.dim, divisions).locate()
            cosine = math.cos(min(target.degree * float(radii.max()), 1.5))
            largest = (_largest(target(x)) + target.remainder) / cosine + target.remainder
            return float(largest * (1.0 + 1e-9) / (1.0 - 2.0 * target.accuracy))
    if target.lipschitz is None:
        return None
    return float(_largest(target(np.eye(1, target.dim + 1))) + target.lipschitz * math.pi**target.exponent)


def _largest(values: Any) -> float:
    """Return the largest Euclidean norm of values (n,) or (n, p)."""
    return float(lengths(np.asarray(values, np.float64).reshape(len(values), -1)).max())


def _ratio(a: float, b: float) -> float:
    return a / b if b > 0.0 else math.inf
