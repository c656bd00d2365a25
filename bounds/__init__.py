"""Theorems on approximation by attention heads on the sphere, stated as numbers, and achieved errors held against them.

`report` measures heads with a growing prefix on one target and holds them against all of this; it has the tables and
figures of the ladder and of searches for the fewest tokens, too. `prompts` counts what prompts of other models can do.
Names are loaded when they are first used (PEP 562).
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from spherapprox import _extras
from spherapprox._loading import load as _load

if TYPE_CHECKING:
    from . import prompts, report
    from .api import concentration, ladder, prefix_length
    from .covering import covering_number
    from .error import best_concentration, error_bound
    from .records import Bound
    from .validation import validate

_HOME = {
    "Bound": "records",
    "best_concentration": "error",
    "concentration": "api",
    "covering_number": "covering",
    "error_bound": "error",
    "ladder": "api",
    "prefix_length": "api",
    "validate": "validation",
}
_MODULES = ("certify", "covering", "error", "jackson", "pointwise", "records", "theorems", "validation")
"""One level down, in the reference."""

__all__ = [
    "Bound",
    "best_concentration",
    "concentration",
    "covering_number",
    "error_bound",
    "ladder",
    "prefix_length",
    "prompts",
    "report",
    "validate",
]


class _Package(ModuleType):
    """The package, with the table of theorems in its docstring, loaded where it is read."""

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return f"{vars(self)['__doc__']}\n{_load('bounds.theorems').table()}\n"


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(_load(f"{__name__}.{_HOME[name]}"), name)
    return _extras.load_submodule(__name__, name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})
