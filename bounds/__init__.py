"""Theorems on approximation by attention heads on the sphere, stated as numbers, and achieved errors held against them.

========================  ==========================================================================
theorem                   what it promises
========================  ==========================================================================
thesis-core               Petrov (2025), Theorem 4.12: core head, dim >= 8
thesis-vector             Theorem 4.14: core head, m+1 components
thesis-split              Theorem 4.15 as printed: split head (its proof has a gap)
thesis-split-corrected    Theorem 4.15 with the proof repaired
sharp-core                docs/theorems.md, 4.3: core head on any partition
sharp-split-mean          4.4 (mean): split head on equal-measure cells
sharp-split-nearest       4.4 (nearest): split head on any points with a covering radius
sharp-split               the smallest of the split ones
lower                     4.5: no scheme that samples at N points does better for every target
========================  ==========================================================================
"""

from __future__ import annotations

from ._bound import Bound, Hypothesis, HypothesisError
from .api import best_concentration, concentration, error_bound, ladder, prefix_length
from .covering import covering_number
from .validate import Check, Validation, validate

__all__ = [
    "Bound",
    "Check",
    "Hypothesis",
    "HypothesisError",
    "Validation",
    "best_concentration",
    "concentration",
    "covering_number",
    "error_bound",
    "ladder",
    "prefix_length",
    "validate",
]
