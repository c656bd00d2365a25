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
        model = VirtualToken(v, inputs=1, gap=gap)
        for target in itertools.product(range(v), repeat=v):
            token = model.encode(target)
            assert all(model.generate(token, x) == target[x] for x in range(v))


def maps_to(model, target):
    """Return whether a model answers as the target says: to all inputs, or to 12 of them."""
    tokens = model.encode(target)
    assert tokens.shape == model.shape
    assert tokens.min() >= 0.0
    assert tokens.max() < 1.0
    every = np.indices((model.vocabulary,) * model.inputs).reshape(model.inputs, -1).T
    chosen = every if len(every) <= 16 else every[np.random.default_rng(0).integers(0, len(every), 12)]
    return all(np.array_equal(model.generate(tokens, x), np.reshape(target[tuple(x)], -1)) for x in chosen)


@pytest.mark.parametrize(
    ("v", "n", "inputs", "packed", "width"),
    [
        (2, 1, 2, 1, 2), (3, 2, 2, 1, 3), (12, 1, 2, 1, 12), (13, 1, 2, 0, 169), (2, 2, 3, 2, 2), (3, 2, 4, 3, 3),
        (2, 2, 6, 5, 2), (2, 1, 7, 5, 4), (4, 3, 3, 2, 4),
    ],
)  # fmt: skip
def test_maps_of_several_symbols(v, n, inputs, packed, width):
    # the default packs the most, and each other number does it with wider tokens
    rng = np.random.default_rng(v)
    assert VirtualToken(v, n, inputs=inputs).shape == (n, width)
    for held in range(packed + 1):
        model = VirtualToken(v, n, inputs=inputs, packed=held)
        assert model.shape == (n, v ** (inputs - held))
        levels = v if held == 0 else 4 * v ** (v**held)
        assert model.gap == pytest.approx(math.log(2 * levels * (inputs - held + 1) * (2 * n + inputs - 1)), rel=1e-14)
        shape = (v,) * inputs + (n,)
        assert all(maps_to(model, target) for target in (rng.integers(0, v, shape), np.full(shape, v - 1)))
    every = itertools.product(range(2), repeat=4) if (v, inputs) == (2, 2) else ()
    assert all(maps_to(VirtualToken(2, inputs=2), np.reshape(flat, (2, 2))) for flat in every)


@settings(max_examples=30)
@given(st.integers(0, 2**31), st.integers(2, 12), st.integers(1, 6), st.sampled_from([0.0, 1.0, 30.0]))
def test_responses_and_sequences_of_any_size(seed, v, n, largest):
    rng = np.random.default_rng(seed)
    target = rng.integers(0, v, (v, n))
    model = VirtualToken(v, n, inputs=1)
    x = int(rng.integers(v))
    assert np.array_equal(model.generate(model.encode(target), x), target[x])
    model = VirtualToken(v, n, embedding=rng.uniform(-largest, largest, (n, v)))
    assert np.array_equal(model.generate(model.encode(target[0])), target[0])


def test_rows_beside_a_too_small_gap_are_wrong():
    # the worst case of the proof: all but one head of the attention's weight lies elsewhere
    target = np.random.default_rng(0).integers(0, 6, (6, 4))
    assert not maps_to(VirtualToken(6, 4, inputs=1, gap=1.0), target)
    pairs = np.random.default_rng(0).integers(0, 6, (6, 6))
    assert not maps_to(VirtualToken(6, inputs=2, gap=8.0), pairs)  # a digit is not told from the next


def decoded(row, v):
    z, i = np.maximum(row, 0.0).sum(), np.arange(v)
    return int(np.argmax((2 * i / v - 1) * z + 0.25 - i**2 / v**2))


def test_torch_generates_the_same():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(1)
    v, n = 4, 2
    model = VirtualToken(v, n, inputs=3)  # tokens of 4 numbers of 16 digits
    target = rng.integers(0, v, (v, v, v, n))
    rows = np.vstack([model.encode(target), np.eye(v)[[2, 0, 3]]])
    for i in range(n):
        held = np.hstack([rows, np.eye(2 * n + 2)[: len(rows)]])
        query, key, value = (torch.tensor(part)[None] for part in model.layer.head_inputs(held))
        heads = torch.nn.functional.scaled_dot_product_attention(query, key, value, scale=model.layer.scale)
        sums = heads[0].sum(0).numpy()[-1]
        code = round(float(np.maximum(sums[:v], 0.0).sum()) * v**16)  # what the ReLUs unpack
        first, second = sums[v:].reshape(2, v).argmax(1)
        assert code // v ** (v * first + second) % v == target[2, 0, 3, i]
        rows = np.vstack([rows, np.eye(v)[target[2, 0, 3, i]]])
    assert np.array_equal(model.generate(rows[:n], [2, 0, 3]), target[2, 0, 3])


def test_the_layer_of_sequences_is_a_module_of_torch():
    torch = pytest.importorskip("torch")
    v, n = 4, 3
    model = VirtualToken(v, n)
    layer = model.layer
    mha = torch.nn.MultiheadAttention(2 * n, 2, bias=False, batch_first=True, dtype=torch.float64).requires_grad_(False)
    query = layer.query * layer.scale * math.sqrt(n)  # the module's own scale is 1 / sqrt(n)
    mha.in_proj_weight.copy_(torch.tensor(np.vstack([query, layer.key, layer.value])))
    mha.out_proj.weight.copy_(torch.tensor(np.vstack([layer.out, np.zeros((n, 2 * n))])))
    for target in itertools.product(range(v), repeat=n):
        rows = model.encode(target)
        for symbol in target:
            held = torch.tensor(np.hstack([rows, np.eye(n)[: len(rows)]]))
            assert decoded(mha(held[-1:], held, held)[0][0, :n].numpy() - 1.0, v) == symbol
            rows = np.vstack([rows, model.embedding[:, symbol]])
