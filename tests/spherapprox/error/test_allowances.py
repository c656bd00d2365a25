"""6.5 and 6.6: the allowances for roundings and remainders, each where it is needed and at the size that is stated."""

import dataclasses
import math
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from cells import passes, zero

from spherapprox import CoreHead, SplitHead, Target, sphere
from spherapprox._kernels.error import moments as kernels
from spherapprox.error.certified import Subspace, heads
from spherapprox.error.certified.angles import MeanAngle
from spherapprox.error.certified.changes import slope_bound
from spherapprox.error.certified.derivatives import Derivative
from spherapprox.error.certified.function import as_function
from spherapprox.error.certified.heads import HeadError
from spherapprox.error.certified.taylor import Terms, moments
from spherapprox.harmonics.forms import tangent_frame
from spherapprox.sphere.cells import Cells


class TestLengths:
    @pytest.mark.parametrize("concentration", [0.0, 10.0])
    def test_mean_angles_of_nearly_opposite_points_are_within_their_rounding(self, concentration):
        t, b = 10.0 ** np.linspace(-9.0, -6.0, 40), np.array([[-1.0, 0.0]])
        sample = MeanAngle(b, concentration).sample(np.stack([np.cos(t), np.sin(t)], axis=1))
        off = np.abs(sample.errors - (math.pi - t))
        assert 1e-11 < off.max() <= sample.rounding

    def test_rows_in_the_coordinates_of_their_span_are_off_by_what_is_said(self):
        rng = np.random.default_rng(0)
        for _ in range(20):
            rows = sphere.uniform(3, 6, rng) @ np.linalg.qr(rng.standard_normal((12, 4)))[0].T
            few = Subspace.of(rows)
            with mpmath.workdps(30):
                basis = mpmath.matrix(few.basis.tolist())
                for row, inner in zip(rows, rows @ few.basis, strict=True):
                    off = mpmath.norm(mpmath.matrix(row.tolist()) - basis * mpmath.matrix(inner.tolist()))
                    assert off <= few.deviation

    @pytest.mark.parametrize("kind", [SplitHead, CoreHead])
    def test_exact_sums_at_the_centres_are_off_by_no_more_than_their_lengths_account_for(self, kind, monkeypatch):
        # the proof is of the head on the unit sphere, whose points are no floats
        x, b = Cells.cover(2, 3).locate()[0], sphere.uniform(2, 5, rng=0)
        values, concentration, worst = np.array([1.0, -1.0, 0.5, 0.25, -0.75]), 60.0, 0.0

        def terms(row, length):
            off = [sum((a / length - t) ** 2 for a, t in zip(row, other, strict=True)) for other in rows]
            return [mpmath.exp(-concentration / 2 * t) for t in off]

        def evaluated(problem, wish, silent):
            found = [terms([mpmath.mpf(float(t)) for t in row], 1) for row in problem.x]
            sums = [[float(sum(v * k for v, k in zip(problem.values[:, 0], row, strict=True)))] for row in found]
            state = SimpleNamespace(numerators=np.array(sums), denominator=np.array([float(sum(r)) for r in found]))
            state.shift = np.zeros(len(found))
            return state, SimpleNamespace(rtol=0.0)

        monkeypatch.setattr(heads, "evaluated", evaluated)
        problem = HeadError.of(kind(b, values, concentration), zero(2))
        with mpmath.workdps(40):
            rows = [[mpmath.mpf(float(t)) for t in row] for row in b]
            got, log_sums, error = problem.sums(x)
            for i, floats in enumerate(x):
                row = [mpmath.mpf(float(t)) for t in floats]
                weights = terms(row, mpmath.sqrt(sum(t * t for t in row)))
                total = sum(weights) if kind is SplitHead else 1
                true = sum(v * k for v, k in zip(values, weights, strict=True)) / total
                worst = max(worst, abs(float(true - problem.unit * mpmath.mpf(float(got[i, 0])))) / problem.total)
                worst = max(worst, abs(float(mpmath.log(total) - mpmath.mpf(float(log_sums[i])))))
        assert 1e-17 < worst <= error


class TestMoments:
    def test_a_denominator_grows_where_all_terms_are_behind(self):
        concentration, radius, x = 5.0, np.array([0.3]), -np.eye(1, 3)
        terms = HeadError.of(SplitHead(np.eye(3), [1.0, 2.0, 3.0], concentration), zero(2)).terms
        one = Terms(terms.rows[:1], np.ascontiguousarray(terms.columns[:, :1]), terms.values[:1], concentration, True)
        growth = moments(x, radius, tangent_frame(x), one, np.zeros(1), np.zeros((1, 1))).log_growth[0]
        true = concentration * (1.0 - math.cos(radius[0]))
        assert true <= growth <= true * (1.0 + 1e-6)

    def test_terms_that_are_left_out_have_their_share_of_far_weights(self):
        # on the rim their weight is e^-44
        radius, concentration = 1e-4, 1e5
        angle = next(t for t in np.linspace(0.01, 0.1, 2000) if concentration * (math.cos(radius) - math.cos(t)) > 44.0)
        b = np.array([[1.0, 0.0], [math.cos(angle + radius), math.sin(angle + radius)]])
        terms, x = Terms(b, np.ascontiguousarray(b.T), np.array([[0.0], [1.0]]), concentration, True), b[:1]
        found = moments(x, np.array([radius]), tangent_frame(x), terms, np.zeros(1), np.zeros((1, 1)))
        assert np.exp(-45.0) < found.far[0] < 1e-11

    def test_roundings_of_moments_are_in_the_bound_of_a_cell(self):
        head = SplitHead(np.array([[math.cos(0.1), math.sin(0.1)], [math.cos(0.1), -math.sin(0.1)]]), [1.0, -1.0], 1e9)
        problem, x, radii = HeadError.of(head, zero(1)), np.eye(1, 2), np.array([1e-15])
        sample = problem.sample(x)._replace(rounding=0.0)
        found = moments(x, radii, tangent_frame(x), problem.terms, sample.errors, np.zeros((1, 1)))
        bound = (sample.errors + found.first_order(radii) + found.second_order)[0]
        assert 1e-7 < found.noise[0] < 1e-3
        assert not problem.check(x, radii, sample, bound + 0.99 * found.noise[0] * problem.total, None).taylor[0]
        assert problem.check(x, radii, sample, bound + 1.01 * found.noise[0] * problem.total, None).taylor[0]

    def test_no_cell_passes_by_numbers_that_are_none(self, monkeypatch):
        head, x, radii = SplitHead(np.eye(3), [0.0, 0.1, 0.2], 3.0), np.eye(3), np.full(3, 1e-3)
        problem, angles = HeadError.of(head, zero(2)), MeanAngle(np.eye(3), 3.0)
        sample = angles.sample(x)
        assert angles.check(x, radii, sample, 3.0, None).taylor.all()
        lost = sample._replace(errors=np.full(3, math.nan))
        assert not angles.check(x, radii, lost, 3.0, None).taylor.any()
        sample = problem.sample(x)
        whole = moments(x, radii, tangent_frame(x), problem.terms, np.zeros(3), np.zeros((3, 1)))
        assert problem.check(x, radii, sample, 1.0, None).taylor.all()
        none = dataclasses.replace(whole, second_order=np.full(3, math.nan), spread=np.full(3, math.nan))
        monkeypatch.setattr(heads.taylor, "moments", lambda *_, **__: none)
        assert not problem.check(x, radii, sample, 1.0, None).taylor.any()

    def test_far_values_count_with_the_targets_own_size(self):
        # at the rim the weight of the far point is e^-14, and its value off by 2e5
        radius, concentration = 1e-3, 1e5
        far = next(t for t in np.linspace(0.01, 0.1, 2000) if concentration * (math.cos(radius) - math.cos(t)) > 14.0)
        angles = np.array([0.0, 1e-9, far + radius])
        head = SplitHead(np.stack([np.cos(angles), np.sin(angles)], axis=1), [-1e5, -1e5, 1e5], concentration)
        low = as_function(Target(lambda x: np.full(len(x), -1e5), 1, degree=0, accuracy=1e-16))
        problem, x, rim = HeadError.of(head, low), np.eye(1, 2), np.array([[math.cos(radius), math.sin(radius)]])
        actual = float(head(rim)[0]) + 1e5
        assert actual > 0.05
        assert not passes(problem, x, radius, 0.99 * actual, rounding=0.0)

    @pytest.mark.parametrize("y", [1e-9, 1e-4, 9.9e-3, 1.1e-2, 1.0, 30.0])
    def test_growths_are_bounded_from_above(self, y):
        with mpmath.workdps(40):
            first = mpmath.exp(-3) * mpmath.expm1(mpmath.mpf(y))
            true = first, first - mpmath.exp(-3) * mpmath.mpf(y)
            for bound, exact in zip(kernels.bound_growth(math.exp(-3.0), 3.0, y), true, strict=True):
                assert exact * (1 - 1e-11) <= bound <= exact * (1 + 1e-2)

    @pytest.mark.parametrize("normalize", [False, True])
    def test_all_terms_above_the_cut_in_some_point_of_a_cell_are_listed(self, normalize):
        rng, rate, most, chord = np.random.default_rng(0), 500.0, 10.0, 0.2
        for c in sphere.uniform(2, 20, rng):
            rows = np.concatenate([sphere.uniform(2, 3000, rng), sphere.uniform(2, 1, rng)])
            squares, near, origin = np.square(rows - c).sum(axis=1), np.empty(3001, int), np.empty(3)
            results = near, np.empty(3001), origin
            count, least, _ = kernels.list_near(c, rows, squares, rate, chord, most, normalize, *results)
            lowest = rate * (squares - least) - 2.0 * rate * chord * np.linalg.norm(rows - origin, axis=1)
            assert set(np.flatnonzero(lowest <= most)) <= set(near[:count]) != set(range(3001))

    def test_terms_of_opposite_heights_do_not_cancel_in_the_sum_of_absolute_ones(self):
        # kappa of 6.6 bounds the third moments with one index along the centre
        rng = np.random.default_rng(0)
        for kind in (SplitHead, CoreHead):
            x = sphere.uniform(2, 30, rng)
            problem = Derivative.of(kind(sphere.uniform(2, 4, rng), rng.standard_normal(4), 0.5), 2)
            local = problem.local(x, np.full(30, 0.1), 3)
            weights = np.exp(0.5 * (x @ problem.b.T - 1.0))  # (n, N)
            weights /= weights.sum(axis=1, keepdims=True) if kind is SplitHead else 1.0
            origins = weights @ problem.b if kind is SplitHead else x
            mean = weights @ problem.values if kind is SplitHead else np.zeros((30, 1))
            z = problem.b - origins[:, None]  # (n, N, d)
            heights = np.einsum("nkd,nd->nk", z, x)
            sizes = weights * np.abs(problem.values[:, 0] - mean)
            tensors = np.einsum("nk,nk,nki,nkj->nij", weights * (problem.values[:, 0] - mean), heights, z, z)
            assert (np.linalg.norm(tensors, axis=(1, 2)) <= local.sums[:, 10] * (1.0 + 1e-12)).all()
            kappa = (sizes * np.square(z).sum(axis=2) * np.abs(heights)).sum(axis=1)
            np.testing.assert_allclose(local.sums[:, 10], kappa, rtol=1e-10)

    def test_growths_of_distant_terms_know_their_roundings(self):
        # exponents of 1e9, all but a few units of which the growth takes back
        concentration, seen = 1e13, 0.0
        for angle in np.linspace(0.01, 0.02, 40):
            b = np.array([[1.0, 0.0], [math.cos(angle), math.sin(angle)]])
            chord = 0.5 * math.hypot(*(b[1] - b[0])) - 1e-15
            terms = Terms(b, np.ascontiguousarray(b.T), np.array([[0.0], [1.0]]), concentration, True)
            slopes, origins, sums = np.empty((1, 1, 2)), np.empty((1, 2)), np.empty((1, 5))
            terms.add_moments(b[:1], np.array([chord]), slice(None), [np.zeros((1, 1))], [slopes, origins, sums])
            with mpmath.workdps(40):
                gap = sum((mpmath.mpf(float(s)) - mpmath.mpf(float(t))) ** 2 for s, t in zip(*b, strict=True))
                true = mpmath.exp(concentration * (chord * mpmath.sqrt(gap) - gap / 2))
            off = abs(float(true / mpmath.mpf(float(sums[0, 1])) - 1))
            assert off <= 1e-9 + 8.0 * sums[0, 4]
            seen = max(seen, off)
        assert seen > 1e-8

    def test_terms_that_are_left_out_have_their_share_in_the_change_of_slopes(self):
        # 6.6, omitted: 6 lambda omega (1 + lambda q)
        concentration, radius, angles = 1e4, 0.03, np.array([0.0, 0.15])
        b, x = np.stack([np.cos(angles), np.sin(angles)], axis=1), np.eye(1, 2)
        problem = Derivative.of(SplitHead(b, [0.0, 0.5], concentration), 1)
        assert problem.sample(x).errors == 0.0
        share = 6.0 * math.exp(-30.0) * concentration * radius
        assert not passes(problem, x, radius, share * problem.unit, rounding=0.0)
        assert passes(problem, x, radius, 1e-8 * problem.unit, rounding=0.0)

    def test_slopes_of_long_keys_are_off_by_the_noise_at_most(self):
        # exponents of 5e9
        angles, concentrations, seen = np.array([0.1, -0.1]), np.array([1e12, 1e12 + 3.0]), 0.0
        b = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        for tilt in np.linspace(-3e-13, 3e-13, 9):
            x = np.array([[math.cos(tilt), math.sin(tilt)]])
            terms = Terms(
                concentrations[:, None] * b, np.ascontiguousarray(b.T), np.array([[1.0], [-1.0]]), 1e12 + 3.0, True,
                concentrations,
            )  # fmt: skip
            found = moments(x, np.array([1e-15]), tangent_frame(x), terms, np.zeros(1), np.zeros((1, 1)))
            with mpmath.workdps(50):
                c, rows = [mpmath.mpf(float(t)) for t in x[0]], [[mpmath.mpf(float(t)) for t in row] for row in b]
                rates = [mpmath.mpf(float(t)) for t in concentrations]
                logits = [
                    rate - rate / 2 * sum((s - t) ** 2 for s, t in zip(c, row, strict=True))
                    for rate, row in zip(rates, rows, strict=True)
                ]
                light = 1 / (1 + mpmath.exp(logits[0] - logits[1]))
                across = [rate * (row[1] * c[0] - row[0] * c[1]) for rate, row in zip(rates, rows, strict=True)]
                slope = float(2 * light * (1 - light) * abs(across[0] - across[1]))
            scale, off = 2.0 * slope, abs(abs(found.along[0, 0, 0]) - slope)
            assert off <= found.noise[0] * scale
            seen = max(seen, off / scale)
        assert seen > 1e-10

    def test_roundings_of_slopes_are_in_their_error_and_in_the_change(self):
        concentration, b = 1e9, np.array([[math.cos(0.1), math.sin(0.1)], [math.cos(0.1), -math.sin(0.1)]])
        problem, x, radii = Derivative.of(SplitHead(b, [1.0, -1.0], concentration), 1), np.eye(1, 2), np.array([1e-15])
        sample, local = problem.sample(x), problem.local(x, radii, 2)
        share = (8.0 * local.noise * local.terms(1))[0]
        assert share > 1e3 * problem.floor
        assert sample.rounding >= share
        for factor in (1.99, 2.1):
            bound = float(sample.errors[0]) + factor * share + slope_bound(local)[0]
            assert passes(problem, x, 1e-15, bound * problem.unit, rounding=0.0) == (factor > 2.0)
