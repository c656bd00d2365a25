"""Running analysis of rounding and gate errors of a program for recurrent models (10.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from spherapprox import _checks
from spherapprox._types import Float64
from spherapprox.prompts.recurrent import Input, Linear, LinState, Multiplicative, Program, ReLU, RunningMax, Variable

from .hawk import maximum_of_a_hawk, state_of_a_hawk
from .models import TINY, Model, Part, atom, gamma, model_of

WIDEST_BASIS = 500
"""States for which a Schur basis is worth its time."""
SLACK = 1.0 + 1e-6
"""For the roundings of this analysis itself."""


def module_error(
    program: Program, x: ArrayLike, *, kind: str = "interpreter", dtype: str = "float64",
    value_bound: float | None = None,
) -> Float64:  # fmt: skip
    """Bound the error of a program's outputs as a model computes them, against exact arithmetic.

    See docs/theorems/10.6-errors-of-modules.md, docs/theorems/10.8-hawk.md.

    Parameters
    ----------
    program : Program
    x : array_like, shape (L, d) or (batch, L, d)
    kind : {"interpreter", "network", "rnn", "lstm", "gru", "hawk"}
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
    model = model_of(program, kind, dtype, value_bound=value_bound)
    array = np.asarray(_checks.floating(x, "x", ("L", program.inputs[0].dim), ("batch", "L", program.inputs[0].dim)))
    rows = (array if array.ndim == 3 else array[None]).astype(np.float64)
    parts: dict[Variable, Part] = {}
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        for node in program.variables:
            inputs = [parts[v] for v in node.inputs]
            if isinstance(node, Input):
                parts[node] = atom(rows, model.stored(rows), np.abs(rows), model=model)
            else:
                parts[node] = _part(node, inputs, model)
        last = parts[program.output]
        error = SLACK * (last.inherited + model.rounding(last))
    if not np.isfinite(last.value).all():
        raise ValueError("'x' must be smaller or shorter: numbers of the program overflow")
    error = np.where(np.isnan(error), np.inf, error)
    return error if array.ndim == 3 else error[0]


@singledispatch
def _part(node: Variable, inputs: Sequence[Part], model: Model) -> Part:
    raise NotImplementedError(type(node).__name__)


@_part.register
def _(node: Linear, inputs: Sequence[Part], model: Model) -> Part:
    return _affine(inputs, node.weights, node.bias)


def _affine(inputs: Sequence[Part], weights: Sequence[Float64], bias: Float64) -> Part:
    """Return an affine function of variables."""
    sizes, none = [np.abs(weight).T for weight in weights], np.zeros(bias.shape)
    # 10.6 (affine)
    products = sum(map(len, sizes)) + 1
    terms = sum((part.terms @ (size > 0.0) for part, size in zip(inputs, sizes, strict=True)), none)
    magnitude = sum((part.magnitude @ size for part, size in zip(inputs, sizes, strict=True)), np.abs(bias))
    largest = np.max([part.largest for part in inputs], axis=0)
    lost = sum((part.lost @ size for part, size in zip(inputs, sizes, strict=True)), none)
    return Part(
        sum((part.value @ weight.T for part, weight in zip(inputs, weights, strict=True)), bias),
        sum((part.inherited @ size for part, size in zip(inputs, sizes, strict=True)), none), magnitude,
        rounds=max(part.rounds for part in inputs) + products, terms=terms, largest=largest,
        lost=lost + products * np.minimum(TINY * (1.0 + terms * largest), 2.0 * (magnitude + lost) + TINY),
    )  # fmt: skip


@_part.register
def _(node: ReLU, inputs: Sequence[Part], model: Model) -> Part:
    (part,) = inputs
    value, rounding = np.maximum(part.value, 0.0), model.rounding(part)
    doubt = 2.0 * (part.inherited + rounding)
    negative = np.minimum(-part.value, model.limit) if model.kind == "gru" else 0.0
    units = model.unit_sizes(np.maximum(value, negative) + doubt + model.step_error)
    off = part.value + 1.5 * doubt < 0.0
    # 10.6 (relu)
    error = np.where(off, 0.0, part.inherited) + model.relu(rounding, units, off)
    result = atom(value, error, (2.0 if model.kind == "gru" else 1.0) * units, model=model)
    return replace(result, rounds=part.rounds, lost=part.lost) if model.kind == "hawk" else result


@_part.register
def _(node: LinState, inputs: Sequence[Part], model: Model) -> Part:
    added, forward = _affine(inputs, (node.weight,), node.bias), np.abs(node.transition).T
    if model.kind == "hawk":
        return state_of_a_hawk(node, added, model)
    value, error, sizes = (np.empty_like(added.value) for _ in range(3))
    state = np.broadcast_to(node.init_state, (len(value), node.dim))
    lost, basis = model.stored(state), _basis(node.transition)
    turned = lost if basis is None else lost @ basis[0]
    for t in range(value.shape[1]):
        now, size = added.at(t), np.abs(state) + 2.0 * lost
        # 10.6 (state)
        fresh = now.inherited + 2.0 * model.rounding(now, 2.0 * node.dim, size @ forward)
        state, carried = state @ node.transition.T + now.value, lost @ forward
        if basis is not None:
            turned = turned @ basis[1]
            carried = np.fmin(carried, turned @ basis[2])
        fresh = fresh + model.through(np.abs(state) + 2.0 * (carried + fresh))
        turned = turned if basis is None else turned + fresh @ basis[0]
        lost = carried + fresh
        value[:, t], error[:, t], sizes[:, t] = state, lost, np.abs(state) + 2.0 * lost
    return atom(value, error, sizes, model=model)


def _basis(transition: Float64) -> tuple[Float64, Float64, Float64] | None:
    """Bound the entries of X^-1, X^-1 A X and X, transposed, X a Schur basis (10.6); None where |A| will do."""
    n, size = len(transition), np.abs(transition)
    if n > WIDEST_BASIS or size.sum(axis=1).max() <= 1.0 or not ((transition > 0.0).any() and (transition < 0.0).any()):
        return None
    x = scipy.linalg.schur(transition, output="complex")[1]
    back, share, eye = x.conj().T, gamma(8.0 * n + 16.0, 2.0**-53), np.eye(n)
    defect = (np.abs(back @ x - eye) + share * (np.abs(back) @ np.abs(x))).sum(axis=1).max()
    if not defect < 0.5:
        return None
    inverse = eye + defect / (1.0 - defect)  # at least |(X* X)^-1|
    forward = np.abs(back @ transition @ x) + share * (np.abs(back) @ size @ np.abs(x))
    return (inverse @ np.abs(back)).T, (inverse @ forward).T, np.abs(x).T


@_part.register
def _(node: RunningMax, inputs: Sequence[Part], model: Model) -> Part:
    (part,) = inputs
    if model.kind == "hawk":
        return maximum_of_a_hawk(node, part, model)
    start = np.full((len(part.value), 1, node.dim), -node.bound)
    value = np.maximum.accumulate(np.concatenate([start, part.value], axis=1), axis=1)
    lost, before = model.stored(start[:, 0]), -start[:, 0]
    error, sizes = np.empty(part.value.shape), np.empty(part.value.shape)
    for t in range(part.value.shape[1]):
        now, largest, last = part.at(t), np.abs(value[:, t + 1]), np.abs(value[:, t])
        size = largest + np.abs(now.value) + 2.0 * (lost + now.inherited)
        if model.kind == "gru":
            size = np.maximum(before, size + np.minimum(last, model.limit)) * model.drift(1.0)
        own, pair = model.rounding(now, 2.0 * model.units, model.units * before), model.rounding(now)
        off = value[:, t] - now.value + 3.0 * (lost + now.inherited + own) < 0.0
        # 10.6 (running maximum)
        lost = np.maximum(lost, now.inherited) + pair
        if model.kind != "interpreter":
            lost = lost + model.relu(own, size, off) + 2.0 * model.relu(pair, size, np.zeros(off.shape, dtype=bool))
        error[:, t], sizes[:, t], before = lost, size, size
    return atom(value[:, 1:], error, model.units * sizes, model=model)


@_part.register
def _(node: Multiplicative, inputs: Sequence[Part], model: Model) -> Part:
    first, second = inputs
    u, v = np.abs(first.value), np.abs(second.value)
    rounding_u, rounding_v = model.rounding(first, 1.0, 0.5), model.rounding(second)
    error_u, error_v = first.inherited + rounding_u, second.inherited + rounding_v
    u, v = u + 2.0 * error_u, v + 2.0 * error_v
    # 10.6 (product)
    error = u * error_v + v * error_u + 2.0 * model.unit * u * v + model.least
    magnitude = u * v
    if model.gates is not None:
        units, copies = model.unit_sizes(v), 2.0 if model.kind == "gru" else 1.0
        if model.kind == "hawk":  # 10.8 (product)
            error = error + v * (2.0 * rounding_u + 2.0 * model.step_error) + model.through(u * v)
            rounds, lost = max(first.rounds, second.rounds), u * second.lost
            result = atom(first.value * second.value, error, u * second.magnitude, model=model)
            return replace(result, rounds=rounds, terms=second.terms, lost=lost)
        if node.binary:  # the gate of a factor near 0 or 1 is exactly 0 or 1
            settled = np.abs(np.abs(first.value - 0.5) - 0.5) + 2.0 * error_u < 0.25
            wrong = np.abs(first.value - np.rint(first.value))
            error = error + v * np.where(settled, wrong, u + 1.0) + model.through(units)
            magnitude = copies * units
        else:
            slope = model.gates.slope / model.factors[node]
            error = error + v * np.minimum(slope**2 * u**3 / 12.0, u) + 2.0 * rounding_u * units
            error = error + (2.0 / slope) * (2.0 * model.through(units) + 2.0 * rounding_v)
            magnitude = (2.0 / slope) * 2.0 * copies * units
    return atom(first.value * second.value, error, magnitude, model=model)
