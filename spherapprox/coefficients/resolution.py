"""Resolution of kernels by control points: a test at a few of them that they lie close enough."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .. import _checks
from .._threads import one_blas_thread, slices
from .._types import Float64, Floats
from .riemann import peak

BAND = 0.5  # the sum of "riemann" for the function 1 is off by no more at the control points that are tried
CARRIED = 0.05  # it is off by no more there at the concentration that a warning advises
GAP, _AROUND = 0.15, 256
"""An interpolating head of the function 1 errs by no more between half of them; the points that it is made from."""
_RIDGE = 1e-9  # added to the diagonal of a matrix that may be singular to rounding
_NODES, _PAIRS, _SLICE = (4, 16), 2**20, 2**13
"""Control points that are tried, fewer where there are many: a small part of what it takes to make the head."""


def warn_unresolved(rows: Floats, weights: Float64 | None, concentration: float, rule: str) -> None:
    """Warn where a rule makes a core head of kernels that are too narrow for its control points, whatever the target.

    The head of the function 1 errs at a control point by what its kernels sum to there, less 1; the error on
    coordinates is near that, once it is above 1/2 (tests/spherapprox/coefficients/test_resolution.py).
    """
    n, dim = len(rows), rows.shape[1] - 1
    queries = rows[np.linspace(0, n - 1, min(n, max(_NODES[0], min(_NODES[1], _PAIRS // n)))).astype(np.intp)]
    w = np.full(n, 1.0 / n) if weights is None else weights
    if rule == "riemann":

        def error(trial: float) -> float:
            sums = peak(dim, trial) * _sums(queries, rows, w, concentration=trial) - 1.0
            return float(sums[np.abs(sums).argmax()])

        excess = error(concentration)
        if abs(excess) > BAND:
            why = (
                f"weighted kernels add up to {1.0 + excess:.3g} at one of them, not to 1, so that the head errs as much"
            )
            largest = _largest(lambda trial: abs(error(trial)) <= CARRIED, concentration)
            where = f", where that sum is within {CARRIED:.0%} of 1"
            _warn(n, concentration, why, largest=largest, where=where)
    elif rule == "interpolation" and n > 1:
        places = [_emptiest_place(x, rows) for x in queries.astype(np.float64)]

        def small(trial: float) -> bool:
            return float(np.median([_gap(x, around, trial) for x, around in places])) <= GAP

        with one_blas_thread():  # several may take seconds where other work has the cores
            carried = concentration if small(concentration) else _largest(small, concentration)
        if carried < concentration:
            why = "kernels hardly overlap, so that the head falls to 0 between them"
            _warn(n, concentration, why, largest=carried)


def _sums(x: Floats, rows: Floats, w: Float64, concentration: float) -> Float64:
    """Return ``sum_k w_k exp(-concentration |x - b_k|^2 / 2)``, in few digits."""
    x, total = x.astype(np.float64), np.zeros(len(x))
    for part in slices(len(rows), _SLICE):
        b = rows[part].astype(np.float64)
        chords = x @ b.T - 0.5 * np.einsum("nd,nd->n", b, b)  # |x|^2 / 2 - |x - b|^2 / 2
        chords -= 0.5 * np.einsum("kd,kd->k", x, x)[:, None]
        chords[chords > -1e-15] = 0.0
        total += np.exp(concentration * chords) @ w[part]
    return total


def _emptiest_place(b: Float64, rows: Floats) -> tuple[Float64, Float64]:
    """Return a place half as far from a control point as typical neighbours, on its empty side, and points around."""
    squares = np.square(rows - b).sum(axis=1)
    order = np.argsort(squares, kind="stable")[:_AROUND]
    around = rows[order].astype(np.float64)
    neighbours = around[1 : 2 * len(b) - 1]
    away = b - neighbours.mean(axis=0)
    away -= (away @ b) * b
    length = float(np.sqrt(away @ away))
    half = 0.5 * float(np.sqrt(np.square(neighbours[-1] - b).sum()))
    isolated = len(around) <= 2 * len(b) or length <= 1e-6 * half
    middle = b + (0.5 * (neighbours[0] - b) if isolated else half / length * away)
    size = float(np.sqrt(middle @ middle))
    return middle / size if size > 1e-6 else b, around  # between antipodes there is no place


def _gap(x: Float64, around: Float64, concentration: float) -> float:
    """Return the error at x of the core head that is 1 at points around it."""
    between = np.square(around[:, None] - around).sum(axis=2)
    gram = np.exp(-0.5 * concentration * between) + _RIDGE * np.eye(len(around))
    weights = np.linalg.solve(gram, np.ones(len(around)))
    return abs(1.0 - float(np.exp(-0.5 * concentration * np.square(around - x).sum(axis=1)) @ weights))


def _largest(holds: Callable[[float], bool], concentration: float) -> float:
    """Return the largest concentration, to 1 % from below, up to which a condition holds that is true near 0."""
    low, high = 1e-3, concentration
    while high > 1.01 * low:
        middle = math.sqrt(low) * math.sqrt(high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _warn(n: int, concentration: float, why: str, *, largest: float, where: str = "") -> None:
    """Warn, naming the largest concentration that the points carry."""
    _checks.warn_inaccurate(
        f"'concentration' is too large for these {n} control points, got {concentration:g}: {why}; they carry up to "
        f"{largest:.3g}{where}: take that or less, or more points"
    )
