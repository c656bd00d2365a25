"""Errors of a quadrature rule of S^m over the harmonics of each degree, by an orthonormal basis and without its table.

docs/theorems/5.7-quadrature-error.md. With colatitudes from the last axis a harmonic of degree l on S^m is one of
degree l' <= l on S^(m-1) times a function of the colatitude, so the sums over all points are matrix products, one for
each l'. Points of one colatitude share that function, and their harmonics of S^(m-1) are summed first.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .. import _checks
from .._loading import load
from .._threads import in_order, max_threads, slices
from .._types import Float64, Int64
from ..harmonics.hyperspherical import log_columns, powers, seeds, sizes, solid_harmonics
from .nearest import unit

ARRAY_ELEMENTS = 2**20  # elements of one work array: 8 MiB
_DIGITS = 46  # colatitudes that agree in so many binary digits count as one: more than rounding separates


def errors_by_degree(
    x: Float64, weights: Float64, degree: int, *, workers: int | None = None, elements: int = ARRAY_ELEMENTS
) -> Float64:
    """Return the errors (L+1,) of `PointSet.quadrature_error`, of directions (n, dim+1) and any weights (n,).

    ``sqrt(sum_j |sum_k weights_k Y_lj(x_k)|^2)`` over an orthonormal basis (normalised measure) of each degree l >= 1;
    for l = 0 the size of ``sum_k weights_k - 1``. Work arrays have at most so many elements.
    """
    dim = x.shape[1] - 1
    workers = _affordable_threads(len(x), dim, degree, workers=workers)
    squares = (_circle_errors if dim == 1 else _sphere_errors)(
        unit(x), weights, degree, workers=workers, elements=elements
    )
    squares[0] = math.fsum([*weights.tolist(), -1.0]) ** 2
    return np.sqrt(squares)


def _affordable_threads(n: int, dim: int, degree: int, workers: int | None) -> int:
    """Return as many threads as memory has room for; refuse what exceeds the limits with a single one."""
    basis, inner = (math.exp(min(log_columns(degree, k), 500.0)) if k else 1.0 for k in (dim, dim - 1))
    what = f"the quadrature error to 'degree' = {degree} of {n} points of S^{dim}"
    thread = 8.0 * (basis + 2.0 * max(inner, ARRAY_ELEMENTS) + ARRAY_ELEMENTS)
    others = 8.0 * (3.0 * basis + 3.0 * n * (dim + 1))
    _checks.memory(others + thread, what, "lower 'degree'")
    _checks.operations(n * (inner + basis), what, "lower 'degree' or take fewer points")
    return min(max_threads(workers), int((_checks.MEMORY_LIMIT - others) / thread))


def _circle_errors(x: Float64, weights: Float64, degree: int, *, workers: int | None, elements: int) -> Float64:
    """Return the squared errors of each degree on S^1, |sum_k w_k sqrt(2) exp(i l phi_k)|^2."""
    z = x[:, 0] + 1j * x[:, 1]  # (n,)

    def part(block: slice) -> Float64:
        sums = (powers(z[block], degree) * weights[block]).sum(axis=1)  # (L+1,)
        return np.concatenate([sums.real, sums.imag])

    sums = _sum(part, slices(len(z), max(1, elements // (2 * degree + 2))), workers)
    return 2.0 * (sums[: degree + 1] ** 2 + sums[degree + 1 :] ** 2)


def _sphere_errors(x: Float64, weights: Float64, degree: int, *, workers: int | None, elements: int) -> Float64:
    """Return the squared errors of each degree on S^m, m >= 2."""
    dim = x.shape[1] - 1
    inner = sizes(degree, dim - 1)
    offsets = np.concatenate([[0], np.cumsum(inner)])
    constants = seeds(dim, degree)
    # Step 1: the points in the order of their parallels
    order, starts, cosine, sine = _parallels(x)
    x, weights = x[order, :-1], weights[order]
    x /= np.where(sine > 0.0, sine, 1.0)[:, None]  # 0 at the poles, where only l' = 0 counts
    ends = np.append(starts[1:], len(x))
    step = max(1, elements // max(int(offsets[-1]), degree + 1))

    # Step 2: sums over the points of each parallel, times functions of its colatitude (5.7, a basis)
    def part(block: slice) -> Float64:
        first, last = starts[block][0], ends[block][-1]
        sums = np.zeros((int(offsets[-1]), block.stop - block.start))
        for chunk in slices(last - first, step):
            rows = slice(first + chunk.start, first + chunk.stop)
            table = solid_harmonics(x[rows].T, weights[rows], offsets, constants=constants)
            # the columns of each parallel are added to its column of the sums
            low = int(np.searchsorted(starts[block], rows.start, side="right")) - 1
            high = int(np.searchsorted(starts[block], rows.stop, side="left"))
            cuts = np.maximum(starts[block][low:high] - rows.start, 0)
            sums[:, low:high] += table if len(cuts) == table.shape[1] else np.add.reduceat(table, cuts, axis=1)
        t, s = cosine[starts[block]], sine[starts[block]]
        return _against_colatitude(dim, t, s, offsets=offsets, scale=constants[-1], sums=sums)

    parallels = slices(len(starts), min(step, max(16, -(-len(starts) // 16))))
    sums = _sum(part, parallels, workers)
    # Step 3: the squares of each degree
    squares, first = np.zeros(degree + 1), 0
    for low, count in enumerate(inner):
        block = sums[first : first + (degree - low + 1) * count].reshape(-1, count)  # (L-l'+1, count)
        squares[low:] += np.einsum("ij,ij->i", block, block)
        first += block.size
    return squares


def _parallels(x: Float64) -> tuple[Int64, Int64, Float64, Float64]:
    """Return the order by colatitude, the starts of the parallels in it, and cosine and sine in that order."""
    t, s = x[:, -1], np.sqrt(np.einsum("ij,ij->i", x[:, :-1], x[:, :-1]))
    s[s < 1e-140] = 0.0  # its square is no longer a normal number
    fraction, exponent = np.frexp(np.arctan2(s, np.abs(t)))
    angle = np.ldexp(np.rint(np.ldexp(fraction, _DIGITS)), exponent - _DIGITS)
    order = np.lexsort((angle, t < 0.0))
    angle, t, s = angle[order], t[order], s[order]
    new = (np.diff(angle) != 0.0) | (np.diff(t < 0.0))
    return order, np.concatenate([[0], np.flatnonzero(new) + 1]), t, s


def _against_colatitude(dim: int, t: Float64, s: Float64, *, offsets: Int64, scale: Float64, sums: Float64) -> Float64:
    """Return the sums over parallels times functions of the colatitude: for each l' a block of the degrees l >= l'."""
    degree = len(scale) - 1
    functions, blocks = np.empty((degree + 1, len(t))), []
    kernels = load("spherapprox._kernels.harmonics.hyperspherical")
    for low in range(degree + 1):
        rows = functions[: degree + 1 - low]
        kernels.of_colatitude(dim, low, scale[low], t, s, rows)
        blocks.append((rows @ sums[offsets[low] : offsets[low + 1]].T).ravel())
    return np.concatenate(blocks)


def _sum(function: Callable[[slice], Float64], tasks: list[slice], workers: int | None) -> Float64:
    """Return the sum of a function's results for the tasks, in their order and compensated."""
    total = function(tasks[0])
    carry = np.zeros_like(total)
    for part in in_order(function, tasks[1:], workers):
        ahead = total + part
        gain = ahead - total
        carry += (total - (ahead - gain)) + (part - gain)
        total = ahead
    return total + carry
