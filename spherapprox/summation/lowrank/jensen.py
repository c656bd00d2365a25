"""Lower bounds of the largest sums, the scales of absolute errors, from one pass over the points of each kind.

By Jensen's inequality ``sum_k |w_k| exp(-rate |x - b_k|^2) >= W exp(-rate mean |x - b_k|^2)``, the mean taken with
weights |w_k| of sum W: it is ``|x|^2 - 2 <x, c> + mean |b|^2``, c the centroid
(docs/theorems/4.10-polynomial-features.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..._threads import slices
from ..._types import Float64, Indices
from .. import dense
from ..method import EXACT, silent
from ..partial import Partial
from ..problem import Problem

_NUMBERS = 2**20  # numbers of a table of rows and columns that is made at a time: 8 MiB
_SAMPLES = 2


@dataclass(frozen=True)
class Scales:
    """Of each column of weights that is not all 0: their absolute sum, and a lower bound of the largest row's scale.

    `total` (q,) and `largest` (q,), of the sums of absolute terms, or of their quotients; for these, `count` control
    points and `least`, a lower bound of the denominators.
    """

    total: Float64
    largest: Float64
    count: float
    least: float
    columns: Indices

    @classmethod
    def of(cls, problem: Problem) -> Scales:
        """Bound the scales of the problem's result before it is computed."""
        total, centre, square = _centroids(problem)
        nearest, farthest = _exponents(problem, centre, square)
        largest = total * np.exp(-nearest)
        least = float(len(problem.b)) * float(np.exp(-farthest[-1]))
        if problem.normalize:
            sample = _sampled(problem)
            largest = (sample.numerators / sample.denominator[:, None]).max(axis=0)
        columns = np.flatnonzero(total[:-1])
        return cls(total[columns], largest[columns], float(len(problem.b)), least, columns)

    def need(self, normalize: bool) -> float:
        """Return the error, relative to the largest row, of a result whose terms of weight 1 err by 1."""
        # 4.10, scale: W / S
        share = float(np.max(self.total / self.largest, initial=0.0))
        if not normalize:
            return max(share, 1.0)
        # 4.10, quotients: (W / Q + N) / min D
        return (share + self.count) / self.least if self.least > 0.0 else np.inf

    def sharpened(self, state: Partial, term_error: float, normalize: bool) -> Scales:
        """Return the scales raised to those of a result whose terms of weight 1 err by at most `term_error`."""
        largest, least = self.largest, self.least
        below = np.abs(state.numerators[:, self.columns])
        if normalize:
            least = float(state.denominator.min())  # quotients are by denominators as computed
            above = state.denominator + term_error * self.count
            # 4.10, quotients: Q >= (|h| - delta W) / (D + delta N)
            error = ((below - term_error * self.total) / above[:, None]).max(axis=0)
        else:
            error = below.max(axis=0) - term_error * self.total
        return replace(self, largest=np.maximum(largest, error), least=least)

    def summed(self, problem: Problem) -> Scales:
        """Return the scales of sums, not quotients, raised to the sums of absolute terms at some rows."""
        sample = _sampled(problem)
        largest = (sample.numerators * np.exp(-problem.rate * sample.shift)[:, None]).max(axis=0)
        return replace(self, largest=np.maximum(self.largest, largest[self.columns]))


def _centroids(problem: Problem) -> tuple[Float64, Float64, Float64]:
    """Return the sum, the centroid and the mean square of b under each column of |w|, and under equal weights."""
    columns = problem.p + 1
    total, centre, square = np.zeros(columns), np.zeros((columns, problem.dim + 1)), np.zeros(columns)
    for part in slices(len(problem.b), _block(columns)):
        b, _, w = problem.controls(part)
        b = b.astype(np.float64, copy=False)
        w = np.concatenate([np.abs(w), np.ones((len(b), 1))], axis=1)  # (part, columns)
        total += w.sum(axis=0)
        centre += np.einsum("ij,ik->jk", w, b)  # (columns, d); no BLAS, whose threads would stay awake beside ours
        square += np.einsum("ij,i->j", w, np.einsum("ij,ij->i", b, b))  # (columns,)
    share = np.where(total > 0.0, total, 1.0)
    return total, centre / share[:, None], square / share


def _exponents(problem: Problem, centre: Float64, square: Float64) -> tuple[Float64, Float64]:
    """Return the least and the largest of Jensen's exponents over the evaluation points, (columns,) each."""
    nearest, farthest = np.full(len(square), np.inf), np.full(len(square), -np.inf)
    for part in slices(len(problem.x), _block(len(square))):
        x = problem.x[part].astype(np.float64, copy=False)
        # 4.10, scale: E = |x|^2 - 2 <x, c> + q
        mean = np.einsum("ij,ij->i", x, x)[:, None] + square - 2.0 * np.einsum("ij,kj->ik", x, centre)
        exponent = problem.rate * np.maximum(mean, 0.0)  # (rows, columns)
        nearest = np.minimum(nearest, exponent.min(axis=0))
        farthest = np.maximum(farthest, exponent.max(axis=0))
    return nearest, farthest


def _block(columns: int) -> int:
    """Return the number of rows that are made at a time of a table with so many columns."""
    return max(64, min(4096, _NUMBERS // columns))


def _sampled(problem: Problem) -> Partial:
    """Return the sums of absolute terms at some of the evaluation points."""
    assert problem.values is not None
    sample = problem.at_rows(slice(0, None, -(-len(problem.x) // _SAMPLES)))
    return dense.sums(sample._replace(values=np.abs(problem.values)), EXACT, 1, silent).partial
