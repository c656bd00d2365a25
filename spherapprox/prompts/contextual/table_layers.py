"""The layers of `TableTransformer`, before attention and behind it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..._types import Float64
from .exact_layers import Layer, bump, interpolate_values, join_layers


@dataclass(frozen=True, eq=False)
class TableLayers:
    """What layers are made from: sizes as `TableTransformer` has them, digits of a table, or the table (K, n, d)."""

    cells: int
    token_dim: int
    length: int
    prompt_length: int
    digits: int
    is_number: bool
    ramp: Fraction
    answers: Float64 | None

    @property
    def n_cells(self) -> int:
        """Cells K of a sequence."""
        return int(self.cells ** (self.token_dim * self.length))

    def before(self, deep: bool) -> Iterator[Layer]:
        """Yield the layers before attention."""
        pieces = [[*self._codes(column)] for column in range(self.token_dim)]
        half = self.ramp / (2 * self.cells)
        if deep:
            yield from (bump(i, a, b, values, ramp=half) for i, rows in enumerate(pieces) for a, b, values in rows)
        else:
            yield join_layers([_through(i, rows) for i, rows in enumerate(pieces)])

    # 8.11 (sum): numbers in column 0 are below 0 before attention
    @property
    def low(self) -> int:
        """What all first numbers are below before attention, with the sign changed."""
        return int(self.length * (self.n_cells + 1) + 1)

    def _codes(self, column: int) -> Iterator[tuple[Fraction, Fraction, list[list[Any]]]]:
        """Yield pieces of a column of tokens with positions: from, to, and what is added at both ends."""
        c, d, before = self.cells, self.token_dim, self.prompt_length

        def added(z: Fraction, code: Any) -> list[Any]:
            row = [Fraction(0)] * d
            row[column] -= z
            row[0] += code
            return row

        for j in range(before + self.length):
            start, k = Fraction(2 * j + 1), j - before
            offset = (-self.low + max(k, 0) * (self.n_cells + 1)) if column == 0 else 0
            if k < 0 and self.is_number:
                end = start + 1
                yield start, end, [added(start, offset), added(end, offset + (column == 0))]
                continue
            unit = Fraction(1, c ** (j * d + column + 1)) if k < 0 else Fraction(c ** (k * d + column))
            for v in range(c):
                a, b = start + Fraction(v, c), start + Fraction(v + 1, c)
                b -= self.ramp / c if v < c - 1 else 0
                yield a, b, [added(z, v * unit + offset) for z in (a, b)]

    def _sums(self) -> Iterator[tuple[int, int, Fraction]]:
        """Yield all positions k and cells I, with what attention leaves in column 0 if the prompt's digits are 0."""
        n, unit = self.length, self.cells**self.token_dim
        total = (self.n_cells + 1) * (n * (n - 1) // 2) - (self.prompt_length + n) * self.low
        for k in range(n):
            for i in range(self.n_cells):
                own = i // unit**k % unit * unit**k
                code = (self.n_cells + 1) * k - self.low + own
                yield k, i, code - Fraction(total + i, 2)

    def wide(self) -> Layer:
        """Return one layer for behind attention."""
        c, d, n = self.cells, self.token_dim, self.length
        rows = []
        for k, i, top in self._sums():
            for u in range(c**self.digits):
                s = top - Fraction(u, 2 * c**self.digits)
                if self.answers is not None:
                    values = [Fraction(value) for value in self.answers[i, k].tolist()]
                else:
                    last = self.digits - (i * n + k + 1) * d
                    values = self._midpoints(u // c**last)
                rows.append((s, [values[0] - s, *values[1:]]))
        return interpolate_values(0, *zip(*sorted(rows), strict=True))

    def _midpoints(self, u: int) -> list[Fraction]:
        """Return the midpoints of the cells whose numbers are the last d digits of a number."""
        c, d = self.cells, self.token_dim
        return [Fraction(2 * (u // c ** (d - 1 - i) % c) + 1, 2 * c) for i in range(d)]

    def deep(self) -> Iterator[Layer]:
        """Yield layers that drop the table's first cell as often as the number of the input's cell says."""
        c, d, n, cells = self.cells, self.token_dim, self.length, self.n_cells
        step = Fraction(1, c**self.digits) / 2  # half the distance of two tables
        sums = list(self._sums())
        raised = 2 - min(top for *_, top in sums) + 1
        yield Layer(np.zeros(0, int), np.zeros(0, object), np.zeros((0, d), object), _row(raised, d))
        highest = max(top for *_, top in sums) + raised + 1
        turns = [highest, highest + n * cells + 1]  # where tables wait whose number is not yet 0
        parked = [highest + 2 * (n * cells + 1) + 2 * k for k in range(n)]
        for k, i, top in sums:
            b = top + raised
            if self.answers is not None:
                values = [Fraction(value) for value in self.answers[i, k].tolist()]
                yield bump(0, b - step / 2, b, [[values[0] - z, *values[1:]] for z in (b - step / 2, b)], ramp=step / 4)
                continue
            a, goal = b - Fraction(1, 2) + step, turns[0] + k * cells + i if i else parked[k]
            yield bump(0, a, b, [_row(goal + 2 * (b - a) - a, d), _row(goal - b, d)], ramp=step / 4)
        for turn in range(cells - 1 if self.answers is None else 0):
            start, other = turns[turn % 2], turns[1 - turn % 2]
            for k in range(n):
                for i in range(1, cells - turn):
                    goal = other + k * cells + i - 1 if i > 1 else parked[k]
                    for block in range(cells):
                        a = start + k * cells + i + Fraction(block, cells)
                        b = a + Fraction(1, cells) - step
                        yield bump(0, a, b, [_row(goal - a, d), _row(goal + cells * (b - a) - b, d)], ramp=step / 4)
        for k in range(n if self.answers is None else 0):
            width = c ** ((k + 1) * d)
            for block in range(width):
                a = parked[k] + Fraction(block, width)
                ends, values = (a, a + Fraction(1, width) - step), self._midpoints(block)
                yield bump(0, *ends, [[values[0] - z, *values[1:]] for z in ends], ramp=step / 4)
        far = parked[-1] + 2 + 2 * self.low * (self.prompt_length + n)
        for column in range(d):  # what came off a ramp
            heights = [_row(v, d, column) for v in (far, 0, 0, 1 - far)]
            yield interpolate_values(column, [Fraction(z) for z in (-far, 0, 1, far)], heights)


def _row(value: Any, d: int, column: int = 0) -> Any:
    """Return a row of zeros but for one number."""
    row = np.full(d, Fraction(0), dtype=object)
    row[column] = Fraction(value)
    return row


def _through(column: int, pieces: list[tuple[Fraction, Fraction, list[list[Any]]]]) -> Layer:
    """Return one layer of all pieces of a column, straight between them."""
    knots = [z for a, b, _ in pieces for z in (a, b)]
    return interpolate_values(column, knots, [row for *_, rows in pieces for row in rows])
