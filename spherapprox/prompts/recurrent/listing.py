"""Networks as text: an equation for each row of each layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..._types import Float64
from .layer import Layer


def lines(name: str, layers: Sequence[Layer], readout: Float64, readout_bias: Float64) -> Iterator[str]:
    """Yield the lines of the listing of a network."""
    inputs = (layers[0].weight if layers else readout).shape[1]
    yield f"{name or 'network'}: x[0:{inputs}] -> y[0:{len(readout)}]"
    before = "x"
    for number, layer in enumerate(layers, 1):
        own = f"h{number}"
        yield f"layer {number}, {layer.op}{_start(layer)}"
        yield from (f"  {_row(layer, row, own, before)}" for row in range(len(layer)))
        before = own
    yield "output"
    yield from (f"  y[{i}] = {_sum([(readout[i], before)], readout_bias[i])}" for i in range(len(readout)))


def _start(layer: Layer) -> str:
    """Return where a recurrent layer starts, in words."""
    if not layer.recurrent.any():
        return ""
    places = np.flatnonzero(layer.start)
    if len(places) > 8:
        return f", starts at {len(places)} values that are not 0"
    return ", starts at " + (", ".join(f"[{i}] = {layer.start[i]:g}" for i in places) or "0")


def _row(layer: Layer, row: int, own: str, before: str) -> str:
    """Return the equation of a row."""
    total = _sum([(layer.recurrent[row], f"{own}'"), (layer.weight[row], before)], layer.bias[row])
    if layer.op == "relu":
        total = f"max(0, {total})"
    if layer.op == "product":
        total = f"({total}) ({_sum([(layer.other[row], before)], layer.other_bias[row])})"
    name = layer.names[row] if layer.names else ""
    return f"{own}[{row}] = {total}" + (f"  # {name}" if name else "")


def _sum(parts: Sequence[tuple[Float64, str]], bias: float) -> str:
    """Return the terms of a sum that are not 0."""
    terms = []
    for weights, of in parts:
        for i in np.flatnonzero(weights):
            entry = f"{of[:-1]}[{i}]'" if of.endswith("'") else f"{of}[{i}]"  # a prime is for the step before
            size = "" if abs(weights[i]) == 1.0 else f"{abs(weights[i]):g} "
            terms.append(f"{'-' if weights[i] < 0.0 else '+'} {size}{entry}")
    if bias or not terms:
        terms.append(f"{'-' if np.signbit(bias) else '+'} {abs(bias):g}")
    text = " ".join(terms)
    return text.removeprefix("+ ") if text[0] == "+" else text.replace("- ", "-", 1)
