"""Programs for recurrent models with inputs and what they must return; exact arithmetic for any program; random ones.

Nothing here asks the package what a program computes: expectations are NumPy's or counted by hand, and `exact` has
rational numbers.
"""

from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from spherapprox.prompts import recurrent
from spherapprox.prompts.recurrent import Concat, Input, Linear, LinState, Multiplicative, Program, ReLU, RunningMax


class Case(NamedTuple):
    """A program, an input (batch, L, d), and the outputs; `whole` if all numbers are integers, so that all is exact."""

    name: str
    program: Program
    x: np.ndarray
    expected: np.ndarray
    whole: bool = True

    @property
    def kinds(self):
        """Return the kinds of torch modules that can be the program."""
        multiplies = any(isinstance(v, Multiplicative) for v in self.program.variables)
        return ("lstm", "gru") if multiplies else ("rnn", "lstm", "gru")


def shifted(x, steps):
    """Return a sequence some steps later, 0 before."""
    return np.concatenate([np.zeros_like(x[:, :steps]), x], axis=1)[:, : x.shape[1]]


def cases():
    """Return programs of all blocks and all short forms."""
    rng = np.random.default_rng(20)
    x, real = rng.integers(-8, 9, (2, 24, 3)).astype(float), rng.uniform(-2.0, 2.0, (2, 24, 3)).astype(np.float32)
    real = real.astype(float)
    bits = rng.integers(0, 2, (2, 24, 1)).astype(float)
    v, w = Input(3, bound=8.0), Input(3, bound=2.0)
    bit = Input(1, bound=1.0)
    a, b, c = (x[..., [i]] for i in range(3))
    matrix = np.array([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]])
    steps = np.arange(24)
    sums = np.cumsum(x, axis=1)
    count = np.cumsum(2.0 * bits - 1.0, axis=1)
    low = np.maximum(np.maximum.accumulate(x, axis=1), -2.0)
    one = partial(np.broadcast_to, shape=(2, 24, 1))
    forget = np.stack([sum(0.5 ** (t - s) * real[:, s] for s in range(t + 1)) for t in range(24)], axis=1)
    return [
        Case("input", Program(v), x, x),
        Case("linear", Program(Linear(v, matrix, [1.0, -1.0])), x, x @ matrix.T + [1.0, -1.0]),
        Case("operators", Program((2.0 * v[:2] - v[2]) / 4.0 + 1.0), x, (2.0 * x[..., :2] - c) / 4.0 + 1.0),
        Case("concat", Program(Concat([v[1:], ReLU(v)])), x, np.concatenate([x[..., 1:], np.maximum(x, 0.0)], 2)),
        Case("constant", Program(recurrent.constant(v, [3.0]) - ReLU(v[0])), x, 3.0 - np.maximum(a, 0.0)),
        Case("relu", Program(ReLU(v - 2.0)), x, np.maximum(x - 2.0, 0.0)),
        Case("sum", Program(LinState(v, 1.0, bound=256.0)), x, sums),
        Case("start", Program(LinState(v, 1.0, 2.0, [5.0, 6.0, 7.0], -1.0, bound=512.0)), x,
             np.array([5.0, 6.0, 7.0]) + np.cumsum(2.0 * x - 1.0, axis=1)),
        Case("forgetting", Program(LinState(w, 0.5)), real, forget, whole=False),
        Case("nested", Program(ReLU(LinState(ReLU(v), 1.0, bound=256.0) - LinState(ReLU(-v), 1.0, bound=256.0))), x,
             np.maximum(sums, 0.0)),
        Case("running maximum", Program(RunningMax(v, 8.0)), x, np.maximum.accumulate(x, axis=1)),
        Case("floor of a maximum", Program(RunningMax(v, 2.0)), x, low),
        Case("spread", Program(RunningMax(v, 8.0) + RunningMax(-v, 8.0)), x,
             np.maximum.accumulate(x, axis=1) - np.minimum.accumulate(x, axis=1)),
        Case("product", Program(w[0] * w[1]), real, real[..., [0]] * real[..., [1]], whole=False),
        Case("cube", Program(w * w * w), real, real**3, whole=False),
        Case("binary product", Program(Multiplicative(recurrent.step(v[0]), v[1:], binary=True)), x,
             (a > 0) * x[..., 1:]),
        Case("majority", Program(recurrent.step(LinState(2.0 * bit - 1.0, 1.0, bound=32.0))), bits, 1.0 * (count > 0)),
        Case("step", Program(recurrent.step(v)), x, 1.0 * (x > 0)),
        Case("snap", Program(recurrent.snap(bit - 0.125 * ReLU(bit))), bits, bits),
        Case("gate", Program(recurrent.gate(recurrent.step(v[0]), v[1:], 8.0)), x, (a > 0) * x[..., 1:]),
        Case("positive gate", Program(recurrent.gate(recurrent.step(v[0]), ReLU(v[1]), 8.0, positive=True)), x,
             (a > 0) * np.maximum(b, 0.0)),
        Case("equal", Program(recurrent.equal(v[0], v[1]) + recurrent.equal(v[2], 3.0)), x, 1.0 * (a == b) + (c == 3)),
        Case("absolute", Program(recurrent.absolute(v)), x, np.abs(x)),
        Case("extremes", Program(Concat([recurrent.maximum(v[0], v[1]), recurrent.minimum(v[0], v[1])])), x,
             np.concatenate([np.maximum(a, b), np.minimum(a, b)], axis=2)),
        Case("delay", Program(v - recurrent.delay(v, 3)), x, x - shifted(x, 3)),
        Case("first", Program(recurrent.first(v, 2)), x, np.broadcast_to(np.eye(24, 2), (2, 24, 2))),
        Case("cycle", Program(np.arange(5.0)[None] @ recurrent.cycle(v, 5, 2)), x,
             one(1.0 * ((steps + 2) % 5)[:, None])),
        Case("turn by turn", Program(recurrent.gate(recurrent.cycle(v, 2)[0], RunningMax(v[1], 8.0), 8.0)), x,
             one(1.0 * (steps % 2 == 0)[:, None]) * np.maximum.accumulate(b, axis=1)),
    ]  # fmt: skip


def rational(array):
    """Return an array of fractions."""
    return np.vectorize(Fraction, otypes=[object])(np.asarray(array, dtype=float))


def exact(program, x):
    """Return the outputs (L, p) of a program for a sequence (L, d), as fractions."""
    values, x = {}, rational(x)
    for v in program.variables:
        given = [values[u] for u in v.inputs]
        if isinstance(v, Input):
            values[v] = x
        elif isinstance(v, Linear):
            terms = [u @ rational(weight).T for u, weight in zip(given, v.weights, strict=True)]
            values[v] = sum(terms, rational(v.bias))
        elif isinstance(v, ReLU):
            values[v] = np.maximum(given[0], 0)
        elif isinstance(v, RunningMax):
            values[v] = np.maximum(np.maximum.accumulate(given[0], axis=0), Fraction(-v.bound))
        elif isinstance(v, Multiplicative):
            values[v] = given[0] * given[1]
        else:
            state, rows = rational(v.init_state), []
            for added in given[0] @ rational(v.weight).T + rational(v.bias):
                state = rational(v.transition) @ state + added
                rows.append(state)
            values[v] = np.array(rows)
    return values[program.output]


STYLES = ("ordinary", "huge", "tiny", "mixed", "integer", "dyadic")
BLOCKS = ("linear", "relu", "state", "max", "concat", "binary", "product")


def weights(rng, style, *shape):
    """Return numbers of a style."""
    if style == "integer":
        return rng.integers(-2, 3, shape).astype(float)
    if style == "dyadic":
        return rng.integers(-8, 9, shape) / 8.0
    if style == "mixed":
        return rng.normal(size=shape) * 10.0 ** rng.uniform(-3.0, 2.0, shape)
    return rng.normal(size=shape) * {"ordinary": 1.0, "huge": 1e4, "tiny": 1e-4}[style]


def random_program(dim, blocks, style, rng):
    """Return a program of some blocks, each on a variable before it; the output is the last and any other."""
    nodes = [Input(dim, bound=8.0)]

    def pick():
        return nodes[rng.integers(len(nodes))]

    for block in blocks:
        v, n = pick(), int(rng.integers(1, 5))
        if block == "linear":
            nodes.append(Linear(v, weights(rng, style, n, v.dim), weights(rng, style, n)))
        elif block == "state":
            triangle = np.triu(rng.integers(-1, 2, (n, n)) * (1.0 if style == "integer" else 0.5))
            given = (weights(rng, style, *shape) for shape in ((n, v.dim), (n,), (n,)))
            nodes.append(LinState(v, triangle, *given))
        elif block == "max":
            nodes.append(RunningMax(v, 2.0 ** rng.integers(0, 5)))
        elif block == "concat":
            nodes.append(Concat([v, pick()])[:6])
        elif block == "binary":
            factor = recurrent.step(v[0]) if style == "integer" else recurrent.cycle(v, 2)[0]
            nodes.append(Multiplicative(factor, pick(), binary=True))
        else:
            nodes.append(ReLU(v) if block == "relu" else Multiplicative(v[0], pick()))
    return Program(Concat([nodes[-1], pick()]))


def off(program, x, outputs):
    """Return what outputs (L, p) for a sequence (L, d) are off by, in exact arithmetic."""
    return np.vectorize(lambda value, goal: float(abs(Fraction(value) - goal)))(outputs, exact(program, x))
