"""Theorems that ask for polynomial degrees (4.C, 4.7, 4.G): that those found suffice, and the counts they give."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from .._bound import Bound
from .._problem import Problem
from ..sharp._approximation import TERMS
from . import jackson, special
from .enclosure import CertificationError, Enclosure, enclose, hull, sign
from .zonal import exponent_bits

_MARGINS = (None, 45, 40, 35, 30)
"""Bits to which a degree from float64, a root rounded up, is trusted: None is all of them."""
_LARGE = 1_000_000
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
    """Return the log of a number of points with which a positive quadrature exact to degree g exists (4.C)."""
    product = arb(degree + 1).log() + (dim - 1) * arb(degree // 2 + 1).log()
    tchakaloff = log_polynomials(degree, dim)
    if degree % 2 == 1:
        tchakaloff = arb(2).log() + log_binomial(degree - 1, dim)
    return tchakaloff.min(product)


def log_rank_points(degree: int, dim: int) -> arb:
    """Return log(4 ceil(C(m+n, m)/(m+1))), or a little more where the binomial is too large to be rounded."""
    log = log_binomial(degree, dim)
    ratio = log.exp() / (dim + 1)
    if log < 27:
        whole = ratio.unique_fmpz() if ratio.contains_integer() else ratio.ceil().unique_fmpz()
        if whole is None:
            raise CertificationError("a count cannot be told from its neighbour")
        return (4 * arb(whole)).log()
    return (4 * (ratio + 1)).log()


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


def _log_eigenvalue_above(degree: int, dim: int, concentration: arb) -> arb:
    """Bound log a_l from above: log(a_(j+1)/a_j) <= -arsinh((nu+j+1/2)/lambda) (1.4), which is convex in j.

    So each is at most the mean over [j - 1/2, j + 1/2], and the sum over j < l an integral.
    """
    return _arsinh_integral(special.half(dim - 1), degree, concentration)


def _log_eigenvalue_below(degree: int, dim: int, concentration: arb) -> arb:
    """Bound log a_l from below: log(a_(j+1)/a_j) >= -arsinh((nu+j+1)/lambda) (1.4), which decreases with j."""
    return _arsinh_integral(special.half(dim + 1), degree, concentration)


def _arsinh_integral(low: arb, length: int, concentration: arb) -> arb:
    """Return minus the integral of arsinh(t/lambda) from low to low + length."""

    def primitive(x: arb) -> arb:
        return x * x.asinh() - (1 + x**2).sqrt()

    x = low / concentration
    return -concentration * (primitive(x + length / concentration) - primitive(x))


def tail(degree: int, dim: int, concentration: arb) -> arb:
    """Bound rho_g = sum of dim(H_l) a_l over l > g by a geometric series (1.4), or by the kernel's peak."""
    first = degree + 1
    peak = special.log_peak(dim, concentration).exp()
    growth = arb(1)
    if dim > 1:
        growth = (1 + arb(2) / (2 * first + dim - 1)) * (1 + arb(dim - 2) / (first + 1))
    ratio = growth * (-((first + arb(dim) / 2) / concentration).asinh()).exp()
    if not ratio < 1:
        return peak
    return (term(first, dim, concentration) / (1 - ratio)).min(peak)


def term(degree: int, dim: int, concentration: arb) -> arb:
    """Return dim(H_l) a_l, or for large degrees and concentrations a bound."""
    large = degree > _LARGE and concentration > 1
    log = _log_eigenvalue_above if large else log_eigenvalue
    return (log_harmonics(degree, dim) + log(degree, dim, concentration)).exp()


def constant(bound: Bound, name: str) -> float:
    """Return one of the numbers that float64 chose."""
    return dict(bound.constants)[name]


def quadrature(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """4.C: that the degree suffices at the concentration, or at least the next one."""
    assert bound.concentration is not None
    degree, dim, alpha = int(constant(bound, "degree")), problem.dim, arb(problem.exponent)

    def spare(g: int) -> arb:
        lam, kappa = arb(bound.concentration), (arb.pi() ** 2 - 4) / 4
        if lam.is_zero():
            tau = tau_1 = tau_2 = arb(0)
            moment = 2 + kappa * (1 + arb(1) / (dim + 1))
        else:
            tau = tail(g, dim, lam)
            tau_1 = tau + term(g, dim, lam)
            tau_2 = tau_1 + term(g - 1, dim, lam)
            a_1 = special.eigenvalue(1, dim, lam)
            moment = 2 * (1 - a_1) + kappa * (2 * (1 - a_1) - dim * a_1 / lam)
        near = (moment + 4 * (tau_1 + kappa * tau_2)) ** (alpha / 2)
        return problem.eps - problem.sup_norm * tau - problem.lipschitz * (1 + tau) ** (1 - alpha / 2) * near

    return _counted(lambda g: log_quadrature_points(g, dim), spare, degree, bound.concentration, problem, digits)


def _counted(
    count: Callable[[int], arb],
    spare: Callable[[int], arb],
    degree: int,
    concentration: float,
    problem: Problem,
    digits: int,
) -> Enclosure:
    """Return the log of the count at a degree, or up to the next float where only that can be proved enough."""
    extra = 2 * exponent_bits(problem.dim, concentration) + 4 * degree.bit_length()
    found = enclose(lambda: count(degree), digits + 2)
    for bits in _MARGINS:
        g = degree if bits is None else degree + max(1, degree >> bits)

        def left(g: int = g) -> arb:
            return spare(g)

        if sign(left, digits, extra=extra) > 0:
            break
    else:
        raise CertificationError(f"degree {degree} cannot be proved enough")
    return found if g == degree else hull(found, enclose(lambda: count(g), digits + 2))


def distance(degree: int, problem: Problem) -> arb:
    """Bound how far a target of the class is from the polynomials of a degree (4.6, 4.7)."""
    if problem.degree is not None:
        return arb(0)
    if problem.smoothness is not None:
        return problem.lipschitz * _sobolev_tail(degree, problem.smoothness, problem.dim).sqrt()
    return problem.lipschitz * (2 * jackson.distance(degree, problem.dim)) ** arb(problem.exponent) / 2


def _sobolev_tail(degree: int, smoothness: float, dim: int) -> arb:
    """Bound the sum of dim(H_l) (1 + l(l+m-1))^-s over l > n: terms one by one, then an integral (4.7)."""
    s, first = arb(smoothness), degree + 1
    term = (log_harmonics(first, dim) - s * arb(1 + first * (first + dim - 1)).log()).exp()
    total = arb(0)
    for step in range(first, first + TERMS):
        total += term
        growth = arb(1)
        if dim > 1:
            growth = (1 + arb(2) / (2 * step + dim - 1)) * (1 + arb(dim - 2) / (step + 1))
        term *= growth * (-s * (arb(2 * step + dim) / (1 + step * (step + dim - 1))).log1p()).exp()
    x, power = first + TERMS + arb(dim - 1) / 2, 2 * s - dim
    if dim < 3:
        rest = 2 * (-power * (x - arb(1) / 2).log()).exp()
    else:
        rest = term * x * (-power * (-1 / (2 * x)).log1p()).exp()
    return total + rest / power


def _norm(degree: int, problem: Problem, concentration: arb) -> arb:
    """Bound the L2 norm of sum_l Y_l/a_l (4.7)."""
    large = degree > _LARGE and concentration > 1
    least = (_log_eigenvalue_below if large else log_eigenvalue)(degree, problem.dim, concentration).exp()
    lip, sup = arb(problem.lipschitz), arb(problem.sup_norm)
    if problem.degree is not None:
        return sup / least
    if problem.smoothness is None:
        return (sup + problem.eps) / least
    s, parts = arb(problem.smoothness), arb(0)
    eigenvalues = {0: arb(1), 1: special.eigenvalue(1, problem.dim, concentration), degree: least}
    for k in {0, min(1, degree), degree}:
        size = lip * (-s / 2 * arb(1 + k * (k + problem.dim - 1)).log()).exp()
        parts = parts.max(size / eigenvalues[k])
    return (sup.min(lip) / least).min(parts)


def polynomials(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """4.7 and 4.G: that polynomials of the degree n come near enough, and that the points reproduce them."""
    if bound.theorem == "sharp-core-rank":
        return rank(bound, problem, digits)
    spectral, dim, n = bound.theorem == "sharp-core-spectral", problem.dim, int(constant(bound, "degree"))
    g = int(constant(bound, "exactness")) - n if spectral else int(constant(bound, "tail degree"))
    given = problem.concentration

    def spare(tail_degree: int) -> arb:
        off = arb(0)
        if given:  # else lambda is as small as it takes, and rho_n/a_n too (4.7)
            off = tail(tail_degree, dim, arb(given)) * _norm(n, problem, arb(given))
            off *= 1 if spectral else log_polynomials(tail_degree, dim).exp()
        return problem.eps - distance(n, problem) - off

    def count(tail_degree: int) -> arb:
        return log_quadrature_points(n + tail_degree, dim) if spectral else log_polynomials(tail_degree, dim)

    return _counted(count, spare, g, problem.concentration or 1.0, problem, digits)


def rank(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """4.G (rank): that polynomials of the degree come near enough."""
    degree, dim = int(constant(bound, "degree")), problem.dim
    if sign(lambda: problem.eps - distance(degree, problem), digits) <= 0:
        raise CertificationError(f"degree {degree} cannot be proved enough")
    return enclose(lambda: log_polynomials(degree, dim).min(log_rank_points(max(degree, 5), dim)), digits + 2)
