"""Constants that a target does not state: proven, where that takes no time, or estimated from its values."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from spherapprox import targets
from spherapprox._types import Floats
from spherapprox.error import lengths, sup_error
from spherapprox.target import Target
from spherapprox.targets.circles import refutation

from .steepest import precision

LARGEST_DEGREE = 32
"""Polynomials on S^1 and S^2 to this degree get proven constants."""
POINTS = 2000
"""Points from which the steepest place is searched for."""
STEP = 1e-3
"""Half the length of the first secants, in radians."""
HALVINGS = 10
"""How often the steepest secant is halved."""


def with_proofs(target: Target) -> Target:
    """Fill in the constants of a polynomial by proof, where this takes a second or two and values refute none."""
    cheap = target.degree is not None and target.degree <= LARGEST_DEGREE and target.dim <= 2 and not target.remainder
    return targets.with_constants(target) if cheap and not refutation(target) else target


def with_estimates(target: Target, rng: np.random.Generator | int | None = 0) -> tuple[Target, tuple[str, ...]]:
    """Estimate the unstated of a target's Lipschitz constant and sup norm from below; return their names too.

    The true constants are no smaller: |f(x) - f(y)| / theta(x, y) is taken at the steepest pair of points that a local
    search from 2000 others finds, less what 2 units in the last place of both values, in their own precision, may add;
    |f(x)| at the largest value. A ValueError tells of secants that grow without end as they become shorter, as at a
    jump or a root, and of an exponent that is not 1.
    """
    names = tuple(name for name in ("lipschitz", "sup_norm") if getattr(target, name) is None)
    constants: dict[str, Any] = {}
    if "lipschitz" in names:
        constants["lipschitz"] = _lipschitz(target, rng)
    if "sup_norm" in names:
        constants["sup_norm"] = sup_error(lambda x: _length(target(x)), Target(_zero, target.dim), rng=rng).lower
    notes = ["estimated from values: " + ", ".join(names)] if names else []
    provenance = "; ".join([target.provenance, *notes]).removeprefix("; ")
    origins = dict(target.origins) | dict.fromkeys(names, "estimated")
    return replace(target, **constants, provenance=provenance, origins=origins), names


def _lipschitz(target: Target, rng: np.random.Generator | int | None) -> float:
    """Return the slope of the steepest secant found, halved until it is short."""
    if target.exponent != 1.0:
        raise ValueError(
            f"'estimate_constants' estimates Lipschitz constants, and '{target.name}' has the exponent "
            f"{target.exponent:g}: give Target(..., lipschitz=)"
        )
    # Step 1: the steepest secant of a fixed length
    steepest = sup_error(lambda x: _secant(target, x)[2], Target(_zero, target.dim), n=POINTS, rng=rng)
    start, end, _ = _secant(target, steepest.at[None, :])
    # Step 2: its steeper half, again and again
    slopes = []
    for k in range(HALVINGS):
        middle = (start + end) / np.linalg.norm(start + end)
        values = target(np.concatenate([start, middle, end])).reshape(3, -1).astype(np.float64)  # (3, p)
        first, second = _change(values[:-1], values[1:])
        start, end = (start, middle) if first > second else (middle, end)
        slopes.append(float(max(first, second)) / (STEP * 2.0**-k))
    # Step 3: their growth over the last three halvings
    if slopes[-1] > 1.5 * slopes[-4]:  # 8 at a jump, 2.8 at a square root, 1 where there is a constant
        raise ValueError(
            f"'{target.name}' seems to have no Lipschitz constant: near x = {middle[0].round(4).tolist()} the slopes "
            f"of its secants grow from {slopes[0]:.3g} to {slopes[-1]:.3g} as they become shorter; leave "
            "'estimate_constants' out"
        )
    return max(steepest.lower, *slopes)


def _secant(target: Target, x: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the ends and slopes of secants through the points in the directions of steepest change."""
    # the columns but the last of the reflection that takes the last axis to -x or x are a basis of the tangent space
    v = x + np.where(x[:, -1:] < 0.0, -1.0, 1.0) * np.eye(x.shape[1])[-1]
    scale = 1.0 + np.abs(x[:, -1:])  # (n, 1)

    def ends(direction: Floats) -> tuple[Floats, Floats]:
        padded = np.column_stack([direction, np.zeros(len(x))])  # (n, dim+1)
        tangent = padded - np.sum(padded * v, axis=1, keepdims=True) * v / scale
        return math.cos(STEP) * x - math.sin(STEP) * tangent, math.cos(STEP) * x + math.sin(STEP) * tangent

    def difference(direction: Floats) -> Floats:
        start, end = ends(direction)
        return np.asarray(target(end).reshape(len(x), -1).astype(np.float64) - target(start).reshape(len(x), -1))

    axes = np.eye(target.dim)
    jacobian = np.stack([difference(np.tile(axis, (len(x), 1))) for axis in axes], axis=2)  # (n, p, dim)
    start, end = ends(np.linalg.svd(jacobian, full_matrices=False)[2][:, 0, :])  # directions (n, dim)
    return start, end, _change(target(start), target(end)) / (2.0 * STEP)


def _change(f: Floats, g: Floats) -> Floats:
    """Return the lengths of differences of values, less a bound of their rounding."""
    size = np.maximum(_length(f), _length(g))
    return np.maximum(_length(g.astype(np.float64) - f) - 4.0 * precision(g, g.dtype) * size, 0.0)


def _length(values: Floats) -> Floats:
    return lengths(values.reshape(len(values), -1).astype(np.float64))


def _zero(x: Floats) -> Floats:
    return np.zeros(len(x))
