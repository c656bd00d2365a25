"""The monomials of bounded degree in the order that the kernels of `features` take: no numba here.

A monomial of R^d is one in the first ceil(d/2) variables times one in the rest. Of each part all monomials up to the
degree are listed, by degree; the pairs whose degrees add up to more than the bound are left out, by groups of rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..._types import Float64, Indices

LANES = 8  # numbers in a vector of float64
CHUNK = 2 * LANES  # points whose monomials are computed together
SPAN = 4
"""Chunks whose moments are one running sum; their values of a row take 512 bytes, and should fit the second cache."""
RUN = 32  # spans whose moments are the next running sum
RUN_POINTS = RUN * SPAN * CHUNK  # points whose moments are one running sum: tasks of moments are multiples
FEW, MANY = 4, 8
"""Rows of a part that are in registers together, for moments and for evaluation: parts fill up to a multiple."""


def chain_length(runs: int) -> float:
    """Count the additions that a term passes in moments over so many runs, at most (4.10)."""
    # 4.10, rounding: l
    return float(SPAN * CHUNK // LANES + RUN + runs + 7)


@dataclass(frozen=True)
class Part:
    """The monomials in some variables: how each is made, its degree, and its multinomial coefficient |a|! / a!."""

    segments: Indices
    degrees: Indices
    multinomials: Float64

    def count(self, degree: int) -> int:
        """Count the monomials up to a degree."""
        return int(np.searchsorted(self.degrees, degree, side="right"))


@dataclass(frozen=True)
class Layout:
    """The places of the moments and the coefficients of all monomials of degree up to `degree` in R^d.

    `moment_rows` and `value_rows` hold, for each group of rows of the first part, the rows of the second that meet it;
    `source` says which moment belongs to a coefficient, `scale` its share ``|a|! / a!`` (0 where the degree is too
    large), `power` its degree.
    """

    degree: int
    first: Part
    second: Part
    moment_rows: Indices
    value_rows: Indices
    source: Indices
    scale: Float64
    power: NDArray[np.int16]

    @property
    def n_second(self) -> int:
        """Rows of the second part, filled up."""
        return int(self.moment_rows.max())

    @property
    def moments(self) -> int:
        """Numbers of a column of moments."""
        return FEW * int(self.moment_rows.sum())

    def coefficients(self, moments: Float64, powers: Float64) -> Float64:
        """Return the coefficients of all monomials from their moments (q, ...) and those of powers of <x, b>."""
        table = np.take(moments, self.source, axis=1)
        # 4.10: p_|a| / R^|a| times |a|! / a! times mu_a
        table *= self.scale * powers[self.power]
        return table


def rank(d: int, degree: int) -> int:
    """Count the monomials in d variables up to a degree: the rank of a polynomial of <x, b>."""
    return math.comb(d + degree, degree)


def part(columns: range, degree: int) -> Part:
    """List the monomials in the given columns, by degree and then by their last variable.

    Those of degree j that end in variable v are those of degree j - 1 that end in v or before, times v: a segment.
    """
    segments, degrees, multinomials, falling = [], [np.zeros(1, np.intp)], [np.ones(1)], [np.ones(1)]
    start, total = 0, 1
    ends = [1] * len(columns)  # of degree j - 1, how many end in variable v or before
    last = np.full(1, -1)
    powers = np.zeros(1)  # of the last variable
    for j in range(1, degree + 1):
        level: list[tuple[Float64, Float64, Indices]] = []
        new_ends, first = [], total
        for v, column in enumerate(columns):
            n = ends[v]
            segments.append((total, start, n, column))
            power = np.where(last[:n] == v, powers[:n], 0.0) + 1.0
            level.append((falling[-1][:n] * power, power, np.full(n, v)))
            total += n
            new_ends.append(total - first)
        factorials, powers, last = (np.concatenate(parts) for parts in zip(*level, strict=True))
        falling.append(factorials)
        multinomials.append(math.factorial(j) / factorials)
        degrees.append(np.full(total - first, j))
        start, ends = first, new_ends
    return Part(np.array(segments, np.intp).reshape(-1, 4), np.concatenate(degrees), np.concatenate(multinomials))


@lru_cache(maxsize=2)
def layout(d: int, degree: int) -> Layout:
    """Lay out all monomials in d variables up to a degree."""
    middle = -(-d // 2)
    first, second = part(range(middle), degree), part(range(middle, d), degree)
    rows, degrees = len(first.degrees), first.degrees
    moment_rows = np.zeros(-(-rows // MANY) * (MANY // FEW), np.intp)
    lowest = degrees[::FEW]
    moment_rows[: len(lowest)] = [-(-second.count(degree - int(q)) // FEW) * FEW for q in lowest]
    value_rows = np.array([second.count(degree - int(q)) for q in degrees[::MANY]])
    offsets = np.concatenate([[0], np.cumsum(FEW * moment_rows)])
    choose = np.array([[math.comb(i + j, i) for j in range(degree + 1)] for i in range(degree + 1)], np.float64)
    source, scale, power = [], [], []
    for group in range(len(value_rows) - 1, -1, -1):
        j = np.arange(value_rows[group] - 1, -1, -1)[:, None]  # (used, 1)
        here = MANY * group + np.arange(MANY)  # (MANY,)
        i = np.minimum(here, rows - 1)
        i_degree, j_degree = degrees[i], second.degrees[j]
        fits = (here < rows) & (i_degree + j_degree <= degree)
        place = offsets[i // FEW] + j // FEW * FEW**2 + i % FEW * FEW + j % FEW  # (used, MANY)
        source.append(np.where(fits, place, 0).ravel())
        weight = choose[i_degree, j_degree] * first.multinomials[i] * second.multinomials[j]
        scale.append(np.where(fits, weight, 0.0).ravel())
        power.append(np.minimum(i_degree + j_degree, degree).ravel().astype(np.int16))
    return Layout(
        degree,
        first,
        second,
        moment_rows,
        value_rows,
        np.concatenate(source),
        np.concatenate(scale),
        np.concatenate(power),
    )
