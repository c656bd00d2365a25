"""A pytest plugin, ``-p noise``: each result of a LAPACK routine is off by one rounding, as on some other machine.

What fails with it asserts roundings, or what a search made of them. NOISE_SEED chooses the roundings, which are the
same for the same numbers, so that what is repeatable stays so.
"""

import os
import zlib
from functools import wraps

import numpy as np
import scipy.linalg

ROUTINES = {
    np.linalg: "cholesky eigh eigvalsh inv lstsq pinv qr solve svd",
    scipy.linalg: "cho_factor cho_solve cholesky eigh eigh_tridiagonal inv lstsq lu_factor lu_solve qr solve "
    "solve_triangular svd svdvals",
}


def rounded(result):
    """Return a result with the last bits of its numbers moved; tuples keep their type."""
    if isinstance(result, tuple):
        parts = [rounded(part) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)
    if not (isinstance(result, np.ndarray) and result.dtype == np.float64 and result.size):
        return result
    seed = int(os.environ.get("NOISE_SEED", "1"))
    rng = np.random.default_rng([seed, zlib.crc32(np.ascontiguousarray(result))])
    return result * (1.0 + rng.integers(-1, 2, result.shape) * 2.0**-52)


def with_noise(routine):
    """Return a routine whose results are `rounded`."""

    @wraps(routine)
    def call(*args, **options):
        return rounded(routine(*args, **options))

    return call


def pytest_configure():
    """Replace the routines; a module that is imported for its doctests alone changes none."""
    for module, names in ROUTINES.items():
        for name in names.split():
            setattr(module, name, with_noise(getattr(module, name)))
