"""One head and its target, held against every theorem that applies to them."""

from .api import validate
from .check import Check as Check
from .claims import Claim as Claim
from .verdicts import Validation as Validation

__all__ = ["validate"]
