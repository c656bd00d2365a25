"""The parts of an error alone: the kernel, the control points, and the sum of kernels."""

import dataclasses
import math

import numpy as np
import pytest

from bounds import error_bound, validate
from spherapprox import CoreHead, EqualMeasurePartition, SplitHead, Target, points, sphere, sup_error, targets
from spherapprox.error import Proof
from spherapprox.vmf import VonMisesFisher


def lemmas(head, target, **options):
    validation = validate(head, target, n=400, examine=["lemmas"], **options)
    return {check.quantity: check for check in validation.lemmas}


@pytest.mark.parametrize(("dim", "degree"), [(1, 5), (2, 4)])
def test_the_convolution_error_of_a_harmonic_is_the_complement_of_its_eigenvalue(dim, degree):
    wave = targets.zonal_harmonic(dim, degree)
    for concentration in (3.0, 80.0):
        check = lemmas(SplitHead.from_target(wave, EqualMeasurePartition(dim, 20), concentration), wave)["convolution"]
        assert check.achieved == pytest.approx(
            VonMisesFisher(dim, concentration).eigenvalue_complement(degree), rel=1e-9
        )
        assert check.predicted == error_bound(theorem="convolution", target=wave, concentration=concentration).value
        assert check.verdict == "holds"


@pytest.mark.parametrize("dim", [1, 2])
def test_the_convolution_error_of_a_distance_attains_its_bound(dim):
    target = targets.distance(dim)
    check = lemmas(SplitHead.from_target(target, EqualMeasurePartition(dim, 30), 20.0), target)["convolution"]
    assert check.achieved == pytest.approx(float(VonMisesFisher(dim, 20.0).mean_angle()), rel=1e-6)
    assert check.ratio == pytest.approx(1.0, rel=1e-6)
    assert check.verdict == "holds"


def test_vectors_have_parts_too():
    target = Target(lambda x: np.stack([x[:, 0], x[:, 2] ** 2], axis=1), 2, lipschitz=1.5, sup_norm=1.2, degree=2)
    checks = lemmas(CoreHead.from_target(target, EqualMeasurePartition(2, 100), 15.0), target)
    a = VonMisesFisher(2, 15.0).eigenvalue_complement([1, 2])
    top = max(math.hypot(a[0] * math.sqrt(1 - z * z), a[1] * (z * z - 1 / 3)) for z in np.linspace(0, 1, 2001))
    assert checks["convolution"].achieved == pytest.approx(top, rel=1e-6)


def test_the_parts_of_a_core_heads_error_add_up_and_each_is_proved():
    wave = targets.zonal_harmonic(2, 3)
    head = CoreHead.from_target(wave, EqualMeasurePartition(2, 200), 20.0)
    checks = lemmas(head, wave, certified=Proof(0.3))
    assert {check.verdict for check in checks.values()} == {"proved"}
    parts = [checks[name].upper for name in ("convolution", "discretisation")]
    assert sup_error(head, wave, n=400).lower <= sum(parts)
    bound = error_bound(theorem="sharp-core", target=wave, points=head.points, concentration=20.0).value
    # beside it the convolution's bound knows that f changes by 2 at most
    assert sum(checks[name].predicted for name in ("convolution", "discretisation")) == pytest.approx(bound, rel=1e-4)
    # K*f of a harmonic is a multiple of it
    x = sphere.uniform(2, 2000, rng=0)
    smooth = float(VonMisesFisher(2, 20.0).eigenvalue(3)) * wave(x)
    assert np.abs(head(x) - smooth).max() <= checks["discretisation"].upper


def test_the_denominator_is_that_of_the_softmax():
    partition = EqualMeasurePartition(2, 60)
    head = SplitHead.from_target(targets.distance(2), partition, 30.0)
    check = lemmas(head, targets.distance(2))["denominator"]
    x = sphere.uniform(2, 5000, rng=0)
    kernels = np.exp(30.0 * (x @ partition.centers().T - 1.0)).sum(axis=1)
    mean = 60 * (1.0 - math.exp(-60.0)) / 60.0
    largest = np.abs(kernels / mean - 1.0).max()
    assert check.achieved == pytest.approx(largest, rel=0.05)  # two samples
    assert check.verdict == "holds"


def test_a_quadrature_rule_bounds_the_denominator_by_its_tail():
    rule = points.gauss_product(2, 20)
    check = lemmas(CoreHead.from_target(targets.distance(2), rule, 20.0), targets.distance(2))["denominator"]
    degrees = np.arange(21, 80)
    tail = float(((2 * degrees + 1) * VonMisesFisher(2, 20.0).eigenvalues(79)[21:]).sum())
    assert check.achieved <= tail <= check.predicted <= 1.3 * tail


def test_a_part_that_cannot_be_examined_says_why():
    target = targets.distance(2)
    bare = lemmas(CoreHead.from_target(target, points.fibonacci(50).points, 9.0), target)
    assert bare["discretisation"].reason == "needs an equal-measure partition"
    assert "needs an equal-measure partition, or positive weights" in bare["denominator"].reason
    narrow = lemmas(SplitHead.from_target(target, EqualMeasurePartition(2, 50), 1e8), target)
    assert "needs K*f" in narrow["convolution"].reason
    unknown = Target(lambda x: x[:, 0], 2)
    silent = lemmas(SplitHead.from_target(unknown, EqualMeasurePartition(2, 50), 9.0), unknown)
    assert "Lipschitz" in silent["convolution"].reason


@pytest.mark.parametrize(("sup_norm", "verdict"), [(0.05, "violated"), (0.1, "not applicable")])
def test_a_bound_of_the_convolution_by_a_refuted_sup_norm_is_none(sup_norm, verdict):
    wave = targets.zonal_harmonic(2, 4)
    head = SplitHead.from_target(wave, EqualMeasurePartition(2, 20), 80.0)
    validation = validate(head, dataclasses.replace(wave, sup_norm=sup_norm), n=400, examine=["claims", "lemmas"])
    check = next(check for check in validation.lemmas if check.quantity == "convolution")
    assert validation.refuted == ("sup norm",)
    assert check.verdict == verdict
    assert "sup norm" in check.reason
