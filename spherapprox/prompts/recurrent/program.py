"""`Program`: a variable as the output of a computation at each step of a sequence, interpreted or compiled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import count

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._types import Float64
from .blocks import Input, LinState
from .compiler import compiled
from .hawk.states import refusal
from .language import Multiplicative, Variable
from .layer import MODULES
from .network import Network, finite_output, sequences
from .operands import keep_promise, site
from .ranges import ranges_of, undeclared


@dataclass(frozen=True, eq=False, repr=False)
class Program:
    """A program for recurrent models: it computes one variable at each step of a sequence.

    See docs/theorems/10.1-levelised-compilation.md.

    Parameters
    ----------
    output : Variable
        What is returned at each step.
    name : str, default ""

    Attributes
    ----------
    variables : tuple of Variable
        All variables that the output depends on, each after its inputs.

    Raises
    ------
    TypeError

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Input, LinState, Program, step
    >>> bits = Input(1)
    >>> majority = Program(step(LinState(2.0 * bits - 1.0, 1.0)), name="majority")
    >>> majority([[1.0], [0.0], [1.0], [1.0]])[:, 0]
    array([1., 0., 1., 1.])
    >>> Program(LinState(bits.named("bit"), 1.0, name="count") - 1.0).trace([[1.0], [1.0]])["count"][:, 0]
    array([1., 2.])
    >>> majority.compile()
    Network('majority', layers=3, width=1, nonzeros=6)
    """

    output: Variable
    name: str = ""

    def __post_init__(self) -> None:
        _checks.instance(self.output, "output", Variable, remedy="recurrent.Input makes the first one")
        _checks.instance(self.name, "name", str)

    def __repr__(self) -> str:
        sizes = " + ".join(str(v.dim) for v in self.inputs)
        return (
            f"Program({self.name!r}, inputs={sizes or 0}, outputs={self.output.dim}, variables={len(self.variables)})"
        )

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """All variables, each after its inputs."""
        ordered: dict[Variable, None] = {}
        stack = [self.output]
        while stack:
            node = stack[-1]
            waiting = [v for v in node.inputs if v not in ordered]
            if waiting:
                stack.append(waiting[0])
            else:
                ordered[stack.pop()] = None
        return tuple(ordered)

    @cached_property
    def _network(self) -> Network:
        return compiled(self.output, self.variables, self.name)

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The inputs of the program; one that is valid has one."""
        return tuple(v for v in self.variables if isinstance(v, Input))

    def __call__(self, x: ArrayLike) -> Float64:
        """Interpret the program, variable by variable at each step: outputs (L, p) or (batch, L, p).

        Parameters
        ----------
        x : array_like, shape (L, d) or (batch, L, d)

        Raises
        ------
        TypeError, ValueError
            If the program is not valid, x does not fit, numbers overflow, an input or a state is larger than its
            ``bound``, or a binary factor is not 0 or 1.
        """
        return self._run(x)[self.output]

    def trace(self, x: ArrayLike) -> dict[str, Float64]:
        """Interpret the program and keep what its named variables are.

        Parameters
        ----------
        x : array_like, shape (L, d) or (batch, L, d)

        Returns
        -------
        dict of ndarray, shape (L, dim) or (batch, L, dim)
            By name, in the order of computation; a name of several variables gets a number behind it.

        Raises
        ------
        TypeError, ValueError
        """
        traces: dict[str, Float64] = {}
        for node, values in self._run(x, named=True).items():
            if node.name is not None:
                names = (f"{node.name} #{number}" if number > 1 else node.name for number in count(1))
                traces[next(name for name in names if name not in traces)] = values
        return traces

    def compile(self) -> Network:
        """Compile the program into layers, each a linear recurrence, ReLUs or products.

        Returns
        -------
        Network
            Its values differ from the interpreter's by the rounding of merged matrices, of bounds in `gate` and of
            differences in `RunningMax`; by nothing for integers below 2^53.

        Raises
        ------
        ValueError
            If the program is not valid: `validate` lists the reasons.
        """
        require_valid(self)
        return self._network

    def _run(self, x: ArrayLike, *, named: bool = False) -> dict[Variable, Float64]:
        """Return the values (..., L, dim) of the output, and of all named variables."""
        require_valid(self)
        steps = sequences(x, self.inputs[0].dim)
        batch, length, _ = (rows := steps if steps.ndim == 3 else steps[None]).shape
        memory = {node: node._begin(batch) for node in self.variables}
        nodes = [node for node in self.variables if node is self.output or (named and node.name is not None)]
        outputs = {node: np.empty((batch, length, node.dim)) for node in nodes}
        with np.errstate(over="ignore", invalid="ignore"):
            for t in range(length):
                values: dict[Variable, Float64] = {}
                for node in self.variables:
                    if isinstance(node, Input):
                        values[node] = rows[:, t].astype(np.float64)
                    else:
                        values[node] = node._value([values[v] for v in node.inputs], memory[node])
                    if memory[node] is not None:
                        memory[node] = values[node]
                    if isinstance(node, Input | LinState) and node.bound is not None:
                        keep_promise(node, values[node], node.bound)
                    if node.promise is not None:
                        limited, bound = node.promise
                        keep_promise(node, values[limited], bound, of=f"{site(limited)} is gated by ")
                for node, array in outputs.items():
                    array[:, t] = values[node]
        finite_output(outputs[self.output])
        return {node: array if steps.ndim == 3 else array[0] for node, array in outputs.items()}


def validate(program: Program, kind: str | None = None) -> tuple[str, ...]:
    """Return the reasons why a program cannot be compiled, or cannot become a torch module; none if it can.

    Each says which line made the variable. Nothing is compiled.

    Parameters
    ----------
    program : Program
    kind : {"rnn", "lstm", "gru", "hawk"}, optional
        The kind of module; without it only compilation is asked for.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Input, Program, validate
    >>> x = Input(2)
    >>> program = Program(x[:1] * x[1:])
    >>> validate(program)
    ()
    >>> for reason in validate(program, "rnn"):
    ...     print(reason)
    a ReLU RNN multiplies nothing, and Multiplicative(dim=1) (...) is a product: use 'lstm' or 'gru'
    >>> for reason in validate(program, "lstm"):
    ...     print(reason)
    Input(dim=2) (...) has no known bound: give bound=, or value_bound= to to_torch
    """
    _checks.instance(program, "program", Program)
    module = None if kind is None else _checks.choice(kind, "kind", MODULES)
    reasons = []
    if len(program.inputs) != 1:
        listed = ", ".join(site(v) for v in program.inputs)
        reasons.append(f"a program has one Input, got {len(program.inputs)}" + (f": {listed}" if listed else ""))
    if module == "rnn":
        reasons += [
            f"a ReLU RNN multiplies nothing, and {site(v)} is a product: use 'lstm' or 'gru'"
            for v in program.variables
            if isinstance(v, Multiplicative)
        ]
    elif module is not None:
        reasons += [
            f"{site(v)} has no known bound: give bound=, or value_bound= to to_torch"
            for v in undeclared(ranges_of(program.variables))
        ]
    if module == "hawk":
        pairs = [(v, refusal(v.transition, v.weight, v.bias)) for v in program.variables if isinstance(v, LinState)]
        reasons += [f"{site(v)} {reason}: use 'lstm'" for v, reason in pairs if reason]
    return tuple(reasons)


def require_valid(program: Program) -> None:
    """Raise unless a program can be run and compiled."""
    if reasons := validate(program):
        raise ValueError(f"{program!r} is not valid: {'; '.join(reasons)}")
