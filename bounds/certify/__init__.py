"""The bounds' numbers as enclosures in ball arithmetic: two exact numbers between which each is proven to lie.

`certified` encloses what `bounds.prefix_length` returned.
"""

from __future__ import annotations

from typing import Any

from spherapprox import _checks, _extras

with _checks.needs("python-flint", "bounds.certify", "certify"):
    import flint  # noqa: F401

from ..records.enclosure import CertificationError as CertificationError
from ..records.enclosure import Enclosure as Enclosure
from ._certified import THEOREMS as THEOREMS
from ._certified import certified

__all__ = ["certified"]


def __getattr__(name: str) -> Any:
    return _extras.load_submodule(__name__, name)


def __dir__() -> list[str]:
    return sorted(__all__)
