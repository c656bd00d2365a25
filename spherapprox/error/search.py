"""Search for the largest error on the sphere: a sample, then a climb from the worst of its points."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _checks, special, sphere
from .._norms import directions
from .._types import Float64, Indices
from ..partition import EqualMeasurePartition
from .records import ErrorInterval

Error = Callable[[Float64], Float64]
"""Maps points (n, dim+1) to errors (n,)."""

FINEST_STEP = 1e-8
"""Angle at which the refinement stops: it misses a kink by this much, a smooth maximum by its square."""
CANDIDATES = 4096
"""Number of the largest errors in the sample that are searched for local maxima."""
DIRECTIONS = 16
"""Largest number of tangent directions, each with its opposite, that are tried at a step."""
PARTITION_DIM = 8
"""Dimension up to which the sample is the centres of an equal-measure partition, beyond it is random."""
_LOOSE = 1.1
"""A sup norm stated so many times the largest value found is no value to measure by."""
_CLOSE = 256
"""Number of candidates that are compared at a time. Tuned."""
BATCH = 8192
"""Number of points between which a search can be interrupted."""


def sample(dim: int, n: int, rng: np.random.Generator) -> Float64:
    """Draw at least n points of S^dim, quasi-uniform where that is cheap, in random orientation: (n, dim+1)."""
    _checks.memory(24.0 * n * (dim + 1), f"a sample of {n} points of S^{dim}", "take a smaller 'n'")
    if dim > PARTITION_DIM:
        return sphere.uniform(dim, n, rng)
    rotation, _ = np.linalg.qr(rng.standard_normal((dim + 1, dim + 1)))
    return directions(EqualMeasurePartition(dim, n).centers() @ rotation)


def largest_value(function: Error, sup_norm: float | None, start: Float64) -> float:
    """Search for the largest of the sizes of a target's values, with a warning if its sup norm is stated too large."""
    largest = largest_error(function, start, 16, rng=np.random.default_rng(0), progress=False).lower
    if sup_norm is not None and sup_norm > _LOOSE * largest:
        _checks.warn(
            f"'target' states sup_norm={sup_norm:.6g}, and no value above {largest:.6g} was found: state a sharp one, "
            "as targets.with_constants and harmonics.bandlimited_maximum prove, or none",
            RuntimeWarning,
        )
    return largest


def largest_error(error: Error, start: Float64, refine: int, rng: np.random.Generator, progress: bool) -> ErrorInterval:
    """Search for the largest error, from starting points (n, dim+1)."""
    x, best = local_maxima(error, start, refine, rng=rng, progress=progress)
    at = int(np.argmax(best))
    return ErrorInterval(float(best[at]), math.inf, x[at].copy())


def local_maxima(
    error: Error, start: Float64, refine: int, rng: np.random.Generator, progress: bool = False
) -> tuple[Float64, Float64]:
    """Search for local maxima of an error, at most `refine`; return them (k, dim+1) and the errors there (k,)."""
    # Step 1: the errors at all starting points
    batches: Any = [start[i : i + BATCH] for i in range(0, len(start), BATCH)]
    if progress:
        from tqdm.auto import tqdm

        batches = tqdm(batches, desc="error", leave=False)
    values = np.concatenate([error(batch) for batch in batches])  # (n,)
    if not refine:
        return start, values
    # Step 2: the worst of them that lie apart
    worst = _worst(start, values, refine)  # (k,)
    # Step 3: from each of these uphill to a local maximum
    return _climb(error, start[worst], values[worst], step=min(_spacing(start), 0.5), rng=rng)


def _spacing(x: Float64) -> float:
    """Return the angle between neighbours in a uniform set of as many points."""
    dim = x.shape[1] - 1
    return math.exp((special.log_surface_area(dim) - math.log(len(x))) / dim)


def _worst(x: Float64, values: Float64, count: int) -> Indices:
    """Return indices of the points with the largest errors among those that no neighbour exceeds."""
    order = np.argsort(-values, kind="stable")[:CANDIDATES]
    candidates, least = x[order], math.cos(min(1.5 * _spacing(x), math.pi))
    tops: list[int] = []
    for i in range(0, len(order), _CLOSE):
        # a neighbour that is higher stands earlier, and seldom long before
        block, recent = candidates[i : i + _CLOSE], max(i - _CLOSE, 0)
        close = block @ candidates[recent : i + _CLOSE].T > least  # (_CLOSE, 2 _CLOSE)
        alone = np.flatnonzero(~np.tril(close, i - recent - 1).any(axis=1))
        alone = alone[~(block[alone] @ candidates[:recent].T > least).any(axis=1)]
        tops.extend(order[i + alone])
        if len(tops) >= count:
            break
    return np.array(tops[:count], dtype=np.intp)


def _climb(
    error: Error, x: Float64, values: Float64, *, step: float, rng: np.random.Generator
) -> tuple[Float64, Float64]:
    """Follow the error uphill from each point by a pattern search whose steps shrink where nothing is gained."""
    x, values = x.copy(), values.copy()
    steps = np.full(len(x), step)
    dim = x.shape[1] - 1
    k = min(dim, DIRECTIONS)
    for _ in range(40 + 20 * dim if dim < DIRECTIONS else 400):
        (active,) = np.nonzero(steps >= FINEST_STEP)
        if not active.size:
            break
        # Step 1: the errors a step away from each point that still moves, along random orthonormal tangents
        here, angle = x[active][:, None], steps[active, None, None]
        frame = np.concatenate([here.transpose(0, 2, 1), rng.standard_normal((len(active), dim + 1, k))], axis=2)
        tangents = np.linalg.qr(frame)[0][:, :, 1:].transpose(0, 2, 1)  # (active, k, dim+1)
        tangents = np.concatenate([tangents, -tangents], axis=1)
        trial = directions(np.cos(angle) * here + np.sin(angle) * tangents)  # (active, 2k, dim+1)
        errors = error(trial.reshape(-1, dim + 1)).reshape(trial.shape[:2])
        best = np.argmax(errors, axis=1)  # (active,)
        # Step 2: move to the largest where it is larger, with longer steps; shorten the others' steps
        top = errors[np.arange(len(active)), best]
        higher = top > values[active]
        movers = active[higher]
        x[movers], values[movers] = trial[higher, best[higher]], top[higher]
        steps[movers] *= 1.25
        steps[active[~higher]] *= 0.5
    return x, values
