"""Proofs that an error is nowhere above a number: branch and bound over cells of the sphere."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ... import special
from ..._types import Float64
from ..certificate import Certificate
from ..interval import ErrorInterval
from ..search import largest_error
from .angles import MeanAngle
from .checkpoint import fingerprint, keep_state
from .derivatives import Derivative
from .function import as_function
from .heads import HeadError
from .search import Error, Options, State, prove, show_progress
from .symmetry import Subspace

_SPACING = 0.5
"""Radius of the first cells at least, as a share of that of caps with the measure of a control point's share."""


@dataclass(frozen=True)
class Budget:
    """What a proof may take: the slack, the number of evaluations, threads, a bar, a file and the time that ends it."""

    slack: float
    max_evaluations: float
    workers: int | None
    progress: bool
    checkpoint: Any
    deadline: float = math.inf


def prove_head(
    head: Any, target: object, measured: ErrorInterval, error: Callable[[Float64], Float64], budget: Budget
) -> ErrorInterval:
    """Prove an upper bound of a head's error on a target, from the measured interval and the error's function."""
    function = as_function(target)
    if isinstance(function, str):
        return replace(measured, certificate=Certificate(math.inf, function, math.inf))
    problem = HeadError.of(head, function)
    digest = fingerprint(problem.b, problem.values, head.concentration, head.family, function.target.name or "")
    axes = function.target.axes
    subspace = None if axes is None else Subspace.of(np.concatenate([axes, problem.b]))
    if subspace is not None:
        function = replace(
            function, target=subspace.restrict(function.target),
            value_error=function.value_error + function.slope * subspace.deviation**function.exponent,
        )  # fmt: skip
        problem = replace(problem, function=function, b=problem.b @ subspace.basis, deviation=subspace.deviation)
    interval = _prove(problem, measured, error, function.remainder, digest, budget, subspace)
    assert interval.certificate is not None
    return replace(interval, certificate=replace(interval.certificate, constants=function.constants))


def prove_angle(
    rows: Float64, concentration: float, measured: ErrorInterval, error: Callable[[Float64], Float64], budget: Budget
) -> ErrorInterval:
    """Prove an upper bound of the mean angle W to control points (n, dim+1)."""
    subspace = Subspace.of(rows)
    problem = MeanAngle(rows if subspace is None else rows @ subspace.basis, concentration)
    digest = fingerprint(rows, concentration, "W")
    return _prove(problem, measured, error, remainder=0.0, digest=digest, budget=budget, subspace=subspace)


def prove_derivative(problem: Derivative, measured: ErrorInterval, budget: Budget) -> ErrorInterval:
    """Prove an upper bound of the size of a head's derivative, from the measured interval."""
    return _prove(problem, measured, problem.sizes, remainder=0.0, digest="", budget=budget, subspace=None)


def _prove(
    problem: MeanAngle | HeadError | Derivative, measured: ErrorInterval, error: Callable[[Float64], Float64],
    remainder: float, digest: str, budget: Budget, subspace: Subspace | None,
) -> ErrorInterval:  # fmt: skip
    """Prove an upper bound of an error from the largest one measured; a larger one that is met replaces it."""
    n, columns = problem.b.shape
    least = _SPACING * float(special.cap_angle(columns - 1, -math.log(n)))
    state = State(measured.lower, measured.at if subspace is None else subspace.inward(measured.at), budget.slack)
    digest = fingerprint(digest, budget.slack, measured.lower, measured.at)
    climb = partial(_climb, error if subspace is None else lambda y: error(subspace.outward(y)))
    with keep_state(budget.checkpoint, digest, state) as save, show_progress(budget.progress) as show:

        def report(state: State) -> None:
            show(state)
            save(state)

        options = Options(budget.max_evaluations, budget.workers, report, budget.deadline)
        checked: Error = problem
        certificate = prove(checked, state, climb, least, remainder, options)
    at = state.at if subspace is None else subspace.outward(state.at)
    return ErrorInterval(state.lower, certificate.upper, at, certificate)


def _climb(error: Callable[[Float64], Float64], x: Float64, value: float) -> ErrorInterval:
    """Follow an error uphill from a point where it has a value."""
    interval = largest_error(error, x[None, :], 1, rng=np.random.default_rng(0), progress=False)
    return interval if interval.lower >= value else replace(interval, lower=value, at=x.copy())
