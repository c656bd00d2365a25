"""6.5 (R), (RT), (D): tests by polynomials, with their tails and the roundings of denominators."""

import math

import mpmath
import numpy as np
import pytest
from cells import zero

from spherapprox import CoreHead, SplitHead
from spherapprox.error.certified.derivatives import Derivative
from spherapprox.error.certified.heads import HeadError
from spherapprox.error.certified.riesz import Riesz, degree_for
from spherapprox.error.certified.taylor import moments
from spherapprox.harmonics.forms import tangent_frame


def test_a_cell_passes_only_if_it_does_for_every_denominator_within_the_rounding():
    test, rounding = Riesz(10, 1e-9, 0.0, 0.1), 0.01
    axes = np.linspace(0.0, 0.15, 60), np.linspace(0.0, 0.99, 60), np.linspace(-0.7, 0.3, 61)
    radii, errors, log_sums = (grid.ravel() for grid in np.meshgrid(*axes))
    arguments = radii, errors, log_sums, np.zeros(len(radii)), 1.0
    by_bound = test.check(*arguments, rounding)
    arguments = radii, errors, log_sums + np.log1p([[-rounding], [rounding]]), np.zeros(len(radii)), 1.0
    true = test.check(*arguments, 0.0).all(axis=0)
    assert (by_bound <= true).all()
    assert by_bound.sum() > 0.98 * true.sum()


def test_a_cell_passes_taylors_test_only_if_its_largest_denominator_is_below_the_constant():
    rounding, x, radii = 1e-3, np.eye(2, 3), np.full(2, 1e-3)
    problem = HeadError.of(SplitHead(x, [0.0, 0.1], 2.0), zero(2))
    sample = problem.sample(x)
    growth = moments(x, radii, tangent_frame(x), problem.terms, np.zeros(2), np.zeros((2, 1))).log_growth
    test = Riesz(10**6, 1e-9, float((sample.log_sums + growth).max()) + 0.5 * rounding, 0.1)
    for stated, passes in ((rounding, False), (0.4 * rounding, True)):
        found = problem.check(x, radii, sample._replace(rounding=stated), 1.0, test)
        assert (found.taylor == passes).all()


def test_no_denominator_falls_by_more_than_the_bound_from_a_logarithm_with_roundings():
    concentration, r, radius = 1e4, np.linspace(0.0, 0.03, 61)[:, None], np.linspace(1e-4, 0.03, 50)
    problem = HeadError.of(CoreHead(np.eye(1, 3), [1.0], concentration), zero(2))
    falls = 2.0 * concentration * np.sin(r + 0.5 * radius) * np.sin(0.5 * radius)
    for rounding in (-1e-6, 0.0, 1e-6):
        logs = rounding - 2.0 * concentration * np.sin(0.5 * r) ** 2
        bounds = problem._fall(radius, logs)
        assert (falls <= bounds).all()
        assert (bounds <= falls + 1.5e-2 * (radius * concentration**0.5) + 1e-3 * falls).all()


def test_the_tail_of_a_quotient_is_that_of_all_its_terms():
    # terms at one point, whose degrees beyond Riesz's add up there
    for stretch in (0.0, 4e-7):
        b = np.repeat([[0.0, 0.0, 1.0 + stretch]], 5, axis=0).astype(np.float32)
        problem = HeadError.of(SplitHead(b, [1.0, 1.0, 1.0, 1.0, 0.999], 20.0), zero(2))
        test = problem.riesz(0.5, 1e-6, np.eye(1, 3, 2))
        with mpmath.workdps(30):
            length, degrees = mpmath.mpf(float(b[0, 2])), range(test.degree + 1, 150)
            rate = 20 * length
            terms = [(2 * k + 1) * mpmath.besseli(k + mpmath.mpf(1) / 2, rate) for k in degrees]
            beyond = mpmath.exp(-10 * (1 + length**2)) * mpmath.sqrt(mpmath.pi / (2 * rate)) * sum(terms)
            exact = float(5 * (problem.total + 0.5) * beyond / mpmath.exp(test.log_scale))
        assert exact <= test.tail <= 1.001 * exact


def test_rows_whose_lengths_are_off_by_too_much_for_the_degree_are_not_tested():
    b = np.repeat([[0.0, 0.0, 1.0]], 2, axis=0).astype(np.float32)
    for concentration, stretch, usable in ((2e7, 0.0, True), (1e3, 4e-7, True), (2e7, 9e-7, False)):
        rows = (b * np.float32(1.0 + stretch)).astype(np.float32)
        head = CoreHead(rows, [1.0, 0.5], concentration)
        assert (HeadError.of(head, zero(2)).riesz(1.0, 1e-3, np.eye(3)) is not None) == usable
        assert (Derivative.of(head, 1).riesz(1.0, 1e-3, np.eye(3)) is not None) == usable


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize(("dim", "concentration"), [(1, 8.0), (2, 30.0), (5, 3.0)])
def test_tails_are_at_least_what_the_degrees_beyond_add(order, dim, concentration):
    # l^r dim(H_l) a_l, summed
    nu = mpmath.mpf(dim - 1) / 2
    with mpmath.workdps(30):

        def term(k):
            count = mpmath.binomial(k + dim, dim) - (mpmath.binomial(k + dim - 2, dim) if k > 1 else 0)
            ratio = mpmath.besseli(nu + k, concentration) / mpmath.besseli(nu, concentration)
            return mpmath.mpf(k) ** order * count * ratio

        for share in (-1.0, -8.0, -20.0):
            degree, log_tail = degree_for(np.eye(1, dim + 1), concentration, share, order)
            exact = mpmath.log(sum(term(k) for k in range(degree + 1, degree + 80)))
            assert exact <= log_tail <= share + 1e-5
            assert log_tail <= exact + 0.5


def test_cosines_are_not_above_the_true_ones():
    # an error that is the cosine, rounded up, is not below it
    radii = np.random.default_rng(0).uniform(0.01, 0.15, 2000)
    cosines = [mpmath.cos(10 * mpmath.mpf(float(r))) for r in radii]
    errors = np.array([float(c) if float(c) >= c else math.nextafter(float(c), 2.0) for c in cosines])
    test = Riesz(10, 0.0, 0.0, 0.1)
    zeros = np.zeros(len(radii))
    assert not test.check(radii, errors, zeros, zeros, 1.0, 0.0).any()
    assert test.check(radii, errors - 1e-14, zeros, zeros, 1.0, 0.0).all()


def test_the_tail_is_within_the_room_wherever_a_cell_passes():
    logs, falls, room = np.log([1.0, 0.8, 0.6]), np.array([0.0, 0.2, 0.5]), 0.1
    least = np.exp(logs - falls)
    for share, passes in ((1.001, False), (0.98, True)):
        for i in range(3):
            test = Riesz(10, 0.5 * room * share * least[i], 0.0, room)
            found = test.check(np.array([0.01]), np.array([0.1]), logs[i : i + 1], falls[i : i + 1], 1.0, 0.0)
            assert found[0] == passes
