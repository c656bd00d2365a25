"""`Layout`: the columns of an executor's token and the sizes of its blocks; limits of what it runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ... import _checks
from ..._types import Indices

ROUNDING = 1e-14
"""By how much, relatively, weights of a network may exceed their bounds."""

_GUARD = 1.125
"""Factor of the gates above what sums can be, which covers roundings."""


@dataclass(frozen=True)
class Layout:
    """Registers of a token, side by side.

    Columns are key, record (a row of weights and its bias), read (the record that was read), input (that of the layer,
    in all tokens), output (of the layer before, spread over tokens), sum (of one neuron) and name (of a work token).
    """

    sizes: tuple[int, ...]
    key_dim: int

    @property
    def records(self) -> int:
        """Records, one for each neuron: the length m of the prompt."""
        return sum(self.sizes[1:])

    @property
    def workers(self) -> int:
        """Work tokens, as many as the widest layer has neurons."""
        return max(self.sizes[1:])

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.records + self.workers

    @property
    def inputs(self) -> int:
        """Inputs of the layer that has most of them."""
        return max(self.sizes[:-1])

    @cached_property
    def ends(self) -> dict[str, tuple[int, int]]:
        """First column of each register, and the one behind its last."""
        n = self.inputs
        widths = {"key": self.key_dim, "record": n + 1, "read": n + 1, "input": n, "output": n, "sum": 1}
        ends, start = {}, 0
        for name, width in (widths | {"name": self.workers}).items():
            ends[name] = (start, start + width)
            start += width
        return ends

    def columns(self, register: str) -> Indices:
        """Return the columns of a register."""
        return np.arange(*self.ends[register])

    @property
    def width(self) -> int:
        """Columns d of a token."""
        return self.ends["name"][1]

    def signs(self, layer: int) -> tuple[float, ...]:
        """Return the signs of the sums that a layer passes on: ReLUs, none at first, or outputs that are inputs."""
        if layer:
            return (1.0,)
        return (1.0, -1.0) if self.sizes[0] == self.sizes[-1] else ()

    def hidden(self, segments: tuple[int, ...]) -> tuple[int, ...]:
        """Return the hidden units of the two blocks of each layer."""
        clear = 2 * (self.inputs + 1)
        units: list[int] = []
        for layer, count in enumerate(segments):
            n = self.sizes[layer]
            units += [clear + n * len(self.signs(layer)), 2 * n * count + 2 + clear + 2 * self.inputs]
        return tuple(units)

    def weights(self, segments: tuple[int, ...]) -> int:
        """Return the number of weights of all blocks."""
        d = self.width
        return sum(4 * d * d + units * (2 * d + 1) for units in self.hidden(segments))


def gate_above(row: float, weight: float, size: int, segments: int, activation: float) -> float:
    """Return a number that no token's sum of a layer with inputs of at most `activation` reaches (9.1)."""
    return _GUARD * (row * activation + weight + size * weight * activation / segments**2)


def layer_sizes(sizes: Any) -> tuple[int, ...]:
    """Return the checked sizes n_0, ..., n_D of layers."""
    if not _checks.is_vector(sizes) or len(sizes) < 2:
        raise ValueError(f"'sizes' must hold the sizes of the input and of each layer, got {_checks.show(sizes)}")
    return tuple(_checks.integer(size, "sizes", minimum=1, maximum=10**6) for size in sizes)


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
