"""`program_module`: a frozen `torch.nn.MultiheadAttention` that computes a split head, from points to read-outs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from numpy.typing import ArrayLike

from .... import _checks
from ....heads.torch_modules.tensors import Whole, check_lengths
from ..layer.reading import check_plain
from ..programs.programmed import ProgrammedPrefix
from ..programs.programming import program
from .attention import PrefixAttention

if TYPE_CHECKING:
    from ....heads import SplitHead


class ProgrammedAttention(Whole):
    """A frozen attention layer with the prefix of `program`, the embedding of points before it and the read-out behind.

    See docs/theorems/8.6-programming-a-layer.md.

    Parameters
    ----------
    mha : torch.nn.MultiheadAttention
        The layer: it is held, and frozen.
    programmed : ProgrammedPrefix
        What `program` made for it.
    trainable : bool, default False
        Whether the prefix is made of parameters: tokens, or keys and values, as it is programmed.

    Attributes
    ----------
    attention : PrefixAttention
    embedding, shift, readout : Tensor
        Buffers, of the module's dtype and on its device.

    Notes
    -----
    All is computed in the module's precision, which may lose digits: `ProgrammedPrefix.bound` says how many. It is in
    training if the layer is: dropout of attention, if the layer has any, then drops tokens of the prefix.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from spherapprox import EqualMeasurePartition, SplitHead
    >>> from spherapprox.prompts.prefix.torch_modules import program_module
    >>> mha = torch.nn.MultiheadAttention(64, 4, dtype=torch.float64)
    >>> head = SplitHead.from_target(lambda x: x[:, 2], EqualMeasurePartition(2, 300), 60.0)
    >>> embedding, readout = 4.0 * torch.eye(64)[:, :3], torch.ones(64)
    >>> module = program_module(mha, head, embedding=embedding, readout=readout)
    >>> y = torch.tensor([[0.6, 0.0, 0.8], [0.0, 0.6, -0.8]], dtype=torch.float64)
    >>> bool((module(y) - torch.tensor(head(y))).abs().max() < 1e-10)
    True
    """

    embedding: Any
    shift: Any
    readout: Any

    def __init__(self, mha: Any, programmed: ProgrammedPrefix, *, trainable: bool = False) -> None:
        super().__init__()
        _checks.instance(programmed, "programmed", ProgrammedPrefix)
        self.attention = PrefixAttention(mha, programmed.prefix, space=programmed.kind, trainable=trainable)
        like, interface = mha.out_proj.weight, programmed.interface
        self.scalar = programmed.head.values.ndim == 1
        for name in ("embedding", "shift", "readout"):
            array = getattr(interface, name)
            self.register_buffer(name, torch.tensor(array, dtype=like.dtype, device=like.device))
        self.train(mha.training)

    def forward(self, y: Any, content: Any = None, causal: bool = False) -> Any:
        """Return the read-outs at points y (T, m+1) or (batch, T, m+1) of unit length.

        `content` (n, d) or (batch, n, d) is attended to beside the prefix, the embedded points by default; if `causal`,
        each point sees it up to its own place only, the last point all of it. As `ProgrammedPrefix.attend`, in torch.
        """
        width = self.embedding.shape[1]
        if not isinstance(y, torch.Tensor) or y.ndim not in (2, 3) or y.shape[-1] != width:
            shape = tuple(y.shape) if isinstance(y, torch.Tensor) else type(y).__name__
            raise ValueError(f"'y' must be a Tensor of shape (T, {width}) or (batch, T, {width}), got {shape}")
        points = y.to(self.embedding.dtype)
        check_lengths(y if y.is_floating_point() else points, "y")
        x = points @ self.embedding.T + self.shift
        rows = x if content is None else content
        first = self.attention.batch_first or y.ndim == 2
        queries, keys = (x, rows) if first else (x.transpose(0, 1), rows.transpose(0, 1))
        outputs = self.attention(queries, keys, keys, need_weights=False, is_causal=causal)[0]
        values = (outputs if first else outputs.transpose(0, 1)) @ self.readout.T
        return values[..., 0] if self.scalar else values


def program_module(
    mha: Any, head: SplitHead, *, embedding: ArrayLike, readout: ArrayLike, shift: ArrayLike | None = None,
    kind: str = "tokens", offset: float = 0.0, trainable: bool = False,
) -> ProgrammedAttention:  # fmt: skip
    """Program a frozen module of torch by a prefix, in closed form: from points of the sphere to read-outs.

    Parameters
    ----------
    mha : torch.nn.MultiheadAttention
        A layer of any weights, float64, float32 or bfloat16, on any device; it is held and frozen, not changed.
    head, embedding, readout, shift, kind, offset
        As in `spherapprox.prompts.prefix.program`; the prefix is found in float64.
    trainable : bool, default False
        Whether the prefix is made of parameters, to be tuned from there.

    Examples
    --------
    >>> import torch
    >>> from spherapprox import SplitHead
    >>> from spherapprox.prompts.prefix.torch_modules import program_module
    >>> head = SplitHead([[1.0, 0.0], [-1.0, 0.0]], [1.0, 2.0], 5.0)
    >>> mha, readout = torch.nn.MultiheadAttention(32, 2), torch.ones(32)
    >>> program_module(mha, head, embedding=torch.eye(32)[:, :2], readout=readout, kind="key_values").attention.length
    2
    """
    check_plain(mha, "mha")
    options: Any = {"embedding": embedding, "readout": readout, "shift": shift, "kind": kind, "offset": offset}
    return ProgrammedAttention(mha, program(head, mha, **options), trainable=trainable)
