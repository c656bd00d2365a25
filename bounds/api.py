"""One dispatcher over the theorems: prefix lengths, concentrations, and the ladder of all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from spherapprox import _checks
from spherapprox._loading import load
from spherapprox.target import Target

from .records.bound import Bound, over_arrays, settle
from .records.problem import Problem
from .theorems import LADDER, THEOREMS
from .theorems._given import checked_problem, of_class, theorem_name
from .theorems._ladder import Ladder

PREFIX_LENGTH = {theorem.name: theorem.count for theorem in LADDER if theorem.count}
"""Theorem -> its prefix length for a `Problem`."""


def prefix_length(
    eps: ArrayLike, *, dim: ArrayLike | None = None, target: Target | None = None, lipschitz: float | None = None,
    sup_norm: float | None = None, exponent: float | None = None, theorem: str = "sharp-split",
    concentration: float | None = None, covering: str = "best", ragozin: float | None = None, harmonic: float = 1.0,
    slack: float = 1e-3, degree: int | None = None, smoothness: float | None = None, bits: float | None = None,
    strict: bool = False, certified: bool = False,
) -> Any:  # fmt: skip
    """Bound the number of control points (prefix tokens) that approximate a class of functions on S^m to eps.

    Parameters
    ----------
    eps : float or array_like
        The sup error wanted, in the unit of the function's values; at least 1e-60 lipschitz.
    dim : int or array_like
        The manifold's dimension m from 1 to 1e6 (points live in R^(m+1)); may be left out beside `target`.
    target : Target, optional
        Its dim, lipschitz, exponent and sup_norm are taken where they are not given.
    lipschitz, sup_norm, exponent : float, optional
        The class: ``|f(x) - f(y)| <= lipschitz theta(x, y)^exponent``, theta in radians, 0 < exponent <= 1, and
        ``|f| <= sup_norm``, for scalars or for vectors in any norm, but where a hypothesis says otherwise. (Components
        with constant L each have sqrt(p) L in the Euclidean norm.) Without a target each is 1.
    theorem : str
        A name of the table that ``help(bounds)`` prints: what suffices (``"thesis-..."``, ``"sharp-core-..."``,
        ``"sharp-split-..."``) and what is necessary (``"lower-..."``); ``"sharp-split"`` is the smallest of the split
        ones, ``"thesis"`` is ``"thesis-core"`` and ``"sharp"`` is ``"sharp-core"``, as in `concentration`.
    concentration : float, optional
        Fix lambda, up to 1e150; by default each theorem takes the one that it states, or the best one.
    covering : str
        The covering bound that turns a radius into a count; see `covering_number`.
    ragozin, harmonic : float
        The thesis's constants C_R (default: the explicit one of docs/theorems/4.6-jackson-constants.md) and C_H
        (assumed; it depends on the target and is infinite for some, docs/theorems/3-errata.md, 3.9).
    slack : float
        Where N falls to an infimum that no head attains, the share of eps that is given away for a finite
        concentration: ``"sharp-split-nearest"`` covers at radius ``(1 - slack) eps/lipschitz``; 4.7 and 4.G leave it to
        the kernel's tail. 0 gives the limit; other values are at least 1e-12.
    degree : int, optional
        Targets that are spherical polynomials of this degree (4.7, 4.G).
    smoothness : float, optional
        For ``"sharp-core-smooth"`` (4.I) and ``"lower-smooth"`` (4.J): H with ``|(f o gamma)''| <= H`` along
        unit-speed geodesics gamma, or ``(f o gamma)'`` H-Lipschitz, in the unit of the function's values per radian
        squared; taken from a target that states it, and never 1 by default. For 4.7 and 4.G, a Sobolev order s > m/2:
        targets ``sum_l Y_l`` with ``sum_l (1 + l(l+m-1))^s |Y_l|_2^2 <= lipschitz^2``.
    bits : float, optional
        Bits per token for ``"lower-bits"``; by default 64 (dim + 2).
    strict : bool
        Raise `HypothesisError` where a hypothesis fails, instead of returning the trivial bound.
    certified : bool
        Add `Bound.enclosure`, proven in ball arithmetic (python-flint; ``pip install spherapprox[certify]``): of the
        logarithm, at the free parameters that the float64 search chose, to 13 digits.

    Returns
    -------
    Bound
        Or an object array of them, for array arguments. Relative accuracy of the logarithm: 1e-12. Its
        `concentration` is the one to make the head with.

    Raises
    ------
    ValueError, TypeError
        For arguments outside their ranges, and for a constant that the target lacks; the message names the argument.
    HypothesisError
        When `strict` and a hypothesis fails.
    ImportError
        For ``certified=True`` without python-flint.

    See Also
    --------
    error_bound : the inverse, the error that so many points promise.
    best_concentration : the same at the best concentration.
    ladder : all theorems at once.

    References
    ----------
    docs/theorems/index.md; A. Petrov, thesis (2025), chapter 4.

    Examples
    --------
    >>> printed = prefix_length(0.1, dim=8, theorem="thesis-core", ragozin=1, harmonic=1)
    >>> round(printed.log10, 9)
    667.988569422
    >>> round(prefix_length(0.1, dim=8).log10, 1)
    9.9
    >>> from spherapprox import Target
    >>> height = Target(lambda x: x[:, -1], dim=2, lipschitz=1.0, sup_norm=1.0)
    >>> prefix_length(0.1, target=height) == prefix_length(0.1, dim=2)
    True
    """
    counts = {stated.name: stated.count for stated in THEOREMS.values() if stated.count}
    stated = THEOREMS[theorem_name(theorem, counts)]
    count = counts[stated.name]
    for name, value in (("degree", degree), ("smoothness", smoothness), ("bits", bits)):
        if value is not None and name not in (*stated.options, *stated.constants):
            takers = " or ".join(t.name for t in LADDER if name in (*t.options, *t.constants))
            raise ValueError(f"'{name}' belongs to theorem={takers}, got theorem='{stated.name}'")
    second, sobolev = (smoothness, None) if "smoothness" in stated.constants else (None, smoothness)
    if sobolev is not None and target is not None:
        _checks.given(lipschitz, "lipschitz", " beside 'smoothness': it is a Sobolev norm, which no target states")
    if degree is not None and sobolev is not None:
        raise ValueError(f"'degree' and 'smoothness' name two classes: give one, got {degree!r} and {smoothness!r}")
    strict, certified = _checks.flag(strict, "strict"), _checks.flag(certified, "certified")
    known = of_class(
        target, dim, stated.constants, lipschitz=lipschitz, sup_norm=sup_norm, exponent=exponent,
        **({"smoothness": second} if "smoothness" in stated.constants else {}),
    )  # fmt: skip
    second = known.pop("smoothness", None)

    def one(e: object, d: object) -> Bound:
        problem = checked_problem(
            e, **known | {"dim": d}, concentration=concentration, covering=covering, ragozin=ragozin,
            harmonic=harmonic, slack=slack, degree=degree, smoothness=sobolev, bits=bits, second_derivative=second,
        )  # fmt: skip
        bound = settle(count(problem), strict=strict)
        return _certified(bound, problem) if certified else bound

    return over_arrays(one, eps, known["dim"])


def _certified(bound: Bound, problem: Problem) -> Bound:
    load(f"{__package__}.certify")  # python-flint is an extra
    from . import certify

    return replace(bound, enclosure=certify.certified(bound, problem))


def ladder(
    eps: ArrayLike, *, dim: ArrayLike | None = None, target: Target | None = None, lipschitz: float | None = None,
    sup_norm: float | None = None, exponent: float | None = None, concentration: float | None = None,
    covering: str = "best", ragozin: float | None = None, harmonic: float = 1.0, slack: float = 1e-3,
    smoothness: float | None = None,
) -> Any:  # fmt: skip
    """Bound the prefix length by every theorem, from the thesis's to the floor.

    Parameters
    ----------
    eps : float or array_like
        The sup error wanted, in the unit of the function's values.
    dim : int or array_like
        The manifold's dimension m from 1 to 1e6; may be left out beside `target`.
    target, lipschitz, sup_norm, exponent, concentration, covering, ragozin, harmonic, slack
        As in `prefix_length`; the target must state its Lipschitz constant and its sup norm.
    smoothness : float, optional
        H, a bound of second derivatives along unit-speed geodesics, for 4.I and 4.J, whose hypotheses fail without it;
        taken from a target that states it.

    Returns
    -------
    tuple of Bound
        One for each theorem but ``"sharp-split"``, in the order of the table in `bounds`; trivial where a hypothesis
        fails (`Bound.failed`). It prints as a table. For array arguments an object array of such tuples.

    Raises
    ------
    ValueError, TypeError
        For arguments outside their ranges, and for a constant that the target lacks; the message names the argument.

    See Also
    --------
    prefix_length : one theorem, with the options that only some of them have.

    References
    ----------
    docs/theorems/index.md; A. Petrov, thesis (2025), chapter 4.

    Examples
    --------
    >>> rungs = ladder(0.1, dim=8, ragozin=1)
    >>> [round(bound.log10) for bound in rungs[:5]], rungs[-1].theorem
    ([668, 846, 633, 914, 29], 'lower')
    """
    known = of_class(target, dim, lipschitz=lipschitz, sup_norm=sup_norm, exponent=exponent, smoothness=smoothness)
    second = known.pop("smoothness")

    def one(e: object, d: object) -> Ladder:
        problem = checked_problem(
            e, **known | {"dim": d}, concentration=concentration, covering=covering, ragozin=ragozin,
            harmonic=harmonic, slack=slack, second_derivative=second,
        )  # fmt: skip
        return Ladder(settle(count(problem), strict=False) for count in PREFIX_LENGTH.values())

    return over_arrays(one, eps, known["dim"])


def concentration(
    eps: ArrayLike, *, dim: ArrayLike | None = None, target: Target | None = None, lipschitz: float | None = None,
    exponent: float | None = None, theorem: str = "sharp-core", ragozin: float | None = None, harmonic: float = 1.0,
) -> Any:  # fmt: skip
    """Return Lambda(eps): the concentration from which the kernel's convolution error is at most eps.

    It is a number, and a threshold of the kernel alone, whatever the points. The concentration to make a head with is
    `Bound.concentration`: that of `prefix_length` for an accuracy, that of `best_concentration` for given points.

    Parameters
    ----------
    eps : float or array_like
        The convolution error allowed, in the unit of the function's values: of the whole error a part.
    dim, target, lipschitz, exponent, ragozin, harmonic
        As in `prefix_length`.
    theorem : {"sharp-core", "thesis-core"}
        ``"sharp-core"`` (or ``"sharp"``): the exact threshold L E[theta^exponent] = eps, for every dim >= 1;
        ``"thesis-core"`` (or ``"thesis"``): (4.6), for exponent 1. The other theorems have no threshold of their own.

    Returns
    -------
    float or ndarray
        0 where every concentration will do, inf where it exceeds the range of floats.

    Raises
    ------
    ValueError, TypeError
        For arguments outside their ranges.

    See Also
    --------
    best_concentration : the error bound of given points at its least, with the concentration.

    References
    ----------
    docs/theorems/4.1-convolution.md; Petrov (2025), Theorem B.2.5.

    Examples
    --------
    >>> round(concentration(0.05, dim=8), 2), round(concentration(0.05, dim=8, theorem="thesis", ragozin=1))
    (3005.85, 22172758)
    """
    thresholds = {stated.name: stated.threshold for stated in LADDER if stated.threshold}
    threshold = thresholds[theorem_name(theorem, thresholds)]
    known = of_class(target, dim, lipschitz=lipschitz, exponent=exponent)

    def one(e: object, d: object) -> float:
        unused = {"sup_norm": known["lipschitz"]}
        return threshold(Problem.checked(e, **known | unused | {"dim": d}, ragozin=ragozin, harmonic=harmonic))

    return over_arrays(one, eps, known["dim"])
