"""Lower bounds of the number of tokens for one target."""

from .api import LowerBound, token_lower_bound
from .cells import Cell

__all__ = ["Cell", "LowerBound", "token_lower_bound"]
