"""Guards of what is called and written into: a user's functions, and arrays for results."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import Floats
from .arrays import detached, is_masked, is_vector
from .scalars import wrong_type


def callable_(value: object, name: str) -> None:
    """Check that `value` can be called."""
    if not callable(value):
        remedy = "heads of values at points are fitted, CoreHead.fit(x, y), and compared with them, head(x) - y"
        raise wrong_type(value, name, "callable", remedy=remedy if is_vector(value) and name in ("target", "f") else "")


def called(function: Any, x: Floats) -> Any:
    """Evaluate a user's function at a copy of points, into which it may write."""
    try:
        return detached(function(x.copy()))
    except (IndexError, TypeError, ValueError) as error:
        if str(getattr(function, "__module__", "")).partition(".")[0] in ("spherapprox", "bounds"):
            raise  # a complaint of our own
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(
            f"'function' failed on rows of shape {x.shape}: {error}; it takes all points at once, x[:, j] is a "
            "coordinate of each, and np.vectorize(function, signature='(d)->()') takes them one by one"
        ) from error


def destination(out: object, shape: tuple[int, ...]) -> Any:
    """Return an array that a kernel can write a result of this shape into as it is."""
    if not isinstance(out, np.ndarray):
        raise wrong_type(out, "out", "a NumPy array")
    if is_masked(out):  # whose mask a kernel does not lift
        raise ValueError("'out' must not have masked elements, which the result would not show: pass out.data")
    flags = out.flags
    if out.shape != shape or out.dtype != np.float64 or not flags.carray:
        raise ValueError(
            f"'out' must be a writeable, C-contiguous array of shape {shape} and float64, got shape {out.shape} and "
            f"{out.dtype}, writeable: {flags.writeable}, C-contiguous: {flags.c_contiguous}; "
            f"np.empty({shape}, 'float64') makes one"
        )
    return out
