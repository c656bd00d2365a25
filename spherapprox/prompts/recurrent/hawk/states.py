"""Linear states by real-gated recurrences: registers, sums, what is forgotten, and cycles (10.8)."""

from __future__ import annotations

from collections.abc import Iterable
from graphlib import TopologicalSorter

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ...._types import Float64, Indices
from ..layer import Layer
from .assembly import RATE, TAPS, Assembly, Form, join_forms

STEPS = 2**20
"""Steps for which a program that counts modulo n is right."""
_LEVELS = 4
_Terms = dict[int, tuple[Float64, float]]
"""By delay, a row over registers and a constant."""


def refusal(transition: Float64, weight: Float64, bias: Float64) -> str:
    """Return why a linear state is none of real-gated recurrences, in words, or ""."""
    for group in groups_of(transition):
        own = transition[np.ix_(group, group)]
        if len(group) == 1 and not 0.0 <= own[0, 0] <= 1.0:
            return f"multiplies what it was by {own[0, 0]:g}, and a real-gated recurrence by numbers from 0 to 1"
        turns = (np.sort(own, axis=1)[:, -2:] == [0.0, 1.0]).all() and (own.sum(axis=0) == 1.0).all()
        outside = np.abs(transition[group]).sum() - len(group)
        if len(group) > 1 and not (turns and outside == 0.0 and not weight[group].any() and not bias[group].any()):
            return f"has {len(group)} entries that depend on each other's past, and are no cycle without inputs"
    return ""


def add_states(assembly: Assembly, layer: Layer, before: Form) -> Form:
    """Append what computes a layer of states, and return its values."""
    if reason := refusal(layer.recurrent, layer.weight, layer.bias):
        raise ValueError(f"'network' must have states that real-gated recurrences have, and one {reason}: use 'lstm'")
    rows, opening = before.then(layer.weight, layer.bias), layer.recurrent @ layer.start
    if opening.any() or layer.recurrent.diagonal().any():
        rows = rows.plus([assembly.start()], opening[:, None])
    groups, rest = groups_of(layer.recurrent), layer.recurrent.copy()
    values: dict[int, tuple[Float64, float]] = {}
    cycles = [group for group in groups if len(group) > 1]
    for group, form in zip(cycles, _cycles(assembly, layer, cycles), strict=True):
        values.update((int(i), (row, bias)) for i, row, bias in zip(group, form.matrix, form.bias, strict=True))
    todo = [int(group[0]) for group in groups if len(group) == 1]
    inputs: dict[int, _Terms] = {i: {0: (rows.matrix[i], rows.bias[i])} for i in todo}
    for i in list(todo):
        if not layer.recurrent[i].any():
            values[i] = inputs[i][0]  # no past: an affine function as it is
            todo.remove(i)
    while todo:
        ready = _ready(todo, inputs, rest, values)
        summed = [i for i in ready if rest[i, i] and set(ready[i]) != {0}]
        places = assembly.take(len(ready))
        _append(assembly, [(terms, 0.0 if i in summed else rest[i, i]) for i, terms in ready.items()],
                [layer.factor[i] for i in ready], places)  # fmt: skip
        for place, i in zip(places, ready, strict=True):
            row = np.eye(1, assembly.count, place)[0]
            if i in summed:  # its recurrence is next, on what was added up here
                inputs[i] = {0: (row, 0.0)}
                rest[i, np.arange(len(rest)) != i] = 0.0
                assembly.release([place])
            else:
                values[i] = (row, 0.0)
                todo.remove(i)
    return join_forms([Form(values[i][0][None], np.array([values[i][1]])) for i in range(len(layer))])


def groups_of(transition: Float64) -> list[Indices]:
    """Return the entries that depend on each other's past, group by group, each after what it depends on."""
    links = csr_array(transition != 0.0)
    count, labels = connected_components(links, connection="strong")
    before: dict[int, set[int]] = {number: set() for number in range(count)}
    for i, j in zip(*map(labels.__getitem__, links.nonzero()), strict=True):
        before[int(i)] |= {int(j)} - {int(i)}
    return [np.flatnonzero(labels == number) for number in TopologicalSorter(before).static_order()]


def _ready(
    todo: Iterable[int], inputs: dict[int, _Terms], transition: Float64, values: dict[int, tuple[Float64, float]]
) -> dict[int, _Terms]:
    """Return, for each entry whose input is at most three steps back in the stream, its terms by delay."""
    ready: dict[int, _Terms] = {}
    for i in todo:
        terms, complete = dict(inputs[i]), True
        for j in map(int, np.flatnonzero(transition[i])):
            if j == i:
                continue
            past: _Terms = {0: values[j]} if j in values else ready.get(j, {}) if transition[j, j] == 0.0 else {}
            complete = complete and bool(past) and max(past) < TAPS - 1
            for delay, (row, bias) in past.items():
                _add(terms, delay + 1, transition[i, j] * row, transition[i, j] * bias)
        if complete:
            ready[i] = {k: term for k, term in terms.items() if term[0].any() or term[1]} or {0: terms[0]}
    return ready


def _add(terms: _Terms, delay: int, row: Float64, bias: float) -> None:
    """Add a term at a delay."""
    old, constant = terms.get(delay, (np.zeros(0), 0.0))
    columns = max(len(old), len(row))
    terms[delay] = np.pad(old, (0, columns - len(old))) + np.pad(row, (0, columns - len(row))), constant + bias


def _append(assembly: Assembly, entries: list[tuple[_Terms, float]], sizes: list[float], places: list[int]) -> None:
    """Append the units of entries, one for each delay: sums, what is forgotten, and what is passed on."""
    owners = [k for k, (terms, _) in enumerate(entries) for _ in terms]
    rows = [(delay, row, bias) for terms, _ in entries for delay, (row, bias) in terms.items()]
    kept = np.array([entries[k][1] for k in owners])
    inputs = join_forms([Form(row[None], np.array([bias])) for _, row, bias in rows])
    with np.errstate(divide="ignore"):
        rate = np.where(kept > 0.0, -np.log(kept), RATE)
    gain = np.sqrt(-np.expm1(-2.0 * rate))
    bias = np.zeros(len(entries))
    sums = np.flatnonzero(kept == 1.0)
    if len(sums):
        size = np.array([sizes[owners[k]] or assembly.largest for k in sums])
        inputs, rate[sums], gain[sums], bias[[owners[k] for k in sums]] = _sums(assembly, inputs, sums, size)
    inputs = Form(inputs.matrix / gain[:, None], inputs.bias / gain)
    output = np.eye(len(entries))[:, owners]
    taps = np.eye(TAPS)[[delay for delay, _, _ in rows]]
    assembly.temporal(inputs, output, places=places, taps=taps, rate=rate, bias=bias)


def _sums(assembly: Assembly, inputs: Form, which: Indices, size: Float64) -> tuple[Form, float, float, Float64]:
    """Return inputs, rates, the gain and output biases of units that add up exactly on a grid (10.8, sums).

    They hold an offset, so that a = 1 - u takes one unit in the last place away at each step, which comes back.
    """
    offset, unit, _ = grid_of(size, assembly.digits)
    bias = inputs.bias.copy()
    bias[which] += unit
    first = np.zeros((len(bias), 1))
    first[which, 0] = offset - unit
    rate, gain = (2.0**-53, 2.0**-26) if assembly.digits == 53 else (2.0**-23, 2.0**-11)
    return Form(inputs.matrix, bias).plus([assembly.start()], first), rate, gain, -offset


def grid_of(size: Float64, digits: int) -> tuple[Float64, Float64, Float64]:
    """Return the offsets of sums up to a size, the units of their grids, and how far they reach (10.8, sums)."""
    double = digits == 53
    exponent = np.frexp(size)[1] + (1 if double else 2)
    offset = np.ldexp(1.5 if double else 1.25, exponent)
    return offset, np.ldexp(1.0, exponent - digits + 1), np.ldexp(0.5 if double else 0.25, exponent)


def _cycles(assembly: Assembly, layer: Layer, cycles: list[Indices]) -> list[Form]:
    """Return the values of states that turn around, from a count of steps modulo their lengths."""
    if not cycles:
        return []
    if (count := assembly.names.get("count")) is None:
        (count,) = assembly.take(1)
        _append(assembly, [({0: (np.zeros(0), 1.0)}, 1.0)], [STEPS], [count])
        assembly.names["count"] = count
        assembly.reach = max(assembly.reach, float(STEPS))
    sizes = np.array([len(group) for group in cycles])
    base = np.maximum(2, np.ceil((STEPS / sizes) ** (1.0 / _LEVELS))).astype(int)
    left = join_forms([Form(np.eye(1, count + 1, count), np.zeros(1))] * len(cycles))
    used: list[int] = []
    for level in range(_LEVELS - 1, -1, -1):
        bits, reader = _digits(assembly, left, sizes * base**level, base)
        assembly.release(used)
        used = assembly.temporal(left.plus(bits, -reader * (sizes * base**level)[:, None]))
        assembly.release(bits)
        left = join_forms([Form(np.eye(1, place + 1, place), np.zeros(1)) for place in used])
    bits, reader = _digits(assembly, left, np.ones(len(sizes), dtype=int), sizes)
    assembly.release(used)
    return [_turned(layer, group, bits, mask) for group, mask in zip(cycles, reader > 0.0, strict=True)]


def _digits(assembly: Assembly, of: Form, unit: Indices, base: Indices) -> tuple[list[int], Float64]:
    """Return bits v >= unit, v >= 2 unit, ... of each v below base units, and the matrix that adds those of each up."""
    owners = np.repeat(np.arange(len(unit)), base - 1)
    multiples = np.concatenate([np.arange(1, count) for count in base]) * unit[owners]
    bits = assembly.at_least_0(
        of.rows(owners).then(np.eye(len(owners)), np.asarray(-1.0 * multiples, dtype=np.float64))
    )
    return bits, np.eye(len(unit))[:, owners]


def _turned(layer: Layer, group: Indices, bits: list[int], mask: Float64) -> Form:
    """Return the entries of a cycle as a function of the bits that say how often it was turned."""
    value = layer.start[group]
    turns = [value]
    for _ in group[1:]:
        value = layer.recurrent[np.ix_(group, group)] @ value
        turns.append(value)
    own = [bit for bit, mine in zip(bits, mask, strict=True) if mine]
    return Form(np.zeros((len(group), 0)), turns[0]).plus(own, np.diff(turns, axis=0).T)
