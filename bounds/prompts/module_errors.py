"""Running analysis of rounding and gate errors of a program for recurrent models (10.6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from spherapprox import _checks
from spherapprox._types import Bools, Float64
from spherapprox.prompts.recurrent import (
    Gates,
    Input,
    Linear,
    LinState,
    Multiplicative,
    Program,
    ReLU,
    RunningMax,
    Variable,
    validate,
)
from spherapprox.prompts.recurrent.ranges import factor_size, ranges_of

MODEL_KINDS = {"interpreter": 1, "network": 3, "rnn": 3, "lstm": 3, "gru": 6}
"""Units that one number is at most read from."""
DTYPES = ("float64", "float32")
RELU_GAP = 0.2784645427610738
"""The largest difference of x sigmoid(x) and max(x, 0): W(1/e) (10.3)."""
FUNCTIONS, LAST = 40.0, 4.0
"""Roundings of a unit, functions of torch included; of a sum beyond its terms."""
TINY = 2.0**-1022
"""The least normal number of float64, in which weights are merged: more than what this analysis loses below it."""
WIDEST_BASIS = 500
"""States for which a Schur basis is worth its time."""
SLACK = 1.0 + 1e-6
"""For the roundings of this analysis itself."""


def module_error(
    program: Program,
    x: ArrayLike,
    *,
    kind: str = "interpreter",
    dtype: str = "float64",
    value_bound: float | None = None,
) -> Float64:
    """Bound the error of a program's outputs as a model computes them, against exact arithmetic.

    Parameters
    ----------
    program : Program
    x : array_like, shape (L, d) or (batch, L, d)
    kind : {"interpreter", "network", "rnn", "lstm", "gru"}
        What computes: the program itself, ``program.compile()``, or a module of `Network.to_torch`.
    dtype : {"float64", "float32"}
        Of the module; the interpreter and the network compute in float64.
    value_bound : float, optional
        As for `Network.to_torch`.

    Returns
    -------
    ndarray, shape (L, p) or (batch, L, p)
        The model's outputs, and the interpreter's too, are within this of the exact ones, so that two models differ
        by at most the sum of theirs. Wide where rounding decides: it does not know that integers are exact.

    Raises
    ------
    TypeError, ValueError
        If the program is not valid for the kind, or an argument is out of range.

    References
    ----------
    docs/theorems/10.6-errors-of-modules.md.

    Examples
    --------
    >>> import numpy as np
    >>> from bounds.prompts.recurrent import module_error
    >>> from spherapprox.prompts.recurrent import Input, Program
    >>> x = Input(2, bound=1.0)
    >>> square = Program(x[:1] * x[1:])
    >>> for kind in ("network", "lstm"):
    ...     print(kind, f"{module_error(square, [[0.5, 0.25]], kind=kind)[0, 0]:.0e}")
    network 2e-15
    lstm 1e-09
    """
    model = _model(program, kind, dtype, value_bound)
    given = np.asarray(_checks.floating(x, "x", ("L", program.inputs[0].dim), ("batch", "L", program.inputs[0].dim)))
    rows = (given if given.ndim == 3 else given[None]).astype(np.float64)
    parts: dict[Variable, _Part] = {}
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        for node in program.variables:
            inputs = [parts[v] for v in node.inputs]
            parts[node] = _entered(node, rows, model) if isinstance(node, Input) else _part(node, inputs, model)
        last = parts[program.output]
        error = SLACK * (last.inherited + model.rounding(last))
    if not np.isfinite(last.value).all():
        raise ValueError("'x' must be smaller or shorter: numbers of the program overflow")
    error = np.where(np.isnan(error), np.inf, error)
    return error if given.ndim == 3 else error[0]


@dataclass(frozen=True)
class _Part:
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

    def at(self, t: int) -> _Part:
        """Return what is known at one step."""
        arrays = ("value", "inherited", "magnitude", "largest", "lost")
        return replace(self, **{name: getattr(self, name)[:, t] for name in arrays})


@dataclass(frozen=True)
class _Model:
    """How a kind of model computes: roundings, what an underflow takes, gates, and units that a number is read from."""

    kind: str
    unit: float
    least: float
    numbers: float
    layers: int
    gates: Gates | None
    factors: Mapping[Variable, Float64]

    @property
    def units(self) -> int:
        return MODEL_KINDS[self.kind]

    @property
    def limit(self) -> float:
        """Largest value of a unit."""
        return 1.0 / self.gates.scale if self.gates else np.inf

    @property
    def step_error(self) -> float:
        """Error of a ReLU by its gate, both sides of 0 (10.3)."""
        return 2.0 * RELU_GAP / self.gates.sharpness if self.gates else 0.0

    def rounding(self, part: _Part, more: float = 0.0, extra: Float64 | float = 0.0) -> Float64:
        """Bound the rounding of an affine function, with more terms of some extra magnitude."""
        terms = np.minimum(part.terms, self.numbers)
        count = self.units * terms + more + LAST
        weights = _gamma(part.rounds + terms.max() + more, 2.0**-53)
        magnitude = part.magnitude + extra
        lost = np.minimum(count * self.least * (1.0 + part.largest), 2.0 * (magnitude + part.lost) + TINY)
        return (weights + _gamma(count, self.unit)) * magnitude + part.lost + lost

    def through(self, size: Float64) -> Float64:
        """Bound the error of units that hold numbers of some size, beyond that of their gates."""
        if self.gates is None:
            return 0.0 * size
        eps = self.gates.scale
        return FUNCTIONS * self.unit * size + (2.0 / 3.0) * size * (eps * size) ** 2 + 8.0 * self.least

    def held(self, size: Float64) -> Float64:
        """Return the sizes of units from those of their arguments: a GRU's keep the past."""
        if self.gates is None or self.kind != "gru":
            return size
        return np.maximum.accumulate(size, axis=1) * self.drift(np.arange(1.0, size.shape[1] + 1.0))[:, None]

    def drift(self, steps: Float64 | float) -> Float64:
        """Return by what factor roundings may have enlarged a number that is kept for some steps."""
        return np.asarray(np.exp(FUNCTIONS * self.unit * steps))

    def stored(self, number: Float64) -> Float64:
        """Return the error of a number in the model's dtype."""
        kept = number if self.unit == 2.0**-53 else number.astype(np.float32).astype(np.float64)
        return np.abs(kept - number)

    def relu(self, rounding: Float64, size: Float64, off: Bools) -> Float64:
        """Bound the error that a ReLU adds to its argument's, or all of it where the argument is below 0 for sure."""
        rest = 2.0 * self.step_error + self.through(size if self.kind == "gru" else 0.0 * size + 2.0 * self.step_error)
        added = (6.0 * rounding if self.gates else rounding) + self.step_error + self.through(size)
        return np.where(off, rest, added)

    def carried(self, size: Float64) -> Float64:
        """Bound the errors that a number collects in all layers that carry it on, as a pair of ReLUs or otherwise."""
        rounding = _gamma(8.0, self.unit) * (4.0 if self.kind == "gru" else 1.0) * size
        return self.layers * (12.0 * rounding + 2.0 * (self.step_error + self.through(size)))


def _model(program: Program, kind: str, dtype: str, value_bound: float | None) -> _Model:
    _checks.instance(program, "program", Program)
    _checks.choice(kind, "kind", MODEL_KINDS)
    single = _checks.choice(dtype, "dtype", DTYPES) == "float32" and kind not in ("interpreter", "network")
    if reasons := [*validate(program), *(validate(program, kind) if kind == "rnn" else ())]:
        raise ValueError(f"{program!r} is not valid: {'; '.join(reasons)}")
    layers, gates = 1, None
    if kind in ("lstm", "gru"):
        network = program.compile()
        bound = network.value_bound if value_bound is None else value_bound
        if bound is None:
            raise ValueError(f"'value_bound' must be given: recurrent.validate(program, {kind!r}) says why")
        layers, gates = max(len(network.layers), 1), Gates.of(bound, dtype)
    limits = np.finfo(np.float32 if single else np.float64)
    numbers = float(sum(v.dim for v in program.variables if not isinstance(v, Linear)))
    ranges = ranges_of(program.variables)
    factors: dict[Variable, Float64] = {
        v: factor_size(v, ranges[v.inputs[0]]) for v in program.variables if isinstance(v, Multiplicative)
    }
    smallest = 1.0  # of the powers of two by which weights are multiplied
    if gates:
        smallest = min([1.0, gates.scale, *(gates.slope / sizes.max() for sizes in factors.values() if sizes.any())])
    return _Model(kind, float(limits.epsneg), float(limits.tiny) / smallest, numbers, layers, gates, factors)


def _gamma(count: Float64 | float, unit: float) -> Float64:
    """Return the relative error of so many roundings one after another."""
    product = np.asarray(count, dtype=np.float64) * unit
    return np.where(product < 0.5, product / (1.0 - np.minimum(product, 0.5)), np.inf)


def _atom(value: Float64, error: Float64, magnitude: Float64, model: _Model) -> _Part:
    """Return a variable that is no affine function, as the model reads it after all layers that carry it on."""
    if model.kind != "interpreter":
        error = error + (12.0 if model.gates else 3.0) * _gamma(8.0, model.unit) * magnitude
    if model.gates:
        size = model.held(np.abs(value) + 2.0 * error)
        most = 2.0 * model.carried(size)
        carried = model.carried(size + 2.0 * most)
        error = error + np.where(carried <= most, carried, np.inf)
        magnitude = np.maximum(magnitude, (4.0 if model.kind == "gru" else 1.0) * (size + 2.0 * most))
    magnitude = np.maximum(magnitude, np.abs(value) + 2.0 * error)
    largest = magnitude.max(axis=-1, keepdims=True)
    return _Part(value, error, magnitude, 0, np.ones(value.shape[-1]), largest, np.zeros(value.shape))


def _entered(node: Input, rows: Float64, model: _Model) -> _Part:
    return _atom(rows, model.stored(rows), np.abs(rows), model)


@singledispatch
def _part(node: Variable, inputs: Sequence[_Part], model: _Model) -> _Part:
    raise NotImplementedError(type(node).__name__)


@_part.register
def _(node: Linear, inputs: Sequence[_Part], model: _Model) -> _Part:
    return _affine(inputs, node.weights, node.bias)


def _affine(inputs: Sequence[_Part], weights: Sequence[Float64], bias: Float64) -> _Part:
    """Return an affine function of variables."""
    sizes, none = [np.abs(weight).T for weight in weights], np.zeros(bias.shape)
    products = sum(map(len, sizes)) + 1
    terms = sum((part.terms @ (size > 0.0) for part, size in zip(inputs, sizes, strict=True)), none)
    magnitude = sum((part.magnitude @ size for part, size in zip(inputs, sizes, strict=True)), np.abs(bias))
    largest = np.max([part.largest for part in inputs], axis=0)
    lost = sum((part.lost @ size for part, size in zip(inputs, sizes, strict=True)), none)
    return _Part(
        sum((part.value @ weight.T for part, weight in zip(inputs, weights, strict=True)), bias),
        sum((part.inherited @ size for part, size in zip(inputs, sizes, strict=True)), none),
        magnitude,
        max(part.rounds for part in inputs) + products,
        terms,
        largest,
        lost + products * np.minimum(TINY * (1.0 + terms * largest), 2.0 * (magnitude + lost) + TINY),
    )


@_part.register
def _(node: ReLU, inputs: Sequence[_Part], model: _Model) -> _Part:
    (part,) = inputs
    value, rounding = np.maximum(part.value, 0.0), model.rounding(part)
    doubt = 2.0 * (part.inherited + rounding)
    negative = np.minimum(-part.value, model.limit) if model.kind == "gru" else 0.0
    held = model.held(np.maximum(value, negative) + doubt + model.step_error)
    off = part.value + 1.5 * doubt < 0.0
    error = np.where(off, 0.0, part.inherited) + model.relu(rounding, held, off)
    return _atom(value, error, (2.0 if model.kind == "gru" else 1.0) * held, model)


@_part.register
def _(node: LinState, inputs: Sequence[_Part], model: _Model) -> _Part:
    added, forward = _affine(inputs, (node.weight,), node.bias), np.abs(node.transition).T
    value, error, sizes = (np.empty_like(added.value) for _ in range(3))
    state = np.broadcast_to(node.init_state, (len(value), node.dim))
    lost, basis = model.stored(state), _basis(node.transition)
    turned = lost if basis is None else lost @ basis[0]
    for t in range(value.shape[1]):
        now, size = added.at(t), np.abs(state) + 2.0 * lost
        fresh = now.inherited + 2.0 * model.rounding(now, 2.0 * node.dim, size @ forward)
        state, kept = state @ node.transition.T + now.value, lost @ forward
        if basis is not None:
            turned = turned @ basis[1]
            kept = np.fmin(kept, turned @ basis[2])
        fresh = fresh + model.through(np.abs(state) + 2.0 * (kept + fresh))
        turned = turned if basis is None else turned + fresh @ basis[0]
        lost = kept + fresh
        value[:, t], error[:, t], sizes[:, t] = state, lost, np.abs(state) + 2.0 * lost
    return _atom(value, error, sizes, model)


def _basis(transition: Float64) -> tuple[Float64, Float64, Float64] | None:
    """Bound the entries of X^-1, X^-1 A X and X, transposed, in a Schur basis X; None where powers of |A| will do."""
    n, size = len(transition), np.abs(transition)
    if n > WIDEST_BASIS or size.sum(axis=1).max() <= 1.0 or not ((transition > 0.0).any() and (transition < 0.0).any()):
        return None
    x = scipy.linalg.schur(transition, output="complex")[1]
    back, share, one = x.conj().T, _gamma(8.0 * n + 16.0, 2.0**-53), np.eye(n)
    defect = (np.abs(back @ x - one) + share * (np.abs(back) @ np.abs(x))).sum(axis=1).max()
    if not defect < 0.5:
        return None
    inverse = one + defect / (1.0 - defect)  # at least |(X* X)^-1|
    forward = np.abs(back @ transition @ x) + share * (np.abs(back) @ size @ np.abs(x))
    return (inverse @ np.abs(back)).T, (inverse @ forward).T, np.abs(x).T


@_part.register
def _(node: RunningMax, inputs: Sequence[_Part], model: _Model) -> _Part:
    (part,) = inputs
    start = np.full((len(part.value), 1, node.dim), -node.bound)
    value = np.maximum.accumulate(np.concatenate([start, part.value], axis=1), axis=1)
    lost, before = model.stored(start[:, 0]), -start[:, 0]
    error, held = np.empty(part.value.shape), np.empty(part.value.shape)
    for t in range(part.value.shape[1]):
        now, largest, last = part.at(t), np.abs(value[:, t + 1]), np.abs(value[:, t])
        size = largest + np.abs(now.value) + 2.0 * (lost + now.inherited)
        if model.kind == "gru":
            size = np.maximum(before, size + np.minimum(last, model.limit)) * model.drift(1.0)
        own, pair = model.rounding(now, 2.0 * model.units, model.units * before), model.rounding(now)
        off = value[:, t] - now.value + 3.0 * (lost + now.inherited + own) < 0.0
        lost = np.maximum(lost, now.inherited) + pair
        if model.kind != "interpreter":
            lost = lost + model.relu(own, size, off) + 2.0 * model.relu(pair, size, np.zeros(off.shape, dtype=bool))
        error[:, t], held[:, t], before = lost, size, size
    return _atom(value[:, 1:], error, model.units * held, model)


@_part.register
def _(node: Multiplicative, inputs: Sequence[_Part], model: _Model) -> _Part:
    one, other = inputs
    u, v = np.abs(one.value), np.abs(other.value)
    rounding_u, rounding_v = model.rounding(one, 1.0, 0.5), model.rounding(other)
    error_u, error_v = one.inherited + rounding_u, other.inherited + rounding_v
    u, v = u + 2.0 * error_u, v + 2.0 * error_v
    error = u * error_v + v * error_u + 2.0 * model.unit * u * v + model.least
    magnitude = u * v
    if model.gates is not None:
        held, copies = model.held(v), 2.0 if model.kind == "gru" else 1.0
        if node.binary:
            settled, wrong = _is_settled(one.value, error_u), np.abs(one.value - np.rint(one.value))
            error = error + v * np.where(settled, wrong, u + 1.0) + model.through(held)
            magnitude = copies * held
        else:
            slope = model.gates.slope / model.factors[node]
            error = error + v * np.minimum(slope**2 * u**3 / 12.0, u) + 2.0 * rounding_u * held
            error = error + (2.0 / slope) * (2.0 * model.through(held) + 2.0 * rounding_v)
            magnitude = (2.0 / slope) * 2.0 * copies * held
    return _atom(one.value * other.value, error, magnitude, model)


def _is_settled(u: Float64, error: Float64) -> Bools:
    """Return a mask of the entries where a gate of a binary factor is exactly 0 or 1."""
    return np.asarray(np.abs(np.abs(u - 0.5) - 0.5) + 2.0 * error < 0.25)
