"""`reachable`: whether a prefix can give an attention head the outputs that are wanted, and how near any comes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._types import Float64, Indices
from ..layer.rows import Prefix
from .coupled import coupled_floor
from .floors import NORMS, Floor
from .wishes import Limits, Wishes, wishes_of
from .witnesses import error_of, witness


@dataclass(frozen=True, eq=False)
class Reachability:
    """How near prefixes bring the outputs of an attention head to their targets.

    Parameters
    ----------
    error : float
        No prefix has a smaller error, the largest distance of an output from its target: the infimum over all prefixes
        within the limits, or a lower bound of it (Notes of `reachable`).
    upper : float
        The error of `prefix`, as measured; inf without one.
    atol : float
        What counts as no error.
    exact : bool
        Whether the error is known to be the infimum.
    attained : bool
        Whether `prefix` has the error itself, but for roundings.
    groups : tuple of ndarray
        Rows of equal queries, which see the same of any prefix.
    errors : ndarray, shape (groups,)
        The least error of each group alone.
    prefix : Prefix or None
        A witness, if there is one: it need not be near the infimum with several groups and limits.
    worst_pair : tuple of int
        The rows that are in each other's way most; one if it is a limit that is in its way, none if nothing is.
    norm : str
        "max" or "euclidean".

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import reachable
    >>> answer = reachable(np.ones((2, 1)), np.ones((2, 3, 1)), np.ones((2, 3, 1)), [[0.0], [0.0]], atol=1e-6)
    >>> answer.reachable, len(answer.groups)
    (True, 1)
    """

    error: float
    upper: float
    atol: float
    exact: bool
    attained: bool
    groups: tuple[Indices, ...]
    errors: Float64
    prefix: Prefix | None
    worst_pair: tuple[int, ...]
    norm: str

    @property
    def reachable(self) -> bool | None:
        """Whether the infimum is `atol` at most, be it attained or not; None where that is not known."""
        if self.error > self.atol:
            return False
        return True if self.exact or self.upper <= self.atol else None

    def __repr__(self) -> str:
        return (
            f"Reachability(error={self.error:.4g}, upper={self.upper:.4g}, reachable={self.reachable}, "
            f"attained={self.attained})"
        )


def reachable(
    query: ArrayLike, key: ArrayLike | Sequence[ArrayLike], value: ArrayLike | Sequence[ArrayLike], targets: ArrayLike,
    *, scale: float | None = None, atol: float | None = None, norm: str = "max", limits: Limits | None = None,
) -> Reachability:  # fmt: skip
    """Tell whether a prefix gives an attention head the outputs that are wanted, and how near any prefix comes.

    Keys and values of the prefix are free, up to the limits. Equal queries see the same of a prefix, so that outputs of
    one query in several contexts are in each other's way: a prefix replaces outputs, it cannot add to them.
    `reachable_by_layer` is for outputs behind all heads of a layer.
    See docs/theorems/8.2-reachable-targets.md, docs/theorems/8.3-near-equal-queries.md.

    Parameters
    ----------
    query : array_like, shape (N, s)
        A query for each output that is wanted; those that are equal bit by bit belong to one group, so copy the row of
        a query that is meant to be the same: a product of matrices may round it differently. Arrays may be tensors.
    key : array_like, shape (N, n, s), or sequence of N arrays (n_i, s)
        Keys that each query sees without the prefix, at least one.
    value : array_like, shape (N, n, p), or sequence of N arrays (n_i, p)
        Their values.
    targets : array_like, shape (N, p)
        The outputs of the head that are wanted, before the weights behind the heads.
    scale : float, optional
        Factor of the inner products, 1 / sqrt(s) by default.
    atol : float, optional
        Largest error of outputs that count as reached, by default 1e-12 of the largest target or output.
    norm : {"max", "euclidean"}
        The distance of outputs from targets.
    limits : Limits, optional
        What prefixes are considered; by default any.

    Returns
    -------
    Reachability
        Its error is right to 1e-12 times the largest target or output, for logits of any size.

    Raises
    ------
    TypeError, ValueError
        If arrays are not finite or do not fit together, a query is 0 (all keys are alike to it), a query sees no key,
        logits overflow, or an option is out of its range.

    Notes
    -----
    In the maximum norm the error of one group is the infimum, with and without limits. In the Euclidean norm it is for
    one context with limits and two without, and otherwise a lower bound; for values of any length the infimum is at
    most ``sqrt(2 d / (d + 1))`` times as large, d = min(p, N - 1). For several groups it is the largest of their
    errors, a lower bound: the infimum if there are no limits and for each query some direction is orthogonal to it and
    at obtuse angles to the others, as for linearly independent queries. Then and for one group there is a prefix that
    attains it or comes near: in front of limits at infinity, one with 1e9 times the largest mass of a context or 1e-9
    times the least one.

    Examples
    --------
    One query in 4 contexts: to add a constant to all outputs is out of reach, to overwrite them is not.

    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import Prefix, reachable
    >>> rng = np.random.default_rng(0)
    >>> query, key, value = np.tile(rng.standard_normal(8), (4, 1)), *rng.standard_normal((2, 4, 12, 8))
    >>> empty = Prefix(np.empty((0, 8)), np.empty((0, 8)))
    >>> outputs = empty.attend(query[:, None], key, value)[:, 0]
    >>> reachable(query, key, value, outputs + 0.1)
    Reachability(error=0.0..., upper=0.0..., reachable=False, attained=...)
    >>> reachable(query, key, value, np.zeros((4, 8)), atol=1e-6)
    Reachability(error=0, upper=..., reachable=True, attained=False)
    """
    # Step 1: check the arguments
    euclidean = _checks.choice(norm, "norm", NORMS) == "euclidean"
    tolerance = None if atol is None else _checks.real(atol, "atol", minimum=0.0)
    limits = Limits() if limits is None else _checks.instance(limits, "limits", Limits)
    if limits.coupled and euclidean:
        raise ValueError("'norm' must be 'max' with coupled limits, got 'euclidean': their constraints are linear")
    wishes = wishes_of(query, key, value, targets=targets, scale=scale, euclidean=euclidean, limits=limits)
    # Step 2: the least errors, and the worst of them
    groups = wishes.groups()
    floors = [wishes.floor(group) for group in groups]
    errors = np.array([floor.error for floor in floors])
    first = int(np.argmax(errors))
    error, worst = float(errors[first]), tuple(int(groups[first][k]) for k in floors[first].worst_pair)
    if limits.coupled and (least := coupled_floor(wishes)) > error:
        error, worst = least, ()
    # Step 3: a prefix, and what is known of it
    prefix, upper, exact = _witness(wishes, groups, floors)
    near = upper <= error * (1.0 + 1e-9) + 1e-12 * wishes.size
    return Reachability(
        error, upper, 1e-12 * wishes.size if tolerance is None else tolerance,
        exact=(exact and error == errors[first]) or near, attained=near and all(floor.attained for floor in floors),
        groups=groups, errors=errors, prefix=prefix, worst_pair=worst if error > 0.0 else (), norm=norm,
    )  # fmt: skip


def _witness(wishes: Wishes, groups: Sequence[Indices], floors: Sequence[Floor]) -> tuple[Prefix | None, float, bool]:
    """Return a prefix, the empty one if it is no worse, with its error, and whether the floors are infima."""
    limits, (_, s), (_, p) = wishes.limits, wishes.query.shape, wishes.targets.shape
    empty = Prefix(np.empty((0, s)), np.empty((0, p))) if limits.length is None else None
    suffices = empty is not None and all(floor.log_psi == -math.inf for floor in floors)
    nearest = None if suffices else witness(wishes, groups, floors)
    alone = not limits.bounded and limits.length is None and len(groups) == len(wishes.query)
    exact = wishes.exact(groups) and (len(groups) == 1 or alone or nearest is not None)
    upper, prefix = min(((error_of(wishes, rows), rows) for rows in (empty, nearest)), key=lambda pair: pair[0])
    return (None if upper == math.inf else prefix), upper, exact
