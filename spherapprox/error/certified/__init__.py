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
from ..records import Certificate, ErrorInterval
from ..search import largest_error
from .angles import MeanAngle
from .checkpoint import fingerprint, keep_state
from .derivatives import AnyDerivative
from .function import as_function
from .heads import HeadError
from .search import Error, Options, State, prove, show_progress

_SPACING = 0.5
"""Radius of the first cells at least, as a share of that of caps with the measure of a control point's share."""
_RANK = 1e-14
"""Singular values up to this share of the largest count as roundings of 0."""


@dataclass(frozen=True)
class Budget:
    """What a proof may take: the slack, the number of evaluations, threads, a bar, a file and the time that ends it."""

    slack: float
    max_evaluations: float
    workers: int | None
    progress: bool
    checkpoint: Any
    deadline: float = math.inf


@dataclass(frozen=True)
class Subspace:
    """A subspace of R^(m+1) with an orthonormal basis (m+1, k+1) whose first k vectors span rows given.

    A function of the inner products with the rows takes all its values on the unit sphere S^k of the subspace.
    `deviation` is the largest distance of a row from its span.
    """

    basis: Float64
    deviation: float

    @classmethod
    def of(cls, rows: Float64) -> Subspace | None:
        """Return the subspace of rows (n, m+1), None unless k < m."""
        columns = rows.shape[1]
        singular, right = np.linalg.svd(rows, full_matrices=len(rows) < columns)[1:]
        rank = int((singular > _RANK * singular[0]).sum())
        if rank >= columns - 1:
            return None
        basis = np.ascontiguousarray(right[: rank + 1].T)  # (m+1, k+1)
        off = rows - (rows @ basis[:, :rank]) @ basis[:, :rank].T
        return cls(basis, float(np.linalg.norm(off, axis=1).max()) + 1e-15)

    def inward(self, x: Float64) -> Float64:
        """Return a point of S^k with the same inner products as a point of S^m."""
        y = x @ self.basis
        y[-1] = math.sqrt(max(0.0, 1.0 - float(y[:-1] @ y[:-1])))
        return np.asarray(y / np.linalg.norm(y))

    def outward(self, y: Float64) -> Float64:
        """Return points of S^k, rows or one, as points of S^m."""
        return np.asarray(y @ self.basis.T)


def prove_head(
    head: Any, target: object, interval: ErrorInterval, *, error: Callable[[Float64], Float64], budget: Budget
) -> ErrorInterval:
    """Prove an upper bound of a head's error on a target, from the measured interval and the error's function."""
    function = as_function(target)
    if isinstance(function, str):
        return replace(interval, certificate=Certificate(math.inf, function, math.inf))
    problem = HeadError.of(head, function)
    digest = fingerprint(problem.b, problem.values, head.concentration, head.family, function.target.name or "")
    axes = function.target.axes
    subspace = None if axes is None else Subspace.of(np.concatenate([axes, problem.b]))
    if subspace is not None:
        value_error = function.value_error + function.slope * subspace.deviation**function.exponent
        # 6.5, symmetry: the target on S^k, whose constants are no larger
        original, outward, k = function.target, subspace.outward, subspace.basis.shape[1] - 1
        target = replace(original, function=lambda y: original(outward(y)), dim=k, axes=None)
        function = replace(function, target=target, value_error=value_error)
        problem = replace(problem, function=function, b=problem.b @ subspace.basis, deviation=subspace.deviation)
    options: Any = {"remainder": function.remainder, "digest": digest, "subspace": subspace}
    interval = _prove(problem, interval, error, budget=budget, **options)
    assert interval.certificate is not None
    return replace(interval, certificate=replace(interval.certificate, constants=function.constants))


def prove_angle(
    rows: Float64, concentration: float, interval: ErrorInterval, *, error: Callable[[Float64], Float64], budget: Budget
) -> ErrorInterval:
    """Prove an upper bound of the mean angle W to control points (n, dim+1)."""
    subspace = Subspace.of(rows)
    problem = MeanAngle(rows if subspace is None else rows @ subspace.basis, concentration)
    digest = fingerprint(rows, concentration, "W")
    return _prove(problem, interval, error, digest=digest, budget=budget, subspace=subspace)


def prove_derivative(problem: AnyDerivative, interval: ErrorInterval, budget: Budget) -> ErrorInterval:
    """Prove an upper bound of the size of a head's derivative, from the measured interval."""
    return _prove(problem, interval, problem.sizes, budget=budget)


def _prove(
    problem: MeanAngle | HeadError | AnyDerivative, interval: ErrorInterval, error: Callable[[Float64], Float64], *,
    budget: Budget, remainder: float = 0.0, digest: str = "", subspace: Subspace | None = None,
) -> ErrorInterval:  # fmt: skip
    """Prove an upper bound of an error from the largest one measured; a larger one that is met replaces it."""
    n, columns = problem.b.shape
    least = _SPACING * float(special.cap_angle(columns - 1, -math.log(n)))
    state = State(interval.lower, interval.at if subspace is None else subspace.inward(interval.at), budget.slack)
    digest = fingerprint(digest, budget.slack, interval.lower, interval.at)
    climb = partial(_climb, error if subspace is None else lambda y: error(subspace.outward(y)))
    with keep_state(budget.checkpoint, digest, state) as save, show_progress(budget.progress) as show:

        def report(state: State) -> None:
            show(state)
            save(state)

        options = Options(budget.max_evaluations, budget.workers, report, deadline=budget.deadline)
        checked: Error = problem
        certificate = prove(checked, state, climb, least=least, remainder=remainder, options=options)
    at = state.at if subspace is None else subspace.outward(state.at)
    return ErrorInterval(state.lower, certificate.upper, at, certificate=certificate)


def _climb(error: Callable[[Float64], Float64], x: Float64, value: float) -> ErrorInterval:
    """Follow an error uphill from a point where it has a value."""
    interval = largest_error(error, x[None, :], 1, rng=np.random.default_rng(0), progress=False)
    return interval if interval.lower >= value else replace(interval, lower=value, at=x.copy())
