"""Budgets of executors: numbers of the page, errors below bounds below eps, roundings."""

import functools
import itertools

import mpmath as mp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bounds import prompts
from bounds.prompts.budgets import _bound_passage, _bound_roundings, _Task
from spherapprox import points
from spherapprox.prompts.executor import ReluNetwork, key_margin
from spherapprox.prompts.executor.layout import gate_above

PAGE = [
    # sizes, row bound, eps; tokens, columns, segments, most hidden units, bound, worst error
    ((1, 8, 1), None, 1e-1, 9, (18, 26), 452, 0.09843350500401782, 1.05e-2),
    ((2, 16, 1), 2.0, 1e-2, 17, (40, 140), 4548, 0.009951020408163265, 9.5e-4),
    ((2, 16, 16, 1), 2.0, 1e-2, 33, (70, 242, 260), 8388, 0.009929922519803713, 1e-3),
]
DIMS = {(1, 8, 1): 52, (2, 16, 1): 100, (2, 16, 16, 1): 116}
TRAINED = {"weight_bound": 1.085, "row_bound": 8.36}


def random_network(budget, rng, extreme=False):
    """Return a network within the bounds of a budget, or at them."""
    weights, biases = [], []
    for k, n, largest in zip(budget.sizes, budget.sizes[1:], budget.row_bound, strict=False):
        rows = rng.uniform(-1.0, 1.0, (n, k)) * budget.weight_bound
        if extreme:
            rows = rng.choice([-1.0, 1.0]) * np.full((n, k), min(budget.weight_bound, largest / k))
        weights.append(rows * np.minimum(1.0, largest / np.abs(rows).sum(axis=1, keepdims=True)))
        biases.append((np.sign if extreme else np.asarray)(rng.uniform(-1.0, 1.0, n)) * budget.weight_bound)
    return ReluNetwork(weights, biases)


def inputs(budget, rng, n=20):
    x = rng.uniform(-1.0, 1.0, (n, budget.sizes[0])) * budget.radius
    x[: n // 4] = np.sign(x[: n // 4]) * budget.radius
    return x


@pytest.mark.parametrize(("sizes", "rows", "eps", "tokens", "segments", "hidden", "bound", "worst"), PAGE)
def test_numbers_of_the_page(sizes, rows, eps, tokens, segments, hidden, bound, worst):
    exact = prompts.executor_budget(sizes, eps, row_bound=rows, dtype=None)
    assert exact.segments == segments
    assert exact.bound.value == pytest.approx(bound, rel=1e-13)
    budget = prompts.executor_budget(sizes, eps, row_bound=rows)
    parts = dict(budget.bound.constants)
    assert budget.segments == segments
    assert parts["truncation"] == pytest.approx(bound, rel=1e-9)
    assert 0.0 < parts["roundings"] < 1e-10
    executor = budget.executor()
    assert (executor.prompt_length, executor.token_dim, max(executor.hidden)) == (tokens, DIMS[sizes], hidden)
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(6):
        network, x = random_network(budget, rng), inputs(budget, rng, 64)
        errors.append(np.abs(executor.run(executor.encode(network), x) - network(x)).max())
    assert 1e-4 < max(errors) <= worst


def test_temperatures_and_weights_of_the_page():
    budget = prompts.executor_budget((1, 8, 1), 0.1, dtype=None)
    assert [1.0 / c for c in budget.concentrations] == pytest.approx([0.087481, 0.1001], rel=1e-5)
    trained = prompts.executor_budget((2, 16, 16, 1), 0.1, **TRAINED)
    assert trained.segments == (96, 170, 172)
    assert trained.executor().n_weights == pytest.approx(3.0e6, rel=0.03)
    apart = prompts.executor_budget((2, 16, 16, 1), 0.1, weight_bound=1.085, row_bound=(1.45, 3.82, 8.36))
    assert max(apart.segments) < 172


@settings(max_examples=60)
@given(
    st.lists(st.integers(1, 7), min_size=2, max_size=5), st.sampled_from([2.0, 0.3, 1e-2, 1e-3]),
    st.sampled_from([0.3, 1.0, 2.5]), st.sampled_from([None, 0.5, 2.0]), st.sampled_from([0.2, 1.0, 3.0]),
    st.integers(0, 99),
)  # fmt: skip
def test_errors_are_below_the_bound_below_eps(sizes, eps, largest, rows, radius, seed):
    budget = prompts.executor_budget(sizes, eps, weight_bound=largest, row_bound=rows, radius=radius)
    assume(max(budget.segments) < 10**5)
    assert budget.bound.value <= eps
    executor = budget.executor()
    rng = np.random.default_rng(seed)
    for extreme in (False, True):
        network, x = random_network(budget, rng, extreme), inputs(budget, rng)
        result = executor.run(executor.encode(network), x)
        assert np.abs(result - network(x)).max() <= budget.bound.value
        assert np.abs(result).max() <= budget.row_bound[-1] * budget.activation_bounds[-1] + largest + eps
    zero = ReluNetwork([np.zeros((n, k)) for k, n in itertools.pairwise(sizes)], [np.zeros(n) for n in sizes[1:]])
    assert np.abs(executor.run(executor.encode(zero), inputs(budget, rng))).max() <= budget.bound.value


def test_activation_bounds_hold():
    budget = prompts.executor_budget((2, 5, 5, 1), 0.05, weight_bound=1.5, row_bound=2.0)
    rng = np.random.default_rng(0)
    for _ in range(20):
        network, x = random_network(budget, rng, extreme=True), inputs(budget, rng)
        part = ReluNetwork(network.weights[:-1], network.biases[:-1])
        assert np.maximum(part(x), 0.0).max() <= budget.activation_bounds[2]
    assert budget.activation_bounds[0] == 1.0


def exact_outputs(executor, network, x):
    """Return the outputs of the transformer in exact arithmetic, by the formulas of the page."""
    records = executor.encode(network)[:, executor.layout.columns("record")]
    held, start = [mp.mpf(float(v)) for v in x], 0
    for layer, (k, n) in enumerate(itertools.pairwise(executor.sizes)):
        count, bound = executor.segments[layer], mp.mpf(executor.activation_bounds[layer])
        weight, outputs = mp.mpf(executor.weight_bound), []
        for i in range(n):
            logits = [executor.concentrations[layer] * float(j == start + i) for j in range(len(records))]
            masses = [mp.exp(logit) for logit in logits]
            total = sum(masses) + executor.layout.workers
            read = [sum(m * float(r) for m, r in zip(masses, column, strict=True)) / total for column in records.T]
            result = read[-1]
            for a, y in zip(read[:k], held, strict=False):
                result += weight * bound * (square((a / weight + y / bound) / 2, count)
                                           - square((a / weight - y / bound) / 2, count))  # fmt: skip
            outputs.append(result)
        start += n
        held = [max(v, mp.mpf(0)) for v in outputs] if layer < len(executor.segments) - 1 else outputs
    return held


def square(t, count):
    node = min(int(abs(t) * count / 2), count // 2 - 1)
    low, high = mp.mpf(2 * node) / count, mp.mpf(2 * node + 2) / count
    return low**2 + (abs(t) - low) * (low + high)


@pytest.mark.parametrize("sizes", [(1, 3, 1), (3, 2, 4, 2)])
def test_roundings_are_below_their_bound(sizes):
    budget = prompts.executor_budget(sizes, 1e-3, weight_bound=1.25, row_bound=2.0)
    executor, rng = budget.executor(), np.random.default_rng(0)
    largest = dict(budget.bound.constants)["roundings"]
    assert largest < 1e-10
    with mp.workdps(30):
        for _ in range(3):
            network, x = random_network(budget, rng), inputs(budget, rng, 4)
            result = executor.run(executor.encode(network), x)
            for row, outputs in zip(x, result, strict=True):
                exact = exact_outputs(executor, network, row)
                assert max(abs(float(a - mp.mpf(float(b)))) for a, b in zip(exact, outputs, strict=True)) <= largest


def test_roundings_of_single_precision_take_a_larger_eps():
    double, single = (
        prompts.executor_budget((2, 16, 16, 1), 0.1, row_bound=2.0, dtype=d) for d in ("float64", "float32")
    )
    assert double.bound.value <= 0.1
    assert single.bound.value <= 0.1
    assert dict(single.bound.constants)["roundings"] > 1e6 * dict(double.bound.constants)["roundings"]


@pytest.mark.parametrize("size", [1, 3, 12, 20])
@pytest.mark.parametrize("gate", [0.0, 1.0000001, 40.0, 3000.0])
def test_what_passes_a_gate_and_a_mean_is_off_by_no_more_than_is_stated(gate, size):
    task = _Task((1, size, 1), 1.0, (1.0, 0.75), 1.0, 1.0)
    s, high, tokens = np.random.default_rng(0).random(4000).astype(np.float32), np.float32(gate), task.tokens
    passed = np.maximum((s + high) - high, np.float32(0.0))  # a gate that is open
    mean = np.float32(1.0) / np.float32(tokens) * (passed * np.float32(tokens))
    gated, averaged = (np.abs(outputs.astype(float) - s).max() for outputs in (passed, mean))
    assert gated <= _bound_passage(2.0**-24, 0, 0.0, gate)
    assert 0.0 < averaged <= _bound_passage(2.0**-24, tokens, 1.0, gate)
    # a row of weights, whose absolute sum is 0.75, adds them up
    roundings = functools.partial(_bound_roundings, task, 2.0**-24, 1, segments=2, sharp=1.0, eta=1e-9)
    assert roundings(size=1.0, gate=gate) - roundings(size=1.0, gate=0.0) >= 0.75 * (gated if gate else 0.0)
    assert roundings(size=1.0, gate=gate) >= 0.75 * averaged + roundings(size=1e-100, gate=0.0)


def test_gates_of_a_budget_are_those_of_its_executor_and_cover_roundings(monkeypatch):
    counted = []  # the gates whose roundings count in each layer
    monkeypatch.setattr("bounds.prompts.budgets._bound_roundings", lambda *_, gate, **__: counted.append(gate) or 1e-12)
    budget = prompts.executor_budget((2, 3, 1), 1e-2, weight_bound=2.0, row_bound=(3.0, 5.0))
    gates = budget.executor()._gates()
    assert counted[-2:] == [0.0, gates[0]]
    rows = list(zip(budget.sizes, budget.segments, budget.activation_bounds, strict=False))
    assert gates == [gate_above(5.0, 2.0, *row) for row in rows]
    for gate, (n, count, held) in zip(gates, rows, strict=True):  # what sums are at most, and a tenth for roundings
        assert gate >= 5.0 * held + 2.0 + n * 2.0 * held / count**2 + 0.1 * (5.0 * held + 2.0)


def test_rows_that_are_nearly_zero():
    # later layers forget what the first ones err
    budget = prompts.executor_budget([2] * 9, 0.1, row_bound=[1e-55] * 8)
    assert budget.segments == (2,) * 7 + (32,)
    network, x = random_network(budget, np.random.default_rng(0)), np.ones((1, 2))
    executor = budget.executor()
    assert np.abs(executor.run(executor.encode(network), x) - network(x)).max() <= budget.bound.value <= 0.1


def test_no_slack_is_left_to_chance():
    # segments that divide without remainder: the truncation alone is eps, and roundings need room
    exact = prompts.executor_budget((2, 1), 0.25, row_bound=1.0, dtype=None)
    assert exact.segments == (4,)
    assert exact.bound.value == 0.25
    budget = prompts.executor_budget((2, 1), 0.25, row_bound=1.0)
    assert budget.segments == (6,)
    assert budget.bound.value <= 0.25


@pytest.mark.parametrize(("dim", "columns"), [(3, 87), (7, 91), (11, 95)])
def test_keys_on_a_sphere(dim, columns):
    keys = points.relax(points.uniform(dim, 33, rng=0), exponent=60.0)
    budget = prompts.executor_budget((2, 16, 16, 1), 1e-2, row_bound=2.0, margin=key_margin(keys))
    executor = budget.executor(keys)
    assert executor.token_dim == columns
    rng = np.random.default_rng(0)
    network, x = random_network(budget, rng), inputs(budget, rng, 64)
    error = np.abs(executor.run(executor.encode(network), x) - network(x)).max()
    assert error <= budget.bound.value
    assert error < 1e-3


def test_a_budget_prints_as_a_table():
    budget = prompts.executor_budget((1, 4, 1), 1e-2, row_bound=2.0)
    lines = repr(budget).splitlines()
    assert lines[0] == "ExecutorBudget: 1 inputs to 1, weights to 1, margin 1, eps 0.01"
    assert [line.split()[:2] for line in lines[3:5]] == [["1", "4"], ["2", "1"]]
    assert [int(line.split()[3]) for line in lines[3:5]] == list(budget.segments)
    assert lines[-1] == str(budget.bound)
    assert max(map(len, lines)) < 100
