"""Dictionaries: right on every token at any length, values of noise, and prompts that are refused."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox.prompts.recurrent import Network, validate
from spherapprox.prompts.recurrent.programs import Dictionary


def entries(n, length, vocabulary, rng):
    keys = np.unique(rng.integers(1, vocabulary + 1, (2 * n, length)), axis=0)
    keys = rng.permutation(keys)[:n]
    return keys, rng.integers(1, vocabulary + 1, keys.shape)


def noisy(network, sigma, rng, recurrent=True):
    """The network with Gaussian noise on all weights that are not 0, but for those of states if wanted."""

    def moved(array):
        return np.where(array != 0.0, array + sigma * rng.standard_normal(array.shape), 0.0)

    names = ("weight", "bias", "other", "other_bias") + (("recurrent",) if recurrent else ())
    layers = [dataclasses.replace(layer, **{k: moved(getattr(layer, k)) for k in names}) for layer in network.layers]
    return Network(tuple(layers), moved(network.readout), moved(network.readout_bias))


def share_wrong(robust, sigma, *, recurrent=True, seeds=4):
    """Tokens of length 10, 20 pairs and 4 queries that noise makes wrong."""
    model, wrong = Dictionary(10, 20, robust), []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        keys, values = entries(20, 10, 20, rng)
        x = model.sequences(keys[:4], model.prompt(keys, values))
        outputs = model.answers(noisy(model.network, sigma, rng, recurrent)(x))
        wrong.append(np.mean(np.rint(outputs) != values[:4]))
    return np.mean(wrong)


@settings(max_examples=15)
@given(st.integers(1, 6), st.integers(2, 300), st.booleans(), st.integers(0, 2**32 - 1))
def test_every_key_finds_its_value_and_no_other_key_does(length, vocabulary, robust, seed):
    keys, values = entries(12, length, vocabulary, np.random.default_rng(seed))
    model = Dictionary(length, vocabulary, robust)
    known, told = keys[1:], values[1:]
    queries = np.vstack([known[::-1], keys[:1]]) if len(known) else keys
    if len(known):
        expected = np.vstack([told[::-1], np.zeros((1, length))])
        assert np.array_equal(model.run(queries, model.prompt(known, told)), expected)
        x = model.sequences(queries, model.prompt(known, told))
        assert np.array_equal(model.answers(model.program(x)), expected)


@pytest.mark.parametrize(("length", "robust", "tokens"), [(3, True, 100_000), (10, False, 20_000), (20, True, 20_000)])
def test_long_prompts(length, robust, tokens):
    keys, values = entries(tokens // (2 * length), length, 64, np.random.default_rng(0))
    model, chosen = Dictionary(length, 64, robust), [0, 7, len(keys) - 1]
    absent = keys[:1] % 64 + 1
    assert not (keys == absent).all(axis=1).any()
    answers = model.run(np.vstack([keys[chosen], absent]), model.prompt(keys, values))
    assert np.array_equal(answers, np.vstack([values[chosen], np.zeros((1, length))]))


@pytest.mark.parametrize("length", range(3, 21))
def test_sizes(length):
    plain, robust = (Dictionary(length, 20, each).network for each in (False, True))
    assert (len(plain.layers), plain.width) == (14, 5 * length + 3)
    assert (len(robust.layers), robust.width) == (21, 6 * length + 3)
    if length in (3, 10):
        assert (plain.nonzeros, robust.nonzeros) == {3: (283, 472), 10: (913, 1445)}[length]


def test_bounds_are_declared_for_every_kind_of_module():
    for kind in ("rnn", "lstm", "gru"):
        assert validate(Dictionary(5, 30).program, kind) == ()


def test_noise_of_weights():
    """The thesis's Fig. 5.4: truth values that are rounded stand 100 times the noise."""
    assert share_wrong(False, 1e-7) == share_wrong(True, 1e-5) == 0.0
    assert min(share_wrong(False, 1e-5), share_wrong(True, 1e-3)) > 0.7


def test_noise_enters_robust_dictionaries_by_their_registers():
    assert share_wrong(True, 1e-3, recurrent=False) == 0.0
    assert share_wrong(False, 1e-3, recurrent=False) > 0.9


@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru", "hawk"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_torch_modules_get_every_token_right(kind, dtype):
    torch = pytest.importorskip("torch")
    for length, robust in ((3, True), (4, False)):
        keys, values = entries(6, length, 20, np.random.default_rng(length))
        model = Dictionary(length, 20, robust)
        x = model.sequences(np.vstack([keys[:3], keys[:1] % 20 + 1]), model.prompt(keys, values))
        module = model.network.to_torch(kind, dtype=getattr(torch, dtype))
        outputs = model.answers(module(torch.tensor(x, dtype=getattr(torch, dtype))).numpy())
        assert np.array_equal(np.rint(outputs), np.vstack([values[:3], np.zeros((1, length))]))


@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru", "hawk"])
def test_the_largest_tokens_in_float32(kind):
    torch = pytest.importorskip("torch")
    largest, rng = 2**20, np.random.default_rng(0)
    keys = largest - np.arange(20).reshape(10, 2)
    model, values = Dictionary(2, largest), largest - rng.integers(0, 100, keys.shape)
    x = model.sequences(np.vstack([keys, keys[:, ::-1]]), model.prompt(keys, values))
    module = model.network.to_torch(kind, dtype=torch.float32)
    outputs = model.answers(module(torch.tensor(x, dtype=torch.float32)).numpy())
    assert np.array_equal(np.rint(outputs), np.vstack([values, np.zeros_like(values)]))
