"""Layers of `ReluNetwork`: hinges of one variable, Kuhn's hats of two and three, waves of any, and torch's modules."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.fft import dctn

from ... import _checks
from ..._types import Float64, Indices

Layers = tuple[list[Float64], list[Float64]]
_REMEDIES = {
    "Dropout": "module.eval() drops nothing",
    "BatchNorm1d": "torch.nn.utils.fusion.fuse_linear_bn_eval(linear, norm) makes one Linear of the two",
}


WIDEST = 1e300
"""Of knots and boxes: differences do not overflow."""


def checked_grid(box: Any, cells: Any, most: int = 20) -> tuple[Float64, tuple[int, ...]]:
    """Return the ends (d, 2) of intervals, at most so many, and the number of cells of each."""
    ends = np.array(_checks.floating(_checks.detached(box), "box", ("d", 2)), dtype=np.float64)
    d = len(ends)
    if d > most or not (ends[:, 1] > ends[:, 0]).all() or not np.abs(ends).max() <= WIDEST:
        raise ValueError(
            f"'box' must hold the ends of 1 to {most} intervals, in order and up to {WIDEST:g}, got {_checks.show(box)}"
        )
    if not (ends[:, 1] - ends[:, 0]).min() >= 1.0 / WIDEST:
        raise ValueError(f"'box' must be {1.0 / WIDEST:g} wide or more along each axis, got {_checks.show(box)}")
    counts: list[Any] = list(cells) if _checks.is_vector(cells) else [cells] * d
    if len(counts) != d:
        raise ValueError(f"'cells' must be a number, or one for each of {d} axes, got {_checks.show(cells)}")
    return ends, tuple(_checks.integer(count, "cells", minimum=1, maximum=10**7) for count in counts)


def sample(
    f: Callable[[Float64], Any], ends: Float64, counts: Sequence[int], *, middles: bool
) -> tuple[list[Float64], Float64]:
    """Return the axes of a grid, of vertices or of middles of cells, and the values (V, p) of a function there."""
    axes = [
        low + (high - low) * np.arange(0.5, count) / count if middles else np.linspace(low, high, count + 1)
        for (low, high), count in zip(ends.tolist(), counts, strict=True)
    ]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    values = _checks.values_for(_checks.called(f, grid), "f(x)", len(grid), owner="the grid")
    return axes, values.astype(np.float64).reshape(len(grid), -1)


def damping(count: int) -> Float64:
    """Return the factors of waves 0, ..., count - 1 that make a mean of values, with the most at the first (9.4)."""
    k, n = np.arange(count), count + 1.0
    rows = (n - k + 1.0) * np.sin((k + 1.0) * np.pi / n) - (n - k - 1.0) * np.sin((k - 1.0) * np.pi / n)
    return np.asarray(rows / (2.0 * n * math.sin(np.pi / n)))


def waves(f: Callable[[Float64], Any], ends: Float64, counts: tuple[int, ...], pieces: int) -> Layers:
    """Return one hidden layer of straight pieces of the waves cos<k, t> of a mean of a function's values (9.4).

    Waves of one direction share their knots, so many to half a period of the shortest one.
    """
    if max(counts) < 2:
        raise ValueError("'cells' must be 2 or more along some axis: the mean of one value is a constant")
    _checks.memory(16.0 * len(counts) * math.prod(2.0 * n for n in counts), "waves", "take fewer cells")
    heights = _heights(sample(f, ends, counts, middles=True)[1], counts)
    numbers = np.indices([2 * n - 1 for n in counts]).reshape(len(counts), -1).T - (np.array(counts) - 1)
    numbers = numbers[len(numbers) // 2 + 1 :]  # the others are their negatives, and 0
    shares = heights[tuple(np.abs(numbers.T))] * 2.0 ** (1 - np.count_nonzero(numbers, axis=1))[:, None]
    steps = np.gcd.reduce(numbers, axis=1)
    directions, place = np.unique(numbers // steps[:, None], axis=0, return_inverse=True)
    groups = np.split(np.argsort(place, kind="stable"), np.cumsum(np.bincount(place))[:-1])
    finest = pieces * np.array([steps[own].max() for own in groups])
    units = np.abs(directions).sum(axis=1) * finest + 1
    _checks.memory(24.0 * float(units.sum()) * (len(counts) + shares.shape[1] + 1), "weights", "take fewer cells")
    parts, offset = [], heights[(0,) * len(counts)]
    for direction, fine, own in zip(directions, finest, groups, strict=True):
        knots = np.arange(fine * direction[direction < 0].sum(), fine * direction[direction > 0].sum() + 1) / fine
        (_, turns), (shift, first) = hinges(np.pi * knots, np.cos(np.pi * np.outer(knots, steps[own])) @ shares[own])
        parts.append((shift, turns.T))
        offset = offset + first
    shifts, turns = map(np.concatenate, zip(*parts, strict=True))
    rows = np.repeat(directions, units, axis=0) * (np.pi / (ends[:, 1] - ends[:, 0]))  # t = pi (x - low) / (high - low)
    return [rows, turns.T], [shifts - rows @ ends[:, 0], offset]


def _heights(values: Float64, counts: tuple[int, ...]) -> Float64:
    """Return the heights (c_1, ..., c_d, p) of products of cosines in the mean of values (V, p) at middles of cells."""
    heights = dctn(values.reshape(*counts, -1), axes=range(len(counts)))
    for axis, count in enumerate(counts):
        factors = damping(count) / (count * np.where(np.arange(count) == 0, 2.0, 1.0))
        heights *= factors.reshape(-1, *[1] * (len(counts) - axis))
    return np.asarray(heights)


def hinges(knots: Float64, values: Float64) -> Layers:
    """Return the layers of the interpolant at knots (n,) of values (n, p), constant beyond the first and last."""
    with np.errstate(over="ignore"):
        slopes = np.diff(values, axis=0) / np.diff(knots)[:, None]  # (n - 1, p)
        turns = np.diff(slopes, axis=0, prepend=0.0, append=0.0)  # (n, p)
    if not np.isfinite(turns).all():
        raise ValueError("'values' must change less from knot to knot: slopes overflow")
    return [np.ones((len(knots), 1)), turns.T], [-knots, values[0]]


def hats(axes: Sequence[Float64], values: Float64) -> Layers:
    """Return the layers of Kuhn's interpolant of values (V, p) on the grid of two or three axes, for points inside.

    With t = grid coordinates less those of a vertex, its hat is relu(1 - max(0, t) - max(0, -t)) (9.4), and the maxima
    are a + relu(b - a) for a = relu(t_1) and b the maximum of the other coordinates.
    """
    counts = [len(axis) for axis in axes]
    vertices: Indices = np.indices(counts).reshape(len(axes), -1).T  # (V, d)
    steps = np.array([(axis[-1] - axis[0]) / (len(axis) - 1) for axis in axes])
    start = np.array([axis[0] for axis in axes]) / steps
    first, shift, place = _first(vertices, counts)
    # units on the first axis pass on; each vertex has one for the maximum of t and one for that of -t
    ends = 2 * counts[0]
    total = len(vertices)
    second = np.zeros((ends + 2 * total, len(first)))
    second[np.arange(ends), np.arange(ends)] = 1.0
    for sign, rows in ((0, ends + np.arange(total)), (1, ends + total + np.arange(total))):
        second[rows, 2 * vertices[:, 0] + sign] = -1.0
        for columns, weight in place[sign]:
            second[rows, columns] += weight
    third = np.zeros((total, len(second)))
    rows = np.arange(total)
    for columns in (2 * vertices[:, 0], 2 * vertices[:, 0] + 1, ends + rows, ends + total + rows):
        third[rows, columns] = -1.0
    biases = [shift - first @ start, np.zeros(len(second)), np.ones(total), np.zeros(values.shape[1])]
    return [first / steps, second, third, values.T.copy()], biases


Places = tuple[list[tuple[Indices, float]], list[tuple[Indices, float]]]


def _first(vertices: Indices, counts: Sequence[int]) -> tuple[Float64, Float64, Places]:
    """Return rows and shifts of the first layer in grid coordinates z, and where each vertex finds b and its mirror.

    Units 2 k and 2 k + 1 of an axis are relu(z - k) and relu(k - z); in three dimensions relu(z_3 - z_2 - e) and its
    mirror follow, for all differences e of indices.
    """
    d = len(counts)
    rows, shift = [], []
    for axis, count in enumerate(counts):
        unit = np.eye(d)[axis]
        rows += [sign * unit for _ in range(count) for sign in (1.0, -1.0)]
        shift += [-sign * k for k in range(count) for sign in (1.0, -1.0)]
    from_ = 2 * counts[0]
    plus, minus = from_ + 2 * vertices[:, 1], from_ + 2 * vertices[:, 1] + 1
    place: Places = [(plus, 1.0), (minus, -1.0)], [(minus, 1.0), (plus, -1.0)]
    if d == 3:
        least, begin = 1 - counts[1], len(rows)
        for e in range(least, counts[2]):
            rows += [np.array([0.0, -1.0, 1.0]), np.array([0.0, 1.0, -1.0])]
            shift += [-float(e), float(e)]
        where = begin + 2 * (vertices[:, 2] - vertices[:, 1] - least)
        place[0].append((where, 1.0))
        place[1].append((where + 1, 1.0))
    return np.array(rows), np.array(shift, dtype=np.float64), place


def linear_layers(module: Any) -> tuple[list[Any], list[Any]]:
    """Return the weights and biases of the Linear layers of a Sequential, checked to have ReLU between them."""
    try:
        parts = list(module)
    except TypeError:
        kind = type(module).__name__
        raise TypeError(
            f"'module' must be a torch.nn.Sequential, got {kind}: torch.nn.Sequential(module) is one of a layer"
        ) from None
    obstacle = _checks.obstacle(module, "Sequential") if _checks.stock(module, "Sequential") else None
    if obstacle:
        raise TypeError(f"'module' must be a torch.nn.Sequential, got {obstacle}")
    active = [(number, part) for number, part in enumerate(parts) if not _passes_rows(part)]
    kinds = [_kind(part, f"module[{number}]") for number, part in active]
    if not kinds or kinds != ["Linear", "ReLU"] * (len(kinds) // 2) + ["Linear"]:
        remedy = "ReluNetwork(weights, biases) takes the arrays of any other"
        remedy = next((_REMEDIES[kind] for kind in kinds if kind in _REMEDIES), remedy)
        raise ValueError(f"'module' must hold Linear, ReLU, ..., Linear, got {', '.join(kinds) or 'nothing'}: {remedy}")
    layers = [part for _, part in active[::2]]
    biases = [np.zeros(len(layer.weight)) if layer.bias is None else layer.bias for layer in layers]
    return [layer.weight for layer in layers], biases


def _passes_rows(module: Any) -> bool:
    """Tell whether a module of torch returns rows (n, columns) as they are."""
    kind = next((kind for kind in ("Identity", "Flatten", "Dropout") if _checks.stock(module, kind)), None)
    if kind is None or _checks.obstacle(module, kind):
        return False
    return bool(module.start_dim == 1 if kind == "Flatten" else kind == "Identity" or not module.training)


def _kind(module: Any, name: str) -> str:
    """Return the name of the class of torch that a module is of, checked to compute as that does."""
    kind = next((kind for kind in ("Linear", "ReLU") if _checks.stock(module, kind)), type(module).__name__)
    obstacle = _checks.obstacle(module, kind)
    if obstacle and obstacle != type(module).__name__:
        raise TypeError(f"'{name}' must compute what its weights say, got {obstacle}")
    return kind
