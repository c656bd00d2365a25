"""Numbers rounded to the 16 bits that prefixes of models are stored in."""

from __future__ import annotations

import numpy as np

from .._types import Float64

LARGEST = {"float16": 65504.0, "bfloat16": 255.0 * 2.0**120}
"""The types, each with its largest number."""


def round_to(numbers: Float64, dtype: str) -> Float64:
    """Round numbers to the nearest ones of float16 or bfloat16, ties to even; inf beyond the largest."""
    if dtype == "float16":
        with np.errstate(over="ignore"):
            return numbers.astype(np.float16).astype(np.float64)
    # bfloat16 has 8 digits, and the exponents of float32
    _, exponent = np.frexp(numbers)
    exponent = np.maximum(exponent, -125)  # the smallest normal number is 2^-126; below it digits are lost
    with np.errstate(over="ignore"):
        result = np.ldexp(np.rint(np.ldexp(numbers, 8 - exponent)), exponent - 8)
    return np.where(np.abs(result) >= 2.0**128, np.copysign(np.inf, numbers), result)
