"""`HawkModule`: a compiled program as a Hawk, whose recurrences are real-gated and linear."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from ...._types import Float64
from ....heads.torch_modules.tensors import Whole, exporting, float_dtype, unrounded
from ..hawk.assembly import OPEN, SHARPNESS, UNIT_GATE, Channel, Form, Temporal, widen
from ..hawk.lowering import lower_network
from ..hawk.states import STEPS
from ..network import Network
from .blocks import HawkBlock, RMSNorm
from .sharing import check_input, copy, precise, value_bound_of


class HawkModule(Whole):
    """A `Network` as a Hawk: an embedding, residual blocks of RG-LRUs and gated MLPs, a norm and a read-out.

    See docs/theorems/10.8-hawk.md.

    Parameters
    ----------
    network : Network
    dtype, device, value_bound
        As in `Network.to_torch`.

    Attributes
    ----------
    embedding, readout : torch.nn.Linear
    blocks : torch.nn.ModuleList of HawkBlock
        Each as wide as it needs; zeros widen it.
    final_norm : RMSNorm

    Notes
    -----
    Nothing is trainable, as of `RecurrentModule`. Long sequences are run a part at a time. A network that counts modulo
    n is right for 2^20 steps, and refuses longer sequences. States that add up are rounded at each step by up to 2^-50
    of their bounds (float32: 2^-20), be they as small as they like: declare narrow bounds.

    Examples
    --------
    >>> import torch
    >>> from spherapprox.prompts.recurrent import Input, LinState, Program, step
    >>> bits = Input(1, bound=1.0)
    >>> majority = Program(step(LinState(2.0 * bits - 1.0, 1.0, bound=1000.0)))
    >>> module = majority.compile().to_torch("hawk")
    >>> module(torch.tensor([[1.0], [0.0], [1.0], [1.0]], dtype=torch.float64))[:, 0].tolist()
    [1.0, 0.0, 1.0, 1.0]
    """

    numbers = 2**20  # of a part of a long sequence, so that it stays in caches

    def __init__(
        self, network: Network, *, dtype: Any = None, device: Any = None, value_bound: float | None = None
    ) -> None:
        super().__init__()
        self.kind, self.dtype = "hawk", float_dtype(dtype)
        bound = value_bound_of(network, self.kind, value_bound)
        plan = lower_network(network, bound, str(self.dtype).removeprefix("torch."))
        d = 2 ** math.ceil(math.log2(plan.registers + 2))
        constants = 1 + (d.bit_length() + 1) % 2  # so that d / constants is a power of four
        factor, constant = plan.factor, plan.factor * math.sqrt(d / constants)
        if not constant <= math.sqrt(torch.finfo(self.dtype).max) / 4.0:
            raise ValueError(
                f"'value_bound' and weights must be smaller for {self.dtype}, got numbers up to {constant:.3g}"
            )
        options = {"dtype": self.dtype, "device": "meta"}
        self.embedding = torch.nn.Linear(network.dim, d, **options)
        widths = [tuple(0 if part is None else part.output.shape[1] for part in block) for block in plan.blocks]
        self.blocks = torch.nn.ModuleList(HawkBlock(d, *pair, **options) for pair in widths)
        self.final_norm = RMSNorm(d, **options)
        self.readout = torch.nn.Linear(d, len(network.readout), **options)
        self.to_empty(device="cpu").requires_grad_(False)
        for norm in self.modules():
            if isinstance(norm, RMSNorm):
                norm.weight.zero_()
        _fill(self.embedding, np.eye(d, network.dim), np.repeat([0.0, constant], [d - constants, constants]))
        _fill_form(self.readout, plan.readout, factor)
        for block, (temporal, channel) in zip(self.blocks, plan.blocks, strict=True):
            if temporal is not None:
                _fill_temporal(block.temporal_block, temporal, factor)
            if channel is not None:
                _fill_channel(block.mlp_block, channel, factor)
        self.longest = STEPS if plan.counts else None
        self.sharpness = plan.sharpness
        self.to(torch.get_default_device() if device is None else device)

    def forward(self, x: Any) -> Any:
        """Return the outputs (L, p) or (batch, L, p) at all steps of sequences (L, d) or (batch, L, d).

        x is of the module's dtype and on its device; TypeError or ValueError says what does not fit.
        """
        check_input(self, x, self.embedding.in_features)
        if self.longest is not None and x.shape[-2] > self.longest:
            raise ValueError(f"'x' must have at most {self.longest} steps, as the network counts, got {x.shape[-2]}")
        batch = (x if x.ndim == 3 else x[None]).to(self.dtype)
        with unrounded(x), precise(x):
            values = self._run(batch)
        return values if x.ndim == 3 else values[0]

    def _run(self, batch: Any) -> Any:
        """Return the outputs (batch, L, p), a part of the sequences at a time."""
        if exporting() or torch.jit.is_tracing():
            return self._part(batch, [None] * len(self.blocks))[0]
        if not batch.numel():
            return batch.new_zeros((*batch.shape[:-1], self.readout.out_features))
        widest = max([self.embedding.out_features, *(p.shape[0] for p in self.parameters())])
        states: list[Any] = [None] * len(self.blocks)
        outputs = []
        for part in batch.split(max(1, self.numbers // (len(batch) * widest * 4)), dim=1):
            values, states = self._part(part, states)
            outputs.append(values)
        return torch.cat(outputs, dim=1)

    def _part(self, batch: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        """Return the outputs of some steps, and states to go on from."""
        x, after = self.embedding(batch), []
        for block, state in zip(self.blocks, states, strict=True):
            x, last = block(x, state)
            after.append(last)
        return self.readout(self.final_norm(x)), after

    def extra_repr(self) -> str:
        """Return the text in the brackets of the module's repr."""
        return f"kind='hawk', sharpness={self.sharpness:.3g}"


def _fill(linear: Any, weight: Float64, bias: Float64) -> None:
    copy(linear, {"weight": weight, "bias": bias})


def _fill_form(linear: Any, form: Form, factor: float) -> None:
    """Set what reads registers behind a norm."""
    _fill(linear, factor * widen(form.matrix, linear.in_features), form.bias)


def _fill_temporal(block: Any, part: Temporal, factor: float) -> None:
    n, d = len(part.rate), block.linear_x.in_features
    _fill(block.linear_y, np.zeros((n, d)), np.full(n, UNIT_GATE))
    _fill_form(block.linear_x, part.inputs, factor)
    copy(block.conv_1d, {"weight": np.flip(part.taps, axis=1)[:, None].copy(), "bias": np.zeros(n)})
    _fill(block.rg_lru.recurrent_gate, part.gate, part.gate_bias)
    _fill(block.rg_lru.input_gate, np.zeros((n, n)), np.full(n, OPEN))
    rate = part.rate / SHARPNESS
    copy(block.rg_lru, {"recurrent_param": rate + np.log(-np.expm1(-rate))})
    output = widen(part.output.T, d).T / UNIT_GATE
    _fill(block.linear_out, output, np.pad(part.bias, (0, d - len(part.bias))))


def _fill_channel(mlp: Any, part: Channel, factor: float) -> None:
    _fill_form(mlp.gate_proj, part.gate, factor)
    _fill_form(mlp.up_proj, part.value, factor)
    d = mlp.gate_proj.in_features
    _fill(mlp.down_proj, widen(part.output.T, d).T, np.zeros(d))
