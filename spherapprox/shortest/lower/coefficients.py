"""A target's coefficients in orthonormal harmonics: known exactly, or by quadrature with an allowance for its error."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ... import points
from ..._norms import unit_of
from ..._threads import slices
from ..._types import Float64, Int64
from ...error import lengths
from ...harmonics import hyperspherical_harmonics
from ...harmonics.hyperspherical import sizes
from ...target import Target
from ...targets import analytic, geomagnetic, random

LEAST_EXACTNESS = 3
"""Degree of the rule for a target of unknown degree, at least, over the degree of the coefficients."""
MOST_POINTS = 20_000
"""Of that rule."""
_MOST_VALUES = 2e9
"""Of harmonics at the points of a rule: half a minute."""
_BLOCK = 2**22


@dataclass(frozen=True)
class Coefficients:
    """Coefficients over `scale`, for each degree (p, dim H_l), in the order of `triples.columns`.

    `error` bounds what they are off by: in l2 norm, together with the distance from a polynomial where a target is only
    near to one, over `scale`. With `proven` it is a bound, else an estimate, and `how` says where they are from.
    """

    dim: int
    parts: tuple[Float64, ...]
    scale: float
    error: float
    proven: bool
    how: str


def expand_target(target: Target, top: int, deadline: float = math.inf) -> Coefficients:
    """Return a target's coefficients up to degree `top`, or its own degree if that is less.

    A quadrature that goes on at the deadline, a time of `time.monotonic`, raises TimeoutError.
    """
    exact = _exact_series(target, top)
    series, error, how = (exact, target.remainder, "") if exact is not None else _integrate(target, top, deadline)
    scale = unit_of(max((float(np.abs(part).max()) for part in series), default=0.0))
    parts = tuple(part / scale for part in series)
    return Coefficients(target.dim, parts, scale, error=error / scale, proven=exact is not None, how=how)


def _exact_series(target: Target, top: int) -> list[Float64] | None:
    """Return the coefficients of the catalogue's polynomials, a degree after the other; None for others."""
    function = target.function
    if not isinstance(function, functools.partial):
        return None
    if function.func is geomagnetic.sum_harmonics:
        table = function.args[0].reshape(len(function.args[0]), -1)
        degree = min(math.isqrt(len(table)) - 1, top)
        return [table[_places(n)].T / math.sqrt(2 * n + 1) for n in range(degree + 1)]
    if function.func is random._polynomial:
        return _split_degrees(target.dim, function.args[1][:, None], min(function.args[0], top))
    if function.func is analytic._zonal:
        # a rotation changes no bound: the pole may be the last axis, on which one harmonic alone depends
        degree = function.args[0]
        series = [np.zeros((1, int(n))) for n in sizes(degree, target.dim)]
        place = 0 if target.dim == 1 or degree == 0 else int(sizes(degree, target.dim - 1)[degree])
        series[-1][0, place] = 1.0 / math.sqrt(series[-1].size)
        return series[: top + 1]
    return None


def harmonics_of_value(target: Target) -> int:
    """Return how many harmonics a random polynomial sums for one value; 1 for other targets."""
    function = target.function
    if isinstance(function, functools.partial) and function.func is random._polynomial:
        return int(sizes(function.args[0], target.dim).sum())
    return 1


def _integrate(target: Target, top: int, deadline: float) -> tuple[list[Float64], float, str]:
    """Return coefficients by a product rule, an allowance for their error, and a remark on it."""
    if target.degree is not None:
        degree = min(target.degree, top)
        table, size = _project_target(target, degree, target.degree + degree, deadline=deadline)
        error = target.accuracy * (target.sup_norm or size) + 2.0 * target.remainder + 1e-13 * size
        return _split_degrees(target.dim, table, degree), error, "coefficients by quadrature, exact up to rounding"
    finest = LEAST_EXACTNESS * top
    while points_of_rule(target.dim, 2 * finest) <= MOST_POINTS and finest < 400:
        finest = 2 * finest
    coarse, _ = _project_target(target, top, finest, deadline=deadline)
    table, size = _project_target(target, top, finest + finest // 2, deadline=deadline)
    error = 4.0 * float(lengths((table - coarse).ravel())) + target.accuracy * (target.sup_norm or size) + 1e-13 * size
    how = "coefficients by quadrature, their error estimated by a finer rule"
    return _split_degrees(target.dim, table, top), error, how


def _project_target(target: Target, degree: int, exactness: int, deadline: float) -> tuple[Float64, float]:
    """Return coefficients up to a degree by a rule, (columns, p), and the largest value seen."""
    columns = int(sizes(degree, target.dim).sum())
    if columns * points_of_rule(target.dim, exactness) > _MOST_VALUES:
        raise ValueError(
            f"'target' must be one whose coefficients are known, or of less degree or dimension, got {target.name!r} "
            f"on S^{target.dim}: a quadrature is too large, keys='free' bounds the tokens by values"
        )
    rule = points.gauss_product(target.dim, max(exactness, 1))
    blocks = slices(len(rule), max(1, _BLOCK // columns))
    values = np.concatenate([np.asarray(target(rule.points[b]), dtype=np.float64) for b in _until(blocks, deadline)])
    values = values.reshape(len(rule), -1)
    unit = unit_of(values)
    weighted = rule.weights[:, None] * (values / unit)
    parts = (hyperspherical_harmonics(degree, rule.points[b]).T @ weighted[b] for b in _until(blocks, deadline))
    return unit * np.asarray(sum(parts, 0.0)), float(lengths(values).max())


def _until(blocks: list[slice], deadline: float) -> Iterator[slice]:
    for block in blocks:
        if time.monotonic() > deadline:
            raise TimeoutError
        yield block


def points_of_rule(dim: int, degree: int) -> float:
    """Return the number of points of a product rule."""
    return (degree + 1.0) * (degree // 2 + 1.0) ** min(dim - 1, 200)


def _split_degrees(dim: int, table: Float64, degree: int) -> list[Float64]:
    """Cut coefficients in the order of `hyperspherical_harmonics`, (columns, p), into degrees."""
    if dim == 2:
        return [table[_places(n)].T for n in range(degree + 1)]
    offsets = np.concatenate([[0], np.cumsum(sizes(degree, dim))])
    return [table[offsets[n] : offsets[n + 1]].T for n in range(degree + 1)]


def _places(degree: int) -> Int64:
    """Return the columns of degree l on S^2 in the order of S^m's bases: orders l, 0, 1, ..., l-1, cosines first."""
    orders = [m for k in [degree, *range(degree)] for m in ((k, -k) if k else (0,))]
    return np.array([degree * degree + degree + m for m in orders])
