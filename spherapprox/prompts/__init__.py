"""What prompts and prefixes make a fixed model do: prefixes of frozen layers, heads of several tokens, programs.

Stands on the rest of `spherapprox`, which knows nothing of it. Its parts are loaded when they are first used (PEP 562).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _extras

if TYPE_CHECKING:
    from . import contextual, executor, prefix, recurrent, sequences

__all__ = ["contextual", "executor", "prefix", "recurrent", "sequences"]


def __getattr__(name: str) -> Any:
    return _extras.load_submodule(__name__, name)


def __dir__() -> list[str]:
    return sorted(__all__)
