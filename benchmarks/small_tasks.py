"""Small decoders, and prefixes and changes of low rank that are trained in them.

A decoder is made of torch's own modules: it reads five symbols out of six and writes five (width 48; Adam, cosine
schedule, batches of 128). Accuracy is the share of random inputs that are answered without a mistake.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn.utils.parametrize import register_parametrization

from spherapprox.prompts.prefix import as_layer
from spherapprox.prompts.prefix.torch_modules import PrefixAttention

SYMBOLS, LENGTH, WIDTH = 6, 5, 48
Draw = Callable[[int], tuple[Any, Any]]
"""Returns so many random inputs and their answers."""


class Decoder(torch.nn.Module):
    """A causal transformer."""

    def __init__(self, heads: int, layers: int = 1) -> None:
        super().__init__()
        self.symbols, self.places = torch.nn.Embedding(SYMBOLS, WIDTH), torch.nn.Embedding(2 * LENGTH, WIDTH)
        self.layers = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(
                WIDTH, heads, 4 * WIDTH, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
            )
            for _ in range(layers)
        )
        self.norm, self.out = torch.nn.LayerNorm(WIDTH), torch.nn.Linear(WIDTH, SYMBOLS)

    def embedded(self, x: Any) -> Any:
        """Return the inputs of the first layer."""
        return self.symbols(x) + self.places.weight[: x.shape[1]]

    def forward(self, x: Any) -> Any:
        """Return the logits of the next symbols."""
        mask, rows = unseen(x.shape[1]), self.embedded(x)
        for layer in self.layers:
            rows = layer(rows, src_mask=mask)
        return self.out(self.norm(rows))


class LowRank(torch.nn.Module):
    """A weight plus a matrix of low rank."""

    def __init__(self, weight: Any, rank: int) -> None:
        super().__init__()
        self.down = torch.nn.Parameter(0.1 * torch.randn(rank, weight.shape[1]))
        self.up = torch.nn.Parameter(torch.zeros(weight.shape[0], rank))

    def forward(self, weight: Any) -> Any:
        """Return the weight as it is used."""
        return weight + self.up @ self.down


def unseen(count: int) -> Any:
    """Return which places each place does not see."""
    return torch.ones(count, count, dtype=torch.bool).triu(1)


def train(model: Any, draw: Draw, steps: int, rate: float, watch: Callable[[], None] | None = None) -> float:
    """Train what asks for gradients, and return the mean loss of the last tenth; `watch` is called after each fifth."""
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.Adam(trained, rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    losses = []
    for step in range(steps):
        x, y = draw(128)
        logits = model(torch.cat([x, y[:, :-1]], 1))[:, LENGTH - 1 :]
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(logits.reshape(-1, SYMBOLS), y.reshape(-1))
        loss.backward()
        losses.append(float(loss.detach()))
        optimizer.step()
        schedule.step()
        if watch and (step + 1) % (steps // 5) == 0:
            watch()
    return float(np.mean(losses[-steps // 10 :]))


@torch.no_grad()
def answered(model: Any, x: Any) -> Any:
    """Return what a model writes behind its inputs."""
    for _ in range(LENGTH):
        x = torch.cat([x, model(x)[:, -1:].argmax(-1)], 1)
    return x[:, LENGTH:]


def accuracy(model: Any, draw: Draw, size: int = 2000) -> float:
    """Return the share of inputs that are answered without a mistake."""
    x, y = draw(size)
    return float((answered(model, x) == y).all(1).float().mean())


def prefixed(model: Decoder, length: int, space: str = "tokens") -> Decoder:
    """Return a frozen copy of a model with random tokens before each attention, as prefixes to be trained."""
    copied = copy.deepcopy(model).requires_grad_(False)
    for layer in copied.layers:
        mha: Any = layer.self_attn
        layer.self_attn = PrefixAttention(mha, as_layer(mha).prefix(torch.randn(length, WIDTH)), space=space)
    return copied


def low_rank(model: Decoder, rank: int = 1, attention: bool = True) -> Decoder:
    """Return a frozen copy of a model with changes of low rank of its layers' matrices, to be trained."""
    copied = copy.deepcopy(model).requires_grad_(False)
    for layer in copied.layers:
        mha: Any = layer.self_attn
        changed: Any = [(layer.linear1, "weight"), (layer.linear2, "weight")]
        for module, name in [*[(mha, "in_proj_weight"), (mha.out_proj, "weight")] * attention, *changed]:
            register_parametrization(module, name, LowRank(getattr(module, name), rank))
    return copied


def numbers(model: Any) -> int:
    """Return how many numbers are trained."""
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)
