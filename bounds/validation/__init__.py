"""One head and its target, held against every theorem that applies to them."""

from .api import validate
from .check import Check
from .claims import Claim
from .judgement import Proof
from .verdicts import Validation

__all__ = ["Check", "Claim", "Proof", "Validation", "validate"]
