"""The fewest tokens for one target: heads whose control points move, and how many every head needs."""

from .api import shortest_head
from .lower import Cell as Cell
from .lower import LowerBound as LowerBound
from .lower import token_lower_bound
from .options import SearchOptions, TokenFormat
from .result import ShortestHead
from .rung import Rung as Rung

__all__ = ["SearchOptions", "ShortestHead", "TokenFormat", "shortest_head", "token_lower_bound"]
