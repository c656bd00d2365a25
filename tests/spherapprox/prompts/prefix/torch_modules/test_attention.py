"""`PrefixAttention` against torch's own module on a prefix's tokens and the content, and inside torch's layers."""

import copy
import io
import math

import numpy as np
import pytest
from attention_layers import random_module
from hypothesis import given
from hypothesis import strategies as st

from spherapprox.prompts.prefix import Prefix, as_layer

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from spherapprox.prompts.prefix.torch_modules import PrefixAttention, head_inputs  # noqa: E402

SPACES = ("key_values", "tokens")


def tokens_before(mha, tokens, x):
    """Return tokens and then content, in the module's order of axes."""
    if x.ndim == 2:
        return torch.cat([tokens, x])
    axis = 1 if mha.batch_first else 0
    shape = (len(x), *tokens.shape) if mha.batch_first else (len(tokens), x.shape[1], tokens.shape[1])
    return torch.cat([tokens.unsqueeze(1 - axis).expand(shape), x], axis)


def masks(draw, kind, shape):
    """Return a mask of a kind, in which no row is all unseen."""
    if kind is None:
        return None
    generator = torch.Generator().manual_seed(draw(st.integers(0, 99)))
    if kind == "float":
        return torch.randn(shape, generator=generator, dtype=torch.float64)
    mask = torch.rand(shape, generator=generator) < 0.4
    mask[..., -1] = False
    return mask


def widened(mask, length):
    """Return a mask, as numbers, with columns for the prefix, which all see."""
    if mask is None:
        return None
    numbers = torch.zeros(mask.shape).masked_fill(mask, -math.inf) if mask.dtype == torch.bool else mask
    return torch.cat([torch.zeros(*mask.shape[:-1], length), numbers], -1).double()


KINDS = (None, "bool", "float")


@given(data=st.data())
def test_it_is_the_module_on_the_prefix_and_the_content(data):
    draw = data.draw
    heads, batch, t, length = (draw(st.integers(1, 4)) for _ in range(4))
    length -= draw(st.sampled_from([0, 0, 1]))
    batch_first, batched, cross, weighted, averaged = (draw(st.booleans()) for _ in range(5))
    n = draw(st.integers(1, 5)) if cross else t
    mha = random_module(
        4 * heads, heads, seed=draw(st.integers(0, 9)), bias=draw(st.booleans()), batch_first=batch_first
    )
    order = (lambda *a: a) if batch_first else (lambda b, *a: (a[0], b, *a[1:]))
    x = torch.randn(order(batch, t, 4 * heads) if batched else (t, 4 * heads), dtype=torch.float64)
    content = torch.randn(order(batch, n, 4 * heads) if batched else (n, 4 * heads), dtype=torch.float64)
    content = content if cross else x
    several = (batch if batched else 1) * heads
    attn_mask = masks(draw, draw(st.sampled_from(KINDS)), draw(st.sampled_from([(t, n), (several, t, n)])))
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        attn_mask[..., -1] = False
    padding = masks(draw, draw(st.sampled_from(KINDS)), (batch, n) if batched else (n,))
    tokens = torch.randn(length, 4 * heads, dtype=torch.float64)
    long = tokens_before(mha, tokens, content)
    expected = mha(
        x, long, long, key_padding_mask=widened(padding, length), attn_mask=widened(attn_mask, length),
        need_weights=weighted, average_attn_weights=averaged,
    )  # fmt: skip
    module = PrefixAttention(mha, as_layer(mha).prefix(tokens), space=draw(st.sampled_from(SPACES)))
    result = module(x, content, content, padding, weighted, attn_mask, averaged)
    torch.testing.assert_close(result[0], expected[0], rtol=0, atol=1e-13)
    assert (result[1] is None) == (not weighted)
    if weighted:
        torch.testing.assert_close(result[1], expected[1], rtol=0, atol=1e-13)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("hint", [True, False])
def test_the_first_place_sees_the_prefix_and_itself(space, weighted, hint):
    mha = random_module(batch_first=True)
    x, tokens = torch.randn(2, 5, 12, dtype=torch.float64), torch.randn(3, 12, dtype=torch.float64)
    module = PrefixAttention(mha, as_layer(mha).prefix(tokens), space=space)
    mask = None if hint else torch.ones(5, 5, dtype=torch.bool).triu(1)
    outputs, weights = module(x, x, x, attn_mask=mask, is_causal=True, need_weights=weighted)
    long = torch.cat([tokens.expand(2, 3, 12), x[:, :1]], 1)
    torch.testing.assert_close(outputs[:, :1], mha(x[:, :1], long, long)[0], rtol=0, atol=1e-13)
    expected = as_layer(mha).attend(x, prefix=as_layer(mha).prefix(tokens), causal=True)
    np.testing.assert_allclose(outputs.detach(), expected, rtol=0, atol=1e-13)
    if weighted:
        assert weights.shape == (2, 5, 8)
        assert (weights[:, 0, :4] > 0).all()
        assert not weights[:, 0, 4:].any()


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("rows", [1, 4])
def test_the_last_queries_are_at_the_end_of_the_content(rows, weighted):
    mha = random_module(batch_first=True)
    x, tokens = torch.randn(2, 6, 12, dtype=torch.float64), torch.randn(3, 12, dtype=torch.float64)
    module = PrefixAttention(mha, as_layer(mha).prefix(tokens))
    whole = module(x, x, x, is_causal=True)[0][:, 6 - rows :]
    result = module(x[:, 6 - rows :], x, x, is_causal=True, need_weights=weighted)[0]
    torch.testing.assert_close(result, whole, rtol=0, atol=1e-13)
    with pytest.raises(ValueError, match=r"'is_causal' needs as many tokens of content .* got 5 for 6"):
        module(x, x[:, 1:], x[:, 1:], is_causal=True)


@pytest.mark.parametrize("same", [True, False])
def test_keys_and_values_of_their_own_and_other_values_than_keys(same):
    mha = random_module()
    query, key, value = torch.randn(3, 4, 2, 12, dtype=torch.float64)
    key = query if same else key
    rng = np.random.default_rng(0)
    prefix = Prefix(*rng.standard_normal((2, 3, 5, 4)))
    result = PrefixAttention(mha, prefix)(query, key, value, need_weights=False)[0].detach()
    q, k, _ = (part.detach().numpy() for part in head_inputs(mha, query, key))
    v = head_inputs(mha, query, value)[2].detach().numpy()
    heads = np.moveaxis(prefix.attend(q, k, v), 1, 2).reshape(2, 4, 12)
    layer = as_layer(mha)
    np.testing.assert_allclose(result.transpose(0, 1), heads @ layer.out.T + layer.out_bias, rtol=0, atol=1e-13)


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_prefixes_of_heads_that_differ_in_length(masked, weighted):
    mha = random_module(batch_first=True)
    x, rng = torch.randn(2, 5, 12, dtype=torch.float64), np.random.default_rng(0)
    prefixes = [Prefix(*rng.standard_normal((2, n, 4))) if n else None for n in (2, 0, 6)]
    module = PrefixAttention(mha, prefixes)
    assert [len(part) for part in module.prefixes()] == [2, 0, 6]
    mask = torch.ones(5, 5, dtype=torch.bool).triu(1) if masked else None
    result = module(x, x, x, attn_mask=mask, need_weights=weighted)[0].detach()
    q, k, v = (part.detach().numpy() for part in head_inputs(mha, x))
    expected = np.empty((2, 5, 12))
    for h, prefix in enumerate(module.prefixes()):
        for i in range(5):
            seen = slice(i + 1 if masked else 5)
            rows = prefix.attend(q[:, h, i : i + 1], k[:, h, seen], v[:, h, seen])
            expected[:, i, 4 * h : 4 * h + 4] = rows[:, 0]
    layer = as_layer(mha)
    np.testing.assert_allclose(result, expected @ layer.out.T + layer.out_bias, rtol=0, atol=1e-13)


def test_prefixes_are_read_back():
    mha = random_module()
    whole = as_layer(mha).prefix(torch.randn(5, 12))
    for space in SPACES:
        module = PrefixAttention(mha, whole, space=space)
        again = PrefixAttention(mha, module.prefixes())
        for h, part in enumerate(module.prefixes()):
            np.testing.assert_allclose(part.key, whole.key[h], rtol=0, atol=1e-14)
            np.testing.assert_allclose(part.value, whole.value[h], rtol=0, atol=1e-14)
        torch.testing.assert_close(again.prefix_key, module.keys_and_values()[0])
    one = random_module(4, 1)
    short = Prefix(np.ones((2, 4)), np.zeros((2, 4)))
    assert PrefixAttention(one, short).prefix_key.shape == (1, 2, 4)


@pytest.mark.parametrize("masked", [True, False])
def test_torchs_own_bias_of_keys_is_a_prefix_of_one_token(masked):
    mha = random_module(d=12, heads=3, batch_first=True, add_bias_kv=True)
    plain = random_module(d=12, heads=3, batch_first=True)
    plain.load_state_dict({name: t for name, t in mha.state_dict().items() if not name.startswith("bias_")})
    key, value = (bias.detach().reshape(3, 1, 4) for bias in (mha.bias_k, mha.bias_v))
    x = torch.randn(2, 5, 12, dtype=torch.float64)
    mask = torch.randn(5, 5, dtype=torch.float64) if masked else None
    expected, weights = mha(x, x, x, attn_mask=mask)
    result, own = PrefixAttention(plain, Prefix(key, value))(x, x, x, attn_mask=mask)
    torch.testing.assert_close(result, expected, rtol=0, atol=1e-14)
    torch.testing.assert_close(own, weights.roll(1, -1), rtol=0, atol=1e-14)  # torch's is the last token


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("space", SPACES)
def test_encoder_layers_do_not_take_the_fast_path(norm_first, space):
    torch.manual_seed(1)
    layer = nn.TransformerEncoderLayer(12, 2, 24, 0.0, batch_first=True, norm_first=norm_first, dtype=torch.float64)
    x, tokens = torch.randn(2, 5, 12, dtype=torch.float64), 2.0 * torch.randn(3, 12, dtype=torch.float64)
    weights = as_layer(layer.self_attn)
    layer.self_attn = PrefixAttention(layer.self_attn, weights.prefix(tokens), space=space).requires_grad_(False)
    inner = layer.norm1(x) if norm_first else x
    attended = x + torch.tensor(weights.attend(inner, prefix=weights.prefix(tokens)))
    attended = attended if norm_first else layer.norm1(attended)
    fed = layer.norm2(attended) if norm_first else attended
    expected = attended + layer.linear2(torch.relu(layer.linear1(fed)))
    expected = expected if norm_first else layer.norm2(expected)
    with torch.no_grad():
        for mode in (True, False):
            torch.testing.assert_close(layer.train(mode)(x), expected.detach(), rtol=0, atol=1e-13)


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("padded", [True, False])
def test_encoders_evaluate_as_they_train(before, padded):
    torch.manual_seed(2)
    layer = nn.TransformerEncoderLayer(12, 2, 24, 0.0, batch_first=True, dtype=torch.float64)
    prefix = as_layer(layer.self_attn).prefix(torch.randn(3, 12))
    if before:
        layer.self_attn = PrefixAttention(layer.self_attn, prefix)
        encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    else:  # the encoder has made its mind up on nested tensors by then
        encoder = nn.TransformerEncoder(layer, 2)
        for part in encoder.layers:
            part.self_attn = PrefixAttention(part.self_attn, prefix)
    x = torch.randn(2, 5, 12, dtype=torch.float64)
    padding = torch.tensor([[False] * 5, [False] * 3 + [True] * 2]) if padded else None
    expected = encoder(x, src_key_padding_mask=padding)
    with torch.no_grad():
        torch.testing.assert_close(encoder.eval()(x, src_key_padding_mask=padding), expected.detach())
        causal = nn.Transformer.generate_square_subsequent_mask(5, dtype=torch.float64)
        alone = encoder(x[:, :2], mask=causal[:2, :2])
        torch.testing.assert_close(encoder(x, mask=causal, is_causal=True)[:, :2], alone)


def test_decoder_layers_take_prefixes_of_both_attentions():
    torch.manual_seed(3)
    layer = nn.TransformerDecoderLayer(12, 3, 24, 0.0, dtype=torch.float64)
    rng = np.random.default_rng(0)
    for name in ("self_attn", "multihead_attn"):
        setattr(layer, name, PrefixAttention(getattr(layer, name), Prefix(*rng.standard_normal((2, 3, 4, 4)))))
    decoder = nn.TransformerDecoder(layer, 2).eval()
    target, memory = torch.randn(5, 2, 12, dtype=torch.float64), torch.randn(3, 2, 12, dtype=torch.float64)
    causal = nn.Transformer.generate_square_subsequent_mask(5, dtype=torch.float64)
    result = decoder(target, memory, tgt_mask=causal, tgt_is_causal=True)
    first = decoder(target[:1], memory)
    torch.testing.assert_close(result[:1], first)
    y = layer.norm1(target + layer.self_attn(target, target, target, attn_mask=causal)[0])
    y = layer.norm2(y + layer.multihead_attn(y, memory, memory)[0])
    y = layer.norm3(y + layer.linear2(torch.relu(layer.linear1(y))))
    torch.testing.assert_close(nn.TransformerDecoder(layer, 1)(target, memory, tgt_mask=causal), y)


@pytest.mark.parametrize("space", SPACES)
def test_gradients_flow_to_the_prefix_and_the_inputs_alone(space):
    mha = random_module(4, 2, batch_first=True)
    module = PrefixAttention(mha, as_layer(mha).prefix(torch.randn(2, 4)), space=space)
    names = [name for name, parameter in module.named_parameters() if parameter.requires_grad]
    assert names == (["prefix_key", "prefix_value"] if space == "key_values" else ["prefix_tokens"])
    assert not any(parameter.requires_grad for parameter in mha.parameters())
    x = torch.randn(1, 3, 4, dtype=torch.float64, requires_grad=True)
    trained = [module.get_parameter(name).detach().requires_grad_() for name in names]

    def outputs(x, *parts):
        replaced = dict(zip(names, parts, strict=True))
        return torch.func.functional_call(module, replaced, (x, x, x), {"is_causal": True, "need_weights": False})[0]

    assert torch.autograd.gradcheck(outputs, (x, *trained))


@pytest.mark.parametrize("space", SPACES)
def test_training_lowers_the_loss_and_leaves_the_layer(space):
    mha = random_module(batch_first=True)
    module = PrefixAttention(mha, as_layer(mha).prefix(torch.randn(4, 12)), space=space)
    kept, x = copy.deepcopy(mha.state_dict()), torch.randn(2, 5, 12, dtype=torch.float64)
    expected = mha(x, x, x)[0] + 0.1
    optimizer = torch.optim.Adam([p for p in module.parameters() if p.requires_grad], 0.05)
    losses = []
    for _ in range(40):
        optimizer.zero_grad()
        losses.append((module(x, x, x)[0] - expected).square().mean())
        losses[-1].backward()
        optimizer.step()
    assert losses[-1] < 0.6 * losses[0]
    assert all(torch.equal(tensor, kept[name]) for name, tensor in mha.state_dict().items())


@pytest.mark.parametrize("ragged", [True, False])
def test_states_and_copies(ragged):
    mha, rng = random_module(batch_first=True), np.random.default_rng(0)
    rows = [Prefix(*rng.standard_normal((2, n, 4))) for n in ((3, 1, 3) if ragged else (3, 3, 3))]
    module, x = PrefixAttention(mha, rows), torch.randn(2, 5, 12, dtype=torch.float64)
    file = io.BytesIO()
    torch.save(module.state_dict(), file)
    file.seek(0)
    other = PrefixAttention(random_module(seed=5, batch_first=True), [Prefix(0 * row.key, row.value) for row in rows])
    other.load_state_dict(torch.load(file, weights_only=True))
    copied = copy.deepcopy(module)
    for one in (other, copied):
        assert torch.equal(one(x, x, x)[0], module(x, x, x)[0])
    with torch.no_grad():
        copied.prefix_key += 1.0
    assert not torch.equal(copied.prefix_key, module.prefix_key)
    fixed = PrefixAttention(mha, rows, trainable=False)
    assert not [p for p in fixed.parameters() if p.requires_grad]
    assert "prefix_key" in fixed.state_dict()
    assert fixed.float().prefix_key.dtype == torch.float32  # moves with the module


@pytest.mark.parametrize(("dtype", "limit"), [("float32", 2e-6), ("bfloat16", 0.02), ("float16", 2e-3)])
@pytest.mark.parametrize("weighted", [True, False])
def test_less_precision(dtype, limit, weighted):
    dtype = getattr(torch, dtype)
    mha = random_module(64, 4, batch_first=True).to(dtype)
    nn.init.normal_(mha.in_proj_weight, std=0.15)
    x, tokens = torch.randn(2, 9, 64).to(dtype), torch.randn(5, 64).to(dtype)
    layer = as_layer(mha)
    expected = layer.attend(x, prefix=layer.prefix(tokens), causal=True)
    for space in SPACES:
        module = PrefixAttention(mha, layer.prefix(tokens), space=space)
        result = module(x, x, x, is_causal=True, need_weights=weighted)[0]
        assert result.dtype == dtype
        assert np.abs(result.detach().double().numpy() - expected).max() < limit * np.abs(expected).max()


@pytest.mark.parametrize("space", SPACES)
def test_prefixes_of_more_precision(space):
    mha = random_module(batch_first=True).bfloat16()
    module = PrefixAttention(mha, as_layer(mha).prefix(torch.randn(3, 12).bfloat16()), space=space)
    x = torch.randn(2, 5, 12).bfloat16()
    expected = [module(x, x, x, need_weights=weighted)[0] for weighted in (True, False)]
    for name, parameter in module.named_parameters():
        if name.startswith("prefix"):
            parameter.data = parameter.data.float()  # so that small steps of training count
    result = [module(x, x, x, need_weights=weighted)[0] for weighted in (True, False)]
    assert all(map(torch.equal, result, expected))


def test_autocast():
    mha = random_module(batch_first=True).float()
    module = PrefixAttention(mha, as_layer(mha).prefix(torch.randn(3, 12)))
    x = torch.randn(2, 5, 12)
    expected = module(x, x, x)[0]
    with torch.autocast("cpu", torch.bfloat16):
        for weighted in (True, False):
            result = module(x, x, x, is_causal=False, need_weights=weighted)[0]
            assert result.dtype == torch.bfloat16
            torch.testing.assert_close(
                result.float(), expected, rtol=0, atol=0.05 * float(expected.detach().abs().max())
            )


def test_dropout_is_the_modules():
    mha = random_module(batch_first=True, dropout=0.5)
    x, tokens = torch.randn(2, 5, 12, dtype=torch.float64), torch.randn(3, 12, dtype=torch.float64)
    module, long = PrefixAttention(mha, as_layer(mha).prefix(tokens)), tokens_before(mha, tokens, x)
    torch.manual_seed(4)
    expected = mha(x, long, long)
    torch.manual_seed(4)
    result = module(x, x, x)
    torch.testing.assert_close(result[0], expected[0], rtol=0, atol=1e-13)
    torch.testing.assert_close(result[1], expected[1], rtol=0, atol=1e-13)
    draws = [module(x, x, x, need_weights=False)[0] for _ in range(2)]
    assert not torch.equal(*draws)
    assert torch.equal(module.eval()(x, x, x)[0], module(x, x, x)[0])
