"""validate: true heads pass, wrong ones are caught, and theorems that do not speak say so."""

import dataclasses
import math
import warnings

import numpy as np
import pytest

from bounds import validate
from bounds.report import plot, report_validation
from spherapprox import CoreHead, EqualMeasurePartition, PointSet, SplitHead, Target, points, sphere, sup_error, targets
from spherapprox.error import Proof


def verdicts(validation):
    return {check.theorem: check.verdict for check in validation.checks}


def refuted(validation):
    return [claim.name for claim in validation.claims if claim.outcome == "refuted"]


def in_place_of(head, wrong, target, n):
    """Hold what a wrong head makes of the target against what is promised for the right one.

    Of the wrong head itself the theorems say nothing: they speak of Riemann coefficients.
    """
    for check in validate(wrong, target, n=100, examine=[]).checks:
        assert check.verdict == "not applicable"
        assert check.bound is None
    return validate(head, target, error=sup_error(wrong, target, n=n, refine=2), examine=["claims"])


@pytest.mark.filterwarnings("ignore:.concentration. is too large for these:RuntimeWarning")
@pytest.mark.parametrize("name", ["distance", "bump", "zonal_harmonic"])
@pytest.mark.parametrize("dim", [1, 2, 8])
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
            assert not refuted(result), str(result)


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
    measured = sup_error(dataclasses.replace(split, concentration=100.0), circle, n=1000)
    assert validate(split, circle, n=1000, examine=["claims"]).ok
    violated = validate(split, circle, error=measured).violated
    assert {"sharp-split-mean", "sharp-split-equal"} <= {*violated}
    assert "sharp-split" not in violated


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


def test_moved_control_points_are_no_partition():
    target = targets.distance(2)
    partition = EqualMeasurePartition(2, 100)
    moved = SplitHead(partition.centers()[:, ::-1], target(partition.centers()), 20.0, partition)
    assert verdicts(validate(moved, target, n=300, examine=["claims"])) == dict.fromkeys(
        ("sharp-split-mean", "sharp-split-equal", "sharp-split-smooth", "sharp-split"), "not applicable"
    )


def test_a_target_whose_constants_are_wrong_is_caught():
    steep = Target(lambda x: np.sin(40.0 * x[:, 0]), 1, lipschitz=0.1, sup_norm=1.0)
    head = SplitHead.from_target(steep, EqualMeasurePartition(1, 300), 50.0)
    assert "sharp-split" in validate(head, steep, n=1000, examine=["claims"]).violated


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


def attempted(target, b=None, n=2000, **options):
    """The validation of a small split head, of which only the claims are at issue."""
    b = EqualMeasurePartition(target.dim, 40) if b is None else b
    head = SplitHead.from_target(target, b, 20.0)
    return validate(head, target, n=n, examine=["claims"], **options)


def claim(validation, name):
    """The one claim of this name."""
    (found,) = (claim for claim in validation.claims if claim.name == name)
    return found


def turned(dim, seed=1):
    """A random point: nothing is aligned with the axes."""
    return sphere.uniform(dim, 1, rng=seed)[0]


def sharp(dim):
    """Targets whose constants are attained."""
    pole = turned(dim)
    yield targets.distance(dim, pole=pole)
    yield targets.zonal_harmonic(dim, 4, pole=pole)
    yield targets.bump(dim, 20.0, pole=pole)
    yield targets.rotation_field(dim)
    yield targets.tangent_projection(dim, vector=3.0 * pole)
    yield Target(lambda x: np.maximum(x @ pole, x[:, 0]), dim, lipschitz=1.0, sup_norm=1.0, name="largest coordinate")
    if dim == 2:
        yield targets.geomagnetic_field()
        yield targets.geomagnetic_vector()
    if dim < 3:
        yield targets.random_bandlimited(dim, 8, rng=0)


@pytest.mark.parametrize("dim", [1, 2, 8])
def test_constants_that_are_too_small_are_refuted(dim):
    for target in sharp(dim):
        low = dataclasses.replace(target, lipschitz=0.95 * target.lipschitz, sup_norm=0.5 * target.sup_norm)
        result = attempted(low)
        assert refuted(result) == ["Lipschitz constant", "sup norm"], (target.name, str(result))
        assert not result.ok
        slope, size = claim(result, "Lipschitz constant"), claim(result, "sup norm")
        # what is said of the points is so
        f, g = target(slope.at)
        quotient = np.linalg.norm(f - g) / sphere.distance(slope.at[:1], slope.at[1])[0]
        assert 0.95 * target.lipschitz < slope.found <= quotient <= target.lipschitz * (1 + 1e-6)
        assert np.linalg.norm(target(size.at)) == pytest.approx(size.found, rel=1e-9)
        assert 0.5 * target.sup_norm < size.found <= target.sup_norm * (1 + 1e-6)


@pytest.mark.parametrize("dim", [1, 2, 8])
def test_second_derivatives_that_are_understated_are_refuted_and_true_ones_are_not(dim):
    pole = turned(dim)
    true = Target(lambda x: np.stack([(x @ pole) ** 2, x[:, 0]], axis=1), dim, lipschitz=2.0, sup_norm=2.0)
    for smoothness, expected in ((5.0**0.5, []), (1.9, ["second derivatives"])):
        result = attempted(dataclasses.replace(true, smoothness=smoothness))
        assert refuted(result) == expected
        bent = claim(result, "second derivatives")
        x, y = bent.at
        c = (x + y) / np.linalg.norm(x + y)
        change = np.linalg.norm(true(np.stack([x, y])).sum(axis=0) - 2.0 * true(c[None, :])[0])
        half = 0.5 * sphere.distance(x[None, :], y)[0]
        assert 1.97 < bent.found <= change / half**2 * (1.0 + 1e-9) <= 5.0**0.5


@pytest.mark.parametrize("scale", [1.0, 1e-50, 1e90])
@pytest.mark.parametrize(
    ("constant", "name", "truth", "share"),
    [("third_derivative", "third derivatives", 4.0, 0.7), ("laplacian", "Laplacian", 4.0, 0.98)],
)
def test_no_second_order_bound_holds_by_constants_that_are_understated(constant, name, truth, share, scale):
    square = Target(
        lambda x: scale * x[:, 0] ** 2, 2, degree=2, sup_norm=scale, lipschitz=scale, smoothness=2.0 * scale
    )
    square = dataclasses.replace(square, third_derivative=4.0 * scale, laplacian=4.0 * scale)
    head = SplitHead.from_target(square, EqualMeasurePartition(2, 300), 60.0)
    options = {"n": 500, "examine": ["claims"]}
    true = validate(head, square, **options)
    assert claim(true, name).outcome == "survived"
    assert 0.8 * truth * scale < claim(true, name).found <= truth * scale * (1.0 + 1e-9)
    assert verdicts(true)["second-order-laplacian"] == "holds"
    false = validate(head, dataclasses.replace(square, **{constant: share * truth * scale}), **options)
    assert refuted(false) == [name]
    assert verdicts(false)["second-order-laplacian"] == "not applicable"
    assert not false.ok


def test_a_laplacian_of_no_polynomial_is_not_attempted():
    head = SplitHead.from_target(lambda x: np.exp(x[:, 0]), EqualMeasurePartition(2, 50), 9.0)
    smooth = Target(lambda x: np.exp(x[:, 0]), 2, lipschitz=3.0, sup_norm=3.0, laplacian=9.0)
    assert claim(validate(head, smooth, n=100, examine=["claims"]), "Laplacian").outcome == "not attempted"


def test_a_bound_of_second_derivatives_is_a_suspect_where_its_theorem_is_violated():
    rule = points.gauss_product(2, 30)
    target = Target(lambda x: x[:, 2] ** 2, 2, lipschitz=1.0, sup_norm=1.0, smoothness=2.0)
    head = CoreHead.from_target(target, rule, 20.0)
    assert verdicts(validate(head, target, n=500))["sharp-core-smooth"] == "holds"
    result = validate(head, dataclasses.replace(target, smoothness=0.1), n=500)
    check = next(check for check in result.checks if check.theorem == "sharp-core-smooth")
    assert check.verdict == "violated"
    assert check.suspects == ("second derivatives",)
    assert verdicts(result)["sharp-core-quadrature"] == "holds"
    silent = validate(head, dataclasses.replace(target, smoothness=None), n=500)
    check = next(check for check in silent.checks if check.theorem == "sharp-core-smooth")
    assert check.reason == "needs the target's bound of second derivatives (smoothness=)"


def test_a_narrow_bump_in_many_dimensions_is_climbed():
    bump = targets.bump(8, 50.0, pole=turned(8))
    low = dataclasses.replace(bump, lipschitz=0.95 * bump.lipschitz)
    for rng in range(3):
        assert refuted(attempted(low, n=500, rng=rng)) == ["Lipschitz constant"]


@pytest.mark.parametrize("name", targets.names())
@pytest.mark.parametrize("dim", [1, 2, 8])
def test_constants_of_the_catalogue_are_not_refuted(name, dim):
    only = {"geomagnetic_field": (2,), "geomagnetic_vector": (2,), "land": (2,), "moving_frame": (1, 3)}
    if dim not in only.get(name, (1, 2, 3, 8)):
        pytest.skip(f"{name} is on other spheres")
    target = targets.make(name, dim=dim, **({"degree": 4, "rng": 0} if name == "random_bandlimited" else {}))
    result = attempted(target)
    stated = ["values", *(["Lipschitz constant"] if target.lipschitz is not None else []), "sup norm"]
    stated += ["second derivatives"] if target.smoothness is not None else []
    stated += ["third derivatives"] if target.third_derivative is not None else []
    stated += ["Laplacian"] if target.laplacian is not None else []
    stated += ["degree"] if target.degree is not None else []
    assert [c.name for c in result.claims] == stated
    few = target.degree is not None and target.dim <= 4  # where Laplacians are taken
    assert {c.outcome for c in result.claims if few or c.name != "Laplacian"} == {"survived"}


@pytest.mark.parametrize("dim", [1, 2, 8])
def test_a_jump_is_no_slope(dim):
    normal = turned(dim)
    jumps = [
        Target(lambda x: np.sign(x @ normal), dim, lipschitz=30.0, sup_norm=1.0),
        Target(lambda x: np.sign(x[:, -1]), dim, lipschitz=30.0, exponent=0.5, sup_norm=1.0),
        Target(lambda x: x + 0.1 * np.sign(x @ normal)[:, None], dim, lipschitz=10.0, sup_norm=2.0),
    ]
    if dim == 2:
        jumps.append(dataclasses.replace(targets.land(), lipschitz=100.0))
        jumps.append(dataclasses.replace(targets.geomagnetic_vector(frame="local"), lipschitz=1e4))
    for target in jumps:
        found = claim(attempted(target), "Lipschitz constant")
        assert (found.outcome, found.found > 10.0 * target.lipschitz) == ("refuted", True), (dim, found)


@pytest.mark.parametrize("dim", [1, 2, 8])
def test_true_constants_of_functions_that_round_are_not_refuted(dim):
    pole = turned(dim)
    single = pole.astype(np.float32)

    def angle(x, pole):
        return np.arccos(np.clip(x.astype(pole.dtype) @ pole, -1, 1))  # half of the digits are lost near the pole

    functions = {
        "angle": lambda x: angle(x, pole),
        "angle in single precision": lambda x: angle(x, single),
        "height in single precision": lambda x: (x.astype(np.float32) @ single).astype(np.float64),
        "rounded": lambda x: np.round(x @ pole, 12),
        "small": lambda x: 1e-50 * (x @ pole),
        "large": lambda x: 1e90 * (x @ pole),
        "far from 0": lambda x: 1e6 + x @ pole,
    }
    scale = {"small": 1e-50, "large": 1e90}
    for name, f in functions.items():
        slope = scale.get(name, 1.0)
        target = Target(f, dim, lipschitz=slope, sup_norm=1e6 + 1.0 if name == "far from 0" else np.pi * slope)
        found = claim(attempted(target), "Lipschitz constant")
        assert found.outcome == "survived", (name, found)
        assert found.found > 0.95 * slope, (name, found)


@pytest.mark.parametrize(("dim", "degree"), [(1, 9), (2, 9), (3, 5), (8, 2)])
def test_a_false_degree_of_exactness_is_refuted(dim, degree):
    rule = points.gauss_product(dim, degree)
    target = targets.distance(dim)
    for stated, outcome in ((rule.degree, "survived"), (rule.degree + 2, "refuted")):
        b = PointSet(rule.points, rule.weights, degree=stated)
        result = validate(CoreHead.from_target(target, b, 2.0), target, n=300)
        exact = claim(result, "degree of exactness")
        assert exact.outcome == outcome
        assert rule.degree <= exact.found < rule.degree + 2
        assert ("degree of exactness" in str(result.summary)) == (outcome == "refuted")
    assert verdicts(result)["sharp-core-quadrature"] == "not applicable"


@pytest.mark.parametrize("dim", [1, 2, 8])
def test_a_covering_radius_that_is_too_small_is_refuted(dim):
    b = points.uniform(dim, 30, rng=0)
    true = b.covering_interval(rtol=0.0)
    target = targets.distance(dim)
    for share, outcome in ((1.0, "survived"), (0.95, "refuted")):
        stated = true.upper if share == 1.0 else 0.95 * true.lower
        result = attempted(target, PointSet(b.points, covering_radius=stated), n=300)
        cover = claim(result, "covering radius")
        assert cover.outcome == outcome
        assert sphere.distance(b.points, cover.at[0]).min() == pytest.approx(cover.found, abs=1e-12)
    assert [c.reason for c in result.checks if c.theorem == "sharp-split"] == [
        "needs the true covering radius: refuted below"
    ]


def test_ok_says_that_the_values_are_those_of_the_target():
    field, partition = targets.geomagnetic_field(), EqualMeasurePartition(2, 400)
    head = SplitHead.from_target(field, partition, 300.0)
    assert validate(head, field, n=500, examine=["claims"]).ok
    for other in (head.refine(field), head):
        target = targets.geomagnetic_field(1900) if other is head else field
        result = validate(other, target, n=500, examine=["claims"])
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


def test_a_theorem_that_uses_a_refuted_constant_does_not_speak():
    target = dataclasses.replace(targets.distance(2), lipschitz=0.95)
    result = attempted(target)
    assert set(verdicts(result).values()) == {"not applicable"}
    assert result.checks[0].reason == "needs the true Lipschitz constant: refuted below"
    assert not result.violated


def test_what_was_not_attempted_is_listed():
    rule = points.gauss_product(2, 5)
    target = targets.distance(2)
    head = CoreHead.from_target(target, PointSet(rule.points, rule.weights, 1.0, 5), 3.0)
    result = validate(head, target, error=sup_error(head, target, n=300), n=300, examine=["worst case"])
    listed = ["Lipschitz constant", "sup norm", "covering radius", "degree of exactness", "error"]
    assert result.summary == "not attempted: " + ", ".join(listed)
    assert [(c.name, c.stated) for c in result.claims][1:4] == [
        ("Lipschitz constant", 1.0), ("sup norm", np.pi), ("covering radius", 1.0),
    ]  # fmt: skip
    assert not result.ok
    # a degree that would take hours
    far = CoreHead.from_target(target, PointSet(rule.points, rule.weights, 1.0, 10**6), 3.0)
    result = validate(far, target, n=300)
    assert result.summary == "not attempted: degree of exactness"
    assert "above the limit of" in claim(result, "degree of exactness").reason


def test_the_floor_has_a_column_of_its_own():
    target = targets.distance(2)
    result = validate(SplitHead.from_target(target, EqualMeasurePartition(2, 400), 300.0), target, n=500)
    *upper, floor = (c.quantity for c in result.checks)
    assert {*upper} == {"error"}
    assert floor == "worst-case error"
    header, _, *rows = str(result).splitlines()[2:]
    assert header.split() == ["theorem", "bound", "error", "worst", "case", "ratio", "verdict", "why"]
    floor = next(row for row in rows if row.startswith("lower"))
    assert floor[header.index("error") :].split() == [
        "-", f"{result.checks[-1].achieved:.4g}", f"{result.checks[-1].ratio:.4g}", "HOLDS",
    ]  # fmt: skip


def test_a_validation_is_repeatable():
    target = targets.zonal_harmonic(3, pole=turned(3))
    first, second = (str(attempted(target, n=500, rng=7)) for _ in range(2))
    assert first == second
    assert first.endswith("ok: True (holds)") or first.endswith("ok: False (vacuous)")


def test_a_wrong_lipschitz_constant_is_found_in_tiny_units():
    unit = 1e-200
    target = Target(lambda x: 3.0 * unit * x[:, 2], 2, lipschitz=2.0 * unit, sup_norm=3.0 * unit)
    head = SplitHead.from_target(target, EqualMeasurePartition(2, 100), concentration=20.0)
    _, claim, _ = validate(head, target, n=500, examine=["claims"]).claims
    assert claim.outcome == "refuted"
    assert claim.found == pytest.approx(3.0 * unit, rel=1e-6)


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
    found = validate(head, target, n=200, certified=Proof(slack=1e-3, max_evaluations=1000), examine=["claims"])
    assert found.error.reason
    assert str(found).count(found.error.reason) == 1


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
