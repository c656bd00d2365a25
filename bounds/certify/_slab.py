"""Mean numbers of lattice points near a sphere, in ball arithmetic: docs/theorems/4.2-covering-numbers.md, slab."""

from __future__ import annotations

from typing import NamedTuple

from flint import arb

from ._special import half, log_ball


class Cell(NamedTuple):
    """`bounds.covering.slab.Cell` in balls."""

    dim: int
    log_covolume: arb
    inradius: arb
    width: arb


def _mean_projection(part: int, dim: int) -> arb:
    """Return the mean length of the first `part` coordinates of a unit vector of R^dim."""
    logs = half(part + 1).lgamma() - half(part).lgamma() + half(dim).lgamma() - half(dim + 1).lgamma()
    return logs.exp()


def _dual_root(n: int) -> Cell:
    """Return A_n* with its permutohedron, divided by the covering radius."""
    radius = (arb(n * (n + 2)) / (12 * (n + 1))).sqrt()
    width = n * _mean_projection(1, n) / arb(8).sqrt() / radius
    inradius = (arb(n) / (n + 1)).sqrt() / 2 / radius
    return Cell(n, -arb(n + 1).log() / 2 - n * radius.log(), inradius, width=width)


def _leech() -> Cell:
    return Cell(24, -12 * arb(2).log(), arb(0.5).sqrt(), width=arb(1))


def _sum(a: Cell, b: Cell) -> Cell:
    """Return the orthogonal sum, with squared covering radii in proportion to the dimensions."""
    n = a.dim + b.dim
    ra, rb = (arb(a.dim) / n).sqrt(), (arb(b.dim) / n).sqrt()
    return Cell(
        n,
        a.log_covolume + a.dim * ra.log() + b.log_covolume + b.dim * rb.log(),
        (a.inradius * ra).min(b.inradius * rb),
        width=a.width * ra * _mean_projection(a.dim, n) + b.width * rb * _mean_projection(b.dim, n),
    )


def _log_shell(cell: Cell, sine: arb, h: arb) -> arb:
    """Return log[(R+h)^n - (A - (1-b) h)_+^n], R = 1/sine, A and b of the tangent at the cell's width."""
    # 4.2, slab: all over R, S/R = root
    gap = 1 - cell.width**2
    root = (1 - sine**2 * gap).sqrt()
    below = sine**2 * (1 - gap / (1 + root)) / root  # 1 - A/R
    ratio = (below + (2 - sine * cell.width / root) * sine * h) / (1 + sine * h)
    outer = cell.dim * ((sine * h).log1p() - sine.log())
    if ratio < 0.5:
        return outer + (-(cell.dim * (-ratio).log1p()).expm1()).log()
    return outer + (1 - (1 - ratio).max(arb(0)) ** cell.dim).log()


def _log_mean(cell: Cell, sine: arb) -> arb:
    """Bound the log of the mean number of lattice points to keep, over all translations."""
    share = (cell.width - cell.inradius) / (1 - cell.inradius)
    top = _log_shell(cell, sine, arb(1))
    mixed = share + (1 - share) * (_log_shell(cell, sine, cell.inradius) - top).exp()
    return log_ball(cell.dim) - cell.log_covolume + top + mixed.log()


def log_mean(dim: int, radius: arb) -> arb:
    """Return the log of the bound of the mean number, for 0 < radius < pi/2 and dim >= 2."""
    n, sine = dim + 1, radius.sin()
    best = _log_mean(_dual_root(n), sine)
    if n >= 24:
        best = best.min(_log_mean(_leech() if n == 24 else _sum(_leech(), _dual_root(n - 24)), sine))
    return best
