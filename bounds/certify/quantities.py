"""The functions behind the theorems as enclosures: `digits` of the number, or of max(1, |log|) for a logarithm.

Arguments are taken exactly: a float is the binary number that it is; a Fraction or a decimal string is not rounded.
They are the same throughout: `dim` is m, 1 to 1e6; `concentration` is lambda, 0 to 1e150; `radius` and `angle` are in
radians, from 1e-60 to pi; `degree` is 0 to 1e9; `order` is that of a Bessel function and `power` of an angle; `eps`,
`lipschitz`, `exponent`, `method`, `jackson_constant` and `harmonic_constant` are those of `bounds.prefix_length` and
`bounds.covering_number`; `digits` are decimal, 1 to 1e5. A ValueError or TypeError names the argument that is not; a
CertificationError tells that so many digits, or a hypothesis, could not be proved. Large dimensions, concentrations
and degrees take minutes.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
from flint import arb, fmpq

from spherapprox import _checks

from ..covering import METHODS, SMALLEST_RADIUS, covering_bound
from ..records.enclosure import CertificationError, Enclosure
from ..records.problem import LARGEST_CONCENTRATION, LARGEST_DEGREE, LARGEST_DIM, Problem
from ..theorems._options import check_options
from ..theorems.convolution import concentration_needed
from . import _covering as covering
from . import _degrees as degrees
from . import _jackson as jackson
from . import _moments as moments
from . import _special as special
from . import thesis
from ._balls import bits_of, digits_of, enclose, enclosure, exact_ball, precision
from ._roots import bracket
from ._zonal import Kernel, exponent_bits

Number = Any
"""A float, an int, a Fraction, an mpf, or a decimal string."""

_DIGITS = 30
TINY = 1e-300


def _ball(x: Number) -> arb:
    """Return a number as a ball at the precision at work."""
    if isinstance(x, np.generic | np.ndarray) and not isinstance(x, float):
        x = Fraction(*x.item().as_integer_ratio())  # of each of NumPy's types, without rounding
    x = Fraction(x) if isinstance(x, str) else x
    if isinstance(x, Fraction):
        return arb(fmpq(x.numerator, x.denominator))
    return exact_ball(x) if isinstance(x, mpmath.mpf) else arb(x)


def _float(x: Number, name: str, **limits: Any) -> float:
    """Return a number in a range, rounded."""
    try:
        rounded = float(Fraction(x)) if isinstance(x, str | Fraction) else float(x) if isinstance(x, mpmath.mpf) else x
    except ValueError:
        raise ValueError(f"'{name}' must be a number or a decimal string, got {_checks.show(x)}") from None
    return _checks.real(rounded, name, **limits)


def _kernel(dim: int, concentration: Number, least: float = 0.0) -> tuple[int, int]:
    """Return the checked dimension, and the bits that the concentration costs."""
    m = _checks.dimension(dim, maximum=LARGEST_DIM)
    return m, exponent_bits(m, _float(concentration, "concentration", minimum=least, maximum=LARGEST_CONCENTRATION))


def _degree(degree: object, minimum: int = 0) -> int:
    return _checks.integer(degree, "degree", minimum=minimum, maximum=LARGEST_DEGREE)


def log_cap_measure(dim: int, angle: Number, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose log sigma(C(angle)), the measure of a cap of angular radius 1e-60 <= angle <= pi.

    Examples
    --------
    >>> enclosed = log_cap_measure(8, "0.1", digits=20)
    >>> round(float(enclosed.midpoint), 12), enclosed.relative_width < 1e-20
    (-20.419844236524, True)
    """
    m = _checks.dimension(dim, maximum=LARGEST_DIM)
    _float(angle, "angle", minimum=SMALLEST_RADIUS, maximum=math.pi)
    return enclose(lambda: special.log_cap_measure(m, _ball(angle)), digits_of(digits))


def log_normalizer(dim: int, concentration: Number, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose log c, c the kernel's normaliser with respect to the measure of total 1 (1.1).

    Examples
    --------
    >>> round(float(log_normalizer(8, 100).midpoint), 12)
    -85.47983556261
    """
    m, extra = _kernel(dim, concentration)
    return enclose(lambda: -special.log_0f1(m, _ball(concentration)), digits_of(digits), extra=extra)


def eigenvalue(dim: int, concentration: Number, degree: int, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose a_k = I_{nu+k}(lambda) / I_nu(lambda) (1.2).

    Examples
    --------
    >>> round(float(eigenvalue(8, 100, 3).midpoint), 12)
    0.860115902956
    """
    m, extra = _kernel(dim, concentration)
    k = _degree(degree)
    return enclose(
        lambda: special.eigenvalue(k, m, _ball(concentration)), digits_of(digits), relative=True, extra=extra
    )


def eigenvalue_complement(dim: int, concentration: Number, degree: int, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose 1 - a_k, k >= 1: the share of a harmonic of degree k that convolution loses.

    Examples
    --------
    >>> f"{float(eigenvalue_complement(2, '1e20', 3).upper):.6e}"
    '6.000000e-20'
    """
    m, extra = _kernel(dim, concentration)
    k = _degree(degree, 1)
    return enclose(
        lambda: 1 - special.eigenvalue(k, m, _ball(concentration)), digits_of(digits), relative=True, extra=extra
    )


def mean_angle(dim: int, concentration: Number, power: Number = 1, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose E[theta^power] (4.1), power > 0.

    Examples
    --------
    >>> round(float(mean_angle(8, 100, digits=13).midpoint), 13)
    0.2730979970432
    """
    m, extra = _kernel(dim, concentration)
    _float(power, "power", above=0.0, maximum=1e3)
    return enclose(
        lambda: moments.moment(Kernel(m, _ball(concentration)), _ball(power)),
        digits_of(digits),
        relative=True,
        extra=extra,
    )


def log_shift_variation(dim: int, concentration: Number, radius: Number, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose log D(lambda, rho) (4.3), for lambda >= 1e-300 and 1e-60 <= rho < pi.

    Examples
    --------
    >>> round(float(log_shift_variation(8, 100, "0.1", digits=13).midpoint), 12)
    2.356115786639
    """
    m, extra = _kernel(dim, concentration, TINY)
    _float(radius, "radius", minimum=SMALLEST_RADIUS, below=math.pi)
    return enclose(
        lambda: moments.shift_variation(Kernel(m, _ball(concentration)), _ball(radius)).log(),
        digits_of(digits),
        extra=extra,
    )


def log_centroid_variation(dim: int, concentration: Number, radius: Number, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose log D2(lambda, rho) (4.D), for lambda >= 1e-300 and 1e-60 <= rho < pi/2.

    Examples
    --------
    >>> round(float(log_centroid_variation(8, 100, "0.1", digits=13).midpoint), 12)
    -0.007128921299
    """
    m, extra = _kernel(dim, concentration, TINY)
    _float(radius, "radius", minimum=SMALLEST_RADIUS, below=0.5 * math.pi)
    return enclose(
        lambda: moments.centroid_variation(Kernel(m, _ball(concentration)), _ball(radius)).log(),
        digits_of(digits),
        extra=extra,
    )


def log_shifted_mean_angle(dim: int, concentration: Number, radius: Number, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose the log of the bound of 4.4 (mean), for 1e-60 <= rho < pi.

    Examples
    --------
    >>> round(float(log_shifted_mean_angle(8, 100, "0.1", digits=13).midpoint), 12)
    4.549220417474
    """
    m, extra = _kernel(dim, concentration)
    _float(radius, "radius", minimum=SMALLEST_RADIUS, below=math.pi)
    return enclose(
        lambda: moments.shifted_mean(Kernel(m, _ball(concentration)), _ball(radius)).log(),
        digits_of(digits),
        extra=extra,
    )


def log_tail(dim: int, concentration: Number, degree: int, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose log rho_g = log of the sum of dim(H_l) a_l over l > g: terms one by one, the rest by a geometric series.

    Examples
    --------
    >>> round(float(log_tail(2, 10, 30, digits=8).midpoint), 8)
    -31.98214733
    """
    m, extra = _kernel(dim, concentration, TINY)
    first = _degree(degree)

    def compute() -> arb:
        lam, total, g = _ball(concentration), arb(0), first
        level = arb(10) ** -(digits + 2)
        while not (rest := degrees.tail(g, m, lam)) < total * level:
            g += 1
            total += degrees.term(g, m, lam)
        return total.union(total + rest).log()

    return enclose(compute, digits_of(digits), extra=extra)


def log_covering_number(radius: Number, *, dim: int, method: str = "best", digits: int = _DIGITS) -> Enclosure:
    """Enclose log N of a covering bound (4.2), or of the one best in float64, at the free share that float64 takes.

    Raises
    ------
    CertificationError
        When the bound's hypotheses fail.

    Examples
    --------
    >>> round(float(log_covering_number("0.1", dim=8, method="volume").log10.midpoint), 12)
    11.273425261166
    """
    _checks.choice(method, "method", METHODS)
    size = _float(radius, "radius", minimum=SMALLEST_RADIUS, maximum=math.pi)
    m = _checks.dimension(dim, maximum=LARGEST_DIM)
    bound = covering_bound(size, m, method)
    if not bound.holds:
        raise CertificationError(f"the {method} bound needs {' and '.join(bound.failed)}")
    choice = covering.chosen(m, size, method)
    return enclose(lambda: covering.log_covering(m, _ball(radius), choice), digits_of(digits))


def best_approximation(degree: int, dim: int, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose the bound of 4.6 on the distance of functions with Lipschitz constant 1 from polynomials of a degree.

    Examples
    --------
    >>> round(float(best_approximation(10, 8).midpoint), 12)
    0.587494640985
    """
    q, m = _degree(degree), _checks.dimension(dim, maximum=LARGEST_DIM)
    return enclose(lambda: jackson.distance(q, m), digits_of(digits), relative=True)


def bessel_zero(order: Number, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose the first positive zero of the Bessel function J, of an order that is a multiple of 1/2, -1/2 at least.

    Examples
    --------
    >>> bessel_zero(0, digits=20).contains("2.40482555769577276862163")
    True
    """
    _float(order, "order", minimum=-0.5, maximum=0.5 * LARGEST_DIM)
    twice = 2 * Fraction(order)
    if twice.denominator != 1:
        raise ValueError(f"'order' must be a multiple of 1/2, got {_checks.show(order)}")
    return enclose(lambda: special.bessel_zero(int(twice), digits + 4), digits_of(digits), relative=True)


def jackson_constant(dim: int, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose the C_R of 4.6 that holds for every degree: 2 j - pi, j the first zero of J_((m-1)/2); pi/2 for dim 1.

    Examples
    --------
    >>> round(float(jackson_constant(8, digits=13).midpoint), 12)
    10.834271347411
    """
    problem = Problem(1.0, _checks.dimension(dim, maximum=LARGEST_DIM))
    return enclose(lambda: thesis.jackson_constant(problem, digits), digits_of(digits), relative=True)


def concentration(
    eps: float, *, dim: int, lipschitz: float = 1.0, exponent: float = 1.0, digits: int = _DIGITS
) -> Enclosure:
    """Enclose Lambda(eps) of 4.1: the lambda with L E[theta^alpha] = eps, below the value at lambda = 0.

    Examples
    --------
    >>> round(float(concentration(0.05, dim=8, digits=10).midpoint), 6)
    3005.851327
    """
    problem = Problem.checked(eps, dim, lipschitz=lipschitz, exponent=exponent)
    guess = concentration_needed(problem.eps, problem.dim, problem.lipschitz, problem.exponent)
    if guess == 0.0:
        raise ValueError(f"'eps' must be below the error at concentration 0, got {eps}")
    if guess == math.inf:
        raise ValueError(f"'eps' must be larger: the concentration exceeds the range of floats, got {eps}")
    goal, alpha = arb(problem.eps), arb(problem.exponent)

    def increasing(lam: arb) -> arb:
        return (goal / (problem.lipschitz * moments.moment(Kernel(problem.dim, lam), alpha))).log()

    low, high = bracket(increasing, guess, digits_of(digits), exponent_bits(problem.dim, guess))
    with precision(bits_of(digits)):
        return enclosure(low.union(high))


def printed_concentration(
    eps: float, *, dim: int, lipschitz: float = 1.0, jackson_constant: float | None = None,
    harmonic_constant: float = 1.0, digits: int = _DIGITS,
) -> Enclosure:  # fmt: skip
    """Enclose Lambda(eps) of Petrov (2025), (4.6).

    Examples
    --------
    >>> round(float(printed_concentration(0.05, dim=8, jackson_constant=1.0, digits=13).midpoint), 6)
    22172757.573877
    """
    options = check_options(jackson_constant=jackson_constant, harmonic_constant=harmonic_constant)
    problem = Problem.checked(eps, dim, lipschitz=lipschitz, **options)
    return enclose(lambda: thesis.concentration(arb(problem.eps), problem, digits), digits_of(digits), relative=True)
