"""Ranges of what a program computes, from the bounds that its variables declare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..._types import Float64
from .blocks import Input, LinState, ReLU, RunningMax
from .language import Linear, Multiplicative, Variable

Range = tuple[Float64, Float64]
"""Least and largest value of each entry, (-inf, inf) where nothing is known."""


def ranges_of(nodes: Sequence[Variable]) -> dict[Variable, Range]:
    """Return the range of each variable of a program, in whose order inputs come first."""
    ranges: dict[Variable, Range] = {}
    with np.errstate(over="ignore"):
        for node in nodes:
            ranges[node] = _range(node, [ranges[v] for v in node.inputs])
    return ranges


def undeclared(ranges: Mapping[Variable, Range]) -> list[Variable]:
    """Return the variables without a range whose inputs have one."""
    bounded = {node: bool(np.isfinite(ranges[node]).all()) for node in ranges}
    return [node for node in ranges if not bounded[node] and all(bounded[v] for v in node.inputs)]


def factor_size(node: Multiplicative, of: Range) -> Float64:
    """Return the size of a product's first factor, a power of two for each entry; 1 if unknown, 0 if it is binary."""
    size = np.abs(_first_factor(node, of)).max(axis=0)
    factor = np.where((size > 2.0**-900) & (size < 2.0**900), size, 1.0)
    return np.asarray(np.exp2(np.ceil(np.log2(factor))) * float(not node.binary))


def _first_factor(node: Multiplicative, of: Range) -> Range:
    """Return the range of a product's first factor within its bound."""
    return of if node.bound is None else (np.maximum(of[0], -node.bound), np.minimum(of[1], node.bound))


def _range(node: Variable, inputs: list[Range]) -> Range:
    if isinstance(node, Input):
        largest = np.full(node.dim, np.inf if node.bound is None else node.bound)
        return -largest, largest
    if isinstance(node, ReLU | RunningMax):
        least = -node.bound if isinstance(node, RunningMax) else 0.0
        return np.maximum(inputs[0][0], least), np.maximum(inputs[0][1], least)
    if isinstance(node, Linear):
        parts = [_image(weight, *ends) for weight, ends in zip(node.weights, inputs, strict=True)]
        low, high = (sum((part[end] for part in parts), node.bias) for end in (0, 1))
        return low, high
    if isinstance(node, Multiplicative):
        (a, b), (c, d) = _first_factor(node, inputs[0]), inputs[1]
        with np.errstate(invalid="ignore"):
            corners = np.nan_to_num([u * v for u in (a, b) for v in (c, d)], nan=0.0, posinf=np.inf, neginf=-np.inf)
        return corners.min(axis=0), corners.max(axis=0)
    assert isinstance(node, LinState)
    low, high = _image(node.weight, *inputs[0])
    low, high = low + node.bias, high + node.bias
    largest = _state_bound(node, np.maximum(np.abs(low), np.abs(high)))
    positive = (low >= 0.0).all() and (node.init_state >= 0.0).all() and (node.transition >= 0.0).all()
    return (np.zeros(node.dim) if positive else -largest), largest


def _image(weight: Float64, low: Float64, high: Float64) -> Range:
    """Return the range of W v."""
    up, down = np.maximum(weight, 0.0), np.maximum(-weight, 0.0)
    return _times(up, low) - _times(down, high), _times(up, high) - _times(down, low)


def _times(weight: Float64, v: Float64) -> Float64:
    """Return W v with 0 inf = 0."""
    terms = np.multiply(weight, v, out=np.zeros(weight.shape), where=weight != 0.0)
    return np.asarray(terms.sum(axis=1))


def _state_bound(node: LinState, added: Float64) -> Float64:
    """Bound a state by what is declared, or where it forgets: w_t = |A| w_(t-1) + added stays bounded."""
    size, start = np.abs(node.transition), np.abs(node.init_state)
    if node.bound is not None:
        return np.full(node.dim, node.bound)
    norm = float(size.sum(axis=1).max())
    if norm < 1.0:
        return np.full(node.dim, max(float(start.max()), float(added.max()) / (1.0 - norm)))
    if not added.any() and norm <= 1.0:  # a cycle
        return np.full(node.dim, start.max())
    from scipy.sparse import csr_array

    onward = csr_array(size)  # 0 inf = 0
    reach = onward.sign()
    w, largest, nonzero = start, start, np.ones(node.dim)
    while nonzero.any():  # where A^k 1 is not 0: in a shift register fewer entries each time
        before, nonzero = nonzero, np.minimum(reach @ nonzero, 1.0)
        if (nonzero == before).all():
            return np.full(node.dim, np.inf)
        w = onward @ w + added
        largest = np.maximum(largest, w)
    return largest
