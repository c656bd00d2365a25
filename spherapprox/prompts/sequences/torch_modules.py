"""The two layers of a sequence head as torch's own modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ..._checks import needs

with needs("PyTorch", "to_torch", "torch"):
    import torch

from ...heads.torch_modules.tensors import (
    Whole,
    attention_path,
    check,
    float_dtype,
    frozen_attention,
    hold,
    in_parts,
    make_options,
)

if TYPE_CHECKING:
    from .head import SequenceHead


class SequenceAttention(Whole):
    """A `SequenceHead` as two `torch.nn.MultiheadAttention` of one head each, behind a network of two `nn.Linear`.

    See docs/theorems/7.2-two-layers.md.

    Parameters
    ----------
    head : SequenceHead
    dtype, device, trainable
        As in `SequenceHead.to_torch`.

    Attributes
    ----------
    up, down, readout : torch.nn.Linear
        The network before attention, with a ReLU between the two, and the matrix that reads the result.
    first, second : torch.nn.MultiheadAttention
        Over the inputs; over the prefix and the inputs.
    prefix : Tensor, shape (T N, d)
        The only tensor that depends on the function. A buffer, or a parameter if trainable.

    Notes
    -----
    There is no dropout: training and evaluation are the same. In float64 it is ``head.attend(x)`` to 1e-12 times the
    largest of the |values| for sums of concentrations up to 1000, in float32 to 1e-6 times the mask and this sum.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from spherapprox.prompts.sequences import SequenceHead
    >>> one, other = (
    ...     SequenceHead.from_target(function, np.eye(3), 5.0, length=2).to_torch()
    ...     for function in (lambda x: x[:, ::-1], lambda x: x - x[:, ::-1])
    ... )
    >>> states = one.state_dict(), other.state_dict()
    >>> [name for name in states[0] if not torch.equal(states[0][name], states[1][name])]
    ['prefix']
    """

    prefix: Any

    def __init__(self, head: SequenceHead, *, dtype: Any = None, device: Any = None, trainable: bool = False) -> None:
        super().__init__()
        layers = head.layers
        self.length, self.dim = head.length, head.dim
        self.largest_logit = head.mask + head.total_concentration
        largest = self.largest_logit * layers.embedding_dim
        options = make_options(cast(Any, head), float_dtype(dtype), device, largest=largest)
        hold(self, "prefix", head.prefix, trainable=trainable, options=options)
        options["device"] = self.prefix.device
        self.up = _linear(layers.up, layers.up_bias, options)
        self.down, self.readout = _linear(layers.down, None, options), _linear(layers.readout, None, options)
        self.first, self.second = frozen_attention(*layers.first, options), frozen_attention(*layers.second, options)

    def forward(self, x: Any) -> Any:
        """Return the outputs (T, p) or (batch, T, p) at sequences (T, dim+1) or (batch, T, dim+1) of unit tokens.

        x is of the module's dtype and on its device; TypeError or ValueError says what does not fit.
        """
        check(x, self.prefix, self.dim + 1, sequences=True)
        if x.shape[-2] != self.length:
            raise ValueError(f"'x' must be sequences of {self.length} tokens, got {x.shape[-2]}")
        batch = x if x.ndim == 3 else x[None]
        rows = len(self.prefix) + self.length
        with attention_path(self.largest_logit, x, self.prefix):
            values = in_parts(self._attend, batch, rows * self.prefix.shape[1])
        return values if x.ndim == 3 else values[0]

    def _attend(self, x: Any) -> Any:
        """Return the outputs (batch, T, p) for sequences (batch, T, dim+1)."""
        positions = torch.eye(self.length, dtype=x.dtype, device=x.device).expand(x.shape[0], -1, -1)
        tokens = self.down(torch.relu(self.up(torch.cat([x, positions], dim=2))))  # (batch, T, d)
        tokens = tokens + self.first(tokens, tokens, tokens, need_weights=False)[0]
        keys = torch.cat([self.prefix.expand(x.shape[0], -1, -1), tokens], dim=1)  # (batch, T N + T, d)
        tokens = tokens + self.second(tokens, keys, keys, need_weights=False)[0]
        return self.readout(tokens)

    def extra_repr(self) -> str:
        """Return the text in the brackets of the module's repr."""
        return f"length={self.length}, dim={self.dim}, tokens={len(self.prefix)}"


def _linear(weight: Any, bias: Any, options: dict[str, Any]) -> Any:
    """Return a frozen `nn.Linear` of a matrix (outputs, inputs)."""
    linear = torch.nn.utils.skip_init(
        torch.nn.Linear, weight.shape[1], weight.shape[0], bias=bias is not None, **options
    )
    with torch.no_grad():
        linear.weight.copy_(torch.tensor(weight, **options))
        if bias is not None:
            linear.bias.copy_(torch.tensor(bias, **options))
    return linear.requires_grad_(False)
