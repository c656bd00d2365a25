"""`Enclosure`: two exact numbers between which a quantity is proven to lie."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

import mpmath

from spherapprox import _checks


class CertificationError(ArithmeticError):
    """The error of a float64 claim that ball arithmetic cannot prove."""


@dataclass(frozen=True)
class Enclosure:
    """Two exact binary numbers between which a quantity is proven to lie.

    Parameters
    ----------
    lower, upper : mpmath.mpf
        The ends, both included; ``inf`` and ``-inf`` stand for themselves.

    Raises
    ------
    TypeError, ValueError
        Unless they are mpf and ``lower <= upper``.

    Notes
    -----
    Arithmetic on an mpf is rounded to ``mpmath.mp.prec`` bits; the ends themselves, and every method here, are exact or
    rounded outward.

    Examples
    --------
    >>> from bounds import prefix_length
    >>> log = prefix_length(0.1, dim=8, certified=True).enclosure
    >>> log.contains(22.86), log.relative_width < 1e-11, log.floats
    (False, True, (22.357841250698293, 22.35784125070277))
    """

    lower: Any
    upper: Any

    def __post_init__(self) -> None:
        for name, end in (("lower", self.lower), ("upper", self.upper)):
            _checks.instance(end, name, mpmath.mpf)
        if not self.lower <= self.upper:
            raise ValueError(f"'lower' must be at most 'upper', got {self.lower} and {self.upper}")

    def contains(self, x: Any) -> bool:
        """Decide whether a number lies inside.

        Parameters
        ----------
        x : float, int, Fraction, Decimal, mpf, str or Enclosure
            Taken exactly, a str as a decimal number; of an enclosure both ends are asked.

        Raises
        ------
        ValueError, TypeError
            For what is no number.
        """
        if isinstance(x, Enclosure):
            return bool(self.lower <= x.lower and x.upper <= self.upper)
        exact = _exact(x)
        return bool(_exact(self.lower) <= exact <= _exact(self.upper))

    __contains__ = contains

    @property
    def width(self) -> Any:
        """Upper minus lower, exactly."""
        return mpmath.mpf(0) if self.lower == self.upper else mpmath.fsub(self.upper, self.lower, exact=True)

    @property
    def midpoint(self) -> Any:
        """The middle, exactly."""
        return mpmath.ldexp(mpmath.fadd(self.lower, self.upper, exact=True), -1)

    @property
    def relative_width(self) -> float:
        """The width over the largest of 1 and the ends' absolute values."""
        return float(self.width / max(abs(self.lower), abs(self.upper), 1)) if mpmath.isfinite(self.width) else math.inf

    @property
    def floats(self) -> tuple[float, float]:
        """The ends as floats, rounded outward."""
        low, high = float(self.lower), float(self.upper)
        if low > self.lower:
            low = math.nextafter(low, -math.inf)
        if high < self.upper:
            high = math.nextafter(high, math.inf)
        return low, high

    @property
    def log10(self) -> Enclosure:
        """The enclosure of a natural logarithm, as that of the decimal one."""
        ends = [end for end in (self.lower, self.upper) if mpmath.isfinite(end)]
        bits = max([64, *(8 + int(end.man).bit_length() for end in ends)])
        return Enclosure(_over_log_ten(self.lower, bits, "f"), _over_log_ten(self.upper, bits, "c"))

    def __str__(self) -> str:
        spread = self.relative_width
        digits = 18 if spread in (0.0, math.inf) else max(3, 3 - math.floor(math.log10(spread)))
        return f"[{_decimal(self.lower, digits, ROUND_FLOOR)}, {_decimal(self.upper, digits, ROUND_CEILING)}]"


def _exact(x: Any) -> Fraction | float:
    """Return a number's exact value: infinities as floats, the rest as fractions."""
    if isinstance(x, mpmath.mpf):
        if not mpmath.isfinite(x):
            return float(x)
        return Fraction(int(x.man)) * Fraction(2) ** int(x.exp) * (-1 if x < 0 else 1)
    if isinstance(x, float) and not math.isfinite(x):
        return x
    return Fraction(x)


def _over_log_ten(x: Any, bits: int, rounding: str) -> Any:
    """Divide by log 10, rounded down ("f") or up ("c")."""
    ten = mpmath.ln10(prec=bits + 8, rounding="c" if (x > 0) == (rounding == "f") else "f")
    return mpmath.fdiv(x, ten, prec=bits, rounding=rounding)


def _decimal(x: Any, digits: int, rounding: str) -> str:
    if not mpmath.isfinite(x):
        return str(float(x))
    value = Fraction(_exact(x))
    context = Context(prec=digits, rounding=rounding, Emax=10**15, Emin=-(10**15))
    return str(context.divide(Decimal(value.numerator), Decimal(value.denominator)))
