"""One head of a study: how its concentration is chosen, its measured errors, and what every theorem says of it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from scipy.optimize import minimize_scalar

from spherapprox import sphere
from spherapprox._types import Floats
from spherapprox.error import ErrorInterval, lengths, sup_error
from spherapprox.heads.head import Head
from spherapprox.heads.registry import FAMILIES
from spherapprox.partition import EqualMeasurePartition
from spherapprox.target import Target

from ._bound import Bound, Hypothesis
from ._problem import SMALLEST, WIDEST
from .api import prefix_length
from .inverse import best_concentration, error_bound
from .validate import validate
from .verdicts import Validation

_THEOREMS = {"core": ("sharp-core",), "split": ("sharp-split-mean", "sharp-split")}
_THESIS = {"core": "thesis-core", "split": "thesis-split"}
_THESIS_VECTOR = {"core": "thesis-vector", "split": "thesis-split"}
"""What the thesis says of targets with several components, at most dim + 1 of them."""
_SEARCH_POINTS = 3000


@dataclass(frozen=True)
class Row:
    """One head of a study: its errors and its bounds, in the target's unit; None where a theorem does not speak.

    Parameters
    ----------
    n : int
        Number of control points.
    head : {"core", "split"}
    choice : {"theory", "best", "mean", "fixed"}
        How the concentration was chosen.
    concentration : float
        lambda.
    radius : float
        Of the partition's largest cell, in radians.
    error : float
        The largest error found.
    relative_error : float or None
        Its share of the target's sup norm; None where that is 0 or not stated.
    sharp_core, sharp_split_mean, sharp_split_equal, sharp_split : float or None
        A-priori bounds of the sup error; `bound` is the least of them.
    floor : float or None
        No method that samples at n points promises less for every target of this Lipschitz constant.
    verdict : str
        Of the least bound, as in `bounds.validate`, or "violated" with the theorems that the error contradicts; empty
        where the target states no Lipschitz constant. Where one was estimated, "(estimated constants)" follows.
    thesis_concentration, thesis_log10_n : float or None
        Lambda(eps) and log10 N(lambda, eps) of the thesis for the error achieved, C_R = C_H = 1.
    thesis_needs : str
        The hypotheses of the thesis that fail.
    mean_error : float
        The mean of the errors over the sphere, at a random sample.

    Examples
    --------
    >>> import bounds
    >>> from spherapprox import targets
    >>> found = bounds.study.run(targets.distance(2), [100], choices=["theory"], points=500)
    >>> core, split = found.rows
    >>> split.n, split.head, split.choice, split.verdict
    (100, 'split', 'theory', 'holds')
    >>> split.floor <= split.bound == split.sharp_split_equal < split.sharp_split_mean
    True
    >>> split.sharp_core is None, split.thesis_needs
    (True, 'needs dim >= 8')
    """

    n: int
    head: str
    choice: str
    concentration: float
    radius: float
    error: float
    relative_error: float | None
    sharp_core: float | None
    sharp_split_mean: float | None
    sharp_split_equal: float | None
    sharp_split: float | None
    floor: float | None
    verdict: str
    thesis_concentration: float | None
    thesis_log10_n: float | None
    thesis_needs: str
    mean_error: float

    @property
    def bound(self) -> float | None:
        """The smallest a-priori bound that applies to this head."""
        bounds = (self.sharp_core, self.sharp_split_mean, self.sharp_split_equal, self.sharp_split)
        known = [b for b in bounds if b is not None]
        return min(known, default=None)


@dataclass(frozen=True)
class Measure:
    """The target with its values at a random sample, and the settings by which errors are measured."""

    target: Target
    estimated: tuple[str, ...]
    points: int
    sample: Floats
    values: Floats
    rng: np.random.Generator | int | None
    workers: int | None

    def errors(self, head: Head, first: int | None = None) -> Floats:
        """Return the errors at the first points of the sample."""
        return _lengths(head(self.sample[:first], workers=self.workers) - self.values[:first])


def _lengths(values: Floats) -> Floats:
    return lengths(values.reshape(len(values), -1))


def one(measure: Measure, partition: EqualMeasurePartition, kind: str, way: str | float) -> tuple[Head, Row]:
    """Make and measure one head."""
    target, n, radius = measure.target, len(partition), partition.cell_radius()
    known = target(partition.centers())

    def make(concentration: float) -> Head:
        with warnings.catch_warnings():  # a head may be useless: its error is measured
            warnings.simplefilter("ignore", RuntimeWarning)
            return FAMILIES[kind].from_target(lambda _: known, partition, concentration)

    if way == "theory":
        concentration = _theory(target, kind, radius, n)
    elif isinstance(way, str):
        concentration = _search(measure, make, radius, mean=way == "mean")
    else:
        concentration = float(way)
    head = make(concentration)
    return head, _row(measure, head, radius, kind, way if isinstance(way, str) else "fixed")


def _row(measure: Measure, head: Head, radius: float, kind: str, choice: str) -> Row:
    """Measure a head and hold its error against theory."""
    target = measure.target
    error = sup_error(head, target, n=measure.points, rng=measure.rng, workers=measure.workers)
    said = {} if target.lipschitz is None else _theorems(measure, head, error, kind)
    return Row(
        n=len(head),
        head=kind,
        choice=choice,
        concentration=head.concentration,
        radius=radius,
        error=error.lower,
        relative_error=error.lower / target.sup_norm if target.sup_norm else None,
        mean_error=float(measure.errors(head).mean()),
        **(_SILENT | said),
    )


_SILENT: dict[str, Any] = dict.fromkeys(
    ("sharp_core", "sharp_split_mean", "sharp_split_equal", "sharp_split", "floor", "thesis_concentration",
     "thesis_log10_n")
) | {"verdict": "", "thesis_needs": ""}  # fmt: skip
"""What is said of a target without a Lipschitz constant."""


def _theorems(measure: Measure, head: Head, error: ErrorInterval, kind: str) -> dict[str, Any]:
    """Return the columns of a row that need the target's constants."""
    target = measure.target
    validation = validate(head, target, error=error, worst_case=False, claims=False)
    values = {c.theorem: c.bound.value for c in validation.checks if c.bound is not None and c.bound.holds}
    names = ("sharp-core", "sharp-split-mean", "sharp-split-equal", "sharp-split")
    floor = error_bound(
        dim=target.dim, theorem="lower", lipschitz=_lipschitz(target), exponent=target.exponent, n=len(head),
        sup_norm=_sup_norm(target),
    )  # fmt: skip
    thesis = _thesis(target, kind, error.lower, head.n_outputs)
    needs = "" if thesis is not None else "the target's sup norm"
    if thesis is not None and not thesis.holds:
        needs = " and ".join(thesis.failed)
    return {name.replace("-", "_"): values.get(name) for name in names} | {
        "floor": floor.value,
        "verdict": _verdict(validation) + (" (estimated constants)" if measure.estimated else ""),
        "thesis_concentration": None if thesis is None else thesis.concentration,
        "thesis_log10_n": None if needs or thesis is None else thesis.log10,
        "thesis_needs": needs and "needs " + needs,
    }


def _verdict(validation: Validation) -> str:
    """Return the verdict of the least bound that applies, or the theorems that the error contradicts."""
    if validation.violated:
        return "violated: " + ", ".join(validation.violated)
    checks = [(c.bound.value, c.verdict) for c in validation.checks if c.bound is not None and c.bound.holds]
    return str(min(checks, default=(math.inf, "not applicable"))[1])


def _lipschitz(target: Target) -> float:
    assert target.lipschitz is not None
    return max(target.lipschitz, SMALLEST)  # 0 is a constant


def _sup_norm(target: Target) -> float | None:
    return None if target.sup_norm is None else max(target.sup_norm, SMALLEST)


def _theory(target: Target, kind: str, radius: float, n: int) -> float:
    """Return the concentration with the smallest a-priori bound."""
    bounds: list[Bound] = [
        best_concentration(
            dim=target.dim, theorem=theorem, lipschitz=_lipschitz(target), radius=radius, n=n,
            sup_norm=_sup_norm(target), exponent=target.exponent,
        )
        for theorem in _THEOREMS[kind]
    ]  # fmt: skip
    best = min(bounds, key=lambda bound: bound.log)
    assert best.concentration is not None
    return best.concentration


def _search(measure: Measure, make: Callable[[float], Head], radius: float, *, mean: bool) -> float:
    """Return the concentration with the smallest error on a sample: a coarse grid, then a local search."""
    target, count = measure.target, min(_SEARCH_POINTS, measure.points)
    controls = make(0.0).control_points  # where a kernel that is too narrow peaks, and poles of the catalogue's targets
    few = controls[np.linspace(0, len(controls) - 1, min(count // 2, len(controls))).astype(int)]
    x = np.concatenate([sphere.uniform(target.dim, count, rng=0), few])
    wanted = target(x)

    def error(log_concentration: float) -> float:
        head = make(math.exp(log_concentration))
        if mean:
            return float(measure.errors(head, count).mean())
        return float(_lengths(head(x, workers=measure.workers) - wanted).max())

    grid = np.linspace(math.log(0.03), math.log(40.0) - 2.0 * math.log(min(radius, 1.0)), 20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # some of these are too narrow, and so lose the search
        errors = [error(float(g)) for g in grid]
        i = int(np.argmin(errors))
        low, high = grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)]
        found = minimize_scalar(error, bounds=(low, high), method="bounded", options={"maxiter": 12})
    return math.exp(float(found.x) if found.fun <= errors[i] else float(grid[i]))


def _thesis(target: Target, kind: str, eps: float, n_outputs: int | None) -> Bound | None:
    """Return the thesis's prefix length for the error achieved; 4.14 and 4.15 speak of dim + 1 components."""
    if target.sup_norm is None:
        return None
    lipschitz = _lipschitz(target)
    low, high = 10.0 * SMALLEST * lipschitz, 0.1 * WIDEST * lipschitz
    bound = prefix_length(
        min(max(eps, low), high), dim=target.dim, lipschitz=lipschitz, sup_norm=max(target.sup_norm, low),
        exponent=target.exponent, theorem=(_THESIS if n_outputs in (None, 1) else _THESIS_VECTOR)[kind], ragozin=1.0,
    )  # fmt: skip
    fits = Hypothesis("at most dim + 1 components", (n_outputs or 1) <= target.dim + 1)
    return cast("Bound", bound if fits.holds else replace(bound, hypotheses=(*bound.hypotheses, fits)))
