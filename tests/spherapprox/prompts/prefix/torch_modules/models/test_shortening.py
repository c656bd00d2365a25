"""Trained prefixes of PEFT and shorter ones: their place in the model, their keys, what they say of next tokens."""

import copy

import numpy as np
import pytest

from spherapprox.prompts.prefix import Descent, Prefix

torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
peft = pytest.importorskip("peft")

from spherapprox.prompts.prefix import (  # noqa: E402
    distill_prefix,
    next_token_divergence,
    prefixed_inputs,
    shorten_prefix,
    turn_keys,
)
from spherapprox.prompts.prefix.torch_modules import from_prompt_embeddings, prompt_embeddings  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")  # of transformers, at what PEFT calls
SIZES = {"vocab_size": 50, "initializer_range": 0.25, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
ROTARY = SIZES | {
    "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 256,
}  # fmt: skip
LONG, SHORT = 12, 3
TEXT = torch.tensor(np.random.default_rng(0).integers(3, 50, (10, 8)))
GREEDY = {"max_new_tokens": 4, "do_sample": False, "pad_token_id": 0}


def made(kind):
    torch.manual_seed(0)
    if kind == "gpt2":
        return transformers.GPT2LMHeadModel(transformers.GPT2Config(**SIZES, n_embd=32, n_layer=2, n_head=4)).eval()
    if kind == "bart":
        sizes = {f"{side}_{name}": 2 for side in ("encoder", "decoder") for name in ("layers", "attention_heads")}
        feed = {"encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "init_std": 0.25, "d_model": 32, "vocab_size": 50}
        return transformers.BartForConditionalGeneration(transformers.BartConfig(**sizes, **feed)).eval()
    config = {
        "llama": lambda: transformers.LlamaConfig(**ROTARY),
        "yarn": lambda: transformers.LlamaConfig(
            **ROTARY, rope_parameters={"rope_type": "yarn", "rope_theta": 100.0, "factor": 4.0,
                                       "original_max_position_embeddings": 64}),
        "gemma3": lambda: transformers.Gemma3TextConfig(
            **ROTARY, sliding_window=64, layer_types=["sliding_attention", "full_attention"]),
        "phi": lambda: transformers.PhiConfig(**(ROTARY | {"num_key_value_heads": 4})),
        "cohere": lambda: transformers.CohereConfig(**ROTARY),
    }[kind]()  # fmt: skip
    return transformers.AutoModelForCausalLM.from_config(config).eval()


def near(count, heads, layers, s, spread=0.01):
    """Return prefixes whose tokens are near a few different ones, which can be shortened."""
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((layers, 2, heads, 5, s))[:, :, :, rng.integers(0, 5, count)]
    rows += spread * rng.standard_normal(rows.shape)
    return [Prefix(key, value) for key, value in rows]


def adapted(base, prefixes=None, length=LONG, **options):
    task = "SEQ_2_SEQ_LM" if base.config.is_encoder_decoder else "CAUSAL_LM"
    model = peft.get_peft_model(
        base, peft.PrefixTuningConfig(task_type=task, num_virtual_tokens=length, **options)
    ).eval()
    config = model.peft_config["default"]
    heads = config.num_attention_heads
    if prefixes is None:
        prefixes = near(length, heads, config.num_layers, config.token_dim // heads)
    if not config.prefix_projection:
        model.prompt_encoder["default"].load_prompt_embeddings(prompt_embeddings(prefixes))
    return model


def held(model):
    config = model.peft_config["default"]
    rows, heads = model.get_prompt_embedding_to_save("default"), config.num_attention_heads
    return from_prompt_embeddings(rows, layers=config.num_layers, heads=heads, head_dim=config.token_dim // heads)


@pytest.fixture(scope="module")
def llama():
    model = adapted(made("llama"))
    return model, shorten_prefix(model, SHORT, TEXT)


def test_a_short_prefix_says_what_the_long_one_does(llama):
    model, short = llama
    cut = adapted(
        model.get_base_model(),
        turn_keys([Prefix(p.key[:, :SHORT], p.value[:, :SHORT]) for p in held(model)], SHORT - LONG, model), SHORT,
    )  # fmt: skip
    outside = TEXT[4::5]
    assert short.divergence == next_token_divergence(model, short.model, outside) == short.in_place
    assert short.divergence.nats < 0.5 * next_token_divergence(model, cut, outside).nats
    assert short.divergence.nats < 0.26 * short.without.nats  # 0.30 for queries of equal weight
    assert short.offset == 0
    assert {(h.layer, h.head) for h in short.heads} == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert all(0.0 < h.error < 0.5 and 0.0 < h.held_out < 0.5 and 0.3 < h.share < 1.0 for h in short.heads)
    assert "no prefix" in short.table()


def test_it_stays_a_model_of_peft(llama, tmp_path):
    model, short = llama
    config, own = model.peft_config["default"], short.model.peft_config["default"]
    assert type(short.model) is type(model)
    assert short.model.get_base_model() is model.get_base_model()
    assert own.num_virtual_tokens == SHORT
    assert config.num_virtual_tokens == LONG
    assert vars(own) | {"num_virtual_tokens": LONG} == vars(config)
    assert [p.requires_grad for p in short.model.prompt_encoder.parameters()] == [True]
    np.testing.assert_allclose(held(short.model)[1].key, short.prefixes[1].key, rtol=1e-6, atol=1e-6)
    short.model.save_pretrained(tmp_path)
    loaded = peft.PeftModel.from_pretrained(made("llama"), tmp_path).eval()
    with torch.no_grad():
        torch.testing.assert_close(loaded(TEXT[:2]).logits, short.model(TEXT[:2]).logits)
    again = shorten_prefix(loaded, 3, TEXT).model  # of one that was saved
    assert again.peft_config["default"].inference_mode
    assert [p.requires_grad for p in again.parameters()] == [p.requires_grad for p in loaded.parameters()]


def test_all_heads_of_queries_that_share_a_key_count(llama):
    base = copy.deepcopy(llama[0].get_base_model())
    with torch.no_grad():
        for layer in base.model.layers:
            layer.self_attn.q_proj.weight.view(2, 2, 16, 32)[:, 0] *= 0.05
            layer.self_attn.o_proj.weight.view(32, 2, 2, 16)[:, :, 0] = 0.0
    short = shorten_prefix(adapted(base, near(LONG, 2, 2, 16, spread=0.3)), 8, TEXT)
    assert short.divergence.nats < 0.3 * short.without.nats  # 0.55 for queries of the first, which says nothing


def test_a_projection_is_read(llama):
    torch.manual_seed(1)
    model = adapted(made("llama"), prefix_projection=True, encoder_hidden_size=8)
    torch.nn.init.normal_(model.prompt_encoder["default"].transform[2].weight)
    short = shorten_prefix(model, LONG, TEXT)
    assert not short.model.peft_config["default"].prefix_projection
    assert short.divergence.nats < 1e-6
    assert short.without.nats > 0.05


def test_learned_positions_are_told():
    model = adapted(made("gpt2"))
    short = shorten_prefix(model, SHORT, {"input_ids": TEXT, "attention_mask": torch.ones_like(TEXT)})
    assert short.offset == LONG - SHORT
    assert short.in_place.nats < 0.1 * short.divergence.nats
    tokens = TEXT[:1]
    for _ in range(4):
        places = short.offset + torch.arange(tokens.shape[1])[None]
        with torch.no_grad():
            logits = short.model(input_ids=tokens, position_ids=places).logits
        tokens = torch.cat([tokens, logits[:, -1:].argmax(-1)], dim=1)
    assert torch.equal(model.get_base_model().generate(**prefixed_inputs(short, TEXT[:1]), **GREEDY), tokens)


def test_an_encoder_decoder_is_shortened():
    model = adapted(made("bart"))
    short = shorten_prefix(model, SHORT, {"input_ids": TEXT, "decoder_input_ids": TEXT.flip(0)})
    assert type(short.model) is type(model)
    assert short.in_place is None
    assert short.divergence.nats < 0.2 * short.without.nats
    assert {head.layer for head in short.heads} == {0}  # PEFT hands both layers one


def test_padding_is_no_text(llama):
    model, short = llama
    tokens, mask = torch.nn.functional.pad(TEXT, (3, 0)), torch.nn.functional.pad(torch.ones_like(TEXT), (3, 0))
    padded = {"input_ids": tokens, "attention_mask": mask}
    other = shorten_prefix(model, SHORT, padded, tokens=50, solver=Descent("rms", starts=1))
    assert other.divergence.tokens == short.divergence.tokens == 16
    assert other.divergence.nats < 0.5 * other.without.nats


def test_biases_of_positions_are_refused():
    sizes = {"vocab_size": 50, "d_model": 32, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 4}
    model = adapted(transformers.T5ForConditionalGeneration(transformers.T5Config(**sizes)))
    with pytest.raises(ValueError, match="'model' must not add biases of positions"):
        shorten_prefix(model, SHORT, {"input_ids": TEXT, "decoder_input_ids": TEXT})


@pytest.mark.parametrize("kind", ["llama", "yarn", "gemma3", "phi", "cohere"])
@pytest.mark.parametrize("shift", [-19, 100])
def test_turned_keys_stand_elsewhere(kind, shift):
    base = made(kind)
    heads = getattr(base.config, "num_key_value_heads", 4)
    s = getattr(base.config, "head_dim", None) or 32 // base.config.num_attention_heads
    prefixes, places = near(6, heads, 2, s), 30 + torch.arange(8)[None]
    moved = turn_keys(prefixes, shift, base)
    with torch.no_grad():
        one, two = (
            base(**(prefixed_inputs(rows, TEXT[:2]) | {"position_ids": at})).logits
            for rows, at in ((prefixes, places), (moved, places + shift))
        )
    torch.testing.assert_close(one, two, rtol=0, atol=2e-4)
    assert abs(moved[0].key - prefixes[0].key).max() > 0.1
    np.testing.assert_array_equal(moved[1].value, prefixes[1].value)
    back = turn_keys(moved, -shift, base)
    np.testing.assert_allclose(back[1].key, prefixes[1].key, rtol=0, atol=1e-5)


def test_keys_that_change_otherwise_are_refused(llama):
    base = copy.deepcopy(llama[0].get_base_model())
    base.model.layers[1].self_attn.k_proj.register_forward_hook(
        lambda m, a, out: out + torch.arange(8.0)[None, :6, None]
    )
    places = []
    base.model.register_forward_pre_hook(lambda m, a, k: places.append(k["position_ids"]), with_kwargs=True)
    base.model.layers[1].self_attn.k_proj.register_forward_hook(lambda m, a, out: out * places[-1][..., None])
    with pytest.raises(ValueError, match=r"those of layer 1 of LlamaForCausalLM change otherwise"):
        turn_keys(near(6, 2, 2, 16), 3, base)


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_generation_behind_a_prefix(kind):
    base = made(kind)
    model = adapted(base)
    tokens = TEXT[:2]
    for _ in range(4):
        with torch.no_grad():
            tokens = torch.cat([tokens, model(input_ids=tokens).logits[:, -1:].argmax(-1)], dim=1)
    assert torch.equal(base.generate(**prefixed_inputs(model, TEXT[:2]), **GREEDY), tokens)
    mask = torch.ones_like(TEXT[:2])
    mask[1, :3] = 0
    padded = {"input_ids": TEXT[:2], "attention_mask": mask}
    answers = base.generate(**prefixed_inputs(held(model), padded), **GREEDY)
    alone = base.generate(**prefixed_inputs(held(model), TEXT[1:2, 3:]), **GREEDY)
    assert torch.equal(answers[0], tokens[0])
    assert torch.equal(answers[1, 8:], alone[0, 5:])
    with torch.no_grad():
        logits = base(**prefixed_inputs(model, padded)).logits[1, 3:]
        torch.testing.assert_close(logits, model(TEXT[1:2, 3:]).logits[0])
    beams = base.generate(**prefixed_inputs(model, TEXT[:2], beams=3), num_beams=3, **GREEDY)
    assert beams.shape == (2, 12)


def test_an_encoder_decoder_generates():
    model = adapted(made("bart"))
    base, tokens = model.get_base_model(), torch.full((2, 1), 2)
    for _ in range(3):
        with torch.no_grad():
            logits = model(input_ids=TEXT[:2], decoder_input_ids=tokens).logits
        tokens = torch.cat([tokens, logits[:, -1:].argmax(-1)], dim=1)
    inputs = prefixed_inputs(model, TEXT[:2])
    assert torch.equal(base.generate(**inputs, max_new_tokens=4, do_sample=False)[:, :4], tokens)
    mask = torch.ones(2, 3, dtype=torch.long)
    batch = {"input_ids": TEXT[:2], "decoder_input_ids": tokens[:, :3], "decoder_attention_mask": mask}
    with torch.no_grad():
        answer = base(**prefixed_inputs(model, batch)).logits
        torch.testing.assert_close(answer, model(**batch).logits)


def test_divergence_by_its_definition(llama):
    model, short = llama
    mask = torch.ones_like(TEXT[:3])
    mask[0, 5:] = 0
    batch = {"input_ids": TEXT[:3], "attention_mask": mask}
    gap = next_token_divergence(model, lambda **inputs: short.model(**inputs).logits, [batch, TEXT[3:4]])
    with torch.no_grad():
        p, q = (
            torch.cat([m(**batch).logits[mask.bool()], m(TEXT[3:4]).logits[0]]).double().softmax(-1).numpy()
            for m in (model, short.model)
        )
    assert gap.tokens == len(p) == 29
    assert gap.nats == pytest.approx(np.mean(np.sum(p * np.log(p / q), axis=1)), rel=1e-9)
    assert gap.agreement == np.mean(p.argmax(1) == q.argmax(1))
    assert next_token_divergence(model, model, TEXT).nats == 0.0
    never = torch.tensor([0.0, -torch.inf, 0.0]).expand(1, 2, 3)
    assert next_token_divergence(lambda input_ids: never, lambda input_ids: never, TEXT[:1, :2]).nats == 0.0
    infinite = next_token_divergence(lambda input_ids: 0 * never.exp(), lambda input_ids: never, TEXT[:1, :2])
    assert infinite.nats == np.inf


def test_distillation_goes_on_from_there(llama):
    model, short = llama
    student = copy.deepcopy(short.model).train()
    weights = {name: p.clone() for name, p in student.named_parameters() if "prompt" not in name}
    required = [p.requires_grad for p in student.parameters()]
    history = distill_prefix(student, model, [TEXT[:5], TEXT[5:]], steps=12)
    assert len(history) == 12
    assert min(history) >= 0.0
    after = next_token_divergence(model, student, TEXT)
    assert after.nats < 0.85 * next_token_divergence(model, short.model, TEXT).nats
    assert required == [p.requires_grad for p in student.parameters()]
    assert student.training
    assert not model.training
    assert all(p.grad is None for p in student.parameters())
    assert all(torch.equal(p, weights[name]) for name, p in student.named_parameters() if name in weights)
    whole = made("llama")
    assert len(distill_prefix(whole, model, TEXT, steps=2, parameters=[whole.lm_head.weight])) == 2
    assert all(p.requires_grad for p in whole.parameters())
    assert torch.equal(whole.model.embed_tokens.weight, model.get_base_model().model.embed_tokens.weight)
    with pytest.raises(ValueError, match="'student' must be frozen but for its prefix"):
        distill_prefix(whole, model, TEXT, steps=1)
    whole.lm_head.requires_grad_(False)
    assert len(distill_prefix(whole, model, TEXT, steps=1)) == 1  # what requires gradients
    assert not torch.equal(whole.model.embed_tokens.weight, model.get_base_model().model.embed_tokens.weight)
    before = student.prompt_encoder["default"].embedding.weight.clone()
    with pytest.raises(FloatingPointError, match="take a smaller 'learning_rate'"):
        distill_prefix(student, lambda input_ids: model(input_ids).logits / (input_ids[0, 0] - 42), [TEXT[5:], TEXT])
    assert torch.equal(student.prompt_encoder["default"].embedding.weight, before)


def test_numbers_that_are_none_are_told():
    right, wrong = torch.zeros(10, 8, 50), torch.full((10, 8, 50), torch.nan)
    for pair in ((right, wrong), (wrong, right)):
        one, other = (lambda logits=logits, **_: logits for logits in pair)
        with pytest.raises(ValueError, match="must have logits that are numbers, got nan"):
            next_token_divergence(one, other, TEXT)


def test_the_given_model_stays_as_it_was():
    model = adapted(made("llama")).train()
    model.get_base_model().model.layers[0].eval()
    model.get_base_model().lm_head.requires_grad_(True)

    def state():
        return [part.training for part in model.modules()], [part.requires_grad for part in model.parameters()]

    before = state()
    short = shorten_prefix(model, SHORT, TEXT)
    assert state() == before
    assert short.model.training
    assert short.model.prompt_encoder.training


def test_frequencies_of_the_model_stay():
    config = transformers.LlamaConfig(
        **ROTARY, rope_parameters={"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}
    )
    model = transformers.LlamaForCausalLM(config).eval()
    before = model.model.rotary_emb.inv_freq.clone()
    with pytest.raises(ValueError, match="must have keys that its rotary functions turn"):
        turn_keys(near(4, 2, 2, 16), 300, model)
    assert torch.equal(model.model.rotary_emb.inv_freq, before)
