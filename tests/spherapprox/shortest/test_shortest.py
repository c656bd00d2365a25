"""The fewest tokens: derivatives, exact recovery, reference lengths, and complaints."""

import functools
import time

import numpy as np
import pytest
import searches

from spherapprox import (
    ClassicalHead,
    CoreHead,
    EqualMeasurePartition,
    SplitHead,
    Target,
    load,
    shortest_head,
    sphere,
    sup_error,
    targets,
)
from spherapprox.fitting import growth
from spherapprox.fitting.descent import descend_keys
from spherapprox.fitting.projection import Samples, fit_tokens, normal_equations, solve_values
from spherapprox.fitting.sup import Judge, minimax, round_to
from spherapprox.fitting.tokens import Tokens, tangent_frames
from spherapprox.shortest import SearchOptions, fixed
from spherapprox.shortest.candidate import Candidate, Goal, polish_tokens
from spherapprox.shortest.session import Session

FIELD = targets.geomagnetic_field(2025.0)
search = functools.partial(searches.search, lower=False)


def random_tokens(dim, n, outputs, normalize, unit, seed=0):
    rng = np.random.default_rng(seed)
    lengths = 3.0 if unit else rng.uniform(0.5, 6.0, (n, 1))
    return Tokens(lengths * sphere.uniform(dim, n, rng), rng.standard_normal((n, outputs)), normalize, unit)


@pytest.mark.parametrize("dim", [1, 2, 5])
@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("normalize", [True, False])
class TestTokens:
    def test_the_jacobian_is_that_of_differences(self, dim, unit, normalize):
        tokens, x = random_tokens(dim, 4, 2, normalize, unit), sphere.uniform(dim, 30, rng=1)
        step = 1e-6
        for column in range(2):
            got = tokens.jacobian(x, tokens.matrix(x), column)
            for i, direction in enumerate(np.eye(tokens.parameters)):
                ahead, behind = tokens.move(step * direction), tokens.move(-step * direction)
                expected = (ahead(x) - behind(x))[:, column] / (2.0 * step)
                np.testing.assert_allclose(got[:, i], expected, atol=1e-8)

    def test_the_function_is_that_of_the_head(self, dim, unit, normalize):
        if unit:
            tokens, x = random_tokens(dim, 5, 2, normalize, unit), sphere.uniform(dim, 40, rng=1)
            head = (SplitHead if normalize else CoreHead)(tokens.keys / 3.0, tokens.values, 3.0)
            np.testing.assert_allclose(tokens(x), head(x), rtol=1e-12, atol=1e-14)

    def test_the_gradient_is_that_of_the_projected_squares(self, dim, unit, normalize):
        rng = np.random.default_rng(2)
        x = sphere.uniform(dim, 80, rng)
        samples = Samples(x, rng.standard_normal((80, 2)), rng.uniform(0.5, 1.5, 80))
        tokens = random_tokens(dim, 3, 2, normalize, unit)
        found = solve_values(tokens, samples, 1e-3)
        _, right = normal_equations(found, samples)
        for i, direction in enumerate(np.eye(tokens.parameters)):
            steps = (found.tokens.move(s * direction) for s in (1e-6, -1e-6))
            ahead, behind = (solve_values(step, samples, 1e-3).square for step in steps)
            assert -2.0 * right[i] == pytest.approx((ahead - behind) / 2e-6, abs=1e-7)

    def test_a_head_of_as_many_tokens_is_found_again(self, dim, unit, normalize):
        tokens, x = random_tokens(dim, 2, 1, normalize, unit, seed=3), sphere.uniform(dim, 400, rng=1)
        start = Tokens(tokens.keys + 0.05 * np.random.default_rng(4).standard_normal(tokens.keys.shape), tokens.values,
                       normalize, False)  # fmt: skip
        if unit:
            start = Tokens(2.5 * start.keys / start.lengths[:, None], tokens.values, normalize, True)
        found = fit_tokens(start, Samples.of(x, tokens(x)), 0.0, 100, tolerance=1e-12)
        assert np.abs(found(x) - tokens(x)).max() < 1e-7

    def test_both_ways_of_fitting_lower_the_squares(self, dim, unit, normalize):
        x = sphere.uniform(dim, 300, rng=1)
        samples = Samples.of(x, np.stack([x[:, 0] ** 2, np.sin(2.0 * x[:, 1])], axis=1))
        start = growth.equal_measure(dim, 6, 2, normalize=normalize, unit=unit)
        first, second = (method(start, samples, 1e-4, 300) for method in (fit_tokens, descend_keys))
        again = descend_keys(first, samples, 1e-4, 10)
        squares = [solve_values(tokens, samples, 1e-4).square for tokens in (start, first, second, again)]
        assert squares[1] < 0.9 * squares[0]
        assert squares[2] < 0.9 * squares[0]
        assert squares[3] == pytest.approx(squares[1], rel=0.1)


def test_frames_are_orthonormal_and_tangent():
    b = np.concatenate([sphere.uniform(3, 50, rng=0), np.eye(4), -np.eye(4)])
    frames = tangent_frames(b)
    np.testing.assert_allclose(frames @ frames.transpose(0, 2, 1), np.broadcast_to(np.eye(3), (58, 3, 3)), atol=1e-14)
    np.testing.assert_allclose(np.einsum("nmd,nd->nm", frames, b), 0.0, atol=1e-14)


def test_dependent_columns_have_values_of_least_size():
    x = sphere.uniform(2, 100, rng=0)
    twice = Tokens(np.repeat(3.0 * np.eye(3)[:1], 2, axis=0), np.zeros((2, 1)), False, True)
    found = solve_values(twice, Samples.of(x, twice.matrix(x)[:, :1]), 0.0).tokens
    np.testing.assert_allclose(found.values, 0.5, rtol=1e-10)


def test_weights_of_lawson_lower_the_largest_error():
    x = sphere.uniform(2, 1500, rng=0)
    samples = Samples.of(x, FIELD(x)[:, None] / FIELD.sup_norm)
    plain = fit_tokens(growth.equal_measure(2, 12, 1, normalize=True, unit=True), samples, 1e-10, 60)
    judge = Judge(samples, samples)
    better, least = minimax(plain, judge, 1e-10)
    assert least == judge(better, 1e-10) < 0.95 * judge(plain, 1e-10)
    staying, less = minimax(plain, judge, 1e-10, moving=False)
    assert np.array_equal(staying.keys, plain.keys)
    assert least < less < judge(plain, 1e-10)
    _, polish = polish_tokens(better, judge, 1e-10)
    assert polish < 0.995 * least


def test_pruning_drops_the_token_without_use_and_insertion_goes_where_the_error_is():
    x = sphere.uniform(2, 600, rng=0)
    tokens = random_tokens(2, 4, 1, False, True, seed=5)
    samples = Samples.of(x, tokens.take(np.array([0, 1, 3]))(x))
    solved_once = solve_values(tokens, samples, 1e-12).tokens
    np.testing.assert_allclose(growth.prune_tokens(solved_once, samples, 1, 1e-12).keys, tokens.keys[[0, 1, 3]])
    more = growth.insert_tokens(tokens, samples, 2)
    at = int(np.abs(tokens(x) - samples.y).argmax())
    np.testing.assert_allclose(more.keys[4] / more.lengths[4], x[at], atol=1e-12)
    assert more.keys[5] @ more.keys[4] < 0.99 * more.lengths[4] ** 2


class TestShortestHead:
    @pytest.mark.once
    @pytest.mark.parametrize(("eps", "kind", "most"), [(0.1, "core", 9), (0.1, "split", 8)])
    def test_the_field_takes_few_tokens(self, eps, kind, most):  # 6 and 5 in the reference, where 100 take values
        found = shortest_head(FIELD, eps, kind, relative=True)
        assert found.reached
        assert 1 < found.lower <= found.n <= most
        assert 0.99 * sup_error(found.head, FIELD).lower <= found.error.lower
        assert found.error.lower <= found.eps <= eps * FIELD.sup_norm * (1.0 + 1e-14)
        assert found.eps >= 0.99 * eps * FIELD.sup_norm  # of a value that is taken, and the bound exceeds it
        assert 1 <= found.failed[0] < found.n
        assert found.failed[1] >= 4
        assert next(row.n for row in found.history if row.lower <= found.eps) == found.n
        assert str(found.n) in found.table()

    @pytest.mark.parametrize("stated", [None, 1.01, 25.0])
    def test_a_relative_error_is_one_of_a_value_that_is_taken(self, stated, recwarn):
        height = Target(lambda x: x[:, 0], 1, sup_norm=stated)
        found = search(height, 0.1, "core", relative=True, starts=1)
        assert found.eps == pytest.approx(0.1, rel=1e-9)
        assert found.error.lower <= 0.1
        warned = [str(warning.message) for warning in recwarn]
        assert [text[:35] for text in warned] == (["'target' states sup_norm=25, and no"] if stated == 25.0 else [])

    @pytest.mark.parametrize(
        ("kernel", "eps", "concentration", "rel"),
        [
            (targets.bump(2, 7.0), 1e-9, 7.0, 1e-6),
            (CoreHead([[0.48, 0.6, 0.64]], [3.0], 2000.0).__call__, 1e-3, 2000.0, 1e-3),
        ],
    )
    def test_a_kernel_is_one_token(self, kernel, eps, concentration, rel):
        found = search(kernel, eps, "core", dim=2)
        assert (found.n, found.failed) == (1, (0, 0))
        assert found.head.concentration == pytest.approx(concentration, rel=rel)

    @pytest.mark.parametrize("kind", ["core", "split"])
    def test_what_varies_by_less_than_twice_eps_takes_one_token(self, kind):
        found = search(lambda x: 5.0 + 0.1 * x[:, 0], 0.11, kind, dim=2)
        assert found.n == 1
        assert found.reached

    @pytest.mark.parametrize("size", [0.0, 1e-200, 1.0, 1e200])
    def test_targets_may_have_any_size(self, size):
        found = search(lambda x: size * x[:, 0], (size or 1.0) * 1e-2, "core", dim=1)
        assert found.reached
        assert found.n == (2 if size else 1)  # a kernel less its antipode is nearly linear
        assert found.history[-1].largest_value < np.inf

    def test_vectors_on_the_circle_and_the_same_seed(self):
        turn = targets.rotation_field(1)
        first, second = (search(turn, 0.05, "split", rng=3) for _ in range(2))
        assert first.head.values.shape == (first.n, 2)
        assert first.head == second.head
        assert first.reached
        assert first.row.numbers == first.n * (1 + 2) + 1  # an angle and a value for each token

    def test_eps_is_proven_where_errors_are_roundings(self):
        found = search(targets.bump(2), 1e-6, "core", certified=True)
        assert found.error.lower < 1e-12
        assert found.error.upper <= 1e-6
        assert found.notes == ()
        assert found.pick(1, targets.bump(2), certified=True).error.upper <= 1e-6

    def test_a_bound_above_what_was_found_blames_what_was_stated(self, monkeypatch):
        monkeypatch.setattr("spherapprox.shortest.api.refuse_refuted", lambda target: None)
        head = CoreHead([[0.6, 0.8]], [1.0], 60.0)
        with pytest.raises(ValueError, match="with degree=6: a head of 1 tokens within eps = 1e-06 was found"):
            shortest_head(Target(head, 1, degree=6), 1e-6, "core")

    @pytest.mark.parametrize("eps", [0.3, 0.15])
    @pytest.mark.parametrize("degree", [2, pytest.param(3, marks=pytest.mark.once)])
    def test_every_error_was_seen_at_its_point(self, degree, eps):
        wave = targets.zonal_harmonic(2, degree)
        found = search(wave, eps, "core", starts=1)
        for row in found.history:
            error = abs(row.head(row.at[None]) - wave(row.at[None]))[0]
            assert row.lower == pytest.approx(error, rel=1e-9)

    def test_an_error_between_the_samples_is_recorded_with_its_point(self):
        tokens, x = random_tokens(2, 3, 1, False, True), sphere.uniform(2, 40, rng=1)
        few = Samples.of(x, np.zeros((len(x), 1)))
        many = sphere.uniform(2, 4000, rng=2)
        at = many[int(np.abs(tokens(many)).argmax())]
        error = float(np.abs(tokens(at[None]))[0, 0])
        goal = Goal(len, 2, 1.0, False, unit=True, ridge=0.0, max_tokens=3, starts=1, seed=0, size=2.0)
        session = Session(goal, True, "", progress=False, checkpoint=None)
        row = session._rung(Candidate(tokens, 0.0, error, at=at), judge=Judge(few, few))
        assert 2.0 * np.abs(tokens(x)).max() < row.lower == 2.0 * error
        assert np.array_equal(row.at, at)

    def test_every_row_within_eps_was_searched_between_the_samples(self):
        peaks = Target(lambda x: np.exp(-20.0 * (1.0 - x[:, 0])) + np.exp(-20.0 * (1.0 + x[:, 1])), 4)
        found = search(peaks, 0.2, "core", max_tokens=6, starts=1)  # samples of S^4 miss a fifth of the error
        within = [row for row in found.history if row.lower <= 0.2]
        assert len(within) > 1
        assert all(row.lower >= 0.95 * sup_error(row.head, peaks).lower for row in within)

    def test_what_is_not_reached_is_said(self):
        with pytest.warns(RuntimeWarning, match="no head within eps = 1e-06 was found"):
            found = search(targets.zonal_harmonic(2, 4), 1e-6, "split", max_tokens=4, starts=1)
        assert not found.reached
        assert found.failed == (0, 0)
        assert found.notes[0] in str(found)

    def test_peaks_between_the_samples_join_them(self):
        cone = targets.distance(4)  # few of 15000 points on S^4 come near to its kinks
        found = search(cone, 0.2, "split", max_tokens=10, starts=2)
        assert found.reached
        assert sup_error(found.head, cone).lower <= 0.2


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    path = tmp_path_factory.mktemp("shortest") / "checkpoint.npz"
    return search(FIELD, 0.1, relative=True, keys="free", starts=2, checkpoint=path), path


class TestOptions:
    @pytest.mark.once
    def test_free_keys_take_few_tokens(self, searched):
        cores = (search(FIELD, eps, "core", keys="free", relative=True, starts=2) for eps in (0.1, 0.03))
        for found, most in zip((searched[0], *cores), (8, 6, 13), strict=True):
            assert found.reached
            assert found.n <= most
            assert found.head.concentration.shape == (found.n,)
            assert sup_error(found.head, FIELD).lower <= found.eps
            assert found.row.numbers == 4 * found.n

    def test_free_keys_are_proven_on_the_circle(self):
        found = search(targets.random_bandlimited(1, 3, rng=0), 0.05, keys="free", relative=True, certified=True)
        assert found.error.lower <= found.error.upper <= found.eps
        assert "proven" in found.table()

    def test_the_mean_square_may_be_all_that_is_small(self):
        found = search(FIELD, 0.03, relative=True, norm="rms")
        x = EqualMeasurePartition(2, 20_000).centers()
        rms = np.sqrt(np.square(found.head(x) - FIELD(x)).mean())
        assert found.reached
        assert found.row.rms <= found.eps < found.error.lower
        assert rms == pytest.approx(found.row.rms, rel=0.02)

    @pytest.mark.parametrize("kind", ["core", pytest.param("split", marks=pytest.mark.once)])
    def test_values_stay_within_their_bound(self, kind):
        free, found = (
            search(FIELD, 0.2, kind, relative=True, starts=2, value_bound=bound) for bound in (None, FIELD.sup_norm)
        )
        assert found.reached
        assert np.abs(found.head.values).max() <= FIELD.sup_norm < free.row.largest_value

    def test_averages_of_small_values_reach_nothing(self):
        with pytest.warns(RuntimeWarning, match="'value_bound' stay 0.5 below the .* no head within eps"):
            found = search(lambda x: x[:, 0], 0.05, "split", dim=1, value_bound=0.5, starts=1)
        assert np.abs(found.head.values).max() <= 0.5
        assert max(row.n for row in found.history) <= 4

    @pytest.mark.parametrize(("dtype", "digits"), [("float16", 11), ("bfloat16", 8)])
    def test_tokens_are_numbers_of_16_bits(self, dtype, digits):
        found = search(FIELD, 0.2, relative=True, dtype=dtype, starts=1)
        assert found.reached
        prefix = ClassicalHead.from_head(found.head).prefix
        stored = round_to(prefix, dtype)
        np.testing.assert_allclose(prefix, stored, rtol=1e-15)
        scaled = np.ldexp(stored, digits - np.frexp(stored)[1])
        assert np.array_equal(scaled, np.rint(scaled))
        assert sup_error(found.head, FIELD).lower <= found.eps

    @pytest.mark.once
    def test_a_polish_leaves_few_tokens(self):  # 8 in the reference
        found = search(FIELD, 0.05, "core", relative=True, starts=1, polish=True)
        assert found.reached
        assert found.n <= 12

    def test_a_target_that_jumps_is_not_searched_for_long(self):
        with pytest.warns(RuntimeWarning, match="jumps by 1: every head errs by 0.5 at least"):
            found = search(targets.land(), 0.1, "core")
        assert not found.reached
        assert found.history[-1].n <= 4
        assert search(lambda x: np.tanh(20.0 * x[:, 0]), 0.4, "split", dim=1).reached  # steep is no jump

    def test_the_time_limit_ends_fits(self):
        with pytest.warns(RuntimeWarning, match="no head"):
            found = search(targets.random_bandlimited(2, 20, rng=0), 1e-3, relative=True, time_limit=0.5)
        assert not found.reached
        assert sum(row.seconds for row in found.history) < 10.0

    def test_a_bound_that_time_ended_is_none(self, monkeypatch):
        def late(*_, **__):
            raise TimeoutError

        monkeypatch.setattr("spherapprox.shortest.api.bound_tokens", late)
        found = shortest_head(targets.bump(2, 7.0), 0.5, "core", search=SearchOptions(starts=1))
        assert (found.lower, found.lower_reason) == (None, "the time limit left none for it")

    @pytest.mark.parametrize("keys", ["unit", "free"])
    def test_the_time_limit_holds_for_bounds_and_proofs_and_is_named(self, keys):
        begin = time.process_time()
        with pytest.warns(RuntimeWarning, match="before time_limit= ended the search") as warned:
            found = searches.search(FIELD, 1e-4, "core", relative=True, certified=True, keys=keys, time_limit=1e-3)
        assert time.process_time() - begin < 5.0
        assert "max_tokens" not in str(warned[0].message)
        assert found.lower is None
        assert found.lower_reason == "the time limit left none for it"
        assert any("the time limit ended it" in note for note in found.notes)


class TestFixedPoints:
    def test_a_band_limited_target_on_the_circle_takes_no_more_than_its_degree(self):
        circle = targets.random_bandlimited(1, 8, rng=0)
        found = search(circle, 0.05, "core", relative=True, starts=1, max_tokens=19)
        assert found.reached
        assert found.n <= 17

    @pytest.mark.parametrize("dim", [1, 2, 3, 5])
    def test_families_have_no_more_points_than_asked_for(self, dim):
        for name, family in fixed.point_families(dim):
            for n in (1, 2, 7, 40):
                b = family(n)
                assert 1 <= len(b) <= n, name
                np.testing.assert_allclose(np.linalg.norm(b, axis=1), 1.0, rtol=1e-12)

    def test_a_constant_is_in_the_middle(self):
        found = search(lambda x: x[:, :2] * [1.0, 0.1] + 7.0, 1.02, "split", dim=2)
        assert found.n == 1
        np.testing.assert_allclose(found.head.values, 7.0, atol=0.01)


class TestRecords:
    def test_a_file_holds_every_head(self, searched, tmp_path):
        found, checkpoint = searched
        found.save(tmp_path / "found.npz")
        for path in (tmp_path / "found.npz", checkpoint):
            again = load(path)
            assert [row.head for row in again.history] == [row.head for row in found.history]
            assert (again.n, again.eps, again.norm, again.reached) == (found.n, found.eps, found.norm, True)
        again = load(tmp_path / "found.npz")
        assert str(again) == str(found)
        assert again.error.lower == found.error.lower
        assert np.array_equal(again.error.at, found.error.at)

    def test_a_search_goes_on(self, searched):
        found, path = searched
        finer = search(FIELD, 0.07, relative=True, keys="free", starts=2, start=path)
        assert finer.reached
        assert {row.n for row in found.history} <= {row.n for row in finer.history}
        again = search(FIELD, 0.1, relative=True, keys="free", starts=2, start=found)
        assert again.n <= found.n
        assert not {row.n for row in again.history if row.seconds} & {row.n for row in found.history}  # none is fitted

    def test_other_heads_can_be_picked(self, searched):
        found, _ = searched
        shorter = found.pick(found.history[1].n)
        assert not shorter.reached
        assert shorter.head == found.history[1].head
        assert shorter.failed == (0, 0)
        measured = found.pick(found.history[1].n, FIELD)
        assert measured.error.lower >= max(sup_error(measured.head, FIELD).lower * (1.0 - 1e-9), shorter.error.lower)
        with pytest.raises(ValueError, match="'n' must be a length that was tried"):
            found.pick(1000)
        with pytest.raises(ValueError, match="'target' must be given"):
            found.pick(found.n, certified=True)
        with pytest.raises(ValueError, match="'start' must be a search for a CoreHead"):
            search(FIELD, 0.05, "core", start=found)

    def test_progress_prints_each_rung(self, capsys):
        found = search(FIELD, 0.2, "core", relative=True, progress=True, starts=2)
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) >= len(found.history)
        assert lines[0].startswith("N=1 not in 3 starts: error")
        assert any(f"N={found.n} error" in line for line in lines)


class TestHeads:
    def test_heads_are_shortened(self):
        long = SplitHead.from_target(FIELD, EqualMeasurePartition(2, 500), 100.0)
        packed = search(long, 0.1, relative=True, keys="free", starts=2)
        assert packed.reached
        assert packed.n < 10
        assert sup_error(packed.head, Target(long, 2)).lower <= packed.eps
        classical = search(ClassicalHead.from_head(long), 0.2, relative=True, starts=1)
        assert isinstance(classical.head, SplitHead)
        assert np.ndim(classical.head.concentration) == 0

    @pytest.mark.parametrize(
        ("kind", "keys", "lengths"),
        [(CoreHead, "free", 40.0), (SplitHead, "unit", 40.0), (ClassicalHead, "free", [9.0] * 7)],
    )
    def test_no_head_becomes_longer(self, kind, keys, lengths):
        rng = np.random.default_rng(0)
        head = kind(sphere.uniform(2, 7, rng=rng), rng.standard_normal(7), lengths)
        for options in ({"relative": True}, {"norm": "rms", "max_tokens": 7}):
            short = search(head, 1e-5, keys=keys, starts=1, time_limit=0.5, **options)
            assert short.reached
            assert short.n <= 7
            assert sup_error(short.head, head).lower <= short.eps
            if short.n == 7:
                plain = (CoreHead if kind is CoreHead else SplitHead)(head.control_points, head.values, lengths)
                assert (short.head, short.row.start) == (plain, "itself")

    def test_the_head_itself_is_no_answer_that_options_exclude(self):
        head = SplitHead([[1.0, 0.0], [0.0, 1.0]], [3.0, -3.0], 2.0)
        with pytest.warns(RuntimeWarning, match="no head within eps"):
            assert search(head, 1e-3, keys="free", max_tokens=1, starts=1).n == 1
        with pytest.warns(RuntimeWarning, match="no head within eps"):
            found = search(head, 1e-3, keys="free", max_tokens=2, value_bound=1.0, starts=1)
        assert np.abs(found.head.values).max() <= 1.0

    def test_no_step_leads_to_keys_beyond_all_floats(self):
        with pytest.warns(RuntimeWarning) as warned:
            search(CoreHead([[1.0, 0.0], [0.0, 1.0]], [3.0, -3.0], 9.0), 1e-9, keys="free", max_tokens=1)
        assert [str(warning.message)[:35] for warning in warned] == ["no head within eps = 1e-09 was foun"]

    def test_the_largest_rounded_number_is_infinite_beyond(self):
        numbers = np.array([0.0, 1.0, 1.0 + 2.0**-9, 65504.0, 65536.0, 3.4e38, 1e-8, -2.5])
        np.testing.assert_array_equal(round_to(numbers, "float16"), [0, 1, 1.001953125, 65504, np.inf, np.inf, 0, -2.5])
        got = round_to(numbers, "bfloat16")
        np.testing.assert_array_equal(got[[0, 1, 2, 7]], [0.0, 1.0, 1.0, -2.5])
        assert got[5] == np.inf
        assert got[6] == pytest.approx(1e-8, rel=2.0**-8)
