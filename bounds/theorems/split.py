"""What each theorem promises of a head: its error at a given concentration, radius and number of control points."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from spherapprox import _checks

from . import thesis
from ._bound import Bound, Hypothesis, Side
from ._known import require_dim
from ._problem import Problem
from .covering import SMALLEST_RADIUS, covering_radius
from .sharp import centroid, convolution, core, equal, pack, quadrature, spectral, split

LARGEST_N = 1e300

Promise = tuple[float, tuple[Hypothesis, ...]]
"""The log of an error bound, and its hypotheses."""


@dataclass(frozen=True)
class Head:
    """What is known of a head: its class of targets (a `Problem` whose eps is unused) and its control points."""

    problem: Problem
    sup_norm: float | None
    concentration: float
    radius: float
    n: float
    separation: float | None
    degree: int
    exactness: int = 0


def _convolution(head: Head) -> Promise:
    p = head.problem
    return math.log(
        convolution.convolution_error(head.concentration, p.dim, p.lipschitz, p.exponent, head.sup_norm)
    ), ()


def _core(head: Head) -> Promise:
    p = head.problem
    return math.log(core.core_error(head.concentration, head.radius, p.dim, p.lipschitz, p.sup_norm, p.exponent)), ()


def _centroid(head: Head) -> Promise:
    p = head.problem
    error = centroid.centroid_error(head.concentration, head.radius, p.dim, p.lipschitz, p.sup_norm, p.exponent)
    return math.log(error), (Hypothesis("control points at the centroids of their cells", True),)


def _quadrature(head: Head) -> Promise:
    p = head.problem
    error = quadrature.quadrature_error(head.concentration, head.degree, p.dim, p.lipschitz, p.sup_norm, p.exponent)
    exact = Hypothesis("degree >= 4", head.degree >= 4)
    return math.log(error), (Hypothesis("positive weights, exact to this degree", True), exact)


def _spectral(head: Head) -> Promise:
    p, n = head.problem, head.degree
    enough = Hypothesis("exactness >= 2 degree", head.exactness >= 2 * n)
    rule = Hypothesis("a polynomial of this degree; positive weights, exact to `exactness`", True)
    if not enough.holds:
        return math.inf, (rule, enough)
    log = spectral.log_spectral_error(p.concentration or 0.0, head.exactness - n, n, p.dim) + math.log(p.sup_norm)
    return log, (rule, enough)


def _of_angle(head: Head, log_w: float) -> float:
    """Return the log of L W^exponent, at most 2 F: a convex mean of L theta^exponent is no more (Jensen)."""
    p = head.problem
    log = math.log(p.lipschitz) + p.exponent * min(log_w, math.log(math.pi))
    return log if head.sup_norm is None else min(log, math.log(2.0 * head.sup_norm))


def _split_mean(head: Head) -> Promise:
    log_w = split.log_mean_error(head.concentration, head.radius, head.problem.dim)
    return _of_angle(head, log_w), (Hypothesis("cells of equal measure", True),)


def _split_equal(head: Head) -> Promise:
    log_w = equal.log_equal_error(head.concentration, head.radius, head.problem.dim)
    return _of_angle(head, log_w), (Hypothesis("cells of equal measure", True),)


def _split_nearest(head: Head) -> Promise:
    return _of_angle(head, split.log_nearest_error(head.concentration, head.radius, math.log(head.n))), ()


def _split_pack(head: Head) -> Promise:
    assert head.separation is not None
    log_w = pack.log_pack_error(head.concentration, head.radius, head.separation, head.problem.dim)
    return _of_angle(head, log_w), ()


def _split(head: Head) -> Promise:
    nearest = _split_nearest(head)
    return nearest if head.separation is None else min(nearest, _split_pack(head))


def _lower(head: Head) -> Promise:
    p = head.problem
    method = "best-lower" if p.covering == "best" else "lower"
    least = p.lipschitz * math.pow(covering_radius(head.n, dim=p.dim, method=method).value, p.exponent)
    least = least if head.sup_norm is None else min(least, head.sup_norm)
    return (math.log(least) if least > 0.0 else -math.inf), ()


def _thesis(head: Head) -> Promise:
    positive = head.concentration > 0.0
    log = thesis.core_error(head.concentration, head.radius, head.problem) if positive else math.inf
    return log, thesis.assumptions(head.problem)


@dataclass(frozen=True)
class Theorem:
    """What a theorem needs to know of a head, and what it promises."""

    side: Side
    reference: str
    needs: tuple[str, ...]
    promise: Callable[[Head], Promise]


ERROR = {
    "convolution": Theorem("upper", "docs/theorems.md, 4.1", ("concentration",), _convolution),
    "sharp-core": Theorem("upper", "docs/theorems.md, 4.3", ("concentration", "radius", "sup_norm"), _core),
    "sharp-core-centroid": Theorem(
        "upper", "docs/theorems.md, 4.D", ("concentration", "radius", "sup_norm"), _centroid
    ),
    "sharp-core-quadrature": Theorem(
        "upper", "docs/theorems.md, 4.C", ("concentration", "degree", "sup_norm"), _quadrature
    ),
    "sharp-core-spectral": Theorem(
        "upper", "docs/theorems.md, 4.7", ("concentration", "degree", "exactness", "sup_norm"), _spectral
    ),
    "sharp-split-mean": Theorem("upper", "docs/theorems.md, 4.4 (mean)", ("concentration", "radius"), _split_mean),
    "sharp-split-equal": Theorem("upper", "docs/theorems.md, 4.B", ("concentration", "radius"), _split_equal),
    "sharp-split-nearest": Theorem(
        "upper", "docs/theorems.md, 4.4 (nearest)", ("concentration", "radius", "n"), _split_nearest
    ),
    "sharp-split-pack": Theorem(
        "upper", "docs/theorems.md, 4.A", ("concentration", "radius", "separation"), _split_pack
    ),
    "sharp-split": Theorem(
        "upper", "docs/theorems.md, 4.4 (nearest) and 4.A", ("concentration", "radius", "n"), _split
    ),
    "lower": Theorem("lower", "docs/theorems.md, 4.5", ("n",), _lower),
    "thesis-core": Theorem("upper", "Petrov (2025), Theorem 4.12", ("concentration", "radius", "sup_norm"), _thesis),
}
"""Theorem -> the error that it promises, and the arguments without which it says nothing."""


def _require(theorem: str, needs: tuple[str, ...], given: dict[str, Any]) -> None:
    """Raise unless everything is given that a theorem needs; a radius may follow from n."""
    require_dim(given)
    for name in needs if theorem == "sharp-core-spectral" else ("lipschitz", *needs):
        if given[name] is None and not (name == "radius" and given["n"] is not None):
            raise TypeError(f"theorem='{theorem}' needs the argument '{name}', got None")


def head_of(theorem: str, given: dict[str, Any], **options: Any) -> Head:
    """Check what is said of a head, and fill in the radius that n control points can have."""
    _require(theorem, ERROR[theorem].needs, given)
    slope = 1.0 if given["lipschitz"] is None else given["lipschitz"]
    sup_norm = slope if given["sup_norm"] is None else given["sup_norm"]  # a missing one is not used
    constants = {"lipschitz": slope, "sup_norm": sup_norm, "exponent": given["exponent"]}
    problem = Problem.checked(slope, given["dim"], **constants, concentration=given["concentration"], **options)
    n, radius, separation = given["n"], given["radius"], given["separation"]
    count = math.nan if n is None else _checks.real(n, "n", minimum=1.0, maximum=LARGEST_N)
    if radius is not None:
        rho = _checks.real(radius, "radius", above=0.0, minimum=SMALLEST_RADIUS, maximum=math.pi)
    elif n is None or "radius" not in ERROR[theorem].needs:
        rho = math.nan
    else:
        rho = _radius(theorem, count, problem.dim, problem.covering)
    degrees = (
        0 if given[name] is None else _checks.integer(given[name], name, minimum=0, maximum=10**30)
        for name in ("degree", "exactness")
    )
    return Head(
        problem,
        None if given["sup_norm"] is None else problem.sup_norm,
        0.0 if problem.concentration is None else problem.concentration,
        rho,
        count,
        None if separation is None else _checks.real(separation, "separation", above=0.0, maximum=math.pi),
        *degrees,
    )


def _radius(theorem: str, n: float, dim: int, covering: str) -> float:
    """Return the least radius that is promised for n control points: of a cover, or of cells of equal measure."""
    if theorem in ("sharp-split-mean", "sharp-split-equal"):
        return split.equal_measure_radius(n, dim)
    return covering_radius(n, dim=dim, method=covering).value


def promised(theorem: str, head: Head) -> Bound:
    """Return the error that a theorem promises of a head."""
    stated = ERROR[theorem]
    log, hypotheses = stated.promise(head)
    used = None if math.isnan(head.radius) else head.radius
    lam = head.problem.concentration
    return Bound("sup error", log, stated.side, theorem, stated.reference, hypotheses, lam, used)
