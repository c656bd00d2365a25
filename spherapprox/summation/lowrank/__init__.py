"""The lowrank method: a polynomial of <x, b> in place of the exponential, by moments of the control points.

``exp(-rate |x - b|^2)`` is ``e^-lambda f(x) f(b) exp(lambda <x, b>)`` with ``lambda = 2 rate`` and
``f(y) = exp(-rate (|y|^2 - 1))``, on rows of any length. A polynomial of <x, b> is a sum over monomials of x times the
same of b, so that one pass over the control points (their moments) and one over the evaluation points do:
docs/theorems/4.10-polynomial-features.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ... import _checks, special
from ..._kernels.summation import monomials
from ..._kernels.summation.monomials import Layout, layout, rank
from ..._loading import load
from ..._threads import in_order, slices
from ..._types import Float64, Floats
from .. import dense
from ..method import Report, Sums, Tolerance
from ..partial import Partial
from ..problem import Problem
from .chebyshev import coefficients, log_size, log_tail
from .jensen import Scales

LARGEST_RANK = 2**22  # moments of all columns; each takes some 80 bytes, and 16 more for each thread
LARGEST_DEGREE = 150
COARSEST = 0.1  # the largest truncation error, so that computed denominators are near the true ones
SHARE = 0.5  # what the polynomial may take of `rtol`; the rest is for roundings
BLOCK_WORK = 4e8  # monomials times points of a task, between which the sum can be interrupted: about 40 ms. Tuned.
MOST_POINTS = 2.0**16  # points of a task, at most: so much room the chains of additions have that bounds count with
ROUNDING = 4e-16
"""What roundings usually come to, relative to the sum of all absolute terms: seen, where `Sums.error` is proven."""
PER_MONOMIAL, PER_ROW, ROWS, PER_COORDINATE, PER_POINT = 5e-11, 2.2e-10, 5000.0, 1.5e-8, 6e-8
"""Seconds for a monomial at a point; for a row of a part at a point while rows are few beside ROWS, and more
when they leave the cache; for a coordinate of a point; and for a point. Measured."""

SLACK = 1.001  # room in the error's bound for products of roundings, and for those of the bound itself
Counter = Callable[[int], object]  # called with the number of points or pairs that are finished

_UNIT = 2.0**-53


def sums(
    problem: Problem, tolerance: Tolerance, workers: int | None, report: Report, *, coarsest: float = COARSEST
) -> Sums:
    """Return the sums with the polynomial that the tolerance allows; `report` counts finished pairs.

    All rows are doubtful if the result is so small beside the sum of weights that roundings spoil it, as in opposite
    caps.
    """
    load("spherapprox._kernels.summation.features")
    # Step 1: choose the degree, and lay out the monomials
    kernel, scales = _Kernel.of(problem), Scales.of(problem)
    plan = layout(problem.variables, kernel.degree(tolerance.omitted, scales.need(problem.normalize), coarsest))
    # Step 2: moments of the control points
    half = len(problem.x) * len(problem.b) // 2
    moments, chain = _moments(problem, plan, workers, report=_shares(half, len(problem.b), report))
    # Step 3: the polynomial at the evaluation points
    powers, sizes, uncertain = coefficients(kernel.z, plan.degree)
    counter = _shares(len(problem.x) * len(problem.b) - half, len(problem.x), report)
    powers = kernel.scaled(powers, problem.rate)
    answer = _polynomials(problem, plan, moments, powers=powers, workers=workers, report=counter)
    denominator = answer[:, problem.p].copy() if problem.normalize else np.zeros(len(answer))
    state = Partial(np.zeros(len(answer)), answer[:, : problem.p], denominator)
    # Step 4: bound the error
    term_error = kernel.error(plan.degree, float(sizes @ _roundings(problem.variables, plan.degree, chain)), uncertain)
    scales = scales.sharpened(state, term_error, problem.normalize)
    if not problem.normalize and term_error * scales.need(False) + _factors(problem) > tolerance.total:
        scales = scales.summed(problem)
    error = term_error * scales.need(problem.normalize) + _factors(problem)
    if not error <= tolerance.total:
        return Sums(state, 0.0, doubtful=np.arange(len(problem.x)))
    return Sums(state, error)


def promise(problem: Problem, omitted: float) -> float:
    """Estimate the error bound for control points all over the sphere."""
    kernel, concentration = _Kernel.of(problem), 2.0 * problem.rate
    if kernel.z > LARGEST_DEGREE:
        return math.inf
    term_error = _expected_error(kernel, problem.variables, kernel.degree(omitted, kernel.expected_need(problem)))
    need = math.exp(concentration - _log_mean(problem.dim, concentration)) * (1.0 + problem.normalize)
    return term_error * need + _factors(problem)


def obstacle(problem: Problem, tolerance: Tolerance) -> str:
    """Return the obstacle to the method; empty if there is none."""
    if problem.values is None or problem.offset is not None:
        return "it takes no angles and no offsets"
    kernel = _Kernel.of(problem)
    if kernel.z > LARGEST_DEGREE:
        return f"concentration {2.0 * problem.rate:g} is too large for polynomials"
    exponent = problem.rate * (1.0 + kernel.reach) ** 2  # of any points: no exponent is above rate (|x| + |b|)^2
    degree = kernel.degree(tolerance.omitted, _need(problem, exponent, exponent))
    moments = (problem.p + problem.normalize) * rank(problem.variables, degree)
    if degree > LARGEST_DEGREE or moments > LARGEST_RANK:
        return f"a polynomial of {problem.variables} variables and degree {degree} has too many coefficients"
    return ""


def cost(problem: Problem, tolerance: Tolerance) -> float:
    """Estimate the seconds of one thread."""
    kernel, d = _Kernel.of(problem), problem.variables
    degree = kernel.degree(tolerance.omitted, kernel.expected_need(problem))
    columns, terms = problem.p + problem.normalize, rank(d, degree)
    rows = rank(-(-d // 2), degree) + rank(d // 2, degree)
    point_seconds = PER_MONOMIAL * columns * terms + PER_ROW * rows * (1.0 + rows / ROWS) * 0.5 * (1.0 + columns)
    point_seconds += PER_COORDINATE * d + PER_POINT
    once = 1e-7 * columns * terms + 1e-3
    return once + point_seconds * (len(problem.x) + len(problem.b))


def memory(problem: Problem, tolerance: Tolerance) -> float:
    """Estimate the bytes that are held at once: moments, and blocks of points."""
    kernel, columns = _Kernel.of(problem), problem.p + problem.normalize
    terms = rank(
        problem.variables, min(kernel.degree(tolerance.omitted, kernel.expected_need(problem)), LARGEST_DEGREE)
    )
    sample = dense.memory(problem.at_rows(slice(0, 1)), tolerance) if problem.normalize else 0.0
    return problem.result_memory + 8.0 * columns * (6.0 * terms + 2.0**12) + sample


@dataclass(frozen=True)
class _Kernel:
    """The exponential, ``exp(z s)`` with ``s = <x, b> / reach`` in [-1, 1], and the polynomials that stand for it.

    A term of weight 1 is at most `weight` times it: ``e^-lambda f(x) f(b)``.
    """

    z: float
    reach: float
    weight: float

    @classmethod
    def of(cls, problem: Problem) -> _Kernel:
        """Return the exponential for rows of all lengths that are admitted."""
        off = [1.001 * _checks.UNIT_TOLERANCE[rows.dtype] for rows in (problem.x, problem.b)]
        reach = (1.0 + off[0]) * (1.0 + off[1])
        weight = math.exp(max(problem.rate * (2.0 * sum(off) - 2.0), -700.0))
        return cls(2.0 * problem.rate * reach, reach, weight)

    def degree(self, rtol: float, need: float, coarsest: float = COARSEST) -> int:
        """Return the least degree that truncates at most SHARE of rtol; terms' errors grow by `need` in results."""
        log = math.log(min(rtol, coarsest)) - math.log(need) - math.log(self.weight)
        return _degree(self.z, log + math.log(SHARE), log - math.log(ROUNDING))

    def error(self, degree: int, roundings: float, uncertain: float) -> float:
        """Bound the error of a term of weight 1, from the roundings of all powers and the coefficients' own errors."""
        # 4.10, rounding: e^-lambda f(x) f(b) (tau_g + r_0 sum_j H_j |p_j|)
        return SLACK * self.weight * (math.exp(log_tail(self.z, degree)) + _UNIT * roundings + uncertain)

    def scaled(self, powers: Float64, rate: float) -> Float64:
        """Return the coefficients of powers of <x, b> from those of s, times e^-lambda."""
        # 4.10: e^-lambda p_j / R^j
        return np.asarray(math.exp(-2.0 * rate) * powers / self.reach ** np.arange(len(powers)))

    def expected_need(self, problem: Problem) -> float:
        """Estimate `need` for control points all over the sphere."""
        return _need(problem, 2.0 * problem.rate, _log_mean(problem.dim, 2.0 * problem.rate))


@lru_cache(maxsize=64)
def _log_mean(dim: int, concentration: float) -> float:
    """Return the logarithm of the mean of ``exp(concentration <x, b>)`` over the sphere (1.1)."""
    if concentration < 1e-3:
        return 0.0
    order = 0.5 * (dim - 1)
    power = order * math.log(2.0 / concentration) + math.lgamma(order + 1.0)
    return power + float(special.log_iv(order, concentration))


def _need(problem: Problem, exponent: float, mean: float) -> float:
    """Bound the result's relative error where terms err by 1; their log mean is from -exponent to mean - exponent."""
    quotient = 1.0 + math.exp(min(mean, 300.0)) if problem.normalize else 1.0
    return math.exp(min(exponent, 300.0)) * quotient


@lru_cache(maxsize=64)
def _degree(z: float, largest_log_tail: float, largest_log_size: float) -> int:
    """Return the least degree with a tail and with coefficients as small as wanted; LARGEST_DEGREE + 1 if none has."""
    size = max(largest_log_size, z + 0.1)
    for degree in range(LARGEST_DEGREE + 1):
        if log_tail(z, degree) <= largest_log_tail and log_size(z, degree) <= size:
            return degree
    return LARGEST_DEGREE + 1


def _moments(problem: Problem, plan: Layout, workers: int | None, report: Counter) -> tuple[Float64, float]:
    """Return the moments (q, ...) of all columns, the last for weights 1, and the additions that a term passes."""
    from ..._kernels.summation.features import moments

    run, columns = monomials.RUN_POINTS, problem.p + problem.normalize

    def part_moments(part: slice) -> tuple[Float64, int]:
        b, _, w = problem.controls(part)
        b, factor = _split(b, problem)
        weights = np.empty((columns, len(b)))
        weights[: problem.p], weights[problem.p :] = w.T, 1.0  # (q, n)
        weights *= factor
        total = np.zeros((columns, plan.moments))
        # 4.10: mu_alpha = sum_k w_k f(b_k) b_k^alpha
        moments(b, weights, plan.first.segments, plan.second.segments, plan.moment_rows, plan.n_second, total)
        return total, len(b)

    runs = max(1, int(_points_per_task(plan, columns, len(problem.b)) / run))
    total, compensation = np.zeros((2, columns, plan.moments))
    for part, n in in_order(part_moments, slices(len(problem.b), runs * run), workers):
        added = total + part
        grown = added - total
        compensation += (total - (added - grown)) + (part - grown)
        total = added
        report(n)
    return total + compensation, monomials.chain_length(min(runs, -(-len(problem.b) // run)))


def _polynomials(
    problem: Problem, plan: Layout, moments: Float64, powers: Float64, workers: int | None, report: Counter
) -> Float64:
    """Return the sums (m, q) from the moments and the polynomial's coefficients."""
    from ..._kernels.summation.features import polynomials

    table, chunk = plan.coefficients(moments, powers), monomials.CHUNK
    answer = np.empty((len(problem.x), len(table)))

    def evaluate_rows(rows: slice) -> int:
        x, factor = _split(problem.x[rows], problem)
        out = answer[rows]
        polynomials(x, table, plan.first.segments, plan.second.segments, plan.value_rows, plan.n_second, out)
        out *= factor[:, None]
        return len(x)

    step = chunk * max(1, int(_points_per_task(plan, len(table), len(problem.x)) / chunk))
    for n in in_order(evaluate_rows, slices(len(problem.x), step), workers):
        report(n)
    return answer


def _points_per_task(plan: Layout, columns: int, n: int) -> float:
    """Return the number of points of a task: a sixteenth of n, if that is not little, whatever the workers."""
    return min(BLOCK_WORK / (columns * plan.moments), max(n / 16.0, 2048.0), MOST_POINTS)


def _split(rows: Floats, problem: Problem) -> tuple[Float64, Float64]:
    """Return a copy of the variables of rows (n, d), since kernels are compiled for writeable arrays, and f(y) (n,)."""
    variables = np.array(rows[:, : problem.variables], np.float64, order="C")
    if problem.padding:  # 4.16: the padding makes every length 1
        return variables, np.ones(len(rows))
    return variables, np.exp(-problem.rate * (np.einsum("ij,ij->i", variables, variables) - 1.0))


def _roundings(d: int, degree: int, chain: float) -> Float64:
    """Bound the roundings that a term of each degree passes, products and sums (4.10)."""
    rows = [rank(-(-d // 2), j) + rank(d // 2, j) for j in range(degree + 1)]
    # 4.10, rounding: H_j = 6 j + 20 + l + n_1(j) + n_2(j)
    return np.asarray(6.0 * np.arange(degree + 1) + chain + 20.0 + np.array(rows), np.float64)


@lru_cache(maxsize=64)
def _expected_error(kernel: _Kernel, d: int, degree: int) -> float:
    """Bound the error of a term of weight 1 before the moments are computed."""
    if degree > LARGEST_DEGREE:
        return math.inf
    _, sizes, uncertain = coefficients(kernel.z, degree)
    longest = monomials.chain_length(int(MOST_POINTS) // monomials.RUN_POINTS)
    return kernel.error(degree, float(sizes @ _roundings(d, degree, longest)), uncertain)


def _factors(problem: Problem) -> float:
    """Bound the relative errors of e^-lambda, f(x), f(b) and of the last rounding to the result's type."""
    # 4.10, rounding: (lambda (m + 5) + 12) r_0
    error = _UNIT * (2.0 * problem.rate * (problem.dim + 5.0) + 12.0)
    return error * (2.0 if problem.normalize else 1.0) + float(np.finfo(problem.dtype).eps) / 2.0


def _shares(pairs: int, steps: int, report: Counter) -> Counter:
    """Return a counter of steps that reports as large a share of the pairs."""
    counts = [0, 0]

    def add(count: int) -> None:
        counts[0] += count
        now = pairs * counts[0] // steps
        report(now - counts[1])
        counts[1] = now

    return add
