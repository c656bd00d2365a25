"""Proofs of theorems that add little more than a formula to frames of several, by the names of the theorems' files."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial

from flint import acb, arb, ctx

from ..records.bound import Bound
from ..records.enclosure import CertificationError, Enclosure
from ..records.problem import Problem
from ..theorems._floor import SMALLEST_ANGLE
from ._balls import enclose, sign
from ._degrees import constant, counted, log_binomial, log_polynomials, log_quadrature_points, tail, term
from ._excess import Excess, equal_balance, pack_balance
from ._floor import angle_of, cover_of, from_below, separated
from ._moments import centroid_variation, moment, shift_variation, shifted_mean
from ._polynomials import bent, distance
from ._radii import (
    Proof,
    by_radius,
    covered,
    few_points,
    goal,
    kernel_of,
    log_cells,
    mean_value,
    solved,
    zero_weights,
)
from ._special import eigenvalue, log_cap_measure
from ._zonal import Kernel, Part


def _by_variation(variation: Callable[[Kernel, arb], arb]) -> Proof:
    """Make the proof of L E[theta^alpha] + L rho^alpha + F D <= eps (4.3, 4.D)."""

    def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
        if (constant_bound := zero_weights(bound, problem)) is not None:
            return constant_bound
        lip, sup, alpha = arb(problem.lipschitz), arb(problem.sup_norm), arb(problem.exponent)

        @cache
        def smooth(_bits: int) -> tuple[Kernel, arb]:  # the part that is the same at every radius
            kernel = kernel_of(bound, problem)
            return kernel, lip * moment(kernel, alpha)

        def excess(radius: arb) -> arb:
            kernel, error = smooth(ctx.prec)
            return error + lip * radius**alpha + sup * variation(kernel, radius) - arb(problem.eps)

        return solved(bound, problem, excess, count=covered(bound, problem), digits=digits)

    return prove


def _interpolation(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Prove |f - p_n| + N rho_g |p_n|/a_n < eps for N = dim P_g (4.G)."""
    if (constant_bound := mean_value(bound, problem)) is not None:
        return constant_bound
    n, g = int(constant(bound, "degree")), int(constant(bound, "tail degree"))

    def count(tail_degree: int) -> arb:
        return log_polynomials(tail_degree, problem.dim)

    def spare(tail_degree: int) -> arb:
        off = bent(n, tail_degree, problem)
        if problem.concentration:
            off *= count(tail_degree).exp()
        return problem.eps - distance(n, problem) - off

    return counted(count, spare, g, concentration=problem.concentration or 1.0, problem=problem, digits=digits)


def _spectral(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Prove |f - p_n| + rho_g |p_n|/a_n < eps (4.7)."""
    if (constant_bound := mean_value(bound, problem)) is not None:
        return constant_bound
    n = int(constant(bound, "degree"))
    g = int(constant(bound, "exactness")) - n

    def spare(tail_degree: int) -> arb:
        return problem.eps - distance(n, problem) - bent(n, tail_degree, problem)

    def count(tail_degree: int) -> arb:
        return log_quadrature_points(n + tail_degree, problem.dim)

    return counted(count, spare, g, concentration=problem.concentration or 1.0, problem=problem, digits=digits)


def _quadrature(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Prove that the degree, or the next one, suffices at the concentration (4.C)."""
    if (constant_bound := mean_value(bound, problem)) is not None:
        return constant_bound
    assert bound.concentration is not None
    degree, dim, alpha = int(constant(bound, "degree")), problem.dim, arb(problem.exponent)

    def spare(g: int) -> arb:
        lam, kappa = arb(bound.concentration), (arb.pi() ** 2 - 4) / 4
        if lam.is_zero():
            tau = tau_1 = tau_2 = arb(0)
            moment = 2 + kappa * (1 + arb(1) / (dim + 1))
        else:
            tau = tail(g, dim, lam)
            tau_1 = tau + term(g, dim, lam)
            tau_2 = tau_1 + term(g - 1, dim, lam)
            a_1 = eigenvalue(1, dim, lam)
            moment = 2 * (1 - a_1) + kappa * (2 * (1 - a_1) - dim * a_1 / lam)
        # 4.C: F tau_g + L (1 + tau_g)^(1-a/2) (M + 4 tau_(g-1) + 4 kappa tau_(g-2))^(a/2), M = E[2u + kappa u^2]
        near = (moment + 4 * (tau_1 + kappa * tau_2)) ** (alpha / 2)
        return problem.eps - problem.sup_norm * tau - problem.lipschitz * (1 + tau) ** (1 - alpha / 2) * near

    count, lam = partial(log_quadrature_points, dim=dim), bound.concentration
    return counted(count, spare, degree, concentration=lam, problem=problem, digits=digits)


def _rank(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Prove |f - p_n| < eps and enclose the count of 4.G (rank)."""
    if (constant_bound := mean_value(bound, problem)) is not None:
        return constant_bound
    degree, dim = int(constant(bound, "degree")), problem.dim
    if sign(lambda: problem.eps - distance(degree, problem), digits) <= 0:
        raise CertificationError(f"degree {degree} cannot be proved enough")
    return enclose(lambda: log_polynomials(degree, dim).min(_log_rank_points(max(degree, 5), dim)), digits + 2)


def _log_rank_points(degree: int, dim: int) -> arb:
    """Return log(4 ceil(C(m+n, m)/(m+1))), or a little more for binomials too large to be rounded."""
    log = log_binomial(degree, dim)
    ratio = log.exp() / (dim + 1)
    if log < 27:
        units = ratio.unique_fmpz() if ratio.contains_integer() else ratio.ceil().unique_fmpz()
        if units is None:
            raise CertificationError("a count cannot be told from its neighbour")
        return (4 * arb(units)).log()
    return (4 * (ratio + 1)).log()


def _nearest(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Prove rho + eta + pi (N-1) e^(-lambda (cos rho - cos(rho+eta))) <= (eps/L)^(1/alpha), N covering at rho (4.4).

    With lambda free rho is (1 - slack) of the goal and a large enough lambda does; at a given lambda, with rho + eta
    where it is best, rho is the largest.
    """
    if (constant_bound := few_points(bound, problem)) is not None:
        return constant_bound
    assert bound.radius is not None
    count = covered(bound, problem)
    if problem.concentration is None:
        return enclose(lambda: count(goal(problem) * (1 - arb(problem.slack))), digits + 2)
    lam = arb(problem.concentration)
    outer = _outer_angle(float(lam), float(goal(problem)), bound.radius)

    def excess(radius: arb) -> arb:
        drop = 2 * ((outer + radius) / 2).sin() * ((outer - radius) / 2).sin()
        return (arb.pi() * count(radius).expm1() / (goal(problem) - outer)).log() - lam * drop

    return solved(bound, problem, excess, count=count, digits=digits)


def _outer_angle(concentration: float, goal_: float, radius: float) -> float:
    """Maximise log(goal - v) - lambda cos v over v = rho + eta in (rho, goal), about: any v is valid."""
    low, high = radius, goal_
    for _ in range(200):
        middle = 0.5 * (low + high)
        if concentration * math.sin(middle) * (goal_ - middle) > 1.0:
            low = middle
        else:
            high = middle
    return low


def _log_most_separated(dim: int, separation: arb, sharp: bool) -> arb:
    """Bound the log of the number of points with a separation (4.A, count) by volume, and by Rankin if sharp."""
    volume = -log_cap_measure(dim, separation / 2)
    sine = arb(2).sqrt() * (separation / 2).sin()
    if not sharp or not sine < 1:
        return volume
    b = sine.asin()
    kernel, edge = Kernel(dim, arb(0)), acb(b)

    def depth(u: acb, _: bool) -> acb:  # cos u - cos b
        return 2 * ((edge + u) / 2).sin() * ((edge - u) / 2).sin()

    hints = ((min(float(b), 1.57), float(b) / dim),)
    measure = kernel.integral(Part(lambda _u, _: acb(1), arb(0), b, hints=hints))
    height = kernel.integral(Part(depth, arb(0), b, hints=hints)) / measure
    rankin = 2 * sine.log() - (2 * b.cos() * height).log() - log_cap_measure(dim, b)
    return volume.min(rankin)


def _over_bumps(count: Callable[[arb], arb], _: Bound, problem: Problem) -> arb:
    """Return the covering number at the radius of a bump of height eps (4.J)."""
    eps, lip, bend = arb(problem.eps), arb(problem.lipschitz), arb(problem.smoothness)
    # 4.J: the second radius is never the smaller one, so it is right where the slopes cannot be compared
    parabolas, capped = 2 * (eps / bend).sqrt(), eps / lip + lip / bend
    radius = parabolas if eps * bend <= lip**2 else capped
    return count(radius.max(arb(SMALLEST_ANGLE)))


PROOFS: dict[str, Proof] = {
    "core": _by_variation(shift_variation),
    "centroid": _by_variation(centroid_variation),
    # 4.B and 4.A: the sum of the largest phi; 4.4 (mean): the log of W over (eps/L)^(1/alpha)
    "equal": by_radius(lambda kernel, goal, rho: equal_balance(Excess(kernel, goal), rho), log_cells),
    "mean": by_radius(lambda kernel, goal, rho: (shifted_mean(kernel, rho) / goal).log(), log_cells),
    "pack": by_radius(
        lambda kernel, goal, rho: pack_balance(Excess(kernel, goal), rho, rho),
        lambda problem, rho: _log_most_separated(problem.dim, rho, problem.covering == "best"),
    ),
    "nearest": _nearest,
    "quadrature": _quadrature,
    "rank": _rank,
    "interpolation": _interpolation,
    "spectral": _spectral,
    # 4.5; 4.E: M/b, b the bits of a token, and M/(m+2), m+2 the reals of one
    "lower": from_below(cover_of, lambda count, _, problem: count(angle_of(problem, 1))),
    "lower_bits": from_below(separated, lambda points, bound, _: points() - arb(constant(bound, "bits")).log()),
    "lower_continuous": from_below(separated, lambda points, _, problem: points() - arb(problem.dim + 2.0).log()),
    "lower_smooth": from_below(cover_of, _over_bumps),
}
