"""The inverse forms: the error that a theorem promises for given tokens, and the concentration at which it is least."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from spherapprox import _checks
from spherapprox.partition import EqualMeasurePartition
from spherapprox.points import PointSet
from spherapprox.target import Target

from .covering import MOST_POINTS
from .pointwise import least
from .records.bound import Bound, over_arrays, settle
from .records.problem import LARGEST_CONCENTRATION, LEAST_SLACK
from .records.theorem import Prefix, Theorem
from .theorems import POINTWISE, THEOREMS
from .theorems._given import checked_prefix, of_points, of_target, require_dim, theorem_name

__all__ = ["best_concentration", "error_bound", "tokens_within"]

ERRORS = {theorem.name: theorem for theorem in THEOREMS.values() if theorem.error}
"""The theorems that have an error form."""
FREE = {name: theorem for name, theorem in ERRORS.items() if theorem.free_concentration}
"""The theorems whose concentration can be chosen."""


def error_bound(
    *, dim: ArrayLike | None = None, theorem: str, target: Target | None = None,
    points: EqualMeasurePartition | PointSet | None = None, lipschitz: float | None = None,
    concentration: ArrayLike | None = None, radius: ArrayLike | None = None, n: ArrayLike | None = None,
    sup_norm: float | None = None, exponent: float | None = None, separation: float | None = None,
    degree: int | None = None, exactness: int | None = None, covering: str = "best", ragozin: float | None = None,
    harmonic: float = 1.0, strict: bool = False, smoothness: float | None = None,
) -> Any:  # fmt: skip
    """Bound the sup error of a head at a given concentration, radius and number of control points.

    Parameters
    ----------
    dim : int or array_like
        The manifold's dimension m from 1 to 1e6; may be left out beside `target` or `points`.
    theorem : str
        A name of the table that ``help(bounds)`` prints, one for which it lists what is needed here; the radius is
        that of equal-measure cells or of a cover, as the theorem says. ``"lower"`` is what no scheme can undercut for
        every such target; ``"sharp-split"`` is the smaller of two where separation is given. ``"thesis"`` is
        ``"thesis-core"`` and ``"sharp"`` is ``"sharp-core"``.
    target : Target, optional
        Its dim, lipschitz, exponent, sup_norm and smoothness are taken where they are not given.
    points : EqualMeasurePartition or PointSet, optional
        The control points: what the theorem needs of dim, n, radius, separation and degree (for
        ``"sharp-core-spectral"`` exactness) is taken from them where it is not given. Radii of equal-measure cells are
        a partition's only.
    lipschitz, exponent : float
        The target's modulus: ``|f(x) - f(y)| <= lipschitz theta(x, y)^exponent``, 0 < exponent <= 1, in any norm; the
        exponent is 1 where neither it nor a target is given.
    concentration : float or array_like
        lambda, 0 to 1e150.
    radius : float or array_like
        Radians. Where it is missing and n is given: the least one that a theorem promises for n points, of a cover
        (`covering_radius`) or of cells of equal measure.
    n : float or array_like
        Number of control points (tokens), 1 to 1e300; no number of sample points, as `n` is in `sup_error`.
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
    smoothness : float
        H, a bound of second derivatives along unit-speed geodesics, for the theorems that need it.

    Returns
    -------
    Bound
        Of the sup error, in the unit of the target; an object array of them for array arguments.

    Raises
    ------
    TypeError
        When an argument that the theorem needs is missing; the message names it.
    ValueError
        For arguments outside their ranges, and points that the theorem does not speak of.
    HypothesisError
        When `strict` and a hypothesis fails.

    See Also
    --------
    prefix_length : the inverse, the number of control points for an error.
    best_concentration : the same at the concentration where it is least.

    References
    ----------
    docs/theorems/index.md.

    Examples
    --------
    >>> bound = error_bound(dim=2, theorem="sharp-split", lipschitz=1.0, concentration=2000.0, radius=0.05, n=2000)
    >>> round(bound.value, 4)
    0.1336
    >>> [round(b.value, 3) for b in error_bound(dim=2, theorem="lower", lipschitz=1.0, n=[100, 10_000])]
    [0.221, 0.022]
    >>> from spherapprox import EqualMeasurePartition, Target
    >>> height = Target(lambda x: x[:, -1], dim=2, lipschitz=1.0, sup_norm=1.0)
    >>> cells = EqualMeasurePartition(2, 2000)
    >>> round(error_bound(target=height, points=cells, theorem="sharp-split-equal", concentration=2000.0).value, 4)
    0.0869
    """
    stated, strict = ERRORS[theorem_name(theorem, ERRORS)], _checks.flag(strict, "strict")
    known = of_target(
        target, dim, lipschitz=lipschitz, exponent=exponent, sup_norm=sup_norm, smoothness=smoothness
    )  # fmt: skip
    known |= {"radius": radius, "n": n, "separation": separation, "degree": degree, "exactness": exactness}
    known = of_points(points, stated, known)

    def one(d: object, lam: object, rho: object, count: object) -> Bound:
        given = known | {"dim": d, "concentration": lam, "radius": rho, "n": count}
        prefix = checked_prefix(stated, given, covering=covering, ragozin=ragozin, harmonic=harmonic)
        return settle(_promised(stated, prefix), strict=strict)

    return over_arrays(one, known["dim"], concentration, known["radius"], known["n"])


def _promised(theorem: Theorem, prefix: Prefix) -> Bound:
    """Return a theorem's error bound for a prefix."""
    assert theorem.error is not None
    log, hypotheses = theorem.error(prefix)
    used = None if math.isnan(prefix.radius) else prefix.radius
    lam = prefix.problem.concentration
    return Bound("sup error", log, theorem.side, theorem.name, theorem.reference, hypotheses, lam, used)


def best_concentration(
    *, dim: ArrayLike | None = None, theorem: str, target: Target | None = None,
    points: EqualMeasurePartition | PointSet | None = None, lipschitz: float | None = None,
    radius: ArrayLike | None = None, n: ArrayLike | None = None, memory: ArrayLike | None = None,
    n_outputs: int | None = None, sup_norm: float | None = None, exponent: float | None = None, covering: str = "best",
    slack: float = 1e-3, smoothness: float | None = None, degree: int | None = None,
) -> Any:  # fmt: skip
    """Minimise the error bound of given control points over the concentration.

    The result is a bound on the error; the concentration to make the head with is its attribute `concentration`.

    Parameters
    ----------
    dim, theorem, target, points, lipschitz, radius, n, sup_norm, exponent, covering, smoothness, degree
        As in `error_bound`; theorem is one whose concentration can be chosen, as ``"sharp-core"`` or
        ``"sharp-split"``. One of points, n, memory and radius is needed, or the degree of a quadrature. Or it is one of
        `second_order_bound`, which takes a target and points alone, bare rows among them: no error is measured.
    memory : float or array_like
        Bytes, in place of n: as many float64 tokens, each a control point with its value, as fit.
    n_outputs : int, optional
        Components of a value, for `memory`; by default those that the target states, else 1.
    slack : float
        ``"sharp-split-nearest"`` and ``"sharp-split-equal"`` fall to an infimum, W <= radius, as lambda grows without
        end; the smallest lambda with W <= (1 + slack) radius is taken, or 1e150 if that is smaller. At least 1e-12.

    Returns
    -------
    Bound
        Of the sup error: `value` is the least error, `concentration` where it is reached. An object array of them for
        array arguments. By second order a `PointwiseBound`, of the errors where it was searched for.

    Raises
    ------
    ValueError, TypeError
        As `error_bound`, and where the memory holds no token.

    See Also
    --------
    concentration : the threshold Lambda(eps) of the kernel alone, a number.
    prefix_length : the number of control points for an error, with the concentration.

    References
    ----------
    docs/theorems/4.3-core-head.md, 4.4-split-head.md, 4.B-equal-measure.md and 4.D-centroids.md.

    Examples
    --------
    >>> best = best_concentration(dim=2, theorem="sharp-split", lipschitz=1.0, n=2000)
    >>> round(best.value, 3), best.concentration > 1e6
    (0.055, True)
    >>> best_concentration(dim=2, theorem="sharp-split", lipschitz=1.0, memory=64_000) == best
    True
    >>> from spherapprox import EqualMeasurePartition, SplitHead, Target, targets
    >>> height = Target(lambda x: x[:, -1], dim=2, lipschitz=1.0, sup_norm=1.0)
    >>> cells = EqualMeasurePartition(2, 2000)
    >>> best = best_concentration(target=height, points=cells, theorem="sharp-split-equal")
    >>> head = SplitHead.from_target(height, cells, best.concentration)
    >>> best = best_concentration(target=targets.zonal_harmonic(2, 3), points=cells, theorem="second-order-local")
    >>> round(best.value, 3), 500.0 < best.concentration < 650.0
    (0.013, True)
    """
    name = theorem_name(theorem, {**FREE, **POINTWISE})
    if name in POINTWISE:
        others = {"lipschitz": lipschitz, "radius": radius, "n": n, "memory": memory, "sup_norm": sup_norm}
        for other, value in (others | {"smoothness": smoothness, "degree": degree}).items():
            _checks.left_out(value, other, f"theorem='{name}' takes a target and points alone")
        return least(name, target, points)
    stated = FREE[name]
    known = of_target(
        target, dim, lipschitz=lipschitz, exponent=exponent, sup_norm=sup_norm, smoothness=smoothness
    )  # fmt: skip
    known |= {"concentration": 0.0, "radius": radius, "n": n, "degree": degree}
    known |= dict.fromkeys(("separation", "exactness"))
    _checks.not_both(memory, points, "'memory' is in place of 'points'")
    known = of_points(points, stated, known)
    if n_outputs is None:
        n_outputs = getattr(target, "n_outputs", None) or 1
    outputs = _checks.integer(n_outputs, "n_outputs", minimum=1)
    spare = _checks.real(slack, "slack", minimum=LEAST_SLACK, below=1.0)
    _checks.not_both(memory, n, "'memory' is in place of 'n'")

    def one(d: Any, rho: Any, count: Any, budget: Any) -> Bound:
        require_dim({"dim": d})
        tokens = count if budget is None else tokens_within(budget, d, outputs)
        return _least(stated, known | {"dim": d, "radius": rho, "n": tokens}, covering, spare)

    return over_arrays(one, known["dim"], known["radius"], known["n"], memory)


def _least(theorem: Theorem, given: dict[str, Any], covering: str, slack: float) -> Bound:
    """Return the least error bound over all concentrations for one set of the other arguments."""
    assert theorem.free_concentration is not None
    uniform = checked_prefix(theorem, given, covering=covering)  # every argument is checked here

    def bound_at(concentration: float) -> Bound:
        problem = replace(uniform.problem, concentration=min(concentration, LARGEST_CONCENTRATION))
        return settle(_promised(theorem, replace(uniform, problem=problem)), strict=False)

    return bound_at(theorem.free_concentration(uniform, slack, lambda lam: bound_at(lam).log))


def tokens_within(memory: float, dim: int, n_outputs: int = 1) -> int:
    """Return the number of float64 control points with values that fit into so many bytes.

    Parameters
    ----------
    memory : float
        Bytes, up to 1e300; at least those of one token.
    dim : int
        The manifold's dimension m >= 1: a control point is m + 1 numbers.
    n_outputs : int
        Components of a value, at least 1.

    Returns
    -------
    int
        ``memory // (8 (dim + 1 + n_outputs))``.

    Raises
    ------
    ValueError, TypeError
        For arguments outside their ranges, and where not one token fits.

    Examples
    --------
    >>> tokens_within(1e6, dim=3), tokens_within(1e6, dim=3, n_outputs=4)
    (25000, 15625)
    """
    size = 8 * (_checks.dimension(dim) + 1 + _checks.integer(n_outputs, "n_outputs", minimum=1))
    budget = _checks.real(memory, "memory", above=0.0, maximum=MOST_POINTS)
    if budget < size:
        raise ValueError(f"'memory' must be at least {size} bytes, one token for dim = {dim}, got {budget:g}")
    return int(budget // size)
