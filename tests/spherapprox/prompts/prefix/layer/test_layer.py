"""`AttentionLayer` and `Prefix` against torch's own attention, and their complaints."""

from types import SimpleNamespace

import numpy as np
import pytest
from attention_layers import random_layer, random_module

from spherapprox.prompts.prefix import AttentionLayer, Prefix, as_layer


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("causal", [True, False])
def test_the_layer_is_the_module(bias, causal):
    torch = pytest.importorskip("torch")
    mha = random_module(32, 4, std=0.4, bias=bias, batch_first=True)
    x = torch.randn(2, 7, 32, dtype=torch.float64)
    mask = torch.triu(torch.ones(7, 7, dtype=torch.bool), 1) if causal else None
    expected = mha(x, x, x, attn_mask=mask, need_weights=False)[0].detach().numpy()
    layer = as_layer(mha)
    np.testing.assert_allclose(layer.attend(x, causal=causal), expected, rtol=0, atol=1e-13)
    projected = torch.nn.functional.linear(x, mha.in_proj_weight, mha.in_proj_bias).detach().numpy()
    for part, rows in zip(layer.head_inputs(x), np.split(projected, 3, axis=-1), strict=True):
        np.testing.assert_allclose(np.moveaxis(part, 1, 2).reshape(2, 7, 32), rows, rtol=0, atol=1e-14)
    # a prefix of tokens is content that comes first
    tokens = torch.randn(3, 32, dtype=torch.float64)
    long = torch.cat([tokens.expand(2, 3, 32), x], 1)
    expected = mha(x, long, long, need_weights=False)[0].detach().numpy()
    np.testing.assert_allclose(layer.attend(x, prefix=layer.prefix(tokens)), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_modules_of_less_precision_are_read_exactly(dtype):
    torch = pytest.importorskip("torch")
    mha = torch.nn.MultiheadAttention(8, 2, dtype=getattr(torch, dtype))
    assert np.array_equal(as_layer(mha).query, mha.in_proj_weight[:8].detach().double().numpy())


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_grouped_heads_share_keys_and_values_as_torch_does(groups):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(groups)
    layer = random_layer(rng, 12, 4, groups, p=3, outputs=7)
    x, tokens = rng.standard_normal((2, 5, 12)), rng.standard_normal((6, 12))
    query, key, value = (torch.tensor(part) for part in layer.head_inputs(x))
    far = [torch.tensor(part).expand(2, -1, -1, -1) for part in (layer.prefix(tokens).key, layer.prefix(tokens).value)]
    step = 4 // groups
    keys, values = torch.cat([far[0], key[:, ::step]], 2), torch.cat([far[1], value[:, ::step]], 2)
    result = torch.nn.functional.scaled_dot_product_attention(query, keys, values, enable_gqa=True)
    expected = result.transpose(1, 2).reshape(2, 5, -1).numpy() @ layer.out.T + layer.out_bias
    np.testing.assert_allclose(layer.attend(x, prefix=layer.prefix(tokens)), expected, rtol=0, atol=1e-12)


def test_fused_weights_are_the_separate_ones():
    rng = np.random.default_rng(3)
    layer = random_layer(rng, 12, 4, 2, p=3, outputs=7)
    qkv = np.concatenate([layer.query, layer.key, layer.value])
    bias = np.concatenate([layer.query_bias, layer.key_bias, layer.value_bias])
    fused = AttentionLayer.fused(
        qkv, layer.out, bias=bias, out_bias=layer.out_bias, heads=4, key_value_heads=2, scale=0.3
    )
    separate = AttentionLayer(
        layer.query, layer.key, layer.value, layer.out, query_bias=layer.query_bias, key_bias=layer.key_bias,
        value_bias=layer.value_bias, out_bias=layer.out_bias, heads=4, key_value_heads=2, scale=0.3,
    )  # fmt: skip
    x = rng.standard_normal((6, 12))
    assert np.array_equal(fused.attend(x), separate.attend(x))
    assert not np.allclose(fused.attend(x), layer.attend(x))


def test_content_of_its_own_and_one_head_without_an_output_matrix():
    rng = np.random.default_rng(4)
    query, key, value = rng.standard_normal((3, 4, 6))
    layer = AttentionLayer(query, key, value, scale=2.0, heads=1)
    x, content = rng.standard_normal((5, 6)), rng.standard_normal((3, 6))
    weights = np.exp(2.0 * x @ query.T @ key @ content.T)
    expected = weights / weights.sum(1, keepdims=True) @ content @ value.T
    np.testing.assert_allclose(layer.attend(x, content), expected, atol=1e-13)
    prefix = Prefix(content @ key.T, content @ value.T)
    np.testing.assert_allclose(
        prefix.attend(x @ query.T, np.empty((0, 4)), np.empty((0, 4)), scale=2.0), expected, atol=1e-13
    )


@pytest.mark.parametrize("rows", [1, 4, 6])
def test_the_last_queries_are_at_the_end_of_the_content(rows):
    rng = np.random.default_rng(5)
    layer = random_layer(rng, 12, 4, p=5, outputs=7)
    x, tokens = rng.standard_normal((2, 6, 12)), rng.standard_normal((3, 12))
    whole = layer.attend(x, prefix=layer.prefix(tokens), causal=True)
    result = layer.attend(x[:, 6 - rows :], x, prefix=layer.prefix(tokens), causal=True)
    np.testing.assert_allclose(result, whole[:, 6 - rows :], rtol=0, atol=1e-13)
    with pytest.raises(ValueError, match=r"'causal' needs as many tokens of content .* got 5 for 6"):
        layer.attend(x, x[:, 1:], prefix=layer.prefix(tokens), causal=True)


def test_logits_of_any_size():
    layer = AttentionLayer(np.eye(2), np.eye(2), np.eye(2), scale=1.0, heads=1)
    x = np.array([[1e150, 0.0], [0.0, 1e150]])
    np.testing.assert_array_equal(layer.attend(x), x)
    with pytest.raises(ValueError, match="logits scale"):
        layer.attend(1e10 * x)


def test_weights_are_read_as_they_are_computed():
    torch = pytest.importorskip("torch")
    mha = torch.nn.MultiheadAttention(8, 2, batch_first=True, dtype=torch.float64)
    torch.nn.utils.parametrizations.weight_norm(mha, "in_proj_weight")
    torch.nn.utils.parametrizations.orthogonal(mha.out_proj)
    x = torch.randn(1, 5, 8, dtype=torch.float64)
    with torch.no_grad():
        mha.parametrizations.in_proj_weight.original0 *= 3.0
        for module in (mha, SimpleNamespace(_orig_mod=mha)):  # as torch.compile wraps it
            np.testing.assert_allclose(as_layer(module).attend(x), mha(x, x, x)[0], rtol=0, atol=1e-14)


def test_adapters_that_are_merged_are_read():
    torch, peft = pytest.importorskip("torch"), pytest.importorskip("peft")
    torch.manual_seed(0)
    model = torch.nn.ModuleDict({"attn": torch.nn.MultiheadAttention(8, 2, batch_first=True, dtype=torch.float64)})
    config = peft.LoraConfig(target_modules=["attn"], r=2, init_lora_weights=False)
    adapted, x = peft.get_peft_model(model, config).double().eval(), torch.randn(1, 5, 8, dtype=torch.float64)
    expected = adapted.base_model.model["attn"](x, x, x)[0].detach()
    layer = as_layer(adapted.merge_and_unload()["attn"])
    np.testing.assert_allclose(layer.attend(x), expected, rtol=0, atol=1e-12)


def test_no_query_has_no_output():
    layer = AttentionLayer(*np.random.default_rng(0).standard_normal((4, 8, 8)), heads=2)
    assert layer.attend(np.zeros((0, 8)), np.ones((3, 8))).shape == (0, 8)
