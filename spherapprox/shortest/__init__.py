"""The fewest tokens for one target: heads whose control points move, and how many every head needs."""

from .api import shortest_head
from .lower import Cell, LowerBound, token_lower_bound
from .options import SearchOptions, TokenFormat
from .result import ShortestHead
from .rung import Rung

__all__ = [
    "Cell",
    "LowerBound",
    "Rung",
    "SearchOptions",
    "ShortestHead",
    "TokenFormat",
    "shortest_head",
    "token_lower_bound",
]
