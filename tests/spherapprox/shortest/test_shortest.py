"""The fewest tokens: derivatives, exact recovery, reference lengths, and complaints."""

import numpy as np
import pytest

from spherapprox import CoreHead, SplitHead, Target, sphere, sup_error, targets
from spherapprox.shortest import growth, shortest_head
from spherapprox.shortest.projection import Samples, fitted, normal_equations, solved
from spherapprox.shortest.sup import minimax, worst
from spherapprox.shortest.tokens import Tokens, tangent_frames

FIELD = targets.geomagnetic_field(2025.0)


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
                ahead, behind = tokens.moved(step * direction), tokens.moved(-step * direction)
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
        found = solved(tokens, samples, 1e-3)
        _, right = normal_equations(found, samples)
        for i, direction in enumerate(np.eye(tokens.parameters)):
            ahead, behind = (solved(found.tokens.moved(s * direction), samples, 1e-3).square for s in (1e-6, -1e-6))
            assert -2.0 * right[i] == pytest.approx((ahead - behind) / 2e-6, abs=1e-7)

    def test_a_head_of_as_many_tokens_is_found_again(self, dim, unit, normalize):
        tokens, x = random_tokens(dim, 2, 1, normalize, unit, seed=3), sphere.uniform(dim, 400, rng=1)
        start = Tokens(tokens.keys + 0.05 * np.random.default_rng(4).standard_normal(tokens.keys.shape), tokens.values,
                       normalize, False)  # fmt: skip
        if unit:
            start = Tokens(2.5 * start.keys / start.lengths[:, None], tokens.values, normalize, True)
        found = fitted(start, Samples.of(x, tokens(x)), 0.0, 100, tolerance=1e-12)
        assert np.abs(found(x) - tokens(x)).max() < 1e-7


def test_frames_are_orthonormal_and_tangent():
    b = np.concatenate([sphere.uniform(3, 50, rng=0), np.eye(4), -np.eye(4)])
    frames = tangent_frames(b)
    np.testing.assert_allclose(frames @ frames.transpose(0, 2, 1), np.broadcast_to(np.eye(3), (58, 3, 3)), atol=1e-14)
    np.testing.assert_allclose(np.einsum("nmd,nd->nm", frames, b), 0.0, atol=1e-14)


def test_dependent_columns_have_values_of_least_size():
    x = sphere.uniform(2, 100, rng=0)
    twice = Tokens(np.repeat(3.0 * np.eye(3)[:1], 2, axis=0), np.zeros((2, 1)), False, True)
    found = solved(twice, Samples.of(x, twice.matrix(x)[:, :1]), 0.0).tokens
    np.testing.assert_allclose(found.values, 0.5, rtol=1e-10)


def test_weights_of_lawson_lower_the_largest_error():
    x = sphere.uniform(2, 1500, rng=0)
    samples = Samples.of(x, FIELD(x)[:, None] / FIELD.sup_norm)
    plain = fitted(growth.equal_measure(2, 12, 1, True, True, 0, 0), samples, 1e-10, 60)
    _, least = minimax(plain, samples, samples, 1e-10)
    assert least < 0.95 * worst(plain, samples)


def test_pruning_drops_the_token_without_use_and_insertion_goes_where_the_error_is():
    x = sphere.uniform(2, 600, rng=0)
    tokens = random_tokens(2, 4, 1, False, True, seed=5)
    samples = Samples.of(x, tokens.some(np.array([0, 1, 3]))(x))
    solved_once = solved(tokens, samples, 1e-12).tokens
    np.testing.assert_allclose(growth.pruned(solved_once, samples, 1, 1e-12).keys, tokens.keys[[0, 1, 3]])
    more = growth.inserted(tokens, samples, 2)
    at = int(np.abs(tokens(x) - samples.y).argmax())
    np.testing.assert_allclose(more.keys[4] / more.lengths[4], x[at], atol=1e-12)
    assert more.keys[5] @ more.keys[4] < 0.99 * more.lengths[4] ** 2


class TestShortestHead:
    @pytest.mark.parametrize(("eps", "kind", "most"), [(0.1, "core", 6), (0.1, "split", 5), (0.03, "split", 12)])
    def test_the_field_takes_no_more_tokens_than_in_the_reference(self, eps, kind, most):
        found = shortest_head(FIELD, eps, kind, relative=True)
        assert found.reached
        assert found.n <= most
        assert sup_error(found.head, FIELD).lower == found.error.lower <= found.eps == eps * FIELD.sup_norm
        assert found.failed[0] == found.n - 1
        assert found.failed[1] >= 4
        assert next(row.n for row in found.history if row.reached) == found.n
        assert str(found.n) in found.table()

    def test_a_kernel_is_one_token(self):
        found = shortest_head(targets.bump(2, 7.0), 1e-9, "core")
        assert (found.n, found.failed) == (1, (0, 0))
        assert found.head.concentration == pytest.approx(7.0, rel=1e-6)

    @pytest.mark.parametrize("kind", ["core", "split"])
    def test_what_varies_by_less_than_twice_eps_takes_one_token(self, kind):
        found = shortest_head(lambda x: 5.0 + 0.1 * x[:, 0], 0.11, kind, dim=2)
        assert found.n == 1
        assert found.reached

    @pytest.mark.parametrize("size", [0.0, 1e-200, 1.0, 1e200])
    def test_targets_may_have_any_size(self, size):
        found = shortest_head(lambda x: size * x[:, 0], (size or 1.0) * 1e-2, "core", dim=1)
        assert found.reached
        assert found.n == (2 if size else 1)  # a kernel less its antipode is nearly linear
        assert found.history[-1].largest_value < np.inf

    def test_vectors_on_the_circle_and_the_same_seed(self):
        turn = targets.rotation_field(1)
        first, second = (shortest_head(turn, 0.05, "split", rng=3) for _ in range(2))
        assert first.head.values.shape == (first.n, 2)
        assert first.head == second.head
        assert first.reached

    def test_an_error_is_proven(self):
        found = shortest_head(targets.zonal_harmonic(2, 2), 0.1, "core", certified=True)
        assert found.error.lower <= found.error.upper <= 1.051 * found.error.lower

    def test_what_is_not_reached_is_said(self):
        with pytest.warns(RuntimeWarning, match="no head within eps = 1e-06 was found"):
            found = shortest_head(targets.zonal_harmonic(2, 4), 1e-6, "split", max_tokens=4, starts=1)
        assert not found.reached
        assert found.failed == (0, 0)
        assert found.notes[0] in str(found)

    def test_peaks_between_the_samples_join_them(self):
        cone = targets.distance(4)  # few of 15000 points on S^4 come near to its kinks
        found = shortest_head(cone, 0.2, "split", max_tokens=10, starts=2)
        assert found.reached
        assert sup_error(found.head, cone).lower <= 0.2

    @pytest.mark.parametrize(
        ("change", "match"),
        [
            ({"eps": 0.0}, "'eps' must be"),
            ({"eps": float("nan")}, "'eps'"),
            ({"eps": 1e-14}, "'eps' must be above 1e-13"),
            ({"kind": "linear"}, "'kind' must be"),
            ({"max_tokens": 0}, "'max_tokens'"),
            ({"starts": 0}, "'starts'"),
            ({"time_limit": -1.0}, "'time_limit'"),
            ({"rng": -1}, "'rng'"),
            ({"dim": 3}, "'dim'"),
        ],
    )
    def test_complaints_name_the_argument(self, change, match):
        with pytest.raises(ValueError, match=match):
            shortest_head(**({"target": Target(lambda x: x[:, 0], 2), "eps": 0.1} | change))

    def test_a_function_needs_a_dimension(self):
        with pytest.raises((TypeError, ValueError), match="'dim'"):
            shortest_head(lambda x: x[:, 0], 0.1)
