"""`Problem`: the arguments of a prefix length, checked once at the border."""

from __future__ import annotations

import math
from dataclasses import dataclass

from spherapprox import _checks

SMALLEST, WIDEST = 1e-60, 1e100
"""The range of lengths and ratios in which every formula keeps its digits."""
LARGEST_CONCENTRATION = 1e150
LARGEST_DIM = 1_000_000
LEAST_SLACK = 1e-12
LARGEST_DEGREE = 10**9


@dataclass(frozen=True)
class Problem:
    """A target class on S^m, an accuracy, and the free parameters of the theorems.

    `smoothness` is a Sobolev order here (4.7, 4.G), `second_derivative` the H that users give as smoothness (4.I, 4.J).
    """

    eps: float
    dim: int
    lipschitz: float = 1.0
    sup_norm: float = 1.0
    concentration: float | None = None
    covering: str = "best"
    ragozin: float | None = None
    harmonic: float = 1.0
    slack: float = 1e-3
    exponent: float = 1.0
    degree: int | None = None
    smoothness: float | None = None
    bits: float | None = None
    second_derivative: float | None = None

    @property
    def goal(self) -> float:
        """The modulus angle (eps/L)^(1/exponent), at most pi, over which the class varies by at most eps."""
        return math.exp(min(math.log(self.eps / self.lipschitz) / self.exponent, math.log(math.pi)))

    @classmethod
    def checked(
        cls, eps: object, dim: object, *, lipschitz: object = 1.0, sup_norm: object = 1.0, concentration: object = None,
        covering: str = "best", ragozin: object = None, harmonic: object = 1.0, slack: object = 1e-3,
        exponent: object = 1.0, degree: object = None, smoothness: object = None, bits: object = None,
        second_derivative: object = None,
    ) -> Problem:  # fmt: skip
        """Check every argument but the covering method, and make the problem."""
        unit = _positive(lipschitz, "lipschitz")
        share = _checks.real(slack, "slack", minimum=0.0, below=1.0)
        if 0.0 < share < LEAST_SLACK:
            raise ValueError(f"'slack' must be 0 or at least {LEAST_SLACK:g}, got {share:g}")
        return cls(
            _positive(eps, "eps", unit),
            _checks.dimension(dim, maximum=LARGEST_DIM),
            unit,
            _positive(sup_norm, "sup_norm", unit),
            None if concentration is None else _checks.concentration(concentration, maximum=LARGEST_CONCENTRATION),
            covering,
            None if ragozin is None else _positive(ragozin, "ragozin"),
            _positive(harmonic, "harmonic"),
            share,
            _checks.real(exponent, "exponent", above=0.0, maximum=1.0),
            None if degree is None else _checks.integer(degree, "degree", minimum=0, maximum=LARGEST_DEGREE),
            None if smoothness is None else _checks.real(smoothness, "smoothness", above=0.0, maximum=1e6),
            None if bits is None else _checks.real(bits, "bits", minimum=1.0, maximum=1e12),
            None if second_derivative is None else _positive(second_derivative, "smoothness", unit),
        )


def _positive(value: object, name: str, unit: float = 1.0) -> float:
    """Return a positive number between `SMALLEST` and `WIDEST`, in the unit that the Lipschitz constant sets."""
    number = _checks.real(value, name, above=0.0)
    if not SMALLEST <= number / unit <= WIDEST:
        per = "" if unit == 1.0 else f" times lipschitz = {unit:g}"
        raise ValueError(f"'{name}' must be between {SMALLEST:g} and {WIDEST:g}{per}, got {number:g}")
    return number
