"""Variables of a program: its input, and what blocks and operators compute from it at each step of a sequence."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._types import Float64
from .operands import Refusals, bound_of, column, common, keep_promise, matrix, site, vector

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_REFLECTED = {
    "add": "radd", "subtract": "rsub", "multiply": "rmul", "matmul": "rmatmul", "divide": "rtruediv", "power": "rpow",
    "remainder": "rmod", "floor_divide": "rfloordiv", "less": "gt", "less_equal": "ge", "greater": "lt",
    "greater_equal": "le", "equal": "eq", "not_equal": "ne", "bitwise_and": "rand", "bitwise_or": "ror",
}  # fmt: skip
"""By the name of a function of NumPy, the method of a variable that stands on the right of its operator."""


class Variable(Refusals):
    """A vector that a program computes at each step. Immutable; operators and blocks make new variables of it.

    ``v + w``, ``v - w``, ``c * v``, ``v / c`` (which multiplies by 1/c), ``-v``, ``A @ v`` and ``v[i:j]`` are linear;
    ``v * w`` of two variables is a `Multiplicative`. Numbers and arrays of shape (dim,) are constants. A variable of
    one entry goes with any.

    Attributes
    ----------
    dim : int
        Number of entries.
    inputs : tuple of Variable
        What it is computed from.
    line, name : str
        File and line that made it; its name, or None.

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Input
    >>> x = Input(3)
    >>> 2.0 * x[1:] - 1.0
    Linear(dim=2)
    >>> x.named("query")
    Linear(dim=3, name='query')
    """

    dim: int
    inputs: tuple[Variable, ...]
    line: str
    name: str | None
    promise: tuple[Variable, float] | None = None
    """A variable whose size a bound limits, which the interpreter checks."""
    __hash__ = object.__hash__

    def _make(self, dim: int, inputs: Sequence[Variable], name: str | None = None, **own: Any) -> None:
        if name is not None:
            _checks.instance(name, "name", str)
        for array in own.values():
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
        vars(self).update(dim=dim, inputs=tuple(inputs), line=_line(), name=name, **own)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"variables are immutable, and {name!r} cannot be set: make a new one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"variables are immutable, and {name!r} cannot be deleted: make a new one")

    def __repr__(self) -> str:
        named = "" if self.name is None else f", name={self.name!r}"
        return f"{type(self).__name__}(dim={self.dim}{named})"

    def __len__(self) -> int:
        return self.dim

    def __eq__(self, other: object) -> bool:
        return self is other or bool(self._not_equal(other))

    def named(self, name: str) -> Linear:
        """Return the same vector under a name, which listings, figures and traces show.

        Parameters
        ----------
        name : str

        Raises
        ------
        TypeError
        """
        return Linear(self, 1.0, name=_checks.instance(name, "name", str))

    def __add__(self, other: Any) -> Linear:
        return _sum(self, other, 1.0, verb="add")

    __radd__ = __add__

    def __sub__(self, other: Any) -> Linear:
        return _sum(self, other, -1.0, verb="subtract")

    def __rsub__(self, other: Any) -> Linear:
        return _sum(-self, other, 1.0, verb="subtract")

    def __neg__(self) -> Linear:
        return Linear(self, -1.0)

    def __mul__(self, other: Any) -> Variable:
        if isinstance(other, Variable):
            return Multiplicative(self, other)
        factors = vector(other, "factor", "multiply", v=self)
        return Linear(spread(self, len(factors)), np.diag(factors))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Linear:
        if isinstance(other, Variable):
            raise TypeError(f"cannot divide by {site(other)}: a recurrent model divides by constants only")
        divisors = vector(other, "divisor", "divide", v=self)
        if (np.abs(divisors) < np.finfo(np.float64).tiny).any():  # whose reciprocals overflow
            raise ValueError(f"'divisor' must not hold 0, or numbers below 3e-308, got {_checks.show(other)}")
        return Linear(spread(self, len(divisors)), np.diag(1.0 / divisors))

    def __rmatmul__(self, other: ArrayLike) -> Linear:
        return Linear(self, np.atleast_2d(_checks.numeric(other, "A")))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Let an array on the left of an operator have it, and no other function of NumPy."""
        if method == "__call__" and len(inputs) == 2 and inputs[1] is self and ufunc.__name__ in _REFLECTED:
            return getattr(self, f"__{_REFLECTED[ufunc.__name__]}__")(inputs[0])
        raise TypeError(f"{site(self)} cannot be given to numpy.{ufunc.__name__}: see maximum, minimum, absolute, ReLU")

    def __getitem__(self, key: Any) -> Linear:
        try:
            rows = np.atleast_1d(np.arange(self.dim)[key])
        except (IndexError, TypeError) as error:
            raise IndexError(f"{site(self)} has no entries {_checks.show(key)}: {error}") from None
        if rows.ndim != 1 or not rows.size:
            raise IndexError(f"{site(self)} has no entries {_checks.show(key)}: they must be a list, and one at least")
        return Linear(self, np.eye(self.dim)[rows])

    def __iter__(self) -> Any:
        return (self[i] for i in range(self.dim))

    def _begin(self, batch: int) -> Float64 | None:
        """Return the memory of the variable before the first step, shape (batch, dim), or None."""
        return None

    def _value(self, values: list[Float64], memory: Any) -> Float64:
        """Return its value at a step, shape (batch, dim), from those of its inputs and what it remembers."""
        raise NotImplementedError


class Linear(Variable):
    """An affine function A v + b of a variable, or of several.

    Parameters
    ----------
    input : Variable or sequence of Variable
        Several are concatenated.
    A : array_like, shape (n, dim), or float
        A number stands for its multiple of the identity.
    b : float or array_like, shape (n,), default 0.0
    name : str, optional

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Input, Linear, Program
    >>> x = Input(2)
    >>> Program(Linear(x, [[1.0, 1.0]], -0.5))([[1.0, 2.0], [3.0, 4.0]])
    array([[2.5],
           [6.5]])
    """

    weights: tuple[Float64, ...]
    bias: Float64

    def __init__(
        self, input: Variable | Sequence[Variable], A: ArrayLike, b: ArrayLike = 0.0, *, name: str | None = None
    ) -> None:
        inputs = variables(input, "input")
        weight = matrix(A, "A", inputs)
        bias = column(b, "b", len(weight))
        ends = np.cumsum([v.dim for v in inputs])[:-1]
        weights = tuple(np.split(weight, ends, axis=1))
        for part in weights:
            part.flags.writeable = False
        self._make(len(weight), inputs, name, weights=weights, bias=bias)

    def _value(self, values: list[Float64], memory: Any) -> Float64:
        return sum((v @ a.T for v, a in zip(values, self.weights, strict=True)), self.bias)


class Multiplicative(Variable):
    """The entrywise product of two variables.

    Parameters
    ----------
    input : Variable
        The first factor; both factors one after another if `other` is left out, as in the author's LSRL.
    other : Variable, optional
    binary : bool, default False
        A promise that the first factor is 0 or 1: LSTMs and GRUs multiply exactly then.
    bound : float, optional
        A promise that the first factor is never larger in size, where its range, derived from other bounds, is wider:
        errors of LSTMs and GRUs are in proportion to it.
    name : str, optional

    Raises
    ------
    TypeError, ValueError
        If factors do not fit, or there is an odd number of entries without `other`.

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Input, Multiplicative, Program
    >>> x = Input(2)
    >>> Program(Multiplicative(x[:1], x[1:]))([[2.0, 3.0]]), Program(Multiplicative(x))([[2.0, 3.0]])
    (array([[6.]]), array([[6.]]))
    """

    binary: bool
    bound: float | None

    def __init__(
        self,
        input: Variable, other: Variable | None = None, *, binary: bool = False, bound: float | None = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        (of,) = variables(input, "input", 1)
        if other is None:
            if of.dim % 2:
                raise ValueError(f"'input' must hold two factors of one size, got {site(of)}")
            of, other = of[: of.dim // 2], of[of.dim // 2 :]
        (second,) = variables(other, "other", 1)
        dim = common(of, second, "multiply")
        own = {"binary": _checks.flag(binary, "binary"), "bound": bound_of(bound)}
        self._make(dim, (spread(of, dim), spread(second, dim)), name, **own)

    def _value(self, values: list[Float64], memory: Any) -> Float64:
        u, v = values
        if self.binary and not (np.abs(np.abs(u - 0.5) - 0.5) <= 1e-6).all():
            raise ValueError(f"the first factor of {site(self)} must be 0 or 1 as it is binary, got {_checks.show(u)}")
        if self.bound is not None:
            keep_promise(self, u, self.bound, of="the first factor of ")
        return np.asarray(u * v)


def limited(node: Variable, v: Variable, bound: float) -> Variable:
    """Return a variable that is right for values of v up to a bound, which the interpreter checks."""
    vars(node)["promise"] = v, bound
    return node


def variables(value: Any, name: str, count: int | None = None) -> tuple[Variable, ...]:
    """Return variables after checking: one, or several if no count is given."""
    items = tuple(value) if count is None and isinstance(value, list | tuple) else (value,)
    for variable in items:
        if not isinstance(variable, Variable):
            raise TypeError(
                f"'{name}' must be a variable of a program, got {_checks.show(variable)}: begin with recurrent.Input, "
                "and use recurrent.constant for numbers"
            )
    if not items:
        raise ValueError(f"'{name}' must hold one variable at least, got none")
    return items


def spread(v: Variable, dim: int) -> Variable:
    """Return a variable of one entry as often as needed, and any other as it is."""
    return v if v.dim == dim else Linear(v, np.ones((dim, 1)))


def _sum(v: Variable, other: Any, sign: float, verb: str) -> Linear:
    if isinstance(other, Variable):
        dim = common(v, other, verb)
        weight = np.hstack([np.eye(dim), sign * np.eye(dim)])
        return Linear([spread(v, dim), spread(other, dim)], weight)
    terms = vector(other, "constant", verb, v=v)
    return Linear(spread(v, len(terms)), 1.0, sign * terms)


def _line() -> str:
    """Return the file and line outside this package that is being run."""
    frame = sys._getframe(1)
    while frame.f_back is not None and os.path.abspath(frame.f_code.co_filename).startswith(_HERE):
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
