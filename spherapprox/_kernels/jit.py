"""The one jit policy: kept in the user's cache folder, no GIL, IEEE semantics, NumPy's division by zero.

The folder lies outside the package, where pip would leave it behind, and is named after the state of all sources that
are compiled. It is used only if nobody else can write to it: what it holds is code.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite  # type: ignore[import-untyped]
import numba
import platformdirs
from numba import types
from numba.core.typing.templates import infer_global

from .._loading import WINGS
from . import trust
from .store import Store, warn

_config: Any = numba.config
_compiled: list[Any] = []  # numba's types refer to them weakly


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile with the library's policy; `options` go to `numba.njit`."""
    if function is None:
        return lambda f: njit(f, **options)
    settings: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True} | options
    dispatcher = numba.njit(**settings)(function)
    dispatcher._cache = Store(function, cache_folder())
    return dispatcher


def subroutine(function: Callable[..., Any], **options: Any) -> Any:
    """Compile for calls from kernels only, which takes less time; Python keeps the plain function."""
    dispatcher = njit(function, no_cpython_wrapper=True, **options)
    _compiled.append(dispatcher)
    infer_global(function, types.Dispatcher(dispatcher))  # type: ignore[no-untyped-call]
    return function


@cache
def cache_folder() -> Path | None:
    """Return the folder of compiled kernels, made if need be, or None where there can be none that is the user's."""
    root = _config.CACHE_DIR or platformdirs.user_cache_dir("spherapprox", appauthor=False)
    state = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__} {sys.version}".encode())
    package = Path(__file__).parents[1]
    # the functions that a kernel calls are compiled into it
    for compiled in ("_kernels", "_scalars", *(f"{wing}/_kernels" for wing in WINGS)):
        for source in sorted((package / compiled).rglob("*.py")):
            state.update(source.read_bytes())
    folder = Path(root).absolute() / f"kernels-{state.hexdigest()[:16]}"
    try:
        trust.make_folder(folder)
        shared = trust.shared_place(folder)
    except OSError:
        return None
    if shared is None:
        return folder if os.access(folder, os.R_OK | os.X_OK) else None
    warn("shared", f"no compiled kernels are read from '{folder}' or kept there, as other users can change '{shared}': "
         "take that from them (chown, chmod go-w), or name another folder in NUMBA_CACHE_DIR")  # fmt: skip
    return None
