"""`PointwiseTheorem`: the record of a theorem that bounds the error of a given split head at each point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from spherapprox._types import Float64
from spherapprox.harmonics import TangentDerivatives
from spherapprox.summation import TangentMoments
from spherapprox.target import Target


class Expansion(NamedTuple):
    """The moments of a head's weights at points x, and the target's derivatives there where they are wanted."""

    moments: TangentMoments
    derivatives: TangentDerivatives | None


@dataclass(frozen=True)
class PointwiseTheorem:
    """One theorem on ``|f(x) - h(x)|`` for a split head with values f(b_k).

    `name`, `reference` and `statement` are as in `Theorem`, `constants` the attributes of the target that it needs;
    `bound` maps (target, expansion) to bounds of the errors, (n,), and `local` tells whether it needs the target's
    derivatives at x, which polynomials have here.
    """

    name: str
    reference: str
    statement: str
    constants: tuple[str, ...]
    bound: Callable[[Target, Expansion], Float64]
    local: bool = False

    def lack(self, target: Target) -> str:
        """Return what a target lacks for the theorem, in words, empty for nothing."""
        missing = [name for name in self.constants if getattr(target, name) is None]
        if target.exponent != 1.0 and "lipschitz" in self.constants:
            missing.append("exponent=1")
        if missing:
            return f"the target's {' and '.join(missing)} (targets.with_constants proves them for polynomials)"
        if self.local and (target.degree is None or target.remainder):
            return "a target with a degree and no remainder, whose derivatives are known"
        return ""
