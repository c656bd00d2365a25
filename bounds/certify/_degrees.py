"""Polynomial degrees of 4.C, 4.7 and 4.G: proofs that they suffice, and their counts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from flint import arb

from ..records.bound import Bound
from ..records.enclosure import CertificationError, Enclosure
from ..records.problem import Problem
from . import _special as special
from ._balls import enclose, hull, sign
from ._zonal import exponent_bits

_MARGINS = (None, 45, 40, 35, 30)
"""Bits to which a degree from float64, a root rounded up, is trusted: None is all of them."""
LARGE = 1_000_000
"""Degrees beyond which Bessel functions are costly, and the bound of their ratios is as good."""


def log_binomial(a: int, b: int) -> arb:
    """Return log[(a+b)! / (a! b!)]."""
    return arb(a + b + 1).lgamma() - arb(a + 1).lgamma() - arb(b + 1).lgamma()


def log_harmonics(degree: int, dim: int) -> arb:
    """Return log dim H_l."""
    return arb(0) if degree == 0 else log_binomial(degree, dim - 1) + (arb(degree) / (degree + dim - 1)).log1p()


def log_polynomials(degree: int, dim: int) -> arb:
    """Return log dim P_g."""
    return log_binomial(degree, dim) + (arb(degree) / (degree + dim)).log1p()


def log_quadrature_points(degree: int, dim: int) -> arb:
    """Return the log of the size of a positive quadrature exact to degree g that exists (4.C, Points)."""
    product = arb(degree + 1).log() + (dim - 1) * arb(degree // 2 + 1).log()
    tchakaloff = log_polynomials(degree, dim)
    if degree % 2 == 1:
        tchakaloff = arb(2).log() + log_binomial(degree - 1, dim)
    return tchakaloff.min(product)


def log_eigenvalue(degree: int, dim: int, concentration: arb) -> arb:
    """Return log a_l; concentration > 0."""
    if degree == 0:
        return arb(0)
    order = special.half(dim - 1)
    if concentration > 1:
        return special.eigenvalue(degree, dim, concentration).log()
    square, top = concentration**2 / 4, order + degree + 1
    gamma = (order + 1).lgamma() - top.lgamma()
    series = square.hypgeom_0f1(top).log() - square.hypgeom_0f1(order + 1).log()
    return degree * (concentration / 2).log() + gamma + series


def log_eigenvalue_bound(degree: int, dim: int, concentration: arb, *, above: bool) -> arb:
    """Bound log a_l: log(a_(j+1)/a_j) is between -arsinh((nu+j+1)/lambda) and -arsinh((nu+j+1/2)/lambda) (1.4).

    Both fall with j, and the second is convex in it: each is at most the mean over [j - 1/2, j + 1/2].
    """
    low, end = special.half(dim - 1 if above else dim + 1) / concentration, degree / concentration

    def primitive(x: arb) -> arb:
        return x * x.asinh() - (1 + x**2).sqrt()

    return -concentration * (primitive(low + end) - primitive(low))


def tail(degree: int, dim: int, concentration: arb) -> arb:
    """Bound rho_g = sum of dim(H_l) a_l over l > g by a geometric series, or by the kernel's peak (4.C, Tails)."""
    first = degree + 1
    peak = special.log_peak(dim, concentration).exp()
    ratio = _ratio(first, dim, concentration)
    if not ratio < 1:
        return peak
    return (term(first, dim, concentration) / (1 - ratio)).min(peak)


def rising_tail(degree: int, dim: int, concentration: arb, power: int) -> arb:
    """Bound the sum of (l/(g+1))^power dim(H_l) a_l over l > g by a geometric series (4.I, Tails)."""
    first = degree + 1
    ratio = _ratio(first, dim, concentration) * (1 + arb(1) / first) ** power
    if not ratio < 1:
        raise CertificationError("the terms of a tail cannot be proved to fall")
    return term(first, dim, concentration) / (1 - ratio)


def _ratio(first: int, dim: int, concentration: arb) -> arb:
    """Bound the ratio of two terms dim(H_l) a_l from the first on."""
    growth = arb(1)
    if dim > 1:
        growth = (1 + arb(2) / (2 * first + dim - 1)) * (1 + arb(dim - 2) / (first + 1))
    return growth * (-((first + arb(dim) / 2) / concentration).asinh()).exp()


def term(degree: int, dim: int, concentration: arb) -> arb:
    """Return dim(H_l) a_l, or a bound for large degrees and concentrations."""
    if degree > LARGE and concentration > 1:
        log = log_eigenvalue_bound(degree, dim, concentration, above=True)
    else:
        log = log_eigenvalue(degree, dim, concentration)
    return (log_harmonics(degree, dim) + log).exp()


def constant(bound: Bound, name: str) -> float:
    """Return one of the numbers that float64 chose."""
    return dict(bound.constants)[name]


def counted(
    count: Callable[[int], arb], spare: Callable[[int], arb], degree: int, concentration: float, problem: Problem,
    digits: int,
) -> Enclosure:  # fmt: skip
    """Enclose the log of the count at a degree proved to suffice, this or a slightly larger one."""
    extra = 2 * exponent_bits(problem.dim, concentration) + 4 * degree.bit_length()
    log = enclose(lambda: count(degree), digits + 2)
    for bits in _MARGINS:
        g = degree if bits is None else degree + max(1, degree >> bits)
        if sign(partial(spare, g), digits, extra=extra) > 0:
            break
    else:
        raise CertificationError(f"degree {degree} cannot be proved enough")
    return log if g == degree else hull(log, enclose(lambda: count(g), digits + 2))
