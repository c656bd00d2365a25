"""The numpy method: all pairs without compiled code, which a short program need not load, and as a reference.

A call is slower by 5 to 20 times than the dense method's, and the first one faster by the time that kernels take to
load, 0.4 seconds, or to be compiled, once on a machine.
"""

from __future__ import annotations

import numpy as np

from .._kernels.summation.layout import NEAR
from .._types import Float64, Floats
from .dense import all_pairs, obstacle, promise
from .method import Report, Sums, Tolerance
from .partial import Partial, merge, write_rows
from .problem import Problem

__all__ = ["cost", "memory", "obstacle", "promise", "sums"]

TILE = (128, 512)  # evaluation and control points of a tile: its two buffers are 1 MiB. Tuned.
CHAIN, PRODUCTS_CHAIN = 64, 24
"""Terms of a sum, and products of an inner product, that are added one after another, as in the kernels."""
PRODUCTS_RATE = 1e12
"""Half a concentration from which on squared distances are from differences alone, the same bits in every tile: einsum
adds products in an order of its own, and exponents that differ by their roundings would make quotients infinite."""
CALL, RATE = 3e5, 3e9  # work that takes as long as a call does besides its own, and work per second. Measured.


def sums(problem: Problem, tolerance: Tolerance, workers: int | None, report: Report) -> Sums:
    """Return the sums over all control points by one thread, which leave out nothing."""
    n = len(problem.b)
    step = _step(len(problem.x))
    state = _states(problem, step, report)
    bound = all_pairs.rounding_bound(problem, float(state.shift.max()), merges=n // step)
    return Sums(state if problem.normalize else state._replace(denominator=np.zeros(len(problem.x))), bound)


def cost(problem: Problem, tolerance: Tolerance) -> float:
    """Estimate the seconds."""
    return (CALL + problem.work) / RATE


def memory(problem: Problem, tolerance: Tolerance) -> float:
    """Estimate the bytes that are held at once: the buffers of a tile, sizes of values, and states that are merged."""
    m, n, p, pairs = len(problem.x), len(problem.b), problem.p, TILE[0] * TILE[1]
    # 8 bytes for each of these, the differences of near pairs among them
    tile = pairs * (2.5 + (1.0 + 0.5 * (problem.dim + 1)) * problem.by_products)
    return 8.0 * (tile + 2.0 * n + m * (6.0 * p + 9.0 if n > _step(m) else 3.0 * p + 6.0))


def _step(m: int) -> int:
    """Return the number of control points of a block, more where evaluation points are few."""
    return TILE[1] * max(1, TILE[0] // m)


def _states(problem: Problem, step: int, report: Report) -> Partial:
    """Return the sums over all control points, block by block."""
    state, n = None, len(problem.b)
    defects = half_defects(problem.x) if problem.by_products and problem.rate < PRODUCTS_RATE else None
    for first in range(0, n, step):
        part = slice(first, min(first + step, n))
        block = _block_sums(problem, part, defects)
        state = block if state is None else merge(state, block, problem.rate)
        report(len(problem.x) * (part.stop - first))
    assert state is not None
    return state


def _block_sums(problem: Problem, part: slice, defects: Float64 | None) -> Partial:
    """Return the sums over a block of control points, tile by tile."""
    m, (b, offset, w) = len(problem.x), problem.controls(part)
    block = Partial(np.empty(m), np.empty((m, problem.p)), np.empty(m))
    of_block = None if defects is None else half_defects(b)
    for first in range(0, m, TILE[0]):
        rows = slice(first, first + TILE[0])
        tile_defects = None if defects is None or of_block is None else (defects[rows], of_block)
        stretch = problem.stretched(part)
        write_rows(
            block,
            rows,
            tile_sums(problem.x[rows], b, offset, w=w, rate=problem.rate, defects=tile_defects, stretch=stretch),
        )
    return block


def tile_sums(
    x: Floats, b: Floats, offset: Float64, w: Float64, rate: float, defects: tuple[Float64, Float64] | None = None,
    stretch: Float64 | None = None,
) -> Partial:  # fmt: skip
    """Return the triple of one tile; with the half defects of both sets of points, distances are from products."""
    t = _from_differences(x[:, None], b) if defects is None else _from_products(x, b, *defects)  # (m, n)
    if stretch is not None:
        t *= stretch
    t += offset
    nearest = t.min(axis=1)  # (m,)
    angles = 2.0 * np.arcsin(np.minimum(0.5 * np.sqrt(t), 1.0)) if w.shape[1] == 0 else None
    t -= nearest[:, None]
    t *= -rate
    np.exp(t, out=t)
    numerators = _sums(t, w) if angles is None else np.einsum("ij,ij->i", t, angles)[:, None]  # (m, p)
    return Partial(nearest, numerators, t.sum(axis=1))


def _sums(e: Float64, w: Float64) -> Float64:
    """Return ``e @ w`` without BLAS, whose order of additions is its own."""
    columns = np.ascontiguousarray(w.T)  # (p, n)
    total = np.zeros((len(e), len(columns)))
    for first in range(0, len(w), CHAIN):
        part = slice(first, first + CHAIN)
        total += np.einsum("ij,kj->ik", e[:, part], columns[:, part])
    return total


def _from_differences(x: Floats, b: Floats) -> Float64:
    """Return ``|x - b|^2`` of rows that broadcast, (m, n) of (m, 1, d) and (n, d): to the same bits for each pair."""
    t = np.zeros(np.broadcast_shapes(x.shape[:-1], b.shape[:-1]))
    difference = np.empty_like(t)
    for j in range(x.shape[-1]):
        np.subtract(x[..., j], b[..., j], out=difference, dtype=np.float64)
        np.multiply(difference, difference, out=difference)
        t += difference
    return t


def _from_products(x: Floats, b: Floats, x_defects: Float64, b_defects: Float64) -> Float64:
    """Return ``|x - b|^2``, (m, n): from products, and from differences where they would be less accurate."""
    x, b = x.astype(np.float64, copy=False), b.astype(np.float64, copy=False)
    columns = np.ascontiguousarray(b.T)  # (d, n)
    t = np.zeros((len(x), len(b)))
    for first in range(0, len(columns), PRODUCTS_CHAIN):
        part = slice(first, first + PRODUCTS_CHAIN)
        t += np.einsum("ij,jk->ik", x[:, part], columns[part])
    # 4.8, products: t = 2 - 2 (<x, b> + delta_x + delta_b)
    t += x_defects[:, None]
    t += b_defects
    t *= -2.0
    t += 2.0
    i, k = np.nonzero(t < NEAR)
    if 4 * len(i) > t.size:
        return _from_differences(x[:, None], b)
    t[i, k] = _from_differences(x[i], b[k])
    return t


def half_defects(rows: Floats) -> Float64:
    """Return ``(1 - |row|^2)/2`` of each row of about unit length, with an error far below its own rounding of 1."""
    rows = rows.astype(np.float64, copy=False)
    # 4.8, proof: |x|^2 - 1 = (sum h_i^2 - 1) + sum (x_i - h_i) (x_i + h_i)
    high = np.rint(rows * 2.0**26) / 2.0**26
    low = np.einsum("ij,ij->i", rows - high, rows + high)
    return np.asarray(0.5 * ((1.0 - np.einsum("ij,ij->i", high, high)) - low))
