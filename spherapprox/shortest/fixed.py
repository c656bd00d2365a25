"""Tokens whose control points stay: constants, the best kernel at a peak, and least squares on good points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from .. import points
from .._types import Float64
from ..fitting.projection import solve_values
from ..fitting.sup import Judge, minimax
from ..fitting.tokens import Tokens
from ..partition import EqualMeasurePartition

_WIDEST = 16.0
"""The largest concentration that is tried for n points, over n^(2/m)."""
_LARGEST_DEGREE = 200


def constant_token(judge: Judge, normalize: bool, unit: bool) -> Tokens:
    """Return a token that is the constant in the middle of the values, column by column, within their bound."""
    d = judge.fit.x.shape[1]
    middle = 0.5 * (judge.checked.y.max(axis=0) + judge.checked.y.min(axis=0))
    middle = np.clip(middle, -judge.value_bound, judge.value_bound)
    return Tokens(1e-13 * np.eye(1, d), middle[None], normalize, unit=unit)


def best_kernel(judge: Judge, ridge: float, unit: bool) -> Tokens:
    """Return the best of some kernels at the largest of the values."""
    x, y = judge.fit.x, judge.fit.y
    at = x[int(np.square(y).sum(axis=1).argmax())]
    starts = (
        Tokens(length * at[None], np.zeros((1, y.shape[1])), False, unit=unit) for length in 4.0 ** np.arange(-2, 11)
    )
    return min((solve_values(tokens, judge.fit, ridge).tokens for tokens in starts), key=partial(judge, ridge=ridge))


def fit_values(b: Float64, judge: Judge, ridge: float, *, normalize: bool, unit: bool) -> tuple[Tokens, float]:
    """Return tokens at control points b (n, d) of the best common concentration, and their error."""
    n, dim, outputs = len(b), b.shape[1] - 1, judge.fit.y.shape[1]
    top = _WIDEST * float(n) ** (2.0 / dim)
    lengths = top * 2.0 ** -np.arange(max(2, int(np.log2(top)) + 4))
    trials = []
    for length in lengths:
        tokens = solve_values(Tokens(length * b, np.zeros((n, outputs)), normalize, unit=unit), judge.fit, ridge).tokens
        trials.append((judge(tokens, ridge), tokens))
    best = min(trials, key=lambda pair: pair[0])[1]
    return minimax(best, judge, ridge, moving=False)


Family = Callable[[int], Float64]
"""Makes points (k, d) of about n, k <= n."""


def point_families(dim: int) -> Iterator[tuple[str, Family]]:
    """Yield names and makers of points that are good for interpolation on S^dim."""
    yield "partition", lambda n: EqualMeasurePartition(dim, n).centers()
    if dim == 2:
        yield "Fibonacci", lambda n: points.fibonacci(n).points
    if 2 <= dim <= 4:
        yield "Gauss", partial(_gauss, dim)


def _gauss(dim: int, n: int) -> Float64:
    """Return the points of the largest product of Gauss rules of at most n points."""
    best = np.eye(1, dim + 1)
    for degree in range(1, _LARGEST_DEGREE):
        rule = points.gauss_product(dim, degree).points
        if len(rule) > n:
            break
        best = rule
    return best
