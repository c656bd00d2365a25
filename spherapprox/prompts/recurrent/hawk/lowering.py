"""From a network to the parts of a Hawk: registers for its values, and each layer by one part or several (10.8)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..gates import Gates
from ..layer import Layer
from ..network import Network
from .assembly import Assembly, Channel, Form, Temporal, widen
from .maxima import add_relus
from .states import add_states

Block = tuple[Temporal | None, Channel | None]


class Lowered(NamedTuple):
    """Blocks over so many registers; by `factor` norms divide them, and `counts` says whether they count steps."""

    blocks: tuple[Block, ...]
    registers: int
    readout: Form
    factor: float
    sharpness: float
    counts: bool


def lower_network(network: Network, bound: float, dtype: str) -> Lowered:
    """Return the blocks of a network whose values are up to a bound."""
    sharpness, digits = Gates.of(bound, dtype).sharpness, 53 if dtype == "float64" else 24
    assembly = Assembly(network.dim, sharpness, digits, bound)
    values, live = Form(np.eye(network.dim), np.zeros(network.dim)), set(range(network.dim))
    for layer in network.layers:
        add = {"state": add_states, "relu": add_relus, "product": _add_products}[layer.op]
        values = add(assembly, layer, values)
        used = set(np.flatnonzero(values.matrix.any(axis=0)).tolist())
        assembly.release(sorted(live - used))
        live = used
    readout = values.then(network.readout, network.readout_bias)
    room = 28 if dtype == "float64" else 14  # so that squares of all registers are lost beside the constants'
    factor = 2.0 ** (room + np.ceil(np.log2(assembly.reach)))
    return Lowered(_paired(assembly), assembly.count, readout, factor, sharpness, "count" in assembly.names)


def _add_products(assembly: Assembly, layer: Layer, before: Form) -> Form:
    """Append products, and return the values of the layer; those by a constant need no product."""
    first, second = before.then(layer.weight, layer.bias), before.then(layer.other, layer.other_bias)
    carried, rows = ~layer.weight.any(axis=1), np.arange(len(layer))
    passed = second.then(np.diag(layer.bias * carried))
    if carried.all():
        return passed
    places = assembly.product(first.rows(rows[~carried]), second.rows(rows[~carried]))
    return Form(widen(passed.matrix, assembly.count), passed.bias).plus(places, np.eye(len(layer))[:, ~carried])


def _paired(assembly: Assembly) -> tuple[Block, ...]:
    """Return blocks, each with a temporal part, an MLP, or first one and then the other."""
    blocks: list[Block] = []
    for part in assembly.parts:
        if isinstance(part, Temporal):
            blocks.append((part, None))
        elif blocks and blocks[-1][1] is None:
            blocks[-1] = blocks[-1][0], part
        else:
            blocks.append((None, part))
    return tuple(blocks)
