"""Attention heads as approximations: control points, values and a concentration, callable on points of the sphere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _extras
from .._loading import load as _load

if TYPE_CHECKING:
    from .classical import ClassicalHead
    from .core import CoreHead
    from .split import SplitHead

__all__ = ["ClassicalHead", "CoreHead", "SplitHead"]

HOMES = {"CoreHead": "core", "SplitHead": "split", "ClassicalHead": "classical"}
"""Kinds of head, each with its module: the list from which `registry` and the public names are derived."""
ESTIMATORS = ("HeadRegressor",)
"""scikit-learn's faces of heads, in estimators.py."""


def __getattr__(name: str) -> Any:
    if name in HOMES:
        return getattr(_load(f"{__name__}.{HOMES[name]}"), name)
    if name in ESTIMATORS:
        return _extras.load(f"{__name__}.estimators", name)
    return _extras.load_submodule(__name__, name)


def __dir__() -> list[str]:
    return sorted(__all__)
