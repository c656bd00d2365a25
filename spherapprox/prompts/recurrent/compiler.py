"""The levelised compiler: from the graph of a program to a path of layers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch

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


@dataclass(frozen=True)
class _Affine:
    """An affine function of all atoms: of the input, and of each variable that is not linear."""

    matrix: Float64
    bias: Float64

    def of(self, weight: Float64, bias: Float64) -> _Affine:
        """Return weight (this) + bias."""
        return _Affine(weight @ self.matrix, weight @ self.bias + bias)


@dataclass(frozen=True)
class _Part:
    """Rows of a layer that are of one variable, or carry what is needed later; `read` makes that of their values."""

    rows: Layer
    read: Float64


def compiled(output: Variable, variables: Sequence[Variable], name: str) -> Network:
    """Return the network of a program: one layer after another, of the kind for which most variables are ready."""
    atoms = [v for v in variables if not isinstance(v, Linear)]
    places = _places(atoms)
    forms, ranges = _forms(variables, places), ranges_of(variables)
    todo, layers = atoms[1:], []  # all but the input
    read = np.eye(places[atoms[-1]].stop, atoms[0].dim)  # makes atoms of a layer's values; 0 for those it has not
    uses, last = {node: _uses(node.inputs, forms) for node in todo}, _uses([output], forms)
    while todo:
        kind, now = _next(todo, uses, np.asarray(read.any(axis=1)))
        done = set(now)
        todo = [v for v in todo if v not in done]
        needed = np.any([last, *(uses[v] for v in todo)], axis=0)
        layer, read = _emitted(kind, {v: places[v] for v in now}, forms, read, needed, ranges)
        layers.append(layer)
    result = _through(forms[output], read)
    return Network(tuple(layers), result.matrix, result.bias, name, _largest(atoms, ranges))


def _emitted(
    kind: str, now: Mapping[Variable, slice], forms: Mapping[Variable, _Affine], before: Float64, needed: Bools,
    ranges: Mapping[Variable, Range],
) -> tuple[Layer, Float64]:  # fmt: skip
    """Return the layer of some variables that carries the atoms needed later, and the matrix that reads both of it."""
    kept = np.flatnonzero(before.any(axis=1) & needed)
    parts = [_block(node, [_through(forms[v], before) for v in node.inputs], ranges) for node in now]
    parts += [_carried(kind, before[kept])] if len(kept) else []
    ends = np.cumsum([0, *(len(part.rows) for part in parts)]).tolist()
    read = np.zeros((len(needed), ends[-1]))
    rows: list[slice | Indices] = [*now.values(), kept]
    for place, part, begin, end in zip(rows, parts, ends, ends[1:], strict=False):
        read[place, begin:end] = part.read
    layer, same = _distinct(_joined(kind, [part.rows for part in parts]))
    return layer, read @ same


def _places(atoms: Iterable[Variable]) -> dict[Variable, slice]:
    """Return the places of atoms in the vector of all."""
    places, end = {}, 0
    for node in atoms:
        places[node] = slice(end, end + node.dim)
        end += node.dim
    return places


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


def _next(todo: list[Variable], uses: Mapping[Variable, Bools], have: Bools) -> tuple[str, list[Variable]]:
    """Return the kind of the next layer, and the variables in it: all of that kind that can be computed."""
    ready: dict[str, list[Variable]] = {kind: [] for kind in _FIRST}
    for node in todo:
        if not (uses[node] & ~have).any():
            ready[_KINDS[type(node)]].append(node)
    kind = max(_FIRST, key=lambda of: len(ready[of]))
    return kind, ready[kind]


def _through(form: _Affine, read: Float64) -> _Affine:
    """Return an affine function of atoms as one of the layer that they are read from."""
    return _Affine(form.matrix @ read, form.bias)


@singledispatch
def _block(node: Variable, inputs: list[_Affine], ranges: Mapping[Variable, Range]) -> _Part:
    raise NotImplementedError(type(node).__name__)


@_block.register
def _(node: ReLU, inputs: list[_Affine], ranges: Mapping[Variable, Range]) -> _Part:
    return _Part(Layer("relu", inputs[0].matrix, inputs[0].bias, names=_names(node)), np.eye(node.dim))


@_block.register
def _(node: LinState, inputs: list[_Affine], ranges: Mapping[Variable, Range]) -> _Part:
    added = inputs[0].of(node.weight, node.bias)
    rows = Layer("state", added.matrix, added.bias, node.transition, node.init_state, names=_names(node))
    return _Part(rows, np.eye(node.dim))


@_block.register
def _(node: Multiplicative, inputs: list[_Affine], ranges: Mapping[Variable, Range]) -> _Part:
    u, v = inputs
    other = {"other": v.matrix, "other_bias": v.bias, "factor": factor_size(node, ranges[node.inputs[0]])}
    return _Part(Layer("product", u.matrix, u.bias, names=_names(node), **other), np.eye(node.dim))


@_block.register
def _(node: RunningMax, inputs: list[_Affine], ranges: Mapping[Variable, Range]) -> _Part:
    """Return r_t = max(r_(t-1) + v_(t-1) - v_t, 0) and v_t as the difference of two ReLUs; the maximum is v_t + r_t."""
    (v,), eye = inputs, np.eye(node.dim)
    rows = Layer(
        "relu",
        np.vstack([-v.matrix, v.matrix, -v.matrix]),
        np.concatenate([-v.bias, v.bias, -v.bias]),
        np.vstack([np.hstack([eye, eye, -eye]), np.zeros((2 * node.dim, 3 * node.dim))]),
        np.repeat([0.0, 0.0, node.bound], node.dim),
    )
    return _Part(rows, np.hstack([eye, eye, -eye]))


def _names(node: Variable) -> tuple[str, ...]:
    """Return a name for each entry of a variable that has one."""
    if node.name is None or node.dim == 1:
        return ("" if node.name is None else node.name,) * node.dim
    return tuple(f"{node.name}[{i}]" for i in range(node.dim))


def _carried(kind: str, values: Float64) -> _Part:
    """Return rows that pass values of the layer before on, exactly."""
    n, eye = len(values), np.eye(len(values))
    if kind == "relu":
        return _Part(Layer(kind, np.vstack([values, -values]), np.zeros(2 * n)), np.hstack([eye, -eye]))
    if kind == "product":
        return _Part(Layer(kind, 0.0 * values, np.ones(n), other=values, factor=np.zeros(n)), eye)
    return _Part(Layer(kind, values, np.zeros(n)), eye)


def _joined(kind: str, parts: Sequence[Layer]) -> Layer:
    """Return the layer that has all these rows."""
    ends = np.cumsum([len(part) for part in parts])
    recurrent = np.zeros((ends[-1], ends[-1]))
    for part, end in zip(parts, ends, strict=True):
        recurrent[end - len(part) : end, end - len(part) : end] = part.recurrent
    stacked = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ("weight", "bias", "start", "other", "other_bias", "factor")
    }
    names = tuple(name for part in parts for name in part.names or ("",) * len(part))
    return Layer(kind, recurrent=recurrent, names=names, **stacked)


def _distinct(layer: Layer) -> tuple[Layer, Float64]:
    """Return a layer with equal rows once, and the matrix (n, fewer) that makes the values of all of theirs."""
    arrays = [getattr(layer, name) for name in ("weight", "bias", "start", "other", "other_bias", "factor")]
    alone = (layer.recurrent != 0.0).any(axis=0) | (layer.recurrent != 0.0).any(axis=1)
    marks = np.where(alone, np.arange(1.0, len(layer) + 1.0), 0.0)  # rows with a past are equal to none
    _, kept, back = np.unique(np.column_stack([*arrays, marks]), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(kept)
    places, rows = np.argsort(order)[back.ravel()], kept[order]
    weight, bias, start, other, other_bias, factor = (array[rows] for array in arrays)
    recurrent = layer.recurrent[np.ix_(rows, rows)]
    names = tuple(layer.names[i] for i in rows) if layer.names else ()
    distinct = Layer(layer.op, weight, bias, recurrent, start, other, other_bias, factor, names)
    return distinct, np.eye(len(rows))[places]


def _largest(atoms: Iterable[Variable], ranges: Mapping[Variable, Range]) -> float | None:
    """Return a bound of all values that layers hold, where bounds of variables are known."""
    largest = max(_atom_size(v, ranges) for v in atoms)
    return largest if 0.0 < largest < np.inf else 1.0 if largest == 0.0 else None


def _atom_size(node: Variable, ranges: Mapping[Variable, Range]) -> float:
    """Bound the values of a variable's rows, with a product's second factor and a running maximum's distance to v."""
    value, inputs = _size(ranges[node]), [_size(ranges[v]) for v in node.inputs]
    if isinstance(node, Multiplicative):
        return max(value, inputs[1])
    return value + max(inputs[0], node.bound) if isinstance(node, RunningMax) else value


def _size(of: Range) -> float:
    return float(max(np.abs(of[0]).max(), np.abs(of[1]).max()))
