"""Attention layers of models against what the models themselves compute: weights, shares, layers, fitted prefixes."""

import copy

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from spherapprox import SplitHead  # noqa: E402
from spherapprox.prompts.prefix import as_layer, next_token_divergence, of_model, program  # noqa: E402
from spherapprox.prompts.prefix.torch_modules import dynamic_cache, from_past_key_values  # noqa: E402

DOUBLE = {"dtype": torch.float64}
COMMON = {
    "vocab_size": 50, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "initializer_range": 0.3, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
KINDS = {
    "Llama": {"head_dim": 12}, "Mistral": {"sliding_window": 4}, "Qwen3": {"head_dim": 12, "num_hidden_layers": 1},
    "Gemma2": {
        "sliding_window": 4, "head_dim": 8, "attn_logit_softcapping": 2.0, "query_pre_attn_scalar": 8,
        "layer_types": ["sliding_attention", "full_attention"], "num_hidden_layers": 2,
    },
}  # fmt: skip
SMALL = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, "vocab_size": 50}
TOKENS = torch.tensor([[0, 0, 7, 3, 9, 4, 11, 5], [8, 6, 4, 13, 5, 3, 9, 7]])
MASK = (TOKENS > 0).long()
MADE = {}


def make(kind):
    """Return a small model of random weights in float64, the same for all tests."""
    if kind not in MADE:
        torch.manual_seed(0)
        if kind in KINDS:
            config = getattr(transformers, f"{kind}Config")(**COMMON | KINDS[kind])
            model = getattr(transformers, f"{kind}ForCausalLM")(config)
        else:
            width = {"d_model": 32, "encoder_layers": 1, "decoder_layers": 2, "encoder_ffn_dim": 32, "init_std": 0.3}
            heads = {"decoder_ffn_dim": 32, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
            configs = {
                "GPT2LMHeadModel": lambda: transformers.GPT2Config(
                    n_positions=32, n_embd=32, n_layer=2, n_head=4, initializer_range=0.3, **SMALL
                ),
                "BartForConditionalGeneration": lambda: transformers.BartConfig(**width, **heads, **SMALL),
                "T5ForConditionalGeneration": lambda: transformers.T5Config(
                    d_model=32, d_kv=12, d_ff=32, num_layers=1, num_heads=2, **SMALL
                ),
            }
            model = getattr(transformers, kind)(configs[kind]())
        MADE[kind] = model.double().eval()
    return MADE[kind]


def own_weights(model, **inputs):
    """Return the weights of the model's own attention."""
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    try:
        with torch.no_grad():
            output = model(**inputs, output_attentions=True)
    finally:
        model.set_attn_implementation(before)
    return [part.numpy() for part in getattr(output, "attentions", None) or output.decoder_attentions]


@pytest.mark.parametrize("kind", ["Llama", "Gemma2", "GPT2LMHeadModel"])
def test_weights_and_shares_are_those_of_the_models_own_attention(kind):
    model, length = make(kind), 3
    attention = of_model(model)
    with torch.no_grad():
        filled = model(TOKENS[1:, :length], cache=transformers.DynamicCache(), use_cache=True)
    prefixes = from_past_key_values(filled.past_key_values)
    mask = torch.cat([torch.ones(2, length), MASK], dim=1)
    inputs = {"input_ids": TOKENS, "attention_mask": mask}
    expected = own_weights(model, **inputs, cache=dynamic_cache(prefixes, batch_size=2, **DOUBLE))
    reading = attention.read(**inputs, cache=dynamic_cache(prefixes, batch_size=2, **DOUBLE))
    seen = MASK.bool().numpy()
    for layer, weights in enumerate(expected):
        own = np.moveaxis(reading.weights(layer), 2, 1)[seen]
        np.testing.assert_allclose(own, np.moveaxis(weights, 2, 1)[seen], atol=1e-6)  # softmax in float32
        share = np.moveaxis(weights[..., :length].sum(-1), 2, 1)[seen].mean(0)
        np.testing.assert_allclose(reading.share(length)[layer], share, rtol=1e-5)
    np.testing.assert_allclose(
        attention.prefix_share(prefixes, input_ids=TOKENS, attention_mask=MASK), reading.share(length), rtol=1e-12
    )
    each = reading.share(length, per_token=True)
    assert np.isnan(each[:, 0, :, :2]).all()
    assert np.isfinite(each[:, 1]).all()


def test_small_shares_keep_their_digits():
    model = make("GPT2LMHeadModel")
    attention = of_model(model)
    reading = attention.read(input_ids=TOKENS[1:])
    own = reading.layers[0]
    query, key = own.query[0, 1, -1].numpy(), own.key[0, 1].numpy().copy()
    own.key[0, 1, 0] = torch.tensor(-600.0 * query / (own.scale * query @ query))
    key[0] = own.key[0, 1, 0]
    logits = own.scale * (key.astype(np.longdouble) @ query.astype(np.longdouble))
    expected = np.exp(logits[0]) / np.exp(logits).sum()
    assert 0.0 < expected < 1e-250
    assert reading.share(1, per_token=True)[0, 0, 1, -1] == pytest.approx(float(expected), rel=1e-12)


def test_records_and_the_rows_that_are_kept():
    attention = of_model(make("BartForConditionalGeneration"))
    kinds = [record.kind for record in attention.layers]
    assert kinds == ["encoder", "self", "cross", "self", "cross"]
    assert [record.cache_index for record in attention.layers] == [None, 0, None, 1, None]
    reading = attention.read(queries=3, layers=[1, 2], input_ids=TOKENS, decoder_input_ids=TOKENS[:, 1:])
    assert [tuple(part.query.shape[:3]) for part in reading.layers] == 2 * [(2, 2, 3)]
    assert reading.layers[0].rows.tolist() == [1, 3, 6]
    whole = attention.read(input_ids=TOKENS, decoder_input_ids=TOKENS[:, 1:])
    for layer in (1, 2):
        np.testing.assert_allclose(reading.weights(layer), whole.weights(layer)[:, :, [1, 3, 6]], atol=1e-14)
    windows = [record.window for record in of_model(make("Gemma2")).layers]
    assert windows == [4, None]
    assert [record.softcap for record in of_model(make("Gemma2")).layers] == [2.0, 2.0]
    positions = [record.positions for record in of_model(make("T5ForConditionalGeneration")).layers]
    assert positions == [True, True, False]


def test_a_model_stays_as_it_is():
    model = make("Llama").train()
    implementation, hooks = model.config._attn_implementation, sum(len(m._forward_hooks) for m in model.modules())
    cache = transformers.DynamicCache()
    of_model(model).read(input_ids=TOKENS, cache=cache)
    filled = transformers.DynamicCache()
    model(TOKENS, cache=filled)  # with a graph
    of_model(model, input_ids=TOKENS, cache=filled).read(input_ids=TOKENS, cache=filled)
    next_token_divergence(model, model, {"input_ids": TOKENS, "cache": filled})
    assert filled.get_seq_length() == TOKENS.shape[1]
    assert all(part.training for part in model.modules())
    assert model.config._attn_implementation == implementation
    assert sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules()) == hooks
    assert cache.get_seq_length() == 0
    model.eval()


OLD_NAMES = pytest.mark.filterwarnings("ignore::FutureWarning")  # what peft still calls in transformers


@pytest.mark.parametrize("kind", ["Llama", "GPT2LMHeadModel"])
def test_a_head_is_programmed_into_a_layer_of_a_model(kind):
    model, place, index = make(kind), 9, 1
    layer = of_model(model).as_layer(index, position=place)
    rng = np.random.default_rng(0)
    head = SplitHead([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]], [0.3, -1.0, 2.0], 6.0)
    embedding, readout = np.linalg.qr(rng.standard_normal((32, 3)))[0], rng.standard_normal(32)
    options = {"embedding": embedding, "readout": readout, "shift": rng.standard_normal(32)}
    programmed = program(head, layer, **options, kind="key_values", offset=60.0)
    cache = dynamic_cache([programmed.prefix] * 2, batch_size=4, **DOUBLE)
    y = rng.standard_normal((4, 3))
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    x = torch.tensor(y @ embedding.T + options["shift"])[:, None]  # each alone, at the place
    with torch.no_grad():
        if kind == "Llama":
            turns = model.model.rotary_emb(x, torch.full((4, 1), place))
            out = model.model.layers[index].self_attn(x, position_embeddings=turns, attention_mask=None, cache=cache)[0]
        else:
            out = model.transformer.h[index].attn(x, cache=cache)[0]
    np.testing.assert_allclose(out.numpy(), layer.attend(x.numpy(), prefix=programmed.prefix), atol=1e-9)
    np.testing.assert_allclose(out[:, 0].numpy() @ readout, head(y), atol=1e-8)


@OLD_NAMES
def test_layers_of_adapters_before_and_after_merging():
    peft = pytest.importorskip("peft")
    torch.manual_seed(1)
    base = transformers.LlamaForCausalLM(transformers.LlamaConfig(**COMMON | KINDS["Llama"])).double().eval()
    before = of_model(base).as_layer(1, position=2)
    options = {"r": 2, "target_modules": ["q_proj", "v_proj", "o_proj"], "init_lora_weights": False}
    model = peft.get_peft_model(base, peft.LoraConfig(task_type="CAUSAL_LM", **options)).double().eval()
    attention = of_model(model)
    adapted, reading = attention.as_layer(1, position=2), attention.read(input_ids=TOKENS)
    merged = of_model(model.merge_and_unload())
    same = merged.as_layer(1, position=2)
    for name in ("query", "key", "value", "out"):
        np.testing.assert_allclose(getattr(adapted, name), getattr(same, name), atol=1e-12)
    assert np.abs(adapted.query - before.query).max() > 0.1
    np.testing.assert_allclose(merged.read(input_ids=TOKENS).share(2), reading.share(2), rtol=1e-10)


@OLD_NAMES
def test_the_share_of_a_prefix_that_peft_holds():
    peft = pytest.importorskip("peft")
    torch.manual_seed(2)
    base = transformers.GPT2LMHeadModel(
        transformers.GPT2Config(n_embd=16, n_layer=1, n_head=2, n_positions=32, **SMALL)
    )
    model = peft.get_peft_model(base, peft.PrefixTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3))
    inputs = {"input_ids": TOKENS, "attention_mask": MASK}
    share = of_model(model).prefix_share(**inputs)
    prefixes = from_past_key_values(model.get_prompt(1))
    np.testing.assert_allclose(share, of_model(base).prefix_share(prefixes, **inputs), rtol=1e-5)
    tuned = peft.get_peft_model(base, peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3))
    with torch.no_grad():
        embedded = torch.cat([tuned.get_prompt(2), base.get_input_embeddings()(TOKENS)], dim=1)
    whole = of_model(base).read(inputs_embeds=embedded, attention_mask=torch.cat([torch.ones(2, 3), MASK], 1))
    expected = np.nanmean(whole.share(3, per_token=True)[..., 3:].swapaxes(1, 2).reshape(1, 2, -1), -1)
    np.testing.assert_allclose(of_model(tuned).prefix_share(**inputs), expected, rtol=1e-5)


def divergence(targets, reading):
    logits, others = (part.logits.log_softmax(-1)[MASK.bool()] for part in (targets, reading))
    return float((logits.exp() * (logits - others)).sum(-1).mean())


@pytest.mark.parametrize("kind", ["Llama", "Mistral", "Gemma2", "T5ForConditionalGeneration", "Qwen3"])
def test_prefixes_fitted_to_a_long_prompt(kind):
    model, length = make(kind), 2
    attention = of_model(model)
    prompt = torch.tensor([[5, 9, 4, 3, 12, 7]])
    more = {} if kind in KINDS else {"input_ids": TOKENS}
    name = "decoder_input_ids" if more else "input_ids"
    with torch.no_grad():
        cache = transformers.DynamicCache()
        held = transformers.EncoderDecoderCache(cache, transformers.DynamicCache()) if more else cache
        model(**{"input_ids": prompt, name: prompt}, cache=held, use_cache=True)
    long = from_past_key_values(cache)

    def read(prefixes, **inputs):
        own = dynamic_cache(prefixes, batch_size=2, **DOUBLE)
        own = transformers.EncoderDecoderCache(own, transformers.DynamicCache()) if more else own
        mask = torch.cat([torch.ones(2, len(prefixes[0])), MASK], dim=1)
        return attention.read(**inputs, cache=own, **{name.replace("input_ids", "attention_mask"): mask})

    inputs = {**more, name: TOKENS}
    targets = read(long, **inputs)
    masks = {name.replace("input_ids", "attention_mask"): MASK}
    prefixes = attention.fit(targets, length, **inputs, **masks)
    assert [len(prefix) for prefix in prefixes] == [length] * len(long)
    fitted, alone = read(prefixes, **inputs), attention.read(**inputs, **masks)
    assert divergence(targets, fitted) < 0.7 * divergence(targets, alone)
    own = [i for i, record in enumerate(attention.layers) if record.kind == "self"]
    for place, prefix in zip(own, prefixes, strict=True):
        change = fitted.layers[place].result - targets.layers[place].result
        seen = MASK.bool() if attention.layers[place].window is None else MASK.bool() & (torch.arange(8) < 3)
        assert float(change[seen].abs().max()) == pytest.approx(prefix.error, rel=1e-6)


def test_examples_of_a_fit_are_those_that_were_read():
    attention = of_model(make("Llama"))
    targets = attention.read(queries=2, input_ids=TOKENS)
    (first, _), (again, _) = (attention.fit(targets, 2, input_ids=TOKENS) for _ in range(2))
    assert first.share.shape == (4, 4)  # heads, 2 sequences of 2 tokens
    np.testing.assert_array_equal(first.key, again.key)
    assert attention.fit(attention.read(input_ids=TOKENS), 1, examples=5, input_ids=TOKENS)[0].share.shape == (4, 5)


def test_where_nothing_is_to_be_changed_nothing_is():
    model = copy.deepcopy(make("GPT2LMHeadModel"))
    attention, places = of_model(model), {"position_ids": torch.arange(8)[None]}
    inputs = {"input_ids": TOKENS, **places}
    with pytest.warns(RuntimeWarning, match=r"transformer.h.0.attn: no prefix of 2 tokens .* nearer to 'targets' than"):
        attention.fit(attention.read(**inputs), 2, **inputs)
    for block in model.transformer.h:
        block.attn.c_attn.bias.data[:32] = 20.0  # queries on one side of 0
    reading = attention.read(**inputs)
    prefixes = attention.fit(reading, 2, **inputs)
    assert attention.prefix_share(prefixes, **inputs).max() < 1e-15
    again = attention.read(**inputs, cache=dynamic_cache(prefixes, batch_size=2, **DOUBLE))
    torch.testing.assert_close(again.logits, reading.logits)


def test_layers_that_are_no_affine_maps_are_refused():
    for kind, words in (
        ("Qwen3", r"queries that are affine .* model.layers.0.self_attn, whose Qwen3Attention norms them \(q_norm\)"),
        ("Gemma2", r"logits that are no more than products, .* caps them at 2"),
        ("T5ForConditionalGeneration", r"T5Attention\), which adds biases by positions"),
    ):
        with pytest.raises(ValueError, match=words):
            of_model(make(kind)).as_layer(0)
    with pytest.raises(TypeError, match=r"got LlamaAttention: of_model\(model\).as_layer"):
        as_layer(make("Llama").model.layers[0].self_attn)


def test_models_that_are_not_read():
    bloom = transformers.BloomForCausalLM(transformers.BloomConfig(vocab_size=50, hidden_size=16, n_layer=1, n_head=2))
    with pytest.raises(TypeError, match=r"AttentionInterface, got BloomForCausalLM: BloomAttention \(transformer.h.0"):
        of_model(bloom)
    mamba = transformers.MambaForCausalLM(transformers.MambaConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1))
    with pytest.raises(
        TypeError, match=r"softmax attention alone, got MambaForCausalLM with MambaMixer \(backbone.lay"
    ):
        of_model(mamba)
    sizes = {"num_local_experts": 2, "num_experts_per_tok": 1, "num_hidden_layers": 1}
    sinks = transformers.GptOssForCausalLM(transformers.GptOssConfig(**COMMON | sizes, head_dim=8))
    with pytest.raises(TypeError, match=r"plain softmax attention, GptOssAttention has .* sinks"):
        of_model(sinks)
    model = make("Llama")
    own = model.model.layers[0].self_attn.forward
    model.model.layers[0].self_attn.forward = lambda *rest, **named: (
        own(*rest, **named)[0] * (1.0 + (model.config._attn_implementation == "spherapprox")), None
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"must compute the same by attention that is watched, .* differ by"):
        of_model(model)
    del model.model.layers[0].self_attn.forward
