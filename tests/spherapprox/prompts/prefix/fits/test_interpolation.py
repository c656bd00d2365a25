"""`fit_prefix` and `fit_layer`: outputs at examples, through torch's attention where it is there."""

import numpy as np
import pytest
from attention_layers import random_layer
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from spherapprox.prompts.prefix import AttentionLayer, Prefix, fit_layer, fit_prefix


def examples(rng, n, s, p=None, length=12, equal=False):
    query = rng.standard_normal((n, s))
    if equal:
        query *= np.sqrt(s) / np.linalg.norm(query, axis=1, keepdims=True)
    p = p or s
    key, value = rng.standard_normal((n, length, s)), rng.standard_normal((n, length, p))
    return query, key, value, rng.standard_normal((n, p))


def through_torch(prefix, query, key, value, scale=None):
    """Return outputs of torch's attention over the prefix and the contents."""
    torch = pytest.importorskip("torch")
    n = len(query)
    keys = torch.tensor(np.concatenate([np.broadcast_to(prefix.key, (n, *prefix.key.shape)), key], axis=1))
    values = torch.tensor(np.concatenate([np.broadcast_to(prefix.value, (n, *prefix.value.shape)), value], axis=1))
    result = torch.nn.functional.scaled_dot_product_attention(torch.tensor(query)[:, None], keys, values, scale=scale)
    return result[:, 0].numpy()


@pytest.mark.parametrize(("scale", "condition", "ratio"), [(2.0, 7.3, 3.6), (4.0, 2.7, 1.4), (8.0, 1.5, 1.02)])
def test_queries_of_one_length(scale, condition, ratio):
    query, key, value, targets = examples(np.random.default_rng(0), 50, 8, length=32, equal=True)
    prefix = fit_prefix(query, key, value, targets, key_scale=scale)
    assert np.array_equal(prefix.key, scale * query)
    assert abs(through_torch(prefix, query, key, value) - targets).max() < 1e-14
    assert prefix.error < 1e-14
    # the same order as the reference, which had other random numbers
    assert 1.0 <= prefix.condition <= condition * 1.3
    assert 1.0 <= abs(prefix.value).max() / abs(targets).max() <= ratio * 1.3


def test_many_examples():
    query, key, value, targets = examples(np.random.default_rng(1), 400, 64, equal=True)
    prefix = fit_prefix(query, key, value, targets)
    assert len(prefix) == 400
    assert abs(prefix.attend(query[:, None], key, value)[:, 0] - targets).max() < 2e-14


def test_queries_of_any_lengths_have_keys_of_one():
    # multiples of the queries have conditions from 200 to 3e10 here
    query, key, value, targets = examples(np.random.default_rng(0), 50, 8, length=32)
    prefix = fit_prefix(query, key, value, targets)
    assert prefix.condition < 100.0
    assert prefix.error < 1e-13
    lengths = np.linalg.norm(prefix.key, axis=1)
    np.testing.assert_allclose(lengths, lengths[0], rtol=1e-13)
    cosines = np.sum(prefix.key * query, axis=1) / lengths / np.linalg.norm(query, axis=1)
    np.testing.assert_allclose(cosines, 1.0, rtol=1e-13)


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(2, 6), st.sampled_from([0.02, 1.0, 30.0]))
def test_outputs_are_targets(seed, n, s, size):
    rng = np.random.default_rng(seed)
    query, key, value, targets = examples(rng, n, s, p=3, length=4)
    query *= size * rng.choice([0.1, 1.0, 5.0], (n, 1))
    prefix = fit_prefix(query, key, value, targets)
    result = prefix.attend(query[:, None], key, value)[:, 0]
    logits = np.einsum("ns,ls->nl", query, prefix.key) / np.sqrt(s)
    own = np.einsum("ns,nls->nl", query, key) / np.sqrt(s)
    rounding = 1e-15 * (10.0 + max(abs(logits).max(), abs(own).max())) * prefix.condition
    rounding *= 1.0 + abs(targets).max() + abs(prefix.value).max()
    assert abs(result - targets).max() <= rounding
    assert prefix.error <= rounding
    far, near = logsumexp(logits, axis=1), logsumexp(own, axis=1)
    np.testing.assert_allclose(
        prefix.share, 1.0 / (1.0 + np.exp(np.minimum(near - far, 700.0))), rtol=1e-8, atol=1e-300
    )


def test_queries_in_one_direction_and_one_that_is_zero():
    rng = np.random.default_rng(5)
    query, key, value, targets = examples(rng, 4, 3)
    query[1], query[2] = 2.0 * query[0], 0.0
    prefix = fit_prefix(query, key, value, targets)
    assert prefix.condition < 1e8
    assert abs(through_torch(prefix, query, key, value) - targets).max() < 1e-15 * prefix.condition * 100.0


def test_queries_that_are_near_get_long_keys():
    rng = np.random.default_rng(12)
    query, key, value, targets = examples(rng, 60, 6)
    query[30:] = query[:30] * rng.uniform(0.5, 2.0, (30, 1)) + 1e-3 * rng.standard_normal((30, 6))
    prefix = fit_prefix(query, key, value, targets)
    assert prefix.condition < 1e5
    assert prefix.error < 1e-10


def test_contexts_of_different_lengths_and_a_scale():
    rng = np.random.default_rng(6)
    query, targets = rng.standard_normal((3, 5)), rng.standard_normal((3, 2))
    key = [rng.standard_normal((n, 5)) for n in (1, 4, 9)]
    value = [rng.standard_normal((n, 2)) for n in (1, 4, 9)]
    prefix = fit_prefix(query, key, value, targets, scale=0.7)
    for q, k, v, t in zip(query, key, value, targets, strict=True):
        np.testing.assert_allclose(prefix.attend(q[None], k, v, scale=0.7)[0], t, atol=1e-13)


def test_fewer_tokens_than_examples():
    # outputs of a prefix of four tokens, so that few can do
    rng = np.random.default_rng(8)
    query, key, value, _ = examples(rng, 60, 4)
    few = fit_prefix(query[:4], key[:4], value[:4], rng.standard_normal((4, 4)), key_scale=1.0)
    targets = few.attend(query[:, None], key, value)[:, 0]
    errors = [fit_prefix(query, key, value, targets, length=n).error for n in (1, 5, 20, 60)]
    assert errors[0] > errors[1] > errors[2] > errors[3]
    assert errors[2] < 0.2 * abs(targets).max()
    assert errors[3] < 1e-12
    # least squares: other values at the same keys do no better
    prefix = fit_prefix(query, key, value, targets, length=5)
    squares = np.sum((prefix.attend(query[:, None], key, value)[:, 0] - targets) ** 2)
    for _ in range(20):
        moved = type(prefix)(prefix.key, prefix.value + 1e-3 * rng.standard_normal(prefix.value.shape))
        assert np.sum((moved.attend(query[:, None], key, value)[:, 0] - targets) ** 2) > squares


@pytest.mark.parametrize("groups", [4, 2, 1])
def test_a_layer(groups):
    rng = np.random.default_rng(9)
    layer = random_layer(rng, 16, 4, groups, size=0.25)
    x = [rng.standard_normal((length, 16)) for length in (1, 3, 5, 2, 7)]
    targets = rng.standard_normal((5, 16))
    prefix = fit_layer(layer, [rows[-1] for rows in x], x, targets)
    assert prefix.key.shape == (groups, 5 * 4 // groups, 4)
    assert prefix.share.shape == (4, 5)
    for rows, expected in zip(x, targets, strict=True):
        result = layer.attend(rows, prefix=prefix, causal=True)[-1]
        assert abs(result - expected).max() < 1e-13 * prefix.condition


def far_from(layer, content, targets, prefix=None):
    """Return the root mean square of what the last outputs miss."""
    return np.sqrt(np.mean((layer.attend(content, prefix=prefix, causal=True)[:, -1] - targets) ** 2))


@pytest.mark.parametrize("groups", [4, 2])
def test_few_tokens_of_a_layer_have_the_values_of_least_squares_of_its_outputs(groups):
    rng = np.random.default_rng(20)
    layer, content = random_layer(rng, 12, 4, groups, size=12**-0.5), rng.standard_normal((20, 5, 12))
    targets = layer.attend(content, causal=True)[:, -1] + rng.standard_normal((20, 12))
    none = far_from(layer, content, targets)
    for length, most in ((16, 0.9), (6, 1.0)):
        prefix = fit_layer(layer, content[:, -1], content, targets, length=length)
        away = far_from(layer, content, targets, prefix)
        assert len(prefix) == length
        assert away < most * none
        # outputs are affine in the values: dense least squares at the same keys
        empty = Prefix(prefix.key, np.zeros_like(prefix.value))
        base = layer.attend(content, prefix=empty, causal=True)[:, -1]
        columns = []
        for unit in np.eye(prefix.value.size).reshape(-1, *prefix.value.shape):
            outputs = layer.attend(content, prefix=Prefix(prefix.key, unit), causal=True)[:, -1]
            columns.append((outputs - base).ravel())
        matrix, expected = np.array(columns).T, (targets - base).ravel()
        least = matrix @ np.linalg.lstsq(matrix, expected, rcond=1e-10)[0] - expected
        assert away == pytest.approx(np.sqrt(np.mean(least**2)), rel=1e-3)


def test_tokens_that_repeat_in_a_first_layer():
    rng = np.random.default_rng(21)
    layer, words = random_layer(rng, size=32**-0.5), rng.standard_normal((6, 32))
    content = words[rng.integers(0, 6, (40, 5))]
    different = len(np.unique(content[:, -1], axis=0))
    # what a prefix of three tokens does to other words too
    targets = layer.attend(content, prefix=layer.prefix(rng.standard_normal((3, 32))), causal=True)[:, -1]
    prefix = fit_layer(layer, content[:, -1], content, targets)
    assert len(prefix) == different
    assert far_from(layer, content, targets, prefix) < 0.5 * far_from(layer, content, targets)


def test_equal_examples_with_different_targets_get_their_mean():
    rng = np.random.default_rng(22)
    layer, content, targets = (
        random_layer(rng, 8, 2, size=8**-0.5),
        rng.standard_normal((4, 3, 8)),
        rng.standard_normal((6, 8)),
    )
    content = content[[0, 1, 2, 3, 0, 0]]
    prefix = fit_layer(layer, content[:, -1], content, targets)
    outputs = layer.attend(content, prefix=prefix, causal=True)[:, -1]
    expected = targets.copy()
    expected[[0, 4, 5]] = targets[[0, 4, 5]].mean(axis=0)
    np.testing.assert_allclose(outputs, expected, atol=1e-7)
    assert prefix.error == pytest.approx(np.abs(outputs - targets).max())
    again = fit_layer(layer, content[:5, -1], content[:5], targets[[0, 1, 2, 3, 0]])  # the same twice counts once
    np.testing.assert_allclose(
        layer.attend(content[:4], prefix=again, causal=True)[:, -1], targets[:4], atol=1e-13 * again.condition
    )


def test_what_no_prefix_improves_gets_an_empty_one():
    rng = np.random.default_rng(23)
    layer, content = random_layer(rng, groups=2, size=32**-0.5), rng.standard_normal((30, 5, 32))
    outputs = layer.attend(content, causal=True)[:, -1]
    targets = outputs + 1e-3 * rng.standard_normal(outputs.shape)
    with pytest.warns(RuntimeWarning, match="no prefix of 2 tokens at these queries is nearer to 'targets' than none"):
        prefix = fit_layer(layer, content[:, -1], content, targets, length=2)
    assert len(prefix) == 0
    assert prefix.error == pytest.approx(abs(outputs - targets).max(), rel=1e-9)
    assert prefix.share.shape == (4, 30)
    np.testing.assert_allclose(layer.attend(content, prefix=prefix, causal=True)[:, -1], outputs, atol=1e-13)


def test_targets_outside_the_range_of_the_layer():
    rng = np.random.default_rng(10)
    query, key, value = rng.standard_normal((3, 4, 6))
    out = rng.standard_normal((6, 4))
    layer = AttentionLayer(query, key, value, out, heads=1)
    x, targets = rng.standard_normal((3, 2, 6)), rng.standard_normal((3, 6))
    prefix = fit_layer(layer, x[:, -1], x, targets)
    away = targets - layer.attend(x)[:, -1]
    away -= away @ np.linalg.pinv(out).T @ out.T
    assert prefix.error == pytest.approx(abs(away).max(), rel=1e-9)


def test_the_same_context_in_another_order_is_the_same_example():
    query, key, value, targets = examples(np.random.default_rng(0), 3, 4)
    order = np.random.default_rng(1).permutation(12)
    query[1], key[1], value[1], targets[1] = query[0], key[0, order], value[0, order], targets[0]
    prefix = fit_prefix(query, key, value, targets)
    assert len(prefix) == 2
    assert prefix.error < 1e-13


@pytest.mark.parametrize("size", [1e-69, 1e69])
@pytest.mark.parametrize("length", [None, 3])
def test_sizes_of_queries_and_values_do_not_matter(size, length):
    query, key, value, targets = examples(np.random.default_rng(2), 8, 4)
    ours = fit_prefix(query, key, value, targets, length=length)
    units = 2.0 ** round(np.log2(size)), 2.0**600
    large = fit_prefix(query * units[0], key / units[0], value * units[1], targets * units[1], length=length)
    np.testing.assert_allclose(large.value / units[1], ours.value, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(large.share, ours.share, rtol=1e-10)
    np.testing.assert_allclose(large.error / units[1], ours.error, rtol=1e-8, atol=1e-13)


def test_fewer_tokens_than_dependent_queries():
    # the Gaussian kernel of these has rank 1 up to rounding
    query, key, value, targets = examples(np.random.default_rng(3), 30, 8)
    prefix = fit_prefix(query, key, value, targets, length=22, key_scale=4.0, scale=1e-10)
    assert len(np.unique(prefix.key, axis=0)) == 22
    assert np.isfinite(prefix.value).all()
