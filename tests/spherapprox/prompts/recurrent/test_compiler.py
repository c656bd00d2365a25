"""The compiler: its layers, what it carries along, and the branchings of the thesis's rules (C.1)."""

import tracemalloc

import numpy as np
import pytest

from spherapprox.prompts.recurrent import (
    Concat,
    Input,
    Linear,
    LinState,
    Multiplicative,
    Program,
    ReLU,
    RunningMax,
    absolute,
    delay,
)
from spherapprox.prompts.recurrent.gates import relu_network

X = np.random.default_rng(1).normal(size=(3, 40, 4))
"""Numbers with all their digits."""


def compiled(output):
    program = Program(output)
    return program, program.compile()


def test_the_program_of_figure_5_1():
    s = LinState(2.0 * Input(1) - 1.0, 1.0)
    network = Program(ReLU(1.0 - ReLU(1.0 - ReLU(s)))).compile()
    assert [layer.op for layer in network.layers] == ["state", "relu", "relu", "relu"]
    assert network.nonzeros == 8
    bits = np.random.default_rng(0).integers(0, 2, (200, 1)).astype(float)
    counts = 2.0 * np.cumsum(bits, axis=0) - np.arange(1.0, 201.0)[:, None]
    assert (network(bits) == (counts > 0.0)).all()
    assert (relu_network(network)(bits) == (counts > 0.0)).all()


def branchings(x):
    """Yield a program for each of the cases of C.1, by its number."""
    a, b = x[:2], x[2:]
    yield "1A", Multiplicative(x) + Multiplicative(x)
    yield "1B", Concat([Multiplicative(x), ReLU(x), LinState(x, 0.5)])
    yield "2", Concat([LinState(x, 0.5), LinState(x, -0.25, init_state=1.0)])
    yield "3", ReLU(x) - 2.0 * ReLU(x)
    yield "4", Concat([Concat([x, x]), Concat([x, Concat([x, x])])])
    yield "5A", Concat([ReLU(a), LinState(b, 0.5), Multiplicative(a, b), Linear(a, [[2.0, -1.0], [-1.0, 2.0]])])
    yield (
        "5A, wrong in print",
        ReLU(Linear(a, [[2.0, -1.0], [-1.0, 2.0]])) - Linear(ReLU(a), [[2.0, -1.0], [-1.0, 2.0]]),
    )
    yield "5B", ReLU(3.0 * x + 1.0) + LinState(x - 2.0, 0.5)
    yield "6", LinState(x, 0.5) + ReLU(x) + x
    yield "7A", ReLU(x) + ReLU(2.0 * x - 1.0)
    yield "7B", ReLU(x) + LinState(ReLU(x) - x, 0.5)
    yield "8", Concat([x, 2.0 * x])
    yield "9", Concat([ReLU(x), x])
    yield "10", Concat([ReLU(x), x, 2.0 * x])


@pytest.mark.parametrize("case", [name for name, _ in branchings(Input(4))])
def test_each_branching_is_resolved(case):
    program, network = compiled(dict(branchings(Input(4)))[case])
    expected = program(X)
    np.testing.assert_allclose(network(X), expected, rtol=0.0, atol=1e-14 * np.abs(expected).max())
    if all(layer.op != "product" for layer in network.layers):
        np.testing.assert_allclose(relu_network(network)(X), expected, rtol=0.0, atol=1e-14 * np.abs(expected).max())


def test_what_is_carried_keeps_all_bits():
    x = Input(4)
    v = x
    for _ in range(3):
        v = LinState(ReLU(ReLU(v) * ReLU(v[0])), 0.5)
    _, network = compiled(Concat([x, v]))
    assert {layer.op for layer in network.layers} == {"state", "relu", "product"}
    np.testing.assert_array_equal(network(X)[..., :4], X)
    _, plain = compiled(Concat([x, LinState(ReLU(LinState(ReLU(x), 0.5)), 0.5)]))
    np.testing.assert_array_equal(relu_network(plain)(X)[..., :4], X)


def test_equal_rows_are_there_once():
    x = Input(2)
    program, network = compiled(Concat([ReLU(x), x, x[0] + 0.0, absolute(x), ReLU(x + 0.0) - 1.0]))
    assert len(network.layers[0]) == 2 * 2  # |x| has what carries x, and x what is its positive part
    np.testing.assert_array_equal(network(X[..., :2]), program(X[..., :2]))
    program, products = compiled(Concat([x * x[::-1], x[0] * x[1], x]))
    assert len(products.layers[0]) == 2 + 2
    np.testing.assert_array_equal(products(X[..., :2]), program(X[..., :2]))
    program, states = compiled(Concat([LinState(x, 0.5), LinState(x, 0.5, init_state=1.0), LinState(x, 0.0), x]))
    assert len(states.layers[0]) == 2 + 2 + 2
    np.testing.assert_allclose(states(X[..., :2]), program(X[..., :2]), rtol=0.0, atol=1e-15)
    program, registers = compiled(
        Concat([delay(x[0]), delay(x[1]), delay(x[0])])
    )  # their ends differ in their past only
    np.testing.assert_array_equal(registers(X[..., :2]), program(X[..., :2]))
    constants = Program(Concat([ReLU(0.0 * x + 1.0), x])).compile()
    assert len(constants.layers[0]) == 1 + 4


def test_most_ready_variables_first_and_states_on_ties():
    x = Input(1)
    _, tie = compiled(Concat([ReLU(x), LinState(x, 0.5)]))
    assert [layer.op for layer in tie.layers] == ["state", "relu"]
    _, relus = compiled(Concat([ReLU(x), ReLU(2.0 * x), LinState(x, 0.5)]))
    assert [layer.op for layer in relus.layers] == ["relu", "state"]
    _, maxima = compiled(Concat([ReLU(x), RunningMax(x, 1.0), LinState(x, 0.5)]))
    assert [layer.op for layer in maxima.layers] == ["relu", "state"]


def test_linear_programs_have_no_layers():
    program, network = compiled(2.0 * Input(4)[1:] - 1.0)
    assert network.layers == ()
    np.testing.assert_array_equal(network(X), program(X))
    assert network.width == network.nonzeros == 0


def test_running_maxima_drift_by_roundings_only():
    program, network = compiled(RunningMax(Input(4), 8.0))
    long = np.random.default_rng(2).normal(size=(20_000, 4))
    long[5] = 5.0 + np.pi / 7.0  # larger than all that follow
    steps = np.arange(1.0, len(long) + 1.0)[:, None]
    error = np.abs(network(long) - program(long))
    assert (error <= 4.0 * 2.0**-53 * 16.0 * steps).all()
    assert error.max() > 0.0  # or the bound above says nothing
    whole = np.round(long)
    np.testing.assert_array_equal(network(whole), program(whole))


def test_values_below_the_bound_of_a_running_maximum():
    program, network = compiled(RunningMax(Input(1), 2.0))
    x = [[-3.0], [-2.5], [-1.0], [-4.0]]
    assert program(x)[:, 0].tolist() == network(x)[:, 0].tolist() == [-2.0, -2.0, -1.0, -1.0]


def test_bounds_of_values_hold():
    x = Input(2, bound=2.0)
    late = delay(ReLU(x), 3)
    network = Program(RunningMax(late[0] - x[1], 4.0) * x[0]).compile()
    inputs = np.random.default_rng(3).uniform(-2.0, 2.0, (50, 30, 2))
    largest = max(np.abs(values).max() for values in network.activations(inputs))
    assert 0.25 * network.value_bound <= largest <= network.value_bound
    assert Program(LinState(x, 1.0)).compile().value_bound is None
    assert Program(Multiplicative(2.0**-20 * x[0], 2.0**30 * x[1])).compile().value_bound == 2.0**31
    assert Program(ReLU(Input(2))).compile().value_bound is None


def test_bounds_of_values_hold_where_a_running_maximum_is_given_more_than_its_bound():
    network = Program(RunningMax(Input(1, bound=100.0), 8.0)).compile()
    (values,) = network.activations([[100.0], [-100.0]])
    assert np.abs(values).max() == network.value_bound == 200.0


def test_programs_of_many_variables_take_little_memory():
    x = Input(1)
    many = Program(Concat([ReLU(x - float(i)) for i in range(300)]))
    tracemalloc.start()
    network = many.compile()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2e7  # a matrix (300, 300) for each variable would be 2e8
    assert network([[7.5]])[0, :9].tolist() == [7.5, 6.5, 5.5, 4.5, 3.5, 2.5, 1.5, 0.5, 0.0]
