"""Compacted caches of small models: what models and `generate` make of them, beside the whole ones."""

import copy

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from spherapprox.prompts.prefix import compress_cache, of_model  # noqa: E402
from spherapprox.prompts.prefix.torch_modules.compaction import CacheOptions, load_cache  # noqa: E402

SIZES = {
    "vocab_size": 61, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 256, "initializer_range": 0.3, "bos_token_id": 0,
    "eos_token_id": None, "pad_token_id": 0,
}  # fmt: skip
BRIEF = CacheOptions(iterations=50)
N = 60


@pytest.fixture(scope="module")
def llama():
    torch.manual_seed(0)
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES)).eval()


def ids(*shape, seed=0):
    return torch.randint(1, 61, shape, generator=torch.Generator().manual_seed(seed))


def read(model, tokens, **options):
    with torch.no_grad():
        return model(tokens, use_cache=True, **options)


@pytest.fixture(scope="module")
def whole(llama):
    return read(llama, ids(2, N)).cache


@pytest.fixture(scope="module")
def fitted(llama, whole):
    return compress_cache(llama, whole, text=ids(2, 150, seed=1), ratio=0.2, options=BRIEF)


def logits(model, cache, tokens, **options):
    return read(model, tokens, cache=cache, **options).logits


def generated(model, cache, tokens, **options):
    return model.generate(tokens, cache=cache, max_new_tokens=4, do_sample=False, **options)


def attended(layer, part, queries):
    """Outputs (m, p) and log masses (m,) of queries times the scale in one head, by their definition."""
    sequence, head = part
    rows = layer.rows[sequence]
    ends = np.cumsum(rows.counts.numpy())
    span = slice(ends[head] - int(rows.counts[head]), ends[head])
    bias = 0.0 if rows.bias is None else rows.bias[span].double().numpy()
    logits = queries @ rows.key[span].double().numpy().T + bias
    masses = np.exp(logits)
    return masses @ rows.value[span].double().numpy() / masses.sum(axis=1, keepdims=True), np.log(masses.sum(axis=1))


def queries_of(model, cache, tokens):
    """Queries of layer 0 behind the cache, times the scale, (batch, heads, T, s)."""
    layer, (start, count) = model.model.layers[0], (cache.get_seq_length(), tokens.shape[1])
    with torch.no_grad():
        hidden = layer.input_layernorm(model.model.embed_tokens(tokens))
        queries = layer.self_attn.q_proj(hidden).unflatten(-1, (4, 8)).transpose(1, 2)
        cos, sin = model.model.rotary_emb(hidden, torch.arange(start, start + count)[None])
        turned = torch.cat([-queries[..., 4:], queries[..., :4]], dim=-1)
        return ((queries * cos[:, None] + turned * sin[:, None]) / 8**0.5).double().numpy()


def test_table_has_errors_at_queries_held_out(llama, whole, fitted):
    queries = queries_of(llama, whole, ids(2, 150, seed=1))[:, :, 4::5]
    for record in fitted.records[:4]:
        assert (record.layer, record.tokens, record.before) == (0, 12, N)
        rows = queries[record.sequence, 2 * record.head : 2 * record.head + 2].reshape(-1, 8)
        key, value = (
            getattr(whole.layers[0], name)[record.sequence, record.head].double().numpy() for name in ("keys", "values")
        )
        masses = np.exp(rows @ key.T)
        outputs, log_masses = masses @ value / masses.sum(axis=1, keepdims=True), np.log(masses.sum(axis=1))
        found, found_masses = attended(fitted.cache.layers[0], (record.sequence, record.head), rows)
        assert record.error == pytest.approx(np.linalg.norm(found - outputs) / np.linalg.norm(outputs), rel=1e-3)
        assert record.mass_error == pytest.approx(np.sqrt(np.mean((found_masses - log_masses) ** 2)), rel=1e-2)
    assert f"{fitted.records[0].error:.3g}" in fitted.table()
    assert len(fitted.table().splitlines()) == 10


def test_better_methods_have_smaller_errors(llama, whole, fitted):
    text = ids(2, 150, seed=1)
    sizes, masses = {"descent": np.mean([record.error for record in fitted.records])}, {}
    for method in ("attention matching", "top attention", "recent", "uniform", "snapkv", "h2o"):
        found = compress_cache(llama, whole, text=text, context=ids(2, N), ratio=0.2, method=method)
        sizes[method] = np.mean([record.error for record in found.records])
        masses[method] = np.mean([record.mass_error for record in found.records])
        assert {record.tokens for record in found.records} == {12}
    assert sizes["descent"] < 0.98 * sizes["attention matching"]
    others = min(sizes[method] for method in ("recent", "uniform", "snapkv", "h2o"))
    assert max(sizes["attention matching"], sizes["top attention"]) < 0.8 * others
    assert masses["attention matching"] < masses["top attention"]


def test_whole_ratio_changes_nothing(llama, whole):
    short = compress_cache(llama, whole, text=ids(2, 40), ratio=1.0)
    assert short.is_plain
    assert torch.equal(logits(llama, short.cache, ids(2, 5)), logits(llama, copy.deepcopy(whole), ids(2, 5)))
    assert whole.get_seq_length() == N  # nothing was added
    agreement = short.compare(llama, whole, ids(2, 20))
    assert (agreement.agreement, agreement.kl) == (1.0, 0.0)
    assert agreement.loss == agreement.loss_compacted


def test_comparison_is_that_of_the_logits(llama, whole, fitted):
    text = ids(2, 30, seed=5)
    with fitted.attending(llama):
        before, after = (logits(llama, c, text).double().log_softmax(-1) for c in (copy.deepcopy(whole), fitted.cache))
    found = fitted.compare(llama, whole, text)
    assert found.tokens == 60
    assert found.agreement == (before.argmax(-1) == after.argmax(-1)).double().mean().item() < 1.0
    assert found.kl == pytest.approx((before.exp() * (before - after)).sum(-1).mean().item(), rel=1e-4)
    losses = -after[:, :-1].gather(-1, text[:, 1:, None]).mean().item()
    assert found.loss_compacted == pytest.approx(losses, rel=1e-5)


def test_lost_biases_raise(llama, fitted):
    assert not fitted.is_plain
    for name in ("eager", "sdpa"):
        llama.set_attn_implementation(name)
        with pytest.raises(RuntimeError, match="the cache has biases"):
            logits(llama, fitted.cache, ids(2, 3))
    with fitted.attending(llama):
        within = logits(llama, fitted.cache, ids(2, 3))
    llama.set_attn_implementation("spherapprox")
    try:
        assert torch.equal(logits(llama, fitted.cache, ids(2, 3)), within)
    finally:
        llama.set_attn_implementation("sdpa")


def test_tokens_are_added_beside_a_graph_and_shares_are_of_columns(llama, whole, fitted):
    tokens = ids(2, 5, seed=4)
    with fitted.attending(llama):
        found = llama(tokens, cache=fitted.cache).logits  # with gradients
        assert torch.equal(found, logits(llama, fitted.cache, tokens))
    attention = of_model(llama)
    reading = attention.read(input_ids=tokens, cache=fitted.cache)
    count = reading.layers[0].key.shape[2] - 5
    assert count == N // 5
    shares = attention.prefix_share(fitted.cache, input_ids=tokens)
    np.testing.assert_allclose(shares, reading.share(count), rtol=1e-12)
    np.testing.assert_allclose(shares, attention.prefix_share(whole, input_ids=tokens), atol=0.1)


def test_plain_cache_is_taken_by_any_attention(llama, whole):
    short = compress_cache(llama, whole, text=ids(2, 90), ratio=0.2, bias=False, method="attention matching")
    assert short.is_plain
    found = [logits(llama, short.cache, ids(2, 3))]
    with short.attending(llama):
        found.append(logits(llama, short.cache, ids(2, 3)))
    torch.testing.assert_close(*found)
    full = torch.cat([ids(2, N), ids(2, 3)], dim=1)
    tokens = generated(llama, short.cache, full)
    assert tokens[:, N + 3].tolist() == found[0][:, -1].argmax(-1).tolist()


@pytest.mark.parametrize("beams", [1, 2])
def test_generation_is_that_of_steps(llama, whole, fitted, beams):
    full = torch.cat([ids(2, N), ids(2, 3)], dim=1)
    short = fitted.cache
    short.batch_repeat_interleave(beams)
    with fitted.attending(llama):
        tokens = generated(llama, short, full, num_beams=beams, num_return_sequences=beams)
        scores = []
        for row, answer in enumerate(tokens):
            one = fitted.cache
            one.batch_select_indices(torch.tensor([row // beams]))
            steps = logits(llama, one, answer[None, N:-1]).log_softmax(-1)[0, 2:]
            scores.append(steps.gather(-1, answer[N + 3 :, None]).sum().item())
            if beams == 1:
                assert answer[N + 3 :].tolist() == steps.argmax(-1).tolist()
    assert short.get_seq_length() == N + 3 + 3
    assert beams == 1 or (scores[0] > scores[1] and scores[2] > scores[3])


def test_padding_is_never_kept(llama):
    mask = torch.ones(2, N, dtype=torch.long)
    mask[0, :50] = 0
    mask[1, :7] = 0
    context = {"input_ids": ids(2, N), "attention_mask": mask}
    places = (mask.cumsum(-1) - 1).clamp(min=0)
    cache = read(llama, context["input_ids"], attention_mask=mask, position_ids=places).cache
    short = compress_cache(llama, cache, context=context, text=ids(2, 60), ratio=0.2, method="uniform")
    assert [record.tokens for record in short.records[:4]] == [10, 10, 12, 12]
    assert [record.before for record in short.records[:4]] == [10, 10, 53, 53]
    full = torch.cat([mask, torch.ones(2, 3, dtype=torch.long)], dim=1)
    options = {"attention_mask": full, "position_ids": (full.cumsum(-1) - 1)[:, N:]}
    assert short.is_plain
    first = logits(llama, short.cache, ids(2, 3), **options)[0]
    torch.testing.assert_close(first, logits(llama, copy.deepcopy(cache), ids(2, 3), **options)[0])  # all are kept
    alone = compress_cache(
        llama, read(llama, ids(2, N)[1:, 7:]).cache, text=ids(2, 60)[1:], ratio=12 / 53, method="uniform"
    )
    torch.testing.assert_close(
        logits(llama, short.cache, ids(2, 3), **options)[1], logits(llama, alone.cache, ids(2, 3)[1:])[0],
        rtol=1e-4, atol=1e-4,
    )  # fmt: skip


def test_budget_by_error_spends_as_much(llama, whole, fitted):
    options = {"options": CacheOptions(budget="error"), "method": "attention matching"}
    short = compress_cache(llama, whole, text=ids(2, 150, seed=1), ratio=0.2, **options)
    counts = [record.tokens for record in short.records]
    assert len(set(counts)) > 1
    assert sum(counts) == 12 * len(counts)
    assert sum(len(rows.key) for layer in short.cache.layers for rows in layer.rows) == sum(counts)
    with pytest.raises(RuntimeError, match="hidden in some heads"):
        logits(llama, short.cache, ids(2, 3))
    layer = short.cache.layers[0]
    assert sorted({int(n) for rows in layer.rows for n in rows.counts}) == sorted(set(counts[:4]))
    assert short.compare(llama, whole, ids(2, 40)).kl < 2.0 * fitted.compare(llama, whole, ids(2, 40)).kl


def test_budget_by_error_follows_the_next_token(llama):
    silent, scaled = copy.deepcopy(llama), copy.deepcopy(llama)
    with torch.no_grad():
        for model in (silent, scaled):
            model.model.layers[1].self_attn.o_proj.weight[:, :16] = 0.0  # of the first head of keys
        scaled.model.layers[1].self_attn.v_proj.weight[8:] *= 8.0
        scaled.model.layers[1].self_attn.o_proj.weight[:, 16:] /= 8.0
    options = {"text": ids(1, 60, seed=1), "ratio": 0.4, "options": CacheOptions(budget="error"), "method": "uniform"}
    found = []
    with torch.inference_mode():
        for model in (silent, scaled):
            short = compress_cache(model, read(model, ids(1, N)).cache, **options)
            found.append([record.tokens for record in short.records])
    assert found[0][2] == 2  # the least, a tenth of the mean
    assert min(found[0][:2]) > max(found[0][3], 24)
    assert sum(found[0]) == 24 * 4
    np.testing.assert_allclose(*found, atol=1)
    with torch.no_grad():
        silent.model.layers[0].self_attn.o_proj.weight.zero_()
    short = compress_cache(silent, read(silent, ids(1, N)).cache, **options)
    assert [record.tokens for record in short.records] == [12, 12, 12, N]


def mistral(window):
    torch.manual_seed(3)
    return transformers.MistralForCausalLM(transformers.MistralConfig(**SIZES, sliding_window=window)).eval()


@pytest.mark.parametrize("plain", [False, True])
def test_windows_stay_as_they_are(plain):
    model = mistral(20)
    cache = transformers.DynamicCache() if plain else None
    cache = read(model, ids(1, N), cache=cache).cache
    short = compress_cache(model, cache, text=ids(1, 40))
    assert {(record.what, record.tokens) for record in short.records} == {("window, kept", 19)}
    expected = logits(model, copy.deepcopy(cache), ids(1, 5))
    torch.testing.assert_close(logits(model, short.cache, ids(1, 5)), expected)


def test_tokens_leave_a_window_at_their_own_positions():
    model = mistral(70)
    cache = read(model, ids(1, N)).cache
    short = compress_cache(model, cache, text=ids(1, 40), ratio=0.2, method="uniform")
    layer = short.cache.layers[0]
    assert layer.rows[0].position.tolist() == 2 * list(range(4, N, 5))
    tail = ids(1, 90, seed=4)
    hidden = torch.full((1, 1, 90, N + 90), True).tril(N) & ~torch.full((1, 1, 90, N + 90), True).tril(N - 70)
    seen = torch.zeros(N + 90, dtype=torch.bool)
    seen[torch.tensor([*range(4, N, 5), *range(N, N + 90)])] = True
    cached = read(model, ids(1, N), cache=transformers.DynamicCache()).cache
    expected = logits(model, cached, tail, attention_mask=hidden & seen)
    with short.attending(model):
        at_once, stepwise = short.cache, short.cache
        torch.testing.assert_close(logits(model, at_once, tail), expected, rtol=1e-4, atol=1e-4)
        steps = [logits(model, stepwise, part) for part in tail.split(15, dim=1)]
    torch.testing.assert_close(torch.cat(steps, dim=1), expected, rtol=1e-4, atol=1e-4)
    assert stepwise.layers[0].keys.shape[2] == 69
    assert not len(stepwise.layers[0].rows[0].key)


def test_softcap_is_in_what_is_fitted():
    torch.manual_seed(4)
    config = transformers.Gemma2Config(
        **SIZES, head_dim=8, layer_types=["full_attention", "sliding_attention"], sliding_window=20,
        attn_logit_softcapping=2.0, query_pre_attn_scalar=1,
    )  # fmt: skip
    model = transformers.Gemma2ForCausalLM(config).eval()
    model.set_attn_implementation("spherapprox")
    cache = read(model, ids(1, N)).cache
    errors = {}
    for method in ("descent", "top attention"):
        short = compress_cache(model, cache, text=ids(1, 150, seed=2), ratio=0.3, method=method, options=BRIEF)
        assert [record.what for record in short.records] == 2 * ["compacted"] + 2 * ["window, kept"]
        errors[method] = short.records[0].error
        assert short.compare(model, cache, ids(1, 30)).kl < 0.1
    assert errors["descent"] < 0.85 * errors["top attention"]


def test_encoder_decoder_keeps_its_cross_attention():
    torch.manual_seed(5)
    config = transformers.BartConfig(
        vocab_size=61, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=256, init_std=0.3,
    )  # fmt: skip
    model = transformers.BartForConditionalGeneration(config).eval()
    source = {"input_ids": ids(1, 15)}
    cache = read(model, source["input_ids"], decoder_input_ids=ids(1, N)).cache
    text = source | {"decoder_input_ids": ids(1, 110, seed=1)}
    exact = compress_cache(model, cache, text=text, ratio=1.0)
    assert exact.compare(model, cache, text).kl == 0.0
    short = compress_cache(model, cache, text=text, ratio=0.3, options=BRIEF)
    assert short.cache.cross_attention_cache.get_seq_length() == 15
    assert {record.tokens for record in short.records} == {18}
    assert 0.0 < short.compare(model, cache, text).kl < 0.5


def test_files(llama, whole, fitted, tmp_path):
    fitted.save(tmp_path / "cache.safetensors")
    loaded = load_cache(tmp_path / "cache.safetensors")
    assert loaded.table() == fitted.table()
    assert repr(loaded) == repr(fitted)
    assert loaded.nbytes == fitted.nbytes < 0.3 * sum(2 * layer.keys.nbytes for layer in whole.layers)
    with fitted.attending(llama):
        assert torch.equal(logits(llama, loaded.cache, ids(2, 3)), logits(llama, fitted.cache, ids(2, 3)))
    assert [path.name for path in tmp_path.iterdir()] == ["cache.safetensors"]
    (tmp_path / "other").write_bytes(b"no tensors")
    with pytest.raises(ValueError, match=r"must be a file of CacheCompaction.save"):
        load_cache(tmp_path / "other")


def test_crop_and_reset(llama, whole, fitted):
    cache = fitted.cache
    with fitted.attending(llama):
        expected = logits(llama, fitted.cache, ids(2, 2))
        logits(llama, cache, ids(2, 5, seed=9))
        with pytest.raises(ValueError, match="must be between -5 and 0, got -6"):
            cache.crop(-6)
        cache.crop(-5)
        assert torch.equal(logits(llama, cache, ids(2, 2)), expected)
    cache.reset()
    assert cache.get_seq_length() == 0
    with fitted.attending(llama):
        torch.testing.assert_close(logits(llama, cache, ids(2, 4)), read(llama, ids(2, 4)).logits)
    with pytest.raises(ValueError, match="must be a whole one"):
        compress_cache(llama, fitted.cache, text=ids(2, 50))


def test_sources_of_queries_and_few_of_them(llama, whole):
    quick = {"method": "top attention", "ratio": 0.1}
    assert compress_cache(llama, whole, **quick).sources == "random tokens"
    assert compress_cache(llama, whole, context=ids(2, N), **quick).sources == "context, repeated"
    long = read(llama, ids(1, 200)).cache
    assert compress_cache(llama, long, context=ids(1, 200), method="top attention").sources == "context"
    texts = [ids(2, 30), {"input_ids": ids(2, 40, seed=1)}]
    assert compress_cache(llama, whole, text=texts, **quick).sources == "text"
    reading = of_model(llama).read(input_ids=ids(2, 40), cache=whole)
    taken, told = (compress_cache(llama, whole, text=text, **quick) for text in (reading, ids(2, 40)))
    assert taken.sources == "reading"
    assert [r[:5] for r in taken.records] == [r[:5] for r in told.records]
    np.testing.assert_allclose([r[5:9] for r in taken.records], [r[5:9] for r in told.records], rtol=1e-3)
    with pytest.warns(RuntimeWarning, match=r"'text' must have \d+ times the queries for 30 tokens"):
        compress_cache(llama, whole, text=ids(2, 20), ratio=0.5, options=CacheOptions(iterations=1))


def test_time_that_ends_and_progress(llama, whole, capsys):
    text = ids(2, 150, seed=1)
    options = CacheOptions(time_limit=1e-9, progress=True)
    found = compress_cache(llama, whole, text=text, ratio=0.2, options=options)
    assert found.records == compress_cache(llama, whole, text=text, ratio=0.2, method="top attention").records
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["layer 0 of 2", "layer 1 of 2"]


def test_linear_layers_are_kept():
    torch.manual_seed(6)
    config = transformers.Qwen3NextConfig(
        **SIZES, head_dim=8, layer_types=["linear_attention", "full_attention"], num_experts=2, num_experts_per_tok=1,
        moe_intermediate_size=8, shared_expert_intermediate_size=8, linear_num_value_heads=2, linear_num_key_heads=2,
        linear_key_head_dim=8, linear_value_head_dim=8,
    )  # fmt: skip
    model = transformers.Qwen3NextForCausalLM(config).eval()
    cache = read(model, ids(1, N)).cache
    exact = compress_cache(model, cache, text=ids(1, 40), ratio=1.0)
    assert exact.compare(model, cache, ids(1, 20, seed=1)).kl == 0.0
    assert exact.compare(model, cache, ids(1, 20, seed=1)).kl == 0.0  # states were not moved on
    graph = compress_cache(model, model(ids(1, N), use_cache=True).cache, text=ids(1, 40), ratio=1.0)
    assert not graph.cache.layers[0].recurrent_states[0].requires_grad
    with pytest.raises(TypeError, match="only layers of keys and values can be saved, there is a LinearAttention"):
        exact.save("nowhere")


def tiny(groups=1, **options):
    torch.manual_seed(7)
    config = SIZES | {"num_hidden_layers": 1, "num_key_value_heads": groups} | options
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**config)).eval()


def test_float64_keeps_its_digits():
    model = tiny().double()
    cache = read(model, ids(1, N)).cache
    short = compress_cache(model, cache, text=ids(1, 20), ratio=1.0)
    assert torch.equal(logits(model, short.cache, ids(1, 5)), logits(model, copy.deepcopy(cache), ids(1, 5)))
    kept = compress_cache(model, cache, text=ids(1, 20), ratio=0.5, method="recent").cache.layers[0].rows[0].key
    assert torch.equal(kept, cache.layers[0].keys[0, 0, -30:])


def test_biases_are_those_that_a_dtype_has():
    model = tiny().bfloat16()
    short = compress_cache(model, read(model, ids(1, N)).cache, text=ids(1, 60), ratio=0.2, method="top attention")
    bias = short.cache.layers[0].rows[0].bias
    assert torch.equal(bias, bias.bfloat16().float())
    assert bias.abs().max() > 0.1


def test_errors_of_small_values_are_no_smaller():
    model = tiny()
    cache = read(model, ids(1, N)).cache
    whole, small = (
        compress_cache(model, cache, text=ids(1, 60), ratio=0.2, method="recent").records[0].error
        for cache.layers[0].values in (cache.layers[0].values, 1e-18 * cache.layers[0].values)
    )
    assert small == pytest.approx(whole, rel=1e-4)


def test_graphs_lead_through_a_cache_but_not_into_it():
    model = mistral(20)
    full = compress_cache(model, model(ids(1, N), use_cache=True).cache, text=ids(1, 40))
    assert not any(layer.keys.requires_grad for layer in full.cache.layers)
    model = tiny()
    short = compress_cache(model, model(ids(1, N), use_cache=True).cache, text=ids(1, 60), method="top attention")
    with short.attending(model):
        model(ids(1, 4), cache=short.cache).logits.sum().backward()
    assert model.model.layers[0].self_attn.k_proj.weight.grad.abs().max() > 0.0


def test_windows_wait_for_crop_where_the_past_is_recorded():
    model = mistral(70)
    short = compress_cache(model, read(model, ids(1, N)).cache, text=ids(1, 40), ratio=0.2, method="uniform")
    tail, other = ids(1, 90, seed=4), ids(1, 20, seed=5)
    with short.attending(model):
        cache, plain = short.cache, short.cache
        cache.activate_past_recording()
        logits(model, cache, tail)
        cache.crop(-10)
        logits(model, plain, tail[:, :80])
        with pytest.raises(ValueError, match="must be between 0 and 0, got -1"):
            plain.crop(-1)
        torch.testing.assert_close(logits(model, cache, other), logits(model, plain, other), rtol=1e-4, atol=1e-4)
    cache.crop(0)
    assert cache.layers[0].keys.shape == plain.layers[0].keys.shape


def test_comparison_knows_the_padding_and_hides_no_nan(llama, whole):
    mask = torch.ones(2, N, dtype=torch.long)
    mask[0, :50] = 0
    places = (mask.cumsum(-1) - 1).clamp(min=0)
    cache = read(llama, ids(2, N), attention_mask=mask, position_ids=places).cache
    short = compress_cache(
        llama, cache, context={"input_ids": ids(2, N), "attention_mask": mask}, text=ids(2, 40), method="uniform"
    )
    full = {"input_ids": ids(2, 9), "attention_mask": torch.cat([mask, torch.ones(2, 9, dtype=torch.long)], dim=1)}
    assert short.compare(llama, cache, ids(2, 9)) == short.compare(llama, cache, full)
    model = copy.deepcopy(llama)
    model.lm_head.weight.data[0] = torch.nan
    assert np.isnan(short.compare(model, cache, ids(2, 9)).kl)
    with pytest.raises(ValueError, match="'model' must have finite logits behind 'cache' for budget='error'"):
        compress_cache(model, cache, text=ids(2, 9), options=CacheOptions(budget="error"))


def test_few_queries_of_many_heads_are_enough():
    model = tiny()
    cache = read(model, ids(1, N)).cache
    options = {"method": "top attention", "options": CacheOptions(queries=10), "ratio": 0.02}
    assert compress_cache(model, cache, text=ids(1, 30), **options).records[0].tokens == 1  # 4 heads share a key


def test_compiled_models_are_watched():
    model = tiny()
    cache = read(model, ids(1, N)).cache
    options = {"text": ids(1, 40), "method": "top attention"}
    expected = compress_cache(model, cache, **options)
    model.compile(backend="eager")
    assert compress_cache(model, cache, **options).records == expected.records
