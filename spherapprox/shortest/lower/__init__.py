"""Lower bounds of the number of tokens for one target."""

from .api import LowerBound as LowerBound
from .api import token_lower_bound as token_lower_bound
from .cells import Cell as Cell
