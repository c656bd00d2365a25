"""The rules by which the values of a head are chosen, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from .. import _checks
from .._checks import Floats
from ..points.pointset import Points
from . import interpolation, least_squares, riemann
from .task import Task

CORE_RULES: dict[str, Callable[[Task], Floats]] = {
    "riemann": riemann.core,
    "interpolation": interpolation.core,
    "least_squares": least_squares.core,
}
"""Rules for the values of a core head."""

SPLIT_RULES: dict[str, Callable[[Task], Floats]] = {
    "riemann": riemann.split,
    "interpolation": interpolation.split,
    "least_squares": least_squares.split,
}
"""Rules for the values of a split head."""

_TAKES: dict[str, tuple[str, ...]] = {
    "riemann": (),
    "interpolation": ("regularization",),
    "least_squares": ("regularization", "samples"),
}
"""The options that a rule takes."""


def core_values(
    target: Callable[[Any], ArrayLike],
    points: Points,
    concentration: float,
    rule: str = "riemann",
    *,
    degree: int | None = None,
    regularization: float | None = None,
    samples: Points | int | None = None,
) -> Floats:
    """Return the values of a core head: the coefficients of ``exp(-concentration |x - b_k|^2 / 2)``.

    Parameters
    ----------
    target : callable
        Maps points (n, dim+1) to values (n,) or (n, p).
    points : EqualMeasurePartition, PointSet or array_like (n, dim+1)
        Control points b_k and, of a point set, their weights w_k; else these are 1/n.
    concentration : float
        lambda, at least 0.
    rule : {"riemann"}
        "riemann": ``c exp(lambda) w_k f(b_k)``, c the kernel's normaliser for the normalised measure: the convolution
        of the kernel with f, its integral replaced by the weighted sum over the control points.
    degree, regularization, samples
        Options of rules that take them.

    Returns
    -------
    ndarray, shape (n,) or (n, p)

    Raises
    ------
    TypeError
        If an option is given to a rule that does not take it.
    ValueError
        If the rule is unknown, the target's values do not fit, or the peak ``c exp(lambda)`` is beyond float64.

    References
    ----------
    docs/theorems.md, 4.3 and 4.8.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.coefficients import core_values
    >>> core_values(lambda x: x[:, 0], np.eye(3), 0.0).round(6)  # lambda = 0: the mean
    array([0.333333, 0.      , 0.      ])
    """
    task = Task(target, points, _checks.concentration(concentration), degree, regularization, samples)
    return _rule(CORE_RULES, rule, task)(task)


def split_values(
    target: Callable[[Any], ArrayLike],
    points: Points,
    concentration: float,
    rule: str = "riemann",
    *,
    degree: int | None = None,
    regularization: float | None = None,
    samples: Points | int | None = None,
) -> Floats:
    """Return the values of a split head, whose softmax weighs all control points alike.

    Parameters
    ----------
    target : callable
        Maps points (n, dim+1) to values (n,) or (n, p).
    points : EqualMeasurePartition, PointSet or array_like (n, dim+1)
        Control points b_k; a point set's weights must all be equal.
    concentration : float
        lambda, at least 0; "riemann" does not depend on it.
    rule : {"riemann"}
        "riemann": ``f(b_k)``.
    degree, regularization, samples
        Options of rules that take them.

    Returns
    -------
    ndarray, shape (n,) or (n, p)

    Raises
    ------
    TypeError
        If an option is given to a rule that does not take it.
    ValueError
        If the rule is unknown, the weights differ, or the target's values do not fit.

    References
    ----------
    docs/theorems.md, 4.4.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.coefficients import split_values
    >>> split_values(lambda x: x[:, 0], np.eye(3), 1.0)
    array([1., 0., 0.])
    """
    task = Task(target, points, _checks.concentration(concentration), degree, regularization, samples)
    return _rule(SPLIT_RULES, rule, task)(task)


def _rule(rules: dict[str, Callable[[Task], Floats]], rule: str, task: Task) -> Callable[[Task], Floats]:
    """Return a rule by its name, after checking that it takes the options that are given."""
    chosen = rules[_checks.choice(rule, "coefficients", rules)]
    for option in ("degree", "regularization", "samples"):
        if getattr(task, option) is not None and option not in _TAKES[rule]:
            takers = " and ".join(repr(name) for name in rules if option in _TAKES[name]) or "no rule"
            raise TypeError(f"'{option}' is no option of coefficients='{rule}', only of {takers}: leave it out")
    return chosen
