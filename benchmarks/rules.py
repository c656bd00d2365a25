"""Targets from discontinuous to analytic, and heads of them by every rule, at the concentration of least error."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spherapprox import CoreHead, EqualMeasurePartition, PointSet, SplitHead, Target, points, sphere, sup_error, targets
from spherapprox.special import cap_angle

Array = NDArray[np.float64]
Head = CoreHead | SplitHead
Points = EqualMeasurePartition | PointSet


def step(dim: int) -> Target:
    """Return the indicator of a half sphere, which jumps at its equator."""
    return Target(lambda x: (x[:, -1] > 0.0) * 1.0, dim, sup_norm=1.0, name="step")


TARGETS: dict[str, tuple[str, Callable[[int], Target]]] = {
    "step": ("discontinuous", step),
    "land": ("discontinuous", lambda dim: targets.land()),
    "distance": ("Lipschitz", targets.distance),
    "smooth 1.5": ("C1", lambda dim: targets.random_smooth(dim, 1.5, rng=0)),
    "smooth 3": ("C2", lambda dim: targets.random_smooth(dim, 3.0, rng=0)),
    "height": ("polynomial", lambda dim: targets.zonal_harmonic(dim, 1)),
    "harmonic 4": ("polynomial", lambda dim: targets.zonal_harmonic(dim, 4)),
    "field": ("polynomial", lambda dim: targets.geomagnetic_field(2025.0)),
    "bump": ("analytic", lambda dim: targets.bump(dim, 12.0, pole=np.eye(dim + 1)[0])),
}
"""Their kinds, and makers by dimension; the magnetic field has degree 13."""


def make(name: str, dim: int) -> Target:
    """Make a target of `TARGETS`."""
    return TARGETS[name][1](dim)


def size(target: Target) -> float:
    """Return the largest value of a target, as it states it or at a sample."""
    return target.sup_norm or float(np.abs(target(sphere.uniform(target.dim, 20_000, rng=0))).max())


def probes(target: Target, n: int = 3000) -> Array:
    """Return a sample, the points that the target is made with, where it is least smooth, and their antipodes."""
    parts = [np.atleast_2d(part) for part in getattr(target.function, "args", ()) if np.ndim(part) in (1, 2)]
    special = [sign * part for part in parts if part.shape[1] == target.dim + 1 for sign in (1.0, -1.0)]
    x = points.fibonacci(n).points if target.dim == 2 else sphere.uniform(target.dim, n, rng=1)
    return np.concatenate([x, *special])


def error(head: Head, target: Target) -> float:
    """Measure a sup error, from the probes uphill."""
    return sup_error(head, target, points=probes(target), refine=6).lower


def nodes(dim: int, n: int) -> Points:
    """Return points that are spread evenly."""
    return points.fibonacci(n) if dim == 2 else EqualMeasurePartition(dim, n)


def gauss(dim: int, n: int) -> PointSet | None:
    """Return the largest product Gauss rule of at most n points, of degree 2 at least; None where there is none."""
    degree = 2
    while (degree + 2) * ((degree + 1) // 2 + 1) ** (dim - 1) <= n:
        degree += 1
    fits = (degree + 1) * (degree // 2 + 1) ** (dim - 1) <= n
    return points.gauss_product(dim, degree) if fits else None


@dataclass(frozen=True)
class Rule:
    """A family of heads, how their values are computed, at which points, and at how many the rule is tried."""

    head: type[CoreHead] | type[SplitHead]
    coefficients: str
    points: Callable[[int, int], Points | None]
    most: int


RULES = {
    "core Riemann": Rule(CoreHead, "riemann", EqualMeasurePartition, 10_000),
    "core spectral": Rule(CoreHead, "spectral", gauss, 3162),
    "core interpolation": Rule(CoreHead, "interpolation", nodes, 316),
    "core least squares": Rule(CoreHead, "least_squares", nodes, 316),
    "split Riemann": Rule(SplitHead, "riemann", EqualMeasurePartition, 10_000),
    "split interpolation": Rule(SplitHead, "interpolation", nodes, 316),
}


def spacing(dim: int, n: int) -> float:
    """Return the angle of a cap of measure 1/n."""
    return float(cap_angle(dim, -math.log(n)))


def best(target: Target, rule: str, n: int, step: float = 2.0) -> Head | None:
    """Return the head of least error over concentrations a factor apart; None where the rule has no such points."""
    how = RULES[rule]
    at = how.points(target.dim, n)
    if at is None:
        return None
    known: Any = target
    if how.coefficients == "riemann":  # values once for all concentrations
        values = target(at.centers())  # type: ignore[union-attr]
        known = lambda _: values  # noqa: E731
    x = probes(target, 1000)
    wanted = target(x)
    top = 12.0 / spacing(target.dim, n) ** 2
    tried: list[tuple[float, Head]] = []
    with warnings.catch_warnings():  # of concentrations that do not suit the points
        warnings.simplefilter("ignore", RuntimeWarning)
        for lam in np.geomspace(0.5, top, max(2, math.ceil(math.log(2.0 * top, step)))):
            head = how.head.from_target(known, at, float(lam), how.coefficients)
            tried.append((float(np.abs(head(x) - wanted).max()), head))
    return min(tried, key=lambda pair: pair[0])[1]
