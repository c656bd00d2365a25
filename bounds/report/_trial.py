"""One head of a study: the choice of its concentration, its measured errors, and its bounds."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Set
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from scipy.optimize import minimize_scalar

from spherapprox import SplitHead, sphere
from spherapprox._types import Floats
from spherapprox.error import ErrorInterval, Proof, lengths, sup_error
from spherapprox.heads.head import Head
from spherapprox.heads.registry import FAMILIES
from spherapprox.partition import EqualMeasurePartition
from spherapprox.target import CONSTANTS, Target

from ..api import prefix_length
from ..error import best_concentration, error_bound
from ..records.bound import Bound, Hypothesis
from ..records.problem import SMALLEST, WIDEST
from ..records.theorem import Prefix
from ..theorems import THEOREMS
from ..validation.api import validate
from ..validation.claims import LIPSCHITZ, SUP_NORM
from ..validation.judgement import proven
from ..validation.verdicts import Validation
from ._study import COLUMNS, Row

GUIDES = ("sharp-core", "sharp-split-mean", "sharp-split")
"""The theorems by which "theory" chooses a concentration."""
LOCAL = "second-order-local"
"""The theorem by which "second-order" chooses one."""
_SEARCH_POINTS = 3000
_COARSE = slice(None, None, 8)
"""Those of them at which a concentration is tried first."""
EVALUATIONS = {1: 1e7, 2: 1e7}
"""Evaluations that a proof may take, by dimension, 2e6 in others: some seconds."""


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
    certified: bool = False

    @property
    def largest(self) -> float:
        """The largest size of the values at the sample."""
        return float(_lengths(self.values).max())

    def errors(self, head: Head, first: int | None = None) -> Floats:
        """Return the errors at the first points of the sample."""
        return _lengths(head(self.sample[:first], workers=self.workers) - self.values[:first])


def _lengths(values: Floats) -> Floats:
    return lengths(values.reshape(len(values), -1))


def measure_head(measure: Measure, partition: EqualMeasurePartition, kind: str, way: str | float) -> tuple[Head, Row]:
    """Make and measure one head."""
    # Step 1: values at the centres, once for all concentrations
    target, n, radius = measure.target, len(partition), partition.cell_radius()
    values = target(partition.centers())

    def make(concentration: float) -> Head:
        with warnings.catch_warnings():  # a head may be useless: its error is measured
            warnings.simplefilter("ignore", RuntimeWarning)
            return FAMILIES[kind].from_target(lambda _: values, partition, concentration)

    # Step 2: the concentration
    if way == "theory":
        concentration = least_bound(target, kind, radius, n=n)
    elif way == "second-order":
        concentration = best_concentration(theorem=LOCAL, target=target, points=partition).concentration
    elif isinstance(way, str):
        concentration = least_error(measure, make, radius, mean=way == "mean")
    else:
        concentration = float(way)
    # Step 3: the errors, held against theory
    head = make(concentration)
    proof = Proof(max_evaluations=EVALUATIONS.get(target.dim, 2e6)) if measure.certified else False
    error = sup_error(head, target, n=measure.points, rng=measure.rng, workers=measure.workers, certified=proof)
    theorems = {} if target.lipschitz is None else _theorems(measure, head, error, kind=kind)
    upper, _ = proven(error)  # inf where it rests on estimates
    return head, Row(
        n=n, head=kind, choice=way if isinstance(way, str) else "fixed", concentration=concentration, radius=radius,
        error=error.lower, mean_error=float(measure.errors(head).mean()),
        relative_error=error.lower / measure.largest if target.sup_norm and measure.largest else None,
        upper=upper if upper <= 2.0 * error.lower else None, **(_SILENT | theorems),
    )  # fmt: skip


_POINTWISE = ("second-order", LOCAL)
_SILENT: dict[str, Any] = dict.fromkeys(
    (*(name.replace("-", "_") for name in COLUMNS), "floor", "thesis_concentration", "thesis_log10_n")
) | {"verdict": "", "thesis_needs": ""}
"""The columns of a target without a Lipschitz constant."""


def _theorems(measure: Measure, head: Head, error: ErrorInterval, *, kind: str) -> dict[str, Any]:
    """Return the columns that need the target's constants."""
    target = measure.target
    validation = validate(head, target, error=error, examine=())
    values = {c.theorem: c.bound.value for c in validation.checks if c.bound is not None and c.bound.holds}
    floor = error_bound(theorem="lower", target=target, points=Prefix(n=len(head)))
    thesis = _thesis(target, kind, error.lower, n_outputs=head.n_outputs)
    needs = "" if thesis is not None else "the target's sup norm"
    if thesis is not None and not thesis.holds:
        needs = " and ".join(thesis.failed)
    return {name.replace("-", "_"): values.get(name) for name in (*COLUMNS, *_POINTWISE)} | {
        "floor": floor.value,
        "verdict": _verdict(validation) + (" (estimated constants)" if measure.estimated else ""),
        "thesis_concentration": None if thesis is None else thesis.concentration,
        "thesis_log10_n": None if needs or thesis is None else thesis.log10,
        "thesis_needs": needs and "needs " + needs,
    }


def _verdict(validation: Validation) -> str:
    """Return the verdict of the least applicable bound, or the violated theorems."""
    if validation.violated:
        return "violated: " + ", ".join(validation.violated)
    own = [check for check in validation.checks if check.quantity == "error"]
    checks = [(c.bound.value, c.verdict) for c in own if c.bound is not None and c.bound.holds]
    return str(min(checks, default=(math.inf, "not applicable"))[1])


def without_refuted(row: Row, refuted: Set[str]) -> Row:
    """Take back what rests on refuted constants: the proof of the error, and what was said of the least bound."""
    verdict = row.verdict
    if verdict and not verdict.startswith("violated"):
        verdict = "not applicable" if refuted & {LIPSCHITZ, SUP_NORM} else verdict.replace("proved", "holds")
    return replace(row, upper=None, verdict=verdict)


def can_choose(way: str | float, kind: str, target: Target) -> bool:
    """Decide whether theory can choose a concentration in this way for heads of a family, from what is stated."""
    if way == "second-order":  # of heads that divide by the sum of their kernels
        return issubclass(FAMILIES[kind], SplitHead)
    return way != "theory" or bool(_guides(target, kind))


def _guides(target: Target, kind: str) -> list[str]:
    """Return the theorems for heads of a family whose constants a target states."""
    theorems = (THEOREMS[name] for name in GUIDES)
    states = {name for name in CONSTANTS if getattr(target, name) is not None}
    return [t.name for t in theorems if t.head == kind and states.issuperset({*t.needs} & {*CONSTANTS})]


def least_bound(target: Target, kind: str, radius: float, *, n: int) -> float:
    """Return the concentration with the smallest a-priori bound."""
    prefix = Prefix(n=n, radius=radius)
    bounds = [best_concentration(theorem=name, target=target, points=prefix) for name in _guides(target, kind)]
    best: Bound = min(bounds, key=lambda bound: bound.log)
    assert best.concentration is not None
    return best.concentration


def least_error(measure: Measure, make: Callable[[float], Head], radius: float, *, mean: bool) -> float:
    """Minimise the error on a sample over the concentration."""
    target, count = measure.target, min(_SEARCH_POINTS, measure.points)
    # Step 1: the sample, with some control points
    controls = make(0.0).control_points  # where a kernel that is too narrow peaks, and poles of the catalogue's targets
    controls = controls[np.linspace(0, len(controls) - 1, min(count // 2, len(controls))).astype(int)]
    x = np.concatenate([sphere.uniform(target.dim, count, rng=0), controls])  # (3/2 count, dim+1) at most
    values = target(x)

    def error(log_concentration: float, rows: slice = slice(None)) -> float:
        head = make(math.exp(log_concentration))
        if mean:
            return float(measure.errors(head, count).mean())
        return float(_lengths(head(x[rows], workers=measure.workers) - values[rows]).max())

    # Step 2: a coarse grid over log lambda
    grid = np.linspace(math.log(0.03), math.log(40.0) - 2.0 * math.log(min(radius, 1.0)), 20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # some of these are too narrow, and so lose the search
        errors = [error(float(g), _COARSE) for g in grid]
        if not mean:  # the largest error at some points is at most that at all: few of these are computed
            lower, errors = errors, [math.inf] * len(grid)
            for i in sorted(range(len(grid)), key=lower.__getitem__):
                errors[i] = error(float(grid[i])) if lower[i] < min(errors) else math.inf
        i = int(np.argmin(errors))
        # Step 3: a local search between its best neighbours
        low, high = grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)]
        local = minimize_scalar(error, bounds=(low, high), method="bounded", options={"maxiter": 12})
    return math.exp(float(local.x) if local.fun <= errors[i] else float(grid[i]))


def _thesis(target: Target, kind: str, eps: float, *, n_outputs: int | None) -> Bound | None:
    """Return the thesis's prefix length for the error achieved; 4.14 and 4.15 need at most dim + 1 components."""
    if target.sup_norm is None or target.lipschitz is None:
        return None
    lipschitz = max(target.lipschitz, SMALLEST)  # 0 is a constant
    theorem = "thesis-split" if kind == "split" else "thesis-core" if n_outputs in (None, 1) else "thesis-vector"
    low, high = 10.0 * SMALLEST * lipschitz, 0.1 * WIDEST * lipschitz
    bound = prefix_length(
        min(max(eps, low), high), dim=target.dim, lipschitz=lipschitz, sup_norm=max(target.sup_norm, low),
        exponent=target.exponent, theorem=theorem,
    )  # fmt: skip
    fits = Hypothesis("at most dim + 1 components", (n_outputs or 1) <= target.dim + 1)
    return cast("Bound", bound if fits.holds else replace(bound, hypotheses=(*bound.hypotheses, fits)))
