"""The lower bound for tokens of b bits, 4.E (bits), in ball arithmetic."""

from __future__ import annotations

from flint import arb

from ..records.bound import Bound
from ..records.enclosure import Enclosure
from ..records.problem import Problem
from ._balls import enclose
from ._degrees import constant
from ._floor import separated


def prove(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    """Enclose M/b, b the bits of a token (4.E, bits)."""
    assert bound.radius is not None
    bits, points = constant(bound, "bits"), separated(problem, bound.radius)
    return enclose(lambda: (points() - arb(bits).log()).max(0), digits + 2)
