"""A lower bound of the error of prefixes whose keys and values are bounded, at several queries, by linear programs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...._norms import lengths
from ...._types import Float64, Indices
from .wishes import Wishes

_FARTHEST = 3.0
"""Pairs of queries with larger log kappa say too little to be worth their rows."""
_STEPS = 24
_APART = 20.0
"""Contexts whose log masses differ by more are not coupled: the coefficients would be rounded away."""
_ROWS = 20_000
"""Rows of the program that couple queries: the nearest queries come first."""
_ROUNDING = 1e-12
"""Sums of products are right to so much times the sum of their sizes, if log masses are of ordinary size."""
_ROUNDED_LOGS = 1e-15
"""What ratios of masses are off by, relatively, for each unit of their logarithms."""


def coupled_floor(wishes: Wishes) -> float:
    """Return the bound in the maximum norm (docs/theorems/8.3-near-equal-queries.md)."""
    unit = max(wishes.size, wishes.limits.value_bound)
    if not unit > 0.0:
        return 0.0
    program = _program(wishes, unit)
    low, high = 0.0, 2.0
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if program.excludes(middle) else (low, middle)
    nothing = float(np.abs(wishes.targets - wishes.means).max())
    return unit * low if wishes.limits.length is not None else min(unit * low, nothing)


@dataclass(frozen=True, eq=False)
class _Program:
    """Homogeneous constraints on h, ``a_i = h psi_i / Psi_i`` and ``b_i = h u_i / Psi_i``, the latter p numbers each.

    `coupling` are those that hold for every error, as a sparse matrix whose products with (h, a, b) are at most 0.
    """

    targets: Float64
    change: Float64
    coupling: Any
    value_bound: float
    rounding: float

    def excludes(self, error: float) -> bool:
        """Tell whether multipliers prove that no prefix has this error; those of the solver are checked here."""
        from scipy.optimize import linprog
        from scipy.sparse import csr_array, hstack, vstack

        n, p = self.targets.shape
        rows = vstack([self._outputs(error), self.coupling], format="csr")
        soft = np.concatenate([np.ones(2 * n * p), np.zeros(self.coupling.shape[0])])
        width = rows.shape[1]
        solution = linprog(
            np.append(np.zeros(width), 1.0), A_ub=hstack([rows, csr_array(-soft[:, None])], format="csr"),
            b_ub=np.zeros(len(soft)), A_eq=[[1.0] * (n + 1) + [0.0] * (n * p + 1)], b_eq=[1.0],
            bounds=[(0.0, None)] * (n + 1) + [(None, None)] * (n * p + 1), method="highs",
        )  # fmt: skip
        if solution.status != 0:
            return False
        multipliers = np.maximum(-solution.ineqlin.marginals, 0.0)
        sums, size = rows.T @ multipliers, abs(rows).T @ multipliers
        around = np.abs(sums[n + 1 :]).reshape(n, p) + self.rounding * size[n + 1 :].reshape(n, p)
        positive = sums[: n + 1] - self.rounding * size[: n + 1]
        positive[1:] -= self.value_bound * around.sum(axis=1)  # |b_i| <= V a_i
        return bool((positive > 0.0).all())

    def _outputs(self, error: float) -> Any:
        """Return the rows of ``|b - a T - h D| <= e (a + h)``."""
        from scipy.sparse import csr_array, vstack

        n, p = self.targets.shape
        rows, i = np.arange(n * p), np.repeat(np.arange(n), p)
        target, change, parts = self.targets.ravel(), self.change.ravel(), []
        columns = np.concatenate([n + 1 + rows, 1 + i, 0 * i])
        for sign in (1.0, -1.0):
            entries = np.concatenate([np.full(n * p, sign), -sign * target - error, -sign * change - error])
            parts.append(csr_array((entries, (np.tile(rows, 3), columns)), (n * p, 1 + n + n * p)))
        return vstack(parts, format="csr")


def _program(wishes: Wishes, unit: float) -> _Program:
    """Return the program of wishes, in units of their numbers."""
    targets, means, log_masses = wishes.targets / unit, wishes.means / unit, wishes.log_masses
    length, reach = wishes.limits.length, wishes.scale * (wishes.limits.key_norm or 0.0)
    value_bound, query = wishes.limits.value_bound / unit, wishes.query
    n, p = targets.shape
    gaps = reach * np.array([lengths(query - row) for row in query])
    apart = np.abs(log_masses[:, None] - log_masses)
    i, j = np.nonzero((gaps < _FARTHEST) & (apart < _APART) & ~np.eye(n, dtype=bool))
    nearest = np.argsort(gaps[i, j], kind="stable")[: _ROWS // (1 + 2 * p)]
    pairs = i[nearest], j[nearest], gaps[i, j][nearest]
    middle, size = math.log(length or 1) - log_masses, reach * lengths(query)
    high = None if length is None else middle + size
    coupling = _coupling(pairs, log_masses, p, value_bound=value_bound, low=middle - size, high=high)
    rounding = _ROUNDING + _ROUNDED_LOGS * float(np.abs(log_masses).max() + size.max())
    return _Program(targets, targets - means, coupling, value_bound=value_bound, rounding=rounding)


def _coupling(
    pairs: tuple[Indices, Indices, Float64], log_masses: Float64, p: int, value_bound: float, low: Float64,
    high: Float64 | None,
) -> Any:  # fmt: skip
    """Return the rows that hold for every error: of the bounds of values and masses, and of pairs of near queries."""
    from scipy.sparse import csr_array, vstack

    (i, j, gaps), n = pairs, len(log_masses)

    def block(*terms: tuple[Any, Indices]) -> Any:
        """Return rows, of which each term has the entries and their columns."""
        size = len(terms[0][1])
        entries = np.concatenate([np.broadcast_to(part, size) for part, _ in terms])
        places = np.tile(np.arange(size), len(terms)), np.concatenate([columns for _, columns in terms])
        return csr_array((entries, places), (size, 1 + n + n * p))

    first, own = np.zeros(n, dtype=np.intp), 1 + np.arange(n)
    with np.errstate(under="ignore"):
        mass = [np.exp(np.minimum(gap, 0.0)) for gap in (log_masses[i] - log_masses[j], log_masses[j] - log_masses[i])]
        blocks = [block((np.exp(np.minimum(low, 0.0)), first), (-np.exp(-np.maximum(low, 0.0)), own))]
        if high is not None:
            blocks += [block((-np.exp(np.minimum(high, 0.0)), first), (np.exp(-np.maximum(high, 0.0)), own))]
    blocks += [block((mass[0] / np.exp(gaps), 1 + i), (-mass[1], 1 + j))]  # psi_i <= kappa psi_j
    pair, c = np.repeat(np.arange(len(i)), p), np.tile(np.arange(p), len(i))
    u, v = 1 + n + i[pair] * p + c, 1 + n + j[pair] * p + c
    spread = -value_bound * np.expm1(gaps) * mass[1]
    for sign in (1.0, -1.0):
        blocks += [block((sign, 1 + n + np.arange(n * p)), (-value_bound, np.repeat(own, p)))]  # |u_i| <= V psi_i
        blocks += [block((sign * mass[0][pair], u), (-sign * mass[1][pair], v), (spread[pair], 1 + j[pair]))]
    return vstack(blocks, format="csr")
