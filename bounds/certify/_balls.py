"""Enclosures of numbers and of roots: precision raised until a ball is tight enough, or its sign certain."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import mpmath
from flint import arb, ctx
from mpmath.libmp import from_man_exp

from spherapprox import _checks

from ..records.enclosure import CertificationError, Enclosure

DIGITS = 13
"""What float64 keeps of a logarithm: the default accuracy of an enclosure."""

MOST_DIGITS = 10**5
"""A third of a second for the simplest number."""

_BITS_PER_DIGIT = math.log2(10.0)
_GUARD_BITS = 40
_ATTEMPTS = 7

Function = Callable[[arb], arb]

_WIDEST = 6
"""A float64 root is trusted to no fewer digits than this."""

ZERO = Enclosure(mpmath.mpf(0), mpmath.mpf(0))


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


def exact_ball(x: Any) -> arb:
    """Return a number as a ball: exactly for float, int and mpf."""
    if isinstance(x, mpmath.mpf) and mpmath.isfinite(x):
        return arb((-int(x.man) if x < 0 else int(x.man), int(x.exp)))
    return arb(float(x)) if isinstance(x, mpmath.mpf) else arb(x)


def digits_of(digits: object) -> int:
    """Check a number of decimal digits."""
    return _checks.integer(digits, "digits", minimum=1, maximum=MOST_DIGITS)


def bits_of(digits: int) -> int:
    """Return the initial precision for so many digits."""
    return math.ceil(_BITS_PER_DIGIT * digits) + _GUARD_BITS


def _precisions(digits: int, extra: int, attempts: int = _ATTEMPTS) -> list[int]:
    return [(bits_of(digits) + extra) * 2**k for k in range(attempts)]


def tight(compute: Callable[[], arb], digits: int, relative: bool = False, extra: int = 0) -> arb:
    """Raise the precision until a ball is right to `digits` digits, of itself or of max(1, |itself|)."""
    goal = math.ceil(_BITS_PER_DIGIT * digits) + 2
    for bits in _precisions(digits, extra):
        with precision(bits), suppress(CertificationError):
            ball = compute()
            accuracy = ball.rel_accuracy_bits() if relative else ball.rel_one_accuracy_bits()
            if ball.is_finite() and accuracy >= goal:
                return ball
    raise CertificationError(f"{digits} digits are out of reach with {bits} bits")


def enclose(compute: Callable[[], arb], digits: int, relative: bool = False, extra: int = 0) -> Enclosure:
    """Return the result of `tight` as an `Enclosure`."""
    ball = tight(compute, digits, relative, extra=extra)
    with precision(bits_of(digits) + 64):
        return enclosure(ball)


def less(a: arb, b: arb) -> bool:
    """Decide a < b, or raise a CertificationError if the precision at work cannot."""
    if a < b:
        return True
    if a >= b:
        return False
    raise CertificationError("two numbers cannot be told apart")


def sign(compute: Callable[[], arb], digits: int = DIGITS, attempts: int = 3, extra: int = 0) -> int:
    """Prove the sign of a number, 0 if uncertain; each attempt doubles the precision."""
    for bits in _precisions(digits, extra, attempts):
        with precision(bits), suppress(CertificationError):
            ball = compute()
            if ball > 0:
                return 1
            if ball < 0:
                return -1
    return 0


def bracket(increasing: Function, guess: float | arb, digits: int, extra: int = 0) -> tuple[arb, arb]:
    """Bracket the root of an increasing function, 10^-digits about its guess > 0 or farther, up to 10^-6."""
    middle = arb(guess) if digits <= DIGITS else refined(increasing, arb(guess), digits, extra=extra)
    low, high = (side(increasing, middle, digits, where=where, extra=extra) for where in (-1, 1))
    return low, high


def side(increasing: Function, middle: arb, digits: int, where: int, extra: int = 0) -> arb:
    """Prove the sign `where` (-1 or 1) of the function at an exact number on that side of the middle."""
    for decimals in range(digits, _WIDEST - 1, -1):
        with precision(bits_of(digits) + 64):
            x = (middle * (1 + where * arb(10) ** -decimals)).mid()
        if sign(partial(increasing, x), digits, extra=extra) == where:
            return x
    raise CertificationError("no change of sign where float64 has found a root")


def refined(increasing: Function, guess: arb, digits: int, extra: int) -> arb:
    """Refine a root by secants: no proof, only a better middle."""
    with precision(2 * bits_of(digits) + extra):
        before, x = (guess * (1 + arb(10) ** -8)).mid(), guess.mid()
        past, value = increasing(before).mid(), increasing(x).mid()
        for _ in range(12):
            if value.is_zero() or (value - past).is_zero():
                break
            step = (value * (x - before) / (value - past)).mid()
            if not abs(step) < abs(x) / 100:
                raise CertificationError("a root in float64 is not one of the function itself")
            before, x = x, (x - step).mid()
            if abs(step) < abs(x) * arb(10) ** -(digits + 4):
                break
            past, value = value, increasing(x).mid()
        return x


def newton_bracket(function: Function, slope: Function, guess: arb) -> arb:
    """Enclose a root of an increasing function, to nearly the precision at work, by Newton's interval method.

    If the image of a ball under x - f(mid)/f'(ball) lies inside it, there is just one root in it, and in the image.
    """
    for radius in (1e-13, 1e-11, 1e-9):
        ball, proved = guess * arb(1, radius), False
        for _ in range(40):
            steepness = slope(ball)
            if not steepness > 0:
                break
            image = ball.mid() - function(ball.mid()) / steepness
            proved = proved or ball.contains_interior(image)
            if not proved:
                break
            if not image.rad() < ball.rad() / 4:
                return ball
            ball = image
    raise CertificationError("no root where float64 has found one")
