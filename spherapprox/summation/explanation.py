"""Plans of sums: how one was evaluated, and how one would be."""

from __future__ import annotations

from numpy.typing import ArrayLike

from .. import _checks
from .._types import Floats
from .evaluation import checked, checked_wish, evaluate_arrays
from .plan import Plan


def explain_sum(
    x: ArrayLike,
    control_points: ArrayLike,
    values: ArrayLike,
    concentration: ArrayLike,
    *,
    normalize: bool = False,
    log: bool = False,
    method: str = "auto",
    rtol: float | None = 1e-14,
) -> tuple[Floats, Plan]:
    """Evaluate a sum of exponential kernels, and say how.

    Parameters
    ----------
    x, control_points, values, concentration, normalize, method, rtol
        As in `spherapprox.evaluate`.
    log : bool, default False
        The logarithm, as `evaluate_log` returns it.

    Returns
    -------
    ndarray
        As `spherapprox.evaluate` and `evaluate_log` return it, bit by bit.
    Plan
        The method that was taken and why, what the others would cost, and bounds of the error.

    Raises
    ------
    TypeError, ValueError
        As `spherapprox.evaluate` does.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.summation import explain_sum
    >>> sums, plan = explain_sum(np.eye(3), np.eye(3), np.ones(3), 2.0)
    >>> plan.method, plan.rtol < 1e-13
    ('dense', True)
    """
    normalize, log = _checks.flag(normalize, "normalize"), _checks.flag(log, "log")
    arrays = checked(x, control_points, values, log=log)
    wish = checked_wish(method, rtol)._replace(explain=True)
    return evaluate_arrays(arrays, concentration, wish, normalize=normalize, log=log)


def plan_sum(
    x: ArrayLike,
    control_points: ArrayLike,
    values: ArrayLike,
    concentration: ArrayLike,
    *,
    normalize: bool = False,
    log: bool = False,
    method: str = "auto",
    rtol: float | None = 1e-14,
) -> Plan:
    """Plan a sum of exponential kernels without evaluating it: its method, time, memory and error.

    It checks the arguments, and looks at a sample of the points where a method's time depends on these.

    Parameters
    ----------
    x, control_points, values, concentration, normalize, log, method, rtol
        As in `explain_sum`.

    Returns
    -------
    Plan
        The method that `evaluate` takes, with the time, the memory and the error that are expected of it. On other
        machines, and where results are large beside their sums, times may be off by a factor of 3; the error is that
        where some control point is near (``concentration |x - b_k|^2 / 2`` below 700), and grows with that exponent.

    Raises
    ------
    TypeError, ValueError
        As `spherapprox.evaluate` does.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import points
    >>> from spherapprox.summation import plan_sum
    >>> x = points.fibonacci(100_000).points
    >>> plan = plan_sum(x, x, np.ones(100_000), 20.0, rtol=1e-12)
    >>> plan.method, plan.seconds < 1.0, plan.memory < 1e8
    ('harmonic', True, True)
    """
    normalize, log = _checks.flag(normalize, "normalize"), _checks.flag(log, "log")
    arrays = checked(x, control_points, values, log=log)
    wish = checked_wish(method, rtol)._replace(explain=True, dry=True)
    return evaluate_arrays(arrays, concentration, wish, normalize=normalize, log=log)[1]
