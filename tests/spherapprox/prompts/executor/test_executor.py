"""`Executor`: what it computes against the whole transformer, step by step, and what it refuses."""

import time

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox import points
from spherapprox.prompts.executor import Executor, ReluNetwork

SIZES = st.lists(st.integers(1, 4), min_size=2, max_size=4)


def executor_of(sizes, seed=0, keys=None):
    """Return an executor whose numbers are of no budget: the outputs are far from the network's."""
    rng = np.random.default_rng(seed)
    depth = len(sizes) - 1
    bounds = [0.7]
    for n in sizes[:-1]:
        bounds.append((2.0 + 0.5 * n) * bounds[-1] + 1.3)
    segments, sharp = 2 * rng.integers(1, 6, depth), rng.uniform(1.0, 4.0, depth)
    options = {"weight_bound": 1.3, "row_bound": 2.0, "radius": 0.7, "keys": keys}
    return Executor(sizes, segments.tolist(), sharp.tolist(), bounds[:-1], **options)


def network_for(executor, seed=0):
    rng = np.random.default_rng(seed)
    weights, biases = [], []
    for k, n, most in zip(executor.sizes, executor.sizes[1:], executor.row_bounds, strict=False):
        rows = rng.uniform(-1.0, 1.0, (n, k)) * executor.weight_bound
        weights.append(rows * np.minimum(1.0, most / np.abs(rows).sum(axis=1, keepdims=True)) * (1.0 - 1e-15))
        biases.append(rng.uniform(-1.0, 1.0, n) * executor.weight_bound)
    return ReluNetwork(weights, biases)


def transformed(executor, prompt, x, dtype=np.float64, steps=1):
    """Return the outputs of the whole transformer, run so many times: all tokens, all hidden units."""
    layout = executor.layout
    work = np.zeros((layout.workers, layout.width))
    work[:, layout.columns("name")] = np.eye(layout.workers)
    result = []
    for row in x:
        work[0, layout.columns("output")[: len(row)]] = row
        state = np.concatenate([prompt, work]).astype(dtype)
        for block in [*executor.blocks()] * steps:
            query, key, value, up, bias, down = (
                getattr(block, name).astype(dtype) for name in ("query", "key", "value", "up", "bias", "down")
            )
            logits = (state @ query.T) @ (state @ key.T).T / np.sqrt(dtype(layout.width))
            weights = np.exp(logits - logits.max(axis=1, keepdims=True))
            state = state + (weights / weights.sum(axis=1, keepdims=True)) @ (state @ value.T)
            state = state + np.maximum(state @ up.T + bias, dtype(0.0)) @ down.T
        result.append(state[layout.records :, layout.columns("sum")[0]][: executor.sizes[-1]])
    return np.array(result)


@settings(max_examples=40)
@given(SIZES, st.integers(0, 99))
def test_it_computes_what_the_whole_transformer_does(sizes, seed):
    executor = executor_of(sizes, seed)
    prompt = executor.encode(network_for(executor, seed))
    x = np.random.default_rng(seed).uniform(-0.7, 0.7, (3, sizes[0]))
    assert np.abs(executor.run(prompt, x) - transformed(executor, prompt, x)).max() <= 1e-12


def test_extreme_records_pass_nothing_on():
    # all weights, biases and inputs at their bounds, of one sign: sums of prompt tokens come nearest to the gates
    for sizes in ((1, 3, 1), (2, 2, 3, 2), (4, 1, 4, 1)):
        executor = executor_of(sizes)
        for signs in (1.0, -1.0):
            weights = [
                signs * np.full((n, k), min(1.3, most / k))
                for k, n, most in zip(sizes, sizes[1:], executor.row_bounds, strict=False)
            ]
            prompt = executor.encode(ReluNetwork(weights, [np.full(n, 1.3 * signs) for n in sizes[1:]]))
            x = np.full((1, sizes[0]), 0.7 * signs)
            assert np.abs(executor.run(prompt, x) - transformed(executor, prompt, x)).max() <= 1e-12


def test_what_is_written_back_passes_no_other_gate():
    # sums of prompt tokens behind the last layer are larger than those behind the first can be
    executor = Executor((1, 4, 4, 1), (40, 40, 40), (40.0, 40.0, 40.0), (1.0, 3.0, 8.0), row_bound=2.0)
    weights = [np.ones((4, 1)), np.full((4, 4), 0.5), np.full((1, 4), 0.05)]
    prompt = executor.encode(ReluNetwork(weights, [np.ones(4), np.ones(4), [-0.5]]))
    x = np.array([[0.9], [-0.3]])
    for steps in (2, 3):
        assert (
            np.abs(executor.run(prompt, x, steps=steps) - transformed(executor, prompt, x, steps=steps)).max() <= 1e-12
        )


def test_keys_on_a_sphere_and_single_precision():
    keys = points.relax(points.uniform(2, 8, rng=0), exponent=20.0)
    executor = executor_of((2, 4, 3, 1), keys=keys)
    prompt = executor.encode(network_for(executor))
    assert prompt.shape == (8, executor.token_dim) == (8, 3 + 2 * 5 + 2 * 4 + 1 + 4)
    x = np.random.default_rng(0).uniform(-0.7, 0.7, (4, 2))
    result = executor.run(prompt, x)
    assert np.abs(result - transformed(executor, prompt, x)).max() <= 1e-12
    assert np.abs(result - transformed(executor, prompt, x, np.float32)).max() <= 1e-5
    assert np.abs(result - executor.run(prompt.astype(np.float32), x.astype(np.float32))).max() <= 1e-5


def test_weights_do_not_depend_on_the_network():
    executor = executor_of((2, 3, 1))
    before = [block.up.copy() for block in executor.blocks()]
    prompts = [executor.encode(network_for(executor, seed)) for seed in range(2)]
    assert not np.array_equal(*prompts)
    record = executor.layout.columns("record")
    assert np.array_equal(*(np.delete(prompt, record, axis=1) for prompt in prompts))
    assert all(np.array_equal(up, block.up) for up, block in zip(before, executor.blocks(), strict=True))
    sizes = [(4 * b.query.size + b.up.size + b.bias.size + b.down.size) for b in executor.blocks()]
    assert sum(sizes) == executor.n_weights
    assert executor.hidden == tuple(len(block.bias) for block in executor.blocks())
    assert executor.depth == len(sizes) == 4


def test_smaller_and_less_deep_networks_run_as_they_are():
    executor = Executor((2, 4, 4, 2), (600, 900, 900), (30.0, 30.0, 30.0), (1.0, 4.0, 13.0), row_bound=3.0)
    small = ReluNetwork([[[0.5, -1.0]], [[1.0]]], [[0.25], [-0.5]])
    linear = ReluNetwork([[[0.75, -0.5], [0.25, 0.5]]], [[0.1, 0.2]])
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (50, 2))
    result = executor.run(executor.encode(small), x)
    assert np.abs(result[:, :1] - small(x)).max() <= 1e-3
    assert np.abs(result[:, 1]).max() <= 1e-3
    assert np.abs(executor.run(executor.encode(linear), x) - linear(x)).max() <= 1e-3


def test_steps_feed_outputs_back():
    executor = executor_of((2, 3, 2))
    network = network_for(executor)
    halved = ReluNetwork(network.weights, [0.1 * bias for bias in network.biases])
    quarter = ReluNetwork([halved.weights[0], 0.1 * halved.weights[1]], halved.biases)
    prompt, x = executor.encode(quarter), np.random.default_rng(0).uniform(-0.3, 0.3, (5, 2))
    once = executor.run(prompt, x)
    assert np.array_equal(executor.run(prompt, x, steps=3), executor.run(prompt, executor.run(prompt, once)))
    seen = []

    def back(outputs, step):
        seen.append(step)
        return np.clip(outputs, -0.1, 0.1)

    result = executor.run(prompt, x, steps=3, feedback=back)
    assert seen == [1, 2]
    assert np.array_equal(result, executor.run(prompt, back(executor.run(prompt, back(once, 1)), 2)))


def test_many_points_take_parts_of_memory():
    executor = Executor((3, 60, 60, 1), (4, 4, 4), (9.0, 9.0, 9.0), (1.0, 3.0, 7.0), row_bound=2.0)
    prompt = executor.encode(network_for(executor))
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (3000, 3))  # 10^7 products in a layer
    start = time.process_time()
    result = executor.run(prompt, x)
    assert time.process_time() - start < 5.0
    assert np.abs(result[-3:] - executor.run(prompt, x[-3:])).max() <= 1e-14


def test_bounds_that_are_met_exactly():
    executor = Executor((1, 1, 1), (2, 2), (800.0, 800.0), (1.0, 0.5))
    executor.run(executor.encode(ReluNetwork([[[0.0]], [[0.0]]], [[0.5], [0.0]])), [[0.0]])
    rows = Executor((2, 3, 1), (4, 4), (9.0, 9.0), (1.0, 3.0), row_bound=[1.0, 9.0]).row_bounds
    assert rows == (1.0, 3.0)
