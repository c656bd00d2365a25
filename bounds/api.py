"""One dispatcher over the theorems: prefix lengths, concentrations, and the ladder of all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from spherapprox import _checks
from spherapprox._loading import load
from spherapprox.target import Target

from .records.bound import Bound, over_arrays, settle
from .records.problem import Problem
from .records.theorem import Statement
from .theorems import LADDER, THEOREMS, as_statement, as_statements
from .theorems._arguments import complete_class
from .theorems._ladder import Ladder

COUNTED = {name: theorem for name, theorem in THEOREMS.items() if theorem.count}
"""The theorems on prefix lengths."""


def prefix_length(
    eps: ArrayLike, *, dim: ArrayLike | None = None, target: Target | None = None, lipschitz: float | None = None,
    sup_norm: float | None = None, exponent: float | None = None, theorem: str | Statement = "sharp-split",
    certified: bool = False,
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
    theorem : str or Statement
        A name of the table that ``help(bounds)`` prints: what suffices (``"thesis-..."``, ``"sharp-core-..."``,
        ``"sharp-split-..."``) and what is necessary (``"lower-..."``); ``"sharp-split"`` is the smallest of the split
        ones, ``"thesis"`` is ``"thesis-core"`` and ``"sharp"`` is ``"sharp-core"``, as in `concentration`. Or a theorem
        with options, such as a fixed concentration: ``bounds.theorems.state("sharp-core", concentration=100.0)``.
    certified : bool
        Add `Bound.enclosure`, proven in ball arithmetic (python-flint; ``pip install spherapprox[certify]``): of the
        logarithm, at the free parameters that the float64 search chose, to 13 digits.

    Returns
    -------
    Bound
        Or an object array of them, for array arguments. Relative accuracy of the logarithm: 1e-12. Its
        `concentration` is the one to make the head with; `Bound.require` raises where a hypothesis fails.

    Raises
    ------
    ValueError, TypeError
        For arguments outside their ranges, and for a constant that the target lacks; the message names the argument.
    ImportError
        For ``certified=True`` without python-flint.

    See Also
    --------
    bounds.theorems.state : the options of theorems.
    error_bound : the inverse, the error that so many points promise.
    best_concentration : the same at the best concentration.
    ladder : all theorems at once.

    Examples
    --------
    >>> from bounds import prefix_length, theorems
    >>> printed = theorems.state("thesis-core", jackson_constant=1, harmonic_constant=1)
    >>> round(prefix_length(0.1, dim=8, theorem=printed).log10, 9)
    667.988569422
    >>> round(prefix_length(0.1, dim=8).log10, 1)
    9.7
    >>> from spherapprox import Target
    >>> height = Target(lambda x: x[:, -1], dim=2, lipschitz=1.0, sup_norm=1.0)
    >>> prefix_length(0.1, target=height) == prefix_length(0.1, dim=2)
    True
    """
    statement = as_statement(theorem, COUNTED)
    record, options = statement.theorem, statement.options
    proofs: Any = load(f"{__package__}.certify") if _checks.flag(certified, "certified") else None  # an extra
    if target is not None and "sobolev_order" in options:
        _checks.given(lipschitz, "lipschitz", " beside 'sobolev_order': it is a Sobolev norm, which no target states")
    bend = {"smoothness": options.get("smoothness")} if "smoothness" in record.constants else {}
    constants = complete_class(
        target, dim, record.constants, lipschitz=lipschitz, sup_norm=sup_norm, exponent=exponent, **bend
    )  # fmt: skip

    @over_arrays
    def bound(e: object, d: object) -> Bound:
        problem = Problem.checked(e, **constants | {"dim": d} | dict(options))
        assert record.count is not None
        count = settle(record.count(problem))
        return replace(count, enclosure=proofs.certified(count, problem)) if proofs else count

    return bound(eps, constants["dim"])


def ladder(
    eps: ArrayLike, *, dim: ArrayLike | None = None, target: Target | None = None, lipschitz: float | None = None,
    sup_norm: float | None = None, exponent: float | None = None,
    theorems: Iterable[str | Statement] | None = None,
) -> Any:  # fmt: skip
    """Bound the prefix length by every theorem, from the thesis's to the floor.

    Parameters
    ----------
    eps : float or array_like
        The sup error wanted, in the unit of the function's values.
    dim : int or array_like
        The manifold's dimension m from 1 to 1e6; may be left out beside `target`.
    target, lipschitz, sup_norm, exponent
        As in `prefix_length`; the target must state its Lipschitz constant and its sup norm.
    theorems : iterable of str or Statement, optional
        Those asked, by default all but ``"sharp-split"``, in the order of the table in `bounds`;
        ``bounds.theorems.state_all(concentration=100.0)`` is all of them with an option. H, for 4.I and 4.J, whose
        hypotheses fail without it, is taken from a target that states it.

    Returns
    -------
    tuple of Bound
        One for each theorem; trivial where a hypothesis fails (`Bound.failed`). It prints as a table. For array
        arguments an object array of such tuples.

    Raises
    ------
    ValueError, TypeError
        For arguments outside their ranges, and for a constant that the target lacks; the message names the argument.

    Examples
    --------
    >>> from bounds import ladder, theorems
    >>> rungs = ladder(0.1, dim=8, theorems=theorems.state_all(jackson_constant=1))
    >>> [round(bound.log10) for bound in rungs[:5]], rungs[-1].theorem
    ([668, 846, 633, 914, 29], 'lower')
    """
    statements = as_statements(theorems, COUNTED)
    constants = complete_class(
        target, dim, lipschitz=lipschitz, sup_norm=sup_norm, exponent=exponent, smoothness=None
    )  # fmt: skip

    @over_arrays
    def rungs(e: object, d: object) -> Ladder:
        problems = [Problem.checked(e, **constants | {"dim": d} | dict(statement.options)) for statement in statements]
        counts = [statement.theorem.count for statement in statements]
        return Ladder(settle(count(problem)) for count, problem in zip(counts, problems, strict=True) if count)

    return rungs(eps, constants["dim"])


def concentration(
    eps: ArrayLike, *, dim: ArrayLike | None = None, target: Target | None = None, lipschitz: float | None = None,
    exponent: float | None = None, theorem: str | Statement = "sharp-core",
) -> Any:  # fmt: skip
    """Return Lambda(eps): the concentration from which the kernel's convolution error is at most eps.

    It is a number, and a threshold of the kernel alone, whatever the points. The concentration to make a head with is
    `Bound.concentration`: that of `prefix_length` for an accuracy, that of `best_concentration` for given points.

    Parameters
    ----------
    eps : float or array_like
        The convolution error allowed, in the unit of the function's values: of the whole error a part.
    dim, target, lipschitz, exponent
        As in `prefix_length`.
    theorem : {"sharp-core", "thesis-core"} or Statement
        ``"sharp-core"`` (or ``"sharp"``): the exact threshold L E[theta^exponent] = eps (4.1), for every dim >= 1;
        ``"thesis-core"`` (or ``"thesis"``): (4.6), for exponent 1. The other theorems have no threshold of their own.

    Returns
    -------
    float or ndarray
        0 where every concentration will do, inf where it exceeds the range of floats.

    Raises
    ------
    ValueError, TypeError
        For arguments outside their ranges.

    Examples
    --------
    >>> from bounds import concentration, theorems
    >>> printed = theorems.state("thesis-core", jackson_constant=1)
    >>> round(concentration(0.05, dim=8), 2), round(concentration(0.05, dim=8, theorem=printed))
    (3005.85, 22172758)
    """
    statement = as_statement(theorem, {candidate.name: candidate for candidate in LADDER if candidate.threshold})
    constants = complete_class(target, dim, lipschitz=lipschitz, exponent=exponent)
    constants["sup_norm"] = constants["lipschitz"]  # it is not used

    @over_arrays
    def threshold(e: object, d: object) -> float:
        assert statement.theorem.threshold is not None
        return statement.theorem.threshold(Problem.checked(e, **constants | {"dim": d} | dict(statement.options)))

    return threshold(eps, constants["dim"])
