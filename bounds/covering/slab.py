"""Covers of S^m by the points of a lattice of R^(m+1) near a sphere, projected onto it.

docs/theorems/4.2-covering-numbers.md, slab.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

from ..records.bound import Hypothesis
from ._method import HALF_PI, Method, inverse
from .lattice import log_ball

MAX_DIM = 64
"""Above dimension 26 random caps or pieces of lattices need fewer points at any radius."""

_LOG_MOST_COUNTED = math.log(1e9)
"""A mean count below this, right to 1e-12 of itself, is rounded down; one above is left as it is."""
_SAFE = 1e-12


@dataclass(frozen=True)
class Cell:
    """A lattice of R^n, n = `dim`, and a symmetric convex V in the unit ball whose translates by it cover (4.2, slab).

    `inradius` is the least value of the support function of V, `width` its mean over all directions or an upper bound.
    """

    dim: int
    log_covolume: float
    inradius: float
    width: float


def log_mean_projection(part: int, dim: int) -> float:
    """Return the log of the mean length of the first `part` coordinates of a unit vector of R^dim (4.2, slab)."""
    x, y = 0.5 * part, 0.5 * dim
    return math.lgamma(x + 0.5) - math.lgamma(x) - (math.lgamma(y + 0.5) - math.lgamma(y))


@functools.cache
def _dual_root(n: int) -> Cell:
    """Return A_n* with its permutohedron, divided by the covering radius (4.2, slab)."""
    radius = math.sqrt(n * (n + 2.0) / (12.0 * (n + 1.0)))
    width = 0.5 * n / math.sqrt(2.0) * math.exp(log_mean_projection(1, n)) / radius
    return Cell(
        n, -0.5 * math.log(n + 1.0) - n * math.log(radius), 0.5 * math.sqrt(n / (n + 1.0)) / radius, width=width
    )


_LEECH = Cell(24, -12.0 * math.log(2.0), math.sqrt(0.5), width=1.0)


@functools.cache
def _sum(a: Cell, b: Cell) -> Cell:
    """Return the orthogonal sum, with squared covering radii in proportion to the dimensions (4.2, slab)."""
    n = a.dim + b.dim
    parts = [(cell, 0.5 * math.log(cell.dim / n)) for cell in (a, b)]
    return Cell(
        n,
        sum(cell.log_covolume + cell.dim * log_radius for cell, log_radius in parts),
        min(cell.inradius * math.exp(log_radius) for cell, log_radius in parts),
        width=sum(cell.width * math.exp(log_radius + log_mean_projection(cell.dim, n)) for cell, log_radius in parts),
    )


def _log_shell(cell: Cell, sine: float, h: float) -> float:
    """Return log[(R+h)^n - (A - (1-b) h)_+^n], R = 1/sine, A and b of the tangent at the cell's width."""
    # 4.2, slab: all over R, S/R = root; R - A = sum of two positive terms, so that no digit is lost for small radii
    gap = (1.0 - cell.width) * (1.0 + cell.width)
    root = math.sqrt(1.0 - sine * sine * gap)
    below = sine * sine * (1.0 - gap / (1.0 + root)) / root  # 1 - A/R
    ratio = (below + (2.0 - sine * cell.width / root) * sine * h) / (1.0 + sine * h)
    outer = cell.dim * (math.log1p(sine * h) - math.log(sine))
    return outer if ratio >= 1.0 else outer + math.log(-math.expm1(cell.dim * math.log1p(-ratio)))


def _log_mean(cell: Cell, sine: float) -> float:
    """Bound the log of the mean number of lattice points to keep, over all translations (4.2, slab)."""
    share = (cell.width - cell.inradius) / (1.0 - cell.inradius)
    top = _log_shell(cell, sine, 1.0)
    mixed = share + (1.0 - share) * math.exp(_log_shell(cell, sine, cell.inradius) - top)
    return log_ball(cell.dim) - cell.log_covolume + top + math.log(mixed)


def log_slab(dim: int, radius: float) -> float:
    """Return the log of the mean number for 0 < radius < pi/2 and 2 <= dim <= `MAX_DIM`, to 1e-14 max(1, |log|)."""
    n = dim + 1
    cells = [_dual_root(n)]
    if n >= 24:
        cells.append(_LEECH if n == 24 else _sum(_LEECH, _dual_root(n - 24)))
    return min(_log_mean(cell, math.sin(radius)) for cell in cells)


def slab(dim: int, radius: float) -> tuple[float, bool]:
    """Return (log N, True if N is the mean number rounded down)."""
    log = log_slab(dim, radius)
    if log >= _LOG_MOST_COUNTED:
        return log, False
    return math.log(math.floor(math.exp(log) * (1.0 + _SAFE))), True


def _least_radius(n: int, dim: int) -> float:
    """Return the least radius at which the mean number is below n + 1, or at most a large n."""
    if math.log(n) >= _LOG_MOST_COUNTED:
        return inverse(log_slab, n, dim=dim)
    return inverse(lambda m, radius: log_slab(m, radius) + 2.0 * _SAFE, n + 1, dim=dim)


METHOD = Method(
    "slab", log_slab, needs=lambda dim: (Hypothesis(f"2 <= dim <= {MAX_DIM}", 2 <= dim <= MAX_DIM),),
    counted=slab, least_radius=_least_radius, top=lambda _dim: HALF_PI,
)  # fmt: skip
