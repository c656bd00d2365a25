"""All layers of a recurrent network at each step, over the weights that are not 0, for some sequences side by side.

One vector holds the input of a step, then the values of all layers, then the output; a row of a layer is a sum over
entries of that vector, so that a row of `recurrent` finds the layer's values of the step before in their own places.
Sums begin with the bias and go on in the order of the columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .... import _threads
from ...._kernels.jit import njit, subroutine
from ...._types import Array, Float64, Int64

STATE, RELU, PRODUCT = range(3)
LANES = 8
"""Sequences side by side."""
_STEPS = 2**22
"""Products of a weight and a number between two looks for an interrupt, or for another thread's work."""


class Packed(NamedTuple):
    """The rows of all layers and of the read-out: where those of a layer begin, and what is done with their sums.

    Of first and of second factors: the bias of a row, where its terms begin, and the column and weight of each term.
    """

    dim: int
    layers: Int64
    kinds: Int64
    bias: Float64
    terms: Int64
    columns: Int64
    weights: Float64
    other_bias: Float64
    other_terms: Int64
    other_columns: Int64
    other_weights: Float64

    @property
    def outputs(self) -> int:
        """Number of rows of the read-out."""
        return int(self.layers[-1] - self.layers[-2])


def pack(layers: Sequence[Any], readout: Float64, readout_bias: Float64, place: int) -> Packed:
    """Return the rows of layers and of a read-out, whose columns begin with a place of the vector."""
    dim = layers[0].weight.shape[1] if layers else readout.shape[1]
    kinds = {"state": STATE, "relu": RELU, "product": PRODUCT}
    ends = np.cumsum([dim, *map(len, layers), len(readout)])
    starts = [0, *ends[:-2]]
    rows: list[tuple[tuple[int, Float64], ...]] = [
        row
        for layer, before, own in zip(layers, starts, ends[:-1], strict=False)
        for row in (((before, w), (own, r)) for w, r in zip(layer.weight, layer.recurrent, strict=True))
    ]
    rows += [((place, w),) for w in readout]
    second_rows: list[tuple[tuple[int, Float64], ...]] = [
        ((before, w),) for layer, before in zip(layers, starts, strict=False) for w in layer.other
    ]
    second_rows += [()] * len(readout)
    no_bias = np.zeros(len(readout))
    return Packed(
        dim,
        ends - dim,
        np.array([*(kinds[layer.op] for layer in layers), 0], dtype=np.int64),
        np.concatenate([*(layer.bias for layer in layers), readout_bias]),
        *_listed(rows),
        np.concatenate([*(layer.other_bias for layer in layers), no_bias]),
        *_listed(second_rows),
    )


def _listed(rows: Iterable[Sequence[tuple[int, Float64]]]) -> tuple[Int64, Int64, Float64]:
    """Return the terms of rows, each of parts that begin with a column."""
    terms, columns, weights = [0], [np.zeros(0, np.int64)], [np.zeros(0)]
    for row in rows:
        for first, part in row:
            places = np.flatnonzero(part)
            columns.append(places + first)
            weights.append(part[places])
        terms.append(sum(map(len, columns[-len(row) :])) + terms[-1] if row else terms[-1])
    return np.array(terms, np.int64), np.concatenate(columns), np.concatenate(weights)


def run(packed: Packed, x: Array, states: Float64, y: Float64, last: bool, workers: int | None) -> None:
    """Run sequences x (batch, L, d) from states (batch, n), which are replaced, to outputs y (batch, L or 1, p)."""
    batch, length, dim = x.shape
    hidden, size = states.shape[1], dim + int(packed.layers[-1])
    chunk = max(1, _STEPS // ((len(packed.weights) + len(packed.other_weights) + size) * min(batch, LANES)))

    interrupted: list[slice] = []

    def block(lanes: slice) -> None:
        try:
            steps_of(lanes)
        except BaseException:
            interrupted.append(lanes)  # other threads need not finish their sequences
            raise

    def steps_of(lanes: slice) -> None:
        sequences = lanes.stop - lanes.start
        values = np.zeros((size, 1 if sequences == 1 else LANES))
        values[dim : dim + hidden, :sequences] = states[lanes].T
        for start in range(0, length, chunk):
            if interrupted:
                return
            steps = np.array(x[lanes, start : start + chunk], dtype=np.float64, order="C")
            outputs = np.empty((len(steps), 1 if last else steps.shape[1], y.shape[2]))
            _advance(*packed[1:], steps, values, last, outputs)
            y[lanes, 0 if last else slice(start, start + chunk)] = outputs[:, 0] if last else outputs
        states[lanes] = values[dim : dim + hidden, :sequences].T

    _threads.each_block(block, batch, LANES, workers)


@subroutine
def _sum_one(
    fresh: Float64, place: int, first: int, end: int, bias: Float64, terms: Int64, columns: Int64, weights: Float64,
    values: Float64,
) -> None:  # fmt: skip
    """Write the sums of some rows for one sequence, from a place of `fresh` on."""
    for row in range(first, end):
        a = bias[row]
        for term in range(terms[row], terms[row + 1]):
            a += weights[term] * values[columns[term], 0]
        fresh[place + row, 0] = a


@subroutine
def _sum_eight(
    fresh: Float64, place: int, first: int, end: int, bias: Float64, terms: Int64, columns: Int64, weights: Float64,
    values: Float64,
) -> None:  # fmt: skip
    """Write the sums of some rows for eight sequences, which stay in registers."""
    for row in range(first, end):
        a = b = c = d = e = f = g = h = bias[row]
        for term in range(terms[row], terms[row + 1]):
            weight, column = weights[term], columns[term]
            a += weight * values[column, 0]
            b += weight * values[column, 1]
            c += weight * values[column, 2]
            d += weight * values[column, 3]
            e += weight * values[column, 4]
            f += weight * values[column, 5]
            g += weight * values[column, 6]
            h += weight * values[column, 7]
        at = place + row
        fresh[at, 0], fresh[at, 1], fresh[at, 2], fresh[at, 3] = a, b, c, d
        fresh[at, 4], fresh[at, 5], fresh[at, 6], fresh[at, 7] = e, f, g, h


@subroutine
def _finish(fresh: Float64, kind: int, first: int, end: int, dim: int, values: Float64) -> None:
    """Write the values of a layer in place of those of the step before."""
    half = len(fresh) // 2
    for row in range(first, end):
        for lane in range(values.shape[1]):
            value = fresh[row, lane]
            if kind == RELU and value < 0.0:
                value = 0.0
            elif kind == PRODUCT:
                value *= fresh[half + row, lane]
            values[dim + row, lane] = value


@njit
def _advance(
    layers: Int64, kinds: Int64, bias: Float64, terms: Int64, columns: Int64, weights: Float64, other_bias: Float64,
    other_terms: Int64, other_columns: Int64, other_weights: Float64, x: Float64, values: Float64, last: bool,
    y: Float64,
) -> None:  # fmt: skip
    """Go on by some steps; outputs are those of all, or of the last one."""
    sequences, length, dim = x.shape
    fresh = np.empty((2 * len(bias), values.shape[1]))  # sums of all rows, and of the second factors
    for t in range(length):
        for i in range(dim):
            for lane in range(sequences):
                values[i, lane] = x[lane, t, i]
        for layer in range(len(kinds)):
            first, end, kind = layers[layer], layers[layer + 1], kinds[layer]
            if values.shape[1] == 1:
                _sum_one(fresh, 0, first, end, bias, terms, columns, weights, values)
            else:
                _sum_eight(fresh, 0, first, end, bias, terms, columns, weights, values)
            if kind == PRODUCT and values.shape[1] == 1:
                _sum_one(fresh, len(bias), first, end, other_bias, other_terms, other_columns, other_weights, values)
            elif kind == PRODUCT:
                _sum_eight(fresh, len(bias), first, end, other_bias, other_terms, other_columns, other_weights, values)
            _finish(fresh, kind, first, end, dim, values)
        for i in range(layers[-1] - layers[-2]):
            for lane in range(sequences):
                y[lane, 0 if last else t, i] = values[dim + layers[-2] + i, lane]
