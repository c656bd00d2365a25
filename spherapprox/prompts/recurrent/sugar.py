"""Short forms: what programs are mostly written with, each a few blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from .blocks import ReLU
from .language import Linear, Multiplicative, Variable, limited, spread, variables
from .operands import common


def constant(input: Variable, value: ArrayLike) -> Linear:
    """Return a constant vector of n entries.

    Parameters
    ----------
    input : Variable
        Any; it says of which program the constant is.
    value : float or array_like, shape (n,)

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Input, Program, constant
    >>> Program(constant(Input(3), [1.0, 2.0]))([[0.0, 0.0, 0.0]])
    array([[1., 2.]])
    """
    (of,) = variables(input, "input", 1)
    array = np.atleast_1d(np.asarray(_checks.floating(value, "value"), dtype=np.float64))
    if array.ndim != 1:
        raise ValueError(f"'value' must be a number or a vector, got shape {array.shape}")
    return Linear(of, np.zeros((len(array), of.dim)), array)


def step(v: Variable, slope: float = 1.0) -> Linear:
    """Return 0 where a variable is at most 0 and 1 where it is at least 1/slope, both without rounding.

    It is ``1 - ReLU(1 - ReLU(slope v))``.

    Parameters
    ----------
    v : Variable
    slope : float, default 1.0
        Above 0; between 0 and 1/slope the value rises linearly. 1 is right for integers.

    Raises
    ------
    TypeError, ValueError

    References
    ----------
    docs/theorems/3-errata.md on the step of the thesis, which is 1 up to a rounding that grows with v.

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Input, Program, step
    >>> Program(step(Input(1)))([[-1.0], [0.0], [1.0], [1e6]])[:, 0]
    array([0., 0., 1., 1.])
    """
    (of,) = variables(v, "v", 1)
    return 1.0 - ReLU(1.0 - ReLU(_checks.real(slope, "slope", above=0.0) * of))


def snap(v: Variable) -> Linear:
    """Return 0 or 1 for what is nearly 0 or 1: for values up to 3/8, and from 5/8 on: ``step(v - 3/8, 4)``.

    Parameters
    ----------
    v : Variable

    Raises
    ------
    TypeError

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Input, Program, snap
    >>> Program(snap(Input(1)))([[0.01], [0.98]])[:, 0]
    array([0., 1.])
    """
    (of,) = variables(v, "v", 1)
    return step(of - 0.375, 4.0)


def gate(condition: Variable, v: Variable, bound: float, *, positive: bool = False) -> Variable:
    """Return a variable where a condition is 1, and 0 where it is 0.

    A `Multiplicative` does the same for values of any size, in LSTMs and GRUs.

    Parameters
    ----------
    condition : Variable
        0 or 1, of one entry or as many as v.
    v : Variable
    bound : float
        The size of v; where it is larger, the interpreter raises, and the value is wrong elsewhere. A power of two
        keeps integers exact.
    positive : bool, default False
        A promise that v is never below 0, which saves half of the ReLUs.

    Returns
    -------
    Variable
        ``ReLU(v + bound (condition - 1)) - ReLU(-v + bound (condition - 1))``; exactly 0 where the condition is 0, and
        v where it is 1, in networks up to the rounding of ``bound + |v|``: the bound ought not to be much larger than
        needed. The condition ought to be exactly 0 or 1: an error of it is multiplied by the bound.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Input, Program, gate
    >>> x = Input(2)
    >>> Program(gate(x[0], x[1], 8.0))([[1.0, -3.0], [0.0, -3.0]])[:, 0]
    array([-3.,  0.])
    """
    (of,), (mask,) = variables(v, "v", 1), variables(condition, "condition", 1)
    dim = common(mask, of, "gate")
    shut = _checks.real(bound, "bound", above=0.0, maximum=1e300) * (spread(mask, dim) - 1.0)
    opened = limited(ReLU(spread(of, dim) + shut), of, bound)
    return opened if _checks.flag(positive, "positive") else opened - ReLU(shut - spread(of, dim))


def choose(
    condition: Variable, yes: Variable, no: Variable | None = None, bound: float | None = None, *, form: str = "relu",
    positive: bool = False,
) -> Variable:  # fmt: skip
    """Return one variable where a condition is 1, and another where it is 0.

    Parameters
    ----------
    condition : Variable
        0 or 1, of one entry or as many as the others.
    yes : Variable
    no : Variable, optional
        0 if left out, without the blocks that would compute it.
    bound : float, optional
        The size of both, as in `gate`; the form "product" needs none.
    form : {"relu", "step", "product"}
        Two gates; two gates of ``snap(condition)``, which stand errors of the condition up to 3/8; or two products, for
        LSTMs and GRUs, where an error of the condition is multiplied by the values' sizes and not by the bound.
    positive : bool, default False
        As in `gate`, of both variables.

    Raises
    ------
    TypeError, ValueError

    References
    ----------
    Petrov (2025), (5.7), (5.9) and (5.10); docs/theorems/10.1-levelised-compilation.md on how they stand noise.

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Input, Program, choose
    >>> x = Input(3)
    >>> for form in ("relu", "step", "product"):
    ...     print(Program(choose(x[0], x[1], x[2], 8.0, form=form))([[1.0, -3.0, 5.0], [0.0, -3.0, 5.0]])[:, 0])
    [-3.  5.]
    [-3.  5.]
    [-3.  5.]
    """
    (mask,) = variables(condition, "condition", 1)
    kind = _checks.choice(form, "form", ("relu", "step", "product"))
    if kind != "product":
        _checks.given(bound, "bound", f" for form={kind!r}: it is the size of the values")
    elif bound is not None:
        _checks.real(bound, "bound", above=0.0, maximum=1e300)
    _checks.flag(positive, "positive")
    share = snap(mask) if kind == "step" else mask

    def passed(truth: Variable, v: Variable) -> Variable:
        if kind == "product" or bound is None:
            return Multiplicative(truth, v)
        return gate(truth, v, bound, positive=positive)

    chosen = passed(share, yes)
    return chosen if no is None else chosen + passed(1.0 - share, no)


def equal(u: Variable, v: Variable | float) -> ReLU:
    """Return 1 where two integers are equal, and 0 where they are not: ``max(1 - |u - v|, 0)``.

    Parameters
    ----------
    u : Variable
    v : Variable or float

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Input, Program, equal
    >>> Program(equal(Input(1), 3.0))([[2.0], [3.0]])[:, 0]
    array([0., 1.])
    """
    (of,) = variables(u, "u", 1)
    return ReLU(1.0 - absolute(of - v))


def absolute(v: Variable) -> Linear:
    """Return the absolute value of each entry.

    Parameters
    ----------
    v : Variable

    Raises
    ------
    TypeError

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Input, Program, absolute
    >>> Program(absolute(Input(1)))([[-2.0], [3.0]])[:, 0]
    array([2., 3.])
    """
    (of,) = variables(v, "v", 1)
    return ReLU(of) + ReLU(-of)


def maximum(u: Variable, v: Variable) -> Linear:
    """Return the larger of two variables, entry by entry: ``u + ReLU(v - u)``, up to the rounding of ``|u| + |v|``.

    Parameters
    ----------
    u, v : Variable

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Input, Program, maximum
    >>> x = Input(2)
    >>> Program(maximum(x[0], x[1]))([[1.0, 4.0]])
    array([[4.]])
    """
    (first,), (second,) = variables(u, "u", 1), variables(v, "v", 1)
    return first + ReLU(second - first)


def minimum(u: Variable, v: Variable) -> Linear:
    """Return the smaller of two variables, entry by entry: ``u - ReLU(u - v)``, up to the rounding of ``|u| + |v|``.

    Parameters
    ----------
    u, v : Variable

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Input, Program, minimum
    >>> x = Input(2)
    >>> Program(minimum(x[0], x[1]))([[1.0, 4.0]])
    array([[1.]])
    """
    (first,), (second,) = variables(u, "u", 1), variables(v, "v", 1)
    return first - ReLU(first - second)
