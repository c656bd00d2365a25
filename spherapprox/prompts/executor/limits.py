"""Limits of executors and of the networks that they run: numbers for each layer, rows of weights, gates."""

from __future__ import annotations

from typing import Any

from ... import _checks

ROUNDING = 1e-14
"""By how much, relatively, weights of a network may exceed their bounds."""

_GUARD = 1.125
"""Factor of the gates above what sums can be, which covers roundings."""


def gate_above(row: float, weight: float, size: int, segments: int, activation: float) -> float:
    """Return a number that no token's sum of a layer with inputs of at most `activation` reaches (9.1)."""
    return _GUARD * (row * activation + weight + size * weight * activation / segments**2)


def row_bounds(row_bound: Any, sizes: tuple[int, ...], weight_bound: float) -> tuple[float, ...]:
    """Return for each layer the largest sum of absolute weights in a row that both bounds allow."""
    depth = len(sizes) - 1
    largest = tuple(n * weight_bound for n in sizes[:-1])
    if row_bound is None:
        return largest
    bounds = row_bound if _checks.is_vector(row_bound) else [row_bound] * depth
    return tuple(map(min, reals_by_layer(bounds, "row_bound", depth), largest))


def by_layer(values: Any, name: str, depth: int) -> list[Any]:
    """Return a list of one value for each layer."""
    if not _checks.is_vector(values) or len(values) != depth:
        raise ValueError(f"'{name}' must hold a number for each of {depth} layers, got {_checks.show(values)}")
    return list(values)


def reals_by_layer(values: Any, name: str, depth: int) -> tuple[float, ...]:
    """Return one positive number for each layer."""
    return tuple(between(value, name) for value in by_layer(values, name, depth))


def between(value: Any, name: str) -> float:
    """Return a positive number with which products and quotients stay in range."""
    return _checks.real(value, name, minimum=1e-100, maximum=1e100)
