"""What is asked of a prefix: queries, what they see without it, targets and limits; and the least errors of groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._norms import lengths
from ...._types import Float64, Indices
from ..layer.contexts import attend_contexts, keys_and_values
from ..layer.rows import array, scale_for
from .floors import Floor, exact_contexts, floor_of, sizes_of

MOST = 10_000
"""Tokens of a witness at most, where none are asked for."""


@dataclass(frozen=True)
class Limits:
    """What prefixes are considered: their number of tokens, and the lengths of keys and of values.

    Parameters
    ----------
    length : int, optional
        Exactly so many tokens; by default any number, 0 included.
    key_norm : float, optional
        Largest Euclidean length of a key.
    value_bound : float, default inf
        Largest length of a value, in the norm of the errors.
    coupled : bool, default False
        Whether to use that limits tie near queries together, by linear programs: for a few dozen queries, in the
        maximum norm, with `key_norm` and `value_bound`.

    Raises
    ------
    TypeError, ValueError
        If a limit is out of its range, or `coupled` lacks those on which it rests.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import Limits, reachable
    >>> query, key, value = np.ones((1, 2)), np.zeros((1, 3, 2)), np.zeros((1, 3, 1))
    >>> reachable(query, key, value, [[1.0]]).error, reachable(query, key, value, [[1.0]], limits=Limits(1, 0.0)).error
    (0.0, 0.0)
    >>> round(reachable(query, key, value, [[1.0]], limits=Limits(1, 0.0, value_bound=1.0)).error, 12)  # 1 of 4 tokens
    0.75
    """

    length: int | None = None
    key_norm: float | None = None
    value_bound: float = math.inf
    coupled: bool = False

    def __post_init__(self) -> None:
        if self.length is not None:
            _checks.integer(self.length, "length", minimum=1)
        if self.key_norm is not None:
            _checks.real(self.key_norm, "key_norm", minimum=0.0)
        if self.value_bound != math.inf:
            _checks.real(self.value_bound, "value_bound", minimum=0.0)
        if _checks.flag(self.coupled, "coupled") and (self.key_norm is None or self.value_bound == math.inf):
            raise TypeError("'key_norm' and 'value_bound' must be given with coupled=True, which rests on them")

    @property
    def bounded(self) -> bool:
        """Whether keys or values are limited."""
        return self.key_norm is not None or math.isfinite(self.value_bound)


@dataclass(frozen=True, eq=False)
class Wishes:
    """Queries, keys, values, targets, and means and log masses without a prefix, for each row."""

    query: Float64
    key: list[Float64]
    value: list[Float64]
    targets: Float64
    means: Float64
    log_masses: Float64
    scale: float
    euclidean: bool
    limits: Limits

    @property
    def size(self) -> float:
        """The largest target or output."""
        return max(float(np.abs(part).max()) for part in (self.targets, self.means))

    def groups(self) -> tuple[Indices, ...]:
        """Return the rows of equal queries, in the order in which they come."""
        groups: dict[bytes, list[int]] = {}
        for i, row in enumerate(self.query + 0.0):  # -0 is 0
            groups.setdefault(row.tobytes(), []).append(i)
        return tuple(np.array(rows) for rows in groups.values())

    def exact(self, groups: Sequence[Indices]) -> bool:
        """Tell whether the least errors of groups are infima, and not bounds of them."""
        return not self.euclidean or max(map(len, groups)) <= exact_contexts(self.limits.value_bound)

    def floor(self, group: Indices) -> Floor:
        """Return the least error of a group of equal queries."""
        limits = self.limits
        if limits.key_norm is None:
            return self._between(group, -math.inf, math.inf)
        reach = self.scale * limits.key_norm * float(lengths(self.query[group[:1]])[0])
        if limits.length is not None:
            middle = math.log(limits.length)
            return self._between(group, middle - reach, middle + reach)
        floor = self._counted(group, reach, math.inf)
        if floor.log_psi - reach > math.log(MOST):
            fewer = self._counted(group, reach, math.log(MOST) + reach)
            floor = replace(fewer, error=floor.error, attained=False)
        size = float(sizes_of(self.targets[group] - self.means[group], self.euclidean).max())
        if size > floor.error:
            return floor
        return Floor(size, -math.inf, np.zeros(self.targets.shape[1]), attained=True, worst_pair=floor.worst_pair)

    def _counted(self, group: Indices, reach: float, high: float) -> Floor:
        """Return the least error over masses, up to one, that some number of tokens within the reach has."""
        least_floor = self._between(group, -reach, high)
        excess = least_floor.log_psi - reach
        count = max(1, math.ceil(math.exp(excess))) if excess <= 36.0 else 1
        above = math.log(count) - reach
        if count == 1 or least_floor.log_psi >= above:
            return least_floor
        gap = math.log(count - 1) + reach, above  # log masses that no number of tokens has are between them
        ends = [self._between(group, end, end) for end in gap]  # errors fall and then rise: one of these is best
        if least_floor.attained:
            return min(ends, key=lambda floor: floor.error)
        return replace(ends[1], error=least_floor.error, attained=False)  # a limit, which larger masses come near

    def _between(self, group: Indices, low: float, high: float) -> Floor:
        arrays = self.targets[group], self.means[group], self.log_masses[group]
        return floor_of(*arrays, euclidean=self.euclidean, log_psi=(low, high), bound=self.limits.value_bound)


def wishes_of(
    query: ArrayLike, key: ArrayLike | Sequence[ArrayLike], value: ArrayLike | Sequence[ArrayLike],
    targets: ArrayLike, *, scale: float | None, euclidean: bool, limits: Limits,
) -> Wishes:  # fmt: skip
    """Return the checked wishes."""
    rows = array(query, "query", ("N", "s"))
    if not rows.any(axis=1).all():
        where = int(np.flatnonzero(~rows.any(axis=1))[0])
        raise ValueError(f"'query' must have no row of zeros, for which keys are alike, got row {where}: leave it out")
    factor = scale_for(scale, rows.shape[1])
    keys, values = keys_and_values(rows, key, value)
    note = ", a row for each query and columns as 'value' has"
    outputs = array(targets, "targets", (len(rows), values[0].shape[1]), note=note)
    means, masses = attend_contexts(factor * rows, keys, values)
    if not np.abs(masses).max() <= 1e300:
        raise ValueError("'query' and 'key' must have logits scale * <q, k> of size 1e300 at most: scale them down")
    return Wishes(
        rows, keys, values, targets=outputs, means=means, log_masses=masses, scale=factor, euclidean=euclidean,
        limits=limits,
    )  # fmt: skip
