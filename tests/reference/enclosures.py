"""Functions behind the theorems as enclosures, to hold floats against: `digits` of the number, or of max(1, |log|).

Numbers are taken exactly: a float is the binary number that it is; a Fraction or a decimal string is not rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
from flint import arb, fmpq

from bounds.certify import _covering as covering
from bounds.certify import _degrees as degrees
from bounds.certify import _jackson as jackson
from bounds.certify import _moments as moments
from bounds.certify import _special as special
from bounds.certify import thesis
from bounds.certify._balls import bits_of, bracket, digits_of, enclose, enclosure, exact_ball, precision
from bounds.certify._zonal import Kernel, exponent_bits
from bounds.covering import covering_bound
from bounds.records.enclosure import CertificationError, Enclosure
from bounds.records.problem import Problem
from bounds.theorems._options import check_options
from bounds.theorems.convolution import concentration_needed

Number = Any
"""A float, an int, a Fraction, an mpf, or a decimal string."""

_DIGITS = 30


def _ball(x: Number) -> arb:
    """Return a number as a ball at the precision at work."""
    if isinstance(x, np.generic | np.ndarray) and not isinstance(x, float):
        x = Fraction(*x.item().as_integer_ratio())  # of each of NumPy's types, without rounding
    x = Fraction(x) if isinstance(x, str) else x
    if isinstance(x, Fraction):
        return arb(fmpq(x.numerator, x.denominator))
    return exact_ball(x) if isinstance(x, mpmath.mpf) else arb(x)


def log_cap_measure(dim: int, angle: Number, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose log sigma(C(angle)), the measure of a cap of angular radius 1e-60 <= angle <= pi."""
    return enclose(lambda: special.log_cap_measure(dim, _ball(angle)), digits_of(digits))


def _enclose_kernel(
    compute: Callable[[arb], arb], dim: int, concentration: Number, digits: int, relative: bool = False
) -> Enclosure:
    """Enclose what a function takes from a concentration, with the bits that this costs."""
    size = float(Fraction(concentration) if isinstance(concentration, str) else concentration)
    return enclose(
        lambda: compute(_ball(concentration)), digits_of(digits), relative=relative, extra=exponent_bits(dim, size)
    )


def log_normalizer(dim: int, concentration: Number, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose log c, c the kernel's normaliser with respect to the measure of total 1 (1.1)."""
    return _enclose_kernel(lambda lam: -special.log_0f1(dim, lam), dim, concentration, digits)


def eigenvalue(dim: int, concentration: Number, degree: int, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose a_k = I_{nu+k}(lambda) / I_nu(lambda) (1.2)."""
    return _enclose_kernel(lambda lam: special.eigenvalue(degree, dim, lam), dim, concentration, digits, relative=True)


def eigenvalue_complement(dim: int, concentration: Number, degree: int, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose 1 - a_k, k >= 1: the share of a harmonic of degree k that convolution loses."""
    return _enclose_kernel(
        lambda lam: 1 - special.eigenvalue(degree, dim, lam), dim, concentration, digits, relative=True
    )


def mean_angle(dim: int, concentration: Number, power: Number = 1, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose E[theta^power] (4.1), power > 0."""
    return _enclose_kernel(
        lambda lam: moments.moment(Kernel(dim, lam), _ball(power)), dim, concentration, digits, relative=True
    )


def _enclose_log(moment: Any, dim: int, concentration: Number, radius: Number, digits: int) -> Enclosure:
    """Enclose the log of a moment of the kernel within a radius."""
    return _enclose_kernel(lambda lam: moment(Kernel(dim, lam), _ball(radius)).log(), dim, concentration, digits)


def log_shift_variation(dim: int, concentration: Number, radius: Number, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose log D(lambda, rho) (4.3), for lambda >= 1e-300 and 1e-60 <= rho < pi."""
    return _enclose_log(moments.shift_variation, dim, concentration, radius, digits)


def log_centroid_variation(dim: int, concentration: Number, radius: Number, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose log D2(lambda, rho) (4.D), for lambda >= 1e-300 and 1e-60 <= rho < pi/2."""
    return _enclose_log(moments.centroid_variation, dim, concentration, radius, digits)


def log_shifted_mean_angle(dim: int, concentration: Number, radius: Number, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose the log of the bound of 4.4 (mean), for 1e-60 <= rho < pi."""
    return _enclose_log(moments.shifted_mean, dim, concentration, radius, digits)


def log_tail(dim: int, concentration: Number, degree: int, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose log rho_g, rho_g the sum of dim(H_l) a_l over l > g: terms one by one, then a geometric series."""

    def compute(lam: arb) -> arb:
        total, g = arb(0), degree
        level = arb(10) ** -(digits + 2)
        while not (rest := degrees.tail(g, dim, lam)) < total * level:
            g += 1
            total += degrees.term(g, dim, lam)
        return total.union(total + rest).log()

    return _enclose_kernel(compute, dim, concentration, digits)


def log_covering_number(radius: Number, *, dim: int, method: str = "best", digits: int = _DIGITS) -> Enclosure:
    """Enclose log N of a covering bound (4.2), or of the one best in float64, at the free share that float64 takes."""
    size = float(Fraction(radius) if isinstance(radius, str) else radius)
    bound = covering_bound(size, dim, method)
    if not bound.holds:
        raise CertificationError(f"the {method} bound needs {' and '.join(bound.failed)}")
    choice = covering.choose_formula(dim, size, method)
    return enclose(lambda: covering.log_covering(dim, _ball(radius), choice), digits_of(digits))


def best_approximation(degree: int, dim: int, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose the bound of 4.6 on the distance of functions with Lipschitz constant 1 from polynomials of a degree."""
    return enclose(lambda: jackson.distance(degree, dim), digits_of(digits), relative=True)


def bessel_zero(order: Number, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose the first positive zero of the Bessel function J of an order that is a multiple of 1/2, from -1/2 on."""
    twice = int(2 * Fraction(order))
    return enclose(lambda: special.bessel_zero(twice, digits + 4), digits_of(digits), relative=True)


def jackson_constant(dim: int, *, digits: int = _DIGITS) -> Enclosure:
    """Enclose the C_R of 4.6 that holds for every degree: 2 j - pi, j the first zero of J_((m-1)/2); pi/2 for dim 1."""
    return enclose(lambda: thesis.jackson_constant(Problem(1.0, dim), digits), digits_of(digits), relative=True)


def concentration(
    eps: float, *, dim: int, lipschitz: float = 1.0, exponent: float = 1.0, digits: int = _DIGITS
) -> Enclosure:
    """Enclose Lambda(eps) of 4.1: the lambda with L E[theta^alpha] = eps, below the value at lambda = 0."""
    problem = Problem.checked(eps, dim, lipschitz=lipschitz, exponent=exponent)
    guess = concentration_needed(problem.eps, problem.dim, problem.lipschitz, problem.exponent)
    if not 0.0 < guess < math.inf:
        raise ValueError(f"'eps' must be below the error at concentration 0, and above that of floats, got {eps}")
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
    """Enclose Lambda(eps) of Petrov (2025), (4.6)."""
    options = check_options(jackson_constant=jackson_constant, harmonic_constant=harmonic_constant)
    problem = Problem.checked(eps, dim, lipschitz=lipschitz, **options)
    return enclose(lambda: thesis.concentration(arb(problem.eps), problem, digits), digits_of(digits), relative=True)
