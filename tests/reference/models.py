"""Which models of transformers and PEFT the library serves, and by which words it refuses: a table of checks.

Small configurations of random weights, in float64, LoRA before and after merging, PEFT's prefix tuning, and the torch
models inside the wheels of the extra `pretrained`. For each:

- prefix: prefixes of all layers in a cache, the model's logits against those of one pass over the tokens of which they
  are the keys and values;
- generate: six greedy tokens behind that cache against those of one pass over the whole text for each; and those of
  PEFT's own generate, which may differ from its own forward;
- read: attention weights times values against the heads' outputs, and the share of the prefix;
- layer: `as_layer` of the last layer, at place 9, which checks itself against the module;
- fit: prefixes of 3 tokens in place of 12, the KL divergence of the next token over that without a prefix.

A cell is the error, or the ratio, that was found; or a letter, for the words of a refusal below the table. It takes a
minute or two, and needs torch, transformers and peft::

    python tests/reference/models.py
"""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import torch
import transformers as tf
from tabulate import tabulate

from spherapprox.prompts.prefix import as_layer, of_model
from spherapprox.prompts.prefix.torch_modules import dynamic_cache, from_past_key_values

SPECIAL = {"vocab_size": 97, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
LLAMA = SPECIAL | {
    "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "initializer_range": 0.2,
}  # fmt: skip
PAIR = SPECIAL | {
    "d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "init_std": 0.2,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 96, "decoder_ffn_dim": 96,
}  # fmt: skip
HYBRID = ["sliding_attention", "full_attention", "sliding_attention"]
BERT = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96, **SPECIAL}
GPT2 = SPECIAL | {"n_embd": 64, "n_layer": 3, "n_head": 4, "n_positions": 128, "initializer_range": 0.2}
T5 = SPECIAL | {"d_model": 64, "d_kv": 16, "d_ff": 96, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0}
PROMPT, LENGTH = 12, 3
GREEDY = {"max_new_tokens": 6, "do_sample": False, "eos_token_id": None, "forced_eos_token_id": None}


def decoder(name: str, **options: Any) -> Any:
    return getattr(tf, f"{name}ForCausalLM")(getattr(tf, f"{name}Config")(**LLAMA | options))


MODELS: dict[str, Callable[[], Any]] = {
    "GPT-2": lambda: tf.GPT2LMHeadModel(tf.GPT2Config(**GPT2)),
    "Llama, head_dim 24": lambda: decoder("Llama", head_dim=24),
    "Mistral, window 8": lambda: decoder("Mistral", sliding_window=8),
    "Qwen 2": lambda: decoder("Qwen2"),
    "Qwen 3": lambda: decoder("Qwen3", head_dim=32),
    "Gemma 2, window 8": lambda: decoder("Gemma2", head_dim=32, sliding_window=8),
    "Gemma 3, hybrid": lambda: tf.Gemma3ForCausalLM(
        tf.Gemma3TextConfig(**LLAMA, head_dim=32, sliding_window=8, layer_types=HYBRID)
    ),
    "GPT-NeoX": lambda: tf.GPTNeoXForCausalLM(tf.GPTNeoXConfig(**BERT | {"initializer_range": 0.2})),
    "BERT": lambda: tf.BertModel(tf.BertConfig(**BERT)),
    "Bart": lambda: tf.BartForConditionalGeneration(tf.BartConfig(**PAIR)),
    "T5": lambda: tf.T5ForConditionalGeneration(tf.T5Config(**T5)),
    "Bloom": lambda: tf.BloomForCausalLM(tf.BloomConfig(hidden_size=64, n_layer=2, n_head=4, **SPECIAL)),
    "Mamba": lambda: tf.MambaForCausalLM(tf.MambaConfig(hidden_size=64, num_hidden_layers=2, **SPECIAL)),
    "gpt-oss": lambda: decoder("GptOss", num_local_experts=2, num_experts_per_tok=1, head_dim=16),
}
ADAPTED = {"GPT-2": ["c_attn", "c_proj"], "Llama, head_dim 24": ["q_proj", "v_proj", "o_proj"], "T5": ["q", "v", "o"]}
TASKS = {"Bart": "SEQ_2_SEQ_LM", "T5": "SEQ_2_SEQ_LM"}


def argument(model: Any) -> str:
    """Return the argument by which a model takes a cache."""
    return "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"


def output(result: Any) -> torch.Tensor:
    """Return logits, or the last hidden states."""
    return result.logits if hasattr(result, "logits") else result.last_hidden_state


def taking(model: Any, prefixes: Any, batch: int = 2) -> dict[str, Any]:
    """Return the argument by which a model takes prefixes."""
    cache = dynamic_cache(prefixes, batch_size=batch, dtype=torch.float64)
    return {
        argument(model): tf.EncoderDecoderCache(cache, tf.DynamicCache()) if model.config.is_encoder_decoder else cache
    }


class Case:
    """A model, some text, and its first tokens as prefixes of all layers."""

    def __init__(self, model: Any) -> None:
        self.attention = of_model(model)
        self.model, self.base = model, model.get_base_model() if hasattr(model, "get_base_model") else model
        generator = torch.Generator().manual_seed(0)
        self.tokens = torch.randint(3, 97, (2, PROMPT + 24), generator=generator)
        self.tokens[1, :PROMPT] = self.tokens[0, :PROMPT]
        double = self.base.config.is_encoder_decoder
        if double:  # generate puts this token before others
            self.tokens[:, [0, PROMPT]] = self.base.config.decoder_start_token_id
        config = getattr(model, "active_peft_config", None)
        self.has_own = bool(config is not None and config.is_prompt_learning)
        self.more = {"input_ids": self.tokens[:, :9]} if double else {}
        self.name = "decoder_input_ids" if double else "input_ids"

    def inputs(self, tokens: torch.Tensor) -> dict[str, Any]:
        return {**self.more, self.name: tokens}

    def prefixes(self) -> Any:
        """Return the prefixes that PEFT holds, or those of the first tokens."""
        if self.has_own:
            return from_past_key_values(self.model.get_prompt(1))
        cache: Any = tf.DynamicCache()
        held = tf.EncoderDecoderCache(cache, tf.DynamicCache()) if self.more else cache
        given = {key: value[:1] for key, value in self.inputs(self.tokens[:, :PROMPT]).items()}
        with torch.no_grad():
            self.base(**given, **{argument(self.base): held}, use_cache=True)
        return from_past_key_values(cache)

    def prefix(self) -> str:
        if self.attention.layers[0].kind == "encoder" and not self.more:
            return "-"  # what was first saw what came later
        content = self.inputs(self.tokens[:, PROMPT:])
        with torch.no_grad():
            whole = self.model(**content if self.has_own else self.inputs(self.tokens))
            logits = output(self.base(**content, **taking(self.base, self.prefixes())))
        whole = output(whole)[:, -logits.shape[1] :]
        return f"{float((logits - whole).abs().max() / whole.abs().max()):.0e}"

    def generate(self) -> str:
        content = self.inputs(self.tokens[:, PROMPT:])
        mask = self.name.replace("input_ids", "attention_mask")
        prefixes = self.prefixes()
        ones = torch.ones(2, len(prefixes[0]) + content[self.name].shape[1])
        cache = taking(self.base, prefixes)[argument(self.base)]
        answers = self.base.generate(**content, **{mask: ones}, past_key_values=cache, **GREEDY)[:, -6:]
        whole = content[self.name] if self.has_own else self.tokens
        for _ in range(6):  # one pass over all tokens for each
            with torch.no_grad():
                logits = self.model(**self.inputs(whole)).logits[:, -1:]
            whole = torch.cat([whole, logits.argmax(-1)], dim=1)
        text = "same" if torch.equal(whole[:, -6:], answers) else "differs"
        if self.has_own and not torch.equal(self.model.generate(**content, **GREEDY)[:, -6:], whole[:, -6:]):
            text += " (PEFT's differs)"
        return text

    def read(self) -> str:
        tokens = self.tokens[:, PROMPT:]
        reading = self.attention.read(**self.inputs(tokens))
        away = 0.0
        for own in reading.layers:
            weights = torch.tensor(reading.weights(own.record.index))
            values = own.value.double().repeat_interleave(weights.shape[1] // own.value.shape[1], dim=1)
            away = max(away, float((weights @ values - own.output).abs().max() / own.output.abs().max()))
        return f"{away:.0e}"

    def share(self) -> str:
        given = self.inputs(self.tokens[:, PROMPT:])
        return f"{self.attention.prefix_share(None if self.has_own else self.prefixes(), **given).mean():.2f}"

    def layer(self) -> str:
        return str(self.attention.as_layer(len(self.attention.layers) - 1, position=9)).partition("(")[0] and "yes"

    def fit(self) -> str:
        given = self.inputs(self.tokens[:, PROMPT:])
        targets = self.attention.read(**given, **taking(self.base, self.prefixes()))
        prefixes = self.attention.fit(targets, LENGTH, **given)
        own = self.attention.read(**given, **taking(self.base, prefixes))
        away = [kl(targets.logits, part.logits) for part in (own, self.attention.read(**given))]
        return f"{away[0] / away[1]:.2f}"


def kl(logits: torch.Tensor, others: torch.Tensor) -> float:
    logits, others = logits.log_softmax(-1), others.log_softmax(-1)
    return float((logits.exp() * (logits - others)).sum(-1).mean())


FEATURES = ("prefix", "generate", "read", "share", "layer", "fit")


def rows(name: str, model: Any, words: dict[str, str]) -> list[str]:
    """Return the cells of a model."""

    def refused(error: Exception) -> str:
        text = " ".join(f"{type(error).__name__}: {error}".split())
        return words.setdefault(text, chr(ord("a") + len(words)))

    try:
        case = Case(model)
    except (TypeError, ValueError) as error:
        return [name, *([refused(error)] * len(FEATURES))]
    cells = []
    for feature in FEATURES:
        try:
            cells.append(getattr(case, feature)())
        except (TypeError, ValueError, AttributeError) as error:
            cells.append(refused(error))
    return [name, *cells]


def adapted(name: str, model: Any) -> list[tuple[str, Any]]:
    """Return a model with LoRA, before and after merging, and with a prefix of PEFT."""
    import peft

    variants = []
    task = TASKS.get(name, "CAUSAL_LM")
    if name in ADAPTED:
        options = {
            "r": 4,
            "target_modules": ADAPTED[name],
            "init_lora_weights": False,
            "fan_in_fan_out": name == "GPT-2",
        }
        lora = peft.get_peft_model(copy.deepcopy(model), peft.LoraConfig(task_type=task, **options)).double().eval()
        merged = copy.deepcopy(lora).merge_and_unload()
        variants += [(f"{name} + LoRA", lora), (f"{name} + LoRA, merged", merged)]
    if name in ("GPT-2", "Qwen 2", "Gemma 2, window 8", "Bart", "T5"):
        config = peft.PrefixTuningConfig(task_type=task, num_virtual_tokens=LENGTH)
        variants.append((f"{name} + prefix tuning", peft.get_peft_model(copy.deepcopy(model), config).double().eval()))
    return variants


def wheels(words: dict[str, str]) -> list[list[str]]:
    """Return the rows of torch models inside wheels of the extra `pretrained`."""
    try:
        from anarcii.inference.model_loader import Loader
    except ImportError:
        return []
    model = Loader("antibody", "speed", torch.device("cpu")).model.eval()
    name = "anarcii (extra pretrained)"
    cells = rows(name, model, words)
    parts = [part for part in model.modules() if isinstance(part, torch.nn.MultiheadAttention)]
    return [
        cells,
        [f"{name}, {len(parts)} layers by as_layer", "-", "-", "-", "-", str(as_layer(parts[0])) and "yes", "-"],
    ]


def main() -> None:
    warnings.simplefilter("ignore", FutureWarning)
    tf.logging.set_verbosity_error()
    words: dict[str, str] = {}
    table = []
    for name, make in MODELS.items():
        torch.manual_seed(0)
        model = make().eval()
        model = model if name == "gpt-oss" else model.double()  # whose experts have no float64
        table.append(rows(name, model, words))
        table += [rows(other, part, words) for other, part in adapted(name, model)]
    table += wheels(words)
    print(tabulate(table, ["model", *FEATURES], disable_numparse=True))
    for text, letter in words.items():
        print(f"{letter}: {text}")


if __name__ == "__main__":
    main()
