"""Control sequences: one array of them, or all sequences of a product of point sets; their weights and sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._types import Float64
from ...coefficients import kernel
from ...points import nodes
from ...points.pointset import require_equal

Controls: TypeAlias = "tuple[Float64, ...] | Float64"
"""T arrays (n_i, dim+1) of a product, or control sequences (N, T, dim+1)."""

NUMBERS = 2**24
"""Numbers of the largest intermediate array."""
FAR = -230.0
"""Exponents below this make weights that change nothing."""
NEGLIGIBLE = 2.0 * math.exp(FAR)
MOST_AXES = 62
LARGEST = 1e300
"""Largest concentration, mask and value at which nothing overflows."""
CLEARANCE = 50.0
"""What a mask exceeds the concentrations by: other positions and inputs have shares below 4e-22 of the weight."""


def checked(control_points: Any) -> Controls:
    """Return control sequences as read-only float64 arrays: of a product if they are a list or a tuple."""
    if isinstance(control_points, list | tuple):
        if not control_points:
            raise ValueError("'control_points' must hold one set of points for each token, got none")
        return product(control_points, "control_points")
    array = _checks.floating(_checks.detached(control_points), "control_points")
    remedy = "a product of point sets is a list of them, one for each token"
    _checks.shaped(array, "control_points", ("N", "T", "dim+1"), remedy=remedy)
    flat = _checks.rows(array.reshape(-1, array.shape[2]), "control_points")
    return frozen(flat.reshape(array.shape))


def product(sets: Sequence[Any], name: str) -> tuple[Float64, ...]:
    """Return the points of sets, one for each token, on one sphere."""
    arrays: list[Float64] = []
    for i, points in enumerate(sets):
        rows, weights = nodes(points, f"{name}[{i}]")
        require_equal(weights)
        _checks.same_sphere(
            rows, f"{name}[{i}]", (arrays[0] if arrays else rows).shape[1] - 1, owner="the first set's sphere"
        )
        arrays.append(frozen(rows))
    return tuple(arrays)


def of_tokens(points: Any, length: int | None, source: str = "length") -> tuple[Float64, ...]:
    """Return the points of each of T tokens, from one set for all of them or a list of T."""
    several = isinstance(points, list | tuple)
    if length is None and not several:
        raise TypeError("'length' must be given, unless 'points' is a list of point sets, one for each token")
    count = len(points) if length is None else _checks.integer(length, "length", minimum=1)
    if several and len(points) != count:
        raise ValueError(f"'points' must be a list of {count} sets, as '{source}' says, got {len(points)}")
    return product(points if several else [points] * count, "points")


def check_axes(count: int) -> None:
    """Check that NumPy has arrays of so many axes, and two more."""
    if count > MOST_AXES:
        raise ValueError(
            f"a product must be of at most {MOST_AXES} sets, as many axes an array of values can have, got {count}: "
            "give control sequences as one array (N, T, dim+1)"
        )


def frozen(array: ArrayLike) -> Float64:
    """Return a read-only copy in float64."""
    copy = np.array(array, dtype=np.float64, order="C")
    copy.flags.writeable = False
    return copy


def sizes(controls: Controls) -> tuple[int, ...]:
    """Return the axes of values that count control sequences: (n_1, ..., n_T), or (N,)."""
    return tuple(map(len, controls)) if isinstance(controls, tuple) else (len(controls),)


def length(controls: Controls) -> int:
    """Return the number T of tokens of a sequence."""
    return len(controls) if isinstance(controls, tuple) else controls.shape[1]


def at(controls: Controls, indices: np.ndarray[Any, Any]) -> Float64:
    """Return control sequences (k, T, dim+1) by their numbers (k,)."""
    if not isinstance(controls, tuple):
        return np.asarray(controls[indices])
    places = np.unravel_index(indices, sizes(controls))
    return np.stack([points[i] for points, i in zip(controls, places, strict=True)], axis=1)


def concatenated(x: Float64, concentration: float | Float64) -> tuple[Float64, float]:
    """Return sequences (n, T, dim+1) as points of S^(T (dim+1) - 1), and the concentration there.

    With sqrt(lambda_i / sum lambda) in front of token i, ``sum_i lambda_i <x_i, b_i>`` is an inner product (7.2).
    """
    by_token = np.broadcast_to(np.asarray(concentration, dtype=np.float64), x.shape[1:2])
    total = float(by_token.sum())
    share = by_token / total if total > 0.0 else np.full(len(by_token), 1.0 / len(by_token))
    return (x * np.sqrt(share)[:, None]).reshape(len(x), -1), total


def concentrations(value: Any, count: int) -> float | Float64:
    """Return one concentration, or one for each token, whose sum does not overflow."""
    value = _checks.detached(value)
    if not _checks.is_vector(value):
        return _checks.concentration(value, maximum=LARGEST / max(count, 1))
    array = _checks.floating(value, "concentration", (count,), note=", one for each token, or be a number")
    return frozen(_checks.reals(array, "concentration", minimum=0.0, maximum=LARGEST / max(count, 1)))


def weights(x: Float64, points: tuple[Float64, ...], concentration: float | Float64) -> Iterator[Float64]:
    """Yield the softmax weights (batch, n_i) of each token of sequences (batch, T, dim+1) over its own points."""
    by_token = np.broadcast_to(np.asarray(concentration, dtype=np.float64), (len(points),))
    for i, rows in enumerate(points):
        masses = kernel.squared_distances(x[:, i], rows, "take fewer sequences at a time")
        masses -= masses.min(axis=1, keepdims=True)
        masses *= -0.5 * by_token[i]
        np.exp(np.maximum(masses, FAR, out=masses), out=masses)
        masses[masses <= NEGLIGIBLE] = 0.0  # exponentials that are subnormal, and products with them, are slow
        masses /= masses.sum(axis=1, keepdims=True)
        yield masses


def contract(
    x: Float64, points: tuple[Float64, ...], concentration: float | Float64, values: Float64, *, numbers: int = NUMBERS
) -> Float64:
    """Return the means of values (n_1, ..., n_T, ...) under the products of weights, (batch, ...)."""
    shape = values.shape[len(points) :]
    step = max(1, numbers // max(values.size // len(points[0]), *map(len, points)))
    out = np.empty((len(x), math.prod(shape)))
    for first in range(0, len(x), step):
        factors = weights(x[first : first + step], points, concentration)
        # 7.3: one token after another; the first is a product of matrices, and takes nearly all of the time
        means = next(factors) @ values.reshape(len(values), -1)  # (batch', n_2 ... n_T T p)
        for w in factors:
            means = np.matmul(w[:, None], means.reshape(*w.shape, -1))[:, 0]  # (batch', n_3 ... n_T T p)
        out[first : first + step] = means
    return out.reshape(len(x), *shape)


def sample(target: Callable[[Any], ArrayLike], points: tuple[Float64, ...], *, entries: int = NUMBERS) -> Float64:
    """Return a function's values at all control sequences of a product, (n_1, ..., n_T, T, p)."""
    shape, length = sizes(points), len(points)
    check_axes(length)
    n = math.prod(shape)
    subject = f"the values of {n:.6g} control sequences"
    _checks.memory(16.0 * n * length, subject, "take fewer control points")
    step = max(1, entries // (8 * length * points[0].shape[1]))
    values = np.empty((0, 0))
    for first in range(0, n, step):
        sequences = at(points, np.arange(first, min(first + step, n)))
        part = _checks.floating(_checks.called(target, sequences), "target(sequences)")
        _checks.shaped(
            part, "target", (len(sequences), length, "p" if first == 0 else values.shape[1] // length), verb="return",
            note=" for sequences (batch, T, dim+1)", remedy="one number at each position is y[..., None]",
        )  # fmt: skip
        if first == 0:
            numbers = length * part.shape[2]
            _checks.memory(16.0 * n * numbers, subject, "take fewer control points")
            values = np.empty((n, numbers))
        values[first : first + len(part)] = part.reshape(len(part), -1)
    return values.reshape(*shape, length, -1)
