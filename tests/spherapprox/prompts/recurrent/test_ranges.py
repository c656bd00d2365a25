"""Ranges from declared bounds: every value is inside, and what is unknown is named."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox.prompts.recurrent import (
    Concat,
    Input,
    LinState,
    Multiplicative,
    Program,
    ReLU,
    RunningMax,
    cycle,
    delay,
    first,
)
from spherapprox.prompts.recurrent.ranges import ranges_of, undeclared


@settings(max_examples=60)
@given(st.integers(0, 10**6))
def test_values_are_inside_their_ranges(seed):
    rng = np.random.default_rng(seed)
    pool = [Input(2, bound=3.0)]
    for _ in range(8):
        v, w = (pool[i] for i in rng.integers(0, len(pool), 2))
        scale = rng.normal(size=(2, v.dim))
        pool.append(
            [
                lambda v=v, s=scale: s @ v + rng.normal(size=2),
                lambda v=v: ReLU(v),
                lambda v=v, w=w: Multiplicative(v[:1], w[:1]),
                lambda v=v: RunningMax(v, 2.0),
                lambda v=v: LinState(
                    v, 0.5 * rng.uniform(-1, 1, (2, 2)) if v.dim == 2 else 0.7, init_state=rng.choice([-4.0, 4.0])
                ),
                lambda v=v: delay(v, 2),
                lambda v=v: first(v, 2),
                lambda v=v: cycle(v, 2),
            ][rng.integers(8)]()
        )
    program = Program(Concat([v.named(str(i)) for i, v in enumerate(pool)]))
    ranges = ranges_of(program.variables)
    assert not undeclared(ranges)
    x = rng.uniform(-3.0, 3.0, (20, 12, 2))
    x[0] = np.sign(x[0]) * 3.0
    low, high = ranges[program.output]
    values = program(x)
    size = 1e-12 * np.maximum(np.abs(low), np.abs(high))
    assert (low - size <= values).all()
    assert (values <= high + size).all()


def test_ranges_are_sharp_where_they_can_be():
    x = Input(1, bound=1.0)
    for v, expected in (
        (1.0 - ReLU(1.0 - ReLU(x)), (0.0, 1.0)),
        (cycle(x, 3), (0.0, 1.0)),
        (delay(ReLU(x), 4), (0.0, 1.0)),
        (LinState(x, 0.5), (-2.0, 2.0)),
        (LinState(ReLU(x), 1.0, bound=5.0), (0.0, 5.0)),
        (LinState(ReLU(x), 1.0, init_state=-3.0, bound=5.0), (-5.0, 5.0)),
        (LinState(ReLU(x), -0.5), (-2.0, 2.0)),
        (LinState(ReLU(x), 0.5, bias=-1.0), (-2.0, 2.0)),
        (LinState(x, [[0.0, 1.0], [0.0, 0.0]], [[1.0], [3.0]]), (-4.0, 4.0)),
        (RunningMax(ReLU(x), 8.0), (0.0, 1.0)),
        (x * (x - 3.0), (-4.0, 4.0)),
        (Multiplicative(x - 3.0, x, bound=3.0), (-3.0, 3.0)),
        (Multiplicative(3.0 - x, x, bound=3.0), (-3.0, 3.0)),
    ):
        low, high = ranges_of(Program(v).variables)[v]
        assert (low.min(), high.max()) == pytest.approx(expected)


def test_the_first_unknown_is_named_and_zero_weights_hide_it():
    x = Input(2)
    total = LinState(ReLU(x), 1.0)
    assert undeclared(ranges_of(Program(total + 1.0).variables)) == [x]
    bounded = Input(2, bound=1.0)
    total = LinState(bounded, 1.0)
    assert undeclared(ranges_of(Program(ReLU(total) - total).variables)) == [total]
    growing = LinState(0.0 * bounded, 1.5, init_state=1.0)  # twice as large every other step
    assert undeclared(ranges_of(Program(growing).variables)) == [growing]
    nothing = 0.0 * total
    assert ranges_of(Program(nothing).variables)[nothing][1].tolist() == [0.0, 0.0]


def test_registers_in_any_order_have_bounds_and_loops_have_none():
    rng = np.random.default_rng(4)
    x, order = Input(1, bound=1.0), rng.permutation(6)
    A = np.triu(rng.uniform(1.0, 2.0, (6, 6)), 1)[np.ix_(order, order)]
    state = LinState(x, A, np.ones((6, 1)))
    program = Program(state)
    _, high = ranges_of(program.variables)[state]
    np.testing.assert_allclose(high, program(np.ones((7, 1)))[-1], rtol=1e-12)
    A[order.argmin(), order.argmax()] = A[order.argmax(), order.argmin()] = 1.0
    looped = LinState(x, A, np.ones((6, 1)))
    assert undeclared(ranges_of(Program(looped).variables)) == [looped]


def test_long_registers_take_no_time():
    x = Input(1, bound=1.0)
    late = delay(x, 1500)  # powers of its matrix take half a minute
    begin = time.perf_counter()
    assert ranges_of(Program(late).variables)[late][1].tolist() == [1.0]
    assert time.perf_counter() - begin < 5.0
