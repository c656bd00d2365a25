"""The record of a proof that an error is nowhere larger than a number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Certificate:
    """A proof by branch and bound that a sup error is at most a number, or why there is none.

    Parameters
    ----------
    upper : float
        The proven bound; inf if nothing was proven.
    reason : str
        Why the slack asked for was not reached, and what helps; empty if it was.
    slack : float
        The slack reached: `upper` is ``(1 + slack)`` times the largest error seen; inf if nothing was proven.
    tests : tuple of str
        The tests that cells passed, "Riesz" (by polynomials) and "Taylor" (by derivatives at the centre, or by the
        values near it): docs/theorems/6.5-certified-error.md. Empty where `upper` is no more than the triangle
        inequality gives, the sum of the suprema.
    degree : int or None
        Degree of the polynomials of Riesz's test, None where it was not used.
    tail : float
        What the parts of the head beyond that degree add to the error, at most; included in `upper`.
    rounding : float
        Bound of the error of the errors' evaluation, the target's stated accuracy included; included in `upper`.
    evaluations : int
        Cells at whose centres the error was evaluated, over all attempts.
    cells : mapping
        Number of cells passed by each test in the attempt that succeeded.
    finest : float
        Radius of the smallest cell in that attempt, in radians.
    constants : mapping
        The target's constants that the proof rests on, with their origins: "derived", "given" or "estimated".

    Examples
    --------
    >>> from spherapprox import EqualMeasurePartition, SplitHead, sup_error, targets
    >>> wave = targets.zonal_harmonic(2, 3)
    >>> head = SplitHead.from_target(wave, EqualMeasurePartition(2, 300), 40.0)
    >>> certificate = sup_error(head, wave, certified=True, n=1000).certificate
    >>> certificate.proven, certificate.slack <= 0.05, dict(certificate.constants)["degree"]
    (True, True, 'derived')
    """

    upper: float
    reason: str
    slack: float
    tests: tuple[str, ...] = ()
    degree: int | None = None
    tail: float = 0.0
    rounding: float = 0.0
    evaluations: int = 0
    cells: Mapping[str, int] = field(default_factory=dict)
    finest: float = 0.0
    constants: Mapping[str, str] = field(default_factory=dict)

    @property
    def proven(self) -> bool:
        """Whether an upper bound was proven, whatever its slack."""
        return self.upper < float("inf")

    @property
    def estimated(self) -> tuple[str, ...]:
        """The constants that are estimates, so that the proof is one only if they are right."""
        return tuple(name for name, origin in self.constants.items() if origin == "estimated")
