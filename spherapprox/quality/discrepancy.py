"""Discrepancy of weighted points over the caps of S^m: the L2 one by Stolarsky's principle, and the largest one."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .. import _checks
from .._kernels import caps, chords
from ..partition import EqualMeasurePartition
from .blocks import in_order, slices
from .interval import Interval

Floats = NDArray[np.float64]

_BLOCK = 2**18
"""Elements of one work array: 2 MiB."""

_FIRST = 2**9
"""Cells of the coarsest partition that is searched; each finer one has four times as many."""

_STARTS = 3
"""Centres of each partition from which a better one is searched nearby."""


def mean_chord(dim: int) -> float:
    """Return the mean of |x - y| over S^m x S^m, 2^m Gamma((m+1)/2)^2 / (sqrt(pi) Gamma(m + 1/2)), to 1e-15.

    It is 4/pi for m = 1, 4/3 for m = 2, and two dimensions more bring the factor 1 + 1/((2m+1)(2m+3)).

    Examples
    --------
    >>> from spherapprox.quality.discrepancy import mean_chord
    >>> round(mean_chord(2), 12)
    1.333333333333
    """
    j = np.arange(2.0 - dim % 2, dim, 2.0)
    return (4.0 / math.pi if dim % 2 else 4.0 / 3.0) * math.exp(math.fsum(np.log1p(1.0 / ((2 * j + 1) * (2 * j + 3)))))


def half_mean_height(dim: int) -> float:
    """Return half the mean of |x_1| over S^m, Gamma((m+1)/2) / (2 sqrt(pi) Gamma(m/2 + 1)), to 1e-15.

    It is 1/pi for m = 1, 1/4 for m = 2, and two dimensions more bring the factor (m+1)/(m+2).
    """
    j = np.arange(2.0 - dim % 2, dim, 2.0)
    return (1.0 / math.pi if dim % 2 else 0.25) * math.exp(math.fsum(np.log1p(-1.0 / (j + 2.0))))


def l2(x: Floats, weights: Floats, *, workers: int = 1) -> float:
    """Return the root of the mean square error of caps' weights as their measure.

    Parameters
    ----------
    x : ndarray, shape (n, dim+1)
        Points by their direction.
    weights : ndarray, shape (n,)
        Weights of any sign, with a sum near 1.
    workers : int
        Number of threads; the result does not depend on it.

    Returns
    -------
    float
        The root of the integral of ``(sum of the weights in C - sigma(C))^2`` over the caps C = {y: <c, y> >= t}, for
        dsigma(c) dt, -1 <= t <= 1.

    Raises
    ------
    ValueError
        If there are too many points.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.quality import discrepancy
    >>> poles = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
    >>> round(discrepancy.l2(poles, np.array([0.5, 0.5])) ** 2, 12)  # (4/3 - 1)/4
    0.083333333333
    """
    n, dim = len(x), x.shape[1] - 1
    what = f"the cap discrepancy of {n} points of S^{dim}"
    _checks.operations(0.5 * n * n * (dim + 3.0), what, "take fewer points")
    _checks.memory(24.0 * n * (dim + 2.0), what, "take fewer points")
    columns = np.ascontiguousarray((x / np.sqrt(np.einsum("ij,ij->i", x, x))[:, None]).T)

    def rows(some: slice) -> Floats:
        out = np.empty(some.stop - some.start)
        chords.sums(columns, weights, some.start, out)
        return out

    sums = np.concatenate(list(in_order(rows, slices(n, max(16, n // 256)), workers)))
    excess = math.fsum([*weights.tolist(), -1.0])
    mean = mean_chord(dim)
    # (2 W - 1) V - sum_jk w_j w_k |x_j - x_k| with W = 1 + excess
    rest = math.fsum([mean, 2.0 * excess * mean, *(-2.0 * weights * sums).tolist()])
    return math.sqrt(max(excess**2 + half_mean_height(dim) * rest, 0.0))


def sup(x: Floats, weights: Floats, *, cells: int, workers: int = 1) -> Interval:
    """Return an enclosure of the largest difference between a cap's weight, over the sum of all, and its measure.

    Parameters
    ----------
    x : ndarray, shape (n, dim+1)
        Points by their direction.
    weights : ndarray, shape (n,)
        Weights with a positive sum; none may be negative if dim > 1.
    cells : int
        How many cells the finest partition has whose cells are searched for the cap's centre.
    workers : int
        Number of threads; the result does not depend on it.

    Returns
    -------
    Interval
        Exact on S^1. Elsewhere `at` is the centre of a cap, closed or open, with the difference `lower`.

    Raises
    ------
    ValueError
        If a weight is negative on S^m, m > 1, or the search would take too many operations.
    """
    n, dim = len(x), x.shape[1] - 1
    x = x / np.sqrt(np.einsum("ij,ij->i", x, x))[:, None]
    weights = weights / math.fsum(weights)
    if dim == 1:
        return _kuiper(x, weights)
    if weights.min() < 0.0:
        raise ValueError(
            f"'weights' must not be negative for norm='sup' on S^{dim}, got {weights.min():g}: norm='l2' takes any sign"
        )
    what = f"the cap discrepancy of {n} points of S^{dim} with 'cells' = {cells}"
    _checks.operations(float(cells) * n * (dim + 100.0), what, "lower 'cells' or take fewer points")
    return _search(x, weights, cells, workers)


def _kuiper(x: Floats, weights: Floats) -> Interval:
    """Return the largest difference over the arcs of S^1: max - min of F - u for the weight F up to azimuth u."""
    turns, which = np.unique(np.arctan2(x[:, 1], x[:, 0]) / (2.0 * np.pi), return_inverse=True)
    share = np.bincount(which.ravel(), weights)
    after = np.cumsum(share) - turns
    high, low = np.maximum(after, after - share), np.minimum(after, after - share)
    last, first = int(np.argmax(high)), int(np.argmin(low))
    value = float(high[last] - low[first])
    middle = np.pi * (2.0 * turns[first] + (turns[last] - turns[first]) % 1.0)
    return Interval(value, value, np.array([math.cos(middle), math.sin(middle)]))


def _search(x: Floats, weights: Floats, cells: int, workers: int) -> Interval:
    """Search partitions of more and more cells, each only where the one before left room for a larger difference."""
    dim = x.shape[1] - 1
    best, upper = Interval(0.0, 1.0, x[0]), 1.0
    left, reach = None, 0.0
    for n in _ladder(cells):
        centers, radii = _half(EqualMeasurePartition(dim, n))
        if left is not None:
            near = _within(centers, left, reach + float(radii.max()))
            centers, radii = centers[near], radii[near]
        if not len(centers):
            upper = best.lower
            break
        lower, above = _of_centers(centers, radii, x, weights, workers)
        starts = [best, *(Interval(float(lower[k]), 1.0, centers[k]) for k in np.argsort(-lower)[:_STARTS])]
        best = max((_climb(start, float(radii.max()), x, weights) for start in starts), key=lambda found: found.lower)
        upper = min(upper, max(float(above.max()), best.lower))
        left, reach = centers[above > best.lower], float(radii.max())
        if not len(left):
            break
    return Interval(best.lower, upper, best.at)


def _ladder(cells: int) -> list[int]:
    """Return the counts of cells, up to the last one by factors of 4."""
    counts = [cells]
    while counts[-1] >= 4 * _FIRST:
        counts.append(counts[-1] // 4)
    return counts[::-1]


def _half(partition: EqualMeasurePartition) -> tuple[Floats, Floats]:
    """Return centres and radii of the cells that meet the northern half: a cap's complement has its centre there."""
    centers, radii = partition.centers(), partition.radii()
    north = centers[:, -1] >= -np.sin(np.minimum(radii, 0.5 * np.pi)) - 1e-12
    return centers[north], radii[north]


def _within(points: Floats, left: Floats, distance: float) -> NDArray[np.bool_]:
    """Tell which points are within a distance of one of those that are left."""
    from scipy.spatial import cKDTree

    chord = 2.0 * math.sin(0.5 * min(distance, math.pi)) + 1e-12
    distance_to_left, _ = cKDTree(left).query(points, distance_upper_bound=chord)
    return np.asarray(np.isfinite(distance_to_left))


def _climb(start: Interval, step: float, x: Floats, weights: Floats) -> Interval:
    """Return a better centre nearby, if one is found: random steps of falling length."""
    rng = np.random.default_rng(0)
    best = start
    for _ in range(24):
        tries = best.at + step / math.sqrt(len(best.at)) * rng.standard_normal((16, len(best.at)))
        tries /= np.linalg.norm(tries, axis=1, keepdims=True)
        lower, _ = _of_centers(tries, np.zeros(len(tries)), x, weights, 1)
        k = int(np.argmax(lower))
        if lower[k] > best.lower:
            best = Interval(float(lower[k]), 1.0, tries[k])
        else:
            step *= 0.5
    return best


def _of_centers(centers: Floats, radii: Floats, x: Floats, weights: Floats, workers: int) -> tuple[Floats, Floats]:
    """Return each cell's largest difference over the caps about its centre, and a bound of it for the whole cell.

    A cap about any point of the cell lies between the caps about the centre that are smaller and larger by the radius.
    """
    n, dim = len(x), x.shape[1] - 1
    # what rounded cosines move angles by, twice
    radii = np.minimum(radii + 4.0 * math.sqrt((dim + 3) * np.finfo(float).eps), np.pi)
    columns = np.ascontiguousarray(x.T)
    equal = bool(np.ptp(weights) == 0.0)
    lower, upper = np.empty(len(centers)), np.empty(len(centers))

    def part(some: slice) -> None:
        t = np.empty((some.stop - some.start, n))
        caps.cosines(centers[some], columns, t)
        if equal:
            t.sort(axis=1)
            share = np.full(t.shape, 1.0 / n)
        else:
            order = np.argsort(t, axis=1)
            t, share = np.take_along_axis(t, order, 1), weights[order]
        caps.differences(dim, t, share, radii[some], lower[some], upper[some])

    for _ in in_order(part, slices(len(centers), max(1, _BLOCK // n)), workers):
        pass
    return lower, upper + n * np.finfo(float).eps
