"""Attention heads as approximations: control points, values and a concentration, callable on points of the sphere."""

from typing import TYPE_CHECKING, Any

from .. import _extras
from .classical import ClassicalHead
from .core import CoreHead
from .split import SplitHead

if TYPE_CHECKING:
    from .regressor import HeadRegressor as HeadRegressor

__all__ = ["ClassicalHead", "CoreHead", "SplitHead"]


def __getattr__(name: str) -> Any:
    if name == "HeadRegressor":
        return _extras.load(f"{__name__}.regressor", name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
