"""`ReluNetwork`: a feed-forward network of ReLU layers, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._types import Float64
from .layout import layer_sizes
from .pieces import WIDEST, checked_grid, hats, hinges, linear_layers, sample, waves


@dataclass(frozen=True, eq=False, repr=False)
class ReluNetwork:
    """A network of ReLUs, its last layer linear.

    It maps x to ``W_D relu(... relu(W_1 x + b_1) ...) + b_D``. See docs/theorems/9.4-relu-networks.md.

    Parameters
    ----------
    weights : sequence of array_like, shapes (n_1, n_0), ..., (n_D, n_(D-1))
        In torch's orientation, a row for each neuron.
    biases : sequence of array_like, shapes (n_1,), ..., (n_D,)

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from spherapprox.prompts.executor import ReluNetwork
    >>> distance = ReluNetwork([[[1.0, -1.0], [-1.0, 1.0]], [[1.0, 1.0]]], [[0.0, 0.0], [0.0]])
    >>> distance([[3.0, 1.0], [1.0, 5.0]])
    array([[2.],
           [4.]])
    >>> distance.sizes, distance.largest, distance.row_sums
    ((2, 2, 1), 1.0, (2.0, 2.0))
    """

    weights: tuple[Float64, ...]
    biases: tuple[Float64, ...]

    def __init__(self, weights: Sequence[ArrayLike], biases: Sequence[ArrayLike]) -> None:
        for name, arrays in (("weights", weights), ("biases", biases)):
            if not _checks.is_vector(arrays):
                raise TypeError(f"'{name}' must hold an array for each layer, got {_checks.show(arrays)}")
        if not len(weights) or len(weights) != len(biases):
            raise ValueError(
                f"'weights' and 'biases' must have as many layers, at least one, got {len(weights)} and {len(biases)}"
            )
        matrices, shifts = [], []
        columns: int | str = "n_0"
        for number, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
            matrices.append(_array(weight, f"weights[{number}]", ("n", columns)))
            columns = len(matrices[-1])
            shifts.append(_array(bias, f"biases[{number}]", (columns,)))
        object.__setattr__(self, "weights", tuple(matrices))
        object.__setattr__(self, "biases", tuple(shifts))

    @classmethod
    def from_torch(cls, module: Any) -> Self:
        """Copy a `torch.nn.Sequential` of Linear layers with ReLU between them.

        Parameters
        ----------
        module : torch.nn.Sequential
            Or another iterable of modules; of any dtype, on any device. Identity, Flatten of all columns, and Dropout
            in evaluation are passed over, as rows pass them; parametrized weights are read as they are computed.

        Raises
        ------
        TypeError, ValueError
            If it holds other modules, or in another order than Linear, ReLU, Linear, ..., Linear, or if one may compute
            something else than its weights say: an adapter of PEFT, a forward of its own, forward hooks.

        Examples
        --------
        >>> from torch import nn
        >>> ReluNetwork.from_torch(nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1)))
        ReluNetwork(sizes=(2, 16, 1))
        """
        return cls(*linear_layers(module))

    @classmethod
    def piecewise_linear(cls, knots: ArrayLike, values: ArrayLike) -> Self:
        """Represent a piecewise linear function of one variable, as `numpy.interp` has it, with one hidden layer.

        Parameters
        ----------
        knots : array_like, shape (n,)
            Increasing, at least two.
        values : array_like, shape (n,) or (n, p)
            At the knots; beyond the first and the last one the function is constant.

        Returns
        -------
        ReluNetwork
            Of sizes (1, n, p); exact up to roundings, which grow with the largest slope.

        Raises
        ------
        TypeError, ValueError
            If knots do not increase, arrays do not fit together, or slopes overflow.

        Examples
        --------
        >>> import numpy as np
        >>> knots = np.linspace(-1.0, 1.0, 17)
        >>> sine = ReluNetwork.piecewise_linear(knots, np.sin(3.0 * knots) / 3.0)
        >>> x = np.linspace(-1.0, 1.0, 999)[:, None]
        >>> print(f"{abs(sine(x) - np.sin(3.0 * x) / 3.0).max():.1e}")
        5.8e-03
        """
        places = _array(knots, "knots", ("n",))
        heights = _array(values, "values", (len(places),), (len(places), "p"))
        if len(places) < 2 or not (places[1:] > places[:-1]).all():
            raise ValueError(f"'knots' must increase, and be two at least, got {_checks.show(places)}")
        if not np.abs(places).max() <= WIDEST:
            raise ValueError(f"'knots' must be at most {WIDEST:g} in size, got {_checks.show(places)}: rescale them")
        return cls(*hinges(places, heights.reshape(len(places), -1)))

    @classmethod
    def interpolate(cls, f: Callable[[Float64], ArrayLike], box: ArrayLike, cells: int | Sequence[int]) -> Self:
        """Interpolate a function on a box linearly over the simplices of Kuhn's triangulation of a grid.

        Parameters
        ----------
        f : callable
            Maps points (n, d) to values (n,) or (n, p).
        box : array_like, shape (d, 2)
            Least and largest value of each variable; d is 1, 2 or 3.
        cells : int or sequence of d int
            Number of intervals along each axis.

        Returns
        -------
        ReluNetwork
            With three hidden layers for d = 2 and 3, of a neuron for each vertex in the last, and with one for d = 1;
            inside the box it is the interpolant up to roundings. `bounds.prompts.interpolation_error` bounds its error.

        Raises
        ------
        TypeError, ValueError
            If `box` or `cells` is out of range, `f` returns something else, or arrays would take too much memory.

        Examples
        --------
        >>> product = ReluNetwork.interpolate(lambda x: x[:, 0] * x[:, 1], [(-1, 1), (-1, 1)], 4)
        >>> product, product([[0.5, 0.5], [-1.0, 0.5]]).round(12).tolist()
        (ReluNetwork(sizes=(2, 20, 60, 25, 1)), [[0.25], [-0.5]])
        """
        _checks.callable_(f, "f")
        ends, counts = checked_grid(box, cells, most=3)
        vertices = float(np.prod([count + 1.0 for count in counts]))
        _checks.memory(8.0 * (vertices if len(ends) == 1 else 4.0 * vertices**2), "weights", "take fewer cells")
        axes, values = sample(f, ends, counts, middles=False)
        return cls(*(hinges(axes[0], values) if len(ends) == 1 else hats(axes, values)))

    @classmethod
    def shallow(
        cls, f: Callable[[Float64], ArrayLike], box: ArrayLike, cells: int | Sequence[int], pieces: int
    ) -> Self:
        """Approximate a function on a box of any dimension with one hidden layer.

        A mean of the values at the middles of cells is a sum of waves, and each wave a function of one number, which is
        interpolated. `bounds.prompts.shallow_error` bounds the error. One layer takes far more neurons than the three
        of `interpolate`. See docs/theorems/9.4-relu-networks.md.

        Parameters
        ----------
        f : callable
            Maps points (n, d) to values (n,) or (n, p).
        box : array_like, shape (d, 2)
            Least and largest value of each variable.
        cells : int or sequence of d int
            Number of intervals along each axis.
        pieces : int
            Straight pieces of half a period of the shortest wave of a direction.

        Returns
        -------
        ReluNetwork
            Of sizes (d, units, p); inside the box it is the sum of interpolated waves up to roundings.

        Raises
        ------
        TypeError, ValueError
            As `interpolate` does.

        Examples
        --------
        >>> network = ReluNetwork.shallow(lambda x: x[:, 0] * x[:, 1], [(-1, 1), (-1, 1)], 8, 4)
        >>> network, network([[0.5, 0.5], [-0.5, 0.25]]).round(2).tolist()
        (ReluNetwork(sizes=(2, 2640, 1)), [[0.25], [-0.12]])
        """
        _checks.callable_(f, "f")
        ends, counts = checked_grid(box, cells)
        return cls(*waves(f, ends, counts, _checks.integer(pieces, "pieces", minimum=1, maximum=10**6)))

    def __call__(self, x: ArrayLike) -> Float64:
        """Evaluate the network, shape (n, n_D).

        Parameters
        ----------
        x : array_like, shape (n, n_0)

        Raises
        ------
        TypeError, ValueError
        """
        values = _array(x, "x", ("n", self.sizes[0]))
        with np.errstate(over="ignore", invalid="ignore"):
            for number, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True), 1):
                values = values @ weight.T + bias  # (n, n_l)
                if number < len(self.weights):
                    values = np.maximum(values, 0.0)
        if not np.isfinite(values).all():
            raise ValueError("'x' must be smaller, or weights: numbers of the network overflow")
        return np.asarray(values)

    def __repr__(self) -> str:
        return f"ReluNetwork(sizes={self.sizes})"

    @property
    def sizes(self) -> tuple[int, ...]:
        """Sizes n_0, ..., n_D of the layers, that of the input first."""
        return (self.weights[0].shape[1], *map(len, self.weights))

    @property
    def largest(self) -> float:
        """Largest absolute value of a weight or bias."""
        return max(float(np.abs(array).max()) for array in (*self.weights, *self.biases))

    @property
    def row_sums(self) -> tuple[float, ...]:
        """Largest sum of absolute weights in a row of each layer, its Lipschitz constant in the maximum norm."""
        return tuple(float(np.abs(weight).sum(axis=1).max()) for weight in self.weights)

    def padded(self, sizes: Sequence[int]) -> ReluNetwork:
        """Return a network of larger sizes that computes the same.

        Parameters
        ----------
        sizes : sequence of int
            Sizes n_0, ..., n_D, as many layers or more, each as large or larger.

        Returns
        -------
        ReluNetwork
            New inputs have weights 0 and new outputs are 0. Where layers are missing, identities go before the last
            one; a network of one layer becomes ``x -> W relu(x) - W relu(-x) + b`` first.

        Raises
        ------
        TypeError, ValueError
            If a layer of the network, or an identity, has more neurons than its place.

        Examples
        --------
        >>> linear = ReluNetwork([[[2.0]]], [[1.0]])
        >>> larger = linear.padded((1, 3, 4, 1))
        >>> larger, larger([[-3.0]])
        (ReluNetwork(sizes=(1, 3, 4, 1)), array([[-5.]]))
        """
        goal = layer_sizes(sizes)
        if len(goal) < len(self.sizes):
            raise ValueError(f"'sizes' must have at least {len(self.sizes)} entries, as this network has, got {goal}")
        weights, biases, deeper = list(self.weights), list(self.biases), len(goal) > len(self.sizes)
        if deeper and len(weights) == 1:
            identity = np.eye(weights[0].shape[1])
            weights = [np.vstack([identity, -identity]), np.hstack([weights[0], -weights[0]])]
            biases = [np.zeros(len(weights[0])), *biases]
        if deeper:  # identities go before the last layer
            missing, width = len(goal) - 1 - len(weights), len(weights[-2])
            weights[-1:-1], biases[-1:-1] = [np.eye(width)] * missing, [np.zeros(width)] * missing
        for number, (own, place) in enumerate(zip((weights[0].shape[1], *map(len, weights)), goal, strict=True)):
            if own > place:
                why = ", where identities stand for missing layers" if deeper else ""
                raise ValueError(f"'sizes' must be at least {own} at layer {number}{why}, got {place}")
        pads = [
            (rows - len(w), columns - w.shape[1]) for w, (columns, rows) in zip(weights, pairwise(goal), strict=True)
        ]
        return ReluNetwork(
            [np.pad(w, ((0, rows), (0, columns))) for w, (rows, columns) in zip(weights, pads, strict=True)],
            [np.pad(b, (0, rows)) for b, (rows, _) in zip(biases, pads, strict=True)],
        )


def _array(value: Any, name: str, *shapes: tuple[int | str, ...]) -> Float64:
    """Return a float64 array of one of the shapes, finite and not empty."""
    array = _checks.floating(_checks.detached(value), name, *shapes)
    return np.array(array, dtype=np.float64)
