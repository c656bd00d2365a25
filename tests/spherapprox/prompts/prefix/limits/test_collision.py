"""Contents that no prefix tells apart, under random prefixes of arrays and of torch's own modules."""

import numpy as np
import pytest
from attention_layers import random_module
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox.prompts.prefix import AttentionLayer, Prefix, collision, context, unavoidable_error


def test_two_hundred_prefixes_do_not_tell_them_apart():
    rng = np.random.default_rng(0)
    layer = AttentionLayer(*rng.standard_normal((2, 6, 6)), rng.standard_normal((3, 6)), scale=1.0, heads=1)
    x = rng.standard_normal((5, 6))
    other = collision(x, layer, rng=0)
    assert np.abs(other - x).max() > 1.0
    assert np.array_equal(other[-1], x[-1])
    for _ in range(200):
        prefix = layer.prefix(3.0 * rng.standard_normal((int(rng.integers(1, 6)), 6)))
        outputs = [layer.head_outputs(rows[-1:], rows, prefix=prefix) for rows in (x, other)]
        np.testing.assert_allclose(*outputs, rtol=0, atol=8e-13)
    # the others see a difference
    assert np.abs(layer.attend(x, prefix=prefix) - layer.attend(other, prefix=prefix)).max() > 1e-3


def test_a_module_does_not_tell_them_apart():
    torch = pytest.importorskip("torch")
    mha = random_module(32, 4, std=0.3, batch_first=True).requires_grad_(False)
    x = torch.randn(4, 32, dtype=torch.float64)
    other = torch.tensor(collision(x, mha, rng=1))
    assert torch.linalg.norm(other - x) > 0.1 * torch.linalg.norm(x)
    for length in (1, 3, 7):
        tokens = 2.0 * torch.randn(length, 32, dtype=torch.float64)
        outputs = [mha(rows[-1:], torch.cat([tokens, rows]), torch.cat([tokens, rows]))[0] for rows in (x, other)]
        np.testing.assert_allclose(*outputs, rtol=0, atol=1e-11)
    targets = torch.zeros(2, 32)
    targets[1, 3] = 4.0
    assert 2.0 * (1.0 - 1e-7) < unavoidable_error(x, other, mha, targets) <= 2.0
    assert unavoidable_error(x, other, mha, targets[:, :4]) == 2.0  # of a model behind
    for scale in (1e-200, 1e200):  # whose squares are no floats
        assert unavoidable_error(x, other, mha, scale * targets[:, :4].double()) == pytest.approx(
            2.0 * scale, rel=1e-15
        )
    assert unavoidable_error(x, other, mha, 1e200 * targets.double()) == pytest.approx(2e200, rel=1e-7)


@settings(max_examples=25)
@given(
    st.integers(0, 2**31), st.sampled_from([(1, 1), (2, 2), (2, 1), (4, 2)]), st.integers(2, 5), st.integers(0, 2),
    st.sampled_from([0.2, 1.0, 2.0]), st.sampled_from([0.0, 1e-3, 1.0, 1e3]),
)  # fmt: skip
def test_no_head_tells_them_apart_under_any_keys_and_values(seed, heads, s, more, size, spread):
    rng = np.random.default_rng(seed)
    (h, g), d = heads, 6
    shapes = ((h * s, d), (g * s, d), (g * 2, d))
    layer = AttentionLayer(*(size * rng.standard_normal(shape) for shape in shapes), heads=h, key_value_heads=g)
    x = spread * rng.standard_normal((3 * h // d + 2 + more, d))  # more than h (1 + 2) numbers before the last token
    other = collision(x, layer, rng=seed)
    assert np.linalg.norm(other - x) > 0.1 * np.linalg.norm(x)
    # any keys and values, as far from the content as they like
    prefix = Prefix(3.0 * rng.standard_normal((g, 4, s)), 5.0 * spread * rng.standard_normal((g, 4, 2)))
    outputs = [layer.head_outputs(rows[-1:], rows, prefix=prefix) for rows in (x, other)]
    logits = size**2 * spread**2 * s
    np.testing.assert_allclose(
        *outputs, rtol=0, atol=1e-10 * (1.0 + logits) * (spread * size + spread + (spread == 0.0))
    )


def test_the_rank_of_the_values_counts():
    rng = np.random.default_rng(2)
    query, key, value = rng.standard_normal((3, 6, 6))
    x = rng.standard_normal((2, 6))
    # two tokens and values of full rank: only the same content; of rank 4 there is other
    with pytest.raises(
        ValueError, match=r"more numbers before its last token than the 7 .* got 6: take at least 3 tokens"
    ):
        collision(x, AttentionLayer(query, key, value, heads=1))
    low = AttentionLayer(query, key, value[:, :4] @ rng.standard_normal((4, 6)), heads=1)
    other = collision(x, low, rng=0)
    assert np.linalg.norm(other - x) > 0.1 * np.linalg.norm(x)
    np.testing.assert_allclose(low.attend(other[-1:], other), low.attend(x[-1:], x), rtol=0, atol=1e-11)
    with pytest.raises(ValueError, match="got 0"):
        collision(x[:1], low)
    grouped = AttentionLayer(query[:4], key[:2], value[:4], heads=4, key_value_heads=2)
    with pytest.raises(ValueError, match="than the 12 that"):  # four heads see two numbers each, and have a log mass
        collision(np.vstack([x, x[:1]]), grouped)


def test_the_same_seed_gives_the_same_content():
    rng = np.random.default_rng(2)
    layer = AttentionLayer(*rng.standard_normal((3, 6, 6)), heads=3)
    x = rng.standard_normal((4, 6))
    first, second, third = (collision(x, layer, rng=seed) for seed in (5, 5, 6))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, third)


@given(st.integers(0, 2**31), st.sampled_from([0.0, 1e-6, 0.3]), st.sampled_from([0.0, 1e-6, 0.3]))
def test_what_nearly_colliding_contents_may_differ_by(seed, delta, eta):
    # docs/theorems/8.4-collisions.md (rounding): contents of one token each, of given log mass and mean
    rng = np.random.default_rng(seed)
    query, mass, mean = np.array([1.0]), rng.normal(), rng.standard_normal(3)
    change = eta * rng.standard_normal(3)
    change *= eta / max(np.linalg.norm(change), 1e-300)
    contents = [(mass, mean), (mass + delta * rng.choice([-1.0, 1.0]), mean + change)]
    prefix = Prefix(rng.standard_normal((2, 1)), 10.0 * rng.standard_normal((2, 3)))
    o, p = (prefix.attend(query[None], [[c]], [t], scale=1.0)[0] for c, t in contents)
    assert context(query, [[mass]], [mean], scale=1.0)[0] == pytest.approx(mass)
    assert np.linalg.norm(o - p) <= eta + np.expm1(delta) * np.linalg.norm(o - mean) + 1e-13


def two_heads(seed, out):
    """Return a layer of two heads with one value each, and contents that collide up to some 1e-13."""
    rng = np.random.default_rng(seed)
    layer = AttentionLayer(*rng.standard_normal((2, 6, 6)), rng.standard_normal((2, 6)), out, heads=2)
    x = rng.standard_normal((4, 6))
    other = collision(x, layer, rng=seed)
    other[:3] += 1e-13 * rng.standard_normal((3, 6))
    return layer, x, other


def answers(layer, x, other, size):
    """Return outputs at both contents under a prefix of one token whose values cancel behind the heads."""
    query, key, value = layer.head_inputs(x[-1:], x)
    mass, mean = context(query[:, 0], key, value, scale=layer.scale)
    square = np.square(query[:, 0]).sum(axis=1)[:, None]
    keys = query[:, 0] * mass[:, None] / (layer.scale * square)  # of the content's mass
    prefix = Prefix(keys[:, None], (mean + size * np.array([[1.0], [-1.0]]))[:, None])
    return [layer.attend(rows[-1:], rows, prefix=prefix)[0] for rows in (x, other)]


@pytest.mark.parametrize("seed", range(4))
def test_outputs_of_a_prefix_are_never_refuted(seed):
    # columns nearly dependent: outputs are of size 1, and those of the heads 1e9
    layer, x, other = two_heads(seed, [[1.0, 1.0], [0.0, 1e-9]])
    targets = np.array(answers(layer, x, other, 1e9))
    assert np.linalg.norm(targets[0] - targets[1]) > 1e-7
    assert unavoidable_error(x, other, layer, targets) == 0.0
    apart = targets + np.array([[0.0, 0.0], [0.0, 2.0]])
    assert 0.9 < unavoidable_error(x, other, layer, apart) < 1.0


def test_dependent_columns_behind_the_heads_are_refused():
    # a prefix with values of 1e12 reaches both targets, whose distance grows with them
    layer, x, other = two_heads(0, [[1.0, 1.0]])
    targets = answers(layer, x, other, 1e13)
    assert abs(targets[0] - targets[1]) > 0.01
    for out in ([[1.0, 1.0]], [[1.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [0.0, 1e-14]]):
        bad = AttentionLayer(layer.query, layer.key, layer.value, out, heads=2)
        with pytest.raises(ValueError, match="'layer' must have independent columns in its weights behind the heads"):
            unavoidable_error(x, other, bad, [[0.0], [1.0]])


def test_an_order_of_the_same_tokens_collides():
    rng = np.random.default_rng(0)
    layer, x = AttentionLayer(*rng.standard_normal((3, 6, 6)), heads=1), rng.standard_normal((4, 6))
    assert unavoidable_error(x, x[[1, 0, 2, 3]], layer, [[3.0], [0.0]]) == 1.5
