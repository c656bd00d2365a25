"""The blocks of an executor as dense arrays: a read block and a sum block for each layer of the network."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..._types import Float64, Indices
from .layout import Layout


@dataclass(frozen=True, eq=False)
class Block:
    """Weights of a residual block of one attention head and a layer of ReLUs.

    ``z + softmax(z query.T (z key.T).T / sqrt(d)) z value.T``, and then ``z + relu(z up.T + bias) down.T``.
    """

    query: Float64
    key: Float64
    value: Float64
    up: Float64
    bias: Float64
    down: Float64


@dataclass(frozen=True, eq=False)
class Numbers:
    """What the weights of one layer's blocks are made of."""

    names: Float64
    """Keys (n_l, key_dim) of the records of this layer."""
    concentration: float
    segments: int
    weight_bound: float
    activation_bound: float
    gate: float
    """At least as large as every sum of the layer before, for the first layer of the last one."""


def read_block(layout: Layout, layer: int, numbers: Numbers) -> Block:
    """Return the block in which work tokens read their records and pass on the outputs of the layer before.

    Where outputs can be inputs, the first layer passes on those of the network itself, of either sign: its blocks run
    once more.
    """
    d, key, name = layout.width, layout.columns("key"), layout.columns("name")
    read_columns, record, total = layout.columns("read"), layout.columns("record"), layout.columns("sum")
    query, keys, value = np.zeros((3, d, d))
    own = name[: len(numbers.names)]
    # torch divides logits by sqrt(d)
    query[np.ix_(np.arange(len(key)), own)] = numbers.names.T * (numbers.concentration * math.sqrt(d))
    keys[np.arange(len(key)), key] = 1.0
    value[read_columns, record] = 1.0
    units = [_clear(d, np.concatenate([total, layout.columns("input")]))]
    for sign in layout.signs(layer):
        n = layout.sizes[layer]
        up, down = np.zeros((n, d)), np.zeros((d, n))
        up[:, total[0]] = sign
        up[np.arange(n), name[:n]] = numbers.gate
        down[layout.columns("output")[:n], np.arange(n)] = sign
        units.append((up, np.full(n, -numbers.gate), down))
    return _block(query, keys, value, units=units)


def sum_block(layout: Layout, layer: int, numbers: Numbers) -> Block:
    """Return the block that adds up products of what was read with all outputs of the layer before."""
    d, n = layout.width, layout.sizes[layer]
    read_columns, inputs, outputs = layout.columns("read"), layout.columns("input"), layout.columns("output")
    value = np.zeros((d, d))
    value[inputs, outputs] = layout.tokens  # even attention: a mean becomes a sum
    total = layout.columns("sum")[0]
    up, down = np.zeros((2, d)), np.zeros((d, 2))
    up[:, read_columns[-1]] = down[total] = 1.0, -1.0
    units = [
        _products(d, read_columns[:n], inputs[:n], total=total, numbers=numbers),
        (up, np.zeros(2), down),
        _clear(d, np.concatenate([read_columns, outputs])),
    ]
    return _block(np.zeros((d, d)), np.zeros((d, d)), value, units=units)


Units = tuple[Float64, Float64, Float64]


def _products(d: int, factors: Indices, partners: Indices, total: int, numbers: Numbers) -> Units:
    """Return units that add the product of each pair of columns to another column.

    a b / (M B) is the square of (a/M + b/B)/2 less that of (a/M - b/B)/2; squares are interpolated at multiples of
    2/N, by slopes that grow by 2/N at 0 and by 4/N at each further node, on both sides.
    """
    n, half = len(factors), numbers.segments // 2
    step = 1.0 / half
    shape = n, 2, 2, half, d  # factors, the two squares, their two sides, nodes
    side, which = np.array([1.0, -1.0])[:, None], np.array([1.0, -1.0])[:, None, None]
    up, down = np.zeros(shape), np.zeros((d, *shape[:-1]))
    for j in range(n):
        up[j, ..., factors[j]] = side * (0.5 / numbers.weight_bound)
        up[j, ..., partners[j]] = which * side * (0.5 / numbers.activation_bound)
    slopes = np.where(np.arange(half) == 0, step, 2.0 * step)
    down[total] = which * slopes * (numbers.weight_bound * numbers.activation_bound)
    bias = np.broadcast_to(-step * np.arange(half), shape[:-1])
    return up.reshape(-1, d), bias.ravel(), down.reshape(d, -1)


def _clear(d: int, columns: Indices) -> Units:
    """Return units that take from columns what they hold."""
    unit = np.zeros((len(columns), d))
    unit[np.arange(len(columns)), columns] = 1.0
    rows = np.concatenate([unit, -unit])
    return rows, np.zeros(len(rows)), -rows.T


def _block(query: Float64, key: Float64, value: Float64, units: list[Units]) -> Block:
    up, bias, down = zip(*units, strict=True)
    return Block(query, key, value, up=np.concatenate(up), bias=np.concatenate(bias), down=np.concatenate(down, axis=1))
