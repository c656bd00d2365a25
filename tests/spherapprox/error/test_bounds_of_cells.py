"""6.5: the bounds of the change over a cell, where they are attained."""

import math

import numpy as np
import pytest

from spherapprox import CoreHead, SplitHead, Target, sphere
from spherapprox.error.certified import riesz, taylor
from spherapprox.error.certified.angles import MeanAngle
from spherapprox.error.certified.function import known
from spherapprox.error.certified.heads import HeadError
from spherapprox.harmonics.forms import tangent_frame
from spherapprox.summation import angle_mean


def on_circle(*angles):
    return np.array([[math.cos(t), math.sin(t)] for t in angles])


def moments_at(head, x, radius):
    """The moments in a cell about x, and the frame there."""
    frames = tangent_frame(x)
    b = np.asarray(head.control_points)
    values = np.asarray(head.values).reshape(len(head), -1)
    terms = taylor.Terms(b, np.ascontiguousarray(b.T), values, head.concentration, head.family == "split")
    sizes = np.linalg.norm(np.asarray(head(x)).reshape(len(x), -1), axis=1)
    return taylor.moments(x, np.full(len(x), radius), frames, terms, sizes), frames


def changes(head, angle, radius):
    """The changes of a head on S^1 at the ends of a cell about a point."""
    here, right, left = head(on_circle(angle, angle + radius, angle - radius))
    return np.array([right - here, left - here])


class TestTaylor:
    @pytest.mark.parametrize("y", [0.005, 0.1, 1.0, 3.0])
    def test_the_change_of_a_head_with_a_light_far_point_is_attained(self, y):
        far, concentration = 0.03, 2e4
        head = SplitHead(on_circle(0.0, far), [0.0, 1.0], concentration)
        radius = y / (concentration * far)
        found, _ = moments_at(head, on_circle(0.0), radius)
        bound = (found.first_order(np.array([radius])) + found.rest)[0]
        actual = np.abs(changes(head, 0.0, radius)).max()
        assert (1.0 - 3e-3 * max(y, 0.3)) * bound <= actual <= bound * (1.0 + 1e-9) + 1e-15

    def test_no_term_is_left_out_that_matters(self):
        head = SplitHead(on_circle(0.0, math.acos(0.4)), [0.0, 1.0], 10.0)
        found, _ = moments_at(head, on_circle(0.0), 0.05)
        assert np.abs(changes(head, 0.0, 0.05)).max() <= (found.first_order(np.array([0.05])) + found.rest)[0]

    def test_the_fall_of_a_single_kernel_is_attained(self):
        head = CoreHead(on_circle(0.0), [1.0], 50.0)
        found, _ = moments_at(head, on_circle(0.0), 0.1)
        actual = np.abs(changes(head, 0.0, 0.1)).max()
        assert actual <= found.rest[0] * (1.0 + 1e-12) <= actual * (1.0 + 1e-6)

    def test_the_denominators_growth_bends_the_first_order_change(self):
        # near points with opposite values, and far ones whose value is the mean
        head = SplitHead(on_circle(1e-3, -1e-3, 0.03, -0.03), [1.0, -1.0, 0.0, 0.0], 2000.0)
        radius = np.array([0.01])
        found, _ = moments_at(head, on_circle(0.0), radius[0])
        actual = np.abs(np.abs(changes(head, 0.0, radius[0])) - radius * found.steep)
        assert actual.max() <= (found.bend(radius) + found.rest)[0]
        assert actual.max() > 2.0 * (radius**3 / 6.0 * found.steep + found.rest)[0]

    @pytest.mark.parametrize("kind", [SplitHead, CoreHead])
    def test_derivatives_along_the_frame_are_those_of_the_gradient(self, kind):
        rng = np.random.default_rng(0)
        head = kind(sphere.uniform(3, 40, rng), rng.standard_normal((40, 2)), 20.0)
        x = sphere.uniform(3, 50, rng)
        found, frames = moments_at(head, x, 1e-3)
        assert np.allclose(frames @ frames.transpose(0, 2, 1), np.eye(3), atol=1e-14)
        assert np.allclose(found.along, np.einsum("npd,nmd->npm", head.gradient(x), frames), rtol=1e-10, atol=1e-12)

    def test_a_cell_does_not_pass_where_the_target_bends_above_the_bound(self):
        wave = Target(lambda x: 1.0 - (8 * x[:, 1] ** 4 - 8 * x[:, 1] ** 2 + 1), 1, degree=4, sup_norm=2.0)
        problem = HeadError.of(SplitHead(on_circle(0.0, 2.0), [0.0, 0.0], 3.0), known(wave))
        radius = np.array([0.02])
        actual = float(wave(on_circle(0.02))[0])
        for factor, passes in ((0.9, False), (4.5, True)):
            arguments = on_circle(0.0), radius, *problem.errors(on_circle(0.0))[:2], factor * actual / problem.unit, 0.0
            assert problem.passed(*arguments, None).taylor[0] == passes

    def test_slopes_by_differences_are_within_their_error(self):
        noisy = Target(lambda x: x[:, 0] + 1e-4 * np.sign(x[:, 1] * x[:, 0]), 2, degree=1, sup_norm=1.0, accuracy=1e-4)
        x = sphere.uniform(2, 200, rng=0)
        frames = tangent_frame(x)
        got, error = known(noisy).gradients(x, frames)
        assert 0.0 < np.abs(got[:, 0] - frames[:, :, 0]).max() <= error < 0.1


class TestMeanAngle:
    def test_angles_across_two_points_grow_as_the_bound_says(self):
        b = np.array([[math.sin(0.3), 0.0, math.cos(0.3)], [-math.sin(0.3), 0.0, math.cos(0.3)]])
        north, aside = np.array([[0.0, 0.0, 1.0]]), np.array([[0.0, math.sin(0.02), math.cos(0.02)]])
        actual = float(angle_mean(aside, b, 0.0)[0])
        for factor, passes in ((1.0 - 1e-5, False), (1.0 + 5e-4, True)):
            problem, bound = MeanAngle(b, 0.0), actual * factor
            found = problem.passed(north, np.array([0.02]), angle_mean(north, b, 0.0), np.zeros(1), bound, 0.0, None)
            assert found.taylor[0] == passes

    def test_the_slope_of_the_mean_angle_between_two_points_is_attained(self):
        b, c, radius = on_circle(0.0, 0.4), on_circle(0.19), 1e-4
        actual = float(angle_mean(on_circle(0.19 + radius), b, 100.0)[0])
        before = angle_mean(c, b, 100.0)
        assert actual > before[0]
        for factor, passes in ((0.9, False), (1.1, True)):
            bound = before[0] + factor * (actual - before[0])
            problem = MeanAngle(b, 100.0)
            assert problem.passed(c, np.array([radius]), before, np.zeros(1), bound, 0.0, None).taylor[0] == passes


class TestRiesz:
    def test_the_test_compares_with_the_cosine(self):
        test = riesz.Riesz(10, 1e-6, 0.0, 0.1)
        radii = np.full(4, 0.05)  # cos 0.5 = 0.87758
        errors, log_sums = np.array([0.87, 0.88, 0.70, 0.76]), np.log([1.0, 1.0, 0.5, 0.5])
        # |P| + B |1 - d|: 0.87, 0.88, 0.85, 0.88
        found = test.passed(radii, errors, log_sums, np.zeros(4), 1.0, 0.0)
        assert found.tolist() == [True, False, True, False]
        assert not test.passed(np.full(4, 0.2), errors, log_sums, np.zeros(4), 1.0, 0.0).any()

    def test_the_tail_must_be_small_beside_the_least_denominator(self):
        test = riesz.Riesz(10, 1e-3, 0.0, 0.1)
        arguments = np.full(2, 0.01), np.zeros(2), np.log([1.0, 1.0]), np.array([1.0, 5.0]), 1.0, 0.0
        assert test.passed(*arguments).tolist() == [True, False]

    def test_degrees_add_for_quotients_and_do_not_for_sums(self):
        b, x = sphere.uniform(2, 50, rng=0), np.eye(3)
        targets = [Target(lambda x: 0.0 * x[:, 0], 2, degree=degree, sup_norm=1.0) for degree in (3, 13)]
        for kind, more in ((SplitHead, 10), (CoreHead, 0)):
            low, high = (
                HeadError.of(kind(b, np.ones(50), 40.0), known(target)).riesz(0.1, 1e-3, x).degree for target in targets
            )
            assert high - low == more
            assert low >= 20

    def test_cells_with_large_denominators_pass_taylors_test_only_up_to_the_constant(self):
        b = sphere.uniform(2, 50, rng=0)
        problem = HeadError.of(SplitHead(b, np.zeros(50), 5.0), known(Target(lambda x: 0 * x[:, 0], 2, degree=0)))
        x, radii = sphere.uniform(2, 20, rng=1), np.full(20, 1e-3)
        errors, log_sums, rounding = problem.errors(x)
        for scale, passes in ((50.0, True), (1e-3, False)):
            test = riesz.Riesz(10**6, 1e-9, math.log(scale), 0.1)
            found = problem.passed(x, radii, errors, log_sums, 1.0, rounding, test).taylor
            assert found.all() if passes else not found.any()
