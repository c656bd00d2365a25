"""Planted faults: each is caught by `validate`, or the test says why no validator could."""

import dataclasses
import math

import numpy as np
import pytest

from bounds import validate
from spherapprox import CoreHead, EqualMeasurePartition, PointSet, SplitHead, Target, points, sup_error, targets
from spherapprox.error import ErrorInterval, Proof
from spherapprox.vmf import VonMisesFisher

WAVE = targets.zonal_harmonic(2, 3, pole=[0.6, 0.0, 0.8])
CELLS = EqualMeasurePartition(2, 200)
SPLIT, CORE = SplitHead.from_target(WAVE, CELLS, 20.0), CoreHead.from_target(WAVE, CELLS, 20.0)


def examine_claims(head, target=WAVE, examine=("claims",), **options):
    return validate(head, target, n=600, examine=examine, **options)


def refuted(head, target=WAVE, **options):
    """The claims that are refuted; the head is then not `ok`, and nothing that rests on them is proved."""
    result = examine_claims(head, target, **options)
    assert not result.ok
    return result.refuted


def test_without_a_fault_nothing_is_caught():
    for head in (SPLIT, CORE):
        result = examine_claims(head, certified=Proof(0.3), examine=["claims", "lemmas"])
        assert (result.violated, result.refuted) == ((), ())
    assert examine_claims(SPLIT).ok


def changed(head, **parts):
    return dataclasses.replace(head, **parts)


def with_one(array, index, value):
    array = array.copy()
    array[index] = value
    return array


RULE = points.gauss_product(2, 20)
SWAPPED = PointSet(RULE.points, with_one(with_one(RULE.weights, 0, RULE.weights[115]), 115, RULE.weights[0]))
LOG_OTHER = VonMisesFisher(3, 20.0).log_normalizer - VonMisesFisher(2, 20.0).log_normalizer
OTHER = with_one(with_one(SPLIT.values, 10, SPLIT.values[150]), 150, SPLIT.values[10])

FAULTS_OF_HEADS = {
    "a normaliser off by 1 %": changed(CORE, values=1.01 * CORE.values),
    "the normaliser of another sphere": changed(CORE, values=CORE.values * math.exp(LOG_OTHER)),
    "swapped weights": changed(CoreHead.from_target(WAVE, SWAPPED, 9.0), points=RULE),
    "swapped values": changed(SPLIT, values=OTHER),
    "a core head's concentration off by 1 %": changed(CORE, concentration=1.01 * 20.0),
    "a sign": changed(SPLIT, values=with_one(SPLIT.values, 7, -SPLIT.values[7])),
    "values of another target": SplitHead.from_target(targets.zonal_harmonic(2, 3), CELLS, 20.0),
}


@pytest.mark.parametrize("fault", FAULTS_OF_HEADS)
def test_a_fault_of_the_head_is_seen_in_its_values(fault):
    assert "values" in refuted(FAULTS_OF_HEADS[fault])


def test_a_moved_control_point_is_no_longer_that_of_the_partition():
    moved = with_one(SPLIT.control_points, 0, SPLIT.control_points[60])
    result = examine_claims(SplitHead(moved, WAVE(moved), 20.0, CELLS))
    assert not result.ok
    reasons = {(check.verdict, check.reason) for check in result.checks if check.quantity == "error"}
    assert reasons == {("not applicable", "needs control points that are what head.points says")}  # 4.H takes any


def test_a_dropped_cell_of_bare_points_shows_in_the_covering_radius():
    rule = points.fibonacci(300)
    keep = np.delete(np.arange(300), 150)
    holed = PointSet(rule.points[keep], covering_radius=rule.covering_bound())
    assert refuted(SplitHead.from_target(WAVE, holed, 20.0)) == ("covering radius",)


def test_a_split_head_of_another_concentration_is_a_right_head():
    """The values do not depend on it: it is the head of 20.2, and every theorem holds for that one."""
    assert examine_claims(changed(SPLIT, concentration=20.2)).ok


UNDERSTATED = {
    "Lipschitz constant": {"lipschitz": 0.97 * WAVE.lipschitz}, "sup norm": {"sup_norm": 0.97}, "degree": {"degree": 2},
}  # fmt: skip


@pytest.mark.parametrize("name", UNDERSTATED)
def test_an_understated_constant_is_refuted_and_proves_nothing(name):
    false = dataclasses.replace(WAVE, **UNDERSTATED[name])
    result = examine_claims(SPLIT, false, certified=Proof(0.3))
    assert result.refuted == (name,)
    assert not result.ok
    assert all(check.verdict != "proved" and check.upper == math.inf for check in result.checks)


def test_a_false_remainder_is_refuted_and_a_true_one_is_not():
    bent = Target(lambda x: WAVE(x) + 0.01 * np.cos(9.0 * x[:, 0]), 2, lipschitz=3.0, sup_norm=1.1)
    for remainder, outcome in ((0.01, ()), (0.004, ("degree",))):
        bounded = dataclasses.replace(bent, degree=3, remainder=remainder)
        assert examine_claims(SplitHead.from_target(bounded, CELLS, 20.0), bounded).refuted == outcome


def test_a_wrong_error_interval_is_refuted(true):
    assert examine_claims(SPLIT, error=true).summary == "proved"
    elsewhere = np.array([-0.8, 0.0, 0.6])  # on the equator of the pole: the error is small there
    here = sup_error(SPLIT, WAVE, points=elsewhere[None], refine=0).lower
    for wrong in (
        ErrorInterval(0.9 * true.lower, 0.95 * true.lower, true.at),
        ErrorInterval(here, 0.9 * true.lower, elsewhere),  # right at its point
        dataclasses.replace(true, lower=here, upper=0.9 * true.lower, at=elsewhere),  # under a certificate of another
    ):
        result = examine_claims(SPLIT, error=wrong)
        assert result.refuted == ("error",)
        assert all(check.verdict != "proved" for check in result.checks)


@pytest.fixture(scope="module")
def true():
    return sup_error(SPLIT, WAVE, n=600, certified=Proof(slack=0.3))


@pytest.mark.parametrize(
    ("share", "certified", "reason"),
    [(2.0, False, "has no certificate"), (1.1, True, "is below that of its certificate")],  # which no sample refutes
)
def test_an_upper_end_without_a_certificate_for_it_proves_nothing(true, share, certified, reason):
    error = dataclasses.replace(true, upper=share * true.lower, certificate=true.certificate if certified else None)
    checks = [check for check in examine_claims(SPLIT, error=error).checks if check.quantity == "error"]
    assert {check.reason for check in checks if check.verdict == "holds"} == {f"the upper end given {reason}"}
    assert all(check.verdict != "proved" for check in checks)


def test_a_proof_that_reaches_above_the_bound_leaves_it_at_holds(true):
    wide = dataclasses.replace(true, upper=10.0, certificate=dataclasses.replace(true.certificate, upper=10.0))
    assert {check.verdict for check in examine_claims(SPLIT, error=wide).checks if check.bound} <= {"holds", "vacuous"}
    assert "proved" in {check.verdict for check in examine_claims(SPLIT, error=true).checks}


def test_estimated_constants_are_named_and_prove_nothing():
    guessed = dataclasses.replace(
        WAVE, lipschitz=3.0, sup_norm=1.5, degree=None, origins={"lipschitz": "estimated", "sup_norm": "derived"}
    )
    result = examine_claims(SPLIT, guessed, certified=Proof(1.0, 5e4))
    spoken = [check for check in result.checks if check.bound is not None and check.quantity == "error"]
    assert spoken
    for check in spoken:
        assert check.verdict != "proved"
        assert check.estimated == ("lipschitz",)
        assert "estimated lipschitz" in check.reason
