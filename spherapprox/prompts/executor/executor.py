"""`Executor`: a transformer with fixed weights that runs the ReLU network that its prompt holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._loading import load
from ..._types import Float64
from .blocks import Block, Numbers, read_block, sum_block
from .keys import record_keys, unit_rows
from .layout import Layout, between, by_layer, gate_above, layer_sizes, reals_by_layer, row_bounds
from .network import ReluNetwork
from .running import check_records, checked_inputs, checked_prompt, outputs_of, reads_of

MOST_WEIGHTS = 2**27
"""Weights that an executor may have: 1 GiB in float64."""


class Executor:
    """A transformer with fixed weights that runs every ReLU network of given sizes and bounds from its prompt.

    It has two residual blocks for each layer of the network, of one attention head and a layer of ReLUs, without masks
    or norms. The prompt holds a token for each neuron: a key, and the neuron's weights and bias. Weights of the
    executor do not depend on the network. `bounds.prompts.executor_budget` computes the numbers that it is made from
    for an error, and says what it is: ``executor_budget(sizes, eps).executor()``. See docs/theorems/9.1-executor.md.

    Parameters
    ----------
    sizes : sequence of int
        Sizes n_0, ..., n_D of the layers, that of the input first.
    segments : sequence of D int
        Even numbers of segments by which layers interpolate t^2 on [-1, 1]: products are made of squares.
    concentrations : sequence of D float
        Factors of the inner products of keys, by which layers read records: the inverse of their temperatures.
    activation_bounds : sequence of D float
        Largest absolute inputs of the layers, errors included, that of the first at least `radius`.
    keys : array_like, shape (m, dim+1), or PointSet, optional
        A key of unit length for each of the m = n_1 + ... + n_D neurons, of at most m columns. By default a basis.
    weight_bound : float, default 1.0
        Largest absolute weight or bias of a network.
    row_bound : float or sequence of D float, optional
        Largest sum of absolute weights in a row, of all layers or of each; by default what `weight_bound` allows.
    radius : float, default 1.0
        Largest absolute input, after any rounding to float32.

    Attributes
    ----------
    layout : Layout
        Which columns of a token hold what: ``layout.columns("sum")``, and so on.
    margin : float
        Of the keys, as `key_margin` measures it.
    prompt_length, token_dim, depth : int
        Tokens m of a prompt, one for each neuron, columns d of a token, and blocks, two for each layer of the network.
    hidden : tuple of int
        Hidden units of each block.
    n_weights : int
        Weights of all blocks.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range, keys are equal, or weights are more than 2^27.

    Notes
    -----
    Behind block 2 l, counted from 1, ``layout.columns("sum")`` of work token i is what neuron i of layer l has before
    its ReLU, and ``layout.columns("read")`` behind block 2 l - 1 its weights and bias: what probes of the module's
    states should find.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.executor import Executor, ReluNetwork
    >>> executor = Executor((1, 2, 1), (40, 60), (12.0, 12.0), (1.0, 2.1))
    >>> executor
    Executor(sizes=(1, 2, 1), prompt_length=3, token_dim=16, depth=4, margin=1)
    >>> absolute = ReluNetwork([[[1.0], [-1.0]], [[1.0, 1.0]]], [[0.0, 0.0], [0.0]])
    >>> hinge = ReluNetwork([[[1.0]], [[1.0]]], [[-0.5], [0.5]])
    >>> x = np.array([[-0.75], [0.25], [0.75]])
    >>> for network in (absolute, hinge):  # one executor, two prompts
    ...     prompt = executor.encode(network)
    ...     print(executor.run(prompt, x).round(2).T, prompt.shape)
    [[0.75 0.25 0.75]] (3, 16)
    [[0.5  0.5  0.75]] (3, 16)
    >>> [block.up.shape for block in executor.blocks()] == [(units, 16) for units in executor.hidden]
    True
    """

    def __init__(
        self, sizes: Sequence[int], segments: Sequence[int], concentrations: Sequence[float],
        activation_bounds: Sequence[float], *, keys: Any = None, weight_bound: float = 1.0,
        row_bound: float | Sequence[float] | None = None, radius: float = 1.0,
    ) -> None:  # fmt: skip
        self.sizes = layer_sizes(sizes)
        depth = len(self.sizes) - 1
        counts = by_layer(segments, "segments", depth)
        self.segments = tuple(_checks.integer(n, "segments", minimum=2, maximum=MOST_WEIGHTS) for n in counts)
        if any(n % 2 for n in self.segments):
            raise ValueError(f"'segments' must be even, got {self.segments}")
        self.concentrations = reals_by_layer(concentrations, "concentrations", depth)
        self.activation_bounds = reals_by_layer(activation_bounds, "activation_bounds", depth)
        self.radius = between(radius, "radius")
        if not self.activation_bounds[0] >= self.radius:
            raise ValueError(f"'activation_bounds' must begin with 'radius' or more, got {self.activation_bounds}")
        self.weight_bound = between(weight_bound, "weight_bound")
        self.row_bounds = row_bounds(row_bound, self.sizes, self.weight_bound)
        rows = None if keys is None else unit_rows(keys)
        self.layout = Layout(self.sizes, sum(self.sizes[1:]) if rows is None else rows.shape[1])
        self.n_weights = self.layout.weights(self.segments)
        if self.n_weights > MOST_WEIGHTS:
            raise ValueError(
                f"'sizes' and 'segments' must be smaller: an executor may have at most 2^27 weights, got "
                f"{self.n_weights:.4g} for {self.sizes} and {self.segments}"
            )
        self.prompt_length, self.token_dim = self.layout.records, self.layout.width
        self.depth, self.hidden = 2 * depth, self.layout.hidden(self.segments)
        self.keys, self.margin = record_keys(rows, self.prompt_length)

    def __repr__(self) -> str:
        return (
            f"Executor(sizes={self.sizes}, prompt_length={self.prompt_length}, token_dim={self.token_dim}, "
            f"depth={self.depth}, margin={self.margin:.4g})"
        )

    def encode(self, network: ReluNetwork) -> Float64:
        """Return the prompt that holds a network, shape (m, d).

        Parameters
        ----------
        network : ReluNetwork
            Of these sizes, or smaller and less deep: it is padded.

        Raises
        ------
        TypeError, ValueError
            If the network is larger, or a weight or a row exceeds its bound.
        """
        network = _checks.instance(network, "network", ReluNetwork)
        try:
            padded = network.padded(self.sizes)
        except ValueError as error:
            raise ValueError(
                f"'network' must fit the sizes {self.sizes} of the executor, with identities for missing layers, got "
                f"{network.sizes}: make the executor for larger ones"
            ) from error
        records = np.zeros((self.prompt_length, self.layout.inputs + 1))
        start = 0
        for weight, bias in zip(padded.weights, padded.biases, strict=True):
            rows = slice(start, start + len(bias))
            records[rows, : weight.shape[1]], records[rows, -1] = weight, bias
            start += len(bias)
        check_records(self, records, "network")
        prompt = np.zeros((self.prompt_length, self.token_dim))
        prompt[:, self.layout.columns("key")] = self.keys
        prompt[:, self.layout.columns("record")] = records
        return prompt

    def run(
        self, prompt: ArrayLike, x: ArrayLike, *, steps: int = 1,
        feedback: Callable[[Float64, int], ArrayLike] | None = None,
    ) -> Float64:  # fmt: skip
        """Return the outputs (n, n_D) of the transformer behind a prompt, in the last pass.

        Parameters
        ----------
        prompt : array_like, shape (m, d)
            From `encode`; its records may be changed within the bounds.
        x : array_like, shape (n, n_0)
            Inputs, each run by itself.
        steps : int, default 1
            Number of passes: a chain of thought, in which each pass takes what `feedback` makes of the outputs of the
            one before.
        feedback : callable, optional
            Maps outputs (n, n_D) and the number of passes that were done to the next inputs (n, n_0). By default
            outputs are the next inputs.

        Raises
        ------
        TypeError, ValueError
            If the prompt is none of this executor, an input exceeds `radius`, in whatever pass, or that of a layer its
            bound, or arrays have other shapes.

        Notes
        -----
        Only numbers that reach the outputs are computed: prompt tokens keep their keys and records, and pass nothing on
        (9.1), so that a layer costs its products. `to_torch` computes everything.
        """
        reads = reads_of(self, checked_prompt(self, prompt))
        count = _checks.integer(steps, "steps", minimum=1)
        if feedback is not None:
            _checks.callable_(feedback, "feedback")
        elif count > 1 and self.sizes[0] != self.sizes[-1]:
            raise ValueError(
                f"'feedback' must be given for more than one step where {self.sizes[-1]} outputs are no "
                f"{self.sizes[0]} inputs"
            )
        outputs = outputs_of(self, reads, checked_inputs(self, x, "x"))
        for step in range(1, count):
            following = outputs if feedback is None else feedback(outputs, step)
            inputs = checked_inputs(self, following, f"feedback({step})")
            outputs = outputs_of(self, reads, _checks.shaped(inputs, "feedback", (len(outputs), self.sizes[0])))
        return outputs

    def blocks(self) -> Iterator[Block]:
        """Yield the weights of the blocks as arrays, for other frameworks.

        Yields
        ------
        Block
            With `query`, `key`, `value` (d, d), `up` (hidden, d), `bias` (hidden,) and `down` (d, hidden). The state
            begins with the prompt and ``layout.workers`` work tokens, whose columns ``layout.columns("name")`` are the
            identity; the first of these holds x in the first of ``layout.columns("output")``. Output i is
            ``layout.columns("sum")`` of work token i. Where there are as many outputs as inputs, all blocks may run
            again on the state that they leave: outputs are written back as inputs (9.3).
        """
        names = np.split(self.keys, np.cumsum(self.sizes[1:-1]))
        gates = self._gates()
        rows = zip(
            names, self.concentrations, self.segments, self.activation_bounds, gates[-1:] + gates[:-1], strict=True
        )
        for layer, (keys, sharp, count, *limits) in enumerate(rows):
            numbers = Numbers(keys, sharp, count, self.weight_bound, *limits)
            yield read_block(self.layout, layer, numbers)
            yield sum_block(self.layout, layer, numbers)

    def to_torch(self, *, dtype: Any = None, device: Any = None) -> Any:
        """Return the transformer as a `torch.nn.Module` of torch's own attention and linear layers.

        Parameters
        ----------
        dtype : torch.dtype, optional
            torch.float64, the default, or torch.float32.
        device : torch.device or str, optional

        Returns
        -------
        torch.nn.Module
            An `ExecutorModule` of `spherapprox.prompts.executor.torch_modules`: ``module(prompt, x)``. Its weights are
            frozen; gradients flow to the prompt and to x.

        Raises
        ------
        ImportError, TypeError, RuntimeError
            If PyTorch is missing, for another `dtype`, or a device that torch does not have.

        Examples
        --------
        >>> executor = Executor((1, 2, 1), (40, 60), (12.0, 12.0), (1.0, 2.1))
        >>> prompt, x = executor.encode(ReluNetwork([[[0.25]]], [[0.5]])), np.array([[-1.0], [1.0]])
        >>> bool(abs(executor.to_torch()(prompt, x).numpy() - executor.run(prompt, x)).max() < 1e-12)
        True
        """
        rooms: Any = load(f"{__package__}.torch_modules")
        return rooms.ExecutorModule(self, dtype=dtype, device=device)

    def _gates(self) -> list[float]:
        """Return for each layer a number that no token's sum reaches."""
        rows = zip(self.sizes, self.segments, self.activation_bounds, strict=False)
        return [gate_above(max(self.row_bounds), self.weight_bound, *row) for row in rows]
