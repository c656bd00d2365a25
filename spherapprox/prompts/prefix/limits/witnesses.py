"""Prefixes that do what the least errors of groups of queries ask for."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...._norms import lengths
from ...._threads import one_blas_thread
from ...._types import Float64, Indices
from ..layer.attention import attend
from ..layer.rows import Prefix
from .floors import Floor, sizes_of
from .joint import tokens
from .wishes import Wishes

_NOTHING = 46.0
"""A group that wants no change gets a log mass so far below those of its contexts."""


def witness(wishes: Wishes, groups: Sequence[Indices], floors: Sequence[Floor]) -> Prefix | None:
    """Return a prefix that does at every query what its floor says, if one can be built."""
    least = np.array([float(wishes.log_masses[group].min()) - _NOTHING for group in groups])
    log_psi = np.array([floor.log_psi for floor in floors])
    masses = np.where(log_psi == -np.inf, least, log_psi)
    value = np.array([floor.value for floor in floors])
    if not (np.isfinite(masses).all() and np.isfinite(value).all()):
        return None
    if len(groups) == 1:
        return _repeated(wishes, int(groups[0][0]), float(masses[0]), value[0])
    count = len(groups) if wishes.limits.length is None else wishes.limits.length
    if wishes.limits.bounded or count < len(groups):
        return None
    arrays = tokens(wishes.query[[group[0] for group in groups]], masses, value, wishes.scale, count)
    return None if arrays is None or not all(np.isfinite(part).all() for part in arrays) else Prefix(*arrays)


def empty(wishes: Wishes) -> Prefix | None:
    """Return the prefix without tokens, if it is allowed."""
    s, p = wishes.query.shape[1], wishes.targets.shape[1]
    return Prefix(np.empty((0, s)), np.empty((0, p))) if wishes.limits.length is None else None


def error_of(wishes: Wishes, prefix: Prefix | None) -> float:
    """Return the largest error of the outputs with a prefix, inf if they overflow or there is none."""
    if prefix is None:
        return math.inf
    outputs = np.empty_like(wishes.targets)
    with one_blas_thread():
        for i, (key, value) in enumerate(zip(wishes.key, wishes.value, strict=True)):
            keys, values = np.concatenate([prefix.key, key]), np.concatenate([prefix.value, value])
            try:
                outputs[i] = attend(wishes.scale * wishes.query[i : i + 1], keys, values)[0]
            except ValueError:
                return math.inf
    with np.errstate(over="ignore"):
        return float(sizes_of(outputs - wishes.targets, wishes.euclidean).max())


def _repeated(wishes: Wishes, row: int, log_psi: float, value: Float64) -> Prefix | None:
    """Return equal tokens of a log mass at one query."""
    limits = wishes.limits
    size, count = float(lengths(wishes.query[row : row + 1])[0]), limits.length or 1
    if limits.length is None and limits.key_norm is not None:
        excess = log_psi - wishes.scale * limits.key_norm * size
        count = max(1, math.ceil(math.exp(excess) * (1.0 - 1e-12)))
    with np.errstate(over="ignore"):
        key = (wishes.query[row] / size) * ((log_psi - math.log(count)) / wishes.scale / size)
    return Prefix(np.tile(key, (count, 1)), np.tile(value, (count, 1))) if np.isfinite(key).all() else None
