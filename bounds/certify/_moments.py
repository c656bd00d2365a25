"""Mean angles and shift integrals of the kernel, in ball arithmetic at the precision set."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from flint import acb, arb, ctx

from ._balls import less
from ._zonal import Hint, Integrand, Kernel, Part, larger


def power(theta: acb, exponent: arb, analytic: bool) -> acb:
    """Return theta^exponent on a ball about or beside the positive axis, for 0 < exponent."""
    if exponent.is_integer():
        return theta ** int(exponent.fmpz())
    if theta.real > 0:
        return theta.pow(exponent, analytic=analytic)
    if analytic:
        return acb(arb.nan())
    return acb(arb(0).union(abs(theta.real).upper() ** exponent))


def moment(kernel: Kernel, exponent: arb) -> arb:
    """Return E[theta^exponent]."""
    if exponent.is_zero():
        return arb(1)

    def weighted(theta: acb, analytic: bool) -> acb:
        return kernel.factor(theta) * power(theta, exponent, analytic)

    return kernel.integral(Part(weighted, arb(0), arb.pi())) / kernel.total


def _drop(kernel: Kernel, middle: acb, half: acb) -> acb:
    """Return 1 - k(middle + half)/k(middle - half)."""
    gap: acb = middle.sin() * half.sin() * (-2 * kernel.concentration)
    return -gap.expm1()


def _turn(kernel: Kernel, radius: arb, theta: arb) -> arb:
    """Return a number with the sign of k((theta-rho)+) - k(theta) - [k(theta) - k(min(theta+rho, pi))]."""
    lam, end = kernel.concentration, arb.pi() - radius
    if less(radius, theta) and less(theta, end):
        z = lam * theta.sin() * radius.sin()
        return (2 * (z / 2).sinh() ** 2).log1p() - 2 * lam * theta.cos() * (radius / 2).sin() ** 2
    up = _cos_gap((theta - radius).max(0), theta)
    down = _cos_gap((theta + radius).min(arb.pi()), theta)
    return (lam * up).expm1() + (lam * down).expm1()


def _cos_gap(v: arb, theta: arb) -> arb:
    """Return cos v - cos theta."""
    return -2 * ((v + theta) / 2).sin() * ((v - theta) / 2).sin()


def crossing(kernel: Kernel, radius: arb) -> tuple[arb, arb]:
    """Enclose the only colatitude at which the two differences of 4.3 are equal; the first is larger beyond it.

    That there is only one, below pi/2, is proved in docs/theorems/4.3-core-head.md.
    """
    low, high = arb(0), arb(2)  # bisection by the sign of `_turn`
    for _ in range(4 * ctx.prec):
        if low > 0 and high - low < low * arb(2) ** (-ctx.prec // 2 - 8):
            break
        middle = ((low + high) / 2).mid()
        value = _turn(kernel, radius, middle)
        if value > 0:
            high = middle
        elif value < 0:
            low = middle
        else:
            break
    return low, high


def _larger(kernel: Kernel, radius: arb, theta: arb) -> arb:
    """Enclose the larger of the two differences of 4.3 near their crossing, with the measure."""
    near, middle, far = acb((theta - radius).max(0)), acb(theta), acb((theta + radius).min(arb.pi()))
    first = kernel.factor(near) * _drop(kernel, (near + middle) / 2, (middle - near) / 2)
    second = kernel.factor(middle) * _drop(kernel, (middle + far) / 2, (far - middle) / 2)
    return first.real.union(second.real) * kernel.measure(middle).real


def shift_variation(kernel: Kernel, radius: arb) -> arb:
    """Return D(lambda, rho) of 4.3, for an exact 0 <= rho <= pi."""
    if kernel.concentration.is_zero() or radius.is_zero():
        return arb(0)
    rho, half, end = acb(radius), acb(radius / 2), arb.pi() - radius
    low, high = crossing(kernel, radius)

    def fall(theta: acb, _: bool) -> acb:
        return kernel.factor(theta) * _drop(kernel, theta + half, half)

    def fall_to_pole(theta: acb, _: bool) -> acb:
        return kernel.factor(theta) * _drop(kernel, (acb.pi() + theta) / 2, (acb.pi() - theta) / 2)

    def rise(theta: acb, _: bool) -> acb:
        return kernel.factor(theta - rho) * _drop(kernel, theta - half, half)

    def rise_from_pole(theta: acb, _: bool) -> acb:
        return kernel.factor(acb(0)) * _drop(kernel, theta / 2, theta / 2)

    # Step 1: k(theta) - k(min(theta + rho, pi)) up to the crossing
    parts = [Part(fall, arb(0), low if less(low, end) else end)]
    if not less(low, end):
        parts.append(Part(fall_to_pole, end, low))
    # Step 2: k((theta - rho)_+) - k(theta) from it on
    if less(high, radius):
        parts.append(Part(rise_from_pole, high, radius, hints=_hints(kernel, min(float(radius), kernel.mode))))
    parts.append(Part(rise, radius.max(high), arb.pi(), hints=_hints(kernel, kernel.peak(-float(radius)))))
    # Step 3: the crossing itself, by the union of both
    total = kernel.integral(*parts) + (high - low) * _larger(kernel, radius, low.union(high))
    return total / kernel.total


def _hints(kernel: Kernel, *peaks: float) -> list[Hint]:
    return [(peak, kernel.width) for peak in peaks]


def shifted_mean(kernel: Kernel, radius: arb) -> arb:
    """Return the quotient of 4.4 (mean): int (theta+rho) k((theta-rho)+) over int k(min(theta+rho, pi))."""
    rho, end = acb(radius), arb.pi() - radius
    if radius.is_zero():
        return moment(kernel, arb(1))
    north, south = kernel.factor(acb(0)), kernel.factor(acb.pi())
    behind, ahead = kernel.peak(-float(radius)), kernel.peak(float(radius))
    top = kernel.integral(
        Part(lambda theta, _: north * (theta + rho), arb(0), radius, hints=_hints(kernel, min(float(radius), 1.57))),
        Part(
            lambda theta, _: kernel.factor(theta - rho) * (theta + rho), radius, arb.pi(), hints=_hints(kernel, behind)
        ),
    )
    bottom = kernel.integral(
        Part(lambda theta, _: kernel.factor(theta + rho), arb(0), end, hints=_hints(kernel, ahead)),
        Part(lambda theta, _: south, end, arb.pi(), hints=_hints(kernel, max(float(end), 1.57))),
    )
    return top / bottom


def _spread(kernel: Kernel, radius: arb, half: arb, extra: arb, clipped: bool) -> Integrand:
    """Return (1 - e^-p) k with p = half sin^2(theta + rho) + extra, the sine at 1 where it is clipped (4.D)."""
    rho, drift = acb(radius), acb(extra)

    def rise(theta: acb, _: bool) -> acb:
        sine = acb(1) if clipped else (theta + rho).sin()
        return kernel.factor(theta) * -(-(half * sine**2 + drift)).expm1()

    return rise


def _excess(radius: arb, half: arb, extra: arb, equal: arb, clipped: bool) -> Callable[[arb], arb]:
    """Return p/equal - 1 for the p of `_spread`, in the form that keeps its digits."""

    def excess(theta: arb) -> arb:
        if not clipped and theta + radius < 0.8:
            return (half * (theta + radius).sin() ** 2 + extra) / equal - 1
        top = (half + extra) / equal - 1
        return top if clipped else top - half / equal * (theta + radius).cos() ** 2

    return excess


def centroid_variation(kernel: Kernel, radius: arb) -> arb:
    """Return D2(lambda, rho) of 4.D, for rho < pi/2: E[max(e^q - 1, 1 - e^-p(theta))]."""
    lam = kernel.concentration
    if lam.is_zero():
        return arb(0)
    # Step 1: q = lambda (1 - cos rho), and the case in which e^q - 1 is the larger throughout
    q = 2 * lam * (radius / 2).sin() ** 2
    least, half = q.expm1(), (lam * radius.sin()) ** 2 / 2
    if less(arb(1), least):
        return least

    def level(theta: acb, _: bool) -> acb:
        return kernel.factor(theta) * acb(least)

    # Step 2: the kinks of p, and the p at which both branches cross: 1 - e^-p = e^q - 1
    equal, turn = -(-least).log1p(), arb.pi() / 2 - 2 * radius
    cuts = [arb(0), *([turn] if less(arb(0), turn) else []), arb.pi() / 2 - radius, arb.pi()]
    # Step 3: the larger branch between the kinks; q enters p from the turn on, the sine is clipped in the last piece
    parts = []
    for i, (a, b) in enumerate(pairwise(cuts)):
        clipped, extra = i == len(cuts) - 2, q if len(cuts) == 3 or i > 0 else arb(0)
        lead = _excess(radius, half, extra, equal=equal, clipped=clipped)
        parts += larger(level, _spread(kernel, radius, half, extra=extra, clipped=clipped), lead, low=a, high=b)
    return kernel.integral(*parts) / kernel.total
