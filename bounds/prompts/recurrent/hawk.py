"""Errors of states and running maxima of a Hawk (10.8)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spherapprox._types import Float64
from spherapprox.prompts.recurrent import LinState, RunningMax
from spherapprox.prompts.recurrent.hawk.maxima import unit_of
from spherapprox.prompts.recurrent.hawk.states import STEPS, grid_of, groups_of

from .models import LAST, Model, Part, atom


def state_of_a_hawk(node: LinState, added: Part, model: Model) -> Part:
    """Return what is known of a state, from what is added at each step."""
    own, forward = node.transition.diagonal(), np.abs(node.transition).T
    turned = np.isin(np.arange(node.dim), [i for group in groups_of(node.transition) if len(group) > 1 for i in group])
    sums, (_, unit, room) = (own == 1.0) & ~turned, grid_of(model.factors[node], _digits(model))
    decay, gain = _fading(own, model.unit)
    state = np.broadcast_to(node.init_state, (len(added.value), node.dim))
    lost, held = model.stored(state), np.abs(state) + np.where(turned, 2.0 * np.abs(node.init_state).sum(), 0.0)
    value, error, sizes = (np.empty_like(added.value) for _ in range(3))
    terms = np.minimum(added.terms, model.numbers)
    for t in range(added.value.shape[1]):
        now, past, before = added.at(t), held @ forward, np.abs(state)
        state, carried = state @ node.transition.T + now.value, lost @ forward
        more = 8.0 * node.dim + 4.0 * terms.max()
        # 10.8 (errors)
        fresh = now.inherited + 2.0 * model.rounding(now, more, past)
        fresh = fresh + own * before * decay + (past + now.magnitude) * gain
        fresh = fresh + np.where(sums, unit * (1.5 if t else model.units * terms + LAST), 0.0)
        fresh = fresh + model.through(np.abs(state) + 2.0 * (carried + fresh))
        lost = np.where(turned, lost if t < STEPS else np.inf, carried + fresh)
        size = np.abs(state) + 2.0 * lost
        lost = np.where(sums & ~(size + 2.0 * unit < room), np.inf, lost)
        held = np.where(turned, held, np.where(own > 0.0, size, past + now.magnitude))
        value[:, t], error[:, t], sizes[:, t] = state, lost, np.maximum(size, np.where(turned, held, 0.0))
    part, plain = atom(value, error, sizes, model=model), ~node.transition.any(axis=1)
    arrays = {
        name: np.where(plain, getattr(added, name), getattr(part, name)) for name in ("inherited", "magnitude", "lost")
    }
    largest = np.where(plain.any(), np.maximum(added.largest, part.largest), part.largest)
    registers = np.where(plain, added.terms, np.where(turned, float(node.dim), 1.0))
    return replace(part, **arrays, largest=largest, terms=registers, rounds=added.rounds)


def _digits(model: Model) -> int:
    return 53 if model.unit == 2.0**-53 else 24


def _fading(own: Float64, unit: float) -> tuple[Float64, Float64]:
    """Bound relative errors of a, and of sqrt(1 - a^2), for numbers a between 0 and 1; 0 elsewhere (10.8)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = -np.log(own)
        decay = (rate * (np.abs(np.log(np.expm1(rate / 8.0))) + 16.0) + 4.0) * unit
        gain = own**2 * decay / -np.expm1(-2.0 * rate) + 8.0 * unit
    between = (own > 0.0) & (own < 1.0)
    return np.where(between, decay, 0.0), np.where(between, gain, 0.0)


def maximum_of_a_hawk(node: RunningMax, part: Part, model: Model) -> Part:
    """Return what is known of a running maximum: it is one of the numbers seen, or the start."""
    start = np.full((len(part.value), 1, node.dim), -node.bound)
    value = np.maximum.accumulate(np.concatenate([start, part.value], axis=1), axis=1)[:, 1:]
    rounding = model.rounding(part, 1.0, node.bound)
    size = np.abs(part.value) + node.bound + 2.0 * (part.inherited + rounding)
    # 10.8 (errors)
    seen = part.inherited + model.relu(rounding, size, np.zeros(size.shape, dtype=bool))
    exponent, unit = unit_of(model.factors[node], _digits(model))
    sizes = np.maximum.accumulate(size, axis=1)
    error = np.maximum.accumulate(seen, axis=1) + unit + model.through(sizes)
    error = np.where(sizes + 2.0 * error < np.ldexp(1.0, exponent), error, np.inf)
    return atom(value, error, sizes + node.bound, model=model)
