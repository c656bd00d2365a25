"""The inverse forms: the error that a theorem promises for given tokens, and the concentration at which it is least."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import ArrayLike

from spherapprox import _checks

from ._bound import Bound, over_arrays, settle
from ._problem import Problem
from .covering import SMALLEST_RADIUS, covering_radius
from .promises import ERROR, Head
from .sharp import equal, split
from .sharp.search import best_concentration as least_error

LARGEST_N = 1e300


def error_bound(
    *,
    dim: ArrayLike,
    theorem: str,
    lipschitz: float | None = None,
    concentration: ArrayLike | None = None,
    radius: ArrayLike | None = None,
    n: ArrayLike | None = None,
    sup_norm: float | None = None,
    exponent: float = 1.0,
    separation: float | None = None,
    degree: int | None = None,
    exactness: int | None = None,
    covering: str = "best",
    ragozin: float | None = None,
    harmonic: float = 1.0,
    strict: bool = False,
) -> Any:
    """Bound the sup error of a head at a given concentration, radius and number of control points.

    Parameters
    ----------
    dim : int or array_like
        The manifold's dimension m from 1 to 1e6.
    theorem : str
        And what it needs: ``"convolution"`` (concentration; uses sup_norm where given), ``"sharp-core"``,
        ``"sharp-core-centroid"`` and ``"thesis-core"`` (concentration, radius, sup_norm), ``"sharp-core-quadrature"``
        (concentration, degree, sup_norm), ``"sharp-core-spectral"`` (concentration, degree, exactness, sup_norm; no
        lipschitz), ``"sharp-split-mean"`` and ``"sharp-split-equal"`` (concentration, radius of
        equal-measure cells), ``"sharp-split-nearest"`` (concentration, covering radius of any points, n),
        ``"sharp-split-pack"`` (concentration, radius, separation), ``"sharp-split"`` (as nearest, and the smaller of
        the two where separation is given), ``"lower"`` (n): what no scheme can undercut for every such target.
    lipschitz, exponent : float
        The target's modulus: ``|f(x) - f(y)| <= lipschitz theta(x, y)^exponent``, 0 < exponent <= 1, in any norm.
    concentration : float or array_like
        lambda, 0 to 1e150.
    radius : float or array_like
        Radians. Where it is missing and n is given: the least one that a theorem promises for n points, of a cover
        (`covering_radius`) or of cells of equal measure.
    n : float or array_like
        Number of control points, 1 to 1e300.
    sup_norm : float
        ``|f| <= sup_norm``; the split theorems use it where given. For ``"sharp-core-spectral"`` the norm of f in
        L2 of the normalised measure serves too, and is sharper.
    separation : float
        The least distance between two control points, in radians.
    degree : int
        Of the spherical polynomials that a quadrature integrates exactly; for ``"sharp-core-spectral"`` that of the
        polynomial f.
    exactness : int
        For ``"sharp-core-spectral"``: degree to which its quadrature is exact, at least twice `degree`.
    covering : str
        How `radius` follows from n; see `covering_number`. ``"best"`` is also the best floor for ``"lower"``.
    ragozin, harmonic, strict
        As in `prefix_length`.

    Returns
    -------
    Bound
        Of the sup error, in the unit of the target; an object array of them for array arguments.

    Raises
    ------
    TypeError
        When an argument that the theorem needs is missing; the message names it.
    ValueError
        For arguments outside their ranges.

    References
    ----------
    docs/theorems.md, 4 and 4+.

    Examples
    --------
    >>> bound = error_bound(dim=2, theorem="sharp-split", lipschitz=1.0, concentration=2000.0, radius=0.05, n=2000)
    >>> round(bound.value, 4)
    0.1336
    >>> [round(b.value, 3) for b in error_bound(dim=2, theorem="lower", lipschitz=1.0, n=[100, 10_000])]
    [0.221, 0.022]
    """
    stated, strict = ERROR[_checks.choice(theorem, "theorem", ERROR)], _checks.flag(strict, "strict")

    def one(d: object, lam: object, rho: object, count: object) -> Bound:
        given = {"concentration": lam, "radius": rho if count is None else count, "n": count, "sup_norm": sup_norm,
                 "separation": separation, "degree": degree, "exactness": exactness,
                 "lipschitz": lipschitz}  # fmt: skip
        for name in stated.needs if theorem == "sharp-core-spectral" else ("lipschitz", *stated.needs):
            if given[name] is None:
                raise TypeError(f"theorem='{theorem}' needs the argument '{name}', got None")
        slope = 1.0 if lipschitz is None else lipschitz
        problem = Problem.checked(  # no accuracy is asked for; a missing sup norm is not used
            slope, d, lipschitz=slope, sup_norm=slope if sup_norm is None else sup_norm,
            concentration=lam, covering=covering, ragozin=ragozin, harmonic=harmonic, exponent=exponent,
        )  # fmt: skip
        head = _head(theorem, problem, rho, count, sup_norm, separation, degree, exactness)
        return settle(_error(theorem, head), strict=strict)

    return over_arrays(one, dim, concentration, radius, n)


def _head(
    theorem: str,
    problem: Problem,
    radius: object,
    n: object,
    sup_norm: object,
    separation: object,
    degree: object,
    exactness: object,
) -> Head:
    """Check what is said of a head, and fill in the radius that n control points can have."""
    count = math.nan if n is None else _checks.real(n, "n", minimum=1.0, maximum=LARGEST_N)
    if radius is not None:
        rho = _checks.real(radius, "radius", above=0.0, minimum=SMALLEST_RADIUS, maximum=math.pi)
    elif n is None or "radius" not in ERROR[theorem].needs:
        rho = math.nan
    else:
        rho = radius_of(theorem, count, problem.dim, problem.covering)
    return Head(
        problem,
        None if sup_norm is None else problem.sup_norm,
        0.0 if problem.concentration is None else problem.concentration,
        rho,
        count,
        None if separation is None else _checks.real(separation, "separation", above=0.0, maximum=math.pi),
        0 if degree is None else _checks.integer(degree, "degree", minimum=0, maximum=10**30),
        0 if exactness is None else _checks.integer(exactness, "exactness", minimum=0, maximum=10**30),
    )


def radius_of(theorem: str, n: float, dim: int, covering: str) -> float:
    """Return the least radius that is promised for n control points: of a cover, or of cells of equal measure."""
    if theorem in ("sharp-split-mean", "sharp-split-equal"):
        return split.equal_measure_radius(n, dim)
    return covering_radius(n, dim=dim, method=covering).value


def _error(theorem: str, head: Head) -> Bound:
    stated = ERROR[theorem]
    log, hypotheses = stated.promise(head)
    used = None if math.isnan(head.radius) else head.radius
    lam = head.problem.concentration
    return Bound("sup error", log, stated.side, theorem, stated.reference, hypotheses, lam, used)


FREE = (
    "sharp-core",
    "sharp-core-centroid",
    "sharp-split-mean",
    "sharp-split-equal",
    "sharp-split-nearest",
    "sharp-split",
)
"""The theorems whose concentration can be chosen."""


def best_concentration(
    *,
    dim: ArrayLike,
    theorem: str,
    lipschitz: float,
    radius: ArrayLike | None = None,
    n: ArrayLike | None = None,
    memory: ArrayLike | None = None,
    n_outputs: int = 1,
    sup_norm: float | None = None,
    exponent: float = 1.0,
    covering: str = "best",
    slack: float = 1e-3,
) -> Any:
    """Return the smallest error bound over all concentrations for a number of control points, with the concentration.

    Parameters
    ----------
    dim, theorem, lipschitz, radius, n, sup_norm, exponent, covering
        As in `error_bound`; theorem is ``"sharp-core"``, ``"sharp-core-centroid"``, ``"sharp-split-mean"``,
        ``"sharp-split-equal"``, ``"sharp-split-nearest"`` or ``"sharp-split"``. One of n, memory and radius is needed.
    memory : float or array_like
        Bytes, in place of n: as many float64 tokens, each a control point with its value, as fit.
    n_outputs : int
        Components of a value, for `memory`.
    slack : float
        ``"sharp-split-nearest"`` and ``"sharp-split-equal"`` fall to an infimum, W <= radius, as lambda grows without
        end; the smallest lambda with W <= (1 + slack) radius is taken.

    Returns
    -------
    Bound
        Of the sup error, at the best concentration; an object array of them for array arguments.

    Raises
    ------
    ValueError, TypeError
        As `error_bound`, and where the memory holds no token.

    Examples
    --------
    >>> best = best_concentration(dim=2, theorem="sharp-split", lipschitz=1.0, n=2000)
    >>> round(best.value, 3), best.concentration > 1e6
    (0.055, True)
    >>> best_concentration(dim=2, theorem="sharp-split", lipschitz=1.0, memory=64_000) == best
    True
    """
    _checks.choice(theorem, "theorem", FREE)
    outputs = _checks.integer(n_outputs, "n_outputs", minimum=1)
    spare = _checks.real(slack, "slack", above=0.0, below=1.0)
    if n is not None and memory is not None:
        raise TypeError("'memory' is in place of 'n': give one of them, got both")

    def one(d: Any, rho: Any, count: Any, budget: Any) -> Bound:
        tokens = count if budget is None else tokens_within(budget, d, outputs)
        known = {"dim": d, "theorem": theorem, "lipschitz": lipschitz, "radius": rho, "n": tokens}
        return _least(known | {"sup_norm": sup_norm, "exponent": exponent, "covering": covering}, spare)

    return over_arrays(one, dim, radius, n, memory)


def _least(known: dict[str, Any], spare: float) -> Bound:
    """Return the least error bound over all concentrations for one set of the other arguments."""

    def bound_at(concentration: float) -> Bound:
        found = error_bound(concentration=concentration, **known)
        assert isinstance(found, Bound)
        return found

    uniform = bound_at(0.0)  # every argument is checked here
    theorem, dim, rho = known["theorem"], int(known["dim"]), uniform.radius
    assert rho is not None
    known["radius"] = rho
    if theorem in ("sharp-split", "sharp-split-nearest") and known["n"] is not None and rho < math.pi:
        room = min(spare * rho, math.pi - rho)
        return bound_at(split.nearest_concentration(rho, room, math.log(known["n"])))
    if theorem == "sharp-split-equal" and (1.0 + spare) * rho <= 0.5 * math.pi:
        return bound_at(equal.sufficient_concentration(rho, (1.0 + spare) * rho, dim))
    return bound_at(least_error(lambda lam: bound_at(lam).log, dim, rho))


def tokens_within(memory: float, dim: int, n_outputs: int = 1) -> int:
    """Return how many float64 control points with their values fit into so many bytes."""
    size = 8 * (_checks.dimension(dim) + 1 + _checks.integer(n_outputs, "n_outputs", minimum=1))
    budget = _checks.real(memory, "memory", above=0.0, maximum=LARGEST_N)
    if budget < size:
        raise ValueError(f"'memory' must be at least {size} bytes, one token for dim = {dim}, got {budget:g}")
    return int(budget // size)
