"""The catalecticant bound for every concentration: cells, halved where the bound is least."""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

from ...harmonics.hyperspherical import sizes
from .catalecticant import ROOT, Catalecticant, Weights
from .coefficients import LEAST_EXACTNESS, MOST_POINTS, points_of_rule

POWERS = (ROOT, 0.5, 0.75, 1.0, 1.25)
"""sqrt(a_2l) is best at small concentrations, the largest powers at large ones and small eps."""
_MOST_COLUMNS = 170
_MOST_DEGREE = 20
_FIRST, _LAST = 2.0**-4, 2.0**8
"""The first cells are (0, _FIRST], octaves, and [_LAST, inf)."""
_PROBES = (2.0**-6, 0.25, 1.0, 2.0, 4.0, 8.0, 32.0, 2.0**10)
_NARROWEST = 1e-5
"""Relative width of the narrowest cells."""
_LEAST, _LARGEST = 1e-100, 1e100
"""Ends of (0, hi] and [lo, inf) beyond which these are not cut: ratios would lose digits at last."""


@dataclass(frozen=True)
class Cell:
    """Concentrations from `low` to `high` for which heads have at least `n` tokens, and the matrix that proves it.

    Parameters
    ----------
    low, high : float
        The concentrations; low may be 0, high infinite.
    n : int
        The bound.
    degree : int
        d, of the harmonics that the matrix has as rows and columns.
    power : float
        Of the eigenvalues in the weights ``a_l^power``; 0 stands for ``a_2l^(1/2)``.
    """

    low: float
    high: float
    n: int
    degree: int
    power: float

    @property
    def weights(self) -> Weights:
        """The matrix's degree and power."""
        return Weights(self.degree, self.power)


class CellSearch:
    """The best bounds over weights, at a concentration and over all."""

    def __init__(self, bound: Catalecticant, max_degree: int, deadline: float = math.inf) -> None:
        self.bound, self.max_degree, self.deadline = bound, max_degree, deadline
        self.useful: list[Weights] = []

    def bound_at(self, concentration: float) -> Cell:
        """Return the best bound at one concentration; degrees rise until three of them bring nothing."""
        best, idle = Cell(concentration, concentration, n=1, degree=0, power=ROOT), 0
        for degree in range(1, self.max_degree + 1):
            cell = self._bound_in(
                concentration, concentration, (Weights(degree, power) for power in POWERS), ceiling=math.inf
            )
            idle = 0 if cell.n > best.n or best.n == 1 else idle + 1
            best = max(best, cell, key=lambda cell: cell.n)
            if idle > 2:
                break
        return best

    def bound_everywhere(self, budget: int) -> tuple[int, list[Cell]]:
        """Return the bound for every concentration, and cells that cover (0, inf) and prove it.

        The bound is that of the worst concentration seen, or of the worst cell when the budget of cells is spent.
        """
        probes = [self.bound_at(x) for x in _PROBES]
        self.useful = list(dict.fromkeys(cell.weights for cell in sorted(probes, key=lambda cell: cell.n)))
        ceiling = min(cell.n for cell in probes)
        octaves = round(math.log2(_LAST / _FIRST))
        ends = [0.0, *(_FIRST * 2.0**k for k in range(octaves + 1)), math.inf]
        heap = [self._entry(low, high, ceiling, near=None) for low, high in itertools.pairwise(ends)]
        heapq.heapify(heap)
        for _ in range(budget):
            worst = heap[0][3]
            narrow = worst.high <= worst.low * (1.0 + _NARROWEST)
            late = time.monotonic() > self.deadline
            if late or worst.n >= ceiling or narrow or worst.high < _LEAST or worst.low > _LARGEST:
                break
            heapq.heappop(heap)
            if worst.low == 0.0:
                middle = 0.25 * worst.high
            else:
                middle = 4.0 * worst.low if worst.high == math.inf else math.sqrt(worst.low * worst.high)
            ceiling = min(ceiling, self._bound_in(middle, middle, self._candidates(worst), ceiling=ceiling).n)
            for low, high in ((worst.low, middle), (middle, worst.high)):
                heapq.heappush(heap, self._entry(low, high, ceiling, near=worst))
        return heap[0][3].n, sorted((entry[3] for entry in heap), key=lambda cell: cell.low)

    def _entry(self, low: float, high: float, ceiling: float, near: Cell | None) -> tuple[int, float, float, Cell]:
        """Return a cell with its bound for the heap: least bounds first, and of them the widest."""
        cell = self._bound_in(low, high, self._candidates(near), ceiling=ceiling)
        return cell.n, -(high / low if low > 0.0 else math.inf), low, cell

    def _candidates(self, near: Cell | None) -> Iterator[Weights]:
        """Yield the weights to try, those of the cell around first."""
        if near is not None and near.degree:
            yield near.weights
            for degree in (near.degree - 1, near.degree + 1):
                if 0 < degree <= self.max_degree:
                    yield Weights(degree, near.power)
        yield from self.useful
        degrees = {weights.degree for weights in self.useful}
        yield from (Weights(d, ROOT) for d in range(1, min(max(degrees, default=0) + 1, self.max_degree) + 1))

    def _bound_in(self, low: float, high: float, candidates: Iterator[Weights], ceiling: float) -> Cell:
        """Return the best bound over a cell, or the first that is at the ceiling."""
        best, visits = Cell(low, high, n=1, degree=0, power=ROOT), set()
        for weights in candidates:
            if time.monotonic() > self.deadline:  # what there is, is a bound
                break
            if weights in visits or (low == 0.0 and weights.power != ROOT):
                continue
            visits.add(weights)
            n = self.bound.bound(low, high, weights, best=best.n)
            if n > best.n:
                best = Cell(low, high, n, *weights)
            if n >= ceiling:
                break
        return best


def largest_degree(dim: int, degree: int | None) -> int:
    """Return the largest degree of the matrices' harmonics: two more than half of the target's, as far as it pays."""
    limit = _MOST_DEGREE if degree is None else min(_MOST_DEGREE, (degree + 1) // 2 + 2)
    top = 1
    while (
        top < limit
        and sum(map(int, sizes(top + 1, dim))) <= _MOST_COLUMNS
        and (degree is not None or points_of_rule(dim, 2 * LEAST_EXACTNESS * (top + 1)) <= MOST_POINTS)
    ):
        top += 1
    return top
