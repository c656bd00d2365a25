"""Attention heads as approximations: control points, values and a concentration, callable on points of the sphere."""

from .classical import ClassicalHead
from .core import CoreHead
from .split import SplitHead

__all__ = ["ClassicalHead", "CoreHead", "SplitHead"]
