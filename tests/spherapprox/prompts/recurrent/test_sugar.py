"""Short forms: what they compute, exactly, at any length and size."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox.prompts.recurrent import (
    Concat,
    Input,
    LinState,
    Program,
    ReLU,
    RunningMax,
    absolute,
    choose,
    constant,
    cycle,
    delay,
    equal,
    first,
    gate,
    maximum,
    minimum,
    snap,
    step,
    window,
)
from spherapprox.prompts.recurrent.gates import relu_network

NUMBERS = st.floats(-1e300, 1e300)


def values(make, x):
    """Return the outputs of the interpreter, which the network has too, for each row of x."""
    program = Program(make(Input(np.shape(x)[1])))
    interpreted, compiled = program(x), program.compile()(x)
    np.testing.assert_array_equal(interpreted, compiled)
    return interpreted


@settings(max_examples=60)
@given(
    st.lists(st.one_of(NUMBERS, st.integers(-3, 3).map(float)), min_size=1, max_size=9),
    st.sampled_from([1.0, 4.0, 1e3]),
)
def test_steps_are_0_or_1_to_the_last_bit(numbers, slope):
    x = np.array(numbers)[:, None]
    result = values(lambda v: step(v, slope), x)
    assert (result[x <= 0.0] == 0.0).all()
    assert (result[x >= 1.0 / slope] == 1.0).all()
    assert ((result >= 0.0) & (result <= 1.0)).all()


def test_snaps_clean_up():
    x = np.concatenate([np.linspace(-50.0, 0.375, 99), np.linspace(0.625, 50.0, 99)])[:, None]
    assert values(snap, x)[:, 0].tolist() == [0.0] * 99 + [1.0] * 99


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(-1024, 1024)), min_size=1, max_size=9))
def test_gates_pass_or_shut(rows):
    x = np.array(rows, dtype=float)
    assert (values(lambda v: gate(v[0], v[1], 1024.0), x)[:, 0] == x[:, 0] * x[:, 1]).all()
    x = np.abs(x)
    assert (values(lambda v: gate(v[0], v[1], 1024.0, positive=True), x)[:, 0] == x[:, 0] * x[:, 1]).all()


@pytest.mark.parametrize("form", ["relu", "step", "product"])
def test_one_of_two_is_chosen(form):
    rng = np.random.default_rng(0)
    x = np.hstack([rng.integers(0, 2, (40, 1)), rng.integers(-8, 9, (40, 4))]).astype(float)
    yes = np.where(x[:, :1] == 1.0, x[:, 1:3], 0.0)
    both = np.where(x[:, :1] == 1.0, x[:, 1:3], x[:, 3:])
    assert (values(lambda v: choose(v[0], v[1:3], None, 8.0, form=form), x) == yes).all()
    assert (values(lambda v: choose(v[0], v[1:3], v[3:], 8.0, form=form), x) == both).all()
    assert (values(lambda v: choose(v[0], v[1:3], v[3:], 8.0, form=form, positive=True), abs(x)) == abs(both)).all()
    x[:, 0] += rng.uniform(-0.3, 0.3, 40) if form == "step" else 0.0
    assert (values(lambda v: choose(v[0], v[1:3], v[3:], 8.0, form=form), x) == both).all()


@pytest.mark.parametrize("at", [0, 1])
def test_open_gates_round_in_networks_by_what_they_say_and_shut_ones_not_at_all(at):
    x, bound = Input(2), 1000.0
    program = Program(gate(x[at], x[1 - at], bound))
    v = np.random.default_rng(6).uniform(-bound, bound, 200)
    opened, shut = (np.stack([np.full(200, c), v][:: 1 - 2 * at], axis=1) for c in (1.0, 0.0))
    np.testing.assert_array_equal(program(opened)[:, 0], v)
    for network in (program.compile(), relu_network(program.compile())):
        assert (np.abs(network(opened)[:, 0] - v) <= 2.0**-52 * (bound + np.abs(v))).all()
        assert not network(shut).any()


def test_a_gate_of_one_condition_and_many_values():
    x = np.array([[1.0, 2.0, -3.0], [0.0, 2.0, -3.0]])
    assert values(lambda v: gate(v[0], v[1:], 4.0), x).tolist() == [[2.0, -3.0], [0.0, 0.0]]
    assert values(lambda v: gate(v[1:] - 1.0, v[0], 4.0), np.array([[3.0, 1.0, 2.0]])).tolist() == [[0.0, 3.0]]


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(-(2**40), 2**40), st.integers(-3, 3)), min_size=1, max_size=9))
def test_comparisons_and_extremes_of_integers(rows):
    x = np.array([(a, a + b) for a, b in rows], dtype=float)
    u, v = x.T
    result = values(lambda x: Concat([equal(x[0], x[1]), maximum(x[0], x[1]), minimum(x[0], x[1]), absolute(x[0])]), x)
    np.testing.assert_array_equal(result.T, [u == v, np.maximum(u, v), np.minimum(u, v), np.abs(u)])


@pytest.mark.parametrize(("n", "phase"), [(1, 0), (2, 1), (3, 0), (7, -3), (10, 25)])
def test_cycles_are_exact_at_every_length(n, phase):
    network = Program(cycle(Input(1), n, phase)).compile()
    steps = np.arange(20_000)
    assert (network(np.zeros((len(steps), 1))).argmax(axis=1) == (steps + phase) % n).all()
    last = network(np.broadcast_to(0.0, (1_000_003, 1)), last=True)
    assert last.tolist() == np.eye(n)[(1_000_002 + phase) % n].tolist()


def test_a_counter_modulo_7():
    program = Program(np.arange(7.0)[None] @ cycle(Input(1), 7, phase=1))
    assert program.compile()(np.zeros((20, 1)))[:, 0].tolist() == [t % 7 for t in range(1, 21)]


def test_the_first_steps_and_what_was_before():
    x = np.arange(1.0, 9.0).reshape(4, 2)
    assert values(lambda v: first(v, 3), x).tolist() == np.eye(4, 3).tolist()
    assert values(lambda v: delay(v, 3), x).tolist() == [[0, 0], [0, 0], [0, 0], [1, 2]]
    assert values(delay, x)[1:].tolist() == x[:-1].tolist()
    assert values(lambda v: window(v, 2), x).tolist() == np.hstack([x, np.vstack([[0, 0], x[:-1]])]).tolist()
    assert values(lambda v: constant(v, 2.5), x).tolist() == [[2.5]] * 4


def test_a_running_median_of_three():
    x = Input(1)
    before, second = delay(x), delay(x, 2)
    low, high = minimum(x, before), maximum(x, before)
    program = Program(maximum(low, minimum(high, second)))
    sequence = np.random.default_rng(0).integers(-9, 10, (40, 1)).astype(float)
    padded = np.concatenate([np.zeros((2, 1)), sequence])[:, 0]
    expected = [sorted(padded[i : i + 3])[1] for i in range(len(sequence))]
    for model in (program, program.compile()):
        assert model(sequence)[:, 0].tolist() == expected


@pytest.mark.parametrize(("text", "balanced"), [("()", 1), ("(())()", 1), (")(", 0), ("(()", 0), ("())(()", 0)])
def test_balanced_brackets(text, balanced):
    depth = LinState(Input(1), 1.0)  # 1 opens, -1 closes
    broken = RunningMax(-depth, 1024.0)  # above 0 once more was closed than was open
    program = Program(ReLU(1.0 - np.ones((1, 3)) @ step(Concat([depth, -depth, broken]))))
    sequence = [[1.0 if c == "(" else -1.0] for c in text]
    assert program(sequence)[-1, 0] == program.compile()(sequence)[-1, 0] == balanced
