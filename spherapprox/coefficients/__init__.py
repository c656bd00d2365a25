"""Rules for the coefficients of a head, from a target's values at the control points."""

from .conditioning import well_conditioned_concentration
from .rules import CORE_RULES, SPLIT_RULES, core_values, split_values

__all__ = ["CORE_RULES", "SPLIT_RULES", "core_values", "split_values", "well_conditioned_concentration"]
