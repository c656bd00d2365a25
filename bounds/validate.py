"""`validate(head, target)`: every applicable theorem held against the error that the head achieved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from tabulate import tabulate

from spherapprox import _checks
from spherapprox.coefficients import core_values
from spherapprox.error import ErrorInterval, sup_error, worst_case_error
from spherapprox.heads import CoreHead, SplitHead
from spherapprox.partition import EqualMeasurePartition
from spherapprox.points import PointSet, nodes
from spherapprox.target import Target

from ._bound import Bound
from ._problem import SMALLEST
from .inverse import error_bound

Verdict = Literal["holds", "violated", "not applicable", "undecided"]

ROUNDING = 1e-12
"""Relative to the larger of bound and sup norm: float64 evaluation of a head may add this much to its error."""


SAME = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-5}
"""Relative to the largest: values that differ by no more are the same but for rounding."""

CORE = ("sharp-core", "sharp-core-centroid", "sharp-core-quadrature", "thesis-core")
SPLIT = ("sharp-split-mean", "sharp-split-equal", "sharp-split")


@dataclass(frozen=True)
class Check:
    """One theorem held against one measured number.

    ``holds`` means that no measured error contradicts the bound; ``violated`` that one does; ``undecided`` that the
    measured lower end is compatible with either.
    """

    theorem: str
    bound: Bound | None
    achieved: float | None
    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True)
class Validation:
    """The result of `validate`: the measured error and one `Check` per theorem.

    Parameters
    ----------
    error : ErrorInterval
        The measured sup error of the head on the target.
    checks : tuple of Check
        One for each theorem that speaks of this kind of head.
    """

    error: ErrorInterval
    checks: tuple[Check, ...]

    @property
    def violated(self) -> tuple[str, ...]:
        """The theorems that the measured errors contradict; a correct head on a correct target has none."""
        return tuple(check.theorem for check in self.checks if check.verdict == "violated")

    @property
    def ok(self) -> bool:
        """Whether nothing is violated."""
        return not self.violated

    def __str__(self) -> str:
        lines = [
            (c.theorem, _number(c.bound.value if c.bound else None), _number(c.achieved), c.verdict, c.reason)
            for c in self.checks
        ]
        return str(tabulate(lines, headers=("theorem", "bound", "achieved", "verdict", "why"), disable_numparse=True))


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def validate(
    head: CoreHead | SplitHead,
    target: Target,
    *,
    error: ErrorInterval | None = None,
    n: int = 20_000,
    worst_case: bool = True,
    workers: int = 1,
    rng: np.random.Generator | int | None = 0,
) -> Validation:
    """Hold a head's achieved error against every theorem that applies to it.

    Upper bounds (sharp-core, sharp-core-centroid, sharp-core-quadrature and thesis-core for a core head;
    sharp-split-mean, sharp-split-equal and sharp-split for a split head) are compared with the measured sup error on
    this target. They speak of Riemann coefficients of this very target, and of no others. The lower bound speaks of the
    worst target of this Lipschitz constant, so it is compared with the worst-case error W of the point set, never with
    the error on one target.

    Parameters
    ----------
    head : CoreHead or SplitHead
        The head; its `.points` tell which theorems apply (an `EqualMeasurePartition` has cells of equal measure and a
        radius, a `PointSet` may have a covering radius and a degree of exactness and has a separation, of bare rows
        nothing is known).
    target : Target
        What it approximates, with the Lipschitz constant (and sup norm) that theory asks for.
    error : ErrorInterval, optional
        The error, when it has been measured already; by default `spherapprox.sup_error` measures it at `n` points.
    n : int
        Points at which errors are measured before local refinement.
    worst_case : bool
        Also measure the worst-case error of a split head's points (as long again).
    workers : int
        Threads; -1: all.
    rng : None, int or numpy.random.Generator
        Seeds the sample.

    Returns
    -------
    Validation
        `.ok`, `.violated`, `.checks`; prints as a table.

    Raises
    ------
    TypeError
        When `head` is no head or `target` no `Target`.
    ValueError
        When their dimensions differ.

    Notes
    -----
    Targets with values in R^p are held against the same bounds: the Lipschitz constant, the sup norm and the error are
    all in the Euclidean norm, and none of these theorems needs more of it than that it is a norm (docs/theorems.md, 0
    and 2, 4.12), so no factor sqrt(p) enters.

    References
    ----------
    docs/theorems.md, 4.3 - 4.5 and 4.A - 4.D.

    Examples
    --------
    >>> from spherapprox import EqualMeasurePartition, SplitHead, targets
    >>> target = targets.distance(2)
    >>> head = SplitHead.from_target(target, EqualMeasurePartition(2, 500), concentration=200.0)
    >>> validate(head, target, n=2000).ok
    True
    """
    if not isinstance(head, CoreHead | SplitHead):
        raise TypeError(f"'head' must be a CoreHead or a SplitHead, got {type(head).__name__}")
    if not isinstance(target, Target):
        raise TypeError(f"'target' must be a Target (wrap a function: Target(f, dim=...)), got {type(target).__name__}")
    if head.dim != target.dim:
        raise ValueError(f"'target' must have dim = {head.dim} as the head has, got {target.dim}")
    n = _checks.integer(n, "n", minimum=1)
    if error is not None and not isinstance(error, ErrorInterval):
        raise TypeError(f"'error' must be an ErrorInterval, as sup_error returns, got {_checks.show(error)}")
    if error is None:
        error = sup_error(head, target, n=n, workers=workers, rng=rng)
    riemann = _has_riemann_values(head, target)
    if isinstance(head, CoreHead):
        checks = [_upper(name, head, target, error, riemann) for name in CORE]
    else:
        checks = [_upper(name, head, target, error, riemann) for name in SPLIT]
        if worst_case:
            checks.append(_lower(head, target, n, workers, rng))
    return Validation(error, tuple(checks))


def known_radius(head: CoreHead | SplitHead) -> float | None:
    """Return the covering radius of a head's control points where it is known."""
    points = head.points
    if isinstance(points, EqualMeasurePartition):
        return points.cell_radius()
    return points.covering_bound() if isinstance(points, PointSet) and points.covering_is_known else None


def known_separation(head: CoreHead | SplitHead) -> float | None:
    """Return the least distance between two of a head's control points, None where it is not known or there is none."""
    distance = head.points.smallest_distance() if isinstance(head.points, PointSet) else 0.0
    return distance if 0.0 < distance <= np.pi else None


def _has_riemann_values(head: CoreHead | SplitHead, target: Target) -> bool:
    """Tell whether a head's values are those that the theorems speak of, c exp(lambda) w_k f(b_k) or f(b_k)."""
    try:
        if isinstance(head, CoreHead):
            stated = core_values(
                target, head.control_points if head.points is None else head.points, head.concentration
            )
        else:
            stated = target(head.control_points)
    except ValueError:  # the target fails here, or the peak is beyond the floats
        return False
    if stated.shape != head.values.shape:
        return False
    size = SAME[min(head.values.dtype, stated.dtype)] * np.abs(stated).max()
    return bool(np.abs(np.subtract(head.values, stated, dtype=np.float64)).max() <= size)


def _obstacle(theorem: str, head: CoreHead | SplitHead, target: Target, riemann: bool) -> str:
    """Say why a theorem does not speak of this head and target; empty when it does."""
    if target.lipschitz is None:
        return "needs the target's Lipschitz constant (lipschitz=)"
    if not np.array_equal(nodes(head.control_points if head.points is None else head.points)[0], head.control_points):
        return "needs control points that are what head.points says"
    if not riemann:
        return "needs Riemann coefficients: the values that coefficients='riemann' gives for this target"
    if "core" in theorem and target.sup_norm is None:
        return "needs the target's sup norm (sup_norm=)"
    return _lack(theorem, head)


def _lack(theorem: str, head: CoreHead | SplitHead) -> str:
    """Say what a theorem needs of the control points that is not known of them; empty when nothing is."""
    points = head.points
    if theorem == "sharp-core-quadrature":
        exact = isinstance(points, PointSet) and points.degree is not None and bool((points.weights > 0.0).all())
        return "" if exact else "needs positive weights and the degree of exactness (PointSet's degree=)"
    if theorem != "sharp-split" and not isinstance(points, EqualMeasurePartition):
        return "needs an equal-measure partition"
    if theorem == "sharp-core-centroid" and getattr(points, "center_kind", "") != "centroid":
        return "needs the cells' centroids (centers='centroid')"
    return "" if known_radius(head) is not None else "needs the covering radius of the points"


def _upper(theorem: str, head: CoreHead | SplitHead, target: Target, error: ErrorInterval, riemann: bool) -> Check:
    obstacle = _obstacle(theorem, head, target, riemann)
    if obstacle:
        return Check(theorem, None, error.lower, "not applicable", obstacle)
    assert target.lipschitz is not None
    bound = error_bound(
        dim=head.dim,
        theorem=theorem,
        lipschitz=max(target.lipschitz, SMALLEST),  # 0 is a constant
        exponent=target.exponent,
        concentration=head.concentration,
        radius=None if theorem == "sharp-core-quadrature" else known_radius(head),
        n=len(head.control_points),
        separation=known_separation(head),
        degree=head.points.degree if isinstance(head.points, PointSet) else None,
        sup_norm=None if target.sup_norm is None else max(target.sup_norm, SMALLEST),
    )
    if bound.failed:
        return Check(theorem, bound, error.lower, "not applicable", "needs " + " and ".join(bound.failed))
    allowance = ROUNDING * max(bound.value, target.sup_norm or 0.0)
    verdict: Verdict = "violated" if error.lower > bound.value + allowance else "holds"
    return Check(theorem, bound, error.lower, verdict)


def _lower(head: SplitHead, target: Target, n: int, workers: int, rng: np.random.Generator | int | None) -> Check:
    if not target.lipschitz or target.exponent != 1.0:
        lacks = "the exponent 1" if target.lipschitz else "a Lipschitz constant > 0"
        return Check("lower", None, None, "not applicable", f"needs {lacks}")
    bound = error_bound(dim=head.dim, theorem="lower", lipschitz=target.lipschitz, n=len(head.control_points))
    worst = worst_case_error(
        head.control_points if head.points is None else head.points, head.concentration, n=n, workers=workers, rng=rng
    )
    worst = replace(worst, lower=target.lipschitz * worst.lower, upper=target.lipschitz * worst.upper)
    if worst.upper < bound.value * (1.0 - ROUNDING):
        return Check("lower", bound, worst.upper, "violated", "worst-case error of these points")
    verdict: Verdict = "holds" if worst.lower >= bound.value * (1.0 - ROUNDING) else "undecided"
    return Check("lower", bound, worst.lower, verdict, "worst-case error of these points")
