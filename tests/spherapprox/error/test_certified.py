import dataclasses
import math
import time

import numpy as np
import pytest
from cells import around
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox import (
    ClassicalHead,
    CoreHead,
    EqualMeasurePartition,
    SplitHead,
    Target,
    points,
    sphere,
    sup_error,
    targets,
)
from spherapprox.error import Proof, worst_case_error
from spherapprox.error.certified import Subspace, search
from spherapprox.error.certified.angles import MeanAngle
from spherapprox.error.certified.function import as_function
from spherapprox.error.certified.heads import HeadError
from spherapprox.sphere.cells import Cells
from spherapprox.summation import angle_mean

SEEDS = st.integers(0, 2**32 - 1)
FEW = settings(derandomize=True, deadline=None, max_examples=20)
OPTIONS = search.Options(2e5, 1, lambda state: None)


def nothing(dim, concentration=5.0):
    """A head that is 0 everywhere."""
    return SplitHead(sphere.uniform(dim, 20, rng=0), np.zeros(20), concentration)


def random_head(seed, largest=3.0, most=60):
    """A head with random control points, clustered or not, and random values."""
    rng = np.random.default_rng(seed)
    dim, n = int(rng.integers(1, 4)), int(rng.integers(1, most))
    b = sphere.uniform(dim, n, rng)
    if rng.integers(2):
        b = b[0] + 10.0 ** -rng.uniform(0, 3) * b
        b /= np.linalg.norm(b, axis=1, keepdims=True)
    values = rng.standard_normal((n, int(rng.integers(1, 3))))
    return (SplitHead, CoreHead)[rng.integers(2)](b, values, 10.0 ** rng.uniform(-2, largest)), rng


class TestCells:
    @pytest.mark.parametrize(("dim", "divisions"), [(1, 5), (2, 4), (3, 3), (4, 2)])
    def test_caps_about_the_centres_cover_the_sphere(self, dim, divisions):
        centers, radii = Cells.cover(dim, divisions).locate()
        x = sphere.uniform(dim, 4000, rng=1)
        angles = sphere.distance(
            x[:, None, :].repeat(len(centers), 1).reshape(-1, dim + 1), np.tile(centers, (4000, 1))
        )
        assert (angles.reshape(4000, -1) <= radii).any(axis=1).all()
        assert np.allclose(np.linalg.norm(centers, axis=1), 1.0, rtol=1e-15)

    def test_halves_lie_in_the_cap_of_their_cell(self):
        cells = Cells.cover(3, 3)
        (centers, radii), (halves, small) = cells.locate(), cells.halve().locate()
        parents = centers.repeat(8, axis=0)
        assert (sphere.distance(halves, parents) + 0.5 * small <= radii.repeat(8)).all()
        assert 0.45 * radii.max() <= small.max() <= 0.6 * radii.max()


class TestKnownSuprema:
    @pytest.mark.parametrize(("dim", "degree"), [(1, 6), (2, 5), (3, 3), (4, 1)])
    def test_the_supremum_of_a_harmonic_is_enclosed_and_nothing_below_it_proven(self, dim, degree):
        pole = sphere.uniform(dim, 1, rng=degree)[0]
        wave = dataclasses.replace(targets.zonal_harmonic(dim, degree, pole=pole), sup_norm=None)
        found = sup_error(nothing(dim), wave, certified=Proof(slack=0.02), n=2000)
        assert found.lower <= 1.0 + 1e-12 <= found.upper <= 1.02 * found.lower
        assert found.reason == ""
        problem = HeadError.of(nothing(dim), as_function(wave))
        assert not search.proves(problem, 0.999 / 1.001 / problem.unit, found.at, 0.3, OPTIONS)
        assert search.proves(problem, 1.1 / problem.unit, found.at, 0.3, OPTIONS)

    @pytest.mark.parametrize("kind", [SplitHead, CoreHead])
    def test_the_error_of_one_control_point_is_in_closed_form(self, kind):
        height = Target(lambda x: x[:, -1], 2, degree=1, sup_norm=1.0)
        found = sup_error(kind(np.array([[0.0, 0.0, 1.0]]), [1.0], 3.0), height, certified=Proof(slack=0.01))
        t = np.linspace(-1, 1, 400001)
        true = 2.0 if kind is SplitHead else np.abs(t - np.exp(3.0 * (t - 1.0))).max()
        assert true <= found.upper <= 1.0101 * true

    @pytest.mark.parametrize(("kind", "value"), [(CoreHead, 0.0), (SplitHead, 0.0), (SplitHead, 2.0)])
    @pytest.mark.parametrize("concentration", [1e4, 1e8, [1e8, 1.0]])
    def test_the_error_of_a_constant_head_is_that_of_the_constant(self, kind, value, concentration):
        kink = Target(lambda x: np.abs(x[:, 0]), 2, lipschitz=1.0, sup_norm=1.0)
        head = kind(np.eye(2, 3), [value, value], concentration)
        found = sup_error(head, kink, certified=Proof(max_evaluations=2000), n=1000)
        assert found.reason == ""
        assert max(value, 1.0) - 1e-12 <= found.upper <= 1.0501 * max(value, 1.0)

    def test_terms_of_sums_that_are_zero_do_not_matter(self):
        wave = targets.zonal_harmonic(2, 3)
        head, more = CoreHead([[0.0, 0.6, 0.8]], [1.0], 3.0), CoreHead(np.eye(2, 3), [0.0, 0.0], [1e8, 40.0])
        whole = CoreHead(
            np.concatenate([more.control_points, head.control_points]), [0.0, 0.0, 1.0], [1e8, 40.0, 3.0]
        )  # fmt: skip
        one, other = (sup_error(h, wave, points=np.eye(3), certified=True) for h in (head, whole))
        assert dict(one.certificate.cells) == dict(other.certificate.cells)
        assert other.upper == pytest.approx(one.upper, rel=1e-9)

    def test_the_mean_angle_of_two_poles_is_enclosed(self):
        poles = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])
        found = worst_case_error(poles, 30.0, certified=Proof(slack=0.01), n=500)
        assert math.pi / 2 - 1e-9 <= found.upper <= 1.01 * math.pi / 2
        assert not search.proves(MeanAngle(poles, 30.0), 0.999 / 1.001 * math.pi / 2, found.at, 0.1, OPTIONS)


class TestTests:
    @FEW
    @given(seed=SEEDS)
    def test_no_error_in_a_cell_that_passed_taylors_test_is_above_the_bound(self, seed):
        head, rng = random_head(seed)
        wave = targets.zonal_harmonic(head.dim, 3)
        target = Target(lambda x: np.outer(wave(x), np.ones(head.n_outputs)), head.dim, lipschitz=9.0, sup_norm=2.0)
        if rng.integers(2):
            target = dataclasses.replace(target, degree=3)
        problem = HeadError.of(head, as_function(target))
        x, radii = sphere.uniform(head.dim, 200, rng), 10.0 ** rng.uniform(-5, -0.3, 200)
        sample = problem.sample(x)
        for factor in (1.02, 1.5, 4.0):
            bound = factor * float(np.median(sample.errors))
            passed = problem.check(x, radii, sample, bound, None).taylor
            for i in np.flatnonzero(passed)[:10]:
                assert problem.sample(around(x[i], radii[i], 200, rng)).errors.max() <= bound * (1 + 1e-9)

    @FEW
    @given(seed=SEEDS)
    def test_no_mean_angle_in_a_cell_that_passed_is_above_the_bound(self, seed):
        head, rng = random_head(seed)
        problem = MeanAngle(np.array(head.control_points), head.concentration)
        x, radii = sphere.uniform(head.dim, 200, rng), 10.0 ** rng.uniform(-5, -0.3, 200)
        x[:20] = head.control_points[rng.integers(len(head), size=20)]
        sample = problem.sample(x)
        for factor in (1.01, 1.2, 2.0):
            bound = factor * float(np.median(sample.errors))
            passed = problem.check(x, radii, sample, bound, None).taylor
            for i in np.flatnonzero(passed)[:10]:
                near = around(x[i], radii[i], 200, rng)
                assert angle_mean(near, problem.b, problem.concentration).max() <= bound + 1e-7

    @FEW
    @given(seed=SEEDS)
    def test_upper_ends_are_at_or_above_brute_force(self, seed):
        head, rng = random_head(seed, largest=1.5, most=20)
        weights = rng.standard_normal((head.dim + 1, head.n_outputs))
        target = Target(lambda x: x @ weights, head.dim, degree=1)
        found = sup_error(head, target, certified=Proof(slack=0.2, max_evaluations=2e4), n=500)
        x = sphere.uniform(head.dim, 20_000, rng)
        assert np.linalg.norm(head(x) - target(x), axis=1).max() <= found.upper * (1 + 1e-12)
        assert found.lower <= found.upper

    def test_an_understated_error_is_met_and_the_search_begins_again(self):
        wave = targets.zonal_harmonic(2, 4)
        honest = sup_error(nothing(2), wave, certified=True)
        careless = sup_error(nothing(2), wave, points=[[0.6, 0.0, 0.8]], refine=0, certified=True)
        assert careless.lower > 0.999 * honest.lower
        assert careless.upper >= 1.0


class TestTargets:
    def test_kinks_jumps_and_vectors_are_certified(self):
        rows = points.fibonacci(200)
        some = [
            targets.distance(2),
            targets.bump(2),
            targets.random_smooth(2, 0.5, rng=0),
            targets.tangent_projection(2),
            Target(lambda x: x[:, 0] + 1e-5 * np.sign(x[:, 1]), 2, degree=1, remainder=1e-5, sup_norm=1.001),
        ]
        for target in some:
            found = sup_error(SplitHead.from_target(target, rows, 60.0), target, certified=Proof(slack=0.1), n=4000)
            assert found.lower <= found.upper <= 1.1 * found.lower, target.name

    def test_classical_and_single_precision_heads_have_the_bound_of_their_numbers(self):
        wave, rows = targets.zonal_harmonic(2, 3), points.fibonacci(100)
        split = SplitHead.from_target(wave, rows, 40.0)
        same = sup_error(ClassicalHead.from_head(split), wave, certified=True, n=2000)
        assert same.upper == sup_error(split, wave, certified=True, n=2000).upper
        single = SplitHead(split.control_points.astype(np.float32), split.values.astype(np.float32), 40.0)
        found = sup_error(single, wave, certified=True, n=2000)
        assert found.reason == ""
        assert found.upper == pytest.approx(same.upper, rel=1e-5)

    def test_a_sup_norm_that_is_not_stated_is_proven(self):
        wave = targets.zonal_harmonic(2, 3)
        assert 1.0 <= as_function(dataclasses.replace(wave, sup_norm=None)).size <= 1.1

    def test_constants_that_entered_are_named_with_their_origins(self):
        target = Target(lambda x: x[:, 2], 2, lipschitz=1.0, sup_norm=1.0, origins={"lipschitz": "estimated"})
        found = sup_error(nothing(2), target, certified=True, n=200)
        assert dict(found.certificate.constants) == {"lipschitz": "estimated", "sup_norm": "given"}
        assert found.certificate.estimated == ("lipschitz",)

    @pytest.mark.parametrize("target", [targets.land(), lambda x: x[:, 0]])
    def test_without_a_modulus_nothing_is_proven_and_the_reason_said(self, target):
        found = sup_error(nothing(2), target, certified=True, n=200)
        assert found.upper == math.inf
        assert "Target(" in found.reason


class TestSymmetry:
    def test_few_control_points_and_a_pole_are_certified_on_any_sphere(self):
        dim = 12
        bump = targets.bump(dim, 4.0)
        head = SplitHead(np.eye(3, dim + 1, dim - 2), [0.1, 0.2, 0.9], 6.0)
        found = sup_error(head, bump, certified=Proof(slack=0.02), n=2000)
        assert found.reason == ""
        assert found.lower <= found.upper <= 1.02 * found.lower
        assert np.abs(head(found.at[None]) - bump(found.at[None])) == pytest.approx(found.lower, rel=1e-9)
        x = sphere.uniform(dim, 20_000, rng=1)
        x[:, :-3] *= 10.0 ** np.random.default_rng(2).uniform(-3, 0, (20_000, 1))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        assert np.abs(head(x) - bump(x)).max() <= found.upper

    def test_the_mean_angle_to_two_points_needs_a_circle_alone(self):
        found = worst_case_error(np.eye(2, 9), 20.0, certified=Proof(slack=0.01), n=500)
        assert found.reason == ""
        assert found.upper <= 1.01 * found.lower
        assert found.certificate.evaluations < 1e5

    def test_the_span_may_be_off_however_large_the_exponents_are(self):
        # at the other axes all exponents are 1e12, and their differences are those of the parts off the span
        signs, x = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]), np.eye(4)[2:]
        b = np.eye(1, 4).repeat(4, axis=0)
        b[:, 2:] = signs * [9.5e-15, 9.8e-15]
        head, few = SplitHead(b, signs[:, 0], 1e12), Subspace.of(b)
        zero = as_function(Target(lambda x: 0.0 * x[:, 0], 1, degree=0))
        problem = dataclasses.replace(HeadError.of(head, zero), b=b @ few.basis, deviation=few.deviation)
        y = np.stack([few.inward(row) for row in x])
        changes = np.abs(problem.unit * problem.sums(y)[0][:, 0] - head(x))
        assert 1e-3 < changes.max() <= problem.unit * problem.sample(y).rounding


class TestOptions:
    def test_too_few_evaluations_give_a_larger_slack_and_the_reason(self):
        target = targets.random_bandlimited(3, 6, rng=0)
        head = SplitHead.from_target(target, EqualMeasurePartition(3, 100), 30.0)
        found = sup_error(head, target, certified=Proof(slack=0.01, max_evaluations=60_000), n=2000)
        assert found.certificate.slack > 0.01
        assert found.lower < found.upper < math.inf
        assert "max_evaluations" in found.reason

    def test_where_nothing_else_can_be_proven_the_suprema_add_up(self):
        target = targets.random_bandlimited(7, 2, rng=0)
        head = SplitHead(sphere.uniform(7, 50, rng=1), np.linspace(-1, 1, 50), 100.0)
        found = sup_error(head, target, certified=True, n=500)
        assert found.certificate.tests == ()
        assert found.upper == pytest.approx(target.sup_norm + 1.0, rel=1e-9)
        assert "S^7" in found.reason

    def test_few_points_are_looked_at_in_any_dimension(self):
        target = targets.random_bandlimited(10, 1, rng=0)
        begin = time.perf_counter()
        found = sup_error(SplitHead(sphere.uniform(10, 50, rng=1), np.ones(50), 100.0), target, certified=True, n=500)
        assert "S^10" in found.reason
        assert time.perf_counter() - begin < 60.0  # all coarse cells take minutes

    def test_the_result_is_the_same_for_any_number_of_threads(self):
        target = targets.geomagnetic_field(2025)
        head = SplitHead.from_target(target, points.fibonacci(300), 60.0)
        one, three = (sup_error(head, target, certified=True, n=2000, workers=workers) for workers in (1, 3))
        assert one.certificate == three.certificate
        assert one.lower == three.lower

    def test_an_interrupted_proof_goes_on_from_its_file(self, tmp_path):
        wave, path, calls = targets.zonal_harmonic(2, 8), tmp_path / "state.npz", []
        head = SplitHead.from_target(wave, points.fibonacci(400), 300.0)

        def function(x):
            calls.append(len(x))
            if len(calls) == stop:
                raise KeyboardInterrupt
            return wave(x)

        target = dataclasses.replace(wave, function=function, name="wave")
        options = {"n": 2000, "workers": 1, "certified": Proof(slack=0.01, checkpoint=path)}
        stop = 0
        whole, total = sup_error(head, target, n=2000, workers=1, certified=Proof(slack=0.01)), len(calls)
        calls.clear()
        stop = total - 2
        with pytest.raises(KeyboardInterrupt):
            sup_error(head, target, **options)
        assert path.exists()
        with pytest.raises(ValueError, match="'checkpoint' must be the file of this search"):
            sup_error(head, target, **options | {"certified": Proof(slack=0.02, checkpoint=path)})
        calls.clear()
        stop = 0
        again = sup_error(head, target, **options)
        assert again.certificate == whole.certificate
        assert len(calls) < total - 2
        assert not path.exists()


@pytest.mark.parametrize(
    "false",
    [{"lipschitz": 0.0}, {"lipschitz": 2.5}, {"lipschitz": 9.0, "sup_norm": 0.5}, {"degree": 4},
     {"lipschitz": 9.0, "smoothness": 1.0}, {"lipschitz": 9.0, "third_derivative": 1.0}],
)  # fmt: skip
def test_nothing_is_proven_from_constants_that_values_refute(false):
    target = Target(lambda x: np.sin(3.0 * x[:, 0]) + x[:, 1] * x[:, 2], 2, **false)
    head = SplitHead.from_target(target, EqualMeasurePartition(2, 100), 30.0)
    found = sup_error(head, target, certified=Proof(slack=1.0), n=1000)
    assert found.upper == math.inf
    assert list(false)[-1] in found.reason
    assert not found.certificate.proven
