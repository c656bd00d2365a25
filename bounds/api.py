"""One dispatcher over the theorems: prefix lengths, concentrations, and the ladder of all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from spherapprox import _checks
from spherapprox.target import Target

from . import thesis
from ._bound import Bound, over_arrays, settle
from ._known import of_class, theorem_name
from ._problem import Problem
from .ragozin import ragozin_constant
from .sharp import centroid, convolution, core, equal, interpolation, lower, pack, quadrature, random, spectral, split

PREFIX_LENGTH: dict[str, Callable[[Problem], Bound]] = {
    "thesis-core": thesis.core,
    "thesis-vector": thesis.vector,
    "thesis-split": thesis.split,
    "thesis-split-corrected": thesis.split_corrected,
    "sharp-core": core.core,
    "sharp-core-centroid": centroid.centroid,
    "sharp-core-quadrature": quadrature.quadrature,
    "sharp-core-spectral": spectral.spectral,
    "sharp-core-interpolation": interpolation.interpolation,
    "sharp-core-rank": interpolation.rank,
    "sharp-split-mean": split.split_mean,
    "sharp-split-equal": equal.equal,
    "sharp-split-pack": pack.pack,
    "sharp-split-random": random.random,
    "sharp-split-nearest": split.split_nearest,
    "lower-any": lower.lower_any,
    "lower-bits": lower.lower_bits,
    "lower-continuous": lower.lower_continuous,
    "lower": lower.lower,
}
"""Theorem -> the function that states it for a prefix length: printed, core, split, necessary."""

SPLIT = ("sharp-split-equal", "sharp-split-pack", "sharp-split-random", "sharp-split-nearest")
"""The theorems of which "sharp-split" is the smallest; "sharp-split-mean" never is, by 4.B."""

_POLYNOMIAL = ("sharp-core-spectral", "sharp-core-interpolation", "sharp-core-rank")
_ONLY_FOR = {
    "degree": _POLYNOMIAL,
    "smoothness": _POLYNOMIAL,
    "bits": ("lower-bits",),
}


def prefix_length(
    eps: ArrayLike,
    *,
    dim: ArrayLike | None = None,
    target: Target | None = None,
    lipschitz: float | None = None,
    sup_norm: float | None = None,
    exponent: float | None = None,
    theorem: str = "sharp-split",
    concentration: float | None = None,
    covering: str = "best",
    ragozin: float | None = None,
    harmonic: float = 1.0,
    slack: float = 1e-3,
    degree: int | None = None,
    smoothness: float | None = None,
    bits: float | None = None,
    strict: bool = False,
    certified: bool = False,
) -> Any:
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
        ``"thesis-core"`` (4.12), ``"thesis-vector"`` (4.14), ``"thesis-split"`` (4.15 as printed),
        ``"thesis-split-corrected"``; ``"sharp-core"`` (4.3), ``"sharp-core-centroid"`` (4.D),
        ``"sharp-core-quadrature"`` (4.C), ``"sharp-core-spectral"`` (4.7), ``"sharp-core-interpolation"`` and
        ``"sharp-core-rank"`` (4.G);
        ``"sharp-split-mean"`` and ``"sharp-split-nearest"`` (4.4), ``"sharp-split-equal"`` (4.B),
        ``"sharp-split-pack"`` (4.A), ``"sharp-split-random"`` (4.F), ``"sharp-split"`` (the smallest of the split
        ones); and what is necessary: ``"lower"`` (4.5), ``"lower-any"``, ``"lower-bits"``, ``"lower-continuous"``
        (4.E). ``"thesis"`` is ``"thesis-core"`` and ``"sharp"`` is ``"sharp-core"``, as in `concentration`.
    concentration : float, optional
        Fix lambda, up to 1e150; by default each theorem takes the one that it states, or the best one.
    covering : str
        The covering bound that turns a radius into a count; see `covering_number`.
    ragozin, harmonic : float
        The thesis's constants C_R (default: the explicit one of docs/theorems.md, 4.6) and C_H (assumed).
    slack : float
        Where N falls to an infimum that no head attains, the share of eps that is given away for a finite
        concentration: ``"sharp-split-nearest"`` covers at radius ``(1 - slack) eps/lipschitz``; 4.7 and 4.G leave it to
        the kernel's tail. 0 gives the limit; other values are at least 1e-12.
    degree : int, optional
        Targets that are spherical polynomials of this degree (4.7, 4.G).
    smoothness : float, optional
        s > m/2: targets ``sum_l Y_l`` with ``sum_l (1 + l(l+m-1))^s |Y_l|_2^2 <= lipschitz^2`` (4.7, 4.G).
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
    docs/theorems.md; A. Petrov, thesis (2025), chapter 4.

    Examples
    --------
    >>> printed = prefix_length(0.1, dim=8, theorem="thesis-core", ragozin=1, harmonic=1)
    >>> round(printed.log10, 9)
    667.988569422
    >>> round(prefix_length(0.1, dim=8).log10, 1)
    10.3
    >>> from spherapprox import Target
    >>> height = Target(lambda x: x[:, -1], dim=2, lipschitz=1.0, sup_norm=1.0)
    >>> prefix_length(0.1, target=height) == prefix_length(0.1, dim=2)
    True
    """
    theorem = theorem_name(theorem, (*PREFIX_LENGTH, "sharp-split"))
    for name, value in (("degree", degree), ("smoothness", smoothness), ("bits", bits)):
        if value is not None and theorem not in _ONLY_FOR[name]:
            raise ValueError(f"'{name}' belongs to theorem={' or '.join(_ONLY_FOR[name])}, got theorem='{theorem}'")

    if smoothness is not None and target is not None and lipschitz is None:
        raise TypeError("'lipschitz' must be given beside 'smoothness': it is a Sobolev norm, which no target states")
    if degree is not None and smoothness is not None:
        raise ValueError(f"'degree' and 'smoothness' name two classes: give one, got {degree!r} and {smoothness!r}")
    strict, certified = _checks.flag(strict, "strict"), _checks.flag(certified, "certified")
    known = of_class(target, dim, theorem, lipschitz=lipschitz, sup_norm=sup_norm, exponent=exponent)

    def one(e: object, d: object) -> Bound:
        problem = Problem.checked(
            e, **known | {"dim": d}, concentration=concentration, covering=covering, ragozin=ragozin,
            harmonic=harmonic, slack=slack, degree=degree, smoothness=smoothness, bits=bits,
        )  # fmt: skip
        bound = _prefix_length(problem, theorem, strict)
        return _certified(bound, problem) if certified else bound

    return over_arrays(one, eps, known["dim"])


def _prefix_length(problem: Problem, theorem: str, strict: bool) -> Bound:
    if theorem != "sharp-split":
        return settle(PREFIX_LENGTH[theorem](problem), strict=strict)
    found = [settle(PREFIX_LENGTH[name](problem), strict=False) for name in SPLIT]
    return settle(min(found, key=lambda bound: bound.log), strict=strict)


def _certified(bound: Bound, problem: Problem) -> Bound:
    from . import certify  # python-flint is an extra

    return replace(bound, enclosure=certify.certified(bound, problem))


def ladder(
    eps: ArrayLike,
    *,
    dim: ArrayLike | None = None,
    target: Target | None = None,
    lipschitz: float | None = None,
    sup_norm: float | None = None,
    exponent: float | None = None,
    concentration: float | None = None,
    covering: str = "best",
    ragozin: float | None = None,
    harmonic: float = 1.0,
    slack: float = 1e-3,
) -> Any:
    """Bound the prefix length by every theorem, from the thesis's to the floor.

    Parameters
    ----------
    eps : float or array_like
        The sup error wanted, in the unit of the function's values.
    dim : int or array_like
        The manifold's dimension m from 1 to 1e6; may be left out beside `target`.
    target, lipschitz, sup_norm, exponent, concentration, covering, ragozin, harmonic, slack
        As in `prefix_length`; the target must state its Lipschitz constant and its sup norm.

    Returns
    -------
    tuple of Bound
        One for each theorem but ``"sharp-split"``, in the order of the table in `bounds`; trivial where a hypothesis
        fails (`Bound.failed`). For array arguments an object array of such tuples.

    Raises
    ------
    ValueError, TypeError
        For arguments outside their ranges, and for a constant that the target lacks; the message names the argument.

    See Also
    --------
    prefix_length : one theorem, with the options that only some of them have.

    References
    ----------
    docs/theorems.md; A. Petrov, thesis (2025), chapter 4.

    Examples
    --------
    >>> rungs = ladder(0.1, dim=8, ragozin=1)
    >>> [round(bound.log10) for bound in rungs[:5]], rungs[-1].theorem
    ([668, 846, 633, 914, 29], 'lower')
    """
    known = of_class(target, dim, lipschitz=lipschitz, sup_norm=sup_norm, exponent=exponent)

    def one(e: object, d: object) -> tuple[Bound, ...]:
        problem = Problem.checked(
            e, **known | {"dim": d}, concentration=concentration, covering=covering, ragozin=ragozin,
            harmonic=harmonic, slack=slack,
        )  # fmt: skip
        return tuple(_prefix_length(problem, theorem, strict=False) for theorem in PREFIX_LENGTH)

    return over_arrays(one, eps, known["dim"])


def concentration(
    eps: ArrayLike,
    *,
    dim: ArrayLike | None = None,
    target: Target | None = None,
    lipschitz: float | None = None,
    exponent: float | None = None,
    theorem: str = "sharp-core",
    ragozin: float | None = None,
    harmonic: float = 1.0,
) -> Any:
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
    docs/theorems.md, 4.1; Petrov (2025), Theorem B.2.5.

    Examples
    --------
    >>> round(concentration(0.05, dim=8), 2), round(concentration(0.05, dim=8, theorem="thesis", ragozin=1))
    (3005.85, 22172758)
    """
    theorem = theorem_name(theorem, ("sharp-core", "thesis-core"))
    known = of_class(target, dim, lipschitz=lipschitz, exponent=exponent)

    def one(e: object, d: object) -> float:
        unused = {"sup_norm": known["lipschitz"]}
        problem = Problem.checked(e, **known | unused | {"dim": d}, ragozin=ragozin, harmonic=harmonic)
        if theorem == "sharp-core":
            return convolution.concentration_needed(problem.eps, problem.dim, problem.lipschitz, problem.exponent)
        if problem.exponent != 1.0:
            raise ValueError(f"'exponent' must be 1 for theorem='thesis-core', got {problem.exponent:g}")
        constant = ragozin_constant(problem.dim) if problem.ragozin is None else problem.ragozin
        return thesis.concentration_needed(
            problem.eps, problem.dim, lipschitz=problem.lipschitz, ragozin=constant, harmonic=problem.harmonic
        )

    return over_arrays(one, eps, known["dim"])
