"""The split head on equal-measure cells, 4.B, in ball arithmetic: the integral of the largest phi within rho."""

from __future__ import annotations

from ._excess import Excess, equal_balance
from ._few import by_radius
from ._radii import log_cells

prove = by_radius(lambda kernel, goal, radius: equal_balance(Excess(kernel, goal), radius), log_cells)
