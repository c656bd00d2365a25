"""`certified`: a proven enclosure of what a theorem promises, at the free parameters that float64 chose."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath
from flint import arb

from .._bound import Bound
from .._problem import Problem
from . import chance, degrees, floors, printed, radii
from .enclosure import DIGITS, ZERO, CertificationError, Enclosure, enclose, hull, sign, widened

Proof = Callable[[Bound, Problem, int], Enclosure]
"""(float64's bound, its problem, digits) -> enclosure of log N."""


def _printed(bound: Bound, problem: Problem, digits: int) -> Enclosure:
    printed.check(bound.theorem, problem, digits)
    return enclose(lambda: printed.log_count(bound.theorem, problem, digits), digits + 2)


_PROOFS: dict[str, Proof] = {
    "thesis-core": _printed,
    "thesis-vector": _printed,
    "thesis-split": _printed,
    "thesis-split-corrected": _printed,
    "sharp-core": radii.core,
    "sharp-core-centroid": radii.core,
    "sharp-split-mean": radii.mean,
    "sharp-split-equal": radii.equal,
    "sharp-split-pack": radii.pack,
    "sharp-split-nearest": radii.nearest,
    "sharp-split-random": chance.random,
    "sharp-core-quadrature": degrees.quadrature,
    "sharp-core-spectral": degrees.polynomials,
    "sharp-core-interpolation": degrees.polynomials,
    "sharp-core-rank": degrees.polynomials,
    "lower": floors.sampling,
    "lower-bits": floors.without_sampling,
    "lower-continuous": floors.without_sampling,
    "lower-any": floors.any_reals,
}


THEOREMS = tuple(_PROOFS)
"""The theorems that can be certified."""

_MEANS = ("sharp-core-quadrature", "sharp-core-spectral", "sharp-core-interpolation", "sharp-core-rank")


def certified(bound: Bound, problem: Problem, digits: int = DIGITS) -> Enclosure:
    """Prove what float64 computed: enclose the natural logarithm of a prefix length.

    Parameters
    ----------
    bound : Bound
        What a theorem's function returned for the problem.
    problem : Problem
        The checked arguments.
    digits : int
        Digits of the logarithm; 13 is what float64 keeps.

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
        For a bound of another kind.

    References
    ----------
    F. Johansson, Arb: efficient arbitrary-precision midpoint-radius interval arithmetic, IEEE Trans. Comput. 66, 2017.

    Examples
    --------
    >>> from bounds import prefix_length
    >>> bound = prefix_length(0.1, dim=8, theorem="thesis-core", ragozin=1, certified=True)
    >>> print(bound.enclosure.log10)
    [667.9885694220461, 667.9885694221798]
    """
    if bound.quantity != "prefix length" or bound.theorem not in _PROOFS:
        raise ValueError(f"'{bound.theorem}' ({bound.quantity}) has no proof in ball arithmetic")
    if not bound.holds or not math.isfinite(bound.log):
        return Enclosure(mpmath.mpf(bound.log), mpmath.mpf(bound.log))
    return widened(_constant(bound, problem) or _PROOFS[bound.theorem](bound, problem, digits), digits)


def _constant(bound: Bound, problem: Problem) -> Enclosure | None:
    """Prove the cases in which 1 token or 2 do by themselves; None for all others."""
    if not bound.whole or bound.side == "lower" or bound.log > math.log(2.0):
        return None
    if bound.theorem.startswith("sharp-core"):
        uniform = problem.concentration in (None, 0.0) and problem.smoothness is None
        mean = bound.theorem in _MEANS and uniform and sign(lambda: radii.goal(problem) - arb.pi() / 2) > 0
        return ZERO if mean or problem.eps >= problem.sup_norm else None
    if bound.radius is None or bound.radius < 0.5 * math.pi:
        return None
    # W <= pi for one point, W <= pi/2 for two antipodes; float64 may have rounded the goal up
    if sign(lambda: radii.goal(problem) - arb.pi()) > 0:
        return ZERO
    if sign(lambda: radii.goal(problem) - arb.pi() / 2) > 0:
        pair = enclose(lambda: arb(2).log(), 2 * DIGITS)
        return pair if bound.log > 0.0 else hull(ZERO, pair)
    raise CertificationError("the accuracy cannot be proved wide enough for so few tokens")
