"""`shortest_head`: the fewest tokens that approximate one target."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _archive, _checks
from .._threads import one_blas_thread
from .._types import Float64
from ..error import lengths
from ..error.search import largest_value, sample
from ..fitting.sup import LARGEST
from ..heads.head import Head
from ..heads.registry import FAMILIES
from ..target import CONSTANTS, Target, as_target
from ..targets.circles import refuse_refuted
from .candidate import Goal
from .jumps import largest_jump
from .lower.api import bound_tokens
from .options import SearchOptions, TokenFormat
from .result import ShortestHead
from .session import Session

_SCALE_POINTS = 20_000
"""Points that show how large the target is."""
_RIDGE = 0.01
"""The ridge on the values is the square of this times eps: no error is visibly larger, and values do not drift."""
_CELLS = 100
"""Cells of concentrations for a lower bound: a few seconds."""
_LARGEST = 1e300
"""The largest value of a target: heads have larger ones."""
_RESERVE = 0.4
"""Share of the time limit that is left for a proof and a lower bound."""
_LEAST = 1e-13
"""Errors over the target's size below which roundings decide."""


def shortest_head(
    target: Callable[[Any], ArrayLike],
    eps: float,
    kind: str | None = None,
    *,
    relative: bool = False,
    norm: str = "sup",
    tokens: TokenFormat = TokenFormat(),  # noqa: B008  # frozen
    search: SearchOptions = SearchOptions(),  # noqa: B008
    certified: bool = False,
) -> ShortestHead:
    """Search for the shortest head whose sup error on a target is at most eps, by moving its control points, too.

    Parameters
    ----------
    target : Target or head
        Maps points (n, dim+1) to values (n,) or (n, p); a head is one that is to be shortened.
    eps : float
        The sup error asked for, in the Euclidean norm of the values.
    kind : {"split", "core"}, optional
        The family of heads; by default that of a head that is to be shortened, else "split".
    relative : bool, default False
        Whether eps is a share of sup |f|: of the largest value that a search finds, not of a bound as `sup_norm` is.
    norm : {"sup", "rms"}
        What is to be at most eps: the largest error, or the root of its mean square over the sphere.
    tokens : TokenFormat
        What tokens are stored as: one concentration for all or one each, a bound of values, numbers of 16 bits.
    search : SearchOptions
        The largest number of tokens, the effort for each, a time limit, and an earlier search to go on from.
    certified : bool, default False
        Prove an upper end of the error of the head found, eps where this is reached, and the lower bound, roundings
        included: `sup_error` and `token_lower_bound` say what a target must state for that.

    Returns
    -------
    ShortestHead
        The shortest head *found*: that no shorter one was found is evidence, no proof, and on another machine the
        search may end elsewhere. `reached` is false, with a warning, if none within eps was found; then it is the one
        of least error. For a target that is such a head itself no longer one is returned, unless an option excludes it:
        `max_tokens`, `value_bound`, `dtype`, or unit keys for one with a concentration for each token.

    Raises
    ------
    TypeError, ValueError
        If an option is out of its range, eps is at most 1e-13 sup |f|, or the target does not fit; with `certified` or
        `lower`, if its values, or the head found, refute a constant that it states.

    Warns
    -----
    RuntimeWarning
        If eps is not reached. Where no head can, as the target jumps by more than 2 eps or a split head's `value_bound`
        is below its largest value by more than eps, only the first few lengths are tried. If eps is relative, and the
        target's `sup_norm` exceeds the largest value found by 10 %.

    Notes
    -----
    For a number of tokens, squares over a sample are minimised over keys and values together, by variable projection
    and Levenberg and Marquardt's steps, then the largest error by Lawson's weights. Numbers of tokens follow from the
    errors before, until n tokens suffice and n - 1 fail. Where the error found between the samples is above eps, its
    peaks join them, and the fit is repeated. In the end least squares at control points that stay (equal measure,
    Fibonacci, Gauss) are tried with fewer tokens. While it runs, BLAS has one thread.

    References
    ----------
    Golub and Pereyra (2003), Separable nonlinear least squares: the variable projection method and its applications;
    Kaufman (1975), A variable projection method for solving separable nonlinear least squares problems; Lawson (1961),
    Contributions to the theory of linear least maximum approximation.

    Examples
    --------
    >>> from spherapprox import shortest_head, targets
    >>> result = shortest_head(targets.geomagnetic_field(2025.0), 0.1, relative=True)
    >>> result.n < 9, result.reached  # a Riemann head of 100 tokens errs by 7 % of the largest value
    (True, True)
    """
    # Step 1: check the arguments, then scale the target
    f = as_target(target)
    certified, relative = _checks.flag(certified, "certified"), _checks.flag(relative, "relative")
    tokens, search = _checks.instance(tokens, "tokens", TokenFormat), _checks.instance(search, "search", SearchOptions)
    lower, progress = _checks.flag(search.lower, "lower"), _checks.flag(search.progress, "progress")
    if search.checkpoint is not None:
        _archive.place(search.checkpoint, "checkpoint")
    start = _archive.load(search.start) if isinstance(search.start, str | os.PathLike) else search.start
    if start is not None:
        start = _checks.instance(start, "start", ShortestHead, remedy="shortest_head makes them")
    limit = math.inf if search.time_limit is None else _checks.real(search.time_limit, "time_limit", above=0.0)
    deadline = time.monotonic() + limit
    reserve = _RESERVE * limit if (lower or certified) and limit < math.inf else 0.0
    if kind is None:
        kind = target.family if isinstance(target, Head) else "split"
    goal = _make_goal(f, eps, kind, norm=norm, tokens=tokens, search=search, deadline=deadline - reserve)
    if lower or certified:
        refuse_refuted(f)
    goal, x, values = _scale_goal(goal, f, relative)
    own = _own_head(target, goal)
    goal = goal if own is None else replace(goal, max_tokens=max(len(own) - 1, 1))
    # Step 2: search
    session = Session(
        goal, np.asarray(f(x[:1])).ndim == 1, f"{tokens}, norm={norm}, polish={search.polish}",
        progress=progress, checkpoint=search.checkpoint, own=own,
    )  # fmt: skip
    if start is not None:
        _check_start(start, goal, outputs=values.shape[1])
        session.resume(start)
    result = session.search(f, _list_obstacles(goal, x, values))
    # Step 3: prove the error, and a lower bound
    result = result.proved(f, deadline=deadline) if certified else result
    unit = goal.unit and tokens.dtype is None
    bound = _bound_below(f, result, unit, certified=certified, deadline=deadline) if lower else {}
    return replace(result, **bound)


def _make_goal(
    target: Target, eps: float, kind: str, *, norm: str, tokens: TokenFormat, search: SearchOptions, deadline: float
) -> Goal:
    """Check the options of a search, and return its goal for the target as it is."""
    normalize = _checks.choice(kind, "kind", FAMILIES) == "split"
    value_bound, dtype = math.inf, tokens.dtype
    if tokens.value_bound is not None:
        value_bound = _checks.real(tokens.value_bound, "value_bound", above=0.0)
    if dtype is not None:
        value_bound = min(value_bound, LARGEST[_checks.choice(dtype, "dtype", LARGEST)])
    return Goal(
        lambda x: np.asarray(target(x), dtype=np.float64).reshape(len(x), -1), target.dim,
        _checks.real(eps, "eps", above=0.0), normalize=normalize,
        unit=_checks.choice(tokens.keys, "keys", ("unit", "free")) == "unit", ridge=0.0,
        max_tokens=_checks.integer(search.max_tokens, "max_tokens", minimum=1, maximum=10_000),
        starts=_checks.integer(search.starts, "starts", minimum=1, maximum=1000),
        seed=_checks.integer(search.rng, "rng", minimum=0, maximum=2**31),
        norm=_checks.choice(norm, "norm", ("sup", "rms")), value_bound=value_bound, dtype=dtype,
        polish=_checks.flag(search.polish, "polish"), deadline=deadline,
    )  # fmt: skip


def _own_head(target: object, goal: Goal) -> Head | None:
    """Return the target as a head of the family, None if it is none, or none that options admit."""
    if not isinstance(target, Head) or target.family != goal.family or len(target) > goal.max_tokens:
        return None
    free = np.ndim(target.concentration) > 0 and goal.unit
    if free or goal.dtype is not None or not np.abs(target.values).max() <= goal.size * goal.value_bound:
        return None
    return FAMILIES[goal.family](target.control_points, target.values, target.concentration)


def _scale_goal(goal: Goal, target: Target, relative: bool) -> tuple[Goal, Float64, Float64]:
    """Return the goal for the target divided by its size, with a sample and the scaled values there."""
    with one_blas_thread():
        x = sample(goal.dim, _SCALE_POINTS, np.random.default_rng(goal.seed))
    values, eps = goal.function(x), goal.eps
    size = float(lengths(values).max())
    if not size <= _LARGEST:
        raise ValueError(f"'target' must have values up to {_LARGEST:g}, got {size:g}: divide it by a constant")
    if relative:
        if eps >= 1.0:
            raise ValueError(f"'eps' must be below 1 with relative=True, got {eps:g}: it is a share, 5 % is 0.05")
        size = largest_value(lambda x: lengths(goal.function(x)), target.sup_norm, x)
        eps *= size or 1.0
    size = max(size, eps)
    if eps <= _LEAST * size:
        raise ValueError(f"'eps' must be above 1e-13 sup|f| = {_LEAST * size:.3g}, where roundings decide, got {eps:g}")
    scaled = replace(
        goal, function=lambda x: goal.function(x) / size, eps=eps / size, ridge=(_RIDGE * eps / size) ** 2,
        value_bound=goal.value_bound / size, size=size,
    )  # fmt: skip
    return scaled, x, values / size


def _list_obstacles(goal: Goal, x: Float64, values: Float64) -> tuple[str, ...]:
    """Return why no head of any length comes within eps, from what the target has at a sample."""
    if goal.norm != "sup":
        return ()
    size = goal.size
    notes: tuple[str, ...] = ()
    if jump := largest_jump(goal.function, x, values, least=2.0 * goal.eps):
        notes += (f"the target jumps by {size * jump:.4g}: every head errs by {0.5 * size * jump:.4g} at least",)
    excess = float(np.abs(values).max()) - goal.value_bound
    if goal.normalize and excess > goal.eps:
        notes += (f"means of values within 'value_bound' stay {size * excess:.4g} below the target's largest",)
    return notes


def _bound_below(
    target: Target, result: ShortestHead, unit: bool, *, certified: bool, deadline: float
) -> dict[str, Any]:
    """Return a lower bound of the number of tokens for every concentration, proven if it can be, and its reason."""
    kind = result.head.family
    if result.norm == "rms" and (kind == "split" or not unit):
        return {"lower_reason": "bounds for these heads are for the largest error"}
    try:
        if time.monotonic() > deadline:
            raise TimeoutError
        bound = bound_tokens(target, result.eps, kind, unit=unit, certified=certified, budget=_CELLS, deadline=deadline)
    except TimeoutError:
        return {"lower_reason": "the time limit left none for it"}
    except ValueError as error:
        if not certified:
            return {"lower_reason": str(error)}
        return _bound_below(target, result, unit, certified=False, deadline=deadline)
    if not result.reached or bound.n <= result.n:
        return {"lower": bound.n, "lower_reason": f"{bound.reason}{', roundings included' if certified else ''}"}
    # constants that the target states, or an estimate, are wrong
    names = [name for name in CONSTANTS if target.origin(name) == "given" and (name != "remainder" or target.remainder)]
    evidence = f"a head of {result.n} tokens within eps = {result.eps:.4g} was found where the lower bound is {bound.n}"
    if not names:
        return {"lower_reason": f"{evidence}: it rests on an estimate that was too small"}
    constants = ", ".join(f"{name}={getattr(target, name):.6g}" for name in names)
    raise ValueError(
        f"'target' must have the constants that it states, got {target.name!r} with {constants}: {evidence}"
    )


def _check_start(start: ShortestHead, goal: Goal, *, outputs: int) -> None:
    """Check that a search that is to go on was for heads of the same kind."""
    family, dim, head = FAMILIES[goal.family], goal.dim, start.head
    if type(head) is not family or head.dim != dim or (head.n_outputs or 1) != outputs:
        raise ValueError(
            f"'start' must be a search for a {family.__name__} on S^{dim} with {outputs} outputs, got one that found "
            f"{head!r}: start anew"
        )
