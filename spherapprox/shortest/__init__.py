"""The fewest tokens for one target: heads whose control points move, and how many every head needs."""

from .api import shortest_head
from .lower import Cell, LowerBound, token_lower_bound
from .result import ShortestHead
from .rung import Rung

__all__ = ["Cell", "LowerBound", "Rung", "ShortestHead", "shortest_head", "token_lower_bound"]
