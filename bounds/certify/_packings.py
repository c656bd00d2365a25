"""Points of S^m from dense lattices, 4.E (iv) and (v), in ball arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable

from flint import acb, arb, ctx

from ..records.bound import EXACT
from ..records.enclosure import CertificationError
from ..theorems import _shells, _wraps
from ._balls import less
from ._special import half, log_ball


def from_lattices(dim: int, angle: float) -> Callable[[arb], arb]:
    """Return the function that computes log M at an angle, at the free parameters that float64 takes at this one."""
    tilt = _shells.tilt(dim, angle)
    if angle >= 0.5 * math.pi:
        return lambda t: in_shell(dim, t, tilt)
    separation = _wraps.separation(dim, angle)
    return lambda t: in_shell(dim, t, tilt).max(on_cubes(dim, t)).max(on_voronoi_cells(dim, t, separation))


def in_shell(dim: int, angle: arb, tilt: float) -> arb:
    """Return log ceil(Delta (R^d - r^d)), the number of points from a shell of a lattice; any tilt serves (4.E, iv)."""
    d, phi = dim + 1, arb(tilt).max(angle / 2)
    # 4.E, iv: R = 2 cos(phi)/sin t, r/R = cos(phi + t)_+/cos(phi)
    inner = ((phi + angle).cos() / phi.cos()).max(0)
    log_share = (-(d * inner.log()).expm1()).log() if inner > 0 else (1 - inner**d).log()
    return whole(log_density(d) + d * (2 * phi.cos() / angle.sin()).log() + log_share)


def on_cubes(dim: int, angle: arb) -> arb:
    """Return the log of the number of points from lattices laid on 2(m+1) cubes (4.E, v), for t < pi/2."""
    steep, cubes = (angle / 2).cot() - 1, arb(2 * dim + 2).log()
    if not less(arb(0), steep):
        raise CertificationError("an angle is pi/2, and below it in float64")
    log = log_density(dim) + dim * steep.log() + ((2 * arb.pi()).sqrt() * largest_normal(dim + 1)).log()
    return cubes + whole(log - cubes)


def on_voronoi_cells(dim: int, angle: arb, separation: float) -> arb:
    """Return the log of the number of points from lattices laid on Voronoi cells (4.E, v), 0 on too small ones."""
    delta = arb(separation)
    room = 1 / (angle / 2).sin() - 1 / (delta / 2).sin()
    if not (room > 0 and delta.cos() > 0):
        return arb(0)
    log_area = (4 * arb.pi()).log() / 2 + half(dim + 2).lgamma() - half(dim + 1).lgamma()
    return log_density(dim) + log_area + dim * room.log() + delta.cos().log()


def largest_normal(d: int) -> arb:
    """Return the mean of the largest of d standard normal numbers in absolute value, from int 1 - erf(s/sqrt 2)^d."""
    square = 2 * math.log(2.0) * ctx.prec + 2.0 * math.log(d) + 2.0
    far = arb(square).sqrt().mid()
    body = acb.integral(lambda s, _: 1 - (s / arb(2).sqrt()).erf() ** d, 0, far).real
    # beyond: at most d int exp(-s^2/2) <= d exp(-far^2/2), as far >= 1
    return body + (d * (-far * far / 2).exp()).union(arb(0))


def whole(log: arb) -> arb:
    """Return the log of a count rounded up, where float64 knows its units."""
    if not less(log, arb(EXACT)):
        return log
    count = log.exp().ceil()
    if not count.is_integer():
        raise CertificationError("a count of points cannot be told from its neighbour")
    return count.max(1).log()


def log_density(d: int) -> arb:
    """Return the log of the density of the lattice packing of R^d that float64 takes (4.E, iv)."""
    if d > _shells.LARGEST_RATIONAL:
        return arb(d - 1).log() - (d - 1) * arb(2).log()
    square = _shells.squared_density(d)
    return log_ball(d) + (arb(square.numerator) / arb(square.denominator)).log() / 2
