"""4.4, the split head: the worst case attained, ranges and Hoelder targets."""

import math

import numpy as np
import pytest

from bounds import error_bound
from bounds.records import Prefix
from bounds.records.problem import Problem
from bounds.theorems.mean import log_mean_error, split_mean
from bounds.theorems.nearest import log_nearest_error, split_nearest
from spherapprox import EqualMeasurePartition, SplitHead, Target
from spherapprox.error import worst_case_error
from spherapprox.sphere import distance
from spherapprox.vmf import VonMisesFisher


@pytest.mark.parametrize(("dim", "n", "lam"), [(1, 7, 15.0), (2, 40, 60.0), (3, 60, 20.0), (8, 100, 200.0)])
@pytest.mark.parametrize("exponent", [1.0, 0.5])
def test_the_worst_case_is_attained(dim, n, lam, exponent):
    points = np.random.default_rng(dim).normal(size=(n, dim + 1))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    worst = worst_case_error(points, lam, n=500, refine=4)

    def function(y):
        return 2.5 * distance(y, worst.at[None, :]) ** exponent

    target = Target(function, dim, lipschitz=2.5, exponent=exponent)
    head = SplitHead.from_target(target, points, lam)
    error = abs(float((head(worst.at[None, :]) - function(worst.at[None, :]))[0]))
    if exponent == 1.0:
        assert error == pytest.approx(2.5 * worst.lower, rel=1e-10)
    else:  # L sum w theta^alpha <= L W^alpha
        assert 1.5 * worst.lower**exponent < error <= 2.5 * worst.lower**exponent
    # no other target of the class does worse there
    second = Target(lambda y: 2.5 * distance(y, points[:1]) ** exponent, dim, lipschitz=2.5, exponent=exponent)
    head = SplitHead.from_target(second, points, lam)
    assert abs(float((head(worst.at[None, :]) - second(worst.at[None, :]))[0])) <= error


@pytest.mark.parametrize("theorem", [split_mean, split_nearest])
def test_prefixes_are_finite_at_the_ends_of_the_ranges(theorem):
    for arguments in ((1e-60, 10**6), (1e-60, 1), (1.5, 10**6), (3.1, 1)):
        assert 0.0 < theorem(Problem(*arguments)).log < math.inf
    assert theorem(Problem(1e90, 2)).value == 1.0
    assert theorem(Problem(1e90, 2, exponent=0.003, concentration=4.0)).concentration == 4.0
    fine = theorem(Problem(1e-60, 3, exponent=0.1))
    assert fine.log == math.inf
    assert "(eps/lipschitz)^(1/exponent)" in fine.failed[0]


def test_hoelder_targets_take_the_moment_of_their_exponent():
    common = {"dim": 2, "concentration": 100.0, "exponent": 0.5, "lipschitz": 2.0}
    assert error_bound(theorem="convolution", **common).value == pytest.approx(
        2.0 * VonMisesFisher(2, 100.0).mean_angle(0.5), rel=1e-13
    )
    rough = error_bound(theorem="sharp-split", points=Prefix(radius=0.01, n=1e5), **common).value
    plain = error_bound(
        theorem="sharp-split", dim=2, concentration=100.0, lipschitz=1.0, points=Prefix(radius=0.01, n=1e5)
    ).value
    assert rough == pytest.approx(2.0 * plain**0.5, rel=1e-13)


@pytest.mark.parametrize("n", [6, 50, 900])
def test_nearest_contains_the_worst_case_of_a_partition(n):
    partition = EqualMeasurePartition(2, n)
    for lam in (1.0, 30.0, 2000.0):
        seen = worst_case_error(partition, lam, n=2000, refine=2).lower
        assert math.log(seen) <= log_nearest_error(lam, partition.cell_radius(), math.log(n))
        assert math.log(seen) <= log_mean_error(lam, partition.cell_radius(), 2)
