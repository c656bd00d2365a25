"""`Enclosure`: two exact numbers between which a quantity is proven to lie, and the ball arithmetic that finds them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

import mpmath
from flint import arb, ctx
from mpmath.libmp import from_man_exp

DIGITS = 13
"""What float64 keeps of a logarithm: the default accuracy of an enclosure."""

_BITS_PER_DIGIT = math.log2(10.0)
_GUARD_BITS = 40
_ATTEMPTS = 7


class CertificationError(ArithmeticError):
    """What was claimed in float64 could not be proved in ball arithmetic."""


@dataclass(frozen=True)
class Enclosure:
    """Two exact binary numbers between which a quantity is proven to lie.

    Parameters
    ----------
    lower, upper : mpmath.mpf
        The ends, both included; ``inf`` and ``-inf`` stand for themselves.

    Raises
    ------
    ValueError
        Unless ``lower <= upper``.

    Notes
    -----
    Arithmetic on an mpf is rounded to ``mpmath.mp.prec`` bits; the ends themselves, and every method here, are exact or
    rounded outward.

    Examples
    --------
    >>> from bounds.certify import log_cap_measure
    >>> log = log_cap_measure(8, 1.0)
    >>> log.contains(-2.93), log.relative_width < 1e-30, log.floats
    (False, True, (-2.92913674631967, -2.9291367463196694))
    """

    lower: Any
    upper: Any

    def __post_init__(self) -> None:
        if not self.lower <= self.upper:
            raise ValueError(f"'lower' must be at most 'upper', got {self.lower} and {self.upper}")

    def contains(self, x: Any) -> bool:
        """Tell whether a number lies inside, taken exactly: float, int, Fraction, Decimal, mpf or decimal string."""
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
        with precision(max(64, 8 + _size(self.lower), 8 + _size(self.upper))):
            return enclosure(to_ball(self) / arb.const_log10())

    def __str__(self) -> str:
        spread = self.relative_width
        digits = 18 if spread in (0.0, math.inf) else max(3, 3 - math.floor(math.log10(spread)))
        return f"[{_decimal(self.lower, digits, ROUND_FLOOR)}, {_decimal(self.upper, digits, ROUND_CEILING)}]"


ZERO = Enclosure(mpmath.mpf(0), mpmath.mpf(0))


def _exact(x: Any) -> Fraction | float:
    """Return a number's exact value: infinities as floats, the rest as fractions."""
    if isinstance(x, mpmath.mpf):
        if not mpmath.isfinite(x):
            return float(x)
        return Fraction(int(x.man)) * Fraction(2) ** int(x.exp) * (-1 if x < 0 else 1)
    if isinstance(x, float) and not math.isfinite(x):
        return x
    return Fraction(x)


def _size(x: Any) -> int:
    """Return how many bits an end's mantissa has."""
    return int(x.man).bit_length() if mpmath.isfinite(x) else 1


def _decimal(x: Any, digits: int, rounding: str) -> str:
    if not mpmath.isfinite(x):
        return str(float(x))
    value = Fraction(_exact(x))
    context = Context(prec=digits, rounding=rounding, Emax=10**15, Emin=-(10**15))
    return str(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work in ball arithmetic of this precision, and restore the former one: flint keeps one for the whole process."""
    former = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = former


def _endpoint(ball: arb) -> Any:
    """Return an exact ball as mpf."""
    if not ball.is_finite():
        return mpmath.mpf("-inf") if ball < 0 else mpmath.mpf("inf")
    mantissa, exponent = ball.man_exp()
    return mpmath.mp.make_mpf(from_man_exp(int(mantissa), int(exponent)))


def enclosure(ball: arb) -> Enclosure:
    """Return the ends of a ball, rounded outward to the precision at work."""
    if ball.is_nan():
        raise CertificationError("ball arithmetic found no bound")
    return Enclosure(_endpoint(ball.lower()), _endpoint(ball.upper()))


def hull(low: Enclosure, high: Enclosure) -> Enclosure:
    """Return the smallest enclosure of both."""
    return Enclosure(min(low.lower, high.lower), max(low.upper, high.upper))


def widened(inner: Enclosure, digits: int) -> Enclosure:
    """Return an enclosure with each end 10^-digits max(1, |ends|) farther out: room for a float's rounding."""
    if not (mpmath.isfinite(inner.lower) and mpmath.isfinite(inner.upper)):
        return inner
    with precision(bits_of(digits) + 64):
        room = arb(10) ** -digits * arb(max(1.0, float(abs(inner.lower)), float(abs(inner.upper))))
        low, high = exact_ball(inner.lower) - room, exact_ball(inner.upper) + room
        return Enclosure(_endpoint(low.lower()), _endpoint(high.upper()))


def to_ball(inner: Enclosure) -> arb:
    """Return the ball that spans an enclosure."""
    return exact_ball(inner.lower).union(exact_ball(inner.upper))


def exact_ball(x: Any) -> arb:
    """Return a number as a ball: exactly for float, int and mpf."""
    if isinstance(x, mpmath.mpf) and mpmath.isfinite(x):
        return arb((-int(x.man) if x < 0 else int(x.man), int(x.exp)))
    return arb(float(x)) if isinstance(x, mpmath.mpf) else arb(x)


def bits_of(digits: int) -> int:
    """Return the precision to start with when so many digits are wanted."""
    return math.ceil(_BITS_PER_DIGIT * digits) + _GUARD_BITS


def _precisions(digits: int, extra: int, attempts: int = _ATTEMPTS) -> list[int]:
    return [(bits_of(digits) + extra) * 2**k for k in range(attempts)]


def tight(compute: Callable[[], arb], digits: int, relative: bool = False, extra: int = 0) -> arb:
    """Return a ball right to `digits` digits, of itself if `relative`, else of max(1, |itself|).

    The precision rises until the ball is that tight; `extra` bits are added from the start.

    Raises
    ------
    CertificationError
        When the last precision is not enough.
    """
    needed = math.ceil(_BITS_PER_DIGIT * digits) + 2
    for bits in _precisions(digits, extra):
        with precision(bits), suppress(CertificationError):
            ball = compute()
            good = ball.rel_accuracy_bits() if relative else ball.rel_one_accuracy_bits()
            if ball.is_finite() and good >= needed:
                return ball
    raise CertificationError(f"{digits} digits are out of reach with {bits} bits")


def enclose(compute: Callable[[], arb], digits: int, relative: bool = False, extra: int = 0) -> Enclosure:
    """As `tight`, as an `Enclosure`."""
    ball = tight(compute, digits, relative, extra)
    with precision(bits_of(digits) + 64):
        return enclosure(ball)


def less(a: arb, b: arb) -> bool:
    """Tell whether a < b.

    Raises
    ------
    CertificationError
        When the precision at work cannot tell.
    """
    if a < b:
        return True
    if a >= b:
        return False
    raise CertificationError("two numbers cannot be told apart")


def sign(compute: Callable[[], arb], digits: int = DIGITS, attempts: int = 3, extra: int = 0) -> int:
    """Return the proven sign of a number, 0 where it stays uncertain: each attempt doubles the precision."""
    for bits in _precisions(digits, extra, attempts):
        with precision(bits), suppress(CertificationError):
            ball = compute()
            if ball > 0:
                return 1
            if ball < 0:
                return -1
    return 0
