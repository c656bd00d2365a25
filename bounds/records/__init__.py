"""What a theorem is asked and answers: problems, enclosures, bounds, and its record."""

from .bound import Bound as Bound
from .bound import Hypothesis as Hypothesis
from .bound import HypothesisError
from .theorem import Prefix
from .theorem import Statement as Statement

__all__ = ["HypothesisError", "Prefix"]
