"""Virtual tokens: everything is generated, here and by torch's own attention; what a smaller gap loses."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox.prompts.prefix import VirtualToken
from spherapprox.prompts.prefix.programs.virtual import least_gap

CASES = ((2, 4, 2.75, math.log(48)), (3, 3, 3.25, math.log(54)), (10, 5, 5.5, math.log(300)))


def embedded():
    """Yield the cases of the page: vocabulary, length, gaps, embedding and targets."""
    rng = np.random.default_rng(0)
    for v, n, least, enough in CASES:
        embedding = rng.uniform(-1.0, 1.0, (n, v))
        every = list(itertools.product(range(v), repeat=n))
        yield v, n, least, enough, embedding, every if v**n <= 100 else rng.integers(0, v, (200, n)).tolist()


def generates(model, targets):
    return all(np.array_equal(model.generate(model.encode(target)), target) for target in targets)


@pytest.mark.parametrize("case", [*embedded()], ids=lambda case: f"{case[0]}-{case[1]}")
def test_every_sequence_is_generated(case):
    v, n, least, enough, embedding, targets = case
    assert least_gap(v, n) == pytest.approx(enough, rel=1e-14)
    assert VirtualToken(v, n).gap == least_gap(v, n)
    model = VirtualToken(v, n, embedding=embedding)
    assert model.gap == pytest.approx(math.log(2 * v * n * (2 + np.abs(embedding).max())), rel=1e-14)
    assert generates(model, targets)
    # in steps of a quarter, from 0.5 on, the least gap with which all are
    result = next(
        g for g in np.arange(0.5, 8.0, 0.25) if generates(VirtualToken(v, n, gap=g, embedding=embedding), targets)
    )
    assert result == least


def test_gaps_of_huge_numbers_are_finite():
    assert least_gap(4, 2, largest=1e308) == pytest.approx(math.log(16.0) + 308.0 * math.log(10.0), rel=1e-15)
    assert least_gap(4, 2**53) == pytest.approx(math.log(24.0) + 53.0 * math.log(2.0), rel=1e-15)


def test_every_map_is_done_whatever_the_gap():
    for v, gap in itertools.product((2, 3, 4), (None, 0.01)):
        model = VirtualToken(v, kind="map", gap=gap)
        for target in itertools.product(range(v), repeat=v):
            token = model.encode(target)
            assert all(model.generate(token, x) == target[x] for x in range(v))


def test_every_map_of_pairs_of_two_symbols_and_to_thirteen():
    rng = np.random.default_rng(0)
    for v in (2, 3, 7, 13):
        model = VirtualToken(v, kind="pair")
        assert model.gap == pytest.approx(math.log(96) + v * math.log(v))
        every = itertools.product(range(2), repeat=4) if v == 2 else (rng.integers(0, v, v * v) for _ in range(3))
        for flat in [*every, np.full(v * v, v - 1), np.eye(v, dtype=int).ravel()]:
            target = np.reshape(flat, (v, v))
            token = model.encode(target)
            assert token.min() >= 0.0
            assert token.max() < 1.0
            pairs = itertools.product(range(v), repeat=2) if v < 13 else rng.integers(0, v, (20, 2)).tolist()
            assert all(model.generate(token, [a, b]) == target[a, b] for a, b in pairs)


@settings(max_examples=30)
@given(st.integers(0, 2**31), st.integers(2, 12), st.integers(1, 6), st.sampled_from([0.0, 1.0, 30.0]))
def test_responses_and_sequences_of_any_size(seed, v, n, largest):
    rng = np.random.default_rng(seed)
    target = rng.integers(0, v, (v, n))
    model = VirtualToken(v, n, kind="response")
    token = model.encode(target)
    assert token.shape == (n, v)
    x = int(rng.integers(v))
    assert np.array_equal(model.generate(token, x), target[x])
    model = VirtualToken(v, n, embedding=rng.uniform(-largest, largest, (n, v)))
    assert np.array_equal(model.generate(model.encode(target[0])), target[0])


def test_rows_beside_a_too_small_gap_are_wrong():
    # the worst case of the proof: all but one head of the attention's weight lies elsewhere
    model = VirtualToken(6, 4, kind="response", gap=1.0)
    target = np.random.default_rng(0).integers(0, 6, (6, 4))
    assert not all(np.array_equal(model.generate(model.encode(target), x), target[x]) for x in range(6))


def torch_layer(torch, layer, rows, **options):
    """Return the sum of a layer's heads by torch's scaled dot products."""
    query, key, value = (torch.tensor(part)[None] for part in layer.head_inputs(rows))
    result = torch.nn.functional.scaled_dot_product_attention(query, key, value, scale=layer.scale, **options)
    return result[0].sum(0).numpy()


def decoded(row, v):
    z, i = np.maximum(row - 1.0, 0.0).sum(), np.arange(v)
    return int(np.argmax((2 * i / v - 1) * z + 0.25 - i**2 / v**2))


def test_torch_generates_the_same():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(1)
    v, n = 5, 3
    model = VirtualToken(v, n, kind="response")
    target = rng.integers(0, v, (v, n))
    rows = np.vstack([model.encode(target), np.eye(v)[2]])
    for i in range(n):
        held = np.hstack([rows, np.eye(2 * n)[: len(rows)]])
        symbol = decoded(torch_layer(torch, model.layers[0], held)[-1], v)
        assert symbol == target[2, i]
        rows = np.vstack([rows, np.eye(v)[symbol]])
    model = VirtualToken(v, kind="pair")
    target = rng.integers(0, v, (v, v))
    rows = np.vstack([np.zeros(v), model.encode(target), np.eye(v)[3], np.eye(v)[1]])
    inner = np.maximum(torch_layer(torch, model.layers[0], np.hstack([rows, np.eye(4)]), is_causal=True) - 1.0, 0.0)
    code = round(float(inner[2, :v].sum()) * v**v)  # what the ReLUs unpack
    digits = [code // v**i % v / v for i in range(v)]
    inner[2, :v] = digits
    assert decoded(torch_layer(torch, model.layers[1], inner)[-1], v) == target[3, 1] == round(digits[1] * v)


def test_the_layer_of_sequences_is_a_module_of_torch():
    torch = pytest.importorskip("torch")
    v, n = 4, 3
    model = VirtualToken(v, n)
    layer = model.layers[0]
    mha = torch.nn.MultiheadAttention(2 * n, 2, bias=False, batch_first=True, dtype=torch.float64).requires_grad_(False)
    query = layer.query * layer.scale * math.sqrt(n)  # the module's own scale is 1 / sqrt(n)
    mha.in_proj_weight.copy_(torch.tensor(np.vstack([query, layer.key, layer.value])))
    mha.out_proj.weight.copy_(torch.tensor(np.vstack([layer.out, np.zeros((n, 2 * n))])))
    for target in itertools.product(range(v), repeat=n):
        rows = model.encode(target)[None]
        for symbol in target:
            held = torch.tensor(np.hstack([rows, np.eye(n)[: len(rows)]]))
            assert decoded(mha(held[-1:], held, held)[0][0, :n].numpy(), v) == symbol
            rows = np.vstack([rows, model.embedding[:, symbol]])
