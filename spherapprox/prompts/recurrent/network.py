"""`Network`: a compiled program, as layers one after another and an affine read-out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._archive import Savable
from ..._loading import Later, load
from ..._types import Float64, Floats
from .layer import MODULES, Layer, lines

if TYPE_CHECKING:
    from torch.nn import Module

_kernel = Later("spherapprox.prompts._kernels.recurrent")


@dataclass(frozen=True, eq=False, repr=False)
class Network(Savable):
    """A stack of recurrent layers with an affine read-out: what `Program.compile` makes.

    See docs/theorems/10.1-levelised-compilation.md.

    Parameters
    ----------
    layers : sequence of Layer
        The first one's weights have a column for each entry of the input.
    readout : array_like, shape (p, n)
        The output is ``readout h_t + readout_bias``, h_t being the last layer; the input if there are no layers.
    readout_bias : array_like, shape (p,)
    name : str, default ""
    value_bound : float, optional
        A bound of all values of layers; `to_torch` takes the scale of LSTMs and GRUs from it.

    Raises
    ------
    TypeError, ValueError

    Notes
    -----
    A call runs all layers at each step, in one kernel over the weights that are not 0, so that memory does not grow
    with the length of sequences. Sums are in the order of the columns: results depend neither on the batch, nor on
    threads, nor on a BLAS.

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Input, LinState, Program, step
    >>> bits = Input(1, bound=1.0, name="bits")
    >>> network = Program(step(LinState(2.0 * bits - 1.0, 1.0)), "majority").compile()
    >>> network
    Network('majority', layers=3, width=1, nonzeros=6)
    >>> network([[1.0], [0.0], [1.0], [1.0]])[:, 0]
    array([1., 0., 1., 1.])
    >>> _, state = network.run([[1.0], [0.0]])
    >>> network.run([[1.0], [1.0]], state)[0][:, 0]
    array([1., 1.])
    >>> [values[:, 0].tolist() for values in network.activations([[1.0], [1.0]])]
    [[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]]
    """

    layers: tuple[Layer, ...]
    readout: Float64
    readout_bias: Float64
    name: str = ""
    value_bound: float | None = None
    _kind: ClassVar[str] = "recurrent-network"

    def __post_init__(self) -> None:
        layers = tuple(_checks.instance(layer, "layers", Layer) for layer in self.layers)
        readout = np.array(_checks.floating(self.readout, "readout", ("p", "n")), dtype=np.float64)
        bias = np.array(_checks.floating(self.readout_bias, "readout_bias", (len(readout),)), dtype=np.float64)
        columns = [*(layer.weight.shape[1] for layer in layers), readout.shape[1]]
        for number, layer in enumerate(layers):
            if len(layer) != columns[number + 1]:
                raise ValueError(
                    f"'layers' must fit: what follows layer {number} must have {len(layer)} columns, "
                    f"got {columns[number + 1]}"
                )
        if self.value_bound is not None:
            _checks.real(self.value_bound, "value_bound", above=0.0)
        _checks.instance(self.name, "name", str)
        readout.flags.writeable = bias.flags.writeable = False
        for name, value in (("layers", layers), ("readout", readout), ("readout_bias", bias)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"Network({self.name!r}, layers={len(self.layers)}, width={self.width}, nonzeros={self.nonzeros})"

    @property
    def dim(self) -> int:
        """Number of entries of the input."""
        return int((self.layers[0].weight if self.layers else self.readout).shape[1])

    @property
    def width(self) -> int:
        """Rows of the widest layer."""
        return max(map(len, self.layers), default=0)

    @property
    def nonzeros(self) -> int:
        """Number of weights and biases of layers that are not 0."""
        return sum(layer.nonzeros for layer in self.layers)

    def __call__(self, x: ArrayLike, *, last: bool = False, workers: int | None = None) -> Float64:
        """Run the network on a sequence, or on a batch of them: outputs (L, p) or (batch, L, p), without L if `last`.

        Parameters
        ----------
        x : array_like, shape (L, d) or (batch, L, d)
            `numpy.broadcast_to` makes batches that share steps without memory.
        last : bool, default False
            Return the outputs of the last step only.
        workers : int, optional
            Threads; -1 for all cores. By default as many as the work is worth.

        Raises
        ------
        TypeError, ValueError
            If an argument does not fit, or numbers overflow.
        """
        return self.run(x, last=last, workers=workers)[0]

    def run(
        self, x: ArrayLike, state: ArrayLike | None = None, *, last: bool = False, workers: int | None = None
    ) -> tuple[Float64, Float64]:
        """Run the network from a state, and return the state after the last step too.

        Parameters
        ----------
        x, last, workers
            As for a call.
        state : array_like, shape (n,) or (batch, n), optional
            What a run before returned: the values of all layers, one after another. By default the start.

        Returns
        -------
        output : ndarray
            As of a call.
        state : ndarray, shape (n,) or (batch, n)

        Raises
        ------
        TypeError, ValueError
            If an argument does not fit, or numbers overflow.
        """
        rows = sequences(x, self.dim)
        batch = len(rows) if rows.ndim == 3 else 1
        states = self._states(state, batch, rows.ndim == 3)
        last, workers = _checks.flag(last, "last"), _checks.workers(workers)
        y = self._outputs(self._packed, rows, states, last=last, workers=workers)
        return y, states if rows.ndim == 3 else states[0]

    def _outputs(
        self, packed: Any, x: Floats, states: Float64, *, last: bool = False, workers: int | None = None
    ) -> Float64:
        """Return outputs of packed rows, shape (..., L, p) or (..., p), and leave the last values in the states."""
        rows = x if x.ndim == 3 else x[None]
        batch, length, _ = rows.shape
        shape = batch, 1 if last else length, packed.outputs
        _checks.memory(8.0 * float(np.prod(shape)), "outputs", "take fewer sequences, or last=True")
        y = np.empty(shape)
        _kernel.run(packed, rows, states, y=y, last=last, workers=workers)
        finite_output(y)
        if last:
            y = y[:, 0]
        return y if x.ndim == 3 else y[0]

    @cached_property
    def _packed(self) -> Any:
        last = len(self.layers[-1]) if self.layers else self.dim
        return _kernel.pack(self.layers, self.readout, self.readout_bias, place=self.dim + len(self._start) - last)

    @cached_property
    def _start(self) -> Float64:
        return np.concatenate([layer.start for layer in self.layers]) if self.layers else np.zeros(0)

    def _states(self, state: ArrayLike | None, batch: int, batched: bool) -> Float64:
        """Return a writable copy of the state, shape (batch, n)."""
        n = len(self._start)
        if state is None:
            return np.tile(self._start, (batch, 1))
        array = np.asarray(_checks.reals(state, "state", finite=True))
        shape = (batch, n) if batched else (n,)
        return np.array(_checks.shaped(array, "state", shape)).reshape(batch, n)

    def activations(self, x: ArrayLike) -> tuple[Float64, ...]:
        """Return the values of each layer at each step, shapes (L, n_l) or (batch, L, n_l).

        Parameters
        ----------
        x : array_like, shape (L, d) or (batch, L, d)

        Raises
        ------
        TypeError, ValueError
            If x does not fit, or numbers overflow.
        """
        rows, n = sequences(x, self.dim), len(self._start)
        packed = _kernel.pack(self.layers, np.eye(n), np.zeros(n), place=self.dim)
        states = self._states(None, len(rows) if rows.ndim == 3 else 1, True)
        values = self._outputs(packed, rows, states)
        return tuple(np.split(values, np.cumsum([len(layer) for layer in self.layers]), axis=-1)[:-1])

    def listing(self) -> str:
        """Write the network as equations, a row each; ``h1[0]'`` is h1[0] of the step before.

        Examples
        --------
        >>> from spherapprox.prompts.recurrent import Input, LinState, Program, step
        >>> total = LinState(2.0 * Input(1) - 1.0, 1.0, name="total")
        >>> print(Program(step(total), "majority").compile().listing())
        majority: x[0:1] -> y[0:1]
        layer 1, state, starts at 0
          h1[0] = h1[0]' + 2 x[0] - 1  # total
        layer 2, relu
          h2[0] = max(0, h1[0])
        layer 3, relu
          h3[0] = max(0, -h2[0] + 1)
        output
          y[0] = -h3[0] + 1
        """
        return "\n".join(lines(self.name, self.layers, self.readout, readout_bias=self.readout_bias))

    def to_torch(
        self, kind: str = "lstm", *, dtype: Any = None, device: Any = None, value_bound: float | None = None
    ) -> Module:
        """Return the network as one `torch.nn.RNN`, `torch.nn.LSTM` or `torch.nn.GRU` with a read-out, or as a Hawk.

        Parameters
        ----------
        kind : {"lstm", "gru", "rnn", "hawk"}
            An RNN has ReLUs; it needs a network without products. A GRU is twice as wide as an LSTM. A Hawk has
            blocks of real-gated linear recurrences and gated MLPs; its states add up, forget, or are registers, cycles.
        dtype : torch.dtype, optional
            torch.float64, the default, or torch.float32.
        device : torch.device or str, optional
        value_bound : float, optional
            A bound of all values of layers, instead of the network's own; not used by an RNN. Larger ones are wrong.

        Returns
        -------
        torch.nn.Module
            A `RecurrentModule`, whose ``rnn`` is torch's own, or a `HawkModule`; not trainable, as gates are steps.

        Raises
        ------
        TypeError, ValueError
            For an unknown kind or dtype, products in an RNN, states that turn or grow in a Hawk, values without a bound
            in others than RNNs, and weights that the dtype does not hold.

        Notes
        -----
        In LSTMs and GRUs the error of a product u v that is not binary is some ``1e-10 U |v|`` (float32: ``1e-3
        U |v|``), U being the size of the first factor that bounds of variables promise. Where they promise
        none, U is 1, and factors beyond it have an error of ``|v| |u|^3 / 12 * 2^-32`` (float32: 2^-14). All
        else differs by roundings, of states' bounds in Hawks, for integers by nothing but in GRUs:
        docs/theorems/10.3-gates.md and 10.8-hawk.md. See `bounds.prompts.recurrent.module_error`,
        docs/theorems/10.6-errors-of-modules.md for a bound of it all.

        Examples
        --------
        >>> import torch
        >>> from spherapprox.prompts.recurrent import Input, Program, RunningMax
        >>> network = Program(RunningMax(Input(1, bound=8.0), 8.0)).compile()
        >>> for kind in ("rnn", "lstm", "gru", "hawk"):
        ...     module = network.to_torch(kind, dtype=torch.float32)
        ...     print(kind, module(torch.tensor([[1.0], [3.0], [2.0]]))[:, 0].tolist())
        rnn [1.0, 3.0, 3.0]
        lstm [1.0, 3.0, 3.0]
        gru [1.0, 3.0, 3.0]
        hawk [1.0, 3.0, 3.0]
        """
        _checks.choice(kind, "kind", MODULES)
        modules = load("spherapprox.prompts.recurrent.torch_modules")
        make = modules.HawkModule if kind == "hawk" else partial(modules.RecurrentModule, kind=kind)
        return make(self, dtype=dtype, device=device, value_bound=value_bound)

    def _arguments(self) -> Mapping[str, Any]:
        return {
            "layers": self.layers, "readout": self.readout, "readout_bias": self.readout_bias, "name": self.name,
            "value_bound": self.value_bound,
        }  # fmt: skip


def sequences(x: ArrayLike, dim: int, name: str = "x") -> Floats:
    """Return a sequence of vectors, or a batch of them, after checking."""
    return _checks.floating(x, name, ("L", dim), ("batch", "L", dim), remedy="a row for each step")


def finite_output(y: Float64) -> None:
    """Raise where numbers of a run have overflown."""
    if not np.isfinite(y).all():
        raise ValueError("'x' must be smaller or shorter: numbers of the program overflow")
