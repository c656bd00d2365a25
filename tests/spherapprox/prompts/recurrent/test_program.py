"""Programs: interpretation, traces, and reasons why one is not valid."""

import numpy as np
import pytest

from spherapprox.prompts.recurrent import (
    Input,
    LinState,
    Program,
    ReLU,
    delay,
    validate,
)


def test_a_batch_is_its_sequences_one_by_one():
    x = Input(2)
    program = Program(LinState(ReLU(x) - x[0], 0.5, init_state=1.0))
    batch = np.random.default_rng(0).normal(size=(4, 9, 2))
    np.testing.assert_array_equal(program(batch), np.stack([program(one) for one in batch]))


def test_traces_hold_what_is_named():
    x = Input(1, name="x")
    total = LinState(x, 1.0, name="total")
    positive = ReLU(total, name="total")
    trace = Program(positive + 1.0).trace([[1.0], [-3.0]])
    assert {name: values[:, 0].tolist() for name, values in trace.items()} == {
        "x": [1.0, -3.0], "total": [1.0, -2.0], "total #2": [1.0, 0.0],
    }  # fmt: skip


def test_traces_lose_no_variable_whose_name_looks_numbered():
    x = Input(1)
    named = [ReLU(x, name="a #2"), ReLU(x + 1.0, name="a"), ReLU(x + 2.0, name="a")]
    values = Program(named[0] + named[1] + named[2]).trace([[0.0]])
    assert {name: v[0, 0] for name, v in values.items()} == {"a #2": 0.0, "a": 1.0, "a #3": 2.0}


def test_long_chains_are_no_recursion():
    v = Input(1)
    for _ in range(2000):
        v = v + 1.0
    assert Program(v)([[0.0]])[0, 0] == Program(v).compile()([[0.0]])[0, 0] == 2000.0


def test_reasons_come_before_anything_is_compiled():
    x, y = Input(1), Input(2)
    program = Program(x + y)
    (reason,) = validate(program)
    assert reason.startswith("a program has one Input, got 2: Input(dim=1) (test_program.py:")
    for run in (program, Program.compile, Program.trace):
        with pytest.raises(ValueError, match="is not valid: a program has one Input"):
            run([[1.0]]) if run is program else run(program, *([[[1.0]]] if run is Program.trace else []))


def test_reasons_depend_on_the_kind_of_module():
    x = Input(2, bound=1.0)
    total = LinState(x[0] * x[1], 1.0)
    program = Program(total)
    assert validate(program) == ()
    (product,) = validate(program, "rnn")
    assert "Multiplicative(dim=1) (test_program.py:" in product
    assert "'lstm' or 'gru'" in product
    for kind in ("lstm", "gru"):
        (unknown,) = validate(program, kind)
        assert unknown.startswith("LinState(dim=1) (test_program.py:")
    assert validate(Program(LinState(x, 1.0, bound=8.0)), "lstm") == ()


def test_repr():
    assert repr(Program(delay(Input(2)), "late")) == "Program('late', inputs=2, outputs=2, variables=3)"


def test_promises_are_kept_up_to_roundings():
    program = Program(LinState(Input(1), 1.0, bound=0.3))
    assert program([[0.1], [0.2]])[-1, 0] == 0.1 + 0.2 > 0.3
    assert Program(LinState(Input(1, bound=1.0), 1.0, bound=2.0))([[1.0], [1.0]])[1, 0] == 2.0
