"""Functions of sequences: control sequences that suffice and are needed, and what one continuous channel cannot do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from spherapprox import _checks, special
from spherapprox._types import Float64

from ..covering import MOST_POINTS, SMALLEST_RADIUS, SUFFICIENT, covering_bound
from ..records.bound import Bound, Hypothesis, over_arrays, settle
from ..records.problem import LARGEST_CONCENTRATION, LARGEST_DIM, SMALLEST, WIDEST
from ..theorems._options import check_options
from ..theorems.nearest import log_less_one, log_nearest_error, nearest_concentration
from .bottleneck import bottleneck, token_count
from .lengths import between

__all__ = ["Lower", "Sharp", "bottleneck", "error_bound", "prefix_length"]

REFERENCE = "docs/theorems/7.3-product-prefixes.md"
METRICS = "max", "sum"


@dataclass(frozen=True)
class Sharp:
    """The theorem of what suffices: a `SequenceHead` on the product of T coverings, one for each token.

    Parameters
    ----------
    covering : str, default "best"
        The covering number of the tokens, see `bounds.covering_number`.
    slack : float, default 1e-3
        Share of eps that is left for the softmax: 0 is the limit of infinite concentration.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from bounds.prompts import sequences
    >>> round(sequences.prefix_length(0.1, dim=2, length=2, theorem=sequences.Sharp(slack=0.1)).log10, 3)
    5.812
    """

    covering: str = "best"
    slack: float = 1e-3

    def __post_init__(self) -> None:
        _checks.choice(self.covering, "covering", SUFFICIENT)
        check_options(slack=self.slack)


@dataclass(frozen=True)
class Lower:
    """The theorem of what is needed: by every method that samples targets at N sequences.

    Parameters
    ----------
    sup_norm : float, optional
        Bound of |f|; by default 1 for lengths of prefixes, and none for errors.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from bounds.prompts import sequences
    >>> sequences.prefix_length(0.5, dim=2, length=2, theorem=sequences.Lower(sup_norm=0.4)).holds
    False
    """

    sup_norm: float | None = None

    def __post_init__(self) -> None:
        if self.sup_norm is not None:
            between(self.sup_norm, "sup_norm")


def prefix_length(
    eps: ArrayLike, *, dim: ArrayLike, length: ArrayLike, lipschitz: float | Sequence[float] = 1.0, metric: str = "max",
    theorem: str | Sharp | Lower = "sharp",
) -> Bound:  # fmt: skip
    """Bound the number N of control sequences for an accuracy on sequences; their prefix has T N tokens.

    Parameters
    ----------
    eps : float or array_like
        The error at every position, in the Euclidean norm.
    dim : int or array_like
        m of the sphere S^m of each token.
    length : int or array_like
        T, tokens of a sequence.
    lipschitz : float or sequence of T floats, default 1.0
        L, or one for each token with metric "sum".
    metric : {"max", "sum"}
        The targets are all f with ``|f(x)_j - f(y)_j| <= L max_i theta(x_i, y_i)`` at every position j, or with
        ``sum_i L_i theta(x_i, y_i)`` on the right.
    theorem : Sharp, Lower, or their names "sharp" and "lower"
        What suffices for a `SequenceHead` on the product of T coverings, or what every method that samples targets
        needs.

    Returns
    -------
    Bound
        On the quantity "prefix length" (docs/theorems/7.3-product-prefixes.md). `radius` and `concentration` are those
        of each token, if they are all the same; the constants "radius_i" and "concentration_i" name them where they are
        not.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from bounds.prompts import sequences
    >>> for theorem in ("sharp", "lower"):
    ...     print(round(sequences.prefix_length(0.1, dim=2, length=2, theorem=theorem).log10, 3))
    5.632
    5.205
    """
    metric = _checks.choice(metric, "metric", METRICS)
    record = _record(theorem)

    @over_arrays
    def entry(e: object, d: object, t: object) -> Bound:
        error, m, tokens = between(e, "eps"), _checks.dimension(d, maximum=LARGEST_DIM), token_count(t)
        lips = _lipschitz(lipschitz, metric, tokens)
        if isinstance(record, Sharp):
            return _sufficient(error, m, lips, metric=metric, theorem=record)
        below = Hypothesis("eps < sup_norm", error < (1.0 if record.sup_norm is None else record.sup_norm))
        # 7.3 (lower)
        log = _log_count(m, lips, error, metric=metric)
        return settle(Bound("prefix length", log, "lower", theorem="lower", reference=REFERENCE, hypotheses=(below,)))

    return entry(eps, dim, length)  # type: ignore[no-any-return]


def error_bound(
    *, dim: ArrayLike, length: ArrayLike, n: ArrayLike, theorem: str | Sharp | Lower = "sharp", metric: str = "max",
    lipschitz: float | Sequence[float] = 1.0, concentration: ArrayLike | None = None, radius: ArrayLike | None = None,
) -> Bound:  # fmt: skip
    """Bound the sup error of a `SequenceHead` on a product of T sets of points, or of every method that samples.

    See docs/theorems/7.3-product-prefixes.md; the quantity is "sup error".

    Parameters
    ----------
    dim, length, metric, lipschitz
        As in `prefix_length`.
    n : float or array_like
        Control points of each token, from 1: N = n^T control sequences. Of sets that differ the largest.
    theorem : Sharp, Lower, or their names "sharp" and "lower"
        An upper bound for the head whose values are the target's, or a lower one for some target, for every method
        that samples it at N sequences.
    concentration : float or array_like
        lambda of each token; "sharp" only. Of those that differ the smallest.
    radius : float or array_like
        Covering radius of the points of each token, in radians; "sharp" only. Of those that differ the largest.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from bounds.prompts import sequences
    >>> bound = sequences.error_bound(dim=2, length=2, n=400, concentration=5e4, radius=0.1401)
    >>> round(bound.value, 4)
    0.1426
    """
    metric = _checks.choice(metric, "metric", METRICS)
    record = _record(theorem)
    for argument, value in (("concentration", concentration), ("radius", radius)):
        if isinstance(record, Sharp):
            _checks.given(value, argument, " for theorem='sharp'")
        else:
            _checks.left_out(value, argument, "for theorem='lower'")

    @over_arrays
    def entry(d: object, t: object, count: object, lam: object, rho: object) -> Bound:
        m, tokens = _checks.dimension(d, maximum=LARGEST_DIM), token_count(t)
        lips = _lipschitz(lipschitz, metric, tokens)
        log_n = math.log(_checks.real(count, "n", minimum=1.0, maximum=MOST_POINTS))
        if isinstance(record, Lower):
            largest = math.inf if record.sup_norm is None else record.sup_norm
            # 7.3 (lower)
            log = min(_log_error(m, lips, tokens * log_n, metric=metric), math.log(largest))
            return Bound("sup error", log, "lower", theorem="lower", reference=REFERENCE)
        at = _checks.concentration(lam, maximum=LARGEST_CONCENTRATION)
        cover = _checks.real(rho, "radius", minimum=SMALLEST_RADIUS, maximum=math.pi)
        # 7.3 (a priori)
        together = _joint(log_n, tokens) if metric == "max" else log_n
        log = math.log(float(lips[0]) if metric == "max" else math.fsum(lips)) + log_nearest_error(at, cover, together)
        return Bound(
            "sup error", log, "upper", theorem="sharp", reference=REFERENCE, concentration=at,
            radius=cover,
        )  # fmt: skip

    return entry(dim, length, n, concentration, radius)  # type: ignore[no-any-return]


def _record(theorem: object) -> Sharp | Lower:
    """Return the record of a theorem, or of its name."""
    if isinstance(theorem, Sharp | Lower):
        return theorem
    return Sharp() if _checks.choice(theorem, "theorem", ("sharp", "lower")) == "sharp" else Lower()


def _sufficient(eps: float, dim: int, lips: Float64, metric: str, *, theorem: Sharp) -> Bound:
    """Return the product of the covering numbers of all tokens (7.3)."""
    tokens = len(lips)
    goals = np.full(tokens, eps / lips[0]) if metric == "max" else _goals(eps, lips)
    log, is_whole, choices = 0.0, True, {}
    for goal, count in zip(*(part.tolist() for part in np.unique(goals, return_counts=True)), strict=True):
        if goal >= math.pi:
            choices[goal] = math.pi, 0.0
            continue
        radius = (1.0 - theorem.slack) * goal
        if radius < SMALLEST_RADIUS:
            raise ValueError(f"'eps' must leave radii of {SMALLEST_RADIUS:g} or more, got {radius:g}: make it larger")
        # 7.3 (count)
        cover = covering_bound(radius, dim, theorem.covering)
        together = _joint(cover.log, tokens) if metric == "max" else cover.log
        choices[goal] = radius, nearest_concentration(radius, goal - radius, together)
        log, is_whole = log + count * cover.log, is_whole and cover.whole
    if len(choices) == 1:
        radius, concentration = choices[float(goals[0])]
        return Bound(
            "prefix length", log, "upper", theorem="sharp", reference=REFERENCE, hypotheses=(),
            concentration=concentration, radius=radius, whole=is_whole,
        )  # fmt: skip
    names = tuple(enumerate(("radius", "concentration")))
    constants = tuple((f"{name}_{i}", choices[x][k]) for i, x in enumerate(goals.tolist(), 1) for k, name in names)
    return Bound(
        "prefix length", log, "upper", theorem="sharp", reference=REFERENCE, constants=constants, whole=is_whole
    )


def _goals(eps: float, lips: Float64) -> Float64:
    """Split eps into errors L_i goal_i of the tokens: equal ones, but for tokens that err less at any radius (7.3)."""
    free, room = lips > 0.0, eps
    while (cheap := free & (lips * math.pi * np.count_nonzero(free) <= room)).any():
        room -= math.pi * math.fsum(lips[cheap])
        free &= ~cheap
    goals = np.full(len(lips), math.pi)
    goals[free] = room / (np.count_nonzero(free) * lips[free])
    return goals


def _joint(log_n: float, tokens: int) -> float:
    """Return log(1 + T (n - 1)): T tokens with n points each have as many wrong ones as one with this (7.3)."""
    return float(np.logaddexp(0.0, math.log(tokens) + log_less_one(log_n))) if log_n > 0.0 else 0.0


def _log_count(dim: int, lips: Float64, eps: float, metric: str) -> float:
    """Return the logarithm of 1 over the measure of a ball of radius eps of the metric, at least 0."""
    if metric == "max":
        # 7.3 (lower, max)
        return -len(lips) * float(special.log_cap_measure(dim, min(eps / float(lips[0]), math.pi)))
    # 7.3 (lower, sum): t = 1, and the best set of tokens
    alone = -float(special.log_cap_measure(dim, min(eps / float(lips.max()), math.pi)))
    tokens, volumes = _log_volumes(dim, lips)
    return max(alone, float((volumes - dim * tokens * math.log(eps)).max()))


def _log_error(dim: int, lips: Float64, log_n: float, metric: str) -> float:
    """Return the logarithm of the radius at which N balls of the metric have measure 1 together (7.3, lower)."""
    share = log_n / len(lips) if metric == "max" else log_n
    angle = float(special.cap_angle(dim, -share))
    alone = math.log(float(lips.max())) + (math.log(angle) if angle > 0.0 else -math.inf)
    if metric == "max":
        return alone
    tokens, volumes = _log_volumes(dim, lips)
    return max(alone, float(((volumes - log_n) / (dim * tokens)).max()))


def _log_volumes(dim: int, lips: Float64) -> tuple[Float64, Float64]:
    """Bound minus the log measures of ``sum L_i theta_i <= 1`` for the 1, 2, ... tokens of the largest L_i (7.3)."""
    largest = np.sort(lips[lips > 0.0])[::-1]
    tokens = np.arange(1.0, len(largest) + 1.0)
    log_half = math.log(dim) + 0.5 * math.log(math.pi) + float(gammaln(0.5 * dim) - gammaln(0.5 * (dim + 1)))
    volumes = dim * np.cumsum(np.log(largest)) + tokens * (log_half - float(gammaln(dim + 1.0)))
    return tokens, np.asarray(volumes + gammaln(dim * tokens + 1.0))


def _lipschitz(value: Any, metric: str, tokens: int) -> Float64:
    """Return a Lipschitz constant for each token."""
    if not _checks.is_vector(value):
        return np.full(tokens, between(value, "lipschitz"))
    if metric == "max":
        raise ValueError("'lipschitz' must be a number for metric='max', got one for each token")
    array = _checks.reals(value, "lipschitz", minimum=0.0, maximum=WIDEST, nan=False)
    _checks.shaped(array, "lipschitz", (tokens,), note=f", one for each of {tokens} tokens")
    if not array.max() >= SMALLEST:
        raise ValueError("'lipschitz' must be above 0 for a token, got zeros")
    return array
