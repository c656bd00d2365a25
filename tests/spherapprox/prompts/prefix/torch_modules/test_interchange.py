"""Prefixes as caches of transformers and embeddings of PEFT: the models' answers, and the arrays back."""

import inspect

import numpy as np
import pytest

from spherapprox.prompts.prefix import AttentionLayer, Prefix

torch = pytest.importorskip("torch")

from spherapprox.prompts.prefix.torch_modules import (  # noqa: E402
    PrefixAttention,
    dynamic_cache,
    from_past_key_values,
    from_prompt_embeddings,
    past_key_values,
    prompt_embeddings,
)

DOUBLE = {"dtype": torch.float64}


def some(layers=2, heads=4, length=3, s=8, p=8, seed=0):
    rng = np.random.default_rng(seed)
    return [
        Prefix(rng.standard_normal((heads, length, s)), rng.standard_normal((heads, length, p))) for _ in range(layers)
    ]


def same(found, expected, atol=0.0):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.key, other.key, rtol=0, atol=atol)
        np.testing.assert_allclose(one.value, other.value, rtol=0, atol=atol)


def test_pairs_and_back():
    prefixes = some(p=5)
    pairs = past_key_values(prefixes, batch_size=3, **DOUBLE)
    assert [tuple(part.shape) for pair in pairs for part in pair] == 2 * [(3, 4, 3, 8), (3, 4, 3, 5)]
    assert np.array_equal(pairs[1][0][2, 3, 1].numpy(), prefixes[1].key[3, 1])
    same(from_past_key_values(pairs), prefixes)
    assert past_key_values(prefixes)[0][0].dtype == torch.float32
    same(from_past_key_values(past_key_values(prefixes, dtype=torch.bfloat16)), prefixes, atol=0.02)
    pairs[0][0][:1] += 1.0  # each sequence has its own
    with pytest.raises(ValueError, match=r"'pairs\[0\]\[0\]' must have one prefix, got 3 sequences that differ"):
        from_past_key_values(pairs)


def test_embeddings_and_back():
    prefixes = some(layers=3, heads=2, s=5, p=5)
    rows = prompt_embeddings(prefixes, **DOUBLE)
    assert rows.shape == (3, 2 * 3 * 2 * 5)
    np.testing.assert_array_equal(rows[1, 40:45], prefixes[2].key[0, 1])  # key of layer 2, token 1, head 0
    np.testing.assert_array_equal(rows[1, 15:20], prefixes[0].value[1, 1])
    same(from_prompt_embeddings(rows.requires_grad_(), layers=3, heads=2, head_dim=5), prefixes)


@pytest.fixture(scope="module")
def gpt2():
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=50, n_positions=32, n_embd=32, n_layer=2, n_head=4, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        initializer_range=0.3, bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    return transformers.GPT2LMHeadModel(config).double().eval()


@pytest.fixture(scope="module")
def llama():
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(1)
    config = transformers.LlamaConfig(
        vocab_size=50, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=32, initializer_range=0.3,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config).double().eval()


TOKENS = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])


def layer_of(attention):
    """Return the weights of GPT-2's attention: fused, and stored the other way round."""
    into, out = attention.c_attn, attention.c_proj
    return AttentionLayer.fused(
        into.weight.T, out.weight.T, bias=into.bias, out_bias=out.bias, heads=attention.num_heads
    )


def watched(module, call):
    """Return what a module read and returned in a call, and the call's result."""
    seen = []
    hook = module.register_forward_hook(
        lambda _, rest, named, result: seen.append((rest[0] if rest else named["hidden_states"], result[0])),
        with_kwargs=True,
    )
    with torch.no_grad():
        result = call()
    hook.remove()
    return *seen[0], result


def taking(model, cache):
    """Return the argument by which a model takes a cache: transformers 5.24 has named it anew."""
    name = "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"
    return {name: cache}


@pytest.mark.parametrize("mask", [None, "ones"])
def test_gpt2_attends_to_the_prefix_as_its_arrays_do(gpt2, mask):
    prefixes = some()
    cache = dynamic_cache(prefixes, batch_size=2, **DOUBLE)
    options = {} if mask is None else {"attention_mask": torch.ones(2, 3 + 5)}
    own = gpt2.transformer.h[0].attn
    read, found, _ = watched(own, lambda: gpt2(TOKENS, **taking(gpt2, cache), **options))
    expected = layer_of(own).attend(read, prefix=prefixes[0], causal=True)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert np.abs(expected - layer_of(own).attend(read, causal=True)).max() > 0.1
    embedded = gpt2.transformer.wte(TOKENS) + gpt2.transformer.wpe.weight[3:8]  # positions begin behind the prefix
    torch.testing.assert_close(read, gpt2.transformer.h[0].ln_1(embedded).detach())


@pytest.mark.parametrize(("kind", "heads"), [("gpt2", 4), ("llama", 2)])
def test_a_cache_that_a_model_made_is_a_prefix(kind, heads, request):
    model = request.getfixturevalue(kind)
    with torch.no_grad():
        output = model(TOKENS[:1, :3], use_cache=True)
        prefixes = from_past_key_values(output.past_key_values)
        with pytest.raises(TypeError, match=r"'pairs' must be a cache, .*a model's output has one"):
            from_past_key_values(output)
        assert prefixes[0].key.shape == (heads, 3, 8)
        found = model(TOKENS[:1, 3:], **taking(model, dynamic_cache(prefixes, **DOUBLE))).logits
        torch.testing.assert_close(found, model(TOKENS[:1]).logits[:, 3:])
    if kind == "gpt2":
        block = model.transformer.h[0]
        inputs = block.ln_1(model.transformer.wte(TOKENS[0, :3]) + model.transformer.wpe.weight[:3])
        same(prefixes[:1], [layer_of(block.attn).prefix(inputs)], atol=1e-13)


def windowed():
    """Return the configuration of a model whose layers see 8 tokens."""
    return pytest.importorskip("transformers").MistralConfig(
        vocab_size=50, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=32, initializer_range=0.3, sliding_window=8,
    )  # fmt: skip


def test_caches_that_do_not_hold_all_tokens_are_no_prefixes():
    transformers = pytest.importorskip("transformers")
    cache, tokens = transformers.DynamicCache(config=windowed()), 0
    lost = r"'pairs\[0\]' must hold all tokens .* window.* plain DynamicCache\(\)"
    for read in (5, 1, 1, 1, 12):
        for layer in range(2):
            cache.update(torch.ones(1, 2, read, 8), torch.ones(1, 2, read, 8), layer)
        tokens += read
        if tokens < 8:
            assert len(from_past_key_values(cache)[1]) == tokens
        if tokens < 7:
            assert len(from_past_key_values(list(cache))[1]) == tokens
        for held, least in ((cache, 8), (list(cache), 7)):  # pairs do not tell whether there were more than 7
            if tokens >= least:
                with pytest.raises(ValueError, match=lost):
                    from_past_key_values(held)
    cache = transformers.StaticCache(windowed(), max_cache_len=20)
    cache.update(torch.ones(1, 2, 5, 8), torch.ones(1, 2, 5, 8), 0)
    with pytest.raises(ValueError, match=lost):
        from_past_key_values(cache)


def test_layers_with_a_window_fill_a_plain_cache_with_all_tokens():
    config = windowed()
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(3)
    model, tokens = transformers.MistralForCausalLM(config).double().eval(), torch.arange(18)[None]
    with torch.no_grad():
        read = model(tokens[:, :12], use_cache=True, **taking(model, transformers.DynamicCache())).past_key_values
        prefixes = from_past_key_values(read)
        assert [len(prefix) for prefix in prefixes] == [12, 12]
        found = model(tokens[:, 12:], **taking(model, dynamic_cache(prefixes, **DOUBLE))).logits
        torch.testing.assert_close(found, model(tokens).logits[:, 12:])


def test_embeddings_of_prompt_tuning_become_prefixes_of_all_layers(gpt2):
    embeddings = torch.randn(1, 3, 32, **DOUBLE)
    inputs = torch.cat([embeddings, gpt2.transformer.wte(TOKENS[:1])], 1)
    with torch.no_grad():
        prefixes = from_past_key_values(gpt2(inputs_embeds=embeddings, use_cache=True).past_key_values)
        found = gpt2(TOKENS[:1], **taking(gpt2, dynamic_cache(prefixes, **DOUBLE))).logits
        torch.testing.assert_close(found, gpt2(inputs_embeds=inputs).logits[:, 3:])


def test_grouped_heads_with_rotary_keys(llama, monkeypatch):
    calls, whole = [], torch.nn.functional.scaled_dot_product_attention

    def spy(*tensors, **options):
        calls.append((tensors, options, whole(*tensors, **options)))
        return calls[-1][2]

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", spy)
    prefixes = some(heads=2)
    with torch.no_grad():
        llama(TOKENS, **taking(llama, dynamic_cache(prefixes, batch_size=2, **DOUBLE)))
    for prefix, (tensors, options, found) in zip(prefixes, calls, strict=True):
        repeated, query = prefix.repeated(4), tensors[0]
        key, value = (part.repeat_interleave(4 // part.shape[1], 1)[:, :, 3:].numpy() for part in tensors[1:])
        for i in range(5):
            seen = slice(i + 1)
            expected = repeated.attend(
                query[:, :, i : i + 1].numpy(), key[:, :, seen], value[:, :, seen], scale=options["scale"]
            )
            np.testing.assert_allclose(found[:, :, i : i + 1], expected, rtol=0, atol=1e-13)


def test_decoders_with_an_encoder():
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(2)
    config = transformers.BartConfig(
        vocab_size=50, max_position_embeddings=32, d_model=32, encoder_layers=1, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=32, decoder_ffn_dim=32, dropout=0.0,
        init_std=0.3, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1, forced_eos_token_id=2,
    )  # fmt: skip
    model, prefixes = transformers.BartModel(config).double().eval(), some()
    parts = dynamic_cache(prefixes, batch_size=2, **DOUBLE), transformers.DynamicCache()
    cache = transformers.EncoderDecoderCache(*parts)
    own = model.decoder.layers[0].self_attn
    read, found, result = watched(own, lambda: model(TOKENS, decoder_input_ids=TOKENS[:, :4], **taking(model, cache)))
    parts = {"query": own.q_proj, "key": own.k_proj, "value": own.v_proj, "out": own.out_proj}
    weights = {name: part.weight for name, part in parts.items()}
    biases = {f"{name}_bias": part.bias for name, part in parts.items()}
    layer = AttentionLayer(**weights, **biases, heads=4)
    np.testing.assert_allclose(found, layer.attend(read, prefix=prefixes[0], causal=True), rtol=0, atol=1e-12)
    kept = from_past_key_values([(key[:1], value[:1]) for key, value, *_ in result.past_key_values])
    assert kept[0].key.shape == (4, 3 + 4, 8)  # its self-attention, not what it has of the encoder
    np.testing.assert_array_equal(kept[1].key[:, :3], prefixes[1].key)


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of transformers, at what PEFT calls
def test_prefix_tuning_of_peft_answers_the_same(gpt2, llama):
    peft = pytest.importorskip("peft")
    for base, heads in ((gpt2, 4), (llama, 2)):
        prefixes = some(heads=heads, seed=3)
        with torch.no_grad():
            expected = base(TOKENS, **taking(base, dynamic_cache(prefixes, batch_size=2, **DOUBLE))).logits
        config = peft.PrefixTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3)
        model = peft.get_peft_model(base, config).double().eval()
        encoder = model.prompt_encoder["default"]
        rows = prompt_embeddings(prefixes, **DOUBLE)
        if hasattr(encoder, "load_prompt_embeddings"):
            encoder.load_prompt_embeddings(rows)
        else:
            encoder.embedding.weight.data.copy_(rows)
        with torch.no_grad():
            torch.testing.assert_close(model(TOKENS).logits, expected)
        stored = model.get_prompt_embedding_to_save("default")
        same(from_prompt_embeddings(stored, layers=2, heads=heads, head_dim=8), prefixes)
        if hasattr(peft, "initialize_kv_prefix_from_past_key_values"):
            encoder.embedding.weight.data.zero_()
            pairs = past_key_values(prefixes, **DOUBLE)
            peft.initialize_kv_prefix_from_past_key_values(model, past_key_values=pairs)
            assert torch.equal(encoder.embedding.weight.data, rows)


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of transformers, at what PEFT calls
@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_places_behind_a_prefix_that_stands_for_a_longer_one(kind, request):
    peft, base = pytest.importorskip("peft"), request.getfixturevalue(kind)
    prefixes, long = some(heads=4 if kind == "gpt2" else 2), 9
    places = long + torch.arange(5)[None]

    def logits(model, prefixes, **options):
        with torch.no_grad():
            return model(TOKENS, **taking(base, dynamic_cache(prefixes, batch_size=2, **DOUBLE)), **options).logits

    expected = logits(base, prefixes, position_ids=places)
    assert (logits(base, prefixes) - expected).abs().max() > 1e-3
    if kind == "llama":  # rotary positions turn with the keys
        angles = (3 - long) * base.model.rotary_emb.inv_freq.double().numpy()
        turned = [Prefix(turn(prefix.key, angles), prefix.value) for prefix in prefixes]
        torch.testing.assert_close(logits(base, turned), expected, rtol=0, atol=1e-5)
    config = peft.PrefixTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3)
    model = peft.get_peft_model(base, config).double().eval()
    with torch.no_grad():
        model.prompt_encoder["default"].embedding.weight.copy_(prompt_embeddings(prefixes, **DOUBLE))
        torch.testing.assert_close(model(TOKENS, position_ids=places - 3).logits, expected)


def turn(key, angles):
    """Return keys, halves of columns side by side, turned by angles."""
    one, other = np.split(key, 2, axis=-1)
    return np.concatenate(
        [one * np.cos(angles) - other * np.sin(angles), other * np.cos(angles) + one * np.sin(angles)], -1
    )


def test_a_trained_prefix_becomes_a_cache():
    mha = torch.nn.MultiheadAttention(32, 4, **DOUBLE)
    (prefix,) = some(layers=1)
    module = PrefixAttention(mha, prefix)
    with torch.no_grad():
        module.prefix_key += 1.0
    trained = Prefix(*module.keys_and_values())
    assert np.array_equal(trained.key, prefix.key + 1.0)
    assert torch.equal(past_key_values([trained], **DOUBLE)[0][0][0], module.prefix_key.detach())
