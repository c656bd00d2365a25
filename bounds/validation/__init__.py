"""One head and its target, held against every theorem that applies to them."""

from .api import validate
from .check import Check
from .claims import Claim
from .verdicts import Validation

__all__ = ["Check", "Claim", "Validation", "validate"]
