"""The parts of an error, each held against the bound that theorems use for it: kernel, control points, denominator."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev

from spherapprox import CoreHead, Target, points, special, sup_error
from spherapprox._types import Float64
from spherapprox.error import ErrorInterval, lengths
from spherapprox.partition import EqualMeasurePartition
from spherapprox.vmf import VonMisesFisher

from ..error import promised
from ..records.bound import Bound
from ..records.theorem import Prefix
from ..theorems import convolution
from ..theorems._degrees import log_gauss_points, log_harmonics, log_tail
from ..theorems._options import check_options
from ..theorems.requirements import RULE
from . import claims as attempts
from .check import Check, Quantity
from .judgement import Case, judged, with_estimates, without_refuted

NODES = 20_000
"""Points of a quadrature by which a convolution is computed, at most."""
RADII, ANGLES = 160, 30
"""Nodes of the radial rule, and degree of the rule of directions, by which a convolution is computed at one point."""

CACHED = 2**15
"""Numbers that are worked on at a time."""

Values = Callable[[Any], Float64]


def of_lemmas(case: Case) -> Iterator[Check]:
    """Hold ``|f - K*f|``, for core heads ``|K*f - h|``, and the denominator against their bounds."""
    case.announce("lemmas")
    smoothed = smoothing(case.target, case.concentration)
    yield _convolution(case, smoothed)
    if case.head.family == "core":
        yield _discretisation(case, smoothed)
    yield _denominator(case)


def smoothing(target: Target, concentration: float) -> Values | None:
    """Return ``f - K*f`` of a polynomial f by its projections; None where these take too many points."""
    degree, dim = target.degree, target.dim
    if degree is None or target.remainder or log_gauss_points(2.0 * degree, dim) > math.log(NODES):
        return None
    rule = points.gauss_product(dim, 2 * degree)
    complements = VonMisesFisher(dim, concentration).eigenvalue_complement(np.arange(degree + 1))
    sizes = np.exp([log_harmonics(float(k), dim) for k in range(degree + 1)])
    weighted = (target(rule.points).T * rule.weights).T  # (J,) or (J, p)

    # f - K*f = sum_l (1 - a_l) Y_l, Y_l(x) = dim(H_l) int P_l(<x, y>) f(y) dsigma(y)
    t = chebyshev.chebpts1(degree + 1)
    kernel = (complements * sizes * special.gegenbauer(np.arange(degree + 1), dim, t[:, None])).sum(axis=1)
    series = np.linalg.solve(chebyshev.chebvander(t, degree), kernel)  # (degree+1,)
    rows = max(1, CACHED // len(rule))

    def values(x: Any) -> Float64:
        parts = [chebyshev.chebval(x[i : i + rows] @ rule.points.T, series) @ weighted for i in range(0, len(x), rows)]
        return np.concatenate(parts)  # (n,) or (n, p)

    return values


def _convolution(case: Case, smoothed: Values | None) -> Check:
    """Hold ``|f - K*f|`` against 4.1."""
    head, target = case.head, case.target
    if target.lipschitz is None:
        return _silent("convolution", "needs the target's Lipschitz constant (lipschitz=)")
    bound = promised(convolution.THEOREM, case.constants, Prefix(), **check_options(concentration=case.concentration))
    if smoothed is None:
        interval = _at_its_largest(case)
        if isinstance(interval, str):
            return _silent("convolution", interval)
    else:
        # the error of a constant head on the same constant more: Riesz's test takes no head that is 0
        shape = target(head.control_points[:1]).shape[1:]
        unit = target.sup_norm or 1.0
        constant = CoreHead(head.control_points[:1], np.full((1, *shape), unit), 0.0)
        size = (2.0 + math.sqrt(math.prod(shape))) * unit if target.sup_norm else None
        moved = Target(lambda x: smoothed(x) + unit, target.dim, degree=target.degree, sup_norm=size)
        interval = sup_error(constant, moved, **case.measuring("convolution"))
    return _held(case, "convolution", bound, interval=interval)


def _at_its_largest(case: Case) -> ErrorInterval | str:
    """Search for the largest ``|f - K*f|`` by a fine quadrature, and compute it there in polar coordinates."""
    target, dim, lam, search = case.target, case.target.dim, case.concentration, case.search
    degree = 2 * math.ceil(math.sqrt(40.0 * lam + 400.0) / 2.0)
    if log_gauss_points(float(degree), dim) > math.log(10.0 * NODES) or lam > 1e6:
        return "needs K*f: a stated degree, or a smaller concentration, in few dimensions"
    fine = CoreHead.from_target(target, points.gauss_product(dim, degree), lam)
    at = sup_error(fine, target, **search | {"n": min(search["n"], 2000)}).at
    # the error of either rule is about their difference
    coarse, better = (polar(target, lam, at, nodes=nodes) for nodes in (RADII // 2, RADII))
    here = target(at[None])[0].astype(np.float64)
    value = float(lengths(np.atleast_1d(here - better)))
    off = float(lengths(np.atleast_1d(better - coarse)))
    return ErrorInterval(max(value - off, 0.0), math.inf, at)


def polar(target: Target, concentration: float, x: Float64, nodes: int) -> Float64:
    """Return ``(K*f)(x)`` by a rule in polar coordinates about one point x (dim+1,)."""
    dim = target.dim
    # Step 1: radii where the kernel is above 1e-18 of its peak, with its mass
    farthest = 2.0 * math.asin(math.sqrt(min(1.0, 41.5 / (2.0 * max(concentration, 1e-300)))))
    t, w = np.polynomial.legendre.leggauss(nodes)
    theta = 0.5 * farthest * (t + 1.0)  # (nodes,)
    mass = w * np.exp(-2.0 * concentration * np.sin(0.5 * theta) ** 2) * np.sin(theta) ** (dim - 1)
    # Step 2: directions in the tangent space
    if dim == 1:
        e, share = np.array([[1.0], [-1.0]]), np.array([0.5, 0.5])
    else:
        rule = points.gauss_product(dim - 1, min(ANGLES, nodes // 4) if dim < 4 else 8)
        e, share = rule.points, rule.weights
    frame, _ = np.linalg.qr(np.column_stack([x, np.eye(dim + 1)]))  # x, then tangents
    directions = e @ frame[:, 1:].T  # (k, dim+1)
    # Step 3: the mean of the values
    rows = np.cos(theta)[:, None, None] * x + np.sin(theta)[:, None, None] * directions  # (nodes, k, dim+1)
    rows = rows.reshape(-1, dim + 1)
    values = target(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    return np.asarray(np.tensordot(np.outer(mass / mass.sum(), share).ravel(), values, axes=1))


def _discretisation(case: Case, smoothed: Values | None) -> Check:
    """Hold ``|K*f - h|`` of a core head on a partition against L rho^alpha + F D of 4.3."""
    head, target, lam = case.head, case.target, case.concentration
    cells = head.points
    if target.lipschitz is None or target.sup_norm is None:
        return _silent("discretisation", "needs the target's Lipschitz constant and sup norm")
    if not isinstance(cells, EqualMeasurePartition):
        return _silent("discretisation", "needs an equal-measure partition")
    if not case.riemann:
        return _silent("discretisation", "needs Riemann coefficients of this target")
    if smoothed is None:
        return _silent("discretisation", "needs K*f everywhere: a target with a stated degree, in few dimensions")
    radius = cells.cell_radius()
    # 4.3, without its first term
    moved = target.lipschitz * radius**target.exponent
    value = moved + target.sup_norm * float(VonMisesFisher(head.dim, lam).shift_variation(radius))
    bound = _bound("discretisation", value, lam, radius=radius)
    mean = Target(lambda x: target(x) - smoothed(x), target.dim, degree=target.degree, sup_norm=target.sup_norm)
    interval = sup_error(head, mean, **case.measuring("discretisation"))
    return _held(case, "discretisation", bound, interval=interval)


def _denominator(case: Case) -> Check:
    """Hold the core head of the function 1, which is d/(N c0) for equal weights, against 4.3 or 4.C."""
    head, lam = case.head, case.concentration
    spread = VonMisesFisher(head.dim, lam)
    cells: Any = head.control_points if head.points is None else head.points
    if isinstance(cells, EqualMeasurePartition):
        radius = cells.cell_radius()
        bound = _bound("denominator", float(spread.shift_variation(radius)), lam, radius=radius)
    elif not RULE.lack(cells):
        tail = math.exp(min(log_tail(float(cells.degree), lam, head.dim), 700.0))
        bound = replace(_bound("denominator", tail, lam), reference="docs/theorems/4.C-quadrature.md")
    else:
        return _silent("denominator", "needs an equal-measure partition, or " + RULE.lack(cells))
    unit = Target(lambda x: np.ones(len(x)), head.dim, degree=0, sup_norm=1.0, lipschitz=0.0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # kernels may be too narrow: this measures it
            constant = CoreHead.from_target(unit, cells, lam)
    except ValueError as complaint:
        return _silent("denominator", str(complaint))
    interval = sup_error(constant, unit, **case.measuring("denominator"))
    return replace(judged(bound, None, interval, claims=case.entering(attempts.EXACTNESS)), quantity="denominator")


def _bound(lemma: str, value: float, concentration: float, radius: float | None = None) -> Bound:
    """Record the bound of a lemma of 4.3."""
    log = math.log(value) if value > 0.0 else -math.inf
    page = "docs/theorems/4.3-core-head.md"
    return Bound(lemma, log, "upper", theorem=lemma, reference=page, concentration=concentration, radius=radius)


def _silent(quantity: Quantity, reason: str) -> Check:
    return Check(quantity, None, None, verdict="not applicable", reason=reason, quantity=quantity)


def _held(case: Case, quantity: Quantity, bound: Bound, interval: ErrorInterval) -> Check:
    """Hold the bound of a lemma, by a target's Lipschitz constant and sup norm, against what was found."""
    claims = case.entering(attempts.LIPSCHITZ, attempts.SUP_NORM)
    check = judged(bound, case.target.sup_norm, without_refuted(interval, case.claims), claims=claims)
    return with_estimates(replace(check, quantity=quantity), case.target, ("lipschitz", "sup_norm"))
