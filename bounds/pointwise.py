"""Second-order bounds of a given split head: their largest value found on the sphere, and its least concentration."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from spherapprox import SplitHead, _checks, special
from spherapprox._types import Float64
from spherapprox.error.search import largest_error, sample
from spherapprox.harmonics import PolynomialDerivatives, TangentDerivatives
from spherapprox.points import nodes
from spherapprox.points.pointset import Points, require_equal
from spherapprox.summation import tangent_moments
from spherapprox.target import Target
from spherapprox.targets.circles import refuse_refuted

from .records.bound import Bound, Hypothesis
from .theorems import POINTWISE
from .theorems.second_order import Expansion, PointwiseTheorem

__all__ = ["second_order_bound"]

_SEARCH_POINTS = 4000
"""Points at which a concentration is judged."""
_CLIMBED = 8
"""Of them, those from which the least bound is followed to a local maximum."""
_COARSE = slice(None, None, 8)
"""Those of them at which it is judged at first."""
_STEP, _LOWEST, _HOPELESS = 0.5, math.log(0.03), 5.0
"""Of the first search: step in log lambda, least that it tries, and factor above the best at which it ends."""
_SAME = 1e-12
"""Relative to the largest: values that differ by no more are the target's."""


@dataclass(frozen=True)
class PointwiseBound(Bound):
    """A bound of the errors of a split head at points: `value` is the largest bound found, and no supremum proven.

    At every point x the theorem proves a bound of the error there; the search for the largest of these looked at a
    sample and climbed from its worst points. So the sup error is above `value` only if the search missed a peak.

    Parameters
    ----------
    quantity, log, side, theorem, reference, hypotheses, concentration, radius, constants, whole, enclosure
        As in `Bound`; the hypotheses name constants of the target that are estimates.
    at : ndarray, shape (dim+1,), or None
        The point with the largest bound.

    Examples
    --------
    >>> import bounds
    >>> from spherapprox import SplitHead, points, targets
    >>> wave = targets.zonal_harmonic(2, 3)
    >>> head = SplitHead.from_target(wave, points.fibonacci(400), 60.0)
    >>> found = bounds.pointwise.second_order_bound(head, wave, n=2000)
    >>> found.quantity, found.holds, found.at.shape
    ('error at 2000 points', True, (3,))
    """

    at: Float64 | None = field(default=None, compare=False, repr=False)


def second_order_bound(
    head: SplitHead, target: Target, *, theorem: str = "second-order-local", n: int = 20_000,
    points: ArrayLike | None = None, refine: int = 16, workers: int | None = None,
    rng: np.random.Generator | int | None = 0,
) -> PointwiseBound:  # fmt: skip
    """Bound the error of a given split head by the moments of its weights and the target's derivatives (4.H).

    Parameters
    ----------
    head : SplitHead
        With the target's values at its control points (Riemann coefficients), which may lie anywhere.
    target : Target
        With the constants that the theorem needs; `spherapprox.targets.with_constants` proves those of polynomials.
    theorem : str
        "second-order" needs lipschitz and smoothness; "second-order-laplacian" laplacian and third_derivative too;
        "second-order-local" third_derivative and a degree: derivatives at x are taken from values along great circles.
    n, points : int, and array_like, shape (k, dim+1), optional
        The bound is taken at a sample of at least n points, or at the points given in its place.
    refine : int
        Points from which the bound is followed to a local maximum; 0 for none.
    workers : int or None
        Threads, as in `spherapprox.evaluate`; the result is the same for any number.
    rng : None, int or numpy.random.Generator
        Rotates the sample and chooses directions.

    Returns
    -------
    PointwiseBound
        `value` is the largest bound found, in the unit of the target.

    Raises
    ------
    TypeError, ValueError
        If the head is no split head or has other values or several concentrations, the target lacks a constant or
        states one that its values refute, or an option is out of its range.

    Examples
    --------
    >>> import bounds
    >>> from spherapprox import SplitHead, points, sup_error, targets
    >>> field = targets.with_constants(targets.geomagnetic_field(2025.0))
    >>> head = SplitHead.from_target(field, points.fibonacci(1000), 250.0)
    >>> found = bounds.pointwise.second_order_bound(head, field, n=5000)
    >>> round(found.value, 2), round(sup_error(head, field, n=5000).lower, 2)
    (0.82, 0.66)
    """
    _checks.instance(head, "head", SplitHead)
    _checks.instance(target, "target", Target, remedy="wrap a function, Target(f, dim=...)")
    _checks.same_dim(target.dim, "target", head.dim, why="as the head has")
    concentration = _checks.one_concentration(head.concentration, "the theorem treats")
    record = _stated(theorem, target)
    values = target(head.control_points).astype(np.float64)
    shaped = values.shape == head.values.shape
    if not shaped or not float(np.abs(head.values - values).max()) <= _SAME * float(np.abs(values).max()):
        raise ValueError("'head' must have the target's values at its control points: coefficients='riemann'")
    generator = _checks.generator(rng)
    start = sample(head.dim, _checks.integer(n, "n", minimum=1, maximum=10**8), generator)
    if points is not None:
        start = _checks.rows(points, "points", dim=head.dim).astype(np.float64)
    refine = _checks.integer(refine, "refine", minimum=0)
    bound = _Bounds(record, target, head.control_points.astype(np.float64), workers=workers)
    return bound.largest(concentration, start, refine, generator)


def _stated(theorem: object, target: Target) -> PointwiseTheorem:
    """Return the theorem of a name, after checking that the target states what it needs, and nothing false."""
    record = POINTWISE[_checks.choice(theorem, "theorem", POINTWISE)]
    if lack := record.lack(target):
        raise ValueError(f"theorem='{record.name}' needs {lack}, got {target.name!r}")
    refuse_refuted(target)
    return record


@lru_cache(maxsize=4)
def _derivatives(target: Target) -> PolynomialDerivatives:
    """Return the derivatives of a polynomial target, whose expansion is kept for the next head."""
    assert target.degree is not None
    return PolynomialDerivatives(target.function, target.dim, target.degree)


class _Bounds:
    """A theorem's bounds at points, for control points and any concentration."""

    def __init__(self, theorem: PointwiseTheorem, target: Target, controls: Float64, workers: int | None) -> None:
        self.theorem, self.target, self.controls, self.workers = theorem, target, controls, workers
        self.polynomial = _derivatives(target) if theorem.local else None

    def derivatives(self, x: Float64) -> TangentDerivatives | None:
        """Return the target's derivatives, where the theorem asks for them."""
        return None if self.polynomial is None else self.polynomial(x, order=2)

    def at(self, x: Float64, concentration: float, derivatives: TangentDerivatives | None = None) -> Float64:
        """Return the bounds at points (n, dim+1)."""
        moments = tangent_moments(x, self.controls, concentration, workers=self.workers)
        return self.theorem.bound(
            self.target, Expansion(moments, self.derivatives(x) if derivatives is None else derivatives)
        )

    def largest(self, concentration: float, start: Float64, refine: int, rng: np.random.Generator) -> PointwiseBound:
        """Search for the largest bound, from starting points."""
        peak = largest_error(lambda x: self.at(x, concentration), start, refine=refine, rng=rng, progress=False)
        return self.record(peak.lower, peak.at, len(start), concentration=concentration)

    def record(self, value: float, at: Float64 | None, count: int, concentration: float) -> PointwiseBound:
        """Return the record of the largest bound found at so many points."""
        constants = tuple((name, float(getattr(self.target, name))) for name in self.theorem.constants)
        estimates = [name for name in self.theorem.constants if self.target.origin(name) == "estimated"]
        return PointwiseBound(
            f"error at {count} points", math.log(value) if value > 0.0 else -math.inf, "upper",
            theorem=self.theorem.name, reference=self.theorem.reference,
            hypotheses=tuple(Hypothesis(f"the estimated {name} of the target is a bound", True) for name in estimates),
            concentration=concentration, constants=constants, at=at,
        )  # fmt: skip


def bounds_at(
    head: SplitHead, target: Target, x: Float64, workers: int | None
) -> Iterator[tuple[PointwiseTheorem, PointwiseBound, PointwiseBound]]:
    """Return the theorems that apply, each with its bound at the last of points (n, dim+1), and the largest at all.

    The head has the target's values. It is `second_order_bound` by each, but the moments are taken once.
    """
    controls = head.control_points.astype(np.float64)
    concentration = _checks.one_concentration(head.concentration, "the theorem treats")
    moments = tangent_moments(x, controls, concentration, workers=workers)
    for theorem in POINTWISE.values():
        if not theorem.lack(target):
            bounds = _Bounds(theorem, target, controls, workers=workers)
            values = theorem.bound(target, Expansion(moments, bounds.derivatives(x)))
            top = int(np.argmax(values))
            last, largest = (
                bounds.record(float(values[i]), x[i].copy(), n, concentration) for i, n in ((-1, 1), (top, len(x)))
            )
            yield theorem, last, largest


def least(theorem: str, target: object, points: Points | None) -> PointwiseBound:
    """Minimise the largest bound over the concentration, for a target and control points."""
    _checks.given(target, "target", f": theorem='{theorem}' takes a target and points")
    _checks.given(points, "points", f": theorem='{theorem}' takes a target and points")
    target = _checks.instance(target, "target", Target, remedy="wrap a function, Target(f, dim=...)")
    assert points is not None
    rows, weights = nodes(points)
    require_equal(weights)
    controls = rows.astype(np.float64)
    _checks.same_dim(controls.shape[1] - 1, "points", target.dim, why="as the target has")
    rng = np.random.default_rng(0)
    bounds = _Bounds(_stated(theorem, target), target, controls, workers=None)
    x = sample(target.dim, _SEARCH_POINTS, rng)
    derivatives = bounds.derivatives(x)

    def largest(concentration: float, selection: slice) -> float:
        part = None if derivatives is None else derivatives.at(selection)
        return float(bounds.at(x[selection], concentration, part).max())

    best = _least_concentration(largest, len(controls), target.dim)
    return bounds.largest(best, x, _CLIMBED, rng)


def _least_concentration(largest: Callable[[float, slice], float], n: int, dim: int) -> float:
    """Return the concentration where the largest bound over points of the sample is least, for n control points.

    A coarse search goes from large concentrations, where few control points count, to small ones, where all do.
    """
    # Step 1: a coarse grid over log lambda, from 40 for the points' spacing downward
    spacing = math.exp((special.log_surface_area(dim) - math.log(n)) / dim)
    highest = math.log(40.0) - 2.0 * math.log(min(spacing, 1.0))
    logs, values = [highest], [largest(math.exp(highest), _COARSE)]
    while logs[-1] > _LOWEST and values[-1] <= _HOPELESS * min(values):
        logs.append(logs[-1] - _STEP)
        values.append(largest(math.exp(logs[-1]), _COARSE))
    # Step 2: a local search between its best neighbours
    centre = logs[int(np.argmin(values))]
    minimum = minimize_scalar(
        lambda log: largest(math.exp(log), slice(None)), method="bounded", options={"xatol": 0.02, "maxiter": 10},
        bounds=(centre - 1.2 * _STEP, min(centre + 1.2 * _STEP, highest)),
    )  # fmt: skip
    return math.exp(float(minimum.x))
