"""Studies, tables, figures and pages of what was measured and proven, and the commands that write them.

Its parts are loaded when they are first used (PEP 562).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spherapprox import _extras

if TYPE_CHECKING:
    from . import makers, plot, rungs, shortest, study

__all__ = ["makers", "plot", "rungs", "shortest", "study"]


def __getattr__(name: str) -> Any:
    return _extras.load_submodule(__name__, name)


def __dir__() -> list[str]:
    return sorted(__all__)
