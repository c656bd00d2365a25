"""`reachable` through attention itself: no prefix beats it, and its witnesses do what they promise."""

import math
from dataclasses import replace

import numpy as np
import pytest
from attention_layers import random_layer
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spherapprox.prompts.prefix import AttentionLayer, Limits, Prefix, reachable, reachable_by_layer


def sizes(rows, norm):
    return np.abs(rows).max(-1) if norm == "max" else np.linalg.norm(rows, axis=-1)


def attention(query, key, value, prefix, scale):
    """Attention over a prefix and content by torch's own function, for each row."""
    torch = pytest.importorskip("torch")
    rows = []
    for q, k, v in zip(query, key, value, strict=True):
        keys, values = np.concatenate([prefix.key, k]), np.concatenate([prefix.value, v])
        parts = (torch.tensor(part)[None, None] for part in (q[None], keys, values))
        rows.append(torch.nn.functional.scaled_dot_product_attention(*parts, scale=scale)[0, 0, 0].numpy())
    return np.array(rows)


def attended(query, key, value, prefix, scale):
    """The same by the prefix's own method."""
    rows = zip(query, key, value, strict=True)
    return np.array([prefix.attend(q[None], k, v, scale=scale)[0] for q, k, v in rows])


def case(seed, groups=1, each=None, s=4, p=3):
    """Queries, ragged keys and values, targets and a scale."""
    rng = np.random.default_rng(seed)
    counts = [each or int(rng.integers(1, 6)) for _ in range(groups)]
    query = np.repeat(rng.standard_normal((groups, s)), counts, axis=0)
    lengths = rng.integers(1, 7, len(query))
    key, value = ([rng.standard_normal((n, width)) for n in lengths] for width in (s, p))
    return rng, query, key, value, rng.standard_normal((len(query), p)), float(rng.uniform(0.2, 1.5))


def random_prefix(rng, s, p, length, key_norm=None, value_bound=None, norm="max"):
    key, value = rng.standard_normal((length, s)) * 10 ** rng.uniform(-1, 1), rng.standard_normal((length, p))
    value *= 10 ** rng.uniform(-1, 1)
    if key_norm is not None:
        key *= np.minimum(1.0, key_norm / np.linalg.norm(key, axis=1, keepdims=True))
    if value_bound is not None:
        value *= np.minimum(1.0, value_bound / sizes(value, norm)[:, None])
    return Prefix(key, value)


@settings(max_examples=25)
@given(st.integers(0, 2**32))
def test_outputs_of_prefixes_are_reachable(seed):
    rng, query, key, value, _, scale = case(seed)
    unit = 10.0 ** rng.integers(-200, 200)
    value = [unit * rows for rows in value]
    made = random_prefix(rng, 4, 3, int(rng.integers(1, 9)))
    made = Prefix(made.key, unit * made.value)
    targets = attention(query, key, value, made, scale)
    for norm in ("max", "euclidean"):
        result = reachable(query, key, value, targets, scale=scale, norm=norm)
        assert result.error <= 1e-13 * max(np.abs(targets).max(), *(np.abs(rows).max() for rows in value))
        assert result.reachable or (norm == "euclidean" and result.reachable is None)


@settings(max_examples=25)
@given(st.integers(0, 2**32))
def test_no_prefix_within_limits_beats_the_floor(seed):
    rng, query, key, value, targets, scale = case(seed)
    length = None if rng.random() < 0.4 else int(rng.integers(1, 5))
    key_norm = None if rng.random() < 0.3 else float(10 ** rng.uniform(-2, 1))
    value_bound = math.inf if rng.random() < 0.4 else float(10 ** rng.uniform(-1, 1))
    for norm in ("max", "euclidean"):
        options = {"limits": Limits(length, key_norm, value_bound), "norm": norm, "scale": scale}
        result = reachable(query, key, value, targets, **options)
        assert result.upper >= result.error * (1 - 1e-12) - 1e-13
        if result.prefix is not None:
            actual = attention(query, key, value, result.prefix, scale)
            assert sizes(actual - targets, norm).max() == pytest.approx(result.upper, rel=1e-9, abs=1e-12)
            assert length is None or len(result.prefix) == length
            assert key_norm is None or (np.linalg.norm(result.prefix.key, axis=1) <= key_norm * (1 + 1e-9)).all()
            assert value_bound is None or (sizes(result.prefix.value, norm) <= value_bound * (1 + 1e-9)).all()
        if result.exact and result.attained:
            assert result.upper <= result.error * (1 + 1e-8) + 1e-11
        for _ in range(10):
            count = length or int(rng.integers(1, 5))
            other = random_prefix(rng, 4, 3, count, key_norm, value_bound, norm)
            outputs = attended(query, key, value, other, scale)
            assert sizes(outputs - targets, norm).max() >= result.error * (1 - 1e-12) - 1e-13


@settings(max_examples=25)
@given(st.integers(0, 2**32))
def test_one_token_attains_the_floor_without_limits(seed):
    _rng, query, key, value, targets, scale = case(seed)
    result = reachable(query, key, value, targets, scale=scale)
    assert result.exact
    assert len(result.prefix) == 1
    actual = sizes(attention(query, key, value, result.prefix, scale) - targets, "max").max()
    assert actual == pytest.approx(
        result.error, rel=1e-9 if result.attained else 1e-5, abs=1e-11 if result.attained else 1e-6
    )
    longer = reachable(query, key, value, targets, scale=scale, limits=Limits(length=5))
    assert longer.error == result.error
    assert len(longer.prefix) == 5
    assert longer.upper == pytest.approx(result.upper, abs=1e-11)


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.integers(2, 7))
def test_one_token_a_query_attains_the_largest_floor_of_several(seed, groups):
    # up to s independent queries, and more that are extreme rays of a cone
    _rng, query, key, value, targets, scale = case(seed, groups=groups, each=3)
    query[:, 0] = 1.0 + np.abs(query[:, 0])
    result = reachable(query, key, value, targets, scale=scale)
    assert len(result.groups) == groups
    assert result.error == result.errors.max()
    assert groups > 4 or result.exact
    if result.exact and len(result.prefix) > 0:
        actual = sizes(attention(query, key, value, result.prefix, scale) - targets, "max").max()
        assert actual == pytest.approx(result.error, rel=1e-5, abs=1e-6)
        assert len(result.prefix) == groups
        longer = reachable(query, key, value, targets, scale=scale, limits=Limits(length=groups + 3))
        assert len(longer.prefix) == groups + 3
        assert longer.upper == pytest.approx(result.upper, rel=1e-6)
        # groups alone ask no more
        alone = [reachable(query[g], [key[i] for i in g], [value[i] for i in g], targets[g], scale=scale).error
                 for g in result.groups]  # fmt: skip
        assert alone == result.errors.tolist()


def test_short_keys_allow_some_masses_only():
    # between L exp(-R) .. L exp(R) and the same of L + 1 tokens there are gaps for R < log(2) / 2
    query, key = np.tile([1.0, 0.0], (2, 1)), np.zeros((2, 1, 2))
    value, targets = np.array([[[2.2, -0.2]], [[-0.3, -0.2]]]), [[1.0, 0.0], [0.0, 0.0]]
    result = reachable(query, key, value, targets, scale=1.0, limits=Limits(key_norm=0.05))
    assert result.error == pytest.approx(0.0693307, abs=1e-7)
    assert result.upper == pytest.approx(result.error, rel=1e-12)
    assert (len(result.prefix), result.reachable, result.attained) == (2, False, True)
    free = reachable(query, key, value, targets, scale=1.0)
    assert free.error < 1e-15
    limits = [Limits(n, key_norm=0.05) for n in range(1, 40)]
    masses = [reachable(query, key, value, targets, scale=1.0, limits=limit).error for limit in limits]
    assert result.error == pytest.approx(min(masses), rel=1e-12)


def test_keys_of_length_0_have_whole_numbers_as_masses():
    query, key = np.tile([1.0, 0.0], (2, 1)), np.zeros((2, 3, 2))
    rng = np.random.default_rng(0)
    value, targets = rng.standard_normal((2, 3, 2)), rng.standard_normal((2, 2))
    result = reachable(query, key, value, targets, limits=Limits(key_norm=0.0))
    several = [reachable(query, key, value, targets, limits=Limits(key_norm=0.0, length=n)).error for n in range(1, 80)]
    nothing = np.abs(value.mean(1) - targets).max()
    assert result.error <= min(*several, nothing) + 1e-12


def test_keys_of_length_0_come_near_a_limit():
    # many tokens overwrite all; no number of them does so altogether
    value = np.array([[[0.0, 0.0]], [[0.5, 0.5]]])
    result = reachable(np.ones((2, 1)), np.full((2, 1, 1), 0.1), value, np.eye(2), limits=Limits(key_norm=0.0))
    assert result.error == 0.5
    assert (result.exact, result.attained) == (True, False)
    assert 0.5 < result.upper < 0.501
    assert not result.prefix.key.any()


def test_contexts_far_heavier_than_any_prefix_within_limits():
    query, key = np.ones((2, 1)), np.full((2, 1, 1), 200.0)
    value, targets = np.array([[[0.0]], [[1.0]]]), [[0.5], [0.5]]
    result = reachable(query, key, value, targets, limits=Limits(key_norm=1.0))
    assert result.error < 1e-15
    assert result.upper == pytest.approx(0.5)
    three = reachable(query, key, value, targets, limits=Limits(key_norm=1.0, length=3))
    assert three.error == pytest.approx(0.5)
    assert three.upper == pytest.approx(0.5)
    assert np.abs(three.prefix.key).max() <= 1.0 + 1e-12


def test_limits_and_several_queries_leave_a_lower_bound():
    rng = np.random.default_rng(0)
    query, key, value = np.eye(2), rng.standard_normal((2, 3, 2)), rng.standard_normal((2, 3, 2))
    result = reachable(query, key, value, [[3.0, 0.0], [0.0, 3.0]], limits=Limits(length=1))
    assert result.error < 1e-12
    assert [result.reachable, result.attained, result.exact, result.upper] == [None, False, False, math.inf]
    assert result.prefix is None


def test_one_context_each_without_limits_is_always_reachable():
    rng = np.random.default_rng(0)
    query, key, value = rng.standard_normal((30, 2)), rng.standard_normal((30, 3, 2)), rng.standard_normal((30, 3, 2))
    result = reachable(query, key, value, rng.standard_normal((30, 2)))
    assert result.reachable
    assert result.exact
    assert not result.attained
    assert len(result.prefix) == 0  # `fit_prefix` builds one


def test_nothing_to_change_needs_no_token():
    _rng, query, key, value, _, scale = case(5, groups=3)
    targets = attention(query, key, value, Prefix(np.empty((0, 4)), np.empty((0, 3))), scale)
    result = reachable(query, key, value, targets, scale=scale, atol=1e-14)
    assert result.reachable
    zeros = reachable(query, [rows * 0 for rows in key], [rows * 0 for rows in value], 0 * targets)
    assert (zeros.error, zeros.upper, zeros.attained, zeros.reachable) == (0.0, 0.0, True, True)
    assert (len(zeros.prefix), zeros.worst_pair) == (0, ())


def test_logits_of_any_size():
    # tokens that outweigh all others by exp(1e4), and queries and keys out of range of squares
    _rng, query, key, value, targets, _ = case(7, each=4)
    small = reachable(query, key, value, targets, scale=1.0)
    large = reachable(1e200 * query, [1e-200 * rows for rows in key], value, targets, scale=1.0)
    assert large.error == pytest.approx(small.error, rel=1e-12)
    assert large.upper == pytest.approx(small.upper, rel=1e-9)
    along = query[0] / (query[0] @ query[0])
    far = reachable(query, [rows + 2.0**14 * along for rows in key], value, targets, scale=1.0)
    assert far.error == pytest.approx(small.error, rel=1e-9)
    apart = [rows + 1e4 * i * along for i, rows in enumerate(key)]
    assert math.isfinite(reachable(query, apart, value, targets, scale=1.0).error)


def test_rows_in_the_way_are_named():
    value = np.array([[[0.0]], [[5.0]], [[0.1]], [[0.0]]])
    query, key = np.ones((4, 1)), np.zeros((4, 1, 1))
    result = reachable(query, key, value, [[0.0], [5.0], [0.1], [9.0]])
    assert 3 in result.worst_pair
    bounded = reachable(query[:1], key[:1], value[:1], [[7.0]], limits=Limits(value_bound=2.0))
    assert bounded.error == pytest.approx(5.0)
    assert bounded.worst_pair == (0,)


def test_training_does_not_beat_the_floor():
    torch = pytest.importorskip("torch")
    _rng, query, key, value, targets, scale = case(11, each=4)
    floor = reachable(query, key, value, targets, scale=scale).error
    generator = torch.Generator().manual_seed(0)
    keys, values = (torch.randn(4, n, generator=generator, dtype=torch.float64).requires_grad_() for n in (4, 3))
    optimizer, best = torch.optim.Adam([keys, values], lr=0.05), math.inf
    goal, rows = torch.tensor(targets), [(torch.tensor(k), torch.tensor(v)) for k, v in zip(key, value, strict=True)]
    for step in range(300):
        weights = [torch.softmax(scale * torch.cat([keys, k]) @ torch.tensor(query[0]), 0) for k, _ in rows]
        outputs = [share @ torch.cat([values, v]) for share, (_, v) in zip(weights, rows, strict=True)]
        residual, sharpness = (torch.stack(outputs) - goal).abs().flatten(), 10.0 + step / 4
        best = min(best, float(residual.detach().max()))
        optimizer.zero_grad()
        (torch.logsumexp(sharpness * residual, 0) / sharpness).backward()
        optimizer.step()
    assert floor * (1 - 1e-12) <= best <= 1.1 * floor


def test_one_embedding_makes_the_token_where_its_rows_are_independent():
    # prompt tuning: key and value come of one embedding
    rng = np.random.default_rng(1)
    layer = AttentionLayer(*rng.standard_normal((3, 8, 32)), heads=1, key_bias=np.ones(8), value_bias=np.ones(8))
    x, content = np.tile(rng.standard_normal(32), (3, 1)), rng.standard_normal((3, 5, 32))
    inputs = [layer.head_inputs(row[None], rows) for row, rows in zip(x, content, strict=True)]
    query, key, value = (np.array([one[k][0] for one in inputs]) for k in range(3))
    query = query[:, 0]
    result = reachable(query, key, value, value.mean(1) + rng.standard_normal((3, 8)), scale=layer.scale)
    rows = np.vstack([query[0] @ layer.key, layer.value])
    token = np.linalg.lstsq(rows, np.append((result.prefix.key[0] - 1) @ query[0], result.prefix.value[0] - 1))[0]
    prefix = layer.prefix(token[None])
    outputs = [layer.head_outputs(row[None], seen, prefix=prefix)[0, 0] for row, seen in zip(x, content, strict=True)]
    np.testing.assert_allclose(outputs, attended(query, key, value, result.prefix, layer.scale), atol=1e-9)


def test_two_examples_of_one_token_are_out_of_reach_in_general():
    # Hu et al. (2024), Corollary I.0.1, for values of two numbers or more
    rng = np.random.default_rng(4)
    for _ in range(20):
        query = np.tile(rng.standard_normal(4), (2, 1))
        key, value = rng.standard_normal((2, 2, 4)), rng.standard_normal((2, 2, 4))
        result = reachable(query, key, value, rng.standard_normal((2, 4)))
        assert result.error > 1e-3
        assert result.reachable is False


def test_two_labels_of_one_number_are_reached_or_not():
    # the corollary's remark would have the first example fix the second one; for values of one number it does not
    query, key, value = np.ones((2, 1)), np.zeros((2, 1, 1)), np.array([[[0.0]], [[1.0]]])
    rng, reached = np.random.default_rng(5), 0
    for targets in rng.standard_normal((40, 2, 1)):
        expected = targets[:, 0] - [0.0, 1.0]
        ratio = (expected[1] - expected[0]) / (targets[0, 0] - targets[1, 0])  # psi
        result = reachable(query, key, value, targets)
        assert result.reachable is bool(ratio > 0)
        reached += result.reachable
    assert 5 < reached < 35
    # and one label far from the other is never reached
    assert reachable(query, key, value, [[100.0], [1.5]]).error > 1.0


def test_a_constant_layer_memorises_whatever_it_can_give():
    # the corollary says "for any transformer": u + W_2 relu(W_1 u + b_1) + b_2 may be constant
    rng = np.random.default_rng(6)
    layer = AttentionLayer(*rng.standard_normal((4, 3, 3)), heads=1)
    identity, label = np.eye(3), rng.standard_normal(3)
    first, second = np.concatenate([identity, -identity]), np.concatenate([-identity, identity], axis=1)
    x, content = np.tile(rng.standard_normal(3), (2, 1)), rng.standard_normal((2, 4, 3))
    u = layer_outputs(layer, x, content, layer.prefix(rng.standard_normal((2, 3)))) + x
    assert np.ptp(u, axis=0).max() > 0.01
    np.testing.assert_allclose(u + np.maximum(u @ first.T, 0.0) @ second.T + label, np.tile(label, (2, 1)), atol=1e-14)


def test_near_queries_are_coupled():
    # figures of linear programs, with the random numbers that they were made of
    rng = np.random.default_rng(2)
    expected = {0.0: 0.8130, 0.05: 0.5427, 0.2: 0.0}
    for spread, bound in expected.items():
        near = rng.standard_normal(4)
        query = near + spread * rng.standard_normal((3, 4))
        content = [(rng.standard_normal((5, 4)), rng.standard_normal((5, 4))) for _ in range(3)]
        targets = 0.5 * rng.standard_normal((3, 4))
        limits = Limits(key_norm=4.0, value_bound=3.0, coupled=True)
        result = reachable(query, *zip(*content, strict=True), targets, scale=0.5, limits=limits)
        assert result.error == pytest.approx(bound, abs=2e-4)
        assert result.upper >= result.error
        assert result.reachable is (None if spread == 0.2 else False)
        limits = replace(limits, coupled=False)
        alone = reachable(query, *zip(*content, strict=True), targets, scale=0.5, limits=limits)
        assert alone.error <= result.error + 1e-9
        assert spread == 0.0 or alone.error < 1e-12
        other = np.random.default_rng(0)
        for _ in range(30):
            prefix = random_prefix(other, 4, 4, int(other.integers(1, 9)), 4.0, 3.0)
            outputs = attended(query, *zip(*content, strict=True), prefix, 0.5)
            assert np.abs(outputs - targets).max() >= result.error


@example(28)
@settings(max_examples=25)
@given(st.integers(0, 2**32))
def test_outputs_of_prefixes_pass_the_linear_programs(seed):
    rng, query, key, value, _, scale = case(seed, groups=3, each=2)
    query = query[:1] + 0.1 * rng.standard_normal(query.shape) * (rng.random((len(query), 1)) < 0.7)
    length = None if seed % 2 else int(rng.integers(1, 4))
    prefix = random_prefix(rng, 4, 3, length or 2, 2.0, 1.5)
    targets = attended(query, key, value, prefix, scale)
    limits = Limits(length, key_norm=2.0, value_bound=1.5, coupled=True)
    assert reachable(query, key, value, targets, scale=scale, limits=limits).error <= 1e-12


@settings(max_examples=12)
@given(st.integers(0, 2**32))
def test_linear_programs_say_no_more_of_equal_queries_than_is_true(seed):
    # masses of contexts that short keys come near only by thousands of tokens: tolerances of solvers are too coarse
    _rng, query, key, value, targets, scale = case(seed, each=5)
    key = [10.0 * rows for rows in key]
    alone, coupled = (
        reachable(query, key, value, targets, scale=scale, limits=Limits(None, 0.02, 6.0, coupled)).error
        for coupled in (False, True)
    )
    assert coupled <= alone * (1 + 1e-9)


def layer_case(seed, groups=2):
    rng = np.random.default_rng(seed)
    layer, x = random_layer(rng, 8, 2, groups), np.tile(rng.standard_normal(8), (3, 1))
    return rng, layer, x, [rng.standard_normal((int(rng.integers(2, 6)), 8)) for _ in range(3)]


def layer_outputs(layer, x, content, prefix=None):
    return np.array([layer.attend(row[None], rows, prefix=prefix)[0] for row, rows in zip(x, content, strict=True)])


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("norm", ["max", "euclidean"])
def test_layers_are_bounded_by_their_heads(groups, norm):
    rng, layer, x, content = layer_case(groups, groups=groups)
    outputs = layer_outputs(layer, x, content)
    targets = outputs + rng.standard_normal(outputs.shape)
    result = reachable_by_layer(layer, x, content, targets, norm=norm)
    assert 0.01 < result.error <= result.upper
    assert result.reachable is False
    assert len(result.heads) == groups
    for _ in range(200):
        prefix = layer.prefix(rng.standard_normal((3, 8)) * 10 ** rng.uniform(-1, 0.5))
        actual = layer_outputs(layer, x, content, prefix)
        assert sizes(actual - targets, norm).max() >= result.error
    # what a prefix gives is reachable, and so is anything of one row
    assert reachable_by_layer(layer, x, content, actual, norm=norm).error == 0.0
    result = reachable_by_layer(layer, x[:1], content[:1], targets[:1], norm=norm)
    assert result.reachable
    assert result.upper < 1e-9
    np.testing.assert_allclose(layer_outputs(layer, x[:1], content[:1], result.prefix), targets[:1], atol=1e-9)


def test_the_bound_of_a_layer_is_sharp():
    # keys of length 0 and values 0 leave one prefix, which halves the output (1, 3) of the head
    layer = AttentionLayer(np.eye(2), np.zeros((2, 2)), np.eye(2), [[0.5, 0.5], [0.5, -0.5]], heads=1)
    options = {"limits": Limits(1, 0.0, 0.0)}
    result = reachable_by_layer(layer, [[1.0, 0.0]], [[[1.0, 3.0]]], [[0.0, -1.5]], **options)
    assert result.error == pytest.approx(1.0, rel=1e-12)
    assert result.upper == pytest.approx(1.0, rel=1e-12)
    assert result.heads[0].error == pytest.approx(2.0)
    free = reachable_by_layer(layer, np.eye(2), np.ones((2, 1, 2)), np.eye(2), limits=Limits(key_norm=1.0))
    assert free.reachable is None


def test_layers_of_torch_and_prefixes_of_even_length():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    mha = torch.nn.MultiheadAttention(16, 4, batch_first=True, dtype=torch.float64)
    x, content = torch.randn(1, 16, dtype=torch.float64).repeat(2, 1), torch.randn(2, 5, 16, dtype=torch.float64)
    outputs = mha(x[:, None], content, content, need_weights=False)[0][:, 0]
    result = reachable_by_layer(mha, x, content, torch.zeros(2, 16), atol=1e-6)
    assert result.reachable
    assert result.prefix.key.shape == (4, 1, 4)
    assert result.upper < 1e-6
    shifted = reachable_by_layer(mha, x, content, outputs + 1.0)
    assert shifted.reachable is False
    assert "reachable=False" in repr(shifted)
    same = reachable_by_layer(mha, x, content, outputs, atol=1e-12)
    assert same.reachable


def test_outputs_out_of_range_of_a_tall_matrix():
    _rng, layer, x, content = layer_case(0)
    tall = AttentionLayer(layer.query, layer.key, layer.value, np.eye(10, 8), heads=2)
    targets = np.zeros((3, 10))
    targets[:, 9] = 0.5
    assert reachable_by_layer(tall, x, content, targets, norm="euclidean").error == pytest.approx(0.5)


def test_tensors_are_detached():
    torch = pytest.importorskip("torch")
    _rng, query, key, value, targets, scale = case(3, each=3)
    tensors = [torch.tensor(part, requires_grad=True) for part in (query, targets)]
    contexts = [[torch.tensor(rows, requires_grad=True) for rows in part] for part in (key, value)]
    result = reachable(tensors[0], *contexts, tensors[1], scale=scale)
    assert result.error == reachable(query, key, value, targets, scale=scale).error
