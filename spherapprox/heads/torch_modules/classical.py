"""The classical head as torch's own multi-head attention over a prefix and the inputs."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torch

from ..._checks import instance
from ..classical import INTERACTIONS, ClassicalHead
from .tensors import Stateful, attention_path, check, frozen_attention, hold, in_parts, make_options


class ClassicalAttention(Stateful):
    """A `ClassicalHead` as `torch.nn.MultiheadAttention`, of one head, over the prefix and the inputs.

    Its arguments, but for the head, and its errors are those of `ClassicalHead.to_torch`.

    Notes
    -----
    `attention` holds the query, key and value matrices, without bias, and the identity behind them; `prefix` the tokens
    that keys and values begin with. Only inputs ask. There is no dropout: training and evaluation are the same.
    Accuracy and derivatives as of `SplitAttention`, against ``head.attend(x)``.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from spherapprox import ClassicalHead
    >>> module = ClassicalHead(np.eye(2), [1.0, 2.0], 9.0).to_torch()
    >>> module.attention.embed_dim, tuple(module.prefix.shape)
    (6, (2, 6))
    >>> module(torch.tensor([[0.6, 0.8], [-0.8, 0.6]], dtype=torch.float64)).numpy().round(6)
    array([1.858149, 1.999997])
    """

    scalars: ClassVar = {
        "dim": int,
        "n_outputs": lambda number: None if math.isnan(number) else int(number),
        "interaction": lambda number: INTERACTIONS[int(number)],
        "largest_logit": float,
    }
    prefix: Any

    def __init__(self, head: ClassicalHead, *, dtype: Any = None, device: Any = None, trainable: bool = False) -> None:
        super().__init__()
        d = instance(head, "head", ClassicalHead).embedding_dim
        options = make_options(head, dtype, device, largest=max(head._largest_concentration, -head.mask * math.sqrt(d)))
        self.dim, self.n_outputs, self.interaction = head.dim, head.n_outputs, head.interaction
        self.largest_logit = max(head._largest_concentration, -head.mask)
        hold(self, "prefix", head.prefix, trainable=trainable, options=options)
        options["device"] = self.prefix.device
        # torch multiplies from the right
        self.attention = frozen_attention(head.query.T, head.key.T, head.value.T, options=options)

    def forward(self, x: Any) -> Any:
        """Return the attention's outputs.

        Parameters
        ----------
        x : Tensor, shape (T, dim+1) or (batch, T, dim+1)
            Sequences of inputs of unit length, of the module's dtype and on its device.

        Returns
        -------
        Tensor, shape (T,), (T, p), (batch, T) or (batch, T, p)

        Raises
        ------
        TypeError, ValueError
            If x has another type, shape or dtype, or its rows are not of unit length, where `SplitAttention` checks it.
        """
        check(x, self.prefix, self.dim + 1, sequences=True)

        def attend(inputs: Any) -> Any:
            tokens = torch.cat([self.prefix.expand(inputs.shape[0], -1, -1), inputs], dim=1)  # (batch, n + T, d)
            return self.attention(inputs, tokens, tokens, need_weights=False)[0]

        inputs = self.embed(x if x.ndim == 3 else x[None])  # (batch, T, d)
        rows = len(self.prefix) + inputs.shape[1]
        with attention_path(self.largest_logit, x, self.prefix):
            numbers = rows * max(self.prefix.shape[1], inputs.shape[1])
            outputs = in_parts(attend, inputs, numbers, limit=self.numbers_at_once)
        result = outputs[..., 0] if self.n_outputs is None else outputs[..., : self.n_outputs]
        return result if x.ndim == 3 else result[0]

    def embed(self, x: Any) -> Any:
        """Return the tokens of inputs.

        Parameters
        ----------
        x : Tensor, shape (..., dim+1)

        Returns
        -------
        Tensor, shape (..., d)
            ``(x, 0, 0)``, and 1 for "flag".
        """
        flagged = int(self.interaction == "flag")  # tracing subtracts no booleans
        tokens = torch.nn.functional.pad(x, (0, self.prefix.shape[1] - x.shape[-1] - flagged))
        return torch.nn.functional.pad(tokens, (0, 1), value=1.0) if flagged else tokens

    def extra_repr(self) -> str:
        """Return the text in the brackets of the module's repr."""
        return f"n={len(self.prefix)}, dim={self.dim}, interaction={self.interaction!r}"
