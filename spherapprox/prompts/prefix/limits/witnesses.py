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
from .wishes import Wishes

_NOTHING = 46.0
"""A group that wants no change gets a log mass so far below those of its contexts."""
_DROP = 80.0
"""Logits of a token at other queries are below the log mass wanted there by as much, for values up to 1e9 times 1e9."""


def witness(wishes: Wishes, groups: Sequence[Indices], floors: Sequence[Floor]) -> Prefix | None:
    """Return a prefix that does at every query what its floor says, if one can be built."""
    least = np.array([float(wishes.log_masses[group].min()) - _NOTHING for group in groups])
    log_psi = np.array([floor.log_psi for floor in floors])
    masses = np.where(log_psi == -np.inf, least, log_psi)
    value = np.array([floor.value for floor in floors])
    if not (np.isfinite(masses).all() and np.isfinite(value).all()):
        return None
    if len(groups) == 1:
        return _repeated(wishes, int(groups[0][0]), float(masses[0]), value=value[0])
    count = len(groups) if wishes.limits.length is None else wishes.limits.length
    if wishes.limits.bounded or count < len(groups):
        return None
    arrays = tokens(wishes.query[[group[0] for group in groups]], masses, value, scale=wishes.scale, length=count)
    return None if arrays is None or not all(np.isfinite(part).all() for part in arrays) else Prefix(*arrays)


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


def tokens(
    query: Float64, log_mass: Float64, value: Float64, scale: float, length: int
) -> tuple[Float64, Float64] | None:
    """Return keys and values (length, ...) of a prefix of these log masses and mean values at G queries, or none.

    Each token does its part at one of them, and hardly any at the others; the first is repeated to make up the length.
    There is one if for each query some direction is orthogonal to it and at an obtuse angle to all others
    (8.2, several queries): for linearly independent queries, and most sets of less than twice as many as columns.
    """
    size = lengths(query)
    unit, own, keys = query / size[:, None], log_mass.copy(), []
    copies = np.ones(len(unit), dtype=int)
    copies[0] += length - len(unit)
    own[0] -= np.log(copies[0])
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for g in range(len(unit)):
            other_mask = np.arange(len(unit)) != g
            direction = _separating(unit[other_mask], unit[g])
            if direction is None:
                return None
            key = unit[g] * (own[g] / scale / size[g])
            logits = scale * query[other_mask] @ key
            falls = -scale * query[other_mask] @ direction
            if not (falls > 0.0).all():
                return None
            excess = logits - log_mass[other_mask] + _DROP
            keys.append(key + direction * max(float(np.max(excess / falls)), 0.0))
    return np.repeat(np.array(keys), copies, axis=0), np.repeat(value, copies, axis=0)


def _separating(rows: Float64, unit: Float64) -> Float64 | None:
    """Return a direction orthogonal to a unit row and at obtuse angles to the other unit rows, or none.

    If z is a point of the cone of the rows' projections P_h with the least ``|z|^2 + (1 - sum of weights)^2``, then
    ``<P_h, z> >= 1 - sum of weights`` for each.
    """
    from scipy.optimize import nnls

    projected = rows - np.outer(rows @ unit, unit)
    projected -= np.outer(projected @ unit, unit)
    size = lengths(projected)
    if not (size > 1e-12).all():
        return None
    projected /= size[:, None]
    system = np.vstack([projected.T, np.ones(len(rows))])
    goal = np.append(np.zeros(len(unit)), 1.0)
    try:
        weights, _ = nnls(system, goal)
    except RuntimeError:  # too many passes
        return None
    direction = -(weights @ projected)
    direction -= unit * (direction @ unit)
    return direction if float(np.max(projected @ direction)) < -1e-12 else None
