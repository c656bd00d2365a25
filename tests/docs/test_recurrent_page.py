"""The page for users of recurrent programs: what it tells suffices for three programs."""

import numpy as np

from spherapprox.prompts.recurrent import (
    Concat,
    Input,
    LinState,
    Program,
    ReLU,
    RunningMax,
    cycle,
    delay,
    maximum,
    minimum,
    step,
)


def test_a_running_median_of_three():
    x = Input(1)
    before, second = delay(x), delay(x, 2)
    low, high = minimum(x, before), maximum(x, before)
    program = Program(maximum(low, minimum(high, second)))
    inputs = np.random.default_rng(0).integers(-9, 10, (40, 1)).astype(float)
    padded = np.concatenate([np.zeros((2, 1)), inputs])[:, 0]
    medians = [sorted(padded[i : i + 3])[1] for i in range(len(inputs))]
    for computed in (program, program.compile()):
        assert computed(inputs)[:, 0].tolist() == medians


def test_a_counter_modulo_7_of_steps_and_of_ones():
    program = Program(np.arange(7.0)[None] @ cycle(Input(1), 7, phase=1))
    assert program.compile()(np.zeros((20, 1)))[:, 0].tolist() == [t % 7 for t in range(1, 21)]


def test_balanced_brackets():
    x = Input(1)  # 1 opens, -1 closes
    depth = LinState(x, 1.0)
    broken = RunningMax(-depth, 1024.0)  # above 0 once more was closed than was open
    open_now = step(Concat([depth, -depth, broken]))
    program = Program(ReLU(1.0 - np.ones((1, 3)) @ open_now))
    for text in ("()", "(())()", ")(", "(()", "())(()"):
        inputs = [[1.0 if c == "(" else -1.0] for c in text]
        remainder = text
        while "()" in remainder:
            remainder = remainder.replace("()", "")
        assert program(inputs)[-1, 0] == program.compile()(inputs)[-1, 0] == float(not remainder)
