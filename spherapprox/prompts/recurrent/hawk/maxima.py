"""Running maxima, digit by digit: latches of a real-gated recurrence say which digits were reached (10.8)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...._types import Bools, Float64, Indices
from ..layer import Layer
from .assembly import LATCH, OPEN, TAPS, Assembly, Form, join_forms

_BITS = 5
"""Of a digit."""


@dataclass(frozen=True)
class Maxima:
    """Rows of a layer that hold max_s<=t v_s - v_t, those of max(v, 0) and max(-v, 0), and what the maxima start at."""

    rows: Indices
    positive: Indices
    negative: Indices
    start: Float64

    @classmethod
    def of(cls, layer: Layer) -> Maxima:
        """Return the running maxima of a layer of ReLUs."""
        own = np.flatnonzero(layer.recurrent.any(axis=1))
        plus = layer.recurrent[own] - np.eye(len(layer))[own]
        ends = plus.max(axis=1, initial=0.0), plus.min(axis=1, initial=0.0), np.abs(plus).sum(axis=1)
        if all((end == number).all() for end, number in zip(ends, (1.0, -1.0, 2.0), strict=True)):
            positive, negative = plus.argmax(axis=1), plus.argmin(axis=1)
            terms = np.column_stack([layer.weight, layer.bias])
            fits = (terms[own] == -terms[positive]).all() and (terms[own] == terms[negative]).all()
            if fits and not layer.recurrent[np.concatenate([positive, negative])].any():
                start = layer.start[own] + layer.start[positive] - layer.start[negative]
                return cls(own, positive, negative, start)
        raise ValueError(
            "'network' must have no ReLUs that depend on their own past but running maxima: in a Hawk recurrences are "
            "linear; use 'lstm'"
        )


def add_relus(assembly: Assembly, layer: Layer, before: Form) -> Form:
    """Append what computes a layer of ReLUs, and return its values."""
    maxima, pre = Maxima.of(layer), before.then(layer.weight, layer.bias)
    above = pre.rows(maxima.positive).then(np.eye(len(maxima.rows)), -maxima.start)  # v - m_0
    alone = (pre.matrix != 0.0).sum(axis=1) <= 1
    same, off = (alone & assembly.is_positive(pre.then(sign * np.eye(len(layer)))) for sign in (1.0, -1.0))
    plain = np.setdiff1d(np.flatnonzero(~(same | off)), maxima.rows)
    form, places = pre.then(np.diag(1.0 * same)), np.zeros(0, dtype=int)
    if len(plain) + len(maxima.rows):
        places = np.array(assembly.relu(join_forms([pre.rows(plain), above])))
        form = form.plus(places[: len(plain)], np.eye(len(layer))[:, plain])
    if not len(maxima.rows):
        return form
    kept = _latched(assembly, places[len(plain) :], assembly.largest - maxima.start)
    form = form.plus(kept, np.eye(len(layer))[:, maxima.rows])
    form.matrix[maxima.rows] += form.matrix[maxima.negative] - form.matrix[maxima.positive]
    form.bias[maxima.rows] += maxima.start
    return form


def unit_of(size: Float64, digits: int) -> tuple[Indices, Float64]:
    """Return exponents of numbers above a size, and the units of the grids on which they are compared."""
    exponent = np.frexp(size)[1] + 1
    return exponent, np.ldexp(1.0, exponent - digits + 3)


def _latched(assembly: Assembly, values: Indices, size: Float64) -> list[int]:
    """Append what keeps the largest value so far, of numbers from 0 to a size that registers hold."""
    n, digits = len(values), assembly.digits - 3
    exponent, unit = unit_of(size, assembly.digits)
    read = Form(np.eye(assembly.count)[values], np.zeros(n))
    shifted = assembly.temporal(Form(read.matrix, np.ldexp(1.0, exponent + 2)))
    assembly.reach = max(assembly.reach, float(np.ldexp(1.0, exponent.max() + 3)))
    rest = Form(np.eye(assembly.count)[shifted], -np.ldexp(1.0, exponent + 2)).then(np.diag(1.0 / unit))
    index = assembly.take(n)
    bits: list[int] = []
    for below in [*range(digits - _BITS, 0, -_BITS), 0]:
        owners = np.repeat(np.arange(n), 2**_BITS - 1)
        steps = np.tile(np.arange(1.0, 2**_BITS), n) * 2.0**below
        left = rest.plus(index, -np.diag(1.0 / unit))
        assembly.release(bits)
        bits = assembly.at_least_0(left.rows(owners).then(np.eye(len(owners)), -steps))
        _latch(assembly, bits, owners, index=index, unit=unit, step=2.0**below * unit)
    assembly.release([*bits, *shifted, *index, *values])
    mask = np.zeros((2 * n, 2 * n), dtype=bool)
    mask[:n, n:] = np.eye(n, dtype=bool)
    inputs = join_forms([read, _indices(assembly, index, unit)])
    return _overwrite(assembly, inputs, mask, output=np.eye(n, 2 * n))


def _indices(assembly: Assembly, index: list[int], unit: Float64) -> Form:
    """Return the digits of the maxima so far, as whole numbers."""
    return Form(np.diag(1.0 / unit) @ np.eye(assembly.count)[index], np.zeros(len(index)))


def _latch(
    assembly: Assembly, bits: list[int], owners: Indices, *, index: list[int], unit: Float64, step: Float64
) -> None:
    """Append latches of the bits of a digit, set by a bit and set anew where digits before have grown."""
    n, m = len(index), len(bits)
    mask = np.zeros((m + n, m + n), dtype=bool)
    mask[:m, :m] = np.eye(m, dtype=bool)
    mask[np.arange(m), m + owners] = True
    inputs = join_forms([Form(np.eye(assembly.count)[bits], np.zeros(m)), _indices(assembly, index, unit)])
    output = np.hstack([np.eye(n)[:, owners] * step[:, None], np.zeros((n, n))])
    _overwrite(assembly, inputs, mask, output=output, places=index)


def _overwrite(
    assembly: Assembly, inputs: Form, mask: Bools, *, output: Float64, places: list[int] | None = None
) -> list[int]:
    """Append units that keep what they have until one of those in their mask is 1 or more, and are 0 at first.

    Those without a mask, at the end, are changes of what they read.
    """
    changes = ~mask.any(axis=1)
    taps = np.zeros((len(mask), TAPS))
    taps[:, 0], taps[changes, 1] = 1.0, -1.0
    gate_bias = np.where(changes, OPEN, -0.5 * LATCH)
    return assembly.temporal(
        inputs, output, places=places, taps=taps, gate=np.where(mask, LATCH, 0.0), gate_bias=gate_bias
    )
