"""What a theorem is asked and answers: problems, enclosures, bounds, and its record."""

from .bound import Bound, Hypothesis, HypothesisError
from .problem import Problem
from .theorem import Prefix, Statement, Theorem

__all__ = ["Bound", "Hypothesis", "HypothesisError", "Prefix", "Problem", "Statement", "Theorem"]
