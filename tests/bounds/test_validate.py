"""validate: true heads pass, wrong ones are caught, and theorems that do not speak say so."""

import dataclasses

import numpy as np
import pytest

from bounds import validate
from spherapprox import CoreHead, EqualMeasurePartition, PointSet, SplitHead, Target, points, sup_error, targets


def verdicts(validation):
    return {check.theorem: check.verdict for check in validation.checks}


def in_place_of(head, wrong, target, n):
    """Hold what a wrong head makes of the target against what is promised for the right one.

    Of the wrong head itself the theorems say nothing: they speak of Riemann coefficients.
    """
    for check in validate(wrong, target, n=100, worst_case=False).checks:
        assert check.verdict == "not applicable"
        assert check.bound is None
    return validate(head, target, error=sup_error(wrong, target, n=n, refine=2), worst_case=False)


@pytest.mark.filterwarnings("ignore:.concentration. is too large for these:RuntimeWarning")
@pytest.mark.parametrize("name", ["distance", "bump", "zonal_harmonic"])
@pytest.mark.parametrize("dim", [1, 2, 3, 8])
def test_true_heads_are_not_violated(name, dim):
    target = targets.make(name, dim=dim)
    for n, lam in ((1, 5.0), (2, 300.0), (30, 0.0), (400, 20.0), (400, 1e5)):
        partition = EqualMeasurePartition(dim, n)
        for kind in (CoreHead, SplitHead):
            head = kind.from_target(target, partition, lam)
            error = sup_error(head, target, n=200, refine=4)
            # the worst case is that of the points and the concentration, whatever the target
            result = validate(head, target, error=error, n=200, worst_case=n < 100 and name == "distance")
            assert result.ok, str(result)


def test_true_geomagnetic_heads_are_not_violated():
    target = targets.geomagnetic_field()
    partition = EqualMeasurePartition(2, 3000)
    for kind in (CoreHead, SplitHead):
        for lam in (30.0, 1000.0):
            assert validate(kind.from_target(target, partition, lam), target, n=1000).ok


def test_shifted_values_are_caught():
    target = targets.distance(1)
    head = SplitHead.from_target(target, EqualMeasurePartition(1, 5000), 300.0)
    wrong = dataclasses.replace(head, values=head.values + 0.5)
    assert validate(head, target, n=2000, worst_case=False).ok
    caught = in_place_of(head, wrong, target, 2000)
    assert not caught.ok
    assert caught.violated == ("sharp-split-mean", "sharp-split-equal", "sharp-split")


def test_rolled_values_are_caught():
    target = targets.distance(1)
    head = CoreHead.from_target(target, EqualMeasurePartition(1, 5000), 100.0)
    wrong = dataclasses.replace(head, values=np.roll(head.values, 700))
    assert validate(head, target, n=1000).ok
    assert in_place_of(head, wrong, target, 1000).violated == ("sharp-core",)


def test_a_concentration_off_by_ten_is_caught():
    target = targets.distance(2)
    partition = EqualMeasurePartition(2, 30_000)
    core = CoreHead.from_target(target, partition, 50.0)
    # the coefficients are those of lambda = 50, the kernel is that of lambda = 500, and the other way round
    for wrong in (dataclasses.replace(core, concentration=500.0), dataclasses.replace(core, concentration=5.0)):
        assert not in_place_of(core, wrong, target, 1000).ok

    # the error of lambda = 100 under the name of lambda = 1000
    circle = targets.distance(1)
    split = SplitHead.from_target(circle, EqualMeasurePartition(1, 5000), 1000.0)
    measured = sup_error(dataclasses.replace(split, concentration=100.0), circle, n=1000)
    assert validate(split, circle, n=1000, worst_case=False).ok
    assert validate(split, circle, error=measured).violated == ("sharp-split-mean", "sharp-split-equal")


def test_theorems_that_do_not_speak_say_why():
    target = targets.distance(2)
    rows = points.fibonacci(300).points
    bare = validate(SplitHead.from_target(target, rows, 50.0), target, n=500)
    assert verdicts(bare)["sharp-split-mean"] == "not applicable"
    assert verdicts(bare)["sharp-split"] == "not applicable"
    known = PointSet(rows, covering_radius=0.2)
    spoken = validate(SplitHead.from_target(target, known, 50.0), target, n=500)
    assert verdicts(spoken)["sharp-split"] == "holds"
    unknown = Target(lambda x: x[:, 0], 2)
    silent = validate(SplitHead.from_target(unknown, EqualMeasurePartition(2, 50), 5.0), unknown, n=500)
    assert set(verdicts(silent).values()) == {"not applicable"}
    assert "Lipschitz" in str(silent)
    core = validate(CoreHead.from_target(target, EqualMeasurePartition(2, 50), 5.0), target, n=500)
    assert [c.reason for c in core.checks if c.theorem == "thesis-core"] == ["needs dim >= 8"]


def test_lower_bound_is_compared_with_the_worst_case():
    target = targets.bump(2)  # smooth: its own error may lie below the floor
    head = SplitHead.from_target(target, EqualMeasurePartition(2, 400), 300.0)
    check = validate(head, target, n=3000).checks[-1]
    assert check.theorem == "lower"
    assert check.verdict == "holds"
    assert check.achieved >= check.bound.value


def test_vector_values():
    target = Target(lambda x: x, 1, lipschitz=1.0, sup_norm=1.0, n_outputs=2)
    partition = EqualMeasurePartition(1, 2000)
    for kind in (CoreHead, SplitHead):
        head = kind.from_target(target, partition, 80.0)
        assert validate(head, target, n=1000).ok
        assert not in_place_of(head, dataclasses.replace(head, values=2 * head.values), target, 1000).ok


def test_bad_input():
    target = targets.distance(2)
    head = SplitHead.from_target(target, EqualMeasurePartition(2, 10), 1.0)
    with pytest.raises(TypeError, match="'head' must be a CoreHead or a SplitHead, got int"):
        validate(3, target)
    with pytest.raises(TypeError, match=r"'target' must be a Target \(wrap a function"):
        validate(head, lambda x: x[:, 0])
    with pytest.raises(ValueError, match="'target' must have dim = 2 as the head has, got 3"):
        validate(head, targets.distance(3))
    with pytest.raises(ValueError, match="'n' must be at least 1, got 0"):
        validate(head, target, n=0)
    with pytest.raises(TypeError, match=r"'error' must be an ErrorInterval, as sup_error returns, got 3\.0"):
        validate(head, target, error=3.0)


def test_a_constant_target():
    constant = Target(lambda x: np.full(len(x), 3.0), 2, lipschitz=0.0, sup_norm=3.0)
    partition = EqualMeasurePartition(2, 200)
    for kind in (CoreHead, SplitHead):
        assert validate(kind.from_target(constant, partition, 30.0), constant, n=500).ok
    wrong = SplitHead(partition.centers(), np.full(200, 3.001), 30.0, partition)
    right = SplitHead.from_target(constant, partition, 30.0)
    assert not in_place_of(right, wrong, constant, 500).ok


def test_moved_control_points_are_no_partition():
    target = targets.distance(2)
    partition = EqualMeasurePartition(2, 100)
    moved = SplitHead(partition.centers()[:, ::-1], target(partition.centers()), 20.0, partition)
    assert verdicts(validate(moved, target, n=300, worst_case=False)) == dict.fromkeys(
        ("sharp-split-mean", "sharp-split-equal", "sharp-split"), "not applicable"
    )


def test_a_target_whose_constants_are_wrong_is_caught():
    steep = Target(lambda x: np.sin(40.0 * x[:, 0]), 1, lipschitz=0.1, sup_norm=1.0)
    head = SplitHead.from_target(steep, EqualMeasurePartition(1, 300), 50.0)
    assert "sharp-split" in validate(head, steep, n=1000, worst_case=False).violated


@pytest.mark.parametrize("kind", [CoreHead, SplitHead])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_count_as_riemann_to_rounding(kind, dtype):
    target = Target(lambda x: np.asarray(1.0 + x[:, 0] ** 2, dtype=dtype), 2, lipschitz=1.0, sup_norm=2.0)
    head = kind.from_target(target, EqualMeasurePartition(2, 200), 20.0)
    spoken = {check.theorem for check in validate(head, target, n=300, worst_case=False).checks if check.bound}
    assert spoken
    rounded = dataclasses.replace(head, values=head.values * dtype(1.0 + 2.0 * np.finfo(dtype).eps))
    assert {c.theorem for c in validate(rounded, target, n=300, worst_case=False).checks if c.bound} == spoken
    off = dataclasses.replace(head, values=head.values * dtype(1.0 + 1e-4))
    silent = validate(off, target, n=300, worst_case=False).checks
    assert all(c.verdict == "not applicable" and "Riemann coefficients" in c.reason for c in silent)


def test_spectral_heads_are_not_held_to_theorems_on_riemann_coefficients():
    field = targets.geomagnetic_field()
    head = CoreHead.from_target(field, points.gauss_product(2, 43), 10.0, "spectral")
    checks = validate(head, field, n=500).checks
    assert all("Riemann coefficients" in check.reason for check in checks)
    riemann = CoreHead.from_target(field, points.gauss_product(2, 43), 10.0)
    assert verdicts(validate(riemann, field, n=500))["sharp-core-quadrature"] == "holds"
    # other values, of another shape, and a target that fails at the control points
    vector = CoreHead(head.control_points, np.ones((len(head), 2)), 10.0, head.points)
    error = sup_error(head, field, n=100)
    assert "Riemann" in validate(vector, field, error=error).checks[0].reason
    failing = Target(lambda x: np.log(x[:, 2] - 2.0 + 0.0 * x[:, 0]), 2, lipschitz=1.0, sup_norm=1.0)
    with np.errstate(invalid="ignore"):
        assert "Riemann" in validate(head, failing, error=error).checks[0].reason


def test_the_lower_bound_says_that_it_needs_the_exponent_1():
    rough = Target(lambda x: np.sqrt(np.abs(x[:, 0])), 2, lipschitz=1.0, exponent=0.5, sup_norm=1.0)
    head = SplitHead.from_target(rough, EqualMeasurePartition(2, 50), 20.0)
    lower = validate(head, rough, n=200).checks[-1]
    assert (lower.theorem, lower.verdict, lower.reason) == ("lower", "not applicable", "needs the exponent 1")
