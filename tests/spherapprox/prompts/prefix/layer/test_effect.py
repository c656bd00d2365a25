"""Shares and effects of prefixes against their definitions and torch's own attention."""

import math

import numpy as np
import pytest
from attention_layers import random_layer, random_module
from hypothesis import given
from hypothesis import strategies as st

from spherapprox.prompts.prefix import AttentionLayer, Prefix, as_layer, context, prefix_effect, prefix_share


def softmax(logits):
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def test_share_and_context_of_the_page():
    query, key, prefix_key = [1.0, 2.0], [[0.0, 1.0], [1.0, 1.0]], [[2.0, 0.0]]
    share = prefix_share(query, prefix_key, key, scale=1.0)
    assert share.shape == ()
    assert float(share) == pytest.approx(0.21194155761708539, rel=1e-15)
    assert float(share) == pytest.approx(1.0 / (2.0 + math.e), rel=1e-15)
    log_mass, mean = context(query, key, [[1.0, 0.0], [0.0, 2.0]], scale=1.0)
    assert float(log_mass) == pytest.approx(math.log(math.e**2 + math.e**3), rel=1e-15)
    np.testing.assert_allclose(mean, [1.0 / (1.0 + math.e), 2.0 * math.e / (1.0 + math.e)], rtol=1e-15)
    # the default scale
    assert float(prefix_share(query, prefix_key, key)) == pytest.approx(
        float(prefix_share(query, prefix_key, key, scale=0.5**0.5)), rel=1e-15
    )


def test_tiny_and_whole_shares_keep_their_digits():
    key = [[1.0, 0.0]]
    assert float(prefix_share([600.0, 0.0], [[0.0, 1.0]], key, scale=1.0)) == pytest.approx(math.exp(-600.0), rel=1e-12)
    assert float(prefix_share([1e6, 0.0], [[0.0, 1.0]], key, scale=1.0)) == 0.0
    assert float(prefix_share([-1e6, 0.0], [[0.0, 1.0]], key, scale=1.0)) == 1.0
    assert float(prefix_share([1.0, 0.0], np.empty((0, 2)), key)) == 0.0
    assert float(prefix_share([1.0, 0.0], key, np.empty((0, 2)))) == 1.0


@pytest.mark.parametrize("causal", [True, False])
def test_effect_is_what_the_module_does(causal):
    torch = pytest.importorskip("torch")
    mha = random_module(16, 4, seed=1, batch_first=True)
    x, tokens = torch.randn(6, 16, dtype=torch.float64), torch.randn(3, 16, dtype=torch.float64)
    long = torch.cat([tokens, x])
    mask = torch.cat([torch.zeros(6, 3, dtype=torch.bool), torch.triu(torch.full((6, 6), causal), 1)], 1)
    effect = prefix_effect(x, tokens, mha, causal=causal)
    expected, weights = mha(x, long, long, attn_mask=mask, average_attn_weights=False)
    np.testing.assert_allclose(effect.prefixed_attention, weights.detach(), rtol=0, atol=1e-14)
    np.testing.assert_allclose(effect.share, weights[..., :3].sum(-1).detach(), rtol=0, atol=1e-14)
    np.testing.assert_allclose(sum(effect.split_output()), expected.detach(), rtol=0, atol=1e-13)
    bare, weights = mha(x, x, x, attn_mask=mask[:, 3:], average_attn_weights=False)
    np.testing.assert_allclose(effect.attention, weights.detach(), rtol=0, atol=1e-14)
    joined = np.moveaxis(effect.output, 0, 1).reshape(6, -1) @ as_layer(mha).out.T + as_layer(mha).out_bias
    np.testing.assert_allclose(joined, bare.detach(), rtol=0, atol=1e-13)
    # the logits of a next module, from its weights of attention
    following = torch.nn.MultiheadAttention(16, 2, batch_first=True, dtype=torch.float64)
    torch.nn.init.normal_(following.in_proj_bias)
    _, weights = following(expected, expected, expected, average_attn_weights=False)
    terms = effect.next_logits(following)
    assert all(term.shape == (2, 6, 6) for term in terms)
    np.testing.assert_allclose(softmax(sum(terms)), weights.detach(), rtol=0, atol=1e-13)


@given(
    st.integers(0, 2**31), st.sampled_from([(1, 1), (2, 2), (4, 2), (4, 1)]), st.integers(1, 6), st.integers(0, 4),
    st.booleans(), st.sampled_from([0.1, 1.0, 6.0]),
)  # fmt: skip
def test_identities_of_the_page(seed, heads, rows, length, causal, size):
    rng = np.random.default_rng(seed)
    layer = random_layer(rng, 8, *heads, s=4, p=3, outputs=5, size=size)
    x = rng.standard_normal((2, rows, 8))
    keys = rng.standard_normal((heads[1], length, 4)), rng.standard_normal((heads[1], length, 3))
    effect = prefix_effect(x, Prefix(*keys), layer, causal=causal)
    assert effect.share.shape == (2, heads[0], rows)
    assert effect.prefixed_attention.shape == (2, heads[0], rows, length + rows)
    kept = 1.0 - effect.share[..., None]
    close = {"rtol": 0, "atol": 1e-13 * np.abs(effect.output).max() + 1e-13}
    np.testing.assert_allclose(effect.prefixed_output, effect.bias + kept * effect.output, **close)
    np.testing.assert_allclose(effect.prefixed_attention[..., length:], kept * effect.attention, rtol=0, atol=1e-13)
    # against the layer's own outputs, and a prefix's share by its definition
    outputs = layer.head_outputs(x, prefix=Prefix(*keys), causal=causal)
    np.testing.assert_allclose(effect.prefixed_output, outputs, **close)
    np.testing.assert_allclose(layer.attend(x, prefix=Prefix(*keys), causal=causal), sum(effect.split_output()),
                               rtol=0, atol=1e-12 * (1.0 + size**2) * (1.0 + np.abs(outputs).max()))  # fmt: skip
    if not causal:
        query, key, value = layer.head_inputs(x)
        far = np.repeat(keys[0], heads[0] // heads[1], 0)
        share = prefix_share(query, far[:, None], key[..., None, :, :], scale=layer.scale)
        np.testing.assert_allclose(effect.share, share, rtol=1e-11)
        log_mass, mean = context(query, key[..., None, :, :], value[..., None, :, :], scale=layer.scale)
        np.testing.assert_allclose(effect.output, mean, **close)
        assert log_mass.shape == share.shape
    for row in np.reshape(effect.bias, (-1, rows, 3)):
        assert np.linalg.matrix_rank(row, tol=1e-9) <= length


def test_terms_of_the_next_logits_of_one_token_are_the_theses():
    rng = np.random.default_rng(3)
    layer, h = AttentionLayer(*rng.standard_normal((3, 4, 4)), heads=1), rng.standard_normal((4, 4))
    x, token = rng.standard_normal((5, 4)), rng.standard_normal((1, 4))
    effect = prefix_effect(x, token, layer, causal=False)
    mu, share, t = layer.value @ token[0], effect.share[0], effect.output[0]
    rest = 1.0 - share
    expected = (
        np.outer(share, share) * (mu @ h @ mu),
        np.outer(share, rest) * (h @ t.T).T.dot(mu)[None],
        np.outer(rest * (t @ h @ mu), share),
        np.outer(rest, rest) * (t @ h @ t.T),
    )
    terms = effect.next_logits(h)
    names = ("bias_bias", "bias_content", "content_bias", "content_content")
    for name, term in zip(names, expected, strict=True):
        np.testing.assert_allclose(getattr(terms, name), term, rtol=1e-12, atol=1e-14)


def test_misprints_of_the_mixing_identity():
    # Hu et al. (2024): (I.2) sums the content to m, which is the length of nothing here; (1.3) divides keys' rows
    rng = np.random.default_rng(0)
    prefix_key, key, query = rng.standard_normal((2, 3)), rng.standard_normal((5, 3)), rng.standard_normal(3)
    prefix_value, value = rng.standard_normal((2, 3)), rng.standard_normal((5, 3))
    share = prefix_share(query, prefix_key, key, scale=1.0)
    far, own = context(query, prefix_key, prefix_value, scale=1.0), context(query, key, value, scale=1.0)
    expected = Prefix(prefix_key, prefix_value).attend(query[None], key, value, scale=1.0)[0]
    np.testing.assert_allclose(share * far[1] + (1.0 - share) * own[1], expected, rtol=1e-14)
    short = np.exp(context(query, key[:2], value[:2], scale=1.0)[0] - np.logaddexp(far[0], own[0]))  # m = 2, L = 5
    assert np.abs(share * far[1] + short * own[1] - expected).max() > 0.02
    logits = np.exp(key @ rng.standard_normal((3, 5)))  # queries in columns
    assert np.abs((logits / logits.sum(axis=1)[:, None]).sum(axis=0) - 1.0).max() > 0.1
    np.testing.assert_allclose((logits / logits.sum(axis=0)).sum(axis=0), 1.0, rtol=1e-14)
