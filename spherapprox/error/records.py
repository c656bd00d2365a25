"""Records of errors: an interval with its proof, and what a proof may take."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from .. import _checks
from .._types import Float64


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


@dataclass(frozen=True, eq=False)
class ErrorInterval:
    """Enclose a sup error between the largest error seen and an upper bound, which is proven or inf.

    Parameters
    ----------
    lower : float
        The largest error seen.
    upper : float
        No error is larger; inf unless certified.
    at : ndarray, shape (dim+1,)
        The point where `lower` was seen.
    certificate : Certificate, optional
        The proof of `upper`, or why there is none; None if none was asked for.
    """

    lower: float
    upper: float
    at: Float64
    certificate: Certificate | None = None

    @property
    def reason(self) -> str:
        """Why `upper` is no better; empty where the slack asked for was reached."""
        return "no certificate was asked for: certified=True" if self.certificate is None else self.certificate.reason


@dataclass(frozen=True)
class Proof:
    """How near a proven upper bound of an error is to be, and what it may take.

    Parameters
    ----------
    slack : float, default 0.05
        The proven bound exceeds the largest error seen by this share at most; from 1e-4 to 16.
    max_evaluations : float, default 2e7
        Cells that may be tested, at least 1000. Where they do not suffice a larger slack is tried, to 16 at most, and
        `reason` says so. A first estimate is ``2 (m+1) (n sqrt(m))^m`` for a degree n of head and target together.
    checkpoint : str or os.PathLike, optional
        A file to which the state of the proof is written every ten seconds, and when it is interrupted; a call with the
        same arguments goes on from there. It is removed at the end.
    progress : bool, default False
        Show a progress bar.

    Examples
    --------
    >>> from spherapprox import CoreHead, sup_error, targets
    >>> from spherapprox.error import Proof
    >>> wave = targets.zonal_harmonic(2, 3)
    >>> interval = sup_error(CoreHead([[0.0, 0.0, 1.0]], [0.0], 1.0), wave, certified=Proof(slack=0.01))
    >>> 1.0 <= interval.upper <= 1.01
    True
    """

    slack: float = 0.05
    max_evaluations: float = 2e7
    checkpoint: str | os.PathLike[str] | None = None
    progress: bool = False


def as_proof(certified: bool | Proof, default: Proof) -> Proof | None:
    """Return the options of a proof, None if none is asked for."""
    if isinstance(certified, Proof):
        return certified
    if not isinstance(certified, bool | np.bool_):
        raise _checks.wrong_type(certified, "certified", "True or False, or a Proof")
    return default if certified else None
