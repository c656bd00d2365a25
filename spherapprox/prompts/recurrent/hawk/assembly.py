"""`Assembly`: the registers of a stream, and the parts of blocks that write to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...._types import Bools, Float64, Indices

OPEN = 1000.0
"""Where a sigmoid is exactly 1, and at the negative exactly 0."""
SHARPNESS = 8.0
"""c, the power of a that r is multiplied by."""
RATE = SHARPNESS * OPEN
"""-log a of units that forget: a is exactly 0."""
LATCH = 2048.0
"""Slope of gates that see whole numbers: a sigmoid of it, times a half, is exactly 1."""
UNIT_GATE = 16.0
"""Where a GELU is exactly its argument, and at the negative exactly 0; a power of two."""
TAPS = 4
"""Steps that a convolution sees."""


@dataclass(frozen=True)
class Form:
    """An affine function of the registers of a stream: of the first of them, as many as the matrix has columns."""

    matrix: Float64
    bias: Float64

    def then(self, weight: Float64, bias: Float64 | float = 0.0) -> Form:
        """Return an affine function of it."""
        return Form(weight @ self.matrix, weight @ self.bias + bias)

    def rows(self, places: Indices | Sequence[int]) -> Form:
        """Return some of its entries."""
        return Form(self.matrix[places], self.bias[places])

    def plus(self, places: Sequence[int] | Indices, weight: Float64) -> Form:
        """Return it with more of some registers, by a matrix with a column for each."""
        matrix = widen(self.matrix, max([self.matrix.shape[1], *(int(i) + 1 for i in places)]))
        matrix[:, places] += weight
        return Form(matrix, self.bias)


@dataclass(frozen=True)
class Temporal:
    """Real-gated linear recurrences behind convolutions, a unit a row of `inputs`; `output` (registers, units).

    `taps` are of the convolution, now first; `gate`, `gate_bias` of the recurrence gate r, and a is ``exp(-rate r)``.
    """

    inputs: Form
    taps: Float64
    gate: Float64
    gate_bias: Float64
    rate: Float64
    output: Float64
    bias: Float64


@dataclass(frozen=True)
class Channel:
    """A gated MLP: ``output (GELU(gate) value)``."""

    gate: Form
    value: Form
    output: Float64


class Assembly:
    """Parts of blocks, in order, and the registers of the stream that they read and write.

    A register is written once, by a part that adds to its 0; what is released is cleared by the next MLP, which adds
    its negative, and both are exact. Those with a name are never cleared.
    """

    def __init__(self, dim: int, sharpness: float, digits: int, largest: float) -> None:
        self.parts: list[Temporal | Channel] = []
        self.sharpness, self.digits, self.largest = sharpness, digits, largest
        self.count, self.reach = dim, largest
        self._spare: list[int] = []
        self._dead: list[int] = []
        self.names: dict[str, int] = {}
        self._positive: set[int] = set()

    def take(self, n: int) -> list[int]:
        """Return registers that hold 0."""
        places = [self._spare.pop() for _ in range(min(n, len(self._spare)))]
        self.count += n - len(places)
        self._positive -= set(places)
        return [*places, *range(self.count - n + len(places), self.count)]

    def release(self, places: Sequence[int] | Indices) -> None:
        """Clear registers at the next MLP, but for those that all layers share."""
        self._dead += [int(i) for i in places if i not in self.names.values()]

    def temporal(
        self, inputs: Form, output: Float64 | None = None, *, places: Sequence[int] | None = None, **own: Float64
    ) -> list[int]:
        """Append units, by default such as pass on what they read, and return the registers that have them.

        `own` are attributes of `Temporal`; rows of `output` are registers, and `places` those that are added to.
        """
        n = len(inputs.bias)
        output = np.eye(n) if output is None else output
        written = self.take(len(output)) if places is None else list(places)
        defaults = {
            "taps": np.eye(1, TAPS).repeat(n, axis=0), "gate": np.zeros((n, n)), "gate_bias": np.full(n, OPEN),
            "rate": np.full(n, RATE), "bias": np.zeros(len(output)),
        }  # fmt: skip
        arrays = defaults | own
        bias = np.zeros(self.count)
        bias[written] = arrays.pop("bias")
        grows = self.is_positive(inputs) & (arrays["taps"] >= 0.0).all(axis=1)
        rises = ((output >= 0.0) & (grows | (output == 0.0))).all(axis=1) & (bias[written] == 0.0)
        self._positive |= {k for k, rise in zip(written, rises, strict=True) if rise}
        self.parts.append(Temporal(inputs, output=self._placed(output, written), bias=bias, **arrays))
        return written

    def channel(self, gate: Form, value: Form, output: Float64) -> list[int]:
        """Append hidden units of an MLP, clear what is dead, and return the registers that have their sums."""
        written = self.take(len(output))
        matrix = self._placed(output, written)
        if dead := sorted(self._dead):
            gate = join_forms([gate, Form(np.zeros((len(dead), 0)), np.full(len(dead), UNIT_GATE))])
            value = join_forms([value, Form(-np.eye(self.count)[dead], np.zeros(len(dead)))])
            matrix = np.hstack([matrix, np.eye(self.count)[:, dead] / UNIT_GATE])
        self.parts.append(Channel(gate, value, matrix))
        self._spare, self._dead = self._spare + dead, []
        return written

    def is_positive(self, of: Form) -> Bools:
        """Tell which entries of a form are never below 0, as all their terms are not."""
        columns = np.isin(np.arange(of.matrix.shape[1]), list(self._positive))
        return np.asarray((of.matrix >= 0.0).all(axis=1) & ~of.matrix[:, ~columns].any(axis=1) & (of.bias >= 0.0))

    def relu(self, of: Form) -> list[int]:
        """Append positive parts, ``GELU(mu v) / mu``."""
        n, mu = len(of.bias), self.sharpness
        gate, value = Form(mu * of.matrix, mu * of.bias), Form(np.zeros((n, 0)), np.full(n, 1.0 / mu))
        places = self.channel(gate, value, np.eye(n))
        self._positive |= set(places)
        return places

    def product(self, first: Form, second: Form) -> list[int]:
        """Append products, ``(GELU(mu u) - GELU(-mu u)) v / mu``."""
        n, mu = len(first.bias), self.sharpness
        signs = np.vstack([np.eye(n), -np.eye(n)])
        return self.channel(first.then(mu * signs), second.then(abs(signs) / mu), signs.T)

    def at_least_0(self, of: Form) -> list[int]:
        """Append 1 where whole numbers are at least 0, else 0: the difference of two positive parts, exactly."""
        n = len(of.bias)
        signs, ones = np.vstack([np.eye(n), np.eye(n)]), np.repeat([1.0, 0.0], n)
        gate = of.then(UNIT_GATE * signs, UNIT_GATE * ones)
        value = Form(np.zeros((2 * n, 0)), np.full(2 * n, 1.0 / UNIT_GATE))
        places = self.channel(gate, value, np.hstack([np.eye(n), -np.eye(n)]))
        self._positive |= set(places)
        return places

    def start(self) -> int:
        """Return the register that is 1 at the first step and 0 later: a constant less what it was, 0 before."""
        if "start" not in self.names:
            difference = np.array([[1.0, -1.0, 0.0, 0.0]])
            self.names["start"] = self.temporal(Form(np.zeros((1, 0)), np.ones(1)), taps=difference)[0]
        return self.names["start"]

    def _placed(self, output: Float64, places: Sequence[int]) -> Float64:
        """Return a matrix with rows for all registers."""
        matrix = np.zeros((self.count, output.shape[1]))
        matrix[places] = output
        return matrix


def widen(matrix: Float64, columns: int) -> Float64:
    """Return a matrix with more columns of 0."""
    return np.pad(matrix, ((0, 0), (0, columns - matrix.shape[1])))


def join_forms(forms: Sequence[Form]) -> Form:
    """Return forms one below another."""
    columns = max(form.matrix.shape[1] for form in forms)
    matrix = np.vstack([widen(form.matrix, columns) for form in forms])
    return Form(matrix, np.concatenate([form.bias for form in forms]))
