"""6.5 and 6.6: the allowances for roundings and remainders, each where it is needed and at the size that is stated."""

import math
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest

from spherapprox import CoreHead, SplitHead, Target, sphere
from spherapprox.error.certified import heads
from spherapprox.error.certified.derivatives import Derivative
from spherapprox.error.certified.function import known
from spherapprox.error.certified.heads import HeadError
from spherapprox.error.certified.riesz import Riesz
from spherapprox.error.certified.taylor import Terms, moments
from spherapprox.harmonics.forms import tangent_frame
from spherapprox.sphere.cells import Cells


def zero(dim, outputs=None):
    """The target 0."""
    shape = () if outputs is None else (outputs,)
    return known(Target(lambda x: np.zeros((len(x), *shape)), dim, degree=0, sup_norm=0.0))


class TestRiesz:
    def test_a_cell_passes_only_if_it_does_for_every_denominator_within_the_rounding(self):
        test, rounding = Riesz(10, 1e-9, 0.0, 0.1), 0.01
        axes = np.linspace(0.0, 0.15, 60), np.linspace(0.0, 0.99, 60), np.linspace(-0.7, 0.3, 61)
        radii, errors, log_sums = (grid.ravel() for grid in np.meshgrid(*axes))
        arguments = radii, errors, log_sums, np.zeros(len(radii)), 1.0
        by_bound = test.passed(*arguments, rounding)
        arguments = radii, errors, log_sums + np.log1p([[-rounding], [rounding]]), np.zeros(len(radii)), 1.0
        true = test.passed(*arguments, 0.0).all(axis=0)
        assert (by_bound <= true).all()
        assert by_bound.sum() > 0.98 * true.sum()

    def test_a_cell_passes_taylors_test_only_if_its_largest_denominator_is_below_the_constant(self):
        rounding, x, radii = 1e-3, np.eye(2, 3), np.full(2, 1e-3)
        problem = HeadError.of(SplitHead(x, [0.0, 0.1], 2.0), zero(2))
        sample = problem.sample(x)
        growth = moments(x, radii, tangent_frame(x), problem.terms, np.zeros(2), np.zeros((2, 1))).log_growth
        test = Riesz(10**6, 1e-9, float((sample.log_sums + growth).max()) + 0.5 * rounding, 0.1)
        for stated, passes in ((rounding, False), (0.4 * rounding, True)):
            found = problem.passed(x, radii, sample._replace(rounding=stated), 1.0, test)
            assert (found.taylor == passes).all()

    def test_no_denominator_falls_by_more_than_the_bound_from_a_logarithm_with_roundings(self):
        concentration, r, radius = 1e4, np.linspace(0.0, 0.03, 61)[:, None], np.linspace(1e-4, 0.03, 50)
        problem = HeadError.of(CoreHead(np.eye(1, 3), [1.0], concentration), zero(2))
        falls = 2.0 * concentration * np.sin(r + 0.5 * radius) * np.sin(0.5 * radius)
        for rounding in (-1e-6, 0.0, 1e-6):
            logs = rounding - 2.0 * concentration * np.sin(0.5 * r) ** 2
            bounds = problem._fall(radius, logs)
            assert (falls <= bounds).all()
            assert (bounds <= falls + 1.5e-2 * (radius * concentration**0.5) + 1e-3 * falls).all()


class TestLengths:
    @pytest.mark.parametrize("kind", [SplitHead, CoreHead])
    def test_exact_sums_at_the_centres_are_off_by_no_more_than_their_lengths_account_for(self, kind, monkeypatch):
        # the proof is of the head on the unit sphere, whose points are no floats
        x, b = Cells.cover(2, 3).located()[0], sphere.uniform(2, 5, rng=0)
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


class TestTargets:
    def test_values_in_single_precision_have_its_error(self):
        x = sphere.uniform(2, 2000, rng=0)
        target = Target(lambda x: x[:, 0].astype(np.float32), 2, degree=1, sup_norm=1.0)
        off = np.abs(target(x) - x[:, 0]).max()
        assert 1e-8 < off <= known(target).value_error < 1e-6

    def test_slopes_of_the_polynomial_know_its_remainder(self):
        jump = Target(lambda x: x[:, 0] + 1e-4 * np.sign(x[:, 1]), 2, degree=1, remainder=1e-4, sup_norm=1.0)
        x = sphere.uniform(2, 200, rng=0)
        frames = tangent_frame(x)
        got, error = known(jump).gradients(x, frames)
        assert 1e-3 < np.linalg.norm(got[:, 0] - frames[:, :, 0], axis=1).max() <= error < 0.1

    def test_slopes_are_off_in_all_directions_at_once(self):
        # what is added jumps across the plane whose normal is the sum of the frame
        dim = 16
        x = np.eye(1, dim + 1)
        frames = tangent_frame(x)
        normal = frames[0].sum(axis=0)
        noisy = Target(
            lambda x: 1e-9 * np.sign(x @ normal), dim, lipschitz=0.0, smoothness=1.0, third_derivative=1.0,
            sup_norm=1.0, accuracy=1e-9,
        )  # fmt: skip
        got, error = known(noisy).gradients(x, frames)
        assert 0.6 * error < np.linalg.norm(got) <= error

    def test_slopes_of_the_polynomial_are_above_those_of_the_target_s_size(self):
        # p = cos(n theta) is larger than f = 0.7 p
        n = 5
        wave = Target(
            lambda x: 0.7 * ((x[:, 0] + 1j * x[:, 1]) ** n).real, 1, degree=n, remainder=0.3, sup_norm=0.7
        )  # fmt: skip
        function = known(wave)
        for power, bound in enumerate((function.slope, function.curvature, function.third), 1):
            assert n**power * (1.0 - 1e-12) <= bound <= n**power * (1.0 + 1e-12)


class TestMoments:
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
