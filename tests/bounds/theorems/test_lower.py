"""What no prefix can undercut: docs/theorems/4.5-lower-bound.md and 4.E-lower-without-sampling.md."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds import error_bound, prefix_length
from bounds.covering import covering_bound
from bounds.records import Prefix
from bounds.records.problem import Problem
from bounds.theorems import state
from bounds.theorems._shells import log_shell
from bounds.theorems._wraps import log_wrapped
from bounds.theorems.lower import lower
from bounds.theorems.lower_any import lower_any, warren_ratio
from bounds.theorems.lower_bits import lower_bits
from bounds.theorems.lower_continuous import lower_continuous
from spherapprox.special import log_cap_measure

WITHOUT_SAMPLING = (lower_bits, lower_continuous, lower_any)
ALL = (lower, *WITHOUT_SAMPLING)


def at(theorem, eps, dim, **arguments):
    return theorem(Problem.checked(eps, dim, **arguments))


# ----- 4.5: schemes that sample


def test_lower_is_one_over_the_measure_of_a_cap():
    for eps, dim in ((0.5, 8), (0.1, 16), (0.1, 2)):
        bound = at(lower, eps, dim, covering="greedy")
        assert bound.log == pytest.approx(-float(log_cap_measure(dim, eps)), rel=1e-13)
        assert bound.side == "lower"
        assert at(lower, eps, dim).log >= bound.log


@given(dim=st.integers(1, 50), n=st.integers(1, 10**9))
def test_the_error_of_a_count_has_a_cap_of_its_share(dim, n):
    radius = error_bound(dim=dim, theorem=state("lower", covering="greedy"), lipschitz=1.0, points=Prefix(n=n)).value
    assert log_cap_measure(dim, radius) == pytest.approx(-math.log(n), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("eps", [0.01, 0.1, 0.7, math.pi / 2.0, 2.0, math.pi])
def test_lower_is_exact_on_the_circle(eps):
    assert at(lower, eps, 1, sup_norm=9.0).as_integer() == math.ceil(math.pi / eps)


@pytest.mark.parametrize(
    ("count", "radius"), [(4, math.acos(1.0 / 3.0)), (6, math.acos(3.0**-0.5)), (12, 0.6523581397843682)]
)
def test_lower_is_attained_by_platonic_solids(count, radius):
    # tetrahedron, octahedron, icosahedron: their vertices cover the sphere at exactly these radii
    assert math.ceil(at(lower, radius * (1.0 + 1e-9), 2, sup_norm=9.0).value) == count
    assert math.ceil(at(lower, radius * (1.0 - 1e-6), 2, sup_norm=9.0).value) == count + 1


@settings(max_examples=20)
@given(st.floats(1e-6, 0.9), st.sampled_from([1, 2, 5, 40]), st.floats(0.2, 1.0))
def test_hoelder_classes_are_lipschitz_ones_at_another_angle(ratio, dim, exponent):
    direct = at(lower, 3.0 * ratio, dim, lipschitz=3.0, sup_norm=9.0, exponent=exponent)
    assert direct.log == pytest.approx(at(lower, ratio ** (1.0 / exponent), dim).log, rel=1e-10, abs=1e-10)
    for theorem in WITHOUT_SAMPLING:
        direct = at(theorem, 3.0 * ratio, dim, lipschitz=3.0, sup_norm=9.0, exponent=exponent)
        angle = (2.0 * ratio) ** (1.0 / exponent)
        assert direct.radius == pytest.approx(min(angle, math.pi), rel=1e-12)
        same = at(theorem, 0.5 * angle, dim, sup_norm=9.0 + angle)
        assert direct.log == pytest.approx(same.log, rel=1e-9, abs=1e-9)


# ----- 4.E


@pytest.mark.parametrize("dim", [8, 16])
def test_bits_share_what_reals_hold(dim):
    bits = 64.0 * (dim + 2)
    assert at(lower_bits, 0.1, dim).log10 == pytest.approx(
        at(lower_continuous, 0.1, dim).log10 + math.log10((dim + 2) / bits), abs=1e-12
    )
    assert at(lower_bits, 0.1, dim, bits=bits / 8.0).log - at(lower_bits, 0.1, dim).log == pytest.approx(math.log(8.0))


@pytest.mark.parametrize(
    ("points", "dim", "eps"),
    [(log_shell, 4, 0.3), (log_shell, 8, 0.1), (log_shell, 71, 0.1), (log_wrapped, 2, 0.1), (log_wrapped, 8, 0.01),
     (log_wrapped, 24, 0.01)],
)  # fmt: skip
def test_lengths_rise_by_lattices(points, dim, eps):
    for theorem in (lower_continuous, lower_bits):
        log = dict(at(theorem, eps, dim).constants)["log points"]
        assert log == points(dim, 2.0 * eps) > 0.1 - float(log_cap_measure(dim, 2.0 * eps))


def test_any_reals_from_forty_nine():
    # m = 8: the points of norm 7 in Z^9, counted from the generating function
    theta = np.zeros(50)
    theta[[0, 1, 4, 9, 16, 25, 36, 49]] = [1.0] + [2.0] * 7
    counts = np.ones(1)
    for _ in range(9):
        counts = np.convolve(counts, theta)[:50]
    degree = 1.0 + math.sqrt(9.0 * 49.0) + 9.0 * 7.0
    ratio = mpmath.findroot(lambda z: z - mpmath.log(4.0 * mpmath.e * degree * z, 2), 13.0)
    assert at(lower_any, 0.1, 8).value == pytest.approx(float(counts[49] / ratio / 10.0), rel=1e-12)


@pytest.mark.parametrize("log_degree", [0.0, 0.7, 5.0, 300.0, 1e6])
def test_warren_ratio_solves_its_equation(log_degree):
    z = float(warren_ratio(log_degree))
    left = mpmath.mpf(z) * mpmath.log(2) - mpmath.log(z)
    assert abs(left / (mpmath.log(4) + 1 + log_degree) - 1) < 1e-13
    assert z > 1.0 / math.log(2.0)


@pytest.mark.parametrize(("points", "degree"), [(50, 1.0), (1000, 3.0), (5000, 85.0), (777, 1e6)])
def test_warren_ratio_is_the_least_number_of_parameters(points, degree):
    least = next(p for p in range(1, points + 1) if points <= p * math.log2(4.0 * math.e * degree * points / p))
    assert math.ceil(points / float(warren_ratio(math.log(degree))) - 1e-9) == least


def test_no_power_of_eps_is_lost():
    # all integer points of one norm, pairwise 2 eps apart, are at most about eps^-(m-1)
    gains = []
    for eps in (1e-3, 1e-6):
        free, tied = at(lower_any, eps, 8), at(lower_continuous, eps, 8)
        gains.append(tied.log10 - free.log10)
        assert "averaged" in free.reference
        assert free.log10 > -7.0 * math.log10(eps) - 3.0
    assert 1.0 < gains[0] < gains[1] < 3.7
    assert at(lower_any, 0.02, 8).reference.endswith("integer points")
    assert at(lower_any, 0.01, 1000).reference.endswith("trees of rotations")


def test_separated_points_on_the_circle():
    assert at(lower_continuous, 0.01, 1).value == pytest.approx((math.ceil(math.pi / 0.01) - 1) / 3.0, rel=1e-12)
    assert at(lower_bits, 0.01, 1, bits=1).value == pytest.approx(math.ceil(math.pi / 0.01) - 1, rel=1e-12)


@pytest.mark.parametrize("dim", [1, 2, 3, 8, 64, 1000])
@pytest.mark.parametrize("eps", [1e-3, 0.05, 0.5])
def test_floors_are_below_every_promise(dim, eps):
    promise = prefix_length(eps, dim=dim, theorem="sharp-core").log
    split = prefix_length(eps, dim=dim, theorem=state("sharp-split-nearest", slack=0)).log
    for theorem in ALL:
        floor = at(theorem, eps, dim)
        assert floor.holds
        assert 0.0 <= floor.log <= min(promise, split) + 1e-12
    assert at(lower_continuous, eps, dim).log <= at(lower, eps, dim).log + 1e-12


@settings(max_examples=25)
@given(st.floats(-6.0, 6.0), st.floats(-6.0, 6.0), st.sampled_from([1, 2, 8, 300]))
def test_only_the_ratio_counts(log_lipschitz, log_sup, dim):
    lipschitz, sup_norm = 10.0**log_lipschitz, 10.0**log_sup
    eps = 0.03 * min(lipschitz, sup_norm)
    for theorem in ALL:
        bound = at(theorem, eps, dim, lipschitz=lipschitz, sup_norm=sup_norm)
        assert bound.log == pytest.approx(at(theorem, eps / lipschitz, dim).log, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("theorem", ALL)
@pytest.mark.parametrize(
    ("eps", "dim", "exponent"),
    [(1e-60, 1, 1.0), (1e-60, 8, 1.0), (1e-60, 1_000_000, 1.0), (1e-60, 5, 0.01), (1e60, 5, 0.01), (4.0, 7, 1.0)],
)
def test_extreme_arguments_have_finite_bounds(theorem, eps, dim, exponent):
    bound = at(theorem, eps, dim, exponent=exponent, sup_norm=1e61)
    assert 0.0 <= bound.log < math.inf
    assert (bound.log > 100.0) == (eps < 1.0)


@pytest.mark.parametrize("theorem", ALL)
def test_a_target_can_only_be_missed_if_it_is_large_enough(theorem):
    assert at(theorem, 0.9999, 3).holds
    missed = at(theorem, 1.0, 3)
    assert not missed.holds
    assert missed.failed == ("eps < sup_norm",)


def test_the_best_covering_is_used_when_asked_for():
    bound = at(lower, 0.1, 2)
    assert bound.log == covering_bound(0.1, 2, "best-lower").log
    assert bound.log > at(lower, 0.1, 2, covering="volume").log + 0.1
