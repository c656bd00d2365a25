"""Shift registers in short forms: what variables were before, and counters, exact at every length."""

from __future__ import annotations

import numpy as np

from ... import _checks
from .blocks import LARGEST_DIM, LinState
from .language import Linear, Variable, variables


def window(v: Variable, n: int, *, bound: float | None = None) -> LinState:
    """Return a variable and what it was at the n - 1 steps before, one after another, 0 at first.

    Parameters
    ----------
    v : Variable
    n : int
        From 1; n times the entries of v are 5000 at most.
    bound : float, optional
        As of a `LinState`.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Input, Program, window
    >>> Program(window(Input(1), 3))([[1.0], [2.0], [3.0], [4.0]])
    array([[1., 0., 0.],
           [2., 1., 0.],
           [3., 2., 1.],
           [4., 3., 2.]])
    """
    (of,) = variables(v, "v", 1)
    size = of.dim * _checks.integer(n, "n", minimum=1, maximum=LARGEST_DIM // of.dim)
    return LinState(of, np.eye(size, k=-of.dim), np.eye(size, of.dim), bound=bound)


def delay(v: Variable, steps: int = 1, *, bound: float | None = None) -> Linear:
    """Return a variable as it was some steps before, 0 at first; take several of one variable from one `window`.

    Parameters
    ----------
    v : Variable
    steps : int, default 1
        From 1; steps + 1 times the entries of v are 5000 at most.
    bound : float, optional
        As of a `LinState`.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Input, Program, delay
    >>> Program(delay(Input(1), 2))([[1.0], [2.0], [3.0], [4.0]])[:, 0]
    array([0., 0., 1., 2.])
    """
    (of,) = variables(v, "v", 1)
    maximum = max(LARGEST_DIM // of.dim - 1, 1)
    return window(of, _checks.integer(steps, "steps", minimum=1, maximum=maximum) + 1, bound=bound)[-of.dim :]


def first(input: Variable, n: int) -> Linear:
    """Return a vector whose entry t is 1 at step t, for the first n steps, and all 0 afterwards.

    Parameters
    ----------
    input : Variable
        Any; it says of which program the vector is.
    n : int
        From 1 to 5000.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from spherapprox.prompts.recurrent import Input, Program, first
    >>> Program(first(Input(1), 2))([[5.0], [5.0], [5.0]])
    array([[1., 0.],
           [0., 1.],
           [0., 0.]])
    """
    (of,) = variables(input, "input", 1)
    size = _checks.integer(n, "n", minimum=1, maximum=LARGEST_DIM) + 1
    return LinState(of, np.eye(size, k=-1), np.zeros((size, of.dim)), init_state=np.eye(size)[0])[1:]


def cycle(input: Variable, n: int, phase: int = 0) -> LinState:
    """Return a vector whose entry (t - 1 + phase) mod n is 1 at step t = 1, 2, ..., and all others 0.

    Parameters
    ----------
    input : Variable
        Any; it says of which program the vector is.
    n : int
        From 1 to 5000.
    phase : int, default 0

    Raises
    ------
    TypeError, ValueError

    References
    ----------
    docs/theorems/3-errata.md, 3.26, on the counter of the thesis, a rotation, whose threshold has room up to some n.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.recurrent import Input, Program, cycle
    >>> counter = Program(np.arange(3.0)[None] @ cycle(Input(1), 3))
    >>> counter(np.zeros((5, 1)))[:, 0]
    array([0., 1., 2., 0., 1.])
    """
    (of,) = variables(input, "input", 1)
    size = _checks.integer(n, "n", minimum=1, maximum=LARGEST_DIM)
    shift = _checks.integer(phase, "phase")
    return LinState(
        of, np.roll(np.eye(size), 1, axis=0), np.zeros((size, of.dim)), init_state=np.eye(size)[(shift - 1) % size]
    )
