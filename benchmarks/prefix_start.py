"""Where the training of a prefix begins, and what is left of a long one: steps to the same loss, next tokens.

A small decoder with rotary positions is trained on a language of 64 words that eight speakers use, each with chances of
its own of one word after another; it finds out who speaks. Prefixes of PEFT then adapt it to a new speaker, who says
what one of two of them would, by the last word. They start at random as PEFT's do, from the cache of a text of the
speaker (PEFT's ``initialize_kv_prefix_from_past_key_values``), from a prefix in closed form by which layers do alone
what they do behind three texts of the speaker, and from a trained prefix of 100 tokens that `shorten_prefix` made as
short; its training comes on top.
Then the long prefix is cut, shortened and distilled, and compared with itself. Some ten minutes, a half with
``--quick``::

    python benchmarks/prefix_start.py --out results
"""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np
from harness import Experiment, main
from matplotlib.figure import Figure
from tabulate import tabulate

from bounds.report.plot.style import BLUE, GREEN, ORANGE, RED, grid

WORDS, SPEAKERS, LENGTH, LONG, SHORT = 64, 8, 32, 100, 10
RATE, EVERY, STEPS, DISTILLED = 0.02, 5, 200, 50
STARTS = {"random": RED, "a text's cache": ORANGE, "closed form": GREEN, "shortened": BLUE}


def chances(seed: int) -> Any:
    """Return the chances of each word after each, of all speakers and of the new one last."""
    rng = np.random.default_rng(seed)
    known = rng.dirichlet(np.full(WORDS, 0.05), (SPEAKERS, WORDS))
    new = np.where(np.arange(WORDS)[:, None] % 2 == 0, known[0], known[1])
    return np.concatenate([known, new[None]])


def spoken(speakers: Any, rng: np.random.Generator) -> Any:
    """Return a text of each speaker, (texts, LENGTH)."""
    import torch

    sums = chances(0).cumsum(axis=-1)
    words = [rng.integers(WORDS, size=len(speakers))]
    for _ in range(LENGTH - 1):
        draws = rng.random((len(speakers), 1))
        words.append(np.minimum((sums[speakers, words[-1]] < draws).sum(axis=-1), WORDS - 1))
    return torch.from_numpy(np.stack(words, axis=1))


def of_new(count: int, rng: np.random.Generator) -> Any:
    """Return texts of the new speaker."""
    return spoken(np.full(count, SPEAKERS), rng)


@functools.cache
def base(steps: int) -> Any:
    """Return the decoder, trained on texts of the known speakers."""
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=WORDS, hidden_size=64, intermediate_size=128, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=256, bos_token_id=None, eos_token_id=None, pad_token_id=None,
    )  # fmt: skip
    model, rng = transformers.LlamaForCausalLM(config), np.random.default_rng(0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps)
    for _ in range(steps):
        text = spoken(rng.integers(SPEAKERS, size=48), rng)
        optimizer.zero_grad()
        model(text, labels=text).loss.backward()
        optimizer.step()
        schedule.step()
    return model.eval().requires_grad_(False)


def adapted(model: Any, length: int, seed: int) -> Any:
    """Return a model of PEFT with a random prefix, as PEFT makes it."""
    import peft
    import torch

    torch.manual_seed(seed)
    return peft.get_peft_model(model, peft.PrefixTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=length)).eval()


def loss_of(model: Any, text: Any) -> float:
    """Return the mean loss of next words, in nats."""
    import torch

    with torch.no_grad():
        return float(model(text, labels=text).loss)


def trained(model: Any, steps: int, seed: int) -> list[float]:
    """Train the prefix of a model; return its loss on other texts every few steps, from the start on."""
    import torch

    rng, other = np.random.default_rng(seed), of_new(200, np.random.default_rng(10**6))
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=RATE)
    losses = [loss_of(model, other)]
    for step in range(1, steps + 1):
        text = of_new(16, rng)
        optimizer.zero_grad()
        model(text, labels=text).loss.backward()
        optimizer.step()
        if step % EVERY == 0:
            losses.append(loss_of(model, other))
    return losses


def started(model: Any, start: str, case: dict[str, Any]) -> Any:
    """Return a model of PEFT with a short prefix to train."""
    from spherapprox.prompts.prefix import shorten_prefix
    from spherapprox.prompts.prefix.torch_modules import prompt_embeddings

    rng = np.random.default_rng(case["seed"] + 100)
    if start == "shortened":
        return shorten_prefix(long_prefix(case["base"], case["long"], case["seed"]), SHORT, of_new(100, rng)).model
    made = adapted(model, SHORT, case["seed"])
    if start == "a text's cache":
        import peft

        cache = model(of_new(1, rng)[:, :SHORT], use_cache=True).past_key_values
        peft.initialize_kv_prefix_from_past_key_values(made, past_key_values=cache)
    elif start == "closed form":
        prefixes = closed_form(model, rng)
        made.prompt_encoder["default"].load_prompt_embeddings(prompt_embeddings(prefixes))
    return made


def closed_form(model: Any, rng: np.random.Generator) -> Any:
    """Return prefixes by which layers do without a prompt what they do behind one of three texts of the speaker."""
    import torch

    from spherapprox.prompts.prefix import of_model

    prompt, text = torch.cat([of_new(100, rng) for _ in range(3)], dim=1), of_new(100, rng)
    attention = of_model(model)
    with torch.no_grad():
        targets = attention.read(input_ids=text, cache=model(prompt).cache)
    return attention.fit(targets, SHORT, input_ids=text)


@functools.cache
def long_prefix(steps: int, tuning: int, seed: int) -> Any:
    """Return the model with a trained prefix of 100 tokens."""
    model = adapted(base(steps), LONG, seed)
    trained(model, tuning, seed)
    return model


def compared(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what short prefixes say of next words beside the long one."""
    import torch

    from spherapprox.prompts.prefix import Prefix, distill_prefix, next_token_divergence, shorten_prefix
    from spherapprox.prompts.prefix.torch_modules import prompt_embeddings
    from spherapprox.prompts.prefix.torch_modules.models.adapters import prefixes_of
    from spherapprox.prompts.prefix.torch_modules.models.positions import turn_keys

    model, rng = long_prefix(case["base"], case["long"], case["seed"]), np.random.default_rng(case["seed"] + 200)
    text, other = of_new(100, rng), of_new(200, np.random.default_rng(10**6))
    short = shorten_prefix(model, SHORT, text)
    cut, noise = (
        adapted(model.get_base_model(), SHORT, case["seed"]),
        adapted(model.get_base_model(), SHORT, case["seed"]),
    )
    first = [Prefix(p.key[:, :SHORT], p.value[:, :SHORT]) for p in prefixes_of(model)]
    cut.prompt_encoder["default"].load_prompt_embeddings(prompt_embeddings(turn_keys(first, SHORT - LONG, model)))
    rows = []
    for name, student in (
        ("no prefix", model.get_base_model()),
        ("random", noise),
        ("cut", cut),
        ("shortened", short.model),
    ):
        before = next_token_divergence(model, student, other)
        row = case | {
            "prefix": name,
            "nats": before.nats,
            "agreement": before.agreement,
            "loss": loss_of(student, other),
        }
        if name != "no prefix":
            distill_prefix(student, model, list(torch.split(text, 16)), steps=DISTILLED, learning_rate=RATE)
            after = next_token_divergence(model, student, other)
            row |= {
                "nats distilled": after.nats,
                "agreement distilled": after.agreement,
                "loss distilled": loss_of(student, other),
            }
        rows.append(row)
    return [row | {"long loss": loss_of(model, other)} for row in rows]


def measure(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Measure a start, or what is left of a long prefix."""
    warnings.filterwarnings("ignore", category=FutureWarning)  # of transformers, at what PEFT calls
    if case["start"] is None:
        return compared(case)
    model = started(base(case["base"]), case["start"], case)
    return [case | {"losses": trained(model, case["steps"], case["seed"])}]


def cases(quick: bool) -> list[dict[str, Any]]:
    """Return the starts and seeds."""
    sizes = {"base": 60, "long": 30, "steps": 20} if quick else {"base": 600, "long": 300, "steps": STEPS}
    more = {"steps": sizes["steps"] + sizes["long"]}  # as many as a long prefix and its short one take together
    return [
        {"start": start, "seed": seed} | sizes | (more if start == "random" else {})
        for seed in range(1 if quick else 3)
        for start in [*STARTS, None]
    ]


def curves(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the losses of each start, (seeds, times)."""
    losses = {start: [row["losses"] for row in rows if row["start"] == start] for start in STARTS}
    return {start: np.array(runs) for start, runs in losses.items() if runs}


def draw(rows: list[dict[str, Any]]) -> Figure:
    """Draw losses over steps, a line for each seed."""
    figure = Figure(figsize=(5.6, 4.2), layout="constrained")
    axes = figure.subplots()
    for start, losses in curves(rows).items():
        begin = rows[0]["long"] if start == "shortened" else 0
        steps = begin + EVERY * np.arange(losses.shape[1])
        for line in losses:
            axes.plot(steps, line, color=STARTS[start], lw=0.7, alpha=0.6)
        axes.plot(steps, losses.mean(axis=0), color=STARTS[start], lw=2.0, label=start)
    axes.set_xlabel("steps of training, those of the long prefix first", fontsize=11)
    axes.set_ylabel("loss of next words (nats)", fontsize=11)
    axes.set_title(f"A prefix of {SHORT} tokens for a new speaker", fontsize=12)
    grid(axes)
    axes.legend(frameon=False, fontsize=10)
    return figure


def summary(rows: list[dict[str, Any]]) -> str:
    """Return the losses and steps of each start, and what is left of the long prefix."""
    lines = {start: losses.mean(axis=0) for start, losses in curves(rows).items()}
    last = min(len(mean) for mean in lines.values()) - 1
    goal, table = lines["random"][last], []
    for start, mean in lines.items():
        below = np.flatnonzero(mean <= goal)
        steps = f"{EVERY * below[0]}" if below.size else "not reached"
        table.append([start, f"{mean[0]:.3f}", f"{mean[last]:.3f}", steps])
    headers = ["start", "loss at first", f"after {EVERY * last} steps", f"steps to {goal:.3f}"]
    first = tabulate(table, headers, tablefmt="github", disable_numparse=True)
    starts = [row for row in rows if row["start"] is None]
    names = ("nats", "agreement", "loss", "nats distilled", "agreement distilled", "loss distilled")
    body = []
    for name in dict.fromkeys(row["prefix"] for row in starts):
        some = [row for row in starts if row["prefix"] == name]
        body.append([name, *(f"{np.mean([row[n] for row in some]):.3f}" if n in some[0] else "" for n in names)])
    second = tabulate(body, [f"{SHORT} tokens", *names], tablefmt="github", disable_numparse=True)
    long, steps = np.mean([row["long loss"] for row in starts]), EVERY * len(lines["random"]) - EVERY
    tuned, reached = rows[0]["long"], lines["random"][-1]
    return (
        f"{first}\n\n{second}\n\nMeans over seeds; the long prefix took {tuned} steps before, and from a random start "
        f"{steps} steps in all reach {reached:.3f}. The second table is of next words beside the prefix of {LONG} "
        f"tokens, whose loss is {long:.3f}: divergence from it, agreement of the likeliest word, loss; the same after "
        f"{DISTILLED} steps of distillation."
    )


EXPERIMENT = Experiment(
    name="prefix_start", question="Where should a prefix's training begin, and what is left of one that is shortened?",
    cases=cases, measure=measure, draw=draw, summary=summary, requires=("torch", "transformers", "peft"),
    packages=("torch", "transformers", "peft"),
)  # fmt: skip

if __name__ == "__main__":
    main(EXPERIMENT)
