"""`prefix_floor`: how near any prefix brings the outputs of one query to their targets."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._norms import lengths
from ...._types import Float64
from ..layer.rows import array
from .constraints import Point, QueryContexts, share

NORMS = ("max", "euclidean")
_FAR = 1500.0
"""Beyond the masses of the contexts by exp(1500) a prefix does what it does in the limit: floats span exp(1455)."""
_NEAR = math.log(1e9)
"""How far the masses of witnesses are from those of the contexts where only a limit reaches the floor."""
_SAME = 1.0 + 1e-12
"""Errors up to this factor count as equal."""


@dataclass(frozen=True, eq=False)
class Floor:
    """The least error of prefixes at one query, and what a prefix does there that comes as near.

    Parameters
    ----------
    error : float
        The infimum of the largest distance of an output from its target: exact in the maximum norm, and in the
        Euclidean one for one context, or two without a bound of values; else a lower bound (Notes of `reachable`).
    log_psi : float
        Log mass of a prefix, the logarithm of the sum of ``exp(scale * <q, k>)`` over its tokens, that reaches the
        error, or nearly if no one does; -inf for the empty prefix.
    value : ndarray, shape (p,)
        The mean of its values, weighted with these exponentials: one token has value `value` and log mass `log_psi`.
        Not finite where floats do not hold it.
    attained : bool
        Whether the prefix of this mass and value reaches the error; otherwise it is a limit, for masses that go to 0 or
        infinity, or a lower bound.
    worst_pair : tuple of int
        The two contexts that are in each other's way most at this mass; one if it is the bound of values that is, none
        if nothing is.

    Examples
    --------
    >>> from spherapprox.prompts.prefix import prefix_floor
    >>> prefix_floor([[0.2, 0.1], [0.3, 0.3]], [[0.1, 0.1], [0.2, 0.35]], [0.5, 1.0])
    Floor(error=0.0256, log_psi=..., attained=True, worst_pair=(...))
    """

    error: float
    log_psi: float
    value: Float64
    attained: bool
    worst_pair: tuple[int, ...]

    def __repr__(self) -> str:
        return (
            f"Floor(error={self.error:.3g}, log_psi={self.log_psi:.4g}, attained={self.attained}, "
            f"worst_pair={self.worst_pair})"
        )


def prefix_floor(
    targets: ArrayLike, means: ArrayLike, log_masses: ArrayLike, *, norm: str = "max",
    log_psi: tuple[float, float] = (-math.inf, math.inf), value_bound: float | None = None,
) -> Floor:  # fmt: skip
    """Return the least error of prefixes at one query that several contexts share.

    `reachable` is the same from queries, keys and values. See docs/theorems/8.2-reachable-targets.md.

    Parameters
    ----------
    targets : array_like, shape (N, p)
        What the head's output is to be in each context.
    means : array_like, shape (N, p)
        What it is without a prefix.
    log_masses : array_like, shape (N,)
        Logarithms of the sums of ``exp(scale * <q, k>)`` over the tokens of each context.
    norm : {"max", "euclidean"}
        The distance of outputs from targets; the error is the largest one over the contexts.
    log_psi : tuple of float
        Least and largest log mass of the prefix; -inf allows the empty prefix, too.
    value_bound : float, optional
        The largest length of a value of the prefix, in the norm chosen.

    Returns
    -------
    Floor
        Its error is right to 1e-14 times the largest target, mean or change of one, for log masses of any size that
        are right themselves.

    Raises
    ------
    TypeError, ValueError
        If arrays are empty, not finite or do not fit together, or an option is out of its range.

    Examples
    --------
    Two contexts that are to give (1, 0) and (0, 1): no prefix does better than 1/2, and none reaches that.

    >>> from spherapprox.prompts.prefix import prefix_floor
    >>> floor = prefix_floor([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [0.5, 0.5]], [0.0, 0.7])
    >>> floor.error, floor.attained
    (0.5, False)
    """
    outputs = array(targets, "targets", ("N", "p"))
    rows = array(means, "means", outputs.shape)
    masses = _checks.reals(
        array(log_masses, "log_masses", (len(outputs),)), "log_masses", minimum=-1e300, maximum=1e300
    )
    norm = _checks.choice(norm, "norm", NORMS)
    if not isinstance(log_psi, tuple | list) or len(log_psi) != 2:
        raise TypeError(f"'log_psi' must be a pair of numbers, got {_checks.show(log_psi)}")
    low, high = (_checks.real(end, "log_psi", finite=False) for end in log_psi)
    if low > high or low == math.inf or high == -math.inf:
        raise ValueError(f"'log_psi' must be a least and a largest log mass, got {low:g} and {high:g}")
    bound = math.inf if value_bound is None else _checks.real(value_bound, "value_bound", minimum=0.0)
    return floor_of(outputs, rows, masses, euclidean=norm == "euclidean", log_psi=(low, high), bound=bound)


@np.errstate(under="ignore")
def floor_of(
    targets: Float64, means: Float64, log_masses: Float64, *, euclidean: bool, log_psi: tuple[float, float],
    bound: float,
) -> Floor:  # fmt: skip
    """Return the least error from checked arrays."""
    exponent = max(math.frexp(float(np.abs(part).max()))[1] for part in (targets, means)) + 2
    small, smaller = np.ldexp(targets, -exponent), np.ldexp(means, -exponent)
    top = float(log_masses.max())
    try:
        limit = math.ldexp(bound, -exponent)
    except OverflowError:
        limit = math.inf
    contexts = QueryContexts(small, small - smaller, log_masses - top, euclidean=euclidean, bound=limit)
    low, high = log_psi[0] - top, log_psi[1] - top
    point, attained = _lowest_point(contexts, low, high)
    error, psi, worst = point
    if low == -math.inf and float(sizes_of(contexts.change, euclidean).max()) <= error * _SAME:
        psi, attained = -math.inf, True
    value = np.zeros(targets.shape[1]) if psi == -math.inf else contexts.mean(psi)
    if euclidean and len(targets) > exact_contexts(limit) and psi > -math.inf:
        # what is met in pairs need not be at once
        outputs, _ = contexts.weights(psi)
        with np.errstate(invalid="ignore"):  # of a value that floats do not hold nothing is known
            missed = share(psi - contexts.log_mass)[:, None] * (value - contexts.target[0]) - outputs
        attained = attained and float(lengths(missed).max()) <= error * (1.0 + 1e-9)
    with np.errstate(over="ignore"):
        return Floor(
            float(np.ldexp(error, exponent)), psi + top, np.ldexp(value, exponent), attained=attained,
            worst_pair=tuple(row for row in worst[:2] if row >= 0),
        )  # fmt: skip


def exact_contexts(bound: float) -> int:
    """Return for how many contexts the bounds by pairs are infima in the Euclidean norm."""
    return 1 if math.isfinite(bound) else 2


def sizes_of(rows: Float64, euclidean: bool) -> Float64:
    """Return the length of each row in the norm."""
    return lengths(rows) if euclidean else np.asarray(np.abs(rows).max(axis=1))


def _lowest_point(contexts: QueryContexts, low: float, high: float) -> tuple[Point, bool]:
    """Return the least error over log masses in [low, high], where a mass comes near it, and whether one reaches it."""
    least = float(contexts.log_mass.min())
    first = min(max(low, least - _FAR), high) if low == -math.inf else low
    lowest = contexts.floor(first, max(min(high, _FAR), first))
    for end, bound, outer in ((-math.inf, low, least - _NEAR), (math.inf, high, _NEAR)):
        outside = lowest.log_mass < outer if end < 0.0 else lowest.log_mass > outer
        if bound == end and outside and (limit := contexts.at(end)).error <= lowest.error * _SAME:
            near, error = min(max(outer, low), high), min(limit.error, lowest.error)
            point = Point(error, near, limit.rows)
            away = contexts.slope(point) * (1.0 if end < 0.0 else -1.0) > 0.0
            return point, not away and contexts.at(near).error <= error * _SAME
    return lowest, True
