"""The inverse forms: the error that a theorem promises for given tokens, and the concentration at which it is least."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from spherapprox import _checks
from spherapprox.partition import EqualMeasurePartition
from spherapprox.points import PointSet
from spherapprox.points.pointset import Points
from spherapprox.target import Target

from .covering import MOST_POINTS
from .pointwise import least
from .records.bound import Bound, over_arrays, settle
from .records.problem import LARGEST_CONCENTRATION, LEAST_SLACK, Problem
from .records.theorem import Prefix, Statement, Theorem
from .theorems import POINTWISE, THEOREMS, as_statement, theorem_name
from .theorems._arguments import checked_prefix, error_problem, read_class, read_points
from .theorems._options import check_options

__all__ = ["best_concentration", "error_bound", "tokens_within"]

ERRORS = {theorem.name: theorem for theorem in THEOREMS.values() if theorem.error}
"""The theorems that have an error form."""
FREE = {name: theorem for name, theorem in ERRORS.items() if theorem.free_concentration}
"""The theorems whose concentration can be chosen."""


def error_bound(
    *, theorem: str | Statement, dim: ArrayLike | None = None, target: Target | None = None,
    lipschitz: float | None = None, sup_norm: float | None = None, exponent: float | None = None,
    concentration: ArrayLike | None = None, points: EqualMeasurePartition | PointSet | Prefix | None = None,
) -> Any:  # fmt: skip
    """Bound the sup error of a head at a given concentration, radius and number of control points.

    Parameters
    ----------
    theorem : str or Statement
        A name of the table that ``help(bounds)`` prints, one for which it lists what is needed here, or a theorem with
        options (`bounds.theorems.state`). ``"lower"`` is what no scheme can undercut for every such target;
        ``"sharp-split"`` is the smaller of two where the separation of the points is known. ``"thesis"`` is
        ``"thesis-core"`` and ``"sharp"`` is ``"sharp-core"``.
    dim : int or array_like
        The manifold's dimension m from 1 to 1e6; may be left out beside `target` or `points` that have it.
    target : Target, optional
        Its dim, lipschitz, exponent, sup_norm and smoothness are taken where they are not given.
    lipschitz, exponent : float
        The target's modulus: ``|f(x) - f(y)| <= lipschitz theta(x, y)^exponent``, 0 < exponent <= 1, in any norm; the
        exponent is 1 where neither it nor a target is given.
    sup_norm : float
        ``|f| <= sup_norm``; the split theorems use it where given. For ``"sharp-core-spectral"`` the norm of f in
        L2 of the normalised measure serves too, and is sharper.
    concentration : float or array_like
        lambda, 0 to 1e150.
    points : EqualMeasurePartition, PointSet or Prefix
        The control points, or what is known of them, ``Prefix(n=1000, radius=0.1)``, of which n and radius may be
        arrays. Radii of equal-measure cells are a partition's only.

    Returns
    -------
    Bound
        Of the sup error, in the unit of the target; an object array of them for array arguments. `Bound.require` raises
        where a hypothesis fails.

    Raises
    ------
    TypeError
        When an argument that the theorem needs is missing; the message names it.
    ValueError
        For arguments outside their ranges, and points that the theorem does not speak of.

    See Also
    --------
    prefix_length : the inverse, the number of control points for an error.
    best_concentration : the same at the concentration where it is least.

    Examples
    --------
    >>> from bounds import error_bound
    >>> from bounds.records import Prefix
    >>> cover = Prefix(n=2000, radius=0.05)
    >>> bound = error_bound(theorem="sharp-split", dim=2, lipschitz=1.0, concentration=2000.0, points=cover)
    >>> round(bound.value, 4)
    0.1336
    >>> [round(b.value, 3) for b in error_bound(theorem="lower", dim=2, lipschitz=1.0, points=Prefix(n=[100, 10_000]))]
    [0.221, 0.022]
    >>> from spherapprox import EqualMeasurePartition, Target
    >>> height = Target(lambda x: x[:, -1], dim=2, lipschitz=1.0, sup_norm=1.0)
    >>> cells = EqualMeasurePartition(2, 2000)
    >>> round(error_bound(target=height, points=cells, theorem="sharp-split-equal", concentration=2000.0).value, 4)
    0.0869
    """
    statement = as_statement(theorem, ERRORS)
    record, options = statement.theorem, dict(statement.options)
    bend = options.pop("smoothness", None)
    constants = read_class(
        target, dim, lipschitz=lipschitz, exponent=exponent, sup_norm=sup_norm, smoothness=bend
    )  # fmt: skip
    _checks.not_both(concentration, options.get("concentration"), "'concentration' is an option of the theorem too")
    dims, prefix = read_points(points, constants["dim"], record)

    @over_arrays
    def bound(d: object, lam: object, radius: object, n: object) -> Bound:
        checked = options | check_options(concentration=lam)
        return promised(record, constants | {"dim": d}, replace(prefix, n=n, radius=radius), **checked)

    return bound(dims, concentration, prefix.radius, prefix.n)


def promised(theorem: Theorem, constants: dict[str, Any], prefix: Prefix, **options: Any) -> Bound:
    """Return the sup error that a theorem promises for a class and a prefix, with checked options."""
    problem = error_problem(theorem, constants, **options)
    return settle(theorem.sup_error(problem, checked_prefix(theorem, problem, prefix)))


def best_concentration(
    *, theorem: str | Statement, dim: ArrayLike | None = None, target: Target | None = None,
    lipschitz: float | None = None, sup_norm: float | None = None, exponent: float | None = None,
    points: Points | Prefix | None = None,
) -> Any:  # fmt: skip
    """Minimise the error bound of given control points over the concentration.

    The result is a bound on the error; the concentration to make the head with is its attribute `concentration`
    (docs/theorems/4.3-core-head.md, 4.4-split-head.md, 4.B-equal-measure.md and 4.D-centroids.md).

    Parameters
    ----------
    theorem : str or Statement
        One whose concentration can be chosen, as ``"sharp-core"`` or ``"sharp-split"``; or one of
        `second_order_bound`, which takes a target and points alone, bare rows among them: no error is measured.
        ``"sharp-split-nearest"`` and ``"sharp-split-equal"`` fall to an infimum, W <= radius, as lambda grows without
        end; the smallest lambda with W <= (1 + slack) radius is taken, or 1e150 if that is smaller, where slack, at
        least 1e-12, is an option of theirs, 1e-3 by default.
    dim, target, lipschitz, sup_norm, exponent, points
        As in `error_bound`; ``Prefix(n=tokens_within(1e6, dim=2))`` for a budget of memory.

    Returns
    -------
    Bound
        Of the sup error: `value` is the least error, `concentration` where it is reached. An object array of them for
        array arguments. By second order a `PointwiseBound`, of the errors where it was searched for.

    Raises
    ------
    ValueError, TypeError
        As `error_bound`.

    See Also
    --------
    concentration : the threshold Lambda(eps) of the kernel alone, a number.
    prefix_length : the number of control points for an error, with the concentration.

    Examples
    --------
    >>> from bounds import best_concentration
    >>> from bounds.records import Prefix
    >>> best = best_concentration(theorem="sharp-split", dim=2, lipschitz=1.0, points=Prefix(n=2000))
    >>> round(best.value, 3), best.concentration > 1e6
    (0.055, True)
    >>> from spherapprox import EqualMeasurePartition, SplitHead, Target, targets
    >>> height = Target(lambda x: x[:, -1], dim=2, lipschitz=1.0, sup_norm=1.0)
    >>> cells = EqualMeasurePartition(2, 2000)
    >>> best = best_concentration(target=height, points=cells, theorem="sharp-split-equal")
    >>> head = SplitHead.from_target(height, cells, best.concentration)
    >>> best = best_concentration(target=targets.zonal_harmonic(2, 3), points=cells, theorem="second-order-local")
    >>> round(best.value, 3), 500.0 < best.concentration < 650.0
    (0.013, True)
    """
    if isinstance(theorem, str) and theorem_name(theorem, {**FREE, **POINTWISE}) in POINTWISE:
        for name, value in (("lipschitz", lipschitz), ("sup_norm", sup_norm), ("exponent", exponent)):
            _checks.left_out(value, name, f"theorem='{theorem}' takes a target and points alone")
        if isinstance(points, Prefix):
            raise TypeError(f"theorem='{theorem}' takes the control points themselves as 'points', got {points!r}")
        return least(theorem, target, points)
    statement = as_statement(theorem, FREE)
    record, options = statement.theorem, dict(statement.options)
    _checks.left_out(options.get("concentration"), "concentration", "where it is chosen")
    if "slack" in options:
        _checks.real(options["slack"], "slack", minimum=LEAST_SLACK)
    bend = options.pop("smoothness", None)
    constants = read_class(
        target, dim, lipschitz=lipschitz, exponent=exponent, sup_norm=sup_norm, smoothness=bend
    )  # fmt: skip
    dims, prefix = read_points(points, constants["dim"], record)

    @over_arrays
    def bound(d: object, radius: object, n: object) -> Bound:
        problem = error_problem(record, constants | {"dim": d}, concentration=0.0, **options)
        return _least(record, problem, checked_prefix(record, problem, replace(prefix, n=n, radius=radius)))

    return bound(dims, prefix.radius, prefix.n)


def _least(theorem: Theorem, problem: Problem, prefix: Prefix) -> Bound:
    """Return the least error bound of a prefix over all concentrations."""
    assert theorem.free_concentration is not None

    def bound_at(concentration: float) -> Bound:
        at = replace(problem, concentration=min(concentration, LARGEST_CONCENTRATION))
        return settle(theorem.sup_error(at, prefix))

    return bound_at(theorem.free_concentration(problem, prefix, lambda lam: bound_at(lam).log))


def tokens_within(memory: float, dim: int, n_outputs: int = 1) -> int:
    """Return how many float64 control points with values fit so many bytes, ``memory // (8 (dim + 1 + n_outputs))``.

    Parameters
    ----------
    memory, dim, n_outputs
        Bytes, up to 1e300; the dimension, of control points of m + 1 numbers; components of a value.

    Raises
    ------
    ValueError, TypeError
        For arguments outside their ranges, and where not one token fits.

    Examples
    --------
    >>> from bounds.error import tokens_within
    >>> tokens_within(1e6, dim=3), tokens_within(1e6, dim=3, n_outputs=4)
    (25000, 15625)
    """
    size = 8 * (_checks.dimension(dim) + 1 + _checks.integer(n_outputs, "n_outputs", minimum=1))
    budget = _checks.real(memory, "memory", above=0.0, maximum=MOST_POINTS)
    if budget < size:
        raise ValueError(f"'memory' must be at least {size} bytes, one token for dim = {dim}, got {budget:g}")
    return int(budget // size)
