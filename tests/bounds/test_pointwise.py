"""Second-order bounds of given split heads: they hold at each point, and choose the concentration."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import bounds
from spherapprox import EqualMeasurePartition, SplitHead, Target, points, sphere, sup_error, targets
from spherapprox.error import ErrorInterval

FORMS = ("second-order", "second-order-laplacian", "second-order-local")
FIELD = targets.with_constants(targets.geomagnetic_field(2025.0))
WAVE = targets.zonal_harmonic(3, 4)


@pytest.mark.parametrize(
    "target",
    [targets.zonal_harmonic(1, 3), targets.zonal_harmonic(2, 4), WAVE, targets.tangent_projection(2),
     targets.rotation_field(3)],
    ids=lambda target: f"{target.name} {target.dim}",
)  # fmt: skip
def test_no_error_is_above_the_bound_at_its_point(target):
    rng = np.random.default_rng(0)
    x, least = sphere.uniform(target.dim, 8, rng), dict.fromkeys(FORMS, math.inf)
    for count, concentration in ((1, 0.0), (2, 3.0), (300, 50.0), (300, 1e5)):
        head = SplitHead.from_target(target, sphere.uniform(target.dim, count, rng), concentration)
        errors = np.linalg.norm((head(x) - target(x)).reshape(len(x), -1), axis=1)
        for form, (row, error) in itertools.product(FORMS, zip(x, errors, strict=True)):
            if form != "second-order-local" and row[0] > 0.0:
                continue  # half of the points are enough for the others, which are less close
            bound = bounds.pointwise.second_order_bound(head, target, theorem=form, points=row[None], refine=0).value
            assert error <= bound * (1.0 + 1e-12) + 1e-14
            least[form] = min(least[form], bound / error)
    assert max(least.values()) < 8.0  # none is far above all errors
    assert least["second-order-local"] < 1.3


def test_bounds_in_closed_form_half_way_between_two_points():
    pair, pole, angle = np.array([[0.6, 0.0, 0.8], [-0.6, 0.0, 0.8]]), np.array([[0.0, 0.0, 1.0]]), math.asin(0.6)
    bend = Target(
        lambda x: x[:, 0] ** 2, 2, degree=2, lipschitz=1.0, smoothness=3.0, laplacian=5.0, third_derivative=7.0
    )
    head = SplitHead.from_target(bend, pair, 2.0)
    square, third = angle**2, 7.0 / 6.0 * angle**3
    # S = diag(angle^2, 0), and the Hessian is diag(2, 0)
    expected = (1.5 * square, (5.0 / 4.0 + 3.0 / 2.0) * square + third, square + third)
    for theorem, value in zip(FORMS, expected, strict=True):
        result = bounds.pointwise.second_order_bound(head, bend, theorem=theorem, points=pole, refine=0)
        assert result.value == pytest.approx(value, rel=1e-12)


def test_linear_functions_are_bounded_to_third_order():
    height = targets.zonal_harmonic(2, 1)
    head = SplitHead.from_target(height, points.fibonacci(3000), 700.0)
    bound = bounds.pointwise.second_order_bound(head, height, n=3000).value
    error = sup_error(head, height, n=3000).lower
    assert error <= bound < 1.1 * error


@pytest.mark.parametrize("count", [250, 600])
def test_the_concentration_chosen_without_errors_is_nearly_the_best(count):
    control = points.fibonacci(count)
    best = min(
        sup_error(SplitHead.from_target(FIELD, control, count * share), FIELD, n=4000, refine=4).lower
        for share in (0.2, 0.25)
    )
    result = bounds.best_concentration(target=FIELD, points=control, theorem="second-order-local")
    error = sup_error(SplitHead.from_target(FIELD, control, result.concentration), FIELD, n=4000, refine=4).lower
    assert error <= 1.2 * best
    assert error <= result.value <= 1.6 * best


@pytest.mark.parametrize("theorem", FORMS)
def test_the_concentration_is_a_minimum(theorem):
    control, wave = points.fibonacci(80), targets.zonal_harmonic(2, 4)
    best = bounds.best_concentration(target=wave, points=control, theorem=theorem)
    for factor in (0.7, 1.4, 100.0):
        head = SplitHead.from_target(wave, control, best.concentration * factor)
        assert bounds.pointwise.second_order_bound(head, wave, theorem=theorem, n=2000).value >= 0.97 * best.value


def test_bare_rows_and_partitions_have_a_best_concentration():
    cells, wave = EqualMeasurePartition(2, 60), targets.zonal_harmonic(2, 4)
    by_cells, by_rows = (
        bounds.best_concentration(target=wave, points=some, theorem="second-order") for some in (cells, cells.centers())
    )
    assert by_cells == by_rows
    assert by_cells.theorem == "second-order"
    assert dict(by_cells.constants) == {"lipschitz": wave.lipschitz, "smoothness": wave.smoothness}


def test_the_bound_says_that_it_was_searched_for_and_names_estimates():
    rough = replace(WAVE, origins={"third_derivative": "estimated"})
    head = SplitHead.from_target(rough, points.uniform(3, 50, rng=0), 5.0)
    result = bounds.pointwise.second_order_bound(head, rough, n=500)
    assert result.quantity.startswith("error at ")
    assert [h.statement for h in result.hypotheses] == ["the estimated third_derivative of the target is a bound"]
    assert bounds.pointwise.second_order_bound(head, WAVE, n=500).hypotheses == ()
    at = bounds.pointwise.second_order_bound(head, rough, points=result.at[None], refine=0)
    assert at.value == pytest.approx(result.value, rel=1e-12)


class TestValidation:
    def test_bounds_that_apply_are_held_against_the_error(self):
        cells = EqualMeasurePartition(2, 300)
        found = bounds.validate(SplitHead.from_target(FIELD, cells, 80.0), FIELD, n=2000, examine=["claims"])
        checks = {check.theorem: check for check in found.checks}
        assert [checks[form].verdict for form in FORMS] == ["holds"] * 3
        assert checks["second-order-local"].bound.value < 2.0 * found.error.lower
        assert found.ok

    def test_false_constants_are_violated_where_the_error_was_seen(self):
        pair = np.array([[0.6, 0.0, 0.8], [-0.6, 0.0, 0.8]])
        bend = Target(lambda x: x[:, 0] ** 2, 2, lipschitz=1.0, smoothness=0.1)
        head = SplitHead.from_target(bend, pair, 1.0)
        error = ErrorInterval(0.36, math.inf, np.array([0.0, 0.0, 1.0]))  # the first moment is 0 there
        violated = bounds.validate(head, bend, error=error, examine=[]).violated
        assert violated == ("second-order",)

    def test_what_is_not_a_supremum_makes_no_head_ok(self):
        head = SplitHead.from_target(FIELD, points.fibonacci(500).points, 120.0)  # bare rows
        found = bounds.validate(head, FIELD, n=1000, examine=["claims"])
        assert "holds" in {check.verdict for check in found.checks if check.quantity == "error at points"}
        assert not found.ok
