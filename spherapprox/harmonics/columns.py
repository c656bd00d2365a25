"""The order of the columns of harmonics on S^2, and their normalisations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._types import Float64, Int64
from ..special import arguments

NORMALIZATIONS = ("schmidt", "orthonormal", "surface")
"""The words that `normalization` takes; the module's docstring defines them."""

MAX_DEGREE = arguments.MAX_DEGREE
"""Largest degree that any function takes; memory sets lower limits, by the size of what is asked for."""


def column(degree: int, order: int) -> int:
    """Return the column of degree k and order m: ``k*k + k + m``.

    Parameters
    ----------
    degree : int
        k >= 0.
    order : int
        m with -k <= m <= k; negative orders are the sines.

    Returns
    -------
    int

    Raises
    ------
    TypeError, ValueError
        If an argument is no integer of its range.

    Examples
    --------
    >>> from spherapprox import harmonics
    >>> harmonics.column(2, -1)
    5
    """
    degree = _checks.integer(degree, "degree", minimum=0)
    order = _checks.integer(order, "order", minimum=-degree, maximum=degree, why="|order| must not exceed 'degree'")
    return degree * degree + degree + order


def degrees(max_degree: int) -> Int64:
    """Return the degree of every column, shape ``((max_degree+1)**2,)``.

    Parameters
    ----------
    max_degree : int
        K, 0 to 1e6, as far as memory allows.

    Returns
    -------
    ndarray of int

    Raises
    ------
    TypeError, ValueError
        If the degree is no integer of its range, or the result would be too large for memory.

    Examples
    --------
    Convolution with a von Mises-Fisher kernel multiplies a coefficient vector by ``eigenvalues[degrees(K)]``.

    >>> from spherapprox import harmonics
    >>> harmonics.degrees(2)
    array([0, 1, 1, 1, 2, 2, 2, 2, 2])
    """
    max_degree = check_degree(max_degree)
    table_name = f"the degrees of all columns up to 'max_degree' = {max_degree}"
    _checks.memory(8.0 * (max_degree + 1) ** 2, table_name, "lower 'max_degree'")
    rows = np.arange(max_degree + 1)
    return np.repeat(rows, 2 * rows + 1)  # ((K+1)^2,): the orders of degree k are 2k + 1


def check_degree(value: int, name: str = "max_degree", *, minimum: int = 0) -> int:
    """Return a degree, an integer from `minimum` to `MAX_DEGREE`."""
    return _checks.integer(value, name, minimum=minimum, maximum=MAX_DEGREE)


def order_arguments(max_degree: Any, x: Any) -> tuple[Any, Any]:
    """Return the degree and the rows of points in this order, whichever was given first."""
    return (x, max_degree) if _checks.is_vector(max_degree) and not _checks.is_vector(x) else (max_degree, x)


def factors(max_degree: int, normalization: str) -> Float64:
    """Return the factor of each degree that takes Schmidt's normalisation to another, shape (K+1,)."""
    normalization = _checks.choice(normalization, "normalization", NORMALIZATIONS)
    if normalization == "schmidt":
        return np.ones(max_degree + 1)
    total = 1.0 if normalization == "orthonormal" else 4.0 * np.pi
    return np.asarray(np.sqrt((2.0 * np.arange(max_degree + 1) + 1.0) / total))


def schmidt_coefficients(coefficients: ArrayLike, normalization: str) -> tuple[Float64, int]:
    """Return coefficients in Schmidt's normalisation, and the highest degree."""
    array, max_degree = coefficient_table(coefficients)
    factor = factors(max_degree, normalization)[degrees(max_degree)]  # ((K+1)^2,)
    return array * factor.reshape(-1, *[1] * (array.ndim - 1)), max_degree


def coefficient_table(coefficients: ArrayLike) -> tuple[Float64, int]:
    """Return coefficients of all degrees up to the highest, ((K+1)^2,) or ((K+1)^2, p), and that degree."""
    array = _checks.floating(coefficients, "coefficients").astype(np.float64)
    max_degree = math.isqrt(len(array)) - 1 if array.ndim else -1
    if array.ndim not in (1, 2) or (max_degree + 1) ** 2 != len(array):
        raise ValueError(
            f"'coefficients' must have shape ((K+1)^2,) or ((K+1)^2, p), got {array.shape}: "
            "entry k*k + k + m belongs to degree k and order m, for all degrees up to K; fill up with zeros"
        )
    return array, max_degree


def scalar_coefficients(coefficients: ArrayLike, normalization: str) -> tuple[Float64, int]:
    """Return one function's coefficients in Schmidt's normalisation, and the highest degree."""
    weights, max_degree = schmidt_coefficients(coefficients, normalization)
    return _checks.shaped(weights, "coefficients", ("(K+1)^2",), remedy="pass one column at a time"), max_degree
