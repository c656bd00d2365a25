"""The harmonic method: sums over points of S^1 and S^2 by the kernel's expansion, in time nearly linear in the points.

The kernel ``exp(-lambda |x - y|^2 / 2)`` of unit vectors is a sum over degrees of an eigenvalue times a zonal harmonic
(docs/theorems/1-kernel.md, 1.2), so that the sum over control points is a convolution: their weights are spread onto a
grid with a smooth window, the grid is taken to frequencies, multiplied and taken back, and values are interpolated with
the same window (a non-uniform fast Fourier transform there and back; on S^2, with Legendre transforms between the two).
The error is absolute, that is relative to the largest row's sum: docs/theorems/4.9-harmonic-sums.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..._loading import load
from ..._threads import for_work
from ..._types import Float64
from ...harmonics.nonuniform.window import WIDTHS
from ..method import Report, Sums, Tolerance
from ..partial import Partial
from ..problem import Problem
from .expansion import (
    RATES,
    SHARE,
    Design,
    aliased_share,
    design,
    grid_cells,
    kernel_mean,
    largest_degree,
    moved_points,
    rounding,
    window_price,
)

if TYPE_CHECKING:
    from .columns import Column

__all__ = ["cost", "memory", "obstacle", "promise", "sums"]

LARGEST_CIRCLE = 2.0**26
LARGEST_SPHERE = 18_000.0  # grid cells in a full turn, above which grids take more memory than `_checks.MEMORY_LIMIT`
SAMPLE = 2**14  # rows of which the lengths are looked at to expect an error, or half as many
SAMPLE_ROWS = 2**15  # rows, or up to twice as many, at which the sums of the weights' sizes are looked at first
START = 1e-3  # seconds to begin on S^2, besides those of each column
_ELSEWHERE = 1.3
"""By how much the bound of the sums anywhere may be above the largest row, for an accuracy to be expected."""


def sums(
    problem: Problem, tolerance: Tolerance, workers: int | None, report: Report, *, sample: int = SAMPLE_ROWS
) -> Sums:
    """Return the sums at all rows; rows whose error bound exceeds the tolerance are doubtful."""
    load(f"{__package__}.columns")
    load("spherapprox._kernels.harmonics.legendre")
    from ...harmonics.nonuniform.scattered import scattered
    from .columns import column

    workers = for_work(workers, cost(problem, tolerance))
    m, n = len(problem.x), len(problem.b)
    # Step 1: choose degree and grid, and sort the points by the grid's patches
    scheme = design(problem.dim, 2.0 * problem.rate, tolerance.omitted, octave=math.frexp(float(m + n))[1])
    source = scattered(problem.b, scheme.window, workers)
    target = scattered(problem.x, scheme.window, workers)
    weights = problem.weights(slice(0, n))
    # Step 2: the sums of each column of weights, and of weights 1
    columns = []
    for weight in (*weights.T, np.ones(n)) if problem.normalize else weights.T:
        weight = np.ascontiguousarray(weight)  # noqa: PLW2901
        columns.append(column(scheme, source, weight, target, workers=workers, sample=sample))
        report(m * n // (problem.p + problem.normalize))
    report(m * n - m * n // len(columns) * len(columns))
    # Step 3: bound the errors
    ones = columns.pop() if problem.normalize else None
    off = source.length_error + target.length_error
    errors = _errors(columns, scheme, off) if ones is None else _quotient_errors(columns, ones, scheme, off=off)
    trusted = errors <= tolerance.total  # not where an error is nan
    doubtful = np.flatnonzero(np.broadcast_to(~trusted, m)) if not trusted.all() else np.empty(0, np.int64)
    # No array is filled that is not used: where there are many rows that takes as long as their sums
    values = [column.values for column in columns]
    numerators = values[0][:, None] if len(values) == 1 else np.stack(values, axis=1)
    denominator = np.zeros(m) if ones is None else ones.values
    error = float(errors[trusted].max(initial=0.0))
    return Sums(Partial(np.zeros(m), numerators, denominator), error, doubtful=doubtful)


def _errors(columns: list[Column], scheme: Design, off: float) -> Float64:
    """Bound the errors relative to the largest sum of |w| K at the rows: one number for all rows."""
    worst = 0.0
    for column in columns:
        largest = float(column.sizes.max())
        if column.total == 0.0:
            continue
        if not largest > 0.0:
            return np.full(1, np.inf)
        # 4.9 (c): E_0 = 2 + log(W / s)
        exponent = 2.0 + math.log(max(column.total / largest, 1.0))
        # 4.9 (e): D / max s + 1.15 g(E_0)
        own = column.absolute / largest + float(moved_points(scheme.concentration, off, np.float64(exponent)))
        worst = max(worst, own)
    return np.full(1, worst)


def _quotient_errors(columns: list[Column], ones: Column, scheme: Design, off: float) -> Float64:
    """Bound the quotients' errors relative to the largest quotient of the sums of |w| K and of K, row by row."""
    least = ones.values - ones.absolute  # (m,)
    safe = least > 3.0 * ones.absolute
    errors = np.where(safe, 0.0, np.inf)
    if not safe.any():
        return errors
    for column in columns:
        quotients = column.sizes / (ones.values[column.where] + ones.absolute)
        largest = quotients[safe[column.where]].max(initial=0.0)
        if column.total > 0.0 and not largest > 0.0:
            return np.full(len(errors), np.inf)
        absolute, total = (column.absolute / largest, column.total / largest) if column.total > 0.0 else (0.0, 0.0)
        # 4.9 (e): E_0 = 2 + log(max(N, W / Q) / d)
        exponent = 2.0 + np.log(max(ones.total, total, 1.0) / least[safe])
        # 4.9 (e): (D / Q + D_0) / (d - D_0) + 2.3 g(E_0)
        own = (absolute + ones.absolute) / least[safe]
        own += 2.0 * moved_points(scheme.concentration, off, np.maximum(exponent, 2.0))
        errors[safe] = np.maximum(errors[safe], own)
    return errors


def promise(problem: Problem, omitted: float) -> float:
    """Estimate the error bound where control points lie about as densely as anywhere."""
    concentration = 2.0 * problem.rate
    exponent = 2.0 - math.log(kernel_mean(problem.dim, concentration))
    samples = (rows[:: len(rows) // SAMPLE + 1] for rows in (problem.x, problem.b))
    off = sum(float(np.abs(np.einsum("ij,ij->i", rows, rows) - 1.0).max()) / 2.0 for rows in samples)
    moved = float(moved_points(concentration, off, np.float64(exponent)))
    degree = largest_degree(problem.dim, concentration, omitted)
    left_out = (SHARE + aliased_share(problem.dim, degree, omitted)) * omitted
    return (2.0 if problem.normalize else 1.0) * (moved + _ELSEWHERE * rounding(problem.dim, degree) + left_out)


def obstacle(problem: Problem, tolerance: Tolerance) -> str:
    """Return the obstacle to the method, dimension, weights or memory; empty if there is none."""
    if problem.dim > 2:
        return f"it is for points of S^1 and S^2, not of S^{problem.dim}"
    if problem.values is None or problem.offset is not None:
        return "it sums values, with neither angles nor offsets"
    concentration = 2.0 * problem.rate
    limit = LARGEST_CIRCLE if problem.dim == 1 else LARGEST_SPHERE
    if grid_cells(problem.dim, concentration, tolerance.omitted) > limit:
        return f"its grid for 'concentration' {concentration:g} would take more memory than the limit"
    return ""


def memory(problem: Problem, tolerance: Tolerance) -> float:
    """Estimate the bytes that are held at once: places of the points, and a grid."""
    cells = grid_cells(problem.dim, 2.0 * problem.rate, tolerance.omitted) ** problem.dim
    return problem.result_memory + 8.0 * (3.0 * (len(problem.x) + len(problem.b)) + 3.0 * cells)


def cost(problem: Problem, tolerance: Tolerance) -> float:
    """Estimate the seconds of one thread, by counts over `RATES`; weights of both signs cost a coarse sum."""
    omitted, concentration = tolerance.omitted, 2.0 * problem.rate
    points = float(len(problem.x)) + len(problem.b)
    cells, degree = (f(problem.dim, concentration, omitted) for f in (grid_cells, largest_degree))
    columns = problem.p + problem.normalize
    sorting = (1.0 + columns) / RATES["calls"] + points / RATES["points"]
    if problem.dim == 1:
        return sorting + columns * window_price(1, points, cells, width=WIDTHS[0])
    legendre = degree**3 / RATES["degrees"]
    signs = problem.p if problem.values is not None and problem.weights(slice(0, 1000)).min(initial=0.0) < 0.0 else 0
    coarse = signs * (0.5 * window_price(2, 0.0, cells) + 0.25 * legendre)
    return START + sorting + columns * (window_price(2, points, cells) + legendre) + coarse
