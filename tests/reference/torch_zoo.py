"""Every kind of torch module that the package makes, small and in other sizes, with inputs of any number and length."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch

from spherapprox import ClassicalHead, CoreHead, SplitHead, sphere
from spherapprox.prompts.executor import Executor, ReluNetwork
from spherapprox.prompts.prefix import as_layer
from spherapprox.prompts.prefix.torch_modules import PrefixAttention, program_module
from spherapprox.prompts.recurrent import Input, LinState, Program, RunningMax, step
from spherapprox.prompts.sequences import SequenceHead

BATCH, LENGTH = 0, 1


class Kind(NamedTuple):
    """A maker of modules by dtype and size, of inputs by batch and length, and which of their axes may vary.

    `exact` modules let autocast round nothing.
    """

    make: Callable[..., Any]
    inputs: Callable[[int, int], tuple[Any, ...]]
    axes: tuple[dict[int, int], ...] = ({0: BATCH, 1: LENGTH},)
    exact: bool = False


class First(torch.nn.Module):
    """An attention of which the outputs are wanted, not the weights."""

    def __init__(self, attention, **options):
        super().__init__()
        self.attention, self.options = attention, options

    def forward(self, query, content):
        return self.attention(query, content, content, **self.options)[0]


def rows(batch, length):
    points = sphere.uniform(2, batch * length, rng=batch + 7 * length)
    return (torch.tensor(points.reshape(batch, length, 3)),)


def head(kind, dtype=torch.float64, n=9, several=False, **options):
    rng = np.random.default_rng(1)
    concentration = np.linspace(1.0, 9.0, n) if several else 3.0
    return kind(sphere.uniform(2, n, rng=rng), rng.normal(size=(n, 2)), concentration).to_torch(dtype=dtype, **options)


def sequence(dtype=torch.float64, n=4):
    rng = np.random.default_rng(0)
    points = [sphere.uniform(2, n, rng=rng) for _ in range(2)]
    return SequenceHead(points, rng.normal(size=(n, n, 2, 2)), 9.0).to_torch(dtype=dtype)


def executor(dtype=torch.float64, n=10):
    return Executor((1, 1), (n,), (9.0,), (1.0,)).to_torch(dtype=dtype)


def prompts(batch, length):
    encode = Executor((1, 1), (10,), (9.0,), (1.0,)).encode
    each = [encode(ReluNetwork([[[0.1 * (i + 1)]]], [[0.5]])) for i in range(batch)]
    return torch.tensor(np.array(each)), torch.linspace(-1.0, 1.0, batch, dtype=torch.float64)[:, None]


def recurrent(kind, dtype=torch.float64, n=1):
    total = LinState(Input(2, bound=4.0), 1.0, bound=256.0)
    return Program(RunningMax(total if n == 1 else step(total), 256.0)).compile().to_torch(kind, dtype=dtype)


def integers(batch, length):
    x = np.random.default_rng(batch + length).integers(-4, 5, (batch, length, 2))
    return (torch.tensor(x, dtype=torch.float64),)


def prefix(dtype=torch.float64, n=3, space="key_values", ragged=False, **options):
    torch.manual_seed(n)
    mha = torch.nn.MultiheadAttention(8, 2, batch_first=True, dtype=dtype).eval()
    layer = as_layer(mha)
    whole = layer.prefix(torch.randn(n, 8))
    parts = [type(whole)(whole.key[h, : n - h], whole.value[h, : n - h]) for h in (0, 1)]
    return First(PrefixAttention(mha, parts if ragged else whole, space=space), **options)


def query_and_content(batch, length):
    draw = np.random.default_rng(batch + 7 * length).standard_normal
    return torch.tensor(draw((batch, length, 8))), torch.tensor(draw((batch, length + 1, 8)))


def programmed(dtype=torch.float64, n=9):
    torch.manual_seed(0)
    mha = torch.nn.MultiheadAttention(32, 2, dtype=dtype)
    one = SplitHead(sphere.uniform(2, n, rng=0), np.arange(float(n)), 3.0)
    embedding, readout = 4.0 * torch.eye(32)[:, :3], torch.ones(32)
    return program_module(mha, one, embedding=embedding, readout=readout, kind="key_values")


_TWO = ({0: BATCH, 1: LENGTH}, {0: BATCH, 1: LENGTH + 1})
KINDS = {
    "split": Kind(partial(head, SplitHead), rows),
    "split, trained": Kind(partial(head, SplitHead, several=True, trainable=True), rows),
    "core": Kind(partial(head, CoreHead), rows),
    "classical": Kind(partial(head, ClassicalHead), rows),
    "sequence": Kind(sequence, lambda batch, _: rows(batch, 2), ({0: BATCH},)),
    "executor": Kind(executor, prompts, ({0: BATCH}, {0: BATCH}), exact=True),
    **{kind: Kind(partial(recurrent, kind), integers, exact=True) for kind in ("rnn", "lstm", "gru")},
    "prefix": Kind(partial(prefix, is_causal=True), query_and_content, _TWO),
    "prefix, tokens": Kind(partial(prefix, space="tokens", need_weights=False), query_and_content, _TWO),
    "prefix, ragged": Kind(partial(prefix, ragged=True, need_weights=False), query_and_content, _TWO),
    "programmed": Kind(programmed, rows),
}


def dynamic(kind):
    """Return what `torch.export` and `torch.onnx.export` take as dynamic shapes of a kind's inputs."""
    sizes = [torch.export.Dim(name) for name in ("batch", "length", "content")]
    return tuple({axis: sizes[number] for axis, number in axes.items()} for axes in kind.axes)
