"""Blocks of a Hawk: `RGLRU`, the real-gated linear recurrent unit, and what stands around it."""

from __future__ import annotations

from typing import Any

import torch

from ....heads.torch_modules.tensors import exporting, look
from ..hawk.assembly import SHARPNESS, TAPS


class RGLRU(torch.nn.Module):
    """The real-gated linear recurrent unit, ``h_t = a_t h_(t-1) + sqrt(1 - a_t^2) i_t x_t``.

    ``r = sigmoid(W_r x + b_r)``, ``i = sigmoid(W_i x + b_i)``, ``a = exp(-8 r softplus(Lambda))``.

    Parameters
    ----------
    width : int
    dtype, device
        As of `torch.nn.Linear`.

    Attributes
    ----------
    recurrent_param : Parameter, shape (width,)
        Lambda, at first such that a is from 0.9 to 0.999 where r is 1.
    recurrent_gate, input_gate : torch.nn.Linear

    References
    ----------
    De et al. (2024), "Griffin: mixing gated linear recurrences with local attention for efficient language models"
    (equations 1 to 4); Hugging Face's RecurrentGemma computes the same, but begins anew at position 0 with
    ``h = i x``.

    Examples
    --------
    >>> import torch
    >>> from spherapprox.prompts.recurrent.torch_modules import RGLRU
    >>> unit = RGLRU(3)
    >>> values, state = unit(torch.zeros(2, 5, 3))
    >>> values.shape, state.shape
    (torch.Size([2, 5, 3]), torch.Size([2, 3]))
    """

    def __init__(self, width: int, *, dtype: Any = None, device: Any = None) -> None:
        super().__init__()
        options = {"dtype": dtype, "device": device}
        rate = -torch.empty(width, **options).uniform_(0.9, 0.999).log() / SHARPNESS
        self.recurrent_param = torch.nn.Parameter(torch.expm1(rate).log())
        self.recurrent_gate = torch.nn.Linear(width, width, **options)
        self.input_gate = torch.nn.Linear(width, width, **options)

    def forward(self, x: Any, state: Any = None) -> tuple[Any, Any]:
        """Return values (batch, L, width) and the last ones (batch, width), from a state, 0 by default."""
        log_a = -SHARPNESS * torch.sigmoid(self.recurrent_gate(x)) * torch.nn.functional.softplus(self.recurrent_param)
        added = torch.sqrt(1.0 - torch.exp(2.0 * log_a)) * (torch.sigmoid(self.input_gate(x)) * x)
        state = torch.zeros_like(x[:, 0]) if state is None else state
        return _scanned(torch.exp(log_a), added, state)


def _scanned(a: Any, added: Any, state: Any) -> tuple[Any, Any]:
    """Return h_t = a_t h_(t-1) + added_t at all steps, and the last."""
    a, added = a.transpose(0, 1), added.transpose(0, 1)
    if exporting():
        from torch._higher_order_ops import scan  # a loop becomes a graph of the length that was traced

        state, values = scan(lambda h, now: ((h := now[0] * h + now[1]), h.clone()), state.clone(), (a, added))
        return values.transpose(0, 1), state
    if look(lambda a: [a.any()], a) == [0.0]:  # nothing is kept
        return added.transpose(0, 1), added[-1]
    values = []
    for factor, term in zip(a.unbind(), added.unbind(), strict=True):
        values.append(state := (factor * state).add_(term))  # not fused, whose roundings lean to one side
    return torch.stack(values, dim=1), state


class RecurrentBlock(torch.nn.Module):
    """GELU of one branch, times a convolution and an `RGLRU` of the other."""

    def __init__(self, d: int, width: int, **options: Any) -> None:
        super().__init__()
        self.linear_y, self.linear_x = (torch.nn.Linear(d, width, **options) for _ in range(2))
        self.conv_1d = torch.nn.Conv1d(width, width, TAPS, groups=width, **options)
        self.rg_lru = RGLRU(width, **options)
        self.linear_out = torch.nn.Linear(width, d, **options)

    def forward(self, x: Any, state: Any) -> tuple[Any, Any]:
        """Return values, and inputs and values to go on from; no state stands for zeros."""
        inputs = self.linear_x(x)
        past, hidden = (None, None) if state is None else state
        past = inputs.new_zeros(x.shape[0], TAPS - 1, inputs.shape[-1]) if past is None else past
        inputs = torch.cat([past, inputs], dim=1)
        values, hidden = self.rg_lru(self.conv_1d(inputs.transpose(1, 2)).transpose(1, 2), hidden)
        gate = torch.nn.functional.gelu(self.linear_y(x), approximate="tanh")
        return self.linear_out(gate * values), (inputs[:, 1 - TAPS :], hidden)


class GatedMLP(torch.nn.Module):
    """GELU of one branch times the other."""

    def __init__(self, d: int, width: int, **options: Any) -> None:
        super().__init__()
        self.gate_proj, self.up_proj = (torch.nn.Linear(d, width, **options) for _ in range(2))
        self.down_proj = torch.nn.Linear(width, d, **options)

    def forward(self, x: Any) -> Any:
        """Return values."""
        gate = torch.nn.functional.gelu(self.gate_proj(x), approximate="tanh")
        return self.down_proj(gate * self.up_proj(x))


class RMSNorm(torch.nn.Module):
    """``x / sqrt(mean(x^2) + eps)`` times 1 plus a weight."""

    def __init__(self, d: int, eps: float = 1e-6, **options: Any) -> None:
        super().__init__()
        self.eps = eps
        self.weight = torch.nn.Parameter(torch.zeros(d, **options))

    def forward(self, x: Any) -> Any:
        """Return normalised rows."""
        return x * torch.rsqrt((x * x).mean(dim=-1, keepdim=True) + self.eps) * (1.0 + self.weight)


class HawkBlock(torch.nn.Module):
    """A residual block: what a `RecurrentBlock` adds, then what a `GatedMLP` adds, both to normalised rows.

    A part of width 0 adds nothing, and is left out.
    """

    def __init__(self, d: int, width: int, mlp_width: int, **options: Any) -> None:
        super().__init__()
        if width:
            self.temporal_pre_norm, self.temporal_block = RMSNorm(d, **options), RecurrentBlock(d, width, **options)
        if mlp_width:
            self.channel_pre_norm, self.mlp_block = RMSNorm(d, **options), GatedMLP(d, mlp_width, **options)
        self.width, self.parts = d, (bool(width), bool(mlp_width))

    def forward(self, x: Any, state: Any = None) -> tuple[Any, Any]:
        """Return the stream after the block, and a state to go on from."""
        temporal, channel = self.parts
        if temporal:
            added, state = self.temporal_block(self.temporal_pre_norm(x), state)
            x = x + added
        return (x + self.mlp_block(self.channel_pre_norm(x)) if channel else x), state
