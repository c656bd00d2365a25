"""Blocks of programs: inputs, concatenations, positive parts, linear states and running maxima."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._types import Float64
from .language import Linear, Variable, variables
from .operands import bound_of, column, matrix

LARGEST_DIM = 5000
"""Of an input: matrices of linear variables have the square of it."""


class Input(Variable):
    """The input of a program, a vector at each step.

    Parameters
    ----------
    dim : int
        Number of entries, from 1 to 5000.
    bound : float, optional
        A promise that no entry is larger in size; `Network.to_torch` derives the scale of LSTMs and GRUs from it.
    name : str, optional

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Input
    >>> Input(3, bound=1.0)
    Input(dim=3)
    """

    bound: float | None

    def __init__(self, dim: int, *, bound: float | None = None, name: str | None = None) -> None:
        count = _checks.integer(dim, "dim", minimum=1, maximum=LARGEST_DIM)
        self._make(count, (), name, bound=bound_of(bound))


class Concat(Linear):
    """Variables one after another.

    Parameters
    ----------
    input : sequence of Variable, or Variable
    others : Variable
        More of them, if the first is no sequence.
    name : str, optional

    Raises
    ------
    TypeError

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Concat, Input
    >>> x = Input(2)
    >>> Concat([x, x[:1]])
    Concat(dim=3)
    """

    def __init__(self, input: Sequence[Variable] | Variable, *others: Variable, name: str | None = None) -> None:
        super().__init__([input, *others] if isinstance(input, Variable) else list(input), 1.0, name=name)


class ReLU(Variable):
    """The positive part of each entry.

    Parameters
    ----------
    input : Variable
    name : str, optional

    Raises
    ------
    TypeError

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Input, Program, ReLU
    >>> Program(ReLU(Input(1)))([[-1.0], [2.0]])
    array([[0.],
           [2.]])
    """

    def __init__(self, input: Variable, *, name: str | None = None) -> None:
        (of,) = variables(input, "input", 1)
        self._make(of.dim, (of,), name)

    def _value(self, values: list[Float64], memory: Any) -> Float64:
        return np.maximum(values[0], 0.0)


class LinState(Variable):
    """A linear state, ``s_t = A s_(t-1) + B v_t + bias`` with ``s_0 = init_state``; its value at step t is ``s_t``.

    See docs/theorems/10.1-levelised-compilation.md.

    Parameters
    ----------
    input : Variable
        v; it cannot depend on the state.
    A : array_like, shape (n, n), or float
        A number stands for its multiple of the identity.
    B : array_like, shape (n, dim), or float, default 1.0
    init_state, bias : float or array_like, shape (n,), default 0.0
    bound : float, optional
        A promise that no entry of the state is ever larger in size; see `Input`. Not needed where it can be derived:
        for shift registers, cycles, and states that forget.
    name : str, optional

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Input, LinState, Program
    >>> Program(LinState(Input(1), 1.0))([[1.0], [2.0], [3.0]])[:, 0]  # a running sum
    array([1., 3., 6.])
    """

    transition: Float64
    weight: Float64
    bias: Float64
    init_state: Float64
    bound: float | None

    def __init__(
        self, input: Variable, A: ArrayLike, B: ArrayLike = 1.0, init_state: ArrayLike = 0.0, bias: ArrayLike = 0.0, *,
        bound: float | None = None, name: str | None = None,
    ) -> None:  # fmt: skip
        (of,) = variables(input, "input", 1)
        transition = np.asarray(_checks.floating(A, "A"), dtype=np.float64)
        if transition.ndim and transition.shape != 2 * transition.shape[:1]:
            raise ValueError(f"'A' must be square, as it takes a state to the next, got shape {transition.shape}")
        weight = matrix(B, "B", (of,), rows=len(transition) if transition.ndim else None)
        transition = transition.copy() if transition.ndim else transition * np.eye(len(weight))
        own = {name: column(array, name, len(weight)) for name, array in (("init_state", init_state), ("bias", bias))}
        limit, start = bound_of(bound), own["init_state"]
        if limit is not None and (np.abs(start) > limit).any():
            raise ValueError(f"'bound' must be at least the size of 'init_state', {np.abs(start).max():g}, got {bound}")
        self._make(len(weight), (of,), name, transition=transition, weight=weight, bound=limit, **own)

    def _begin(self, batch: int) -> Float64 | None:
        return np.tile(self.init_state, (batch, 1))

    def _value(self, values: list[Float64], memory: Any) -> Float64:
        return np.asarray(memory @ self.transition.T + values[0] @ self.weight.T + self.bias)


class RunningMax(Variable):
    """The largest value of each entry so far, not below -bound: ``max(-bound, v_1, ..., v_t)``.

    See docs/theorems/10.2-relu-recurrence.md.

    Parameters
    ----------
    input : Variable
    bound : float
        The size of the values, above 0; a power of two keeps integers exact.
    name : str, optional

    Raises
    ------
    TypeError, ValueError

    Notes
    -----
    A linear recurrent model has no running maximum; RNNs, LSTMs and GRUs have. A network keeps the difference of the
    maximum and v, whose roundings add up over steps; there are none for integers.

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Input, Program, RunningMax
    >>> Program(RunningMax(Input(1), 8.0))([[1.0], [3.0], [2.0]])[:, 0]
    array([1., 3., 3.])
    """

    bound: float

    def __init__(self, input: Variable, bound: float, *, name: str | None = None) -> None:
        (of,) = variables(input, "input", 1)
        self._make(of.dim, (of,), name, bound=bound_of(_checks.given(bound, "bound", ": it is the size of the values")))

    def _begin(self, batch: int) -> Float64 | None:
        return np.full((batch, self.dim), -self.bound)

    def _value(self, values: list[Float64], memory: Any) -> Float64:
        return np.asarray(np.maximum(values[0], memory))
