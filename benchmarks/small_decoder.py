"""A decoder that is trained here, with 4096 tokens of context, of which it recalls.

It reads bytes of the standard library's sources, among which questions and answers are strewn: each of 64 questions is
a token, and so is each of its 8 answers, one of which is right in a text. Which one can only be told from the context,
where the question has come before. The model is a `LlamaForCausalLM` whose heads have 32 columns and share two heads of
keys: it has 1.5 million parameters and takes some 7 minutes of one core.
Weights are kept in a temporary folder::

    python benchmarks/small_decoder.py
"""

from __future__ import annotations

import sys
import sysconfig
import tempfile
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray

LENGTH, KEYS, ANSWERS, BYTES = 4096, 64, 8, 256
"""Tokens of context, questions, answers of each, and what is below them."""
SHARE = 0.35
"""Of the tokens are those of questions and answers, in the end."""
SIZES = {
    "quick": (64, 2, ((64, 8, 3, 0.6),)),
    "whole": (192, 3, ((128, 16, 300, 0.6), (512, 4, 200, 0.5), (1024, 2, 200, SHARE), (LENGTH, 1, 200, SHARE))),
}
"""Columns, layers and phases of the training: lengths, sequences at once, steps and shares of questions."""
RATE, WARM = 3e-3, 100
FOLDER = Path(tempfile.gettempdir()) / "spherapprox-benchmarks"
Ids = NDArray[np.int64]


def library(held: bool) -> NDArray[np.uint8]:
    """Return the bytes of the standard library's modules: every tenth one is held out."""
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    chosen = [file for number, file in enumerate(files) if (number % 10 == 0) == held]
    return np.frombuffer(b"\n".join(file.read_bytes() for file in chosen), dtype=np.uint8)


class Facts:
    """Right answers, one sequence's; short ones have few questions."""

    def __init__(self, rng: np.random.Generator, length: int) -> None:
        self.rng, self.answers = rng, rng.integers(ANSWERS, size=KEYS)
        self.keys = rng.permutation(KEYS)[: max(length // 16, 4)]

    def strewn(self, text: NDArray[np.uint8], length: int, share: float) -> Ids:
        """Return ids (length,) of a text in which questions and answers are strewn."""
        ids: list[int] = []
        place = 0
        while len(ids) < length:
            run = int(self.rng.geometric(min(0.5 * share / (1.0 - share), 1.0)))
            ids += text[place : place + run].tolist()
            place += run
            key = int(self.rng.choice(self.keys))
            ids += [BYTES + key, BYTES + KEYS + ANSWERS * key + int(self.answers[key])]
        return np.array(ids[:length], dtype=np.int64)


def sequence(rng: np.random.Generator, text: NDArray[np.uint8], *lengths: int, share: float = SHARE) -> list[Ids]:
    """Return texts of some lengths, one going on with the next, that share their facts; places are drawn."""
    facts, found = Facts(rng, lengths[0]), []
    for length in lengths:
        start = int(rng.integers(len(text) - length))
        found.append(facts.strewn(text[start:], length, share))
    return found


def untrained(size: str) -> Any:
    """Return the model."""
    torch.manual_seed(0)
    columns, layers, _ = SIZES[size]
    config = transformers.LlamaConfig(
        vocab_size=BYTES + (1 + ANSWERS) * KEYS, hidden_size=columns, intermediate_size=8 * columns // 3,
        num_hidden_layers=layers,
        num_attention_heads=columns // 32, num_key_value_heads=2, head_dim=32, max_position_embeddings=LENGTH,
        tie_word_embeddings=False, initializer_range=0.1, bos_token_id=0, eos_token_id=None,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config)


def train(model: Any, phases: tuple[tuple[int, int, int, float], ...]) -> None:
    """Train a model, and print how it fares."""
    rng, text = np.random.default_rng(0), library(held=False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=0.01)
    total, done, begin = sum(steps for _, _, steps, _ in phases), 0, time.monotonic()
    for length, batch, steps, pairs in phases:
        for step in range(steps):
            share = done / total
            for group in optimizer.param_groups:
                group["lr"] = RATE * min((done + 1) / WARM, 0.5 * (1.0 + np.cos(np.pi * share)) + 0.02)
            ids = torch.tensor(np.stack([sequence(rng, text, length, share=pairs)[0] for _ in range(batch)]))
            logits = model(ids).logits
            losses = torch.nn.functional.cross_entropy(
                logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), reduction="none"
            )
            optimizer.zero_grad()
            said = ids[:, 1:].flatten() >= BYTES + KEYS
            (losses[~said].mean() + losses[said].mean()).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            done += 1
            if step % 50 == 0:
                answers = ids[:, 1:].flatten() >= BYTES + KEYS
                late = (torch.arange(length - 1) > length // 2).repeat(batch) & answers
                print(
                    f"{length}: step {step} of {steps}, loss {losses[~answers].mean().item():.3f}, of answers late "
                    f"{losses[late].mean().item():.3f}, {time.monotonic() - begin:.0f} s", flush=True,
                )  # fmt: skip


def trained(size: str = "whole") -> Any:
    """Return the model, trained here if it is not kept."""
    path = FOLDER / f"small-decoder-{size}-{zlib.crc32(repr(SIZES[size]).encode()):08x}.pt"
    model = untrained(size)
    if not path.exists():
        train(model, SIZES[size][2])
        FOLDER.mkdir(parents=True, exist_ok=True)
        torch.save(model.state_dict(), unfinished := path.with_suffix(".part"))
        unfinished.replace(path)
    model.load_state_dict(torch.load(path, weights_only=True))
    return model.eval()


if __name__ == "__main__":
    trained(*sys.argv[1:])
