"""What the proof of an upper bound may take."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from .. import _checks


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
    """Return what a proof may take, None if none is asked for."""
    if isinstance(certified, Proof):
        return certified
    if not isinstance(certified, bool | np.bool_):
        raise _checks.wrong_type(certified, "certified", "True or False, or a Proof")
    return default if certified else None
