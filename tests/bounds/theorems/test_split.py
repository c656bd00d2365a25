"""4.4, the split head: the worst case attained, ranges and Hoelder targets."""

import math

import pytest

from bounds import error_bound, prefix_length
from bounds.records import Prefix
from bounds.theorems import state
from spherapprox import EqualMeasurePartition, SplitHead, Target, sphere
from spherapprox.error import worst_case_error
from spherapprox.vmf import VonMisesFisher


@pytest.mark.parametrize(("dim", "n", "lam"), [(1, 7, 15.0), (2, 40, 60.0), (3, 60, 20.0), (8, 100, 200.0)])
@pytest.mark.parametrize("exponent", [1.0, 0.5])
def test_the_worst_case_is_attained(dim, n, lam, exponent):
    points = sphere.uniform(dim, n, rng=dim)
    worst = worst_case_error(points, lam, n=500, refine=4)

    def function(y):
        return 2.5 * sphere.distance(y, worst.at[None, :]) ** exponent

    target = Target(function, dim, lipschitz=2.5, exponent=exponent)
    head = SplitHead.from_target(target, points, lam)
    error = abs(float((head(worst.at[None, :]) - function(worst.at[None, :]))[0]))
    if exponent == 1.0:
        assert error == pytest.approx(2.5 * worst.lower, rel=1e-10)
    else:  # L sum w theta^alpha <= L W^alpha
        assert 1.5 * worst.lower**exponent < error <= 2.5 * worst.lower**exponent
    # no other target of the class does worse there
    second = Target(lambda y: 2.5 * sphere.distance(y, points[:1]) ** exponent, dim, lipschitz=2.5, exponent=exponent)
    head = SplitHead.from_target(second, points, lam)
    assert abs(float((head(worst.at[None, :]) - second(worst.at[None, :]))[0])) <= error


@pytest.mark.parametrize(("dim", "n"), [(1, 60), (2, 6), (2, 400), (3, 600), (8, 1500)])
def test_the_worst_case_of_a_partition_is_below_every_bound(dim, n):
    partition = EqualMeasurePartition(dim, n)
    for factor in (0.5, 2.0, 30.0):
        lam = factor * dim / partition.cell_radius() ** 2
        worst = worst_case_error(partition, lam, n=600, refine=2).lower
        for theorem in ("sharp-split-nearest", "sharp-split-mean", "sharp-split-equal"):
            bound = error_bound(theorem=theorem, lipschitz=1.0, points=partition, concentration=lam)
            assert worst <= bound.value * (1.0 + 1e-9)


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


@pytest.mark.parametrize("theorem", ["sharp-split-mean", "sharp-split-nearest"])
def test_goals_above_every_error_keep_the_concentration_asked_for(theorem):
    assert prefix_length(1e90, dim=2, theorem=theorem).value == 1.0
    statement = state(theorem, concentration=4.0)
    assert prefix_length(1e90, dim=2, exponent=0.003, theorem=statement).concentration == 4.0
    assert 0.0 < prefix_length(3.1, dim=1, theorem=theorem).log < math.inf
