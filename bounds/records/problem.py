"""`Problem`: the arguments of a theorem, checked once at the border."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from spherapprox import _checks

SMALLEST, WIDEST = 1e-60, 1e100
"""The range of lengths and ratios in which every formula keeps its digits."""
LARGEST_CONCENTRATION = 1e150
LARGEST_DIM = 1_000_000
LEAST_SLACK = 1e-12
LARGEST_DEGREE = 10**9


@dataclass(frozen=True)
class Problem:
    """A target class on S^m, an accuracy, and the options of a theorem.

    `smoothness` is H, a bound of second derivatives along unit-speed geodesics (4.I, 4.J). Error forms use no `eps`,
    and read a sup norm of inf where none is known.
    """

    eps: float
    dim: int
    lipschitz: float = 1.0
    sup_norm: float = 1.0
    exponent: float = 1.0
    smoothness: float | None = None
    concentration: float | None = None
    covering: str = "best"
    slack: float = 1e-3
    jackson_constant: float | None = None
    harmonic_constant: float = 1.0
    degree: int | None = None
    sobolev_order: float | None = None
    bits: float | None = None

    @property
    def goal(self) -> float:
        """The modulus angle (eps/L)^(1/exponent), at most pi, over which the class varies by at most eps."""
        return math.exp(min(math.log(self.eps / self.lipschitz) / self.exponent, math.log(math.pi)))

    @property
    def fixed_concentration(self) -> float:
        """The concentration of a head, 0 where none is fixed."""
        return self.concentration or 0.0

    @classmethod
    def checked(
        cls, eps: object, dim: object, *, lipschitz: object = 1.0, sup_norm: object = 1.0, exponent: object = 1.0,
        smoothness: object = None, **options: Any,
    ) -> Problem:  # fmt: skip
        """Check the accuracy and the class, and make the problem; the options are checked where theorems are stated."""
        unit = positive(lipschitz, "lipschitz")
        return cls(
            positive(eps, "eps", unit),
            _checks.dimension(dim, maximum=LARGEST_DIM),
            unit,
            positive(sup_norm, "sup_norm", unit),
            _checks.real(exponent, "exponent", above=0.0, maximum=1.0),
            None if smoothness is None else positive(smoothness, "smoothness", unit),
            **options,
        )


def positive(value: object, name: str, unit: float = 1.0) -> float:
    """Return a positive number between `SMALLEST` and `WIDEST`, in the unit that the Lipschitz constant sets."""
    number = _checks.real(value, name, above=0.0)
    if not SMALLEST <= number / unit <= WIDEST:
        per = "" if unit == 1.0 else f" times lipschitz = {unit:g}"
        raise ValueError(f"'{name}' must be between {SMALLEST:g} and {WIDEST:g}{per}, got {number:g}")
    return number
