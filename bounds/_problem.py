"""`Problem`: what a bound is asked for, checked once at the border."""

from __future__ import annotations

from dataclasses import dataclass

from spherapprox import _checks

from .covering import METHODS

SUFFICIENT = tuple(method for method in METHODS if method != "lower")
"""Covering bounds that a prefix length may rest on."""


@dataclass(frozen=True)
class Problem:
    """A target class on S^m, the accuracy wanted, and the choices left to the user."""

    eps: float
    dim: int
    lipschitz: float = 1.0
    sup_norm: float = 1.0
    concentration: float | None = None
    covering: str = "best"
    ragozin: float | None = None
    harmonic: float = 1.0
    slack: float = 1e-3

    @classmethod
    def checked(
        cls,
        eps: object,
        dim: object,
        *,
        lipschitz: object = 1.0,
        sup_norm: object = 1.0,
        concentration: object = None,
        covering: str = "best",
        ragozin: object = None,
        harmonic: object = 1.0,
        slack: object = 1e-3,
    ) -> Problem:
        """Check every argument and make the problem."""
        return cls(
            _checks.real(eps, "eps", above=0.0),
            _checks.dimension(dim),
            _checks.real(lipschitz, "lipschitz", above=0.0),
            _checks.real(sup_norm, "sup_norm", above=0.0),
            None if concentration is None else _checks.concentration(concentration),
            _checks.choice(covering, "covering", SUFFICIENT),
            None if ragozin is None else _checks.real(ragozin, "ragozin", above=0.0),
            _checks.real(harmonic, "harmonic", above=0.0),
            _checks.real(slack, "slack", minimum=0.0, below=1.0),
        )
