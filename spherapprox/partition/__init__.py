"""The recursive zonal partition of S^m into cells of equal measure: centres, location and exact radii, by descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._threads import each_block
from .._types import Float64, Int64, Seed
from . import cells, kinds
from .levels import zones
from .measured import Measured
from .writers import cells_together, center_writer, index_writer

__all__ = ["EqualMeasurePartition"]

_MAX_DIM = 10**6  # largest dimension: angles of caps have their digits up to it


@dataclass(frozen=True, init=False, repr=False)
class EqualMeasurePartition(Measured):
    """Partition of S^m into n cells of measure 1/n each.

    Two polar caps and, between them, collars of nearly equal angle; each collar is the product of an interval of
    colatitude with such a partition of S^(m-1) [1]_. Nothing of size n is stored.

    Parameters
    ----------
    dim : int
        The manifold's dimension m of the sphere S^m in R^(m+1), 1 to 1e6.
    n : int
        The number of cells, at least 1; at most 2^53 for dim 1 and 2, 1e12 beyond.
    centers : {"midpoint", "smallest-cap", "centroid"}, default "midpoint"
        The kind of a cell's centre; the cells are the same.

        - "midpoint": the middle of its intervals, the pole for a cap.
        - "smallest-cap": the centre of the smallest cap that holds the cell, so that no kind has smaller radii. The
          largest is 1 to 10 % below that of midpoints (dim 2 to 8, n = 1e3 to 1e5); errors of Riemann sums of smooth
          functions are two to three times theirs.
        - "centroid": the direction of the cell's mean vector. Riemann sums of smooth functions err in the order of the
          radius squared (at n = 1e4 and concentrations 10 to 30 the sums of a core head err 60 times less than with
          midpoints on S^2, 8 to 14 times on S^3, 1.3 to 4 times on S^5). The largest radius is between 5 % below and
          2 % above that of midpoints (dim 2 to 8, n = 1e3 to 1e5).

    Attributes
    ----------
    dim, n : int
    center_kind : str
        The kind of the centres, as given by `centers`.

    Raises
    ------
    TypeError, ValueError
        If `dim` or `n` is not such an integer, or there is no such kind.

    Notes
    -----
    The pole is the last axis. Cells are numbered from north to south and inside a collar as the partition of S^(m-1)
    is; on S^1 cell i is the arc [2 pi i/n, 2 pi (i+1)/n) of azimuth from the first axis. Cells are half-open, so that
    every point lies in exactly one. One cell alone has the pole as centre and radius pi, whatever the kind.

    Midpoints lie in their cells; other centres need not: that of an annulus' smallest cap is a pole. All the same every
    radius bounds the distance to the nearest centre. A mean vector of length 0, that of an annulus about the equator,
    leaves the centroid open: there it is the midpoint. Colatitudes of centroids are right to 1e-15 of the angle
    (docs/theorems/5.3-smallest-caps.md and 5.4-centroids.md).

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
    >>> round(partition.cell_radius(), 6)
    0.886077
    """

    _kind = "partition"

    def __init__(self, dim: int, n: int, centers: str = "midpoint") -> None:
        dim = _checks.dimension(dim, maximum=_MAX_DIM)
        limit = 2**53 if dim <= 2 else 10**12
        n = _checks.integer(n, "n", minimum=1, maximum=limit, limit=f"cells of S^{dim} are numbered up to {limit:g}")
        object.__setattr__(self, "dim", dim)
        object.__setattr__(self, "n", n)
        object.__setattr__(self, "center_kind", str(_checks.choice(centers, "centers", kinds.KINDS)))

    def __repr__(self) -> str:
        kind = "" if self.center_kind == "midpoint" else f", centers={self.center_kind!r}"
        return f"{type(self).__name__}(dim={self.dim}, n={self.n}{kind})"

    def __reduce__(self) -> tuple[type[EqualMeasurePartition], tuple[int, int, str]]:
        return type(self), (self.dim, self.n, self.center_kind)

    def __replace__(self, **changes: Any) -> EqualMeasurePartition:
        parameters: dict[str, Any] = {"dim": self.dim, "n": self.n, "centers": self.center_kind}
        return type(self)(**parameters | changes)

    def centers(
        self, start: int = 0, stop: int | None = None, *, workers: int | None = None, out: Float64 | None = None
    ) -> Float64:
        """Return the centres of cells ``start``, ..., ``stop - 1``.

        Parameters
        ----------
        start : int, default 0
            The first cell.
        stop : int, optional
            One past the last cell; None means `n`.
        workers : int or None, default None
            Threads, as in `spherapprox.evaluate`; the result is the same for any number.
        out : ndarray, optional
            Where to write the centres; C-contiguous, of float64 and the result's shape. Fresh memory takes longer to
            get than to fill.

        Returns
        -------
        ndarray, shape (stop - start, dim+1)
            Points of unit length, exact to 1e-15; a centre is the same to the bit whichever range it comes in and
            whatever `workers` is.

        Raises
        ------
        TypeError, ValueError
            Unless ``0 <= start <= stop <= n``, if `out` does not fit, or the result would not fit into memory.

        Examples
        --------
        >>> from spherapprox import EqualMeasurePartition
        >>> EqualMeasurePartition(3, 10**12).centers(10**6, 10**6 + 1).round(6)
        array([[ 0.009906, -0.013197,  0.003091,  0.999859]])
        """
        start, stop = self._range(start, stop, 8 * (self.dim + 1) if out is None else 0)
        workers = _checks.workers(workers)
        shape = stop - start, self.dim + 1
        rows = np.empty(shape) if out is None else _checks.destination(out, shape)
        write, step = center_writer(self.center_kind, self.dim, self.n, start=start, stop=stop)
        each_block(lambda block: write(start + block.start, rows[block]), len(rows), step, workers=workers)
        return rows

    def locate(self, x: ArrayLike, *, workers: int | None = None) -> Int64:
        """Return the number of the cell that holds each point.

        Parameters
        ----------
        x : array_like, shape (n, dim+1)
            Points of unit length.
        workers : int or None, default None
            Threads, as in `spherapprox.evaluate`; the result is the same for any number.

        Returns
        -------
        ndarray of int64, shape (n,)

        Raises
        ------
        TypeError, ValueError
            If `x` has another number of columns or rows that are not of unit length.

        Examples
        --------
        >>> from spherapprox import EqualMeasurePartition
        >>> EqualMeasurePartition(3, 10**12).locate([[0.0, 0.0, 0.6, 0.8]])
        array([52018936420])
        """
        rows, workers = _checks.rows(x, dim=self.dim), _checks.workers(workers)
        index = np.zeros(len(rows), dtype=np.int64)
        write, step = index_writer(self.dim, self.n, len(rows))

        def task(block: slice) -> None:
            write(np.ascontiguousarray(rows[block], dtype=np.float64), index[block])

        each_block(task, len(rows), step, workers=workers)
        return index

    def radii(self, start: int = 0, stop: int | None = None) -> Float64:
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
        TypeError, ValueError
            As in `centers`.

        Examples
        --------
        >>> from spherapprox import EqualMeasurePartition
        >>> EqualMeasurePartition(2, 10).radii().round(4)
        array([0.6435, 0.8861, 0.8861, 0.8861, 0.8861, 0.8861, 0.8861, 0.8861,
               0.8861, 0.6435])
        """
        start, stop = self._range(start, stop, 8)
        if self.dim == 1:
            return np.full(stop - start, np.pi / self.n)
        out = np.empty(stop - start)

        def write(block: slice) -> None:
            cells_of_block = zones(self.dim, self.n, start + block.start, rows=len(out[block]))
            out[block] = kinds.radii(self.center_kind, self.dim, *cells_of_block)

        each_block(write, len(out), cells_together(self.dim), workers=1)
        return out

    def cell(self, i: int) -> Float64:
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
        TypeError, ValueError
            If there is no such cell.

        Examples
        --------
        >>> from spherapprox import EqualMeasurePartition
        >>> EqualMeasurePartition(2, 10).cell(1).round(4)
        array([[0.6435, 1.5708],
               [0.    , 1.5708]])
        """
        i = _checks.integer(i, "i", minimum=0, maximum=self.n - 1, why=f"the partition has {self.n} cells")
        return cells.intervals(self.dim, self.n, i)

    def sample(self, i: int, rng: Seed = None, size: int | None = None) -> Float64:
        """Draw independent uniform points of cell `i`.

        Parameters
        ----------
        i : int
            The cell's number, 0 <= i < n.
        rng : None, int or numpy.random.Generator
            Source of randomness; an int is a seed.
        size : int, optional
            The number of points, at least 1; None means one point without the axis of points.

        Returns
        -------
        ndarray, shape (size, dim+1) or (dim+1,)
            Points that `locate` finds in cell `i`, but for rounding at its faces, which are near where cells are
            narrower than some 1e-13. Colatitudes are drawn by the inverse of the measure of caps, in logarithms.

        Raises
        ------
        TypeError, ValueError
            If there is no such cell, `size` is not such an integer, or the points would not fit into memory.

        Examples
        --------
        >>> from spherapprox import EqualMeasurePartition
        >>> partition = EqualMeasurePartition(8, 1000)
        >>> partition.locate(partition.sample(17, rng=0, size=3))
        array([17, 17, 17])
        """
        box = self.cell(i)
        rows = 1 if size is None else _checks.integer(size, "size", minimum=1)
        _checks.memory(16.0 * rows * (self.dim + 1), f"{rows} points of S^{self.dim}", "draw fewer points at a time")
        x = cells.sample(box, rows, _checks.generator(rng))
        return x[0] if size is None else x

    def _range(self, start: int, stop: int | None, row_bytes: int) -> tuple[int, int]:
        """Check a range of cells and the memory that its result takes."""
        stop = self.n if stop is None else _checks.integer(stop, "stop", minimum=0, maximum=self.n)
        start = _checks.integer(start, "start", minimum=0, maximum=stop, why="cells are start, ..., stop - 1")
        remedy = "ask for shorter ranges with 'start' and 'stop'"
        _checks.memory(float(stop - start) * row_bytes, f"a result for {stop - start} cells", remedy)
        return start, stop
