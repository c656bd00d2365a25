"""The largest radius of 4.3 and 4.D, with the kernel's variation of either."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from flint import arb, ctx

from ..records.bound import Bound
from ..records.enclosure import Enclosure
from ..records.problem import Problem
from ._few import zero_weights
from ._moments import moment
from ._radii import Proof, covered, kernel_of, solved
from ._zonal import Kernel


def by_variation(variation: Callable[[Kernel, arb], arb]) -> Proof:
    """Make the proof of L E[theta^alpha] + L rho^alpha + F D <= eps (4.3, 4.D)."""

    def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
        if (constant := zero_weights(bound, problem)) is not None:
            return constant
        lip, sup, alpha = arb(problem.lipschitz), arb(problem.sup_norm), arb(problem.exponent)

        @cache
        def smooth(_bits: int) -> tuple[Kernel, arb]:  # the part that is the same at every radius
            kernel = kernel_of(bound, problem)
            return kernel, lip * moment(kernel, alpha)

        def excess(radius: arb) -> arb:
            kernel, error = smooth(ctx.prec)
            return error + lip * radius**alpha + sup * variation(kernel, radius) - arb(problem.eps)

        return solved(bound, problem, excess, covered(bound, problem), digits)

    return prove
