"""Networks: runs in parts, batches, threads and memory; listings; files; what constructors refuse."""

import importlib
import threading
import time
import tracemalloc

import numpy as np
import pytest

from spherapprox import load
from spherapprox.prompts.recurrent import (
    Concat,
    Input,
    LinState,
    Multiplicative,
    Program,
    ReLU,
    RunningMax,
)


def everything():
    """Return the network of a program with all kinds of layers."""
    x = Input(3, name="x")
    total = LinState(x, np.tril(np.full((3, 3), 0.3)), init_state=[1.0, -1.0, 0.5], name="total")
    product = Multiplicative(ReLU(total, name="positive"), x - 0.25, name="product")
    return Program(Concat([RunningMax(product, 64.0), product[:1], x]), "everything").compile()


X = np.random.default_rng(0).normal(size=(19, 50, 3))


@pytest.mark.parametrize("batch", [1, 2, 7, 8, 9, 16, 17, 19])
@pytest.mark.parametrize("workers", [None, 1, 2])
def test_batches_and_threads_change_no_bit(batch, workers):
    network = everything()
    alone = np.stack([network(x) for x in X[:batch]])
    np.testing.assert_array_equal(network(X[:batch], workers=workers), alone)
    np.testing.assert_array_equal(network(X[:batch], last=True, workers=workers), alone[:, -1])


@pytest.mark.parametrize("cut", [1, 13, 49])
def test_a_run_goes_on_from_its_state(cut):
    network = everything()
    begun, state = network.run(X[:, :cut])
    rest, end = network.run(X[:, cut:], state)
    np.testing.assert_array_equal(np.concatenate([begun, rest], axis=1), network(X))
    np.testing.assert_array_equal(end, network.run(X)[1])
    _, state = network.run(X[0, :cut])
    assert state.shape == end[0].shape
    np.testing.assert_array_equal(network.run(X[0, cut:], state)[0], rest[0])


def test_long_sequences_take_no_memory(monkeypatch):
    network = everything()
    network(X[:1, :3], last=True)
    x = np.broadcast_to(np.array([0.1, -0.2, 0.3]), (64, 1_000_000, 3))
    tracemalloc.start()
    try:
        network(x[:1], last=True)
        network(x[:, :20_000], last=True, workers=1)
        with pytest.raises(ValueError, match="'state' must have shape"):
            network.run(x, 0.0)  # after x was looked at
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.5e7  # one of these sequences has 2.4e7 bytes


def test_an_interruption_ends_all_threads(monkeypatch):
    network, calls = everything(), []
    module = importlib.import_module("spherapprox.prompts._kernels.recurrent.recurrence")

    def advance(*arguments):
        calls.append(threading.get_ident())
        time.sleep(1e-3)
        if threading.current_thread() is threading.main_thread() and len(set(calls)) > 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(module, "_advance", advance)
    monkeypatch.setattr(module, "_STEPS", 1)  # a step at a time
    with pytest.raises(KeyboardInterrupt):
        network(np.zeros((16, 3000, 3)), workers=2)
    assert len(calls) < 1000  # 3000 if the other thread goes on to the end


def test_long_and_short_runs_are_the_same_computation():
    network = everything()
    x = np.random.default_rng(1).normal(size=(9, 60_000, 3))  # more than one chunk of the kernel
    whole = network(x)
    np.testing.assert_array_equal(whole[4], network(x[4]))
    assert np.array_equal(network(x[:, :777]), whole[:, :777])


def test_activations_are_the_values_of_layers():
    network = everything()
    values = network.activations(X)
    assert [v.shape for v in values] == [(*X.shape[:2], len(layer)) for layer in network.layers]
    z = X
    for layer, value in zip(network.layers, values, strict=True):
        before = np.concatenate([np.broadcast_to(layer.start, (len(X), 1, len(layer))), value[:, :-1]], axis=1)
        total = z @ layer.weight.T + before @ layer.recurrent.T + layer.bias
        if layer.op == "relu":
            total = np.maximum(total, 0.0)
        if layer.op == "product":
            total = total * (z @ layer.other.T + layer.other_bias)
        np.testing.assert_allclose(value, total, rtol=0.0, atol=1e-12)
        z = value
    np.testing.assert_allclose(network(X), z @ network.readout.T + network.readout_bias, rtol=0.0, atol=1e-12)


def test_float32_and_lists_are_taken():
    network = everything()
    single = X[0].astype(np.float32)
    np.testing.assert_array_equal(network(single), network(single.astype(np.float64)))
    np.testing.assert_array_equal(network(X[0].tolist()), network(X[0]))
    np.testing.assert_array_equal(network(X[::2, ::-1]), network(X[::2, ::-1].copy()))


def test_files_bring_back_every_bit(tmp_path):
    network = everything()
    network.save(tmp_path / "network.npz")
    again = load(tmp_path / "network.npz")
    np.testing.assert_array_equal(again(X), network(X))
    assert (again.name, again.value_bound, again.listing()) == (network.name, network.value_bound, network.listing())
    bounded = Program(ReLU(Input(1, bound=3.0))).compile()
    bounded.save(tmp_path / "network.npz")
    assert load(tmp_path / "network.npz").value_bound == 3.0
    linear = Program(2.0 * Input(1)).compile()
    linear.save(tmp_path / "network.npz")
    assert load(tmp_path / "network.npz")([[2.0]])[0, 0] == 4.0


def test_listings_can_be_read():
    text = everything().listing()
    assert text.splitlines()[:3] == [
        "everything: x[0:3] -> y[0:7]",
        "layer 1, state, starts at [0] = 1, [1] = -1, [2] = 0.5",
        "  h1[0] = 0.3 h1[0]' + x[0]  # total[0]",
    ]
    assert "  h1[1] = 0.3 h1[0]' + 0.3 h1[1]' + x[1]  # total[1]" in text
    assert "# product[2]" in text
