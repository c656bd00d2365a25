"""What a theorem is asked and answers: problems, enclosures, bounds, and its record."""

from .bound import Bound, Hypothesis, HypothesisError
from .theorem import Prefix, Statement

__all__ = ["Bound", "Hypothesis", "HypothesisError", "Prefix", "Statement"]
