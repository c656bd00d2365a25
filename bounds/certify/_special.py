"""Cap measures, Bessel ratios and the kernel's constants: balls in, balls out, at the precision set."""

from __future__ import annotations

from functools import lru_cache

from flint import arb, fmpq

from ..jackson import bessel_zero as bessel_zero_guess
from ..records.enclosure import CertificationError
from ._balls import bits_of, bracket, less, precision


def half(numerator: int) -> arb:
    """Return an integer over 2, exactly."""
    return arb(fmpq(numerator, 2))


def log_ball(dim: int) -> arb:
    """Return the log volume of the unit ball of R^dim."""
    return half(dim) * arb.pi().log() - half(dim + 2).lgamma()


def log_cap_measure(dim: int, angle: arb) -> arb:
    """Return log sigma(C(angle)) = log I_x(m/2, m/2), x = sin^2(angle/2), for 0 < angle <= pi."""
    if less(angle, arb.pi() / 2):
        return _log_part(dim, angle)
    opposite = arb.pi() - angle
    return (-_log_part(dim, opposite).exp()).log1p() if less(arb(0), opposite) else arb(0)


def _log_part(dim: int, angle: arb) -> arb:
    a = half(dim)
    x = (angle / 2).sin() ** 2
    return x.beta_lower(a, a, regularized=True).log()


def log_0f1(dim: int, concentration: arb) -> arb:
    """Return -log c = log 0F1(; nu + 1; lambda^2 / 4), c the kernel's normaliser."""
    if not concentration > 1:
        return (concentration**2 / 4).hypgeom_0f1(half(dim + 1)).log()
    return concentration - log_peak(dim, concentration)


def log_peak(dim: int, concentration: arb) -> arb:
    """Return log(c e^lambda), the logarithm of the kernel's largest value."""
    if not concentration > 1:
        return concentration - log_0f1(dim, concentration)
    order = half(dim - 1)
    scaled = concentration.bessel_i(order, scaled=True)
    return order * (concentration / 2).log() - (order + 1).lgamma() - scaled.log()


def eigenvalue(degree: int, dim: int, concentration: arb) -> arb:
    """Return a_k = I_{nu+k}(lambda) / I_nu(lambda)."""
    if degree == 0:
        return arb(1)
    if concentration.is_zero():
        return arb(0)
    order = half(dim - 1)
    return concentration.bessel_i(order + degree, scaled=True) / concentration.bessel_i(order, scaled=True)


def log_rogers_constant(dim: int) -> arb:
    """Return log Phi(m), Phi(m) = e (m+1) (log(m+1) + log log(m+1) + 5)."""
    d = arb(dim + 1)
    return 1 + (d * (d.log() + d.log().log() + 5)).log()


@lru_cache(maxsize=256)
def bessel_zero(twice_order: int, digits: int) -> arb:
    """Return j, the first positive zero of the Bessel function J of order twice_order/2 >= -1/2."""
    if twice_order in (-1, 1):  # J is a cosine or a sine over sqrt(x)
        with precision(bits_of(digits)):
            return arb.pi() / (2 if twice_order == -1 else 1)
    order = half(twice_order)

    def falling(x: arb) -> arb:  # 1 at 0, and of the sign of J
        return (-(x**2) / 4).hypgeom_0f1(order + 1)

    # Step 1: a change of sign at the float64 zero
    low, high = bracket(lambda x: -falling(x), bessel_zero_guess(0.5 * twice_order), digits, extra=2 * twice_order)
    with precision(bits_of(digits)):
        # Step 2: it is the first zero. Before its second zero J > 0 means before the first: j_(0,2) > 5 (Sturm), and
        # C.-K. Qu and R. Wong, Trans. AMS 351 (1999): j_(v,2) > v + |a_2| (v/2)^(1/3), a_2 Airy's second zero
        second = order - arb.airy_ai_zero(2) * (order / 2).root(3) if twice_order > 0 else arb(5)
        if not low < second:
            raise CertificationError(f"a zero of the Bessel function of order {twice_order / 2} may not be the first")
        return low.union(high)
