"""Measured errors: the largest error of a head on one target, and on all targets of Lipschitz constant 1."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks, sphere
from .._loading import load
from .._norms import lengths
from .._types import Float64
from ..points import nodes
from ..points.pointset import Points, require_equal
from ..summation import angle_mean
from ..target import Target
from .records import ErrorInterval, Proof, as_proof
from .search import largest_error, sample

if TYPE_CHECKING:
    from .certified import Budget


def sup_error(
    head: Callable[[Any], ArrayLike],
    target: Callable[[Any], ArrayLike],
    *,
    n: int = 20_000,
    points: ArrayLike | None = None,
    refine: int = 16,
    workers: int | None = None,
    rng: np.random.Generator | int | None = 0,
    certified: bool | Proof = False,
) -> ErrorInterval:
    """Measure ``sup_x |head(x) - target(x)|`` in the Euclidean norm, and prove an upper bound of it if asked to.

    The errors of a quasi-uniform sample, and of control points if the head has any, are followed by a search from the
    worst of them. With `certified`, the sphere is cut into cells until each is proven to hold no error above the bound.

    Parameters
    ----------
    head, target : callable
        Map points (n, dim+1) to values (n,) or (n, p), both to the same shape. Without `points` one of them has a
        `dim`, as heads and targets have: ``Target(function, dim)`` says that of a function.
    n : int, default 20000
        Number of points of the sample, at least; up to half as many control points come on top.
    points : array_like, shape (k, dim+1), optional
        Use these points in place of the sample and the control points.
    refine : int, default 16
        Number of points from which the error is followed to a local maximum; 0 for none.
    workers : int or None, default None
        Passed to a head that takes it.
    rng : None, int or numpy.random.Generator, default 0
        Rotates the sample and chooses directions.
    certified : bool or Proof, default False
        Prove `upper`, within 5 % of `lower` or what a `Proof` says, for a core, split or classical head and a `Target`
        that states a degree (with a remainder) or a Lipschitz or Hoelder constant; a sup norm, smoothness and a third
        derivative make it faster. Of control points with concentrations of their own, each cell takes all: for up to
        some thousands of them.

    Returns
    -------
    ErrorInterval
        `lower` is a value that the error takes, up to roundings. `upper` is inf unless certified; then it is proven,
        with the roundings of the head's evaluation and the target's stated accuracy, or inf and `reason` says why. The
        proof is of the function that the head's stored numbers define. It is as good as the constants that
        ``certificate.constants`` names with their origins.

    Raises
    ------
    TypeError
        If `head` or `target` cannot be called, or the second is a head and the first is none; with `certified`, if
        `head` is no head of this library.
    ValueError
        If the dimension is unknown, the two return different shapes, one of them something that is not finite, an
        option is out of its range, or `checkpoint` is a file of another search.

    References
    ----------
    docs/theorems/6.5-certified-error.md.

    Examples
    --------
    >>> from spherapprox import EqualMeasurePartition, SplitHead, sup_error
    >>> height = lambda x: x[:, 2]
    >>> head = SplitHead.from_target(height, EqualMeasurePartition(2, 500), 100.0)
    >>> round(sup_error(head, height, n=2000).lower, 3)
    0.01
    >>> from spherapprox import targets
    >>> wave = targets.zonal_harmonic(2, 3)
    >>> interval = sup_error(SplitHead.from_target(wave, EqualMeasurePartition(2, 300), 40.0), wave, certified=True)
    >>> round(interval.lower, 3), round(interval.upper, 3)
    (0.137, 0.144)
    """
    _checks.callable_(head, "head")
    _checks.callable_(target, "target")
    if hasattr(target, "control_points") and not hasattr(head, "control_points"):
        order = f"{'a Target' if isinstance(head, Target) else 'a function'}, then a {type(target).__name__}"
        raise TypeError(f"'head' must come before 'target', got {order}: sup_error(head, target)")
    values_of: Callable[[Any], ArrayLike] = head
    with suppress(TypeError, ValueError):  # of callables without a signature
        if "workers" in inspect.signature(head).parameters:
            values_of = partial(head, **{"workers": workers})
    error = partial(_difference, values_of, target)
    budget = _budget(certified, workers)
    if budget is not None and not hasattr(head, "family"):
        raise TypeError(
            f"'head' must be a head to certify its error, got {type(head).__name__}: leave out certified=True"
        )
    generator = _checks.generator(rng)
    if points is not None:
        start = _checks.rows(points, "points").astype(np.float64)
    else:
        n = _checks.integer(n, "n", minimum=1, maximum=sphere.MAX_POINTS, limit="take a smaller 'n'")
        start = sample(_dimension(head, target), n, generator)
        controls = getattr(head, "control_points", None)
        if controls is not None:
            start = np.concatenate([start, controls[:: -(-2 * len(controls) // n)]])  # at most n/2 more
    interval = _search(error, start, refine, rng=generator, budget=budget)
    if budget is None:
        return interval
    from .certified import prove_head

    return prove_head(head, target, interval, error=error, budget=budget)


def prove_error(head: Any, target: Target, interval: ErrorInterval, *, slack: float, deadline: float) -> ErrorInterval:
    """Prove an upper end of a head's measured error, up to a time of `time.monotonic`.

    It is at most ``(1 + slack)`` times the error measured, for any slack: an upper end that is asked for can be proven
    where errors are roundings.
    """
    from .certified import Budget, prove_head

    budget = Budget(slack, Proof.max_evaluations, workers=None, progress=False, checkpoint=None, deadline=deadline)
    return prove_head(head, target, interval, error=partial(_difference, head, target), budget=budget)


def worst_case_error(
    points: Points,
    concentration: float,
    *,
    n: int = 20_000,
    refine: int = 16,
    workers: int | None = None,
    rng: np.random.Generator | int | None = 0,
    certified: bool | Proof = False,
) -> ErrorInterval:
    """Measure the split head's sup error over all targets of Lipschitz constant 1, or prove a bound of it.

    Among functions with ``|f(x) - f(y)| <= theta(x, y)``, the largest error at x of the split head with values
    ``f(b_k)`` is ``W(x) = sum_k w_k(x) theta(x, b_k)``, w_k(x) the softmax weights: no function needs to be known. For
    a Lipschitz constant L it is L times that.

    Parameters
    ----------
    points : EqualMeasurePartition, PointSet or array_like (k, dim+1)
        Control points; of a partition, the centres. A point set must have equal weights.
    concentration : float
        lambda, at least 0.
    n, refine, rng, certified
        As in `sup_error`; local maxima of W are near vertices of Voronoi cells.
    workers : int or None, default None
        Threads, as in `spherapprox.evaluate`; the result is the same for any number.

    Returns
    -------
    ErrorInterval
        `lower` is a value of W, to 1e-14 relative for lambda >= 100 and 1e-8 absolute below; `upper` is inf, or proven.

    Raises
    ------
    TypeError, ValueError
        If the points are none of a sphere, or an option is out of its range.

    References
    ----------
    docs/theorems/4.4-split-head.md and 6.5-certified-error.md.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.error import Proof, worst_case_error
    >>> poles = np.array([[0.0, 1.0], [0.0, -1.0]])
    >>> worst = worst_case_error(poles, 50.0, n=100, certified=Proof(slack=0.01))
    >>> round(worst.lower, 6), round(worst.upper, 6)  # at the equator both angles are pi/2
    (1.570796, 1.586504)
    """
    rows, weights = nodes(points)
    require_equal(weights)
    controls = rows.astype(np.float64)
    generator = _checks.generator(rng)
    n = _checks.integer(n, "n", minimum=1, maximum=sphere.MAX_POINTS, limit="take a smaller 'n'")
    start = sample(controls.shape[1] - 1, n, generator)
    error = partial(angle_mean, control_points=controls, concentration=concentration, workers=workers)
    budget = _budget(certified, workers)
    interval = _search(error, start, refine, rng=generator, budget=budget)
    if budget is None:
        return interval
    from .certified import prove_angle

    return prove_angle(controls, float(concentration), interval, error=error, budget=budget)


def _search(
    error: Callable[[Float64], Float64], start: Float64, refine: int, *, rng: np.random.Generator, budget: Budget | None
) -> ErrorInterval:
    refine, progress = _checks.integer(refine, "refine", minimum=0), budget is not None and budget.progress
    return largest_error(error, start, refine, rng=rng, progress=progress)


def _difference(head: Callable[[Any], ArrayLike], target: Callable[[Any], ArrayLike], x: Float64) -> Float64:
    """Return the Euclidean norm of head(x) - target(x), (n,)."""
    h = _checks.values_for(_checks.called(head, x), "head(x)", len(x), owner="the points")
    f = _checks.values_for(_checks.called(target, x), "target(x)", len(x), owner="the points")
    _checks.shaped(h, "head", f.shape, note=" as 'target' does", verb="return")
    return lengths(np.subtract(h, f, dtype=np.float64).reshape(len(x), -1))


def _budget(certified: bool | Proof, workers: int | None) -> Budget | None:
    """Check the options of a proof; None if none is asked for."""
    if (proof := as_proof(certified, Proof())) is None:
        return None
    slack = _checks.real(proof.slack, "slack", minimum=1e-4, maximum=16.0)
    max_evaluations = _checks.real(proof.max_evaluations, "max_evaluations", minimum=1000.0)
    path = None if proof.checkpoint is None else _checks.path(proof.checkpoint, "checkpoint")
    progress = _checks.flag(proof.progress, "progress")
    load(f"{__package__}.certified")  # proofs take more modules than measurements
    from .certified import Budget

    return Budget(slack, max_evaluations, _checks.workers(workers), progress=progress, checkpoint=path)


def _dimension(head: object, target: object) -> int:
    """Return the sphere's dimension stated by the head or the target."""
    own = [getattr(function, "dim", None) for function in (head, target)]
    dims = [_checks.dimension(dim, maximum=sphere.MAX_POINTS) for dim in own if dim is not None]
    if not dims:
        raise ValueError("'target' must have a sphere where 'head' has none, got a function: Target(function, dim)")
    if len(set(dims)) > 1:
        raise ValueError(f"'head' and 'target' must live on the same sphere, got dim = {' and '.join(map(str, dims))}")
    return dims[0]
