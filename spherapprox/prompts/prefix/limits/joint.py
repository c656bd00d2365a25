"""One prefix for several queries: what each of its tokens does at one of them, and hardly at the others."""

from __future__ import annotations

import numpy as np

from ...._norms import lengths
from ...._threads import one_blas_thread
from ...._types import Float64

_DROP = 80.0
"""Logits of a token at other queries are below the log mass wanted there by as much, for values up to 1e9 times 1e9."""


def tokens(
    query: Float64, log_mass: Float64, value: Float64, scale: float, length: int
) -> tuple[Float64, Float64] | None:
    """Return keys and values (length, ...) of a prefix of these log masses and mean values at G queries, or none.

    The first token is repeated to make up the length, at least G.

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
            others = np.arange(len(unit)) != g
            direction = _separating(unit[others], unit[g])
            if direction is None:
                return None
            key = unit[g] * (own[g] / scale / size[g])
            logits = scale * query[others] @ key
            falls = -scale * query[others] @ direction
            if not (falls > 0.0).all():
                return None
            excess = logits - log_mass[others] + _DROP
            keys.append(key + direction * max(float(np.max(excess / falls)), 0.0))
    return np.repeat(np.array(keys), copies, axis=0), np.repeat(value, copies, axis=0)


def _separating(others: Float64, unit: Float64) -> Float64 | None:
    """Return a direction orthogonal to a unit row and at obtuse angles to the other unit rows, or none.

    If z is a point of the cone of the rows' projections P_h with the least ``|z|^2 + (1 - sum of weights)^2``, then
    ``<P_h, z> >= 1 - sum of weights`` for each.
    """
    from scipy.optimize import nnls

    projected = others - np.outer(others @ unit, unit)
    projected -= np.outer(projected @ unit, unit)
    size = lengths(projected)
    if not (size > 1e-12).all():
        return None
    projected /= size[:, None]
    system = np.vstack([projected.T, np.ones(len(others))])
    goal = np.append(np.zeros(len(unit)), 1.0)
    try:
        weights, _ = nnls(system, goal)
    except RuntimeError:  # too many passes
        return None
    direction = -(weights @ projected)
    direction -= unit * (direction @ unit)
    return direction if float(np.max(projected @ direction)) < -1e-12 else None
