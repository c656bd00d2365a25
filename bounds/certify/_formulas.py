"""Covering numbers of S^m by each method of `bounds.covering`, in ball arithmetic, under the method's own name.

Each takes the dimension, an angular radius below pi/2 and the share eta/radius, where the method has a free eta, and
returns log N at the precision set: docs/theorems/4.2-covering-numbers.md.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise

from flint import acb, arb, arb_poly, ctx

from ..covering import lattice as float64_lattice
from ..covering.polytope import polytope_count
from ..covering.slab import slab as float64_slab
from ..covering.zonal import zonal as float64_zonal
from ..records.enclosure import CertificationError
from . import _slab
from ._balls import less
from ._special import half, log_ball, log_cap_measure, log_rogers_constant


def circle(_dim: int, radius: arb, _share: float) -> arb:
    """Return log ceil(pi/radius)."""
    count = (arb.pi() / radius).ceil()
    if not count.is_integer():
        raise CertificationError("a count of arcs cannot be told from its neighbour")
    return count.log()


def polytope(dim: int, radius: arb, _share: float) -> arb:
    """Return the log of the fewest vertices that cover (4.2, polytope)."""
    count = polytope_count(dim, _below(radius))
    if count is None:
        raise CertificationError("no polytope is known to cover with this radius")
    return arb(count).log()


def _below(radius: arb) -> float:
    """Return the largest float that is not above an exact number, or nearly."""
    value = float(radius)
    return value if arb(value) <= radius else math.nextafter(value, 0.0)


def zonal(dim: int, radius: arb, _share: float) -> arb:
    """Return the log of P_m(1/sin(rho/2)), or of a counted cover (4.2, zonal)."""
    log, counted = float64_zonal(dim, _below(radius))
    if counted:  # whole numbers, rounded to the safe side
        return arb(round(math.exp(log))).log()
    y, total = 1 / (radius / 2).sin(), arb(0)
    for coefficient in reversed(_zonal_coefficients(dim, ctx.prec)):
        total = total * y + coefficient
    return total.log()


@lru_cache(maxsize=256)
def _zonal_coefficients(dim: int, bits: int) -> tuple[arb, ...]:
    """Return c_p, p = 0, ..., dim, with N(rho) <= sum_p c_p / sin(rho/2)^p (4.2, zonal)."""
    if dim == 1:
        return arb(1), arb.pi() / 2
    below = _zonal_coefficients(dim - 1, bits)
    share = 1 / arb(dim).sqrt()
    total = [arb(0)] * (dim + 1)
    for p, coefficient in enumerate(below):
        beta = (half(p + 1).lgamma() + half(1).lgamma() - half(p + 2).lgamma()).exp()
        scaled = coefficient / (1 - share**2).sqrt() ** p
        total[p] += scaled * (beta / arb.pi() + (p > 0))
        total[p + 1] += scaled * beta / (4 * share)
    return tuple(total)


def _log_density(dim: int) -> arb:
    """Return the log of the least covering density known, by A_dim* or the Leech lattice, as in `covering.lattice`."""
    if dim == 24:
        return log_ball(24) + 12 * arb(2).log()
    square = arb(dim * (dim + 2)) / (12 * (dim + 1))
    best = log_ball(dim) + arb(dim + 1).log() / 2 + half(dim) * square.log()
    if dim > 24:
        n = dim - 24
        parts = _log_density(24) + _log_density(n) - log_ball(24) - log_ball(n)
        best = best.min(log_ball(dim) + parts - 12 * (arb(24) / dim).log() - half(n) * (arb(n) / dim).log())
    return best


@lru_cache(maxsize=64)
def _log_cube_volume(dim: int, _bits: int) -> arb:
    """Return the bound of `covering.lattice.log_cube_volume`."""
    bins = 64
    edges = [arb(i) / bins for i in range(bins + 1)]
    mass = [b.sqrt() - a.sqrt() for a, b in pairwise(edges)]
    upper = [
        ((b * b.sqrt() - a * a.sqrt()) / 3 - w * a) * bins for (a, b), w in zip(pairwise(edges), mass, strict=True)
    ]
    unit = [arb(0)] * (bins + 1)
    for i, (w, u) in enumerate(zip(mass, upper, strict=True)):
        unit[i] += w - u
        unit[i + 1] += u
    total = arb(0)
    for i, weight in enumerate((arb_poly(unit) ** dim).coeffs()):
        r = arb(i) / bins
        s = r.sqrt()
        shrink = (s.atan() / s) ** (dim - 1) if i else arb(1)
        total += weight * shrink / (1 + r)
    return arb(2 * (dim + 1)).log() + dim * arb(2).log() + total.log()


def lattice(dim: int, radius: arb, _share: float) -> arb:
    """Return log N of pieces of a lattice covering, at the delta that float64 finds best (4.2, lattice)."""
    sine = radius.sin()
    value = float(radius)
    ideal = (6.0 * value * dim / (dim - 1.0)) ** (1.0 / 3.0)
    spreads = [min(max(ideal * s, 2.0 * value), 0.5 * math.pi) for s in float64_lattice.SPREADS.tolist()]

    def cells(delta: arb) -> arb:
        return dim * (sine / (delta / 2).sin()).log1p() + (dim - 1) * (delta / delta.sin()).log()

    best = min(spreads, key=lambda delta: float(cells(arb(delta))))
    # Voronoi cells, delta raised to 2 rho if rounded below, or cubes
    log_area = arb(2).log() + half(dim + 1) * arb.pi().log() - half(dim + 1).lgamma()
    flat = cells(arb(best).max(2 * radius).min(arb.pi() / 2)) + log_area
    if dim <= float64_lattice.MAX_CUBE_DIM:
        flat = flat.min(dim * (sine / (arb.pi() / 4).sin()).log1p() + _log_cube_volume(dim, ctx.prec))
    return _log_density(dim) - log_ball(dim) - dim * radius.log() + flat


def slab(dim: int, radius: arb, _share: float) -> arb:
    """Return the log of the mean number of lattice points near a sphere, rounded down where float64 is (4.2)."""
    mean = _slab.log_mean(dim, radius)
    log, counted = float64_slab(dim, _below(radius))
    if not counted:
        return mean
    count = arb(round(math.exp(log)))
    if not less(mean, (count + 1).log()):
        raise CertificationError("a mean number of lattice points is not below the next whole number")
    return count.log()


def volume(dim: int, radius: arb, _share: float) -> arb:
    """Return log 1/sigma(C(rho/2))."""
    return -log_cap_measure(dim, radius / 2)


def greedy(dim: int, radius: arb, share: float) -> arb:
    """Return the log of (1 + log[sigma(C(rho - eta/2))/sigma(C(eta/2))])/sigma(C(rho - eta)) (4.2, greedy)."""
    eta = radius * share
    net = log_cap_measure(dim, radius - eta / 2) - log_cap_measure(dim, eta / 2)
    return net.log1p() - log_cap_measure(dim, radius - eta)


def random(dim: int, radius: arb, share: float) -> arb:
    """Return the log of 1 + (1 + log(v/s))/v (4.2, random then fill)."""
    eta = radius * share
    log_v, log_s = log_cap_measure(dim, radius - eta), log_cap_measure(dim, eta)
    gap = arb(0) if share == 0.5 else log_v - log_s
    return (1 + (1 + gap) * (-log_v).exp()).log()


def rogers(dim: int, radius: arb, _share: float) -> arb:
    """Return log Phi(m)/sin(rho)^(m+1)."""
    return log_rogers_constant(dim) - (dim + 1) * radius.sin().log()


def boroczky_wintsche(dim: int, radius: arb, _share: float) -> arb:
    """Return log 400 m log m/sigma(C(rho))."""
    return (400 * dim * arb(dim).log()).log() - log_cap_measure(dim, radius)


def lower(dim: int, radius: arb, _share: float) -> arb:
    """Return log 1/sigma(C(rho))."""
    return -log_cap_measure(dim, radius)


def simplex(dim: int, radius: arb, _share: float) -> arb:
    """Return log(m + 2), or log(m + 3) for cos rho > 1/(m+1) (4.2, simplex)."""
    return arb(dim + 2 if less(radius.cos(), arb(1) / (dim + 1)) else dim + 3).log()


def fejes_toth(_dim: int, radius: arb, _share: float) -> arb:
    """Return the log of 2 w/(w - pi/6), cot w = sqrt 3 cos rho (4.2, fejes-toth)."""
    w = (1 / (arb(3).sqrt() * radius.cos())).atan()
    return (2 * w / (w - arb.pi() / 6)).log()


def coxeter_few_rogers(dim: int, radius: arb, _share: float) -> arb:
    """Return the log of the floor by angles and measures of simplices, for radius <= pi/4 (4.L)."""
    if not radius <= arb.pi() / 4:
        raise CertificationError("a radius cannot be proved to be at most pi/4")
    gap = arb(dim + 1) / dim * radius.sin() ** 2  # 1 - c
    log = arb(2 * (dim + 1) * (dim + 2)).log() + half(dim + 2).lgamma() + half(dim) * (arb.pi() / gap).log()
    log += log_angle(dim, 1 - gap, ctx.prec * math.log(2.0) + 8.0)
    return log - ((dim + 1) * radius.cos() ** -(dim + 1) + 1).log()


def log_angle(dim: int, c: arb, nats: float) -> arb:
    """Return the log of the integral J of 4.L by a rule that is off by about exp(-nats) of it."""
    height = math.sqrt(0.5 * dim / math.pi)
    inverse = math.ceil(max(math.sqrt(nats), min(0.4 * nats / math.sqrt(dim), math.sqrt(nats * (dim + 1) / 3.0))))
    last, scale = math.ceil(math.sqrt(nats / math.pi) * inverse), (arb.pi() * c).sqrt()

    def log_term(k: int) -> acb:
        y = acb(arb(k) / inverse, height)
        w = (-((scale * y) ** 2)).hypgeom_u(half(1), half(1)) / arb.pi().sqrt()
        return dim * w.log() - arb.pi() * y**2

    top = log_term(0).real

    def log_off(shift: float) -> arb:  # at most: what the rule is off by, from the line at this distance
        y, decay = arb(height) + shift, 2 * arb.pi() * abs(shift) * inverse
        log_w = -(scale * y * arb.pi().sqrt()).max(1).log() if y > 0 else (scale * y) ** 2 + arb(2).log()
        return arb.pi() * y**2 + dim * log_w - top - decay - (-(-decay).exp()).log1p()

    total = 1 + 2 * sum(((log_term(k) - top).exp().real for k in range(1, last + 1)), arb(0))
    # 4.L, rounding: terms left out, and the rule's error
    below = (*(-0.1 * share * inverse for share in range(1, 6)), -height - inverse / (dim + 1.0))
    logs = (-arb.pi() * (arb(last) / inverse) ** 2, log_off(0.5 * inverse), min(map(log_off, below), key=float))
    return top + ((total + sum(arb(0, 1) * inverse * log.exp() for log in logs)) / inverse).log()
