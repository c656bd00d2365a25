"""The levelised compiler: from the graph of a program to a path of layers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..._types import Bools, Float64, Indices
from .blocks import LinState, ReLU, RunningMax
from .language import Linear, Multiplicative, Variable
from .layer import Layer
from .network import Network
from .ranges import Range, factor_size, ranges_of

_KINDS = {LinState: "state", ReLU: "relu", RunningMax: "relu", Multiplicative: "product"}
_FIRST = ("state", "relu", "product")
"""Of kinds for which as many variables are ready."""
_BY_ROW = ("weight", "bias", "start", "other", "other_bias", "factor")


@dataclass(frozen=True)
class _Affine:
    """An affine function of all atoms: of the input, and of each variable that is not linear."""

    matrix: Float64
    bias: Float64

    def read_from(self, reader: Float64) -> _Affine:
        """Return it as a function of the layer that atoms are read from."""
        return _Affine(self.matrix @ reader, self.bias)


@dataclass(frozen=True)
class _Part:
    """Rows of a layer that are of one variable, or carry what is needed later; `reader` makes that of their values."""

    rows: Layer
    reader: Float64


def compiled(output: Variable, variables: Sequence[Variable], name: str) -> Network:
    """Return the network of a program: one layer after another, of the kind for which most variables are ready."""
    atoms = [v for v in variables if not isinstance(v, Linear)]
    ends = np.cumsum([0, *(v.dim for v in atoms)]).tolist()
    places = {v: slice(*pair) for v, pair in zip(atoms, pairwise(ends), strict=True)}  # in the vector of all
    forms, ranges = _forms(variables, places), ranges_of(variables)
    todo, layers = atoms[1:], []  # all but the input
    reader = np.eye(ends[-1], atoms[0].dim)  # makes atoms of a layer's values; 0 for those it has not
    uses, output_mask = {node: _uses(node.inputs, forms) for node in todo}, _uses([output], forms)
    while todo:
        kind, nodes = _next(todo, uses, np.asarray(reader.any(axis=1)))
        todo = [v for v in todo if v not in nodes]
        later_mask = np.any([output_mask, *(uses[v] for v in todo)], axis=0)
        parts = [_block(node, [forms[v].read_from(reader) for v in node.inputs], ranges) for node in nodes]
        layer, reader = _layer(kind, parts, [places[v] for v in nodes], before=reader, later_mask=later_mask)
        layers.append(layer)
    result = forms[output].read_from(reader)
    return Network(tuple(layers), result.matrix, result.bias, name=name, value_bound=_largest(atoms, ranges))


def _layer(
    kind: str, parts: list[_Part], places: Sequence[slice | Indices], before: Float64, later_mask: Bools
) -> tuple[Layer, Float64]:
    """Return the layer of some parts that carries the atoms needed later, and the matrix that reads both of it."""
    carried = np.flatnonzero(before.any(axis=1) & later_mask)
    if len(carried):
        parts, places = [*parts, _carry(kind, before[carried])], [*places, carried]
    ends = np.cumsum([0, *(len(part.rows) for part in parts)]).tolist()
    reader = np.zeros((len(later_mask), ends[-1]))
    for place, part, (begin, end) in zip(places, parts, pairwise(ends), strict=True):
        reader[place, begin:end] = part.reader
    layer, copies = _distinct(_join(kind, [part.rows for part in parts]))
    return layer, reader @ copies


def _forms(variables: Iterable[Variable], places: Mapping[Variable, slice]) -> dict[Variable, _Affine]:
    """Return each variable as an affine function of the atoms."""
    size = max(place.stop for place in places.values())
    forms: dict[Variable, _Affine] = {}
    for node in variables:
        if isinstance(node, Linear):
            matrix, bias = np.zeros((node.dim, size)), node.bias
            for v, w in zip(node.inputs, node.weights, strict=True):  # one at a time: all would take much memory
                matrix, bias = matrix + w @ forms[v].matrix, bias + w @ forms[v].bias
            forms[node] = _Affine(matrix, bias)
        else:
            matrix = np.zeros((node.dim, size))
            matrix[:, places[node]] = np.eye(node.dim)
            forms[node] = _Affine(matrix, np.zeros(node.dim))
    return forms


def _uses(variables: Iterable[Variable], forms: Mapping[Variable, _Affine]) -> Bools:
    """Return a mask of the atoms that some variables depend on."""
    return np.asarray(np.any([forms[v].matrix.any(axis=0) for v in variables], axis=0))


def _next(todo: list[Variable], uses: Mapping[Variable, Bools], ready_mask: Bools) -> tuple[str, dict[Variable, None]]:
    """Return the kind of the next layer, and the set of its variables: all of that kind that can be computed."""
    ready: dict[str, list[Variable]] = {kind: [] for kind in _FIRST}
    for node in todo:
        if not (uses[node] & ~ready_mask).any():
            ready[_KINDS[type(node)]].append(node)
    kind = max(_FIRST, key=lambda of: len(ready[of]))
    return kind, dict.fromkeys(ready[kind])


def _block(node: Variable, inputs: list[_Affine], ranges: Mapping[Variable, Range]) -> _Part:
    """Return the rows of a variable that is no input and not linear.

    Those of a running maximum hold r_t = max(r_(t-1) + v_(t-1) - v_t, 0), and v_t as the difference of two ReLUs; the
    maximum is v_t + r_t.
    """
    v, eye, names = inputs[0], np.eye(node.dim), _names(node)
    if isinstance(node, ReLU):
        return _Part(Layer("relu", v.matrix, v.bias, names=names), eye)
    if isinstance(node, LinState):
        bias, size = node.weight @ v.bias + node.bias, np.abs(ranges[node]).max(axis=0)
        rows = Layer(
            "state", node.weight @ v.matrix, bias, recurrent=node.transition, start=node.init_state, names=names,
            factor=np.where(size < np.inf, size, 0.0),
        )  # fmt: skip
        return _Part(rows, eye)
    if isinstance(node, Multiplicative):
        factor, (_, w) = factor_size(node, ranges[node.inputs[0]]), inputs
        rows = Layer("product", v.matrix, v.bias, other=w.matrix, other_bias=w.bias, factor=factor, names=names)
        return _Part(rows, eye)
    assert isinstance(node, RunningMax)
    rows = Layer(
        "relu", np.vstack([-v.matrix, v.matrix, -v.matrix]), np.concatenate([-v.bias, v.bias, -v.bias]),
        recurrent=np.vstack([np.hstack([eye, eye, -eye]), np.zeros((2 * node.dim, 3 * node.dim))]),
        start=np.repeat([0.0, 0.0, node.bound], node.dim),
    )  # fmt: skip
    return _Part(rows, np.hstack([eye, eye, -eye]))


def _names(node: Variable) -> tuple[str, ...]:
    """Return a name for each entry of a variable that has one."""
    if node.name is None or node.dim == 1:
        return (node.name or "",) * node.dim
    return tuple(f"{node.name}[{i}]" for i in range(node.dim))


def _carry(kind: str, values: Float64) -> _Part:
    """Return rows that pass values of the layer before on, exactly."""
    n, eye = len(values), np.eye(len(values))
    if kind == "relu":
        return _Part(Layer(kind, np.vstack([values, -values]), np.zeros(2 * n)), np.hstack([eye, -eye]))
    if kind == "product":
        return _Part(Layer(kind, 0.0 * values, np.ones(n), other=values, factor=np.zeros(n)), eye)
    return _Part(Layer(kind, values, np.zeros(n)), eye)


def _join(kind: str, parts: Sequence[Layer]) -> Layer:
    ends = np.cumsum([len(part) for part in parts])
    recurrent = np.zeros((ends[-1], ends[-1]))
    for part, end in zip(parts, ends, strict=True):
        recurrent[end - len(part) : end, end - len(part) : end] = part.recurrent
    arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _BY_ROW}
    names = tuple(name for part in parts for name in part.names or ("",) * len(part))
    return Layer(kind, recurrent=recurrent, names=names, **arrays)


def _distinct(layer: Layer) -> tuple[Layer, Float64]:
    """Return a layer with equal rows once, and the matrix (n, fewer) that makes the values of all of theirs."""
    arrays = {name: getattr(layer, name) for name in _BY_ROW}
    alone = (layer.recurrent != 0.0).any(axis=0) | (layer.recurrent != 0.0).any(axis=1)
    marks = np.where(alone, np.arange(1.0, len(layer) + 1.0), 0.0)  # rows with a past are equal to none
    columns = np.column_stack([*arrays.values(), marks])
    _, first, inverse = np.unique(columns, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    places, rows = np.argsort(order)[inverse.ravel()], first[order]
    names = tuple(layer.names[i] for i in rows) if layer.names else ()
    distinct = {name: array[rows] for name, array in arrays.items()}
    recurrent = layer.recurrent[np.ix_(rows, rows)]
    return Layer(layer.op, recurrent=recurrent, names=names, **distinct), np.eye(len(rows))[places]


def _largest(atoms: Iterable[Variable], ranges: Mapping[Variable, Range]) -> float | None:
    """Return a bound of all values that layers hold, where bounds of variables are known.

    Beside those of variables, layers hold a product's second factor, and a running maximum's distance to v.
    """
    sizes = {node: float(np.abs(ends).max()) for node, ends in ranges.items()}
    largest = 0.0
    for node in atoms:
        largest = max(largest, sizes[node])
        if isinstance(node, Multiplicative):
            largest = max(largest, sizes[node.inputs[1]])
        elif isinstance(node, RunningMax):
            largest = max(largest, sizes[node] + max(sizes[node.inputs[0]], node.bound))
    return (largest or 1.0) if largest < np.inf else None
