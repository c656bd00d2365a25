"""Functions of numbers: modified Bessel functions in logarithms and ratios, cap measures, Gegenbauer polynomials.

All broadcast like NumPy ufuncs and compute in float64. Scalars in give a float out; a real argument that is nan gives
nan, integers have to be integers. Scalars run as plain Python; so do arrays until about `COMPILE_FROM` elements were
asked for, then as compiled loops of the same formulas, to the same bits.

In functions compiled by numba's ``njit`` they can be called on integers and floats, as they are written here:

>>> import numba
>>> from spherapprox import special
>>> @numba.njit
... def mean_cosine(dim, concentration):
...     return special.iv_ratio((dim - 1) / 2, concentration)
>>> round(mean_cosine(2, 10.0), 12)
0.900000004122
"""

from __future__ import annotations

import sys

from .bessel import iv_ratio, iv_ratio_complement, iv_ratio_inverse, log_iv, log_iv_ratio
from .caps import cap_angle, log_cap_measure, log_surface_area
from .dispatch import COMPILE_FROM as COMPILE_FROM
from .zonal import (
    gegenbauer,
    gegenbauer_derivative,
    gegenbauer_derivative_bound,
    gegenbauer_lipschitz,
    gegenbauer_max_zero,
    gegenbauer_max_zero_angle,
)

__all__ = [
    "cap_angle",
    "gegenbauer",
    "gegenbauer_derivative",
    "gegenbauer_derivative_bound",
    "gegenbauer_lipschitz",
    "gegenbauer_max_zero",
    "gegenbauer_max_zero_angle",
    "iv_ratio",
    "iv_ratio_complement",
    "iv_ratio_inverse",
    "log_cap_measure",
    "log_iv",
    "log_iv_ratio",
    "log_surface_area",
]


def _extend_numba() -> None:
    """Make this module's functions callable on numbers in compiled code (numba's entry point `numba_extensions`)."""
    from .._kernels.scalars import overloads

    overloads.install(sys.modules[__name__])
