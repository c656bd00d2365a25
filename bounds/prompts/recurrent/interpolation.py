"""Lipschitz functions in context: lengths of prompts, errors from so many values, bits of states (10.4)."""

from __future__ import annotations

import math
from functools import partial

from numpy.typing import ArrayLike

from spherapprox import _checks

from ...covering.lattice import log_ball
from ...records.bound import ACCURACY, Bound, Hypothesis, over_arrays, settle
from ...records.problem import LARGEST_DIM, WIDEST
from ...theorems._shells import log_density
from ..lengths import between
from .universal import universal_error, universal_length

REFERENCE = "docs/theorems/10.4-in-context-interpolation.md"
LENGTHS = ("extension", "grid", "grid-printed", "lower", "universal")
ERRORS = ("extension", "grid", "lower", "universal")
NORMS = ("max", "euclidean")
KERSHNER = 2.0 * math.pi / math.sqrt(27.0)
"""The least mean number of equal discs over a point of a plane that they cover."""
COUNTED = 1e15
"""Cells of an axis that are counted one by one; more of them are taken as a real number."""
SAMPLING = Hypothesis("the model knows f by values at N points that do not depend on the query", True)


def prompt_length(
    eps: ArrayLike, *, dim: ArrayLike, theorem: str = "extension", lipschitz: ArrayLike = 1.0, norm: str = "max",
    slope: ArrayLike | None = None,
) -> Bound:  # fmt: skip
    """Bound the number N of tokens, values of f each, from which a model takes a Lipschitz function on [0, 1]^d.

    See docs/theorems/10.4-in-context-interpolation.md; the quantity is "prompt length".

    Parameters
    ----------
    eps : float or array_like
        The error everywhere.
    dim : int or array_like
        d of the cube [0, 1]^d.
    theorem : str, default "extension"
        Upper bounds: ``"extension"``, for the program that takes the middle of all values that f may have
        (`spherapprox.prompts.recurrent.programs.Extension`); ``"grid"``, for the one that looks its cell up
        (`spherapprox.prompts.recurrent.programs.Grid`), whose steps have ramps; ``"grid-printed"``, which the thesis
        says of it: true only without ramps; ``"universal"``, for one network that knows neither L nor eps
        (`spherapprox.prompts.recurrent.programs.Universal`,
        docs/theorems/10.9-one-model-for-all-functions.md). A lower one, for every model that knows f by N values:
        ``"lower"``.
    lipschitz : float or array_like, default 1.0
        L with ``|f(x) - f(y)| <= L |x - y|``.
    norm : {"max", "euclidean"}
        The norm of x - y. ("extension" and "grid" measure in the maximum norm, where the constant is L or L sqrt(d).)
    slope : float or array_like
        mu of the program's steps, from 2: they rise over 2/mu. "grid" only.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from bounds.prompts import recurrent
    >>> for theorem in ("extension", "lower", "grid"):
    ...     slope = 1000.0 if theorem == "grid" else None
    ...     print(theorem, recurrent.prompt_length(0.05, dim=2, theorem=theorem, slope=slope).as_integer())
    extension 100
    lower 100
    grid 121
    >>> print(recurrent.prompt_length(0.05, dim=2, theorem="universal").as_integer())
    378
    """
    name, metric = _checks.choice(theorem, "theorem", LENGTHS), _checks.choice(norm, "norm", NORMS)
    _check_slope(slope, name)

    @over_arrays
    def entry(e: object, d: object, lip: object, mu: object) -> Bound:
        goal = between(e, "eps") / between(lip, "lipschitz")
        m = _checks.integer(d, "dim", minimum=1, maximum=LARGEST_DIM)
        if name == "lower":
            # 10.4 (lower)
            volume = _log_density(m) - log_ball(m) - m * math.log(goal) if metric == "euclidean" else -math.inf
            log, is_whole = _largest_count(0.5 / goal, m, volume)
            return Bound(
                "prompt length", log, "lower", theorem=name, reference=REFERENCE, hypotheses=(SAMPLING,), whole=is_whole
            )
        share = goal / _stretch(m, metric)
        if name == "universal":
            return universal_length(0.5 / share, m, constant=_stretch(m, metric) * between(lip, "lipschitz"))
        conditions: tuple[Hypothesis, ...] = (
            (Hypothesis("steps without ramps", True),) if name == "grid-printed" else ()
        )
        # 10.4 (extension), (grid)
        cells = 0.5 / share
        if name == "grid":
            cells, conditions = _cells_with_ramps(share, _steep(mu), m, norm=metric)
        count, is_whole = _count_cells(cells)
        log = m * math.log(count)
        return settle(
            Bound(
                "prompt length", log, "upper", theorem=name, reference=REFERENCE, hypotheses=conditions, whole=is_whole
            )
        )

    return entry(eps, dim, lipschitz, slope)  # type: ignore[no-any-return]


def error_bound(
    *, dim: ArrayLike, n: ArrayLike, theorem: str = "extension", lipschitz: ArrayLike = 1.0, norm: str = "max",
    slope: ArrayLike | None = None,
) -> Bound:  # fmt: skip
    """Bound the sup error of programs on [0, 1]^d whose prompt holds N values of a Lipschitz function.

    Parameters
    ----------
    dim, lipschitz, norm, slope
        As in `prompt_length`.
    n : int or array_like
        N; upper bounds use centres of a grid of k cells an axis, the largest k with k^d up to N, or a smaller one.
    theorem : {"extension", "grid", "lower", "universal"}
        As in `prompt_length`.

    Returns
    -------
    Bound
        On the quantity "sup error" (docs/theorems/10.4-in-context-interpolation.md). In the maximum norm "extension"
        and "lower" agree.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from bounds.prompts import recurrent
    >>> print(recurrent.error_bound(dim=2, n=64, theorem="grid", slope=1000.0))
    grid: sup error <= 0.0645  [docs/theorems/10.4-in-context-interpolation.md]
    """
    name, metric = _checks.choice(theorem, "theorem", ERRORS), _checks.choice(norm, "norm", NORMS)
    _check_slope(slope, name)

    @over_arrays
    def entry(d: object, count: object, lip: object, mu: object) -> Bound:
        m = _checks.integer(d, "dim", minimum=1, maximum=LARGEST_DIM)
        total = _checks.integer(count, "n", minimum=1)
        cells, constant = _root(total, m), between(lip, "lipschitz")
        if name == "lower":
            # 10.4 (lower)
            radius = 0.5 / cells
            if metric == "euclidean":
                radius = max(radius, math.exp((_log_density(m) - log_ball(m) - math.log(total)) / m))
            return Bound(
                "sup error", math.log(constant) + math.log(radius), "lower", theorem=name, reference=REFERENCE,
                hypotheses=(SAMPLING,),
            )  # fmt: skip
        if name == "universal":
            return universal_error(total, m, constant=constant * _stretch(m, metric))
        # 10.4 (extension)
        error = 0.5 / cells
        if name == "grid":
            narrow = min(cells, int(_steep(mu) / 2.0))  # ramps that overlap may cost more than wider cells
            error = min(_grid_error(count, _steep(mu), m, norm=metric) for count in (narrow, cells))
        log = math.log(constant) + math.log(_stretch(m, metric)) + math.log(error)
        return Bound("sup error", log, "upper", theorem=name, reference=REFERENCE)

    return entry(dim, n, lipschitz, slope)  # type: ignore[no-any-return]


def state_bits(eps: ArrayLike, *, dim: ArrayLike, lipschitz: ArrayLike = 1.0, norm: str = "max") -> Bound:
    """Bound the bits that a model's state holds between a prompt and a query that follows it, from below.

    Of M points of the cube, pairwise farther apart than ``2 eps / L``, some target takes values more than eps above or
    below 0, as one likes; two of these targets leave the model in different states.

    Parameters
    ----------
    eps, dim, lipschitz, norm
        As in `prompt_length`: the model takes every f with the constant L that stays below some number above eps.

    Returns
    -------
    Bound
        On the quantity "state bits" (docs/theorems/10.4-in-context-interpolation.md): M, in the maximum norm the
        largest one, otherwise that of a grid or of the densest lattice known here.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from bounds.prompts import recurrent
    >>> print(recurrent.state_bits(0.1, dim=8))
    packing: state bits >= 10^5.59  [docs/theorems/10.4-in-context-interpolation.md]
    """
    metric = _checks.choice(norm, "norm", NORMS)

    @over_arrays
    def entry(e: object, d: object, lip: object) -> Bound:
        apart = 2.0 * (between(e, "eps") / between(lip, "lipschitz"))
        m = _checks.integer(d, "dim", minimum=1, maximum=LARGEST_DIM)
        # 10.4 (state)
        volume = -math.inf
        if metric == "euclidean":
            volume = log_density(m) - log_ball(m) + m * (math.log(2.0) - math.log(apart))
        log, is_whole = _largest_count(1.0 / apart, m, volume)
        return Bound("state bits", log, "lower", theorem="packing", reference=REFERENCE, whole=is_whole)

    return entry(eps, dim, lipschitz)  # type: ignore[no-any-return]


def _cells_with_ramps(share: float, slope: float, dim: int, norm: str) -> tuple[float, tuple[Hypothesis, ...]]:
    """Return the cells of an axis whose errors, ramps included, are at most a share of L (10.4, grid)."""
    narrow, lost = dim == 1 or norm == "euclidean", (1.0 if dim == 1 else 2.0) / slope
    if dim > 1 and norm == "euclidean":
        least = cells = 0.5 / share
        for _ in range(64):  # a contraction by 1/2 where it stays below slope / 2
            cells = least / math.sqrt(max(1.0 - cells / slope, 0.25))
    else:
        cells = 0.5 / (share - lost) if share > lost else math.inf
    if narrow:
        steep = Hypothesis("cells at least 2/slope wide", cells <= slope and _count_cells(cells)[0] <= 0.5 * slope)
    else:
        steep = Hypothesis("slope > 2 lipschitz / eps", share > lost)
    return (cells if steep.holds else 1.0), (steep,)


def _grid_error(cells: int, slope: float, dim: int, norm: str) -> float:
    """Return the error of a grid, in units of L times the largest ratio of the norms (10.4, grid)."""
    half, steps = 0.5 / cells, slope / cells
    if dim == 1 and steps >= 2.0:
        return half + 1.0 / slope
    if norm == "euclidean" and steps >= 2.0:
        # 10.4 (grid, euclidean)
        return half * math.sqrt(steps / (steps - 1.0))
    return half + 2.0 / slope


def _largest_count(cells: float, dim: int, log_volume: float) -> tuple[float, bool]:
    """Return the log of the larger of a grid's cells and a count by volume, rounded up, and whether it is whole."""
    grid, exact = _count_cells(cells)
    log, volume = dim * math.log(grid), _round_up(log_volume)
    return volume if volume[0] > log else (log, exact)


def _log_density(dim: int) -> float:
    """Return the logarithm of a density that no covering by equal balls is below."""
    return math.log(KERSHNER) if dim == 2 else 0.0


def _count_cells(cells: float) -> tuple[float, bool]:
    """Round a number of cells up, and tell whether it is exact."""
    return (max(float(math.ceil(cells * (1.0 - ACCURACY))), 1.0), True) if cells < COUNTED else (cells, False)


def _round_up(log: float) -> tuple[float, bool]:
    """Round a count, given by its logarithm, up to a whole number where its units are known."""
    return (math.log(max(math.ceil(math.exp(log) * (1.0 - ACCURACY)), 1)), True) if log < 20.0 else (log, False)


def _root(count: int, dim: int) -> int:
    """Return the largest k with k^dim <= count."""
    k = round(math.exp(math.log(count) / dim))
    return k if k**dim <= count else k - 1


def _stretch(dim: int, norm: str) -> float:
    """Return the largest ratio of the norm to the maximum norm."""
    return math.sqrt(dim) if norm == "euclidean" else 1.0


def _check_slope(slope: object, theorem: str) -> None:
    if theorem == "grid":
        _checks.given(slope, "slope", " for theorem='grid'")
    else:
        _checks.left_out(slope, "slope", f"for theorem={theorem!r}")


_steep = partial(_checks.real, name="slope", minimum=2.0, maximum=WIDEST)
