"""`certified`: a proven enclosure of a prefix length, at the free parameters that float64 chose."""

from __future__ import annotations

import math

import mpmath

from spherapprox import _checks
from spherapprox._loading import load

from .. import theorems
from ..records.bound import Bound
from ..records.enclosure import Enclosure
from ..records.problem import Problem
from ._balls import DIGITS, digits_of, widened
from ._proofs import PROOFS
from ._radii import Proof

THEOREMS = {theorem.name: theorem for theorem in theorems.LADDER if theorem.count}
"""The theorems that can be certified."""


def certified(bound: Bound, problem: Problem, digits: int = DIGITS) -> Enclosure:
    """Enclose the natural logarithm of a prefix length that float64 computed.

    Parameters
    ----------
    bound : Bound
        What a theorem's function returned for the problem.
    problem : Problem
        The checked arguments.
    digits : int
        Digits of the logarithm, 1 to 1e5; 13 is what float64 keeps.

    Returns
    -------
    Enclosure
        Of the theorem's log N at the bound's free parameters (concentration, eta, degree, ...), each of which is valid.
        Its ends lie ``10^-digits max(1, |log N|)`` beyond what is proved, so that a result right to rounding is inside;
        farther where a root is so ill-conditioned that float64 has fewer digits. The trivial value where the
        hypotheses fail.

    Raises
    ------
    CertificationError
        When the hypotheses or the value cannot be proved.
    ValueError
        For a bound of another kind, or if `digits` is out of range.

    References
    ----------
    F. Johansson, Arb: efficient arbitrary-precision midpoint-radius interval arithmetic, IEEE Trans. Comput. 66, 2017.

    Examples
    --------
    >>> from bounds import prefix_length, theorems
    >>> printed = theorems.state("thesis-core", jackson_constant=1)
    >>> bound = prefix_length(0.1, dim=8, theorem=printed, certified=True)
    >>> print(bound.enclosure.log10)
    [667.9885694220461, 667.9885694221798]
    """
    _checks.instance(bound, "bound", Bound)
    if bound.quantity != "prefix length" or bound.theorem not in THEOREMS:
        raise ValueError(f"'{bound.theorem}' ({bound.quantity}) has no proof in ball arithmetic")
    decimals = digits_of(digits)
    if not bound.holds or not math.isfinite(bound.log):
        return Enclosure(mpmath.mpf(bound.log), mpmath.mpf(bound.log))
    # the proof has the name of the theorem's file, or of its folder: of a frame, or of the module here
    room = getattr(THEOREMS[bound.theorem].count, "__module__", "").removeprefix(f"{theorems.__name__}.").split(".")[0]
    proof: Proof = PROOFS[room] if room in PROOFS else load(f"{__package__}.{room}").prove
    return widened(proof(bound, problem, decimals), decimals)
