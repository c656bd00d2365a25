"""Variables: what operators and blocks mean, and what their messages say."""

import inspect
import re

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
    constant,
)

X = np.random.default_rng(0).normal(size=(7, 3))
A = np.arange(6.0).reshape(2, 3) - 2.0

OPERATORS = {
    "sum": (lambda x: x[:2] + x[1:], lambda v: v[:, :2] + v[:, 1:]),
    "difference": (lambda x: x[:2] - x[1:], lambda v: v[:, :2] - v[:, 1:]),
    "constants": (lambda x: 3.0 - (1.0 + x - [1.0, 2.0, 3.0]), lambda v: 3.0 - (1.0 + v - [1.0, 2.0, 3.0])),
    "arrays on the left": (lambda x: np.ones(3) - x, lambda v: 1.0 - v),
    "scales": (lambda x: -(2.0 * x) / [1.0, 2.0, 4.0], lambda v: -2.0 * v / [1.0, 2.0, 4.0]),
    "vector": (lambda x: x * np.array([1.0, 0.0, -1.0]), lambda v: v * [1.0, 0.0, -1.0]),
    "row": (lambda x: A[0] @ x, lambda v: v @ A[:1].T),
    "concat of two": (lambda x: Concat(x, x[0]), lambda v: np.hstack([v, v[:, :1]])),
    "matrix": (lambda x: A @ x, lambda v: v @ A.T),
    "entry": (lambda x: x[-1], lambda v: v[:, -1:]),
    "slice": (lambda x: x[::-1], lambda v: v[:, ::-1]),
    "list": (lambda x: x[[0, 0, 2]], lambda v: v[:, [0, 0, 2]]),
    "unpacked": (sum, lambda v: v.sum(axis=1, keepdims=True)),
    "one entry beside many": (lambda x: x[0] + x, lambda v: v[:, :1] + v),
    "one entry beside an array": (lambda x: x[0] - np.arange(4.0), lambda v: v[:, :1] - np.arange(4.0)),
    "one entry times an array": (lambda x: x[0] * np.arange(4.0), lambda v: v[:, :1] * np.arange(4.0)),
    "product": (lambda x: x[0] * x, lambda v: v[:, :1] * v),
    "binary": (lambda x: Multiplicative(0.0 * x[0] + 1.0, x, binary=True), lambda v: v),
    "halves": (lambda x: Multiplicative(x[:2]), lambda v: v[:, :1] * v[:, 1:2]),
    "concat": (lambda x: Concat([x[2], x]), lambda v: np.hstack([v[:, 2:], v])),
    "linear": (lambda x: Linear([x, x[:1]], np.ones((2, 4)), [1.0, 2.0]),
               lambda v: v.sum(axis=1, keepdims=True) + v[:, :1] + [1.0, 2.0]),
    "constant": (lambda x: constant(x, [1.0, 2.0]), lambda v: np.tile([1.0, 2.0], (len(v), 1))),
    "relu": (ReLU, lambda v: np.maximum(v, 0.0)),
    "running sum": (lambda x: LinState(x, 1.0), lambda v: np.cumsum(v, axis=0)),
    "geometric": (lambda x: LinState(x[0], 0.5, 2.0, 8.0, 1.0),
                  lambda v: np.array([[8.0 / 2**t + sum((2.0 * v[s - 1, :1] + 1.0) / 2 ** (t - s)
                                                        for s in range(1, t + 1))[0]] for t in range(1, len(v) + 1)])),
    "running maximum": (lambda x: RunningMax(x, 4.0), lambda v: np.maximum.accumulate(v, axis=0)),
    "named": (lambda x: x.named("x"), lambda v: v),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_mean_what_they_mean_in_numpy(name):
    make, expected = OPERATORS[name]
    np.testing.assert_allclose(Program(make(Input(3)))(X), expected(X), rtol=0.0, atol=1e-14)


def here():
    return inspect.currentframe().f_back.f_lineno


def test_messages_show_both_shapes_and_the_lines():
    x, line = Input(2, name="pair"), here()
    y, after = ReLU(x), here()
    file = re.escape("test_language.py")
    at_x, at_y = rf"\({file}:{line}\)", rf"\({file}:{after}\)"
    three = Concat([x, x[0]])
    with pytest.raises(ValueError, match=rf"Concat\(dim=3\) \({file}:\d+\) and ReLU\(dim=2\) {at_y}"):
        three + y
    with pytest.raises(
        ValueError, match=rf"'A' must have shape \(n, 2\) for Input\(dim=2, name='pair'\) {at_x}, got \(1, 3\)"
    ):
        Linear(x, [[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match=rf"multiply ReLU\(dim=2\) {at_y} and an array of shape \(3,\)"):
        y * np.ones(3)
    with pytest.raises(ValueError, match=rf"'B' must have shape \(3, 2\) for Input.*{at_x}, got a number"):
        LinState(x, np.eye(3))


def test_variables_are_the_same_or_cannot_be_compared():
    x, y = Input(1), Input(1)
    assert x == x  # noqa: PLR0124
    assert y in {x, y}
    for compare in (lambda: x == y, lambda: x != y, lambda: x in [y]):
        with pytest.raises(TypeError, match=r"recurrent\.equal"):
            compare()


def test_arrays_are_copied_and_cannot_be_changed():
    a = np.eye(2)
    state = LinState(Input(2), a)
    a[0, 0] = 5.0
    assert state.transition[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        state.transition[0, 0] = 2.0
