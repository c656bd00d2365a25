"""`boltzmann`, `boltzmann_gradient`: the mean of numbers in the weights of their softmax."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._softmax import softmax
from ..._types import Float64

_FAR = 800.0
"""Weights exp(-x) are 0 from here on."""


class _Weighted(NamedTuple):
    """The largest number (...), how far all are below it (..., n), the mean of that (...), and the weights (..., n)."""

    top: Float64
    below: Float64
    deficit: Float64
    weights: Float64


def boltzmann(z: ArrayLike) -> Any:
    """Return the Boltzmann operator: the mean of numbers in the weights of their softmax.

    See docs/theorems/8.9-contextual-mapping.md.

    Parameters
    ----------
    z : array_like, shape (..., n)
        Finite numbers, n >= 1.

    Returns
    -------
    float or ndarray, shape (...)
        ``sum(z * softmax(z))`` over the last axis, between ``max(z) - W((n - 1) / e)``, W of Lambert, and ``max(z)``;
        right to 1.2e-16 times its size plus 1e-15 (1 + log n), for numbers of any size.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from spherapprox.prompts.contextual import boltzmann
    >>> round(boltzmann([9.0, 4.5, 0.0]), 6), boltzmann([[1e9, 0.0], [3.0, 3.0]]).tolist()
    (8.949466, [1000000000.0, 3.0])
    """
    numbers = _weighted(z)
    mean = numbers.top - numbers.deficit
    return mean if mean.ndim else float(mean)


def boltzmann_gradient(z: ArrayLike) -> Float64:
    """Return the gradient of the Boltzmann operator, ``p * (1 + z - boltzmann(z))`` with the weights p = softmax(z).

    See docs/theorems/8.9-contextual-mapping.md.

    Parameters
    ----------
    z : array_like, shape (..., n)
        Finite numbers, n >= 1.

    Returns
    -------
    ndarray, shape (..., n)
        Right to 1e-14 (1 + log n); numbers farther below the largest one than 745 have 0. The sum over n is 1.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from spherapprox.prompts.contextual import boltzmann_gradient
    >>> boltzmann_gradient([2.0, 0.0, -1.0]).round(4)
    array([ 1.1429, -0.0737, -0.0691])
    """
    _, below, deficit, weights = _weighted(z)
    return np.asarray(weights * (1.0 - below + deficit[..., None]))


def _weighted(z: ArrayLike) -> _Weighted:
    """Check numbers and weigh them by their softmax."""
    array = _checks.floating(_checks.detached(z), "z", (..., "n")).astype(np.float64)
    top = array.max(axis=-1)
    with np.errstate(over="ignore"):
        below = np.minimum(top[..., None] - array, _FAR)
    weights = softmax(-below)
    return _Weighted(np.asarray(top), below, np.asarray((below * weights).sum(axis=-1)), weights=weights)
