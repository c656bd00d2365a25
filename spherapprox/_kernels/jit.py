"""The one jit policy: cached in the user's cache folder, no GIL, IEEE semantics, NumPy's division by zero.

The cache lies outside the package, where pip would leave it behind, in a folder named after the state of all kernel
sources: numba itself watches only the file of the compiled function, not those of the functions that it calls.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numba
import platformdirs

_config: Any = numba.config


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile with the library's policy; `options` go to `numba.njit`."""
    if function is None:
        return lambda f: njit(f, **options)
    settings: dict[str, Any] = {"nogil": True, "error_model": "numpy"} | options
    folder = cache_folder()
    with _cache_in(folder):
        return numba.njit(cache=folder is not None, **settings)(function)


@cache
def cache_folder() -> Path | None:
    """Return the folder of compiled kernels, made if need be, or None where none can be written."""
    root = _config.CACHE_DIR or platformdirs.user_cache_dir("spherapprox", appauthor=False)
    state = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        state.update(source.read_bytes())
    folder = Path(root) / f"kernels-{state.hexdigest()[:16]}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder if os.access(folder, os.W_OK | os.X_OK) else None


@contextmanager
def _cache_in(folder: Path | None) -> Iterator[None]:
    """Let numba cache what is compiled meanwhile in a folder of ours."""
    before = _config.CACHE_DIR
    _config.CACHE_DIR = before if folder is None else str(folder)
    try:
        yield
    finally:
        _config.CACHE_DIR = before
