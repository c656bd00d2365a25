"""validate: true heads pass, wrong ones are caught, and theorems that do not speak say so."""

import dataclasses
import math
import warnings

import numpy as np
import pytest
from validations import attempted, claim, turned, verdicts

from bounds import validate
from bounds.report import plot, report_validation
from spherapprox import CoreHead, EqualMeasurePartition, PointSet, SplitHead, Target, points, sup_error, targets
from spherapprox.error import Proof


def in_place_of(head, wrong, target, n):
    """Hold what a wrong head makes of the target against what is promised for the right one.

    Of the wrong head itself the theorems say nothing: they speak of Riemann coefficients.
    """
    for check in validate(wrong, target, n=100, examine=[]).checks:
        assert check.verdict == "not applicable"
        assert check.bound is None
    return validate(head, target, error=sup_error(wrong, target, n=n, refine=2), examine=["claims"])


@pytest.mark.filterwarnings("ignore:.concentration. is too large for these:RuntimeWarning")
@pytest.mark.parametrize(
    ("name", "dim"),
    [("distance", 1), ("distance", 8), ("bump", 1), ("bump", 2), ("zonal_harmonic", 2), ("zonal_harmonic", 8)],
)
def test_true_heads_are_not_violated(name, dim):
    target = targets.make(name, dim=dim)
    for n, lam in ((1, 5.0), (2, 300.0), (30, 0.0), (400, 20.0), (400, 1e5)):
        partition = EqualMeasurePartition(dim, n)
        for kind in (CoreHead, SplitHead):
            head = kind.from_target(target, partition, lam)
            error = sup_error(head, target, n=200, refine=4)
            # the worst case is that of the points and the concentration, whatever the target
            examine = ["worst case"] * (n < 100 and name == "distance") + ["claims"] * (lam == 20.0)
            result = validate(head, target, error=error, n=200, examine=examine)
            assert not result.violated, str(result)
            assert not result.refuted, str(result)


def test_true_geomagnetic_heads_are_not_violated():
    target = targets.geomagnetic_field()
    partition = EqualMeasurePartition(2, 3000)
    for kind in (CoreHead, SplitHead):
        for lam in (30.0, 1000.0):
            result = validate(kind.from_target(target, partition, lam), target, n=1000)
            assert result.summary == ("vacuous" if (kind, lam) == (CoreHead, 1000.0) else "holds"), str(result)


def test_shifted_values_are_caught():
    target = targets.distance(1)
    head = SplitHead.from_target(target, EqualMeasurePartition(1, 5000), 300.0)
    wrong = dataclasses.replace(head, values=head.values + 0.5)
    assert validate(head, target, n=2000, examine=["claims"]).ok
    caught = in_place_of(head, wrong, target, 2000)
    assert not caught.ok
    assert {"sharp-split-mean", "sharp-split-equal", "sharp-split"} <= {*caught.violated}


def test_a_concentration_off_by_ten_is_caught():
    target = targets.distance(2)
    partition = EqualMeasurePartition(2, 10_000)
    core = CoreHead.from_target(target, partition, 50.0)
    # the coefficients are those of lambda = 50, the kernel is that of lambda = 500, and the other way round
    for wrong in (dataclasses.replace(core, concentration=500.0), dataclasses.replace(core, concentration=5.0)):
        assert not in_place_of(core, wrong, target, 1000).ok

    # the error of lambda = 100 under the name of lambda = 1000
    circle = targets.distance(1)
    split = SplitHead.from_target(circle, EqualMeasurePartition(1, 5000), 1000.0)
    error_of_100 = sup_error(dataclasses.replace(split, concentration=100.0), circle, n=1000)
    assert validate(split, circle, n=1000, examine=["claims"]).ok
    violated = validate(split, circle, error=error_of_100).violated
    assert {"sharp-split-mean", "sharp-split-equal"} <= {*violated}
    assert "sharp-split" not in violated


def test_theorems_that_do_not_speak_say_why():
    target = targets.distance(2)
    rows = points.fibonacci(300).points
    bare = validate(SplitHead.from_target(target, rows, 50.0), target, n=500)
    assert verdicts(bare)["sharp-split-mean"] == "not applicable"
    assert verdicts(bare)["sharp-split"] == "not applicable"
    measured_set = PointSet(rows, covering_radius=0.2)
    spoken = validate(SplitHead.from_target(target, measured_set, 50.0), target, n=500)
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


def test_heads_of_vectors_are_valid_until_their_values_are_changed():
    target = Target(lambda x: x, 1, lipschitz=1.0, sup_norm=1.0, n_outputs=2)
    partition = EqualMeasurePartition(1, 2000)
    for kind in (CoreHead, SplitHead):
        head = kind.from_target(target, partition, 80.0)
        assert validate(head, target, n=1000).ok
        assert not in_place_of(head, dataclasses.replace(head, values=2 * head.values), target, 1000).ok


def test_bounds_hold_for_a_constant_target():
    constant = Target(lambda x: np.full(len(x), 3.0), 2, lipschitz=0.0, sup_norm=3.0)
    partition = EqualMeasurePartition(2, 200)
    for kind in (CoreHead, SplitHead):
        assert not validate(kind.from_target(constant, partition, 30.0), constant, n=500).violated
    assert validate(SplitHead.from_target(constant, partition, 30.0), constant, n=500).ok
    wrong = SplitHead(partition.centers(), np.full(200, 3.001), 30.0, partition)
    right = SplitHead.from_target(constant, partition, 30.0)
    assert not in_place_of(right, wrong, constant, 500).ok


@pytest.mark.parametrize("kind", [CoreHead, SplitHead])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_count_as_riemann_to_rounding(kind, dtype):
    target = Target(lambda x: np.asarray(1.0 + x[:, 0] ** 2, dtype=dtype), 2, lipschitz=1.0, sup_norm=2.0)
    head = kind.from_target(target, EqualMeasurePartition(2, 200), 20.0)
    spoken = {check.theorem for check in validate(head, target, n=300, examine=["claims"]).checks if check.bound}
    assert spoken
    rounded = dataclasses.replace(head, values=head.values * dtype(1.0 + 2.0 * np.finfo(dtype).eps))
    assert {c.theorem for c in validate(rounded, target, n=300, examine=["claims"]).checks if c.bound} == spoken
    off = dataclasses.replace(head, values=head.values * dtype(1.0 + 1e-4))
    silent = validate(off, target, n=300, examine=["claims"]).checks
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


def test_ok_says_that_the_values_are_those_of_the_target():
    field, partition = targets.geomagnetic_field(), EqualMeasurePartition(2, 400)
    head = SplitHead.from_target(field, partition, 300.0)
    assert validate(head, field, n=500, examine=["claims"]).ok
    for wrong, target in ((head.refine(field), field), (head, targets.geomagnetic_field(1900))):
        result = validate(wrong, target, n=500, examine=["claims"])
        assert (result.ok, result.violated, result.summary) == (False, (), "refuted: values")
        assert claim(result, "values").found > 1e-3
        assert set(verdicts(result).values()) == {"not applicable"}


def test_ok_needs_a_theorem_that_says_something():
    height = Target(lambda x: x[:, 2], 2, lipschitz=1.0, sup_norm=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the head is useless
        head = CoreHead.from_target(height, EqualMeasurePartition(2, 1000), 1e4)
    for target in (height, dataclasses.replace(height, sup_norm=50.0)):
        result = validate(head, target, n=500)
        assert verdicts(result)["sharp-core"] == "vacuous"
        assert result.checks[0].reason == "2 sup|f| is 2"
        assert (result.ok, result.summary) == (False, "vacuous")
    # a split head's bounds are at most 2 sup|f|, and the sup norm is measured where none is stated
    split = SplitHead.from_target(height, EqualMeasurePartition(2, 2), 1.0)
    for target in (height, dataclasses.replace(height, sup_norm=None)):
        silent = validate(split, target, n=500, examine=["claims"])
        assert {v for name, v in verdicts(silent).items() if name != "sharp-split-smooth"} == {"vacuous"}
    unknown = Target(lambda x: x[:, 2], 2)
    assert not validate(SplitHead.from_target(unknown, EqualMeasurePartition(2, 9), 5.0), unknown, n=500).ok


def test_a_violation_says_where_and_what_to_suspect():
    steep = Target(lambda x: np.sin(40.0 * x[:, 0]), 1, lipschitz=0.1, sup_norm=1.0)
    head = SplitHead.from_target(steep, EqualMeasurePartition(1, 300), 50.0)
    result = validate(head, steep, n=1000, examine=["claims"])
    check = next(c for c in result.checks if c.theorem == "sharp-split")
    assert check.suspects == ("Lipschitz constant",)
    assert abs(head(check.at[None]) - steep(check.at[None]))[0] == pytest.approx(check.achieved, rel=1e-9)
    assert check.achieved > check.bound.value
    assert str(check.at.round(4).tolist()) in check.reason
    assert "Lipschitz constant: refuted below" in check.reason
    # of claims that were not attempted all are suspected
    blind = validate(head, steep, n=1000, examine=[])
    assert blind.violated == result.violated
    assert blind.checks[0].suspects == ("Lipschitz constant", "sup norm")


def test_the_floor_has_a_column_of_its_own():
    target = targets.distance(2)
    result = validate(SplitHead.from_target(target, EqualMeasurePartition(2, 400), 300.0), target, n=500)
    *upper, floor = (c.quantity for c in result.checks)
    assert {*upper} == {"error"}
    assert floor == "worst-case error"
    header, _, *rows = str(result).splitlines()[2:]
    assert header.split() == ["theorem", "bound", "error", "worst", "case", "ratio", "verdict", "why"]
    floor, check = next(row for row in rows if row.startswith("lower")), result.checks[-1]
    assert floor[header.index("error") :].split() == ["-", f"{check.achieved:.4g}", f"{check.ratio:.4g}", "HOLDS"]


def test_a_validation_is_repeatable():
    target = targets.zonal_harmonic(3, pole=turned(3))
    first, second = (str(attempted(target, n=500, rng=7)) for _ in range(2))
    assert first == second
    assert first.endswith(("ok: True (holds)", "ok: False (vacuous)"))


def test_a_refuted_degree_is_a_suspect_of_the_bound_that_takes_its_derivatives():
    square = targets.with_constants(Target(lambda x: x[:, 0] ** 2, 2, lipschitz=5.0, sup_norm=1.0, degree=2))
    wrong = dataclasses.replace(square, function=lambda x: x[:, 0] ** 5)
    head = SplitHead.from_target(wrong, EqualMeasurePartition(2, 200), 70.0)
    checks = validate(head, wrong, n=2000, examine=["claims"]).checks
    check = next(check for check in checks if check.theorem == "second-order-local")
    assert (check.verdict, check.suspects) == ("violated", ("third derivatives", "degree"))
    assert "degree: refuted below" in check.reason


def test_a_proven_floor_by_an_estimated_constant_does_not_contradict_itself():
    target = Target(lambda x: np.abs(x[:, 0]), 1, lipschitz=1.0, sup_norm=1.0, origins={"lipschitz": "estimated"})
    head = SplitHead.from_target(target, EqualMeasurePartition(1, 40), 20.0)
    floor = validate(head, target, n=500, certified=True).checks[-1]
    assert (floor.theorem, floor.verdict, floor.estimated) == ("lower", "proved", ("lipschitz",))
    assert floor.reason == "with estimated lipschitz: both sides scale with it"


def test_why_there_is_no_proof_is_printed_once():
    target = targets.distance(3)
    head = SplitHead.from_target(target, EqualMeasurePartition(3, 40), 20.0)
    result = validate(head, target, n=200, certified=Proof(slack=1e-3, max_evaluations=1000), examine=["claims"])
    assert result.error.reason
    assert str(result).count(result.error.reason) == 1


@pytest.mark.parametrize("share", [0.0, 0.5, 0.998])
def test_a_proof_from_a_constant_that_values_refute_is_shown_nowhere(share):
    wave = targets.zonal_harmonic(2, 3, pole=[0.6, 0.0, 0.8])
    target = Target(wave, 2, lipschitz=share * wave.lipschitz, sup_norm=1.0)
    head = SplitHead.from_target(target, EqualMeasurePartition(2, 200), 30.0)
    result = validate(head, target, n=600, certified=Proof(slack=1.0), examine=["claims"])
    assert (result.ok, result.summary) == (False, "refuted: Lipschitz constant" if share else result.summary)
    assert "Lipschitz constant" in result.refuted
    assert result.error.upper == math.inf
    assert not result.error.certificate.proven
    assert "ipschitz" in result.error.reason
    document = result.document()["error"]
    assert (document["upper"], document["certificate"]["upper"]) == (None, None)
    assert str(result).startswith(f"sup error: {result.error.lower:.4g} found, none is proven")
    assert "not proven</b><span>proven upper bound" in report_validation(result).to_html()


class TestSearchedHeads:
    TARGET = Target(lambda x: x[:, 2], 2, lipschitz=1.0, sup_norm=1.0, degree=1, unit="T")
    HEAD = CoreHead([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]], [50.0, -50.0], 0.01)

    def test_a_proven_error_stands_first_and_is_enough(self):
        result = validate(self.HEAD, self.TARGET, n=500, certified=True, examine=["claims"])
        assert (result.ok, result.summary, result.refuted) == (True, "certified", ())
        assert claim(result, "values").outcome == "not stated"
        upper = float(str(result).split()[10])
        assert str(result).startswith(f"sup error: {result.error.lower:.4g} T found, proven to be at most {upper:g} T")
        assert result.error.upper <= upper <= 1.001 * result.error.upper
        assert result.document()["summary"] == "certified"
        assert "Certified: no theorem speaks of this head" in report_validation(result).to_html()

    def test_a_measured_error_is_not(self):
        result = validate(self.HEAD, self.TARGET, n=500, examine=["claims"])
        assert (result.ok, result.summary) == (False, "not applicable")

    def test_the_figure_has_no_empty_panel(self):
        result = validate(self.HEAD, self.TARGET, n=500, examine=["claims"])
        figure = plot.validation_figure(result.checks, result.error, result.head, result.target)
        titles = [axes.get_title() for axes in figure.axes]
        assert figure.get_figheight() == 3.5
        assert titles == ["Error |f - h|; the circle is where it is largest", ""]  # the map, and its colours
