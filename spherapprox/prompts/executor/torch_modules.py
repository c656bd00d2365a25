"""`ExecutorModule`: an executor as a transformer of torch's own layers."""

from __future__ import annotations

from typing import Any

from ..._checks import instance, integer, needs

with needs("PyTorch", "to_torch", "torch"):
    import torch

from ...heads.torch_modules.tensors import Whole, float_dtype, held, in_parts, unrounded
from .blocks import Block
from .executor import Executor


class ResidualBlock(torch.nn.Module):
    """A residual block: an attention head, then linear, ReLU, linear.

    Parameters
    ----------
    block : Block
        The weights.
    options : dict
        The dtype and the device.

    Attributes
    ----------
    attention : torch.nn.MultiheadAttention
        Of one head, without biases; its output projection is the identity.
    feed_forward : torch.nn.Sequential
        Linear, ReLU, Linear.

    Examples
    --------
    >>> import torch
    >>> from spherapprox.prompts.executor import Executor
    >>> from spherapprox.prompts.executor.torch_modules import ResidualBlock
    >>> block = next(Executor((1, 1), (4,), (9.0,), (1.0,)).blocks())
    >>> ResidualBlock(block, {"dtype": torch.float64})(torch.ones(1, 2, 9, dtype=torch.float64)).shape
    torch.Size([1, 2, 9])
    """

    def __init__(self, block: Block, options: dict[str, Any]) -> None:
        super().__init__()
        hidden, d = block.up.shape
        self.attention = torch.nn.MultiheadAttention(d, 1, bias=False, batch_first=True, **options)
        rows = torch.nn.Linear(d, hidden, **options)
        columns = torch.nn.Linear(hidden, d, bias=False, **options)
        self.feed_forward = torch.nn.Sequential(rows, torch.nn.ReLU(), columns)
        with torch.no_grad():
            for part, array in zip(
                self.attention.in_proj_weight.chunk(3), (block.query, block.key, block.value), strict=True
            ):
                part.copy_(held(array, part.dtype, "executor"))
            torch.nn.init.eye_(self.attention.out_proj.weight)
            for parameter, array in ((rows.weight, block.up), (rows.bias, block.bias), (columns.weight, block.down)):
                parameter.copy_(held(array, parameter.dtype, "executor"))

    def forward(self, state: Any) -> Any:
        """Return the next state of states (batch, T, d)."""
        state = state + self.attention(state, state, state, need_weights=False)[0]
        return state + self.feed_forward(state)


class ExecutorModule(Whole):
    """A transformer with frozen weights that runs the network that its prompt holds.

    See docs/theorems/9.1-executor.md.

    Parameters
    ----------
    executor : Executor
    dtype, device
        As in `Executor.to_torch`.

    Attributes
    ----------
    blocks : torch.nn.ModuleList
        Its `ResidualBlock`s: all weights, the same for every network.

    Notes
    -----
    Inputs beyond the executor's radius and records beyond its bounds are not refused: nothing is promised for them.
    Autocast rounds nothing.

    Examples
    --------
    >>> import torch
    >>> from spherapprox.prompts.executor import Executor, ReluNetwork
    >>> executor = Executor((1, 2, 1), (40, 60), (12.0, 12.0), (1.0, 2.1))
    >>> module = executor.to_torch(dtype=torch.float32)
    >>> module(executor.encode(ReluNetwork([[[0.25]]], [[0.5]])), torch.tensor([[-1.0], [1.0]])).round(decimals=2)
    tensor([[0.2500],
            [0.7500]])
    """

    def __init__(self, executor: Executor, *, dtype: Any = None, device: Any = None) -> None:
        super().__init__()
        options = {"dtype": float_dtype(dtype), "device": device}
        self.executor = instance(executor, "executor", Executor)
        self.blocks = torch.nn.ModuleList(ResidualBlock(block, options) for block in executor.blocks())
        self.requires_grad_(False)

    def forward(self, prompt: Any, x: Any, steps: int = 1) -> Any:
        """Return the outputs (batch, n_D) behind a prompt (m, d), or one for each input, (batch, m, d).

        Inputs are (batch, n_0); both may be tensors or arrays. With more than one step all blocks run so many times,
        one after another: where n_D = n_0 the first block writes outputs back as inputs.
        """
        like = self.blocks[0].attention.in_proj_weight
        layout, sizes = self.executor.layout, self.executor.sizes
        if integer(steps, "steps", minimum=1) > 1 and sizes[0] != sizes[-1]:
            raise ValueError(f"'steps' must be 1 where {sizes[-1]} outputs are no {sizes[0]} inputs, got {steps}")
        records, inputs = (torch.as_tensor(array, dtype=like.dtype, device=like.device) for array in (prompt, x))
        if inputs.ndim != 2 or inputs.shape[1] != sizes[0]:
            raise ValueError(f"'x' must have shape (batch, {sizes[0]}), got {tuple(inputs.shape)}")
        shape = layout.records, layout.width
        if records.shape[-2:] != shape or records.shape[:-2] not in ((), inputs.shape[:1]):
            raise ValueError(f"'prompt' must have shape {shape} or (batch, *{shape}), got {tuple(records.shape)}")
        pad = torch.nn.functional.pad
        names = pad(torch.eye(layout.workers).to(like), (layout.ends["name"][0], 0))
        start = layout.ends["output"][0]
        outputs = pad(inputs[:, None], (start, layout.width - start - sizes[0], 0, layout.workers - 1))
        state = torch.cat([records.expand(inputs.shape[0], *shape), names + outputs], dim=1)  # (batch, m + W, d)
        with unrounded(state):
            for _ in range(steps):
                state = in_parts(self._run, state, layout.tokens * max(self.executor.hidden))
        return state[:, layout.records : layout.records + sizes[-1], layout.ends["sum"][0]]

    def _run(self, state: Any) -> Any:
        for block in self.blocks:
            state = block(state)
        return state
