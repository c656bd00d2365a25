"""Roots of increasing functions between two exact numbers, proved by the signs there."""

from __future__ import annotations

from collections.abc import Callable

from flint import arb

from ..records.enclosure import CertificationError
from ._balls import DIGITS, bits_of, precision, sign

Function = Callable[[arb], arb]

_WIDEST = 6
"""A float64 root is trusted to no fewer digits than this."""


def bracket(increasing: Function, guess: float | arb, digits: int, extra: int = 0) -> tuple[arb, arb]:
    """Bracket the root of an increasing function, 10^-digits about its guess > 0 or farther, up to 10^-6."""
    middle = arb(guess) if digits <= DIGITS else refined(increasing, arb(guess), digits, extra)
    return side(increasing, middle, digits, -1, extra), side(increasing, middle, digits, 1, extra)


def side(increasing: Function, middle: arb, digits: int, where: int, extra: int = 0) -> arb:
    """Prove the sign `where` (-1 or 1) of the function at an exact number on that side of the middle."""
    for kept in range(digits, _WIDEST - 1, -1):
        with precision(bits_of(digits) + 64):
            x = (middle * (1 + where * arb(10) ** -kept)).mid()

        def value(x: arb = x) -> arb:
            return increasing(x)

        if sign(value, digits, extra=extra) == where:
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
