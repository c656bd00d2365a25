"""One dispatcher over the theorems: prefix lengths, concentrations, error bounds, and the ladder of all of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from spherapprox import _checks

from . import thesis
from ._bound import Bound, Hypothesis, Side, over_arrays, settle
from ._problem import LARGEST_CONCENTRATION, Problem
from .covering import SMALLEST_RADIUS
from .sharp import convolution, core, lower, split

PREFIX_LENGTH: dict[str, Callable[[Problem], Bound]] = {
    "thesis-core": thesis.core,
    "thesis-vector": thesis.vector,
    "thesis-split": thesis.split,
    "thesis-split-corrected": thesis.split_corrected,
    "sharp-core": core.core,
    "sharp-split-mean": split.split_mean,
    "sharp-split-nearest": split.split_nearest,
    "lower": lower.lower,
}
"""Theorem -> the function that states it for a prefix length, from the longest prefix to the floor."""

SPLIT = ("sharp-split-mean", "sharp-split-nearest")
"""The theorems of which "sharp-split" is the smallest."""


def prefix_length(
    eps: ArrayLike,
    *,
    dim: ArrayLike,
    lipschitz: float = 1.0,
    sup_norm: float = 1.0,
    theorem: str = "sharp-split",
    concentration: float | None = None,
    covering: str = "best",
    ragozin: float | None = None,
    harmonic: float = 1.0,
    slack: float = 1e-3,
    strict: bool = False,
) -> Any:
    """Bound the number of control points (prefix tokens) that approximate a class of functions on S^m to eps.

    Parameters
    ----------
    eps : float or array_like
        The sup error wanted, in the unit of the function's values; at least 1e-60 lipschitz.
    dim : int or array_like
        The manifold's dimension m from 1 to 1e6 (points live in R^(m+1)).
    lipschitz, sup_norm : float
        The class: ``|f(x) - f(y)| <= lipschitz theta(x, y)``, theta in radians, and ``|f| <= sup_norm``.
    theorem : str
        ``"thesis-core"`` (4.12), ``"thesis-vector"`` (4.14), ``"thesis-split"`` (4.15 as printed),
        ``"thesis-split-corrected"``, ``"sharp-core"``, ``"sharp-split-mean"``, ``"sharp-split-nearest"``,
        ``"sharp-split"`` (the smallest of the split ones), ``"lower"`` (necessary, not sufficient).
    concentration : float, optional
        Fix lambda, up to 1e150; by default each theorem takes the one that it states, or the best one.
    covering : str
        The covering bound that turns a radius into a count; see `covering_number`.
    ragozin, harmonic : float
        The thesis's constants C_R (default: the explicit one of docs/theorems.md, 4.6) and C_H (assumed).
    slack : float
        ``"sharp-split-nearest"`` covers at radius ``(1 - slack) eps/lipschitz``; 0 gives the limit, at infinite
        lambda, and other values are at least 1e-12.
    strict : bool
        Raise `HypothesisError` where a hypothesis fails, instead of returning the trivial bound.

    Returns
    -------
    Bound
        Or an object array of them, for array arguments. Relative accuracy of the logarithm: 1e-12.

    Raises
    ------
    ValueError, TypeError
        For arguments outside their ranges; the message names the argument.

    References
    ----------
    docs/theorems.md; A. Petrov, thesis (2025), chapter 4.

    Examples
    --------
    >>> printed = prefix_length(0.1, dim=8, theorem="thesis-core", ragozin=1, harmonic=1)
    >>> round(printed.log10, 9)
    667.988569422
    >>> round(prefix_length(0.1, dim=8).log10, 1)
    10.4
    """
    _checks.choice(theorem, "theorem", (*PREFIX_LENGTH, "sharp-split"))

    def one(e: object, d: object) -> Bound:
        problem = Problem.checked(
            e, d, lipschitz=lipschitz, sup_norm=sup_norm, concentration=concentration, covering=covering,
            ragozin=ragozin, harmonic=harmonic, slack=slack,
        )  # fmt: skip
        return _prefix_length(problem, theorem, strict)

    return over_arrays(one, eps, dim)


def _prefix_length(problem: Problem, theorem: str, strict: bool) -> Bound:
    if theorem != "sharp-split":
        return settle(PREFIX_LENGTH[theorem](problem), strict=strict)
    found = [settle(PREFIX_LENGTH[name](problem), strict=False) for name in SPLIT]
    return settle(min(found, key=lambda bound: bound.log), strict=strict)


def ladder(
    eps: float,
    *,
    dim: int,
    lipschitz: float = 1.0,
    sup_norm: float = 1.0,
    concentration: float | None = None,
    covering: str = "best",
    ragozin: float | None = None,
    harmonic: float = 1.0,
    slack: float = 1e-3,
) -> tuple[Bound, ...]:
    """Return the prefix length of every theorem, from the thesis's to the floor; arguments as in `prefix_length`.

    Examples
    --------
    >>> [round(bound.log10) for bound in ladder(0.1, dim=8, ragozin=1)]
    [668, 846, 633, 914, 30, 28, 10, 9]
    """
    problem = Problem.checked(
        eps, dim, lipschitz=lipschitz, sup_norm=sup_norm, concentration=concentration, covering=covering,
        ragozin=ragozin, harmonic=harmonic, slack=slack,
    )  # fmt: skip
    return tuple(_prefix_length(problem, theorem, strict=False) for theorem in PREFIX_LENGTH)


def concentration(
    eps: ArrayLike,
    *,
    dim: ArrayLike,
    lipschitz: float = 1.0,
    theorem: str = "sharp",
    ragozin: float | None = None,
    harmonic: float = 1.0,
) -> Any:
    """Return Lambda(eps): the concentration from which the kernel's convolution error is at most eps.

    Parameters
    ----------
    eps, dim, lipschitz, ragozin, harmonic
        As in `prefix_length`.
    theorem : {"sharp", "thesis"}
        ``"sharp"``: the exact threshold L E[theta] = eps, for every dim >= 1; ``"thesis"``: (4.6).

    Returns
    -------
    float or ndarray
        0 where every concentration will do.

    Raises
    ------
    ValueError, TypeError
        For arguments outside their ranges.

    References
    ----------
    docs/theorems.md, 4.1; Petrov (2025), Theorem B.2.5.

    Examples
    --------
    >>> round(concentration(0.05, dim=8), 2), round(concentration(0.05, dim=8, theorem="thesis", ragozin=1))
    (3005.85, 22172758)
    """
    _checks.choice(theorem, "theorem", ("sharp", "thesis"))

    def one(e: object, d: object) -> float:
        problem = Problem.checked(e, d, lipschitz=lipschitz, ragozin=ragozin, harmonic=harmonic)
        if theorem == "sharp":
            return convolution.concentration_needed(problem.eps, problem.dim, problem.lipschitz)
        constant = thesis.ragozin_limit(problem.dim) if problem.ragozin is None else problem.ragozin
        return thesis.concentration_needed(
            problem.eps, problem.dim, lipschitz=problem.lipschitz, ragozin=constant, harmonic=problem.harmonic
        )

    return over_arrays(one, eps, dim)


# theorem -> (side, reference, the arguments without which it says nothing)
_ERROR: dict[str, tuple[Side, str, tuple[str, ...]]] = {
    "convolution": ("upper", "docs/theorems.md, 4.1", ("concentration",)),
    "sharp-core": ("upper", "docs/theorems.md, 4.3", ("concentration", "radius", "sup_norm")),
    "sharp-split-mean": ("upper", "docs/theorems.md, 4.4 (mean)", ("concentration", "radius")),
    "sharp-split": ("upper", "docs/theorems.md, 4.4 (nearest)", ("concentration", "radius", "n")),
    "lower": ("lower", "docs/theorems.md, 4.5", ("n",)),
    "thesis-core": ("upper", "Petrov (2025), Theorem 4.12", ("concentration", "radius", "sup_norm")),
}


def error_bound(
    *,
    dim: int,
    theorem: str,
    lipschitz: float,
    concentration: float | None = None,
    radius: float | None = None,
    n: float | None = None,
    sup_norm: float | None = None,
    exponent: float = 1.0,
    ragozin: float | None = None,
    harmonic: float = 1.0,
    strict: bool = False,
) -> Bound:
    """Bound the sup error of a head at a given concentration, radius and number of control points.

    Parameters
    ----------
    dim : int
        The manifold's dimension m >= 1.
    theorem : str
        ``"convolution"`` (concentration), ``"sharp-core"`` and ``"thesis-core"`` (concentration, radius, sup_norm),
        ``"sharp-split-mean"`` (concentration, radius of equal-measure cells), ``"sharp-split"`` (concentration,
        covering radius of any points, n), ``"lower"`` (n): what no scheme can undercut for every such target; it uses
        sup_norm where given.
    lipschitz, exponent : float
        The target's modulus: ``|f(x) - f(y)| <= lipschitz theta(x, y)^exponent``, 0 < exponent <= 1.
    concentration, radius, n, sup_norm : float
        What the theorem needs of them.
    ragozin, harmonic, strict
        As in `prefix_length`.

    Returns
    -------
    Bound
        Of the sup error, in the unit of the target.

    Raises
    ------
    TypeError
        When an argument that the theorem needs is missing; the message names it.
    ValueError
        For arguments outside their ranges.

    Examples
    --------
    >>> bound = error_bound(dim=2, theorem="sharp-split", lipschitz=1.0, concentration=2000.0, radius=0.05, n=2000)
    >>> round(bound.value, 4)
    0.1336
    """
    side, reference, needs = _ERROR[_checks.choice(theorem, "theorem", _ERROR)]
    _require(theorem, needs, {"concentration": concentration, "radius": radius, "n": n, "sup_norm": sup_norm})
    problem = Problem.checked(  # no accuracy is asked for; a missing sup norm is not used
        lipschitz, dim, lipschitz=lipschitz, sup_norm=lipschitz if sup_norm is None else sup_norm,
        concentration=concentration, ragozin=ragozin, harmonic=harmonic,
    )  # fmt: skip
    rho = math.nan if radius is None else _radius(radius)
    count = math.nan if n is None else _checks.real(n, "n", minimum=1.0)
    alpha = _checks.real(exponent, "exponent", above=0.0, maximum=1.0)
    hypotheses: tuple[Hypothesis, ...] = ()
    if theorem == "lower":
        rho = lower.lower_radius(count, problem.dim)
        least = min(problem.lipschitz * rho**alpha, math.inf if sup_norm is None else problem.sup_norm)
        log = math.log(least) if least > 0.0 else -math.inf
    else:
        log, hypotheses = _log_error(problem, theorem, rho, count, alpha)
        if theorem.startswith("sharp-split") and sup_norm is not None:  # a convex mean of values is at most F
            log = min(log, math.log(2.0 * problem.sup_norm))
    used = None if math.isnan(rho) else rho
    bound = Bound("sup error", log, side, theorem, reference, hypotheses, problem.concentration, used)
    return settle(bound, strict=strict)


def _radius(value: object) -> float:
    return _checks.real(value, "radius", above=0.0, minimum=SMALLEST_RADIUS, maximum=math.pi)


def _require(theorem: str, needs: tuple[str, ...], given: dict[str, float | None]) -> None:
    """Raise unless every argument that the theorem needs is given."""
    for name in needs:
        if given[name] is None:
            raise TypeError(f"theorem='{theorem}' needs the argument '{name}', got None")


def _log_error(
    problem: Problem, theorem: str, radius: float, n: float, exponent: float
) -> tuple[float, tuple[Hypothesis, ...]]:
    """Return the log of one upper bound and its hypotheses."""
    dim, lip, sup = problem.dim, problem.lipschitz, problem.sup_norm
    lam = 0.0 if problem.concentration is None else problem.concentration
    if theorem == "convolution":
        return math.log(convolution.convolution_error(lam, dim, lip, exponent)), ()
    if theorem == "sharp-core":
        return math.log(core.core_error(lam, radius, dim, lip, sup, exponent)), ()
    if theorem.startswith("sharp-split"):
        mean = theorem == "sharp-split-mean"
        log_w = split.log_mean_error(lam, radius, dim) if mean else split.log_nearest_error(lam, radius, math.log(n))
        # the weights are convex, so a mean of theta^exponent is at most the power of the mean (Jensen)
        log = math.log(lip) + exponent * min(log_w, math.log(math.pi))
        return log, (Hypothesis("cells of equal measure", True),) if mean else ()
    hypotheses = (
        Hypothesis("dim >= 8", dim >= 8),
        Hypothesis("exponent = 1", exponent == 1.0),
        Hypothesis(f"the harmonics of f bounded by the assumed C_H = {problem.harmonic:g}", True),
    )
    return (thesis.core_error(lam, radius, problem) if lam > 0.0 else math.inf), hypotheses


def best_concentration(
    *,
    dim: int,
    theorem: str,
    lipschitz: float,
    radius: float,
    n: float | None = None,
    sup_norm: float | None = None,
    exponent: float = 1.0,
    slack: float = 1e-3,
) -> Bound:
    """Return the smallest error bound over all concentrations at a given radius (and n), with the concentration.

    Parameters
    ----------
    dim, theorem, lipschitz, radius, n, sup_norm, exponent
        As in `error_bound`; theorem is ``"sharp-core"``, ``"sharp-split-mean"`` or ``"sharp-split"``.
    slack : float
        ``"sharp-split"`` falls to an infimum, W <= radius, as lambda grows without end; the smallest lambda with
        W <= (1 + slack) radius is taken.

    Returns
    -------
    Bound
        Of the sup error, at the best concentration.

    Raises
    ------
    ValueError, TypeError
        As `error_bound`.

    Examples
    --------
    >>> best = best_concentration(dim=2, theorem="sharp-split", lipschitz=1.0, radius=0.05, n=2000)
    >>> round(best.value, 3), best.concentration > 1000
    (0.05, True)
    """
    _checks.choice(theorem, "theorem", ("sharp-core", "sharp-split-mean", "sharp-split"))
    rho = _radius(radius)

    def bound_at(lam: float) -> Bound:
        return error_bound(
            dim=dim, theorem=theorem, lipschitz=lipschitz, concentration=lam, radius=rho,
            n=n, sup_norm=sup_norm, exponent=exponent,
        )  # fmt: skip

    if theorem == "sharp-split" and n is not None and rho < math.pi:
        # falls to its infimum as lambda grows
        count, spare = _checks.real(n, "n", minimum=1.0), _checks.real(slack, "slack", above=0.0, below=1.0)
        return bound_at(split.nearest_concentration(rho, min(spare * rho, math.pi - rho), math.log(count)))
    # falls, then rises with lambda; a coarse grid first, since far out it may saturate
    widest = min(math.log(1e6 * _checks.dimension(dim)) - 2.0 * math.log(rho), 0.99 * math.log(LARGEST_CONCENTRATION))
    grid = np.linspace(math.log(1e-2), widest, 60)
    coarse = [bound_at(math.exp(g)) for g in grid]
    i = int(np.argmin([bound.log for bound in coarse]))
    found = minimize_scalar(
        lambda g: bound_at(math.exp(g)).log,
        bounds=(grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)]),
        method="bounded",
        options={"xatol": 1e-8},
    )
    return min(bound_at(0.0), coarse[i], bound_at(math.exp(found.x)), key=lambda bound: bound.log)
