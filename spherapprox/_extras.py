"""Public names that need an optional package, for a package's `__getattr__` (PEP 562)."""

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


def load(module: str, name: str) -> Any:
    """Return an attribute of a module that needs an extra.

    Where the extra is missing, ``from spherapprox import name`` raises the ImportError that says what to install;
    plain access raises AttributeError with the same words, so that `hasattr` and `inspect.getmembers` work.
    """
    try:
        return getattr(_loading.load(module), name)
    except ImportError as error:
        if sys._getframe(2).f_code.co_name == "_handle_fromlist":  # importlib asks on behalf of `from ... import`
            raise
        raise AttributeError(str(error)) from error
