"""The one jit policy: cached where a cache folder can be written, no GIL, IEEE semantics, NumPy's division by zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile with the library's policy; `options` go to `numba.njit`."""
    if function is None:
        return lambda f: njit(f, **options)
    settings: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"} | options
    try:
        return numba.njit(**settings)(function)
    except RuntimeError as error:  # numba finds no folder that it may write its cache to
        if "cannot cache function" not in str(error):
            raise
        return numba.njit(**(settings | {"cache": False}))(function)
