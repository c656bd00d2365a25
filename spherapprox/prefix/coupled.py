"""A lower bound of the error of prefixes whose keys and values are bounded, at several queries, by linear programs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._types import Float64, Indices
from .pairs import sizes
from .wishes import Problem

_FARTHEST = 3.0
"""Pairs of queries with larger log kappa say too little to be worth their rows."""
_MARGIN = 1e-6
"""What is taken off the answer for the solver's tolerance, in units of the data."""
_STEPS = 24
_APART = 20.0
"""Contexts whose log masses differ by more are not coupled: the coefficients would be rounded away."""
_ROWS = 20_000
"""Rows of the program that couple queries: the nearest queries come first."""


def coupled_floor(problem: Problem) -> float:
    """Return the bound in the maximum norm (docs/theorems/8.3-near-equal-queries.md)."""
    unit = max(problem.size, problem.limits.value_bound)
    if not unit > 0.0:
        return 0.0
    program = _program(problem, unit)
    low, high = 0.0, 2.0
    if program.feasible(0.0):
        return 0.0
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if program.feasible(middle) else (middle, high)
    least = unit * max(low - _MARGIN, 0.0)
    nothing = float(np.abs(problem.targets - problem.means).max())
    return least if problem.limits.length is not None else min(least, nothing)


@dataclass(frozen=True, eq=False)
class _Program:
    """Constraints on a_i = psi_i / Psi_i and b_i = u_i / Psi_i, the latter p numbers each, for every context i.

    `coupling` are those that hold for every error, as a sparse matrix whose products with (a, b) are at most 0.
    """

    targets: Float64
    change: Float64
    coupling: Any
    limits: list[tuple[float, float | None]]

    def feasible(self, error: float) -> bool:
        """Tell whether the constraints of a prefix within an error can be met, for all that the solver knows."""
        from scipy.optimize import linprog
        from scipy.sparse import csr_array, vstack

        n, p = self.targets.shape
        rows, i = np.arange(n * p), np.repeat(np.arange(n), p)
        target, change = self.targets.ravel(), self.change.ravel()
        parts, right = [self.coupling], [np.zeros(self.coupling.shape[0])]
        for sign in (1.0, -1.0):  # |b - a T - D| <= e (a + 1)
            entries = np.concatenate([np.full(n * p, sign), -sign * target - error])
            columns = np.concatenate([n + rows, i])
            parts.append(csr_array((entries, (np.tile(rows, 2), columns)), (n * p, n + n * p)))
            right.append(sign * change + error)
        found = linprog(
            np.zeros(n + n * p), A_ub=vstack(parts, format="csr"), b_ub=np.concatenate(right), bounds=self.limits,
            method="highs",
        )  # fmt: skip
        return int(found.status) != 2  # all but "infeasible" counts as feasible: the bound stays one


def _program(problem: Problem, unit: float) -> _Program:
    """Return the program of a problem in units of its numbers."""
    targets, means, log_masses = problem.targets / unit, problem.means / unit, problem.log_masses
    length, reach = problem.limits.length, problem.scale * (problem.limits.key_norm or 0.0)
    value_bound, query = problem.limits.value_bound / unit, problem.query
    n, p = targets.shape
    size = reach * sizes(query)
    gaps = reach * np.array([sizes(query - row) for row in query])
    apart = np.abs(log_masses[:, None] - log_masses)
    i, j = np.nonzero((gaps < _FARTHEST) & (apart < _APART) & ~np.eye(n, dtype=bool))
    nearest = np.argsort(gaps[i, j], kind="stable")[: _ROWS // (1 + 2 * p)]
    coupling = _coupling(i[nearest], j[nearest], gaps[i, j][nearest], log_masses, p, value_bound)
    tokens = math.log(length or 1)
    low = np.exp(np.clip(tokens - size - log_masses, -700.0, 30.0))
    high = np.exp(np.clip(tokens + size - log_masses, -700.0, 700.0))
    bounded = length is not None
    limits = [(float(a), float(b) if bounded and b < 1e15 else None) for a, b in zip(low, high, strict=True)]
    return _Program(targets, targets - means, coupling, [*limits, *[(-np.inf, None)] * (n * p)])


def _coupling(i: Indices, j: Indices, gaps: Float64, log_masses: Float64, p: int, value_bound: float) -> Any:
    """Return the rows that hold for every error: of the bound of values, and of pairs of near queries."""
    from scipy.sparse import csr_array

    n, pairs = len(log_masses), len(i)
    own, rows = np.repeat(np.arange(n), p), np.arange(n * p)
    entries, at, columns, count = [], [], [], 0

    def add(*terms: tuple[Any, Indices]) -> None:
        nonlocal count
        size = len(terms[0][1])
        for factor, column in terms:
            entries.append(np.broadcast_to(factor, size))
            at.append(count + np.arange(size))
            columns.append(column)
        count += size

    mass = (
        np.exp(np.minimum(log_masses[i] - log_masses[j], 0.0)),
        np.exp(np.minimum(log_masses[j] - log_masses[i], 0.0)),
    )
    kappa = np.exp(gaps)
    add((mass[0] / kappa, i), (-mass[1], j))  # psi_i <= kappa psi_j
    several = np.repeat(np.arange(pairs), p)
    c = np.tile(np.arange(p), pairs)
    left, right = n + i[several] * p + c, n + j[several] * p + c
    for sign in (1.0, -1.0):
        add((sign, n + rows), (-value_bound, own))  # |u_i| <= V psi_i
        spread = -value_bound * np.expm1(gaps) * mass[1]
        add((sign * mass[0][several], left), (-sign * mass[1][several], right), (spread[several], j[several]))
    data = np.concatenate(entries), (np.concatenate(at), np.concatenate(columns))
    return csr_array(data, (count, n + n * p))
