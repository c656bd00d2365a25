"""How kinds of models compute a program: roundings, gates, and what is known of a variable at all steps (10.6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from spherapprox import _checks
from spherapprox._types import Bools, Float64
from spherapprox.prompts.recurrent import Linear, LinState, Multiplicative, Program, RunningMax, Variable, validate
from spherapprox.prompts.recurrent.gates import Gates
from spherapprox.prompts.recurrent.hawk.lowering import lower_network
from spherapprox.prompts.recurrent.ranges import Range, factor_size, ranges_of

from ..lengths import UNITS
from .gates import RELU_GAP

MODEL_KINDS = {"interpreter": 1, "network": 3, "rnn": 3, "lstm": 3, "gru": 6, "hawk": 3}
"""Units that one number is at most read from."""
FUNCTIONS, LAST = 40.0, 4.0
"""Roundings of a unit, functions of torch included; of a sum beyond its terms."""
TINY = 2.0**-1022
"""The least normal number of float64, in which weights are merged: more than what this analysis loses below it."""


@dataclass(frozen=True)
class Part:
    """What is known of a variable at all steps: arrays of shape (batch, L, dim).

    An affine function inherits errors of what it is read from, and has a rounding error in proportion to a sum of
    magnitudes; ``rounds`` counts roundings of merged weights, ``terms`` the numbers that each entry is read from, of
    which ``largest`` (batch, L, 1) is the largest magnitude; ``lost`` is what underflows of merged weights take.
    """

    value: Float64
    inherited: Float64
    magnitude: Float64
    rounds: int
    terms: Float64
    largest: Float64
    lost: Float64

    def at(self, t: int) -> Part:
        """Return the arrays of one step."""
        arrays = ("value", "inherited", "magnitude", "largest", "lost")
        return replace(self, **{name: getattr(self, name)[:, t] for name in arrays})


@dataclass(frozen=True)
class Model:
    """How a kind of model computes: roundings, what an underflow takes, gates, and units that a number is read from.

    `factors` are sizes of first factors of products; for a Hawk of states, and of what maxima compare, too. Beyond
    `largest` norms of a Hawk are no constants.
    """

    kind: str
    unit: float
    least: float
    numbers: float
    layers: int
    gates: Gates | None
    factors: Mapping[Variable, Float64]
    largest: float = np.inf

    @property
    def units(self) -> int:
        """Units that one number is at most read from."""
        return MODEL_KINDS[self.kind]

    @property
    def limit(self) -> float:
        """Largest value of a unit."""
        return 1.0 / self.gates.scale if self.gates else np.inf

    @property
    def step_error(self) -> float:
        """Error of a ReLU by its gate, both sides of 0 (10.3)."""
        return 2.0 * RELU_GAP / self.gates.sharpness if self.gates else 0.0

    def rounding(self, part: Part, more: float = 0.0, extra: Float64 | float = 0.0) -> Float64:
        """Bound the rounding of an affine function, with more terms of some extra magnitude (10.6)."""
        terms = np.minimum(part.terms, self.numbers)
        count = self.units * terms + more + LAST
        weights = gamma(part.rounds + terms.max() + more, 2.0**-53)
        magnitude = part.magnitude + extra
        lost = np.minimum(count * self.least * (1.0 + part.largest), 2.0 * (magnitude + part.lost) + TINY)
        return (weights + gamma(count, self.unit)) * magnitude + part.lost + lost

    def through(self, size: Float64) -> Float64:
        """Bound the error of units that hold numbers of some size, beyond that of their gates."""
        if self.gates is None:
            return 0.0 * size
        eps = self.gates.scale
        # 10.6: tau(S)
        return FUNCTIONS * self.unit * size + (2.0 / 3.0) * size * (eps * size) ** 2 + 8.0 * self.least

    def unit_sizes(self, size: Float64) -> Float64:
        """Return the sizes of units from those of their arguments: a GRU's keep the past."""
        if self.gates is None or self.kind != "gru":
            return size
        return np.maximum.accumulate(size, axis=1) * self.drift(np.arange(1.0, size.shape[1] + 1.0))[:, None]

    def drift(self, steps: Float64 | float) -> Float64:
        """Return by what factor roundings may have enlarged a number that is kept for some steps (10.6)."""
        return np.asarray(np.exp(FUNCTIONS * self.unit * steps))

    def stored(self, number: Float64) -> Float64:
        """Return the error of a number in the model's dtype."""
        rounded = number if self.unit == 2.0**-53 else number.astype(np.float32).astype(np.float64)
        return np.abs(rounded - number)

    def relu(self, rounding: Float64, size: Float64, off: Bools) -> Float64:
        """Bound the error that a ReLU adds to its argument's, or all of it where the argument is below 0 for sure."""
        idle = 2.0 * self.step_error + self.through(size if self.kind == "gru" else 0.0 * size + 2.0 * self.step_error)
        added = (6.0 * rounding if self.gates else rounding) + self.step_error + self.through(size)
        return np.where(off, idle, added)

    def carried(self, size: Float64) -> Float64:
        """Bound the errors that a number collects in all layers that carry it on, as a pair of ReLUs or otherwise."""
        rounding = gamma(8.0, self.unit) * (4.0 if self.kind == "gru" else 1.0) * size
        return self.layers * (12.0 * rounding + 2.0 * (self.step_error + self.through(size)))


def model_of(program: Program, kind: str, dtype: str, value_bound: float | None) -> Model:
    """Return how a kind of model computes a program, after checking that it does."""
    _checks.instance(program, "program", Program)
    _checks.choice(kind, "kind", MODEL_KINDS)
    single = _checks.choice(dtype, "dtype", UNITS) == "float32" and kind not in ("interpreter", "network")
    if reasons := [*validate(program), *(validate(program, kind) if kind == "rnn" else ())]:
        raise ValueError(f"{program!r} is not valid: {'; '.join(reasons)}")
    layers, gates, largest, largest_value = 1, None, np.inf, None
    smallest = 1.0  # the least power of two by which weights are multiplied
    if kind in ("lstm", "gru", "hawk"):
        network = program.compile()
        largest_value = network.value_bound if value_bound is None else value_bound
        if largest_value is None:
            raise ValueError(f"'value_bound' must be given: recurrent.validate(program, {kind!r}) says why")
        layers, gates = max(len(network.layers), 1), Gates.of(largest_value, dtype)
        if kind == "hawk":
            factor = lower_network(network, largest_value, dtype).factor
            gates, smallest = replace(gates, scale=1.0 / factor), 1.0 / (factor * gates.sharpness)
            largest = factor * 2.0 ** (-13 if single else -27)
    limits = np.finfo(np.float32 if single else np.float64)
    numbers = float(sum(v.dim for v in program.variables if not isinstance(v, Linear)))
    ranges = ranges_of(program.variables)
    factors: dict[Variable, Float64] = {
        v: factor_size(v, ranges[v.inputs[0]]) for v in program.variables if isinstance(v, Multiplicative)
    }
    if kind == "hawk" and largest_value is not None:
        factors |= _sizes(program, ranges, bound=largest_value)
    elif gates:
        smallest = min([1.0, gates.scale, *(gates.slope / sizes.max() for sizes in factors.values() if sizes.any())])
    return Model(
        kind, float(limits.epsneg), float(limits.tiny) / smallest, numbers=numbers, layers=layers, gates=gates,
        factors=factors, largest=largest,
    )  # fmt: skip


def _sizes(program: Program, ranges: Mapping[Variable, Range], bound: float) -> dict[Variable, Float64]:
    """Return sizes that a Hawk's sums and running maxima have room for."""
    sizes: dict[Variable, Float64] = {}
    for v in program.variables:
        if isinstance(v, LinState):
            size = np.maximum(np.abs(ranges[v][0]), np.abs(ranges[v][1]))
            sizes[v] = np.where((size < np.inf) & (size > 0.0), size, bound)
        elif isinstance(v, RunningMax):
            sizes[v] = np.full(v.dim, bound + v.bound)
    return sizes


def gamma(count: Float64 | float, unit: float) -> Float64:
    """Return the relative error of so many roundings one after another (10.6)."""
    product = np.asarray(count, dtype=np.float64) * unit
    return np.where(product < 0.5, product / (1.0 - np.minimum(product, 0.5)), np.inf)


def atom(value: Float64, error: Float64, magnitude: Float64, model: Model) -> Part:
    """Return a variable that is no affine function, as the model reads it after all layers that carry it on (10.6)."""
    if model.kind != "interpreter":
        error = error + (12.0 if model.gates else 3.0) * gamma(8.0, model.unit) * magnitude
    if model.gates:
        size = model.unit_sizes(np.abs(value) + 2.0 * error)
        bound = 2.0 * model.carried(size)
        carried = model.carried(size + 2.0 * bound)
        error = error + np.where((carried <= bound) & (size + 2.0 * bound <= model.largest), carried, np.inf)
        magnitude = np.maximum(magnitude, (4.0 if model.kind == "gru" else 1.0) * (size + 2.0 * bound))
    magnitude = np.maximum(magnitude, np.abs(value) + 2.0 * error)
    largest = magnitude.max(axis=-1, keepdims=True)
    return Part(
        value, error, magnitude, rounds=0, terms=np.ones(value.shape[-1]), largest=largest, lost=np.zeros(value.shape)
    )
