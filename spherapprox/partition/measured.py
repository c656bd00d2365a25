"""The parameters of an equal-measure partition, and the measure, counts, radius and diameter of its cells."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .._archive import Savable
from .._threads import each_block
from .._types import Int64
from .compiled import cap
from .levels import level_of
from .radius import largest, largest_diameter

COLLARS = 2**20  # collars that are counted between two looks for an interruption


@dataclass(frozen=True, init=False, repr=False)
class Measured(Savable):
    """A partition's parameters, by which partitions are compared, and its counts, radii and diameters."""

    dim: int
    n: int
    center_kind: str = field(init=False)
    if not TYPE_CHECKING:  # type checkers would take it for the method of this name
        centers: InitVar[str]  # what the constructor takes for `center_kind`: dataclasses.replace asks for it

    def _arguments(self) -> dict[str, int | str]:
        return {"dim": self.dim, "n": self.n, "centers": self.center_kind}

    def __len__(self) -> int:
        return self.n

    @property
    def measure(self) -> float:
        """Normalised measure of each cell, 1/n."""
        return 1.0 / self.n

    @property
    def collar_counts(self) -> Int64:
        """Numbers of cells in the zones from north to south, polar caps included; one zone of n arcs on S^1.

        There are about sqrt(pi n)/2 + 2 of them on S^2, 8.4e7 for n = 2^53.
        """
        if self.dim == 1:
            return np.array([self.n])
        if self.n <= 2:
            return np.ones(self.n, dtype=np.int64)
        if self.dim == 2:
            counts = np.ones(cap.layout(self.n)[2] + 2, dtype=np.int64)
            inner = counts[1:-1]
            each_block(
                lambda block: cap.collar_counts(self.n, block.start, inner[block]), len(inner), COLLARS, workers=1
            )
            return counts
        first = level_of(self.dim, np.array([self.n])).first
        return np.concatenate([first[:1], first[1:] - first[:-1], self.n - first[-1:]])

    def cell_radius(self) -> float:
        """Return the largest distance from a cell's centre to a point of its closure; it is computed once.

        Returns
        -------
        float
            A covering radius of the centres, and the rho of docs/theorems/4.3-core-head.md and 4.4-split-head.md. Exact
            to 1e-14 if `cell_radius_is_exact`, otherwise a proven upper bound (docs/theorems/5.6-largest-radius.md).

        Notes
        -----
        About midpoints and smallest caps it is exact. About centroids it was exact up to n = 1e8 for dim <= 6 and
        n = 1e6 for dim <= 60; beyond, up to n = 1e10, the bound was seen within 0.01 % of a radius that a cell has,
        and within 0.5 % at n = 1e12. It takes about a second for n <= 1e8, some 10 s for n <= 1e12, and half a minute
        at n = 1e12 for dim >= 400 and about centroids.

        Examples
        --------
        >>> from spherapprox import EqualMeasurePartition
        >>> round(EqualMeasurePartition(2, 1000).cell_radius(), 6)
        0.08733
        """
        return self._largest[0]

    def cell_radius_is_exact(self) -> bool:
        """Tell whether `cell_radius` is attained by a cell, which takes as long to compute.

        Returns
        -------
        bool
            Always true about midpoints and smallest caps; false where there are too many cells with different centroids
            to go through each.

        Examples
        --------
        >>> from spherapprox import EqualMeasurePartition
        >>> EqualMeasurePartition(2, 1000).cell_radius_is_exact()
        True
        """
        return self._largest[1]

    @cached_property
    def _largest(self) -> tuple[float, bool]:
        return largest(self.dim, self.n, self.center_kind)

    def cell_diameter_bound(self) -> float:
        """Return an upper bound of the cells' diameters, whatever the kind of centres; it is computed once.

        Returns
        -------
        float
            The largest diameter itself, to 1e-15, where the recursion to it goes through no more than 2e5 zones
            (n up to 1e10 on S^2, 1e8 on S^8); beyond, twice the radius about the centres of smallest caps, or pi
            where that is less (docs/theorems/5.5-diameters.md).

        Examples
        --------
        >>> from spherapprox import EqualMeasurePartition
        >>> round(EqualMeasurePartition(2, 1000).cell_diameter_bound(), 6)
        0.158561
        """
        return self._diameter

    @cached_property
    def _diameter(self) -> float:
        exact = largest_diameter(self.dim, self.n)
        return min(np.pi, 2.0 * largest(self.dim, self.n, "smallest-cap")[0]) if exact is None else exact
