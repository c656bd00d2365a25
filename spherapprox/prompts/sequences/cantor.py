"""The code by which the thesis passes a sequence through one number: digits of a Cantor set. It is not continuous."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._types import Array, Float64

FLOAT_DIGITS = 31
"""Ternary digits that a float64 holds, and can be read from it again."""
MOST_DIGITS = 20_000


def cantor_code(x: ArrayLike, bits: int, *, exact: bool = False) -> Float64 | tuple[Array, int]:
    """Encode points of a cube as numbers of a Cantor set: their binary digits in turn, as ternary digits 0 and 2.

    Parameters
    ----------
    x : array_like, shape (..., d)
        Numbers in [0, 1]; of 1 the digits are all ones.
    bits : int
        K >= 1, digits of each number that are kept.
    exact : bool, default False
        Return exact integers, for any K d up to 20000.

    Returns
    -------
    ndarray, shape (...)
        ``3 sum_p 3^-p psi(x_p)``, p = 1, ..., d, with ``psi(x) = sum_j 2 a_j 3^(-1-d(j-1))`` for the binary digits a_j
        of x, correctly rounded. If exact, a tuple: its numerators over ``3^(K d)``, an array of Python ints, and this
        denominator.

    Raises
    ------
    TypeError, ValueError
        If a number is outside [0, 1], or K d exceeds 31 and `exact` is False: floats hold no more ternary digits.

    References
    ----------
    docs/theorems/7.4-cantor-codes.md; Petrov (2025), section 4.4.

    Examples
    --------
    >>> from spherapprox.prompts.sequences import cantor_code
    >>> numerator, denominator = cantor_code([0.3, 0.7], 4, exact=True)
    >>> int(numerator), denominator
    (1964, 6561)
    """
    array = _checks.reals(_checks.floating(x, "x", (..., "d")).astype(np.float64), "x", minimum=0.0, maximum=1.0)
    d = array.shape[-1]
    digits = _digits(bits, d, exact)
    cells, top = np.empty(array.shape, dtype=object), 2 ** (digits // d)
    for index, number in np.ndenumerate(array):
        cells[index] = min(int(Fraction(number) * top), top - 1)
    code = np.zeros(array.shape[:-1], dtype=object)
    for j in reversed(range(digits // d)):  # 7.4: ternary digits from the first on, one of each number in turn
        for p in range(d):
            code = 3 * code + 2 * (cells[..., p] >> j & 1)
    if exact:
        return code, 3**digits
    return np.asarray(code / 3**digits, dtype=np.float64)


def cantor_decode(code: Any, bits: int, dim: int, *, exact: bool = False) -> Float64:
    """Decode numbers of a Cantor set, `cantor_code` backwards: (..., d), rounded down to K bits (K up to 1074).

    See docs/theorems/7.4-cantor-codes.md.

    Parameters
    ----------
    code : array_like of float, or of int if exact, shape (...)
        The codes, rounded to multiples of ``3^-(K d)``; if exact, their numerators over ``3^(K d)`` alone.
    bits, dim : int
        K and d, as they were encoded with.
    exact : bool, default False

    Raises
    ------
    TypeError, ValueError
        If a code is none, or K d exceeds 31 and `exact` is False.

    Examples
    --------
    >>> from spherapprox.prompts.sequences import cantor_code, cantor_decode
    >>> cantor_decode(cantor_code([0.3, 0.7], 4), 4, 2)
    array([0.25  , 0.6875])
    """
    d = _checks.integer(dim, "dim", minimum=1)
    digits = _digits(bits, d, exact)
    if exact:
        quotient = np.array(code, dtype=object)
        if not all(isinstance(number, int | np.integer) for number in quotient.flat):
            raise TypeError("'code' must hold integers if exact=True: the numerators that cantor_code returns")
    else:
        floats = _checks.reals(code, "code", minimum=0.0, maximum=1.0, nan=False)
        quotient = np.array(np.rint(floats * 3**digits).astype(np.int64).astype(object))
    cells = np.zeros((*quotient.shape, d), dtype=object)
    for place in range(digits):  # from the last digit on
        cells[..., d - 1 - place % d] += (quotient % 3 // 2) << place // d
        if np.any(quotient % 3 == 1):
            raise ValueError("'code' must have ternary digits 0 and 2 only: it is no code of so many bits and numbers")
        quotient = quotient // 3
    if np.any(quotient != 0):
        raise ValueError(f"'code' must have {digits} ternary digits: encode with the same 'bits' and 'dim'")
    return np.asarray(cells / 2 ** (digits // d), dtype=np.float64)


def _digits(bits: object, d: int, exact: object) -> int:
    """Return the number K d of ternary digits, if so many can be had."""
    largest = MOST_DIGITS if _checks.flag(exact, "exact") else FLOAT_DIGITS
    digits = _checks.integer(bits, "bits", minimum=1) * d
    if digits > largest:
        remedy = "take fewer bits" if exact else "take fewer bits, or exact=True"
        raise ValueError(f"'bits' times {d} numbers must be at most {largest}, got {digits}: {remedy}")
    return digits
