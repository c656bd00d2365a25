"""The core head at centroids, 4.D, in ball arithmetic."""

from __future__ import annotations

from ..records.bound import Bound
from ..records.enclosure import Enclosure
from ..records.problem import Problem
from ._moments import centroid_variation
from ._variation import prove_variation


def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Prove L E[theta^alpha] + L rho^alpha + F D2 <= eps (4.D)."""
    return prove_variation(bound, problem, digits, centroid_variation)
