"""Discrepancy of weighted points over the caps of S^m: the L2 one by Stolarsky's principle, and the largest one."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from .. import _checks
from .._kernels.quality import caps, chords
from .._threads import in_order, slices
from .._types import Bools, Float64
from ..partition import EqualMeasurePartition
from .interval import Interval

_BLOCK = 2**18
"""Elements of one work array: 2 MiB."""

_FIRST = 2**9
"""Cells of the coarsest partition that is searched; each finer one has four times as many."""

_RANGE = 2**18
"""Coordinates of centres that are made together."""

_CELL = 200.0
"""Points whose share of the time a cell's own centre and radius take."""

_LIMIT = 3e11
"""Operations that a search may take: minutes."""

_EPS = float(np.finfo(np.float64).eps)

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


def l2(x: Float64, weights: Float64, *, workers: int | None = None) -> float:
    """Return the root of the mean square error of caps' weights as their measure.

    Parameters
    ----------
    x : ndarray, shape (n, dim+1)
        Points by their direction.
    weights : ndarray, shape (n,)
        Weights of any sign, with a sum near 1.
    workers : int or None, default None
        Threads, as in `spherapprox.evaluate`; the result is the same for any number.

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

    def rows(some: slice) -> Float64:
        out = np.empty(some.stop - some.start)
        chords.sums(columns, weights, some.start, out)
        return out

    sums = np.concatenate(list(in_order(rows, slices(n, max(16, n // 256)), workers)))
    excess = math.fsum([*weights.tolist(), -1.0])
    mean = mean_chord(dim)
    # (2 W - 1) V - sum_jk w_j w_k |x_j - x_k| with W = 1 + excess
    rest = math.fsum([mean, 2.0 * excess * mean, *(-2.0 * weights * sums).tolist()])
    return math.sqrt(max(excess**2 + half_mean_height(dim) * rest, 0.0))


def sup(x: Float64, weights: Float64, *, cells: int, workers: int | None = None) -> Interval:
    """Return an enclosure of the largest difference between a cap's weight, over the sum of all, and its measure.

    Parameters
    ----------
    x : ndarray, shape (n, dim+1)
        Points by their direction.
    weights : ndarray, shape (n,)
        Weights with a positive sum; none may be negative if dim > 1.
    cells : int
        How many cells the finest partition has whose cells are searched for the cap's centre.
    workers : int or None, default None
        Threads, as in `spherapprox.evaluate`; the result is the same for any number.

    Returns
    -------
    Interval
        `at` is the centre of a cap, closed or open, with the difference `lower`. Both sides allow for rounding: `upper`
        by ``(n + 16 + 8 sqrt(m)) eps`` (on S^1 ``(n + 16) eps`` times the sum of the weights' sizes, all that is
        between them there), eps = 2.2e-16; without negative weights neither is above 1.

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
    _checks.operations(float(cells) * (n + _CELL) * (dim + 100.0), what, "lower 'cells' or take fewer points", _LIMIT)
    _checks.memory(4.0 * cells * (dim + 3.0), what, "lower 'cells'")  # the last but one partition's half, and a tree
    found = _search(x, weights, cells, workers)
    upper = max(found.lower, found.upper) + (n + 16.0 + 8.0 * math.sqrt(dim)) * _EPS
    return Interval(min(found.lower, 1.0), min(upper, 1.0), found.at)


def _kuiper(x: Float64, weights: Float64) -> Interval:
    """Return the largest difference over the arcs of S^1: max - min of F - u for the weight F up to azimuth u."""
    turns, which = np.unique(np.arctan2(x[:, 1], x[:, 0]) / (2.0 * np.pi), return_inverse=True)
    share = np.bincount(which.ravel(), weights)
    after = np.cumsum(share) - turns
    before = after - share
    last, first = int(np.argmax(after)), int(np.argmin(before))
    value = float(after[last] - before[first])
    middle = np.pi * (2.0 * turns[first] + (turns[last] - turns[first]) % 1.0)
    at = np.array([math.cos(middle), math.sin(middle)])
    upper = value + (len(x) + 16.0) * _EPS * max(1.0, math.fsum(np.abs(weights)))
    return Interval(value, upper, at) if weights.min() < 0.0 else Interval(min(value, 1.0), min(upper, 1.0), at)


def _search(x: Float64, weights: Float64, cells: int, workers: int | None) -> Interval:
    """Search partitions of more and more cells, each only where the one before left room for a larger difference."""
    best, upper, left = Interval(0.0, 1.0, x[0]), 1.0, None
    for n in _ladder(cells):
        level = _Level(best)
        for centers, radii in _cells(EqualMeasurePartition(x.shape[1] - 1, n), left, workers):
            level.add(centers, radii, *_of_centers(centers, radii, x, weights, workers), keep=n < cells)
        if not level.starts:
            upper = best.lower
            break
        starts = [best, *level.starts]
        best = max((_climb(start, level.radius, x, weights) for start in starts), key=lambda found: found.lower)
        upper = min(upper, max(level.above, best.lower))
        if level.above <= best.lower:
            break
        left = _Left(*level.left(best.lower)) if n < cells else None
    return Interval(best.lower, upper, best.at)


class _Left:
    """Cells of a partition that may hold a centre of a cap with a larger difference."""

    def __init__(self, centers: Float64, radii: Float64) -> None:
        from scipy.spatial import cKDTree

        self._tree, self._radius = cKDTree(centers), float(radii.max())

    def near(self, centers: Float64, radii: Float64) -> Bools:
        """Tell which cells may meet them."""
        distance = self._radius + float(radii.max())
        chord = 2.0 * math.sin(0.5 * min(distance, math.pi)) + 1e-12
        return np.asarray(np.isfinite(self._tree.query(centers, distance_upper_bound=chord)[0]))


class _Level:
    """What is known of a partition's cells: the best centres, the largest bound, and the cells to be cut further."""

    def __init__(self, best: Interval) -> None:
        self.starts: list[Interval] = []
        self.above = self.radius = 0.0
        self._least = best.lower
        self._kept: list[tuple[Float64, Float64, Float64]] = []

    def add(self, centers: Float64, radii: Float64, lower: Float64, above: Float64, *, keep: bool) -> None:
        """Take in cells with the largest differences at their centres and the bounds."""
        top = np.argsort(-lower, kind="stable")[:_STARTS]
        found = [*self.starts, *(Interval(float(lower[k]), 1.0, centers[k].copy()) for k in top)]
        self.starts = sorted(found, key=lambda one: -one.lower)[:_STARTS]
        self.above, self.radius = max(self.above, float(above.max())), max(self.radius, float(radii.max()))
        self._least = max(self._least, self.starts[0].lower)
        if keep:
            some = above > self._least
            self._kept.append((centers[some], radii[some], above[some]))

    def left(self, least: float) -> tuple[Float64, Float64]:
        """Return centres and radii of the cells with a bound above the least."""
        some = [above > least for *_, above in self._kept]
        kept = [(c[k], r[k]) for (c, r, _), k in zip(self._kept, some, strict=True)]
        return np.concatenate([c for c, _ in kept]), np.concatenate([r for _, r in kept])


def _cells(
    partition: EqualMeasurePartition, left: _Left | None, workers: int | None
) -> Iterator[tuple[Float64, Float64]]:
    """Yield centres and radii, range by range, of the cells that meet the northern half and those that are left.

    The northern half suffices: where a cap's centre is south, its complement's is north.
    """
    for some in slices(partition.n, max(64, _RANGE // (partition.dim + 1))):
        centers = partition.centers(some.start, some.stop, workers=workers)
        radii = partition.radii(some.start, some.stop)
        take = centers[:, -1] >= -np.sin(np.minimum(radii, 0.5 * np.pi)) - 1e-12
        if left is not None and take.any():
            take[take] = left.near(centers[take], radii[take])
        if take.any():
            yield centers[take], radii[take]


def _ladder(cells: int) -> list[int]:
    """Return the counts of cells, up to the last one by factors of 4."""
    counts = [cells]
    while counts[-1] >= 4 * _FIRST:
        counts.append(counts[-1] // 4)
    return counts[::-1]


def _climb(start: Interval, step: float, x: Float64, weights: Float64) -> Interval:
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


def _of_centers(
    centers: Float64, radii: Float64, x: Float64, weights: Float64, workers: int | None
) -> tuple[Float64, Float64]:
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
