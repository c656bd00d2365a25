"""Claims: stated numbers that are false are refuted by sampling, and true ones are not."""

import dataclasses

import numpy as np
import pytest
from validations import attempted, claim, turned, verdicts

from bounds import validate
from bounds.validation.judgement import CLAIMS
from spherapprox import CoreHead, EqualMeasurePartition, PointSet, SplitHead, Target, points, sphere, sup_error, targets


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


@pytest.mark.parametrize("dim", [2, pytest.param(8, marks=pytest.mark.once)])
def test_constants_that_are_too_small_are_refuted(dim):
    for target in sharp(dim):
        low = dataclasses.replace(target, lipschitz=0.95 * target.lipschitz, sup_norm=0.5 * target.sup_norm)
        result = attempted(low)
        assert result.refuted == ("Lipschitz constant", "sup norm"), (target.name, str(result))
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
    for smoothness, expected in ((5.0**0.5, ()), (1.9, ("second derivatives",))):
        result = attempted(dataclasses.replace(true, smoothness=smoothness))
        assert result.refuted == expected
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
        lambda x: scale * x[:, 0] ** 2, 2, degree=2, sup_norm=scale, lipschitz=scale, smoothness=2.0 * scale,
        third_derivative=4.0 * scale, laplacian=4.0 * scale,
    )  # fmt: skip
    head = SplitHead.from_target(square, EqualMeasurePartition(2, 300), 60.0)
    options = {"n": 500, "examine": ["claims"]}
    true = validate(head, square, **options)
    assert claim(true, name).outcome == "survived"
    assert 0.8 * truth * scale < claim(true, name).found <= truth * scale * (1.0 + 1e-9)
    assert verdicts(true)["second-order-laplacian"] == "holds"
    false = validate(head, dataclasses.replace(square, **{constant: share * truth * scale}), **options)
    assert false.refuted == (name,)
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
    assert (check.verdict, check.suspects) == ("violated", ("second derivatives",))
    assert verdicts(result)["sharp-core-quadrature"] == "holds"
    silent = validate(head, dataclasses.replace(target, smoothness=None), n=500)
    check = next(check for check in silent.checks if check.theorem == "sharp-core-smooth")
    assert check.reason == "needs the target's bound of second derivatives (smoothness=)"


def test_a_narrow_bump_in_many_dimensions_is_climbed():
    bump = targets.bump(8, 50.0, pole=turned(8))
    low = dataclasses.replace(bump, lipschitz=0.95 * bump.lipschitz)
    for rng in range(3):
        assert attempted(low, n=500, rng=rng).refuted == ("Lipschitz constant",)


DIMS = {"moving_frame": (1, 3)} | dict.fromkeys(("geomagnetic_field", "geomagnetic_vector", "land"), (2,))


@pytest.mark.parametrize(("name", "dim"), [(name, dim) for name in targets.names() for dim in DIMS.get(name, (2, 8))])
def test_constants_of_the_catalogue_are_not_refuted(name, dim):
    target = targets.make(name, dim=dim, **({"degree": 4, "rng": 0} if name == "random_bandlimited" else {}))
    result = attempted(target)
    names = [CLAIMS[name] for name in CLAIMS if name != "remainder" and getattr(target, name) is not None]
    assert [c.name for c in result.claims] == ["values", *names]
    polynomial = target.degree is not None and target.dim <= 4  # where Laplacians are taken
    assert {c.outcome for c in result.claims if polynomial or c.name != "Laplacian"} == {"survived"}


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
        result = claim(attempted(target), "Lipschitz constant")
        assert (result.outcome, result.found > 10.0 * target.lipschitz) == ("refuted", True), (dim, result)


@pytest.mark.parametrize("dim", [1, pytest.param(8, marks=pytest.mark.once)])
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
        result = claim(attempted(target), "Lipschitz constant")
        assert result.outcome == "survived", (name, result)
        assert result.found > 0.95 * slope, (name, result)


@pytest.mark.parametrize(("dim", "degree"), [(1, 9), (2, 9), (3, 5), (8, 2)])
def test_a_false_degree_of_exactness_is_refuted(dim, degree):
    rule = points.gauss_product(dim, degree)
    target = targets.distance(dim)
    for top, outcome in ((rule.degree, "survived"), (rule.degree + 2, "refuted")):
        b = PointSet(rule.points, rule.weights, degree=top)
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
        radius = true.upper if share == 1.0 else 0.95 * true.lower
        result = attempted(target, PointSet(b.points, covering_radius=radius), n=300)
        cover = claim(result, "covering radius")
        assert cover.outcome == outcome
        assert sphere.distance(b.points, cover.at[0]).min() == pytest.approx(cover.found, abs=1e-12)
    reasons = {check.theorem: check.reason for check in result.checks}
    assert reasons["sharp-split"] == "needs the true covering radius: refuted below"


def test_a_wrong_lipschitz_constant_is_found_in_tiny_units():
    unit = 1e-200
    target = Target(lambda x: 3.0 * unit * x[:, 2], 2, lipschitz=2.0 * unit, sup_norm=3.0 * unit)
    head = SplitHead.from_target(target, EqualMeasurePartition(2, 100), concentration=20.0)
    _, claim, _ = validate(head, target, n=500, examine=["claims"]).claims
    assert claim.outcome == "refuted"
    assert claim.found == pytest.approx(3.0 * unit, rel=1e-6)


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
    assert result.summary == (
        "not attempted: Lipschitz constant, sup norm, covering radius, degree of exactness, error"
    )
    assert [c.stated for c in result.claims][1:4] == [1.0, np.pi, 1.0]
    assert not result.ok
    # a degree that would take hours
    far = CoreHead.from_target(target, PointSet(rule.points, rule.weights, 1.0, 10**6), 3.0)
    result = validate(far, target, n=300)
    assert result.summary == "not attempted: degree of exactness"
    assert "above the limit of" in claim(result, "degree of exactness").reason
