"""How the coefficients of a head are chosen from a target's values at the control points."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _checks
from ._checks import Floats
from .points.pointset import require_equal
from .vmf import VonMisesFisher

__all__ = ["RULES", "core_values", "split_values"]

RULES = ("riemann",)
"""Rules that `core_values` and `split_values` know."""


def core_values(
    target: Callable[[Any], ArrayLike],
    rows: Floats,
    weights: NDArray[np.float64] | None,
    concentration: float,
    rule: str = "riemann",
) -> Floats:
    """Return the values of a core head: the coefficients of ``exp(-concentration |x - b_k|^2 / 2)``.

    Parameters
    ----------
    target : callable
        Maps points (n, dim+1) to values (n,) or (n, p).
    rows : ndarray, shape (n, dim+1)
        Control points b_k.
    weights : ndarray, shape (n,), or None
        Quadrature weights w_k; None means 1/n each.
    concentration : float
        lambda, at least 0.
    rule : {"riemann"}
        "riemann": ``c exp(lambda) w_k f(b_k)``, c the kernel's normaliser for the normalised measure: the convolution
        of the kernel with f, its integral replaced by the weighted sum over the control points.

    Returns
    -------
    ndarray, shape (n,) or (n, p)

    Raises
    ------
    ValueError
        If the rule is unknown, the target's values do not fit, or the peak ``c exp(lambda)`` is beyond float64.

    Notes
    -----
    c alone is near ``exp(-lambda)``; here it is never apart from ``exp(lambda)``: the product grows like
    ``lambda^(dim/2)``.

    References
    ----------
    docs/theorems.md, 4.3 and 4.8.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.coefficients import core_values
    >>> core_values(lambda x: x[:, 0], np.eye(3), None, 0.0).round(6)  # lambda = 0: the mean
    array([0.333333, 0.      , 0.      ])
    """
    _checks.choice(rule, "coefficients", RULES)
    f = _sample(target, rows)
    log_peak = float(VonMisesFisher(rows.shape[1] - 1, concentration).log_density(1.0))
    if log_peak > 700.0:
        raise ValueError(
            f"'concentration' must be small enough for the kernel's peak to fit float64, got {concentration:g}: "
            f"at dim = {rows.shape[1] - 1} the peak is exp({log_peak:.6g}); a SplitHead does not need it"
        )
    scale = math.exp(log_peak) * (np.full(len(rows), 1.0 / len(rows)) if weights is None else weights)
    values = (f.astype(np.float64).T * scale).T
    fits = f.dtype == np.float32 and np.abs(values).max() < np.finfo(np.float32).max
    return values.astype(np.float32) if fits else values


def split_values(
    target: Callable[[Any], ArrayLike],
    rows: Floats,
    weights: NDArray[np.float64] | None,
    concentration: float,
    rule: str = "riemann",
) -> Floats:
    """Return the values of a split head: the target's values at the control points.

    Parameters
    ----------
    target : callable
        Maps points (n, dim+1) to values (n,) or (n, p).
    rows : ndarray, shape (n, dim+1)
        Control points b_k.
    weights : ndarray, shape (n,), or None
        They must all be equal, since softmax weighs every control point alike.
    concentration : float
        lambda; "riemann" does not depend on it.
    rule : {"riemann"}
        "riemann": ``f(b_k)``.

    Returns
    -------
    ndarray, shape (n,) or (n, p)

    Raises
    ------
    ValueError
        If the rule is unknown, the weights differ, or the target's values do not fit.

    References
    ----------
    docs/theorems.md, 4.4.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.coefficients import split_values
    >>> split_values(lambda x: x[:, 0], np.eye(3), None, 1.0)
    array([1., 0., 0.])
    """
    _checks.choice(rule, "coefficients", RULES)
    require_equal(weights)
    return _sample(target, rows)


def _sample(target: Callable[[Any], ArrayLike], rows: Floats) -> Floats:
    """Return the target's values at the control points, (n,) or (n, p)."""
    _checks.callable_(target, "target")
    dim = getattr(target, "dim", None)
    if dim is not None and dim != rows.shape[1] - 1:
        raise ValueError(
            f"'points' must lie on the target's sphere S^{dim}, got points of S^{rows.shape[1] - 1}: "
            f"they need {dim + 1} columns"
        )
    return _checks.values_for(target(rows), "target(points)", len(rows), "the control points")
