"""The recursive zonal partition of S^m into cells of equal measure: centres, location and exact radii, by descent."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _checks, special
from ._kernels import descent

__all__ = ["EqualMeasurePartition"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_MAX_DIM = 10**6
"""Largest dimension: angles of caps have their digits up to it."""

_ROWS = 2**15
"""Rows that one descent takes together: its scratch stays in the processor's cache."""

_SCRATCH = 2**22
"""Numbers in the scratch of one descent of given points."""

_CACHED_BOUNDARIES = 2**20
"""Boundaries that the cache of tables may hold (32 bytes each)."""


@dataclass(frozen=True)
class EqualMeasurePartition:
    """Partition of S^m into n cells of measure 1/n each.

    Two polar caps and, between them, collars of nearly equal angle; each collar is the product of an interval of
    colatitude with such a partition of S^(m-1) [1]_. Nothing of size n is stored.

    Parameters
    ----------
    dim : int
        The manifold's dimension m of the sphere S^m in R^(m+1), 1 to 1e6.
    n : int
        The number of cells, at least 1; at most 2^53 for dim 1 and 2, 1e12 beyond.

    Raises
    ------
    TypeError, ValueError
        If `dim` or `n` is not such an integer.

    Notes
    -----
    The pole is the last axis. Cells are numbered from north to south and inside a collar as the partition of S^(m-1)
    is; on S^1 cell i is the arc [2 pi i/n, 2 pi (i+1)/n) of azimuth from the first axis. A cell's centre is the middle
    of its intervals, a cap's centre is the pole; one cell alone has the pole as centre and radius pi. Cells are
    half-open, so that every point lies in exactly one.

    Counts of cells in the collars are those of Leopardi's algorithm; where an ideal count is a tie, it is rounded up
    going south. Colatitudes are those of caps of measure k/n, accurate to 1e-15 of the angle.

    References
    ----------
    .. [1] P. Leopardi, "A partition of the unit sphere into regions of equal area and small diameter", Electronic
       Transactions on Numerical Analysis 25 (2006), 309-327.

    Examples
    --------
    >>> from spherapprox import EqualMeasurePartition
    >>> partition = EqualMeasurePartition(2, 10)
    >>> partition.collar_counts
    array([1, 4, 4, 1])
    >>> partition.centers(0, 2).round(4)
    array([[0.    , 0.    , 1.    ],
           [0.6325, 0.6325, 0.4472]])
    >>> partition.locate([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    array([9, 6])
    >>> round(partition.radius, 6)
    0.886077
    """

    dim: int
    n: int

    def __post_init__(self) -> None:
        dim = _checks.dimension(self.dim, maximum=_MAX_DIM)
        limit = 2**53 if dim <= 2 else 10**12
        n = _checks.integer(self.n, "n", minimum=1, maximum=limit, why=f"cells of S^{dim} are numbered up to {limit:g}")
        object.__setattr__(self, "dim", dim)
        object.__setattr__(self, "n", n)

    def __len__(self) -> int:
        return self.n

    def __reduce__(self) -> tuple[type[EqualMeasurePartition], tuple[int, int]]:
        return type(self), (self.dim, self.n)

    @property
    def measure(self) -> float:
        """Normalised measure of each cell, 1/n."""
        return 1.0 / self.n

    @property
    def collar_counts(self) -> Integers:
        """Numbers of cells in the zones from north to south, polar caps included; one zone of n arcs on S^1."""
        if self.dim == 1 or self.n == 1:
            return np.array([self.n])
        if self.dim == 2:
            counts = np.empty(descent.zone_counts(self.n, np.empty(0, dtype=np.int64)), dtype=np.int64)
            descent.zone_counts(self.n, counts)
            return counts
        first = _level(self.dim, np.array([self.n])).first
        return np.concatenate([first[:1], first[1:] - first[:-1], self.n - first[-1:]])

    @cached_property
    def radius(self) -> float:
        """Largest distance from a cell's centre to a point of its closure, exact; computed once.

        It is a covering radius of the centres, and the rho of docs/theorems.md, 4.3 and 4.4.
        """
        return _radius(self.dim, self.n)

    def centers(self, start: int = 0, stop: int | None = None) -> Floats:
        """Return the centres of cells ``start``, ..., ``stop - 1``.

        Parameters
        ----------
        start : int, default 0
            The first cell.
        stop : int, optional
            One past the last cell; None means `n`.

        Returns
        -------
        ndarray, shape (stop - start, dim+1)
            Points of unit length to a few 1e-16; a centre is the same to the bit whichever range it comes in.

        Raises
        ------
        ValueError
            Unless ``0 <= start <= stop <= n``, or if the result would not fit into memory.
        """
        start, stop = self._range(start, stop, 8 * (self.dim + 1))
        out = np.zeros((stop - start, self.dim + 1))
        if self.dim == 1:
            descent.arc_centers(start, self.n, out)
            return out
        for low in range(start, stop, _ROWS):
            self._write_centers(low, out[low - start : low - start + _ROWS])
        return out

    def locate(self, x: ArrayLike) -> Integers:
        """Return the number of the cell that holds each point.

        Parameters
        ----------
        x : array_like, shape (n, dim+1)
            Points of unit length.

        Returns
        -------
        ndarray of int64, shape (n,)

        Raises
        ------
        ValueError
            If `x` has another number of columns or rows that are not of unit length.
        """
        rows = _checks.rows(x, dim=self.dim)
        index = np.zeros(len(rows), dtype=np.int64)
        step = min(_ROWS, max(1, _SCRATCH // (self.dim + 1)))
        for low in range(0, len(rows), step):
            part = slice(low, low + step)
            self._write_indices(rows[part].astype(np.float64, order="C"), index[part])
        return index

    def radii(self, start: int = 0, stop: int | None = None) -> Floats:
        """Return the exact radii of cells ``start``, ..., ``stop - 1`` about their centres.

        Parameters
        ----------
        start, stop : int
            As in `centers`.

        Returns
        -------
        ndarray, shape (stop - start,)

        Raises
        ------
        ValueError
            As in `centers`.
        """
        start, stop = self._range(start, stop, 8)
        if self.dim == 1:
            return np.full(stop - start, np.pi / self.n)
        out = np.empty(stop - start)
        for low in range(start, stop, _ROWS):
            part = out[low - start : low - start + _ROWS]
            zones, count, local = self._zones(low, len(part))
            descent.cap_cell_radii(count, local, part)
            for lower, upper in reversed(zones):
                descent.fold(lower, upper, part)
        return out

    def cell(self, i: int) -> Floats:
        """Return the intervals whose product is cell `i`.

        Parameters
        ----------
        i : int
            The cell's number, 0 <= i < n.

        Returns
        -------
        ndarray, shape (dim, 2)
            Lower and upper end of each angle of `spherapprox.sphere.to_polar`: colatitudes from the last axis
            downwards, then the azimuth.

        Raises
        ------
        ValueError
            If there is no such cell.

        Examples
        --------
        >>> from spherapprox import EqualMeasurePartition
        >>> EqualMeasurePartition(2, 10).cell(1).round(4)
        array([[0.6435, 1.5708],
               [0.    , 1.5708]])
        """
        i = _checks.integer(i, "i", minimum=0, maximum=self.n - 1, why=f"the partition has {self.n} cells")
        if self.dim == 1:
            return np.array([[2.0 * np.pi * (i / self.n), 2.0 * np.pi * ((i + 1) / self.n)]])
        zones, count, local = self._zones(i, 1)
        box = np.tile([0.0, np.pi], (self.dim, 1))
        box[-1, 1] = 2.0 * np.pi
        for level, (lower, upper) in enumerate(zones):
            box[level] = lower[0], upper[0]
        descent.cap_intervals(count, local, box[None, -2:])
        return box

    def _range(self, start: int, stop: int | None, row_bytes: int) -> tuple[int, int]:
        """Check a range of cells and the memory that its result takes."""
        stop = self.n if stop is None else _checks.integer(stop, "stop", minimum=0, maximum=self.n)
        start = _checks.integer(start, "start", minimum=0, maximum=stop, why="cells are start, ..., stop - 1")
        remedy = "ask for shorter ranges with 'start' and 'stop'"
        _checks.memory(float(stop - start) * row_bytes, f"a result for {stop - start} cells", remedy)
        return start, stop

    def _write_centers(self, start: int, out: Floats) -> None:
        """Write the centres of consecutive cells, dim >= 2."""
        local, scale = np.arange(start, start + len(out)), np.ones(len(out))

        def step(m: int, level: _Level, table: Integers, slot: Integers) -> None:
            descent.search_index(table, level.offsets, level.first, local, slot)
            descent.place(slot, level.cosine, level.sine, scale, out[:, m])

        count = _descend(self.dim, self.n, len(out), step)
        descent.cap_centers(count, local, scale, out)

    def _write_indices(self, x: Floats, index: Integers) -> None:
        """Add to `index` the numbers of the cells that hold the points."""
        if self.dim == 1:
            descent.arc_indices(x, self.n, index)
            return
        below = np.cumsum(x * x, axis=1) if self.dim > 2 else x

        def step(m: int, level: _Level, table: Integers, slot: Integers) -> None:
            tables = level.offsets, level.first, level.angle
            descent.search_point(table, tables, x[:, m], below[:, m - 1], index, slot)

        count = _descend(self.dim, self.n, len(x), step)
        descent.cap_indices(count, x, index)

    def _zones(self, start: int, rows: int) -> tuple[list[tuple[Floats, Floats]], Integers, Integers]:
        """Return the colatitudes of consecutive cells from the top to S^3, then count and number in the S^2 below."""
        local, zones = np.arange(start, start + rows), []

        def step(m: int, level: _Level, table: Integers, slot: Integers) -> None:
            descent.search_index(table, level.offsets, level.first, local, slot)
            lower, upper = np.empty(rows), np.empty(rows)
            descent.intervals(table, level.offsets, level.angle, slot, lower, upper)
            zones.append((lower, upper))

        return zones, _descend(self.dim, self.n, rows, step), local


class _Level(NamedTuple):
    """Tables of partitions of one sphere, end to end: boundaries ``offsets[t] : offsets[t + 1]`` are table t's."""

    offsets: Integers
    first: Integers  # cells north of each boundary
    angle: Floats  # its colatitude
    cosine: Floats  # of the middle of the collar south of it
    sine: Floats


def _descend(dim: int, n: int, rows: int, step: Callable[[int, _Level, Integers, Integers], None]) -> Integers:
    """Lead rows down to S^2 and return in how many cells each one's S^2 is cut, 0 for rows that ended above.

    `step` gets the sphere's dimension, its tables and each row's table, and writes the slot of the zone it goes into.
    """
    if dim == 2:
        return np.full(rows, n)
    counts, table = np.array([n]), np.zeros(rows, dtype=np.int64)
    for m in range(dim, 2, -1):
        level, slot = _level(m, counts), np.empty(rows, dtype=np.int64)
        step(m, level, table, slot)
        used = np.zeros(len(level.first), dtype=bool)
        used[slot[slot >= 0]] = True
        counts, table_of_slot = _inside(level, np.flatnonzero(used))
        table = np.where(slot >= 0, table_of_slot[np.maximum(slot, 0)], -1)
        if not counts.size:
            return np.zeros(rows, dtype=np.int64)
    return np.where(table >= 0, counts[np.maximum(table, 0)], 0)


def _inside(level: _Level, collars: Integers) -> tuple[Integers, Integers]:
    """Return the distinct counts of cells in these collars, and for each boundary which of them is south of it."""
    counts, inverse = np.unique(level.first[collars + 1] - level.first[collars], return_inverse=True)
    table_of_slot = np.full(len(level.first), -1)
    table_of_slot[collars] = inverse
    return counts, table_of_slot


def _radius(dim: int, n: int) -> float:
    """Return the largest cell radius: down through the distinct counts of each sphere, then up through their maxima.

    A cell's radius grows with that of the cell of S^(m-1) inside it, so a collar needs only the largest of those.
    """
    if dim == 1 or n == 1:
        return np.pi / n
    levels, counts = [], np.array([n])
    for m in range(dim, 2, -1):
        level = _level(m, counts)
        is_collar = np.ones(len(level.first), dtype=bool)
        is_collar[level.offsets[1:] - 1] = False
        counts, table_of_slot = _inside(level, np.flatnonzero(is_collar))
        levels.append((level, table_of_slot))
        if not counts.size:
            break
    radius = np.empty(len(counts))
    descent.cap_radii(counts, radius)
    for level, table_of_slot in reversed(levels):
        inner = np.append(radius, np.nan)[table_of_slot]
        radius = np.empty(len(level.offsets) - 1)
        descent.table_radii(level.offsets, level.angle, inner, radius)
    return float(radius[0])


_cache: OrderedDict[tuple[int, int], tuple[Integers, Floats]] = OrderedDict()
_cache_lock = threading.Lock()


def _level(dim: int, counts: Integers) -> _Level:
    """Return the tables of S^dim for these counts, from the cache where it holds them; the rest are made together."""
    keys = [(dim, count) for count in counts.tolist()]
    with _cache_lock:
        found = {key: _cache[key] for key in keys if key in _cache}
        for key in found:
            _cache.move_to_end(key)
    missing = [key for key in keys if key not in found]
    if missing:
        made = _make_level(dim, np.array([count for _, count in missing]))
        if len(made.first) > _CACHED_BOUNDARIES // 4:
            return made if not found else _make_level(dim, counts)
        trigonometry = np.stack([made.angle, made.cosine, made.sine])
        for t, key in enumerate(missing):
            part = slice(made.offsets[t], made.offsets[t + 1])
            found[key] = made.first[part].copy(), trigonometry[:, part].copy()
        _remember({key: found[key] for key in missing})
    tables = [found[key] for key in keys]
    first = np.concatenate([table[0] for table in tables])
    offsets = np.cumsum([0] + [len(table[0]) for table in tables])
    return _Level(offsets, first, *np.concatenate([table[1] for table in tables], axis=1))


def _remember(tables: dict[tuple[int, int], tuple[Integers, Floats]]) -> None:
    """Put tables into the cache and drop the least recently used ones beyond its limit."""
    with _cache_lock:
        _cache.update(tables)
        size = sum(len(first) for first, _ in _cache.values())
        while size > _CACHED_BOUNDARIES:
            size -= len(_cache.popitem(last=False)[1][0])


def _make_level(dim: int, counts: Integers) -> _Level:
    """Make the tables of S^dim, dim >= 3, for these counts."""
    cap = np.where(counts == 1, np.pi, np.pi / 2)
    many = counts >= 3
    cap[many] = special.cap_angle(dim, -np.log(counts[many]))
    # the angle of a cube of measure 1/n, and how many of it fit between the caps
    ideal = np.exp((special.log_surface_area(dim) - np.log(counts)) / dim)
    collars = np.where(many, np.maximum(1, np.floor((np.pi - 2.0 * cap) / ideal + 0.5)), 0).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(collars + 1)])
    table = np.repeat(np.arange(len(counts)), collars + 1)
    j = np.arange(offsets[-1]) - offsets[table]
    first = _first(dim, counts[table], cap[table], collars[table], j)
    angle = np.where(first == 1, cap[table], _boundary(dim, counts[table], first))
    middle = 0.5 * (angle + np.append(angle[1:], np.pi))
    return _Level(offsets, first, angle, np.cos(middle), np.sin(middle))


def _first(dim: int, n: Integers, cap: Floats, collars: Integers, j: Integers) -> Integers:
    """Return the number of cells north of boundary j: n times the measure there, rounded half up.

    This is Leopardi's rounding with the remainder carried along, summed. Measures are taken from the nearer pole.
    """
    nearer = np.minimum(j, collars - j)
    angle = np.minimum(cap + nearer * ((np.pi - 2.0 * cap) / np.maximum(collars, 1)), np.pi / 2)
    ideal = n * np.exp(special.log_cap_measure(dim, angle))
    first: Integers = np.where(2 * j < collars, np.floor(ideal + 0.5), n - np.ceil(ideal - 0.5)).astype(np.int64)
    first[2 * j == collars] = (n[2 * j == collars] + 1) // 2
    first[j == collars] = n[j == collars] - 1
    first[j == 0] = 1
    return first


def _boundary(dim: int, n: Integers, first: Integers) -> Floats:
    """Return the colatitude of the cap that holds `first` of n cells, from the nearer pole."""
    nearer = np.minimum(first, n - first)
    angle = np.full(len(n), np.pi / 2)
    inner = 2 * nearer < n
    inner &= nearer > 0
    angle[inner] = special.cap_angle(dim, np.log(nearer[inner]) - np.log(n[inner]))
    return np.where(2 * first <= n, angle, np.pi - angle)
