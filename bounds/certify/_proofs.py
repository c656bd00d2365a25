"""Proofs of theorems that add no more than a formula to a frame of several, by the names of the theorems' files."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from flint import arb, ctx

from ..records.bound import Bound
from ..records.enclosure import Enclosure
from ..records.problem import Problem
from ..theorems._floor import SMALLEST_ANGLE
from ._degrees import constant, counted, log_polynomials, log_quadrature_points
from ._excess import Excess, equal_balance
from ._few import by_radius, mean_value, zero_weights
from ._floor import angle_of, cover_of, from_below, separated
from ._moments import centroid_variation, moment, shift_variation, shifted_mean
from ._polynomials import bent, distance
from ._radii import Proof, covered, kernel_of, log_cells, solved
from ._zonal import Kernel


def _by_variation(variation: Callable[[Kernel, arb], arb]) -> Proof:
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


def _equal(kernel: Kernel, goal: arb, radius: arb) -> arb:
    """Return the integral of the largest phi within rho (4.B)."""
    return equal_balance(Excess(kernel, goal), radius)


def _mean(kernel: Kernel, goal: arb, radius: arb) -> arb:
    """Return the log of W, the quotient of shifted integrals, over (eps/L)^(1/alpha) (4.4, mean)."""
    return (shifted_mean(kernel, radius) / goal).log()


def _interpolation(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Prove |f - p_n| + N rho_g |p_n|/a_n < eps for N = dim P_g (4.G)."""
    if (few := mean_value(bound, problem)) is not None:
        return few
    n, g = int(constant(bound, "degree")), int(constant(bound, "tail degree"))

    def count(tail_degree: int) -> arb:
        return log_polynomials(tail_degree, problem.dim)

    def spare(tail_degree: int) -> arb:
        off = bent(n, tail_degree, problem)
        if problem.concentration:
            off *= count(tail_degree).exp()
        return problem.eps - distance(n, problem) - off

    return counted(count, spare, g, problem.concentration or 1.0, problem, digits)


def _spectral(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Prove |f - p_n| + rho_g |p_n|/a_n < eps (4.7)."""
    if (few := mean_value(bound, problem)) is not None:
        return few
    n = int(constant(bound, "degree"))
    g = int(constant(bound, "exactness")) - n

    def spare(tail_degree: int) -> arb:
        return problem.eps - distance(n, problem) - bent(n, tail_degree, problem)

    def count(tail_degree: int) -> arb:
        return log_quadrature_points(n + tail_degree, problem.dim)

    return counted(count, spare, g, problem.concentration or 1.0, problem, digits)


def _lower(bound: Bound, problem: Problem) -> Callable[[], arb]:
    """Prepare the covering number at (eps/L)^(1/alpha) (4.5)."""
    count = cover_of(problem, bound.radius)
    return lambda: count(angle_of(problem, 1))


def _lower_bits(bound: Bound, problem: Problem) -> Callable[[], arb]:
    """Prepare M/b, b the bits of a token (4.E, bits)."""
    bits, points = constant(bound, "bits"), separated(problem, bound.radius)
    return lambda: points() - arb(bits).log()


def _lower_continuous(bound: Bound, problem: Problem) -> Callable[[], arb]:
    """Prepare M/(m+2), m+2 the reals of a token (4.E, continuous)."""
    points = separated(problem, bound.radius)
    return lambda: points() - arb(problem.dim + 2.0).log()


def _lower_smooth(bound: Bound, problem: Problem) -> Callable[[], arb]:
    """Prepare the covering number at the radius of a bump of height eps (4.J)."""
    count = cover_of(problem, bound.radius)

    def log_points() -> arb:
        eps, lip, bend = arb(problem.eps), arb(problem.lipschitz), arb(problem.smoothness)
        # 4.J: the second radius is never the smaller one, so it is right where the slopes cannot be compared
        parabolas, capped = 2 * (eps / bend).sqrt(), eps / lip + lip / bend
        radius = parabolas if eps * bend <= lip**2 else capped
        return count(radius.max(arb(SMALLEST_ANGLE)))

    return log_points


PROOFS: dict[str, Proof] = {
    "core": _by_variation(shift_variation),
    "centroid": _by_variation(centroid_variation),
    "equal": by_radius(_equal, log_cells),
    "mean": by_radius(_mean, log_cells),
    "interpolation": _interpolation,
    "spectral": _spectral,
    "lower": from_below(_lower),
    "lower_bits": from_below(_lower_bits),
    "lower_continuous": from_below(_lower_continuous),
    "lower_smooth": from_below(_lower_smooth),
}
