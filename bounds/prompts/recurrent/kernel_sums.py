"""The recurrent kernel sum, whose exponentials are chords, against the split head (10.5)."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from spherapprox import _checks
from spherapprox._integrals.piece import log_sum

from ...records.bound import Bound, Hypothesis, over_arrays, settle
from ...records.problem import LARGEST_CONCENTRATION, SMALLEST, WIDEST
from ..lengths import between

REFERENCE = "docs/theorems/10.5-kernel-sums.md"


def kernel_sum_error(
    spacing: ArrayLike, depth: ArrayLike, *, n: ArrayLike, concentration: ArrayLike, radius: ArrayLike,
    sup_norm: ArrayLike = 1.0,
) -> Bound:  # fmt: skip
    """Bound the difference of the recurrent kernel sum from the split head with the same tokens.

    `spherapprox.prompts.recurrent.programs.KernelSum` takes e^u by chords, on [-depth, 0] only.
    See docs/theorems/10.5-kernel-sums.md; the quantity is "sup error".

    Parameters
    ----------
    spacing, depth : float or array_like
        Distance of the knots, and minus the first of them.
    n : int or array_like
        Tokens N.
    concentration : float or array_like
        lambda.
    radius : float or array_like
        Covering radius of the control points, in radians.
    sup_norm : float or array_like, default 1.0
        Bound of the tokens' values.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from bounds.prompts import recurrent
    >>> print(recurrent.kernel_sum_error(0.1, 40.0, n=300, concentration=60.0, radius=0.15))
    kernel-sum: sup error <= 10^-3.20, concentration 60  [docs/theorems/10.5-kernel-sums.md]
    """

    @over_arrays
    def entry(step: object, low: object, count: object, lam: object, rho: object, size: object) -> Bound:
        knots = _checks.real(step, "spacing", minimum=SMALLEST, maximum=50.0)
        deep = _checks.real(low, "depth", above=0.0, maximum=WIDEST)
        tokens = math.log(_checks.integer(count, "n", minimum=1))
        at = _checks.concentration(lam, maximum=LARGEST_CONCENTRATION)
        nearest = 2.0 * at * math.sin(0.5 * _checks.real(rho, "radius", minimum=0.0, maximum=math.pi)) ** 2
        log_lost = tokens - deep + nearest
        near = Hypothesis("N e^-depth < e^(-lambda (1 - cos radius))", log_lost < 0.0)
        log = math.log(between(size, "sup_norm"))
        if near.holds:
            # 10.5 (ratio)
            bend = 0.125 * knots**2
            log_chords = bend + math.log(-math.expm1(-bend))  # log(e^bend - 1)
            log += log_sum([log_chords - math.log(2.0), math.log(2.0) + log_lost])
            log -= math.log(-math.expm1(log_lost))
        return settle(Bound(
            "sup error", log, "upper", theorem="kernel-sum", reference=REFERENCE, hypotheses=(near,), concentration=at,
        ))  # fmt: skip

    arguments = (spacing, depth, n, concentration, radius, sup_norm)
    return entry(*arguments)  # type: ignore[no-any-return]
