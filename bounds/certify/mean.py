"""The split head on equal-measure cells, 4.4 (mean), in ball arithmetic: the quotient of shifted integrals."""

from __future__ import annotations

from flint import arb

from ._few import by_radius
from ._moments import shifted_mean
from ._radii import log_cells
from ._zonal import Kernel


def excess(kernel: Kernel, goal: arb, radius: arb) -> arb:
    """Return the log of W over (eps/L)^(1/alpha) (4.4, mean)."""
    return (shifted_mean(kernel, radius) / goal).log()


prove = by_radius(excess, log_cells)
