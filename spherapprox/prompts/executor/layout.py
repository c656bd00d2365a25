"""`Layout`: the columns of a token of an executor, and the sizes of its blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..._types import Indices


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

    def hidden(self, segments: tuple[int, ...]) -> tuple[int, ...]:
        """Return the hidden units of the two blocks of each layer."""
        clear = 2 * (self.inputs + 1)
        units: list[int] = []
        for layer, count in enumerate(segments):
            n = self.sizes[layer]
            units += [clear + (n if layer else 0), 2 * n * count + 2 + clear + 2 * self.inputs]
        return tuple(units)

    def weights(self, segments: tuple[int, ...]) -> int:
        """Return the number of weights of all blocks."""
        d = self.width
        return sum(4 * d * d + units * (2 * d + 1) for units in self.hidden(segments))
