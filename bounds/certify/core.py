"""The core head on any partition, 4.3, in ball arithmetic."""

from __future__ import annotations

from ..records.bound import Bound
from ..records.enclosure import Enclosure
from ..records.problem import Problem
from ._moments import shift_variation
from ._variation import prove_variation


def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Prove L E[theta^alpha] + L rho^alpha + F D <= eps (4.3)."""
    return prove_variation(bound, problem, digits, shift_variation)
