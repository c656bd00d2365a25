"""6.5: the bounds of the change over a cell, where they are attained."""

import math

import mpmath
import numpy as np
import pytest
from cells import moments_at, passes, zero

from spherapprox import CoreHead, SplitHead, Target, sphere
from spherapprox.error.certified import riesz
from spherapprox.error.certified.angles import MeanAngle
from spherapprox.error.certified.derivatives import Derivative
from spherapprox.error.certified.function import as_function
from spherapprox.error.certified.heads import HeadError
from spherapprox.harmonics.forms import tangent_frame
from spherapprox.summation import angle_mean


def on_circle(*angles):
    return np.array([[math.cos(t), math.sin(t)] for t in angles])


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
        bound = (found.first_order(np.array([radius])) + found.second_order)[0]
        actual = np.abs(changes(head, 0.0, radius)).max()
        assert (1.0 - 3e-3 * max(y, 0.3)) * bound <= actual <= bound * (1.0 + 1e-9) + 1e-15

    def test_no_term_is_left_out_that_matters(self):
        head = SplitHead(on_circle(0.0, math.acos(0.4)), [0.0, 1.0], 10.0)
        found, _ = moments_at(head, on_circle(0.0), 0.05)
        assert np.abs(changes(head, 0.0, 0.05)).max() <= (found.first_order(np.array([0.05])) + found.second_order)[0]

    def test_the_fall_of_a_single_kernel_is_attained(self):
        head = CoreHead(on_circle(0.0), [1.0], 50.0)
        found, _ = moments_at(head, on_circle(0.0), 0.1)
        actual = np.abs(changes(head, 0.0, 0.1)).max()
        assert actual <= found.second_order[0] * (1.0 + 1e-12) <= actual * (1.0 + 1e-6)

    def test_the_fall_of_a_steep_kernel_is_not_lost_in_small_cells(self):
        # cos 9e-9 is 1 in floating point
        head, radius = CoreHead(on_circle(0.0), [1.0], 1e14), 9e-9
        found, _ = moments_at(head, on_circle(0.0), radius)
        actual = np.abs(changes(head, 0.0, radius)).max()
        assert 2e-3 < actual <= found.second_order[0] * (1.0 + 1e-12) <= actual * (1.0 + 1e-6)

    def test_the_denominators_growth_bends_the_first_order_change(self):
        # near points with opposite values, and far ones whose value is the mean
        head = SplitHead(on_circle(1e-3, -1e-3, 0.03, -0.03), [1.0, -1.0, 0.0, 0.0], 2000.0)
        radius = np.array([0.01])
        found, _ = moments_at(head, on_circle(0.0), radius[0])
        actual = np.abs(np.abs(changes(head, 0.0, radius[0])) - radius * found.steep)
        assert actual.max() <= (found.bend(radius) + found.second_order)[0]
        assert actual.max() > 2.0 * (radius**3 / 6.0 * found.steep + found.second_order)[0]

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
        problem = HeadError.of(SplitHead(on_circle(0.0, 2.0), [0.0, 0.0], 3.0), as_function(wave))
        actual = float(wave(on_circle(0.02))[0])
        assert not passes(problem, on_circle(0.0), 0.02, 0.9 * actual, rounding=0.0)
        assert passes(problem, on_circle(0.0), 0.02, 4.5 * actual, rounding=0.0)

    def test_slopes_by_differences_are_within_their_error(self):
        noisy = Target(lambda x: x[:, 0] + 1e-4 * np.sign(x[:, 1] * x[:, 0]), 2, degree=1, sup_norm=1.0, accuracy=1e-4)
        x = sphere.uniform(2, 200, rng=0)
        frames = tangent_frame(x)
        got, error = as_function(noisy).gradients(x, frames)
        assert 0.0 < np.abs(got[:, 0] - frames[:, :, 0]).max() <= error < 0.1

    def test_slopes_of_a_steep_target_know_the_roundings_of_points(self):
        w, x = 1e6, sphere.uniform(2, 200, rng=0)
        frames, constants = tangent_frame(x), {"lipschitz": w, "smoothness": w**2 + w, "third_derivative": 5.0 * w**3}
        steep = Target(lambda x: np.sin(w * x[:, 0]), 2, sup_norm=1.0, accuracy=0.0, **constants)
        got, error = as_function(steep).gradients(x, frames)
        true = w * np.cos(w * x[:, 0])[:, None] * frames[:, :, 0]
        assert np.linalg.norm(got[:, 0] - true, axis=1).max() <= error < 1e-4 * w


class TestMeanAngle:
    def test_angles_across_two_points_grow_as_the_bound_says(self):
        b = np.array([[math.sin(0.3), 0.0, math.cos(0.3)], [-math.sin(0.3), 0.0, math.cos(0.3)]])
        north, aside = np.array([[0.0, 0.0, 1.0]]), np.array([[0.0, math.sin(0.02), math.cos(0.02)]])
        actual = float(angle_mean(aside, b, 0.0)[0])
        assert not passes(MeanAngle(b, 0.0), north, 0.02, (1.0 - 1e-5) * actual, rounding=0.0)
        assert passes(MeanAngle(b, 0.0), north, 0.02, (1.0 + 5e-4) * actual, rounding=0.0)

    def test_the_slope_of_the_mean_angle_between_two_points_is_attained(self):
        b, c, radius = on_circle(0.0, 0.4), on_circle(0.19), 1e-4
        actual = float(angle_mean(on_circle(0.19 + radius), b, 100.0)[0])
        problem = MeanAngle(b, 100.0)
        before = problem.sample(c).errors[0]
        assert actual > before
        for factor in (0.9, 1.1):
            assert passes(problem, c, radius, before + factor * (actual - before), rounding=0.0) == (factor > 1.0)


class TestRiesz:
    def test_the_test_compares_with_the_cosine(self):
        test = riesz.Riesz(10, 1e-6, 0.0, 0.1)
        radii = np.full(4, 0.05)  # cos 0.5 = 0.87758
        errors, log_sums = np.array([0.87, 0.88, 0.70, 0.76]), np.log([1.0, 1.0, 0.5, 0.5])
        # |P| + B |1 - d|: 0.87, 0.88, 0.85, 0.88
        found = test.check(radii, errors, log_sums, np.zeros(4), 1.0, 0.0)
        assert found.tolist() == [True, False, True, False]
        assert not test.check(np.full(4, 0.2), errors, log_sums, np.zeros(4), 1.0, 0.0).any()

    def test_the_tail_must_be_small_beside_the_least_denominator(self):
        test = riesz.Riesz(10, 1e-3, 0.0, 0.1)
        arguments = np.full(2, 0.01), np.zeros(2), np.log([1.0, 1.0]), np.array([1.0, 5.0]), 1.0, 0.0
        assert test.check(*arguments).tolist() == [True, False]

    def test_the_least_denominator_of_a_cell_is_bounded(self):
        rng, sharp = np.random.default_rng(0), 0
        for concentration in 10.0 ** rng.uniform(0, 4, 40):
            b, x = sphere.uniform(2, int(rng.integers(2, 300)), rng), sphere.uniform(2, 1, rng)
            head = SplitHead(b, np.linspace(0.9, 1.0, len(b)), concentration)
            problem = HeadError.of(head, zero(2))
            radii, sample = rng.uniform(0.1, 1.0, 1) / math.sqrt(concentration), problem.sample(x)
            frame, turns = tangent_frame(x)[0], np.linspace(0.0, 2.0 * math.pi, 500)
            rim = math.cos(radii[0]) * x + math.sin(radii[0]) * np.outer(np.cos(turns), frame[0])
            rim += math.sin(radii[0]) * np.outer(np.sin(turns), frame[1])
            least = math.exp(float(problem.sample(rim).log_sums.min() - sample.log_sums[0]))
            for share, small in ((0.51, False), (0.1, True)):
                test = riesz.Riesz(1, share * least, float(sample.log_sums[0]), 1.0)
                found = problem.check(x, radii, sample, 1e4, test).riesz[0]
                assert small or not found
                sharp += small and found
        assert sharp > 10

    def test_degrees_add_for_quotients_and_do_not_for_sums(self):
        b, x = sphere.uniform(2, 50, rng=0), np.eye(3)
        targets = [Target(lambda x: 0.0 * x[:, 0], 2, degree=degree, sup_norm=1.0) for degree in (3, 13)]
        for kind, more in ((SplitHead, 10), (CoreHead, 0)):
            head = kind(b, np.linspace(0.9, 1.0, 50), 40.0)
            low, high = (HeadError.of(head, as_function(target)).riesz(0.1, 1e-3, x).degree for target in targets)
            assert high - low == more
            assert low >= 20

    def test_cells_with_large_denominators_pass_taylors_test_only_up_to_the_constant(self):
        b = sphere.uniform(2, 50, rng=0)
        head = SplitHead(b, np.linspace(0.0, 0.1, 50), 5.0)
        problem = HeadError.of(head, zero(2))
        x, radii = sphere.uniform(2, 20, rng=1), np.full(20, 1e-3)
        sample = problem.sample(x)
        for scale, large in ((50.0, True), (1e-3, False)):
            test = riesz.Riesz(10**6, 1e-9, math.log(scale), 0.1)
            found = problem.check(x, radii, sample, 1.0, test).taylor
            assert found.all() if large else not found.any()


class TestSpread:
    @pytest.mark.parametrize(("angle", "largest"), [(0.2, 2.0), (0.1985, 2.0), (0.197, 1.0)])
    @pytest.mark.parametrize("order", [1, -1])
    def test_a_cell_passes_for_the_largest_error_of_the_values_that_it_meets(self, angle, largest, order):
        # 1 up to 0.2 and 2 from there
        head = SplitHead(on_circle(0.0, 0.4)[::order], [1.0, 2.0][::order], 1e6)
        problem, x = HeadError.of(head, zero(1)), on_circle(angle)
        assert not passes(problem, x, 0.002, 0.999 * largest)
        assert passes(problem, x, 0.002, 1.0001 * largest)

    def test_far_values_add_their_weights(self):
        # at the rim, the weight of the far point is e^-14, and the head is 1e5 / e^14 = 0.083
        radius, concentration = 1e-3, 1e5
        far = next(t for t in np.linspace(0.01, 0.1, 2000) if concentration * (math.cos(radius) - math.cos(t)) > 14.0)
        head = SplitHead(on_circle(0.0, 1e-9, far + radius), [0.0, 0.0, 1e5], concentration)
        problem, x = HeadError.of(head, zero(1)), on_circle(0.0)
        actual = float(np.abs(head(on_circle(radius)))[0])
        assert actual > 1e-2
        assert not passes(problem, x, radius, 0.999 * actual)
        assert passes(problem, x, radius, 2e3 * actual)


class TestNear:
    @pytest.mark.parametrize("kind", [SplitHead, CoreHead])
    @pytest.mark.parametrize("dim", [1, 2, 3])
    def test_moments_do_not_depend_on_groups_of_cells(self, kind, dim):
        rng = np.random.default_rng(dim)
        head = kind(sphere.uniform(dim, 700, rng), rng.standard_normal((700, 2)), 3000.0)
        x = sphere.uniform(dim, 900, rng)
        problem = Derivative.of(head, 2)
        frames = np.concatenate([tangent_frame(x), x[:, None]], axis=1)
        assert frames.shape == (900, dim + 1, dim + 1)
        many, few = moments_at(head, x, 0.01)[0], [moments_at(head, part, 0.01)[0] for part in np.split(x, 9)]
        for name in ("along", "second_order", "defect", "log_growth", "spread", "far", "noise"):
            expected = np.concatenate([getattr(part, name) for part in few])
            np.testing.assert_allclose(getattr(many, name), expected, rtol=1e-11, atol=1e-13 * np.abs(expected).max())
        parts = [problem.local(part, np.full(100, 0.01), 3) for part in np.split(x, 9)]
        whole = problem.local(x, np.full(900, 0.01), 3)
        for name in ("means", "firsts", "seconds", "thirds", "pairs", "sums"):
            expected = np.concatenate([getattr(part, name) for part in parts])
            np.testing.assert_allclose(getattr(whole, name), expected, rtol=1e-11, atol=1e-13 * np.abs(expected).max())

    def test_mean_angles_do_not_depend_on_groups_of_cells(self):
        b, x = sphere.uniform(2, 700, rng=0), sphere.uniform(2, 900, rng=1)
        problem, radii = MeanAngle(b, 3000.0), np.full(900, 0.005)
        sample = problem.sample(x)
        for quantile in (0.5, 0.9):
            bound = float(np.quantile(sample.errors, quantile))
            parts = [slice(i, i + 100) for i in range(0, 900, 100)]
            few = [problem.check(x[i], radii[i], sample._replace(errors=sample.errors[i]), bound, None) for i in parts]
            expected = np.concatenate([part.taylor for part in few])
            assert 50 < expected.sum() < 850
            np.testing.assert_array_equal(problem.check(x, radii, sample, bound, None).taylor, expected)


class TestRoundings:
    def test_the_slope_of_a_steep_head_is_off_by_the_noise_at_most(self):
        # exponents of 5e9: their difference has six digits
        angles, concentration, scale = (0.1, -0.1 - 3e-11), 1e12, []
        head = SplitHead(on_circle(*angles), [1.0, -1.0], concentration)
        found, _ = moments_at(head, on_circle(0.0), 1e-15)
        with mpmath.workdps(50):
            b = [[mpmath.mpf(float(t)) for t in row] for row in head.control_points]
            weights = [mpmath.exp(-concentration / 2 * ((row[0] - 1) ** 2 + row[1] ** 2)) for row in b]
            weights = [w / sum(weights) for w in weights]
            mean = weights[0] - weights[1]
            centre = sum(w * row[1] for w, row in zip(weights, b, strict=True))
            terms = [
                concentration * w * (v - mean) * (row[1] - centre)
                for w, v, row in zip(weights, (1, -1), b, strict=True)
            ]
            slope, scale = float(sum(terms)), float(sum(abs(term) for term in terms))
        off = abs(abs(found.along[0, 0, 0]) - abs(slope))
        assert 1e-11 * scale < off <= found.noise[0] * scale
