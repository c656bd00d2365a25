"""The fewest tokens for one target: heads whose control points move."""

from .api import shortest_head
from .result import Rung, ShortestHead

__all__ = ["Rung", "ShortestHead", "shortest_head"]
