"""Public names that are loaded late or need an optional package, for a package's `__getattr__` (PEP 562)."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any

from . import _loading


def installed(package: str) -> bool:
    """Tell whether a package can be found; finders that refuse, and stand-ins without a spec, count as none."""
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def load(module: str, name: str | None = None) -> Any:
    """Return a module that needs an extra, or an attribute of it.

    Where the extra is missing, ``from spherapprox import name`` raises the ImportError that says what to install;
    plain access raises AttributeError with the same words, so that `hasattr` and `inspect.getmembers` work.
    """
    try:
        home = _loading.load(module)
        return home if name is None else getattr(home, name)
    except ImportError as error:
        frame = sys._getframe(1)
        while frame.f_back and frame.f_globals is globals():
            frame = frame.f_back
        if frame.f_back and frame.f_back.f_code.co_name == "_handle_fromlist":  # importlib, for `from ... import`
            raise
        raise AttributeError(str(error)) from error


def load_submodule(package: str, name: str) -> Any:
    """Return a public submodule that is asked for as an attribute; AttributeError where there is none."""
    if name.startswith("_") or not installed(f"{package}.{name}"):
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    return load(f"{package}.{name}")
