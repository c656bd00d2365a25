"""`shortest_head`: the fewest tokens that approximate one target."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._types import Float64
from ..error import ErrorInterval, lengths, sup_error
from ..error.search import sample
from ..heads import CoreHead, SplitHead
from ..heads.head import Head
from ..target import Target
from .result import Rung, ShortestHead
from .search import Found, Search, Wanted

KINDS: dict[str, type[Head]] = {"core": CoreHead, "split": SplitHead}
_SCALE_POINTS = 20_000
"""Points that show how large the target is."""
_RIDGE = 0.01
"""The ridge on the values is the square of this times eps: no error is visibly larger, and values do not drift."""
_REPEATS = 5
"""How often a search goes on where its head's error turns out to be larger."""
_LEAST = 1e-13
"""Errors over the target's size below which roundings decide."""


def shortest_head(
    target: Callable[[Any], ArrayLike],
    eps: float,
    kind: str = "split",
    *,
    dim: int | None = None,
    relative: bool = False,
    max_tokens: int = 300,
    starts: int = 4,
    time_limit: float | None = None,
    certified: bool = False,
    rng: int = 0,
    progress: bool = False,
) -> ShortestHead:
    """Search for the shortest head whose sup error on a target is at most eps, by moving its control points, too.

    Parameters
    ----------
    target : Target or callable
        Maps points (n, dim+1) to values (n,) or (n, p).
    eps : float
        The sup error asked for, in the Euclidean norm of the values.
    kind : {"split", "core"}
        The family of heads.
    dim : int, optional
        m of S^m, for a plain function.
    relative : bool, default False
        Whether eps is a share of sup |f|: of the target's `sup_norm`, or the largest value at a sample.
    max_tokens : int, default 300
        The largest number of tokens to try.
    starts : int, default 4
        Starts from points of equal measure for each number of tokens, besides those from longer and shorter heads.
    time_limit : float, optional
        Seconds after which no other fit is begun; the result then depends on the machine.
    certified : bool, default False
        Prove an upper end of the error of the head found: `sup_error` says what a target must state for that.
    rng : int, default 0
        Seed of the samples and the starts; the same one gives the same head with the same number of BLAS threads.
    progress : bool, default False
        Print a line for each number of tokens.

    Returns
    -------
    ShortestHead
        The shortest head *found*: that no shorter one was found is evidence, no proof. `reached` is false, with a
        warning, if none within eps was found; then it is the one of least error.

    Raises
    ------
    TypeError, ValueError
        If an option is out of its range, eps is at most 1e-13 sup |f|, or the target does not fit.

    Warns
    -----
    RuntimeWarning
        If eps is not reached.

    Notes
    -----
    For a number of tokens, squares over a sample are minimised over keys and values together, by variable projection
    and Levenberg and Marquardt's steps, then the largest error by Lawson's weights. Numbers of tokens follow from the
    errors before, until n tokens suffice and n - 1 fail. Where the error found between the samples is above eps, its
    peaks join them, and the fit is repeated.

    References
    ----------
    Golub and Pereyra (2003), Separable nonlinear least squares: the variable projection method and its applications;
    Kaufman (1975), A variable projection method for solving separable nonlinear least squares problems; Lawson (1961),
    Contributions to the theory of linear least maximum approximation.

    Examples
    --------
    >>> from spherapprox import targets
    >>> from spherapprox.shortest import shortest_head
    >>> found = shortest_head(targets.geomagnetic_field(2025.0), 0.1, relative=True)
    >>> found.n, found.reached  # a Riemann head of 100 tokens errs by 7 % of the largest value
    (5, True)
    """
    # Step 1: check the arguments, and scale the target
    known = _target(target, dim)
    cls = KINDS[_checks.choice(kind, "kind", KINDS)]
    eps = _checks.real(eps, "eps", above=0.0)
    most = _checks.integer(max_tokens, "max_tokens", minimum=1, maximum=10_000)
    starts = _checks.integer(starts, "starts", minimum=1, maximum=1000)
    seed = _checks.integer(rng, "rng", minimum=0, maximum=2**31)
    limit = math.inf if time_limit is None else _checks.real(time_limit, "time_limit", above=0.0)
    certified, progress = _checks.flag(certified, "certified"), _checks.flag(progress, "progress")
    values = _table(known, sample(known.dim, _SCALE_POINTS, np.random.default_rng(seed)))
    size = float(lengths(values).max()) or 1.0
    if _checks.flag(relative, "relative"):
        eps *= known.sup_norm or size
    if eps <= _LEAST * size:
        raise ValueError(f"'eps' must be above 1e-13 sup|f| = {_LEAST * size:.3g}, where roundings decide, got {eps:g}")
    # Step 2: search
    wanted = Wanted(
        lambda x: _table(known, x) / size, known.dim, eps / size, cls is SplitHead, True, (_RIDGE * eps / size) ** 2,
        most, starts, seed, time.monotonic() + limit,
    )  # fmt: skip

    def report(found: Found) -> None:
        if progress:
            print(_line(found, eps, size), flush=True)

    search = Search(wanted, report)
    head, error = _searched(search, known, cls, size, eps)
    reached = error.lower <= eps
    # Step 3: the record
    error = sup_error(head, known, certified=True) if certified else error
    history = tuple(_row(search, rung, size) for _, rung in sorted(search.rungs.items()))
    below = [row for row in history if row.n < len(head) and not row.reached]
    failed = (below[-1].n, below[-1].starts) if below and reached else (0, 0)
    return ShortestHead(head, error, eps, reached, failed, history, _notes(search, reached, eps))


def _searched(search: Search, target: Target, cls: type[Head], size: float, eps: float) -> tuple[Head, ErrorInterval]:
    """Run a search, again where its head's error turns out to be larger; return the head and its error."""
    scalar = np.asarray(target(np.eye(1, target.dim + 1))).ndim == 1
    for last in (False,) * _REPEATS + (True,):
        found = search.run()
        head = made(cls, found, size, scalar)
        error = sup_error(head, target)
        if last or error.lower <= eps or found.error > search.wanted.eps:
            break
        search.join(error.at[None])
        del search.rungs[len(found.tokens)]
    return head, error


def made(cls: type[Head], found: Found, size: float, scalar: bool) -> Head:
    """Return the head of tokens for a target divided by its size."""
    tokens = found.tokens
    b = tokens.keys / tokens.lengths[:, None]
    values = size * tokens.values
    return cls(b, values[:, 0] if scalar else values, tokens.concentration)


def _target(target: Any, dim: int | None) -> Target:
    """Return the target as a `Target`."""
    if isinstance(target, Target):
        _checks.agreeing(dim, "dim", target.dim, f", as '{target.name}' says")
        return target
    _checks.callable_(target, "target")
    return Target(target, _checks.given(dim, "dim", "m of the sphere S^m, for a plain function"))


def _table(target: Target, x: Float64) -> Float64:
    return np.asarray(target(x), dtype=np.float64).reshape(len(x), -1)


def _row(search: Search, found: Found, size: float) -> Rung:
    """Return the record of a rung, in the target's units."""
    tokens = found.tokens
    x = sample(search.wanted.dim, 3000, np.random.default_rng(search.wanted.seed))
    y, weights = search.wanted.function(x), tokens.matrix(x)
    rms = math.sqrt(float(np.square(weights @ tokens.values - y).sum(axis=1).mean()))
    sums = (weights @ np.linalg.norm(tokens.values, axis=1)).max() / max(float(np.linalg.norm(y, axis=1).max()), 1e-300)
    return Rung(
        len(tokens), size * found.error, size * rms, tokens.concentration,
        size * float(np.abs(tokens.values).max()), max(math.log10(max(float(sums), 1e-300)), 0.0),
        float(np.linalg.cond(weights)), found.start, found.starts, found.seconds, found.error <= search.wanted.eps,
    )  # fmt: skip


def _line(found: Found, eps: float, size: float) -> str:
    """Return a line for the progress."""
    n, error = len(found.tokens), size * found.error
    said = f"N={n} error {error:.3g}" if error <= eps else f"N={n} not in {found.starts} starts: {error:.3g}"
    return f"{said} (eps {eps:.3g}) by {found.start}, lambda {found.tokens.concentration:.3g}, {found.seconds:.1f} s"


def _notes(search: Search, reached: bool, eps: float) -> tuple[str, ...]:
    """Return what a reader should know of a search that failed, and warn."""
    if reached:
        return ()
    guess = search.expected()
    more = "" if guess is None or guess <= max(search.rungs) else f"; some {guess} tokens may reach it (max_tokens=)"
    note = f"no head within eps = {eps:.4g} was found{more}"
    _checks.warn(note, RuntimeWarning)
    return (note,)
