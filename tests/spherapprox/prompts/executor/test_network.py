"""`ReluNetwork`: padding, interpolants in one, two and three dimensions, and what is refused."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox.prompts.executor import ReluNetwork


def made(sizes, seed=0):
    rng = np.random.default_rng(seed)
    weights = [rng.standard_normal((n, k)) for k, n in itertools.pairwise(sizes)]
    return ReluNetwork(weights, [rng.standard_normal(n) for n in sizes[1:]])


def kuhn(f, box, cells, x):
    """Return Kuhn's interpolant: on a simplex, vertices in the order of falling fractional parts."""
    low, high = np.array(box, dtype=float).T
    n, d = x.shape
    z = (x - low) / (high - low) * cells
    vertex = np.minimum(np.floor(z), np.array(cells) - 1.0)
    order = np.argsort(vertex - z, axis=1)
    parts = np.take_along_axis(z - vertex, order, axis=1)
    levels = np.concatenate([np.ones((n, 1)), parts, np.zeros((n, 1))], axis=1)
    result = 0.0
    for i in range(d + 1):
        result = result + (levels[:, i] - levels[:, i + 1]) * f(low + vertex / cells * (high - low))
        if i < d:
            vertex[np.arange(n), order[:, i]] += 1.0
    return result


def test_a_network_is_its_formula():
    network = made((3, 5, 4, 2))
    x = np.random.default_rng(1).standard_normal((7, 3))
    (a, b, c), (s, t, u) = network.weights, network.biases
    expected = np.maximum(np.maximum(x @ a.T + s, 0.0) @ b.T + t, 0.0) @ c.T + u
    assert np.abs(network(x) - expected).max() <= 1e-14
    assert network.sizes == (3, 5, 4, 2)
    assert network.largest == max(np.abs(array).max() for array in (a, b, c, s, t, u))
    assert network.row_sums == pytest.approx([np.abs(w).sum(axis=1).max() for w in (a, b, c)], rel=1e-15)
    network.weights[0][:] = 0.0  # copies were taken
    assert np.array_equal(made((3, 5, 4, 2)).weights[1], b)


@settings(max_examples=30)
@given(st.lists(st.integers(1, 4), min_size=2, max_size=4), st.integers(0, 2), st.integers(0, 9))
def test_padded_networks_compute_the_same(sizes, more, seed):
    network = made(sizes, seed)
    hidden = sizes[-2] if len(sizes) > 2 else 2 * sizes[0]
    larger = [sizes[0] + more, *(n + more for n in sizes[1:-1]), *[hidden + seed % 3] * more, sizes[-1] + more]
    padded = network.padded(larger)
    assert padded.sizes == tuple(larger)
    x = np.random.default_rng(seed).standard_normal((5, larger[0]))
    result = padded(x)
    assert np.abs(result[:, : sizes[-1]] - network(x[:, : sizes[0]])).max() <= 1e-13
    assert not result[:, sizes[-1] :].any()


@settings(max_examples=30)
@given(st.integers(2, 12), st.integers(0, 99))
def test_pieces_are_numpys_interpolant(n, seed):
    rng = np.random.default_rng(seed)
    knots, values = np.cumsum(rng.uniform(0.01, 1.0, n)) - 1.0, rng.standard_normal((n, 2))
    x = np.concatenate([rng.uniform(-3.0, knots[-1] + 3.0, 50), knots])
    network = ReluNetwork.piecewise_linear(knots, values)
    expected = np.stack([np.interp(x, knots, column) for column in values.T], axis=1)
    assert network.sizes == (1, n, 2)
    assert np.abs(network(x[:, None]) - expected).max() <= 1e-14 * n * network.largest


@pytest.mark.parametrize("d", [1, 2, 3])
def test_hats_are_kuhns_interpolant(d):
    box, cells = [(-1.0, 2.0), (0.0, 1.0), (3.0, 3.5)][:d], (3, 2, 4)[:d]
    rng = np.random.default_rng(d)
    low, high = np.array(box).T
    x = low + (high - low) * rng.random((400, d))
    for f in (lambda x: np.sin(3.0 * x).prod(axis=1), lambda x: x @ np.arange(1.0, d + 1.0)):
        network = ReluNetwork.interpolate(f, box, cells)
        assert np.abs(network(x)[:, 0] - kuhn(f, box, cells, x)).max() <= 1e-14
    ones = ReluNetwork.interpolate(lambda x: np.ones(len(x)), box, cells)  # hats sum to one
    assert np.abs(ones(x) - 1.0).max() <= 1e-14
    assert len(ones.weights) == (2 if d == 1 else 4)
    both = ReluNetwork.interpolate(lambda x: np.stack([x[:, 0], -x[:, -1]], axis=1), box, cells)
    assert np.abs(both(x) - np.stack([x[:, 0], -x[:, -1]], axis=1)).max() <= 1e-14


def test_a_module_of_torch_is_copied():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    nn = torch.nn
    module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 4, bias=False), nn.ReLU(), nn.Linear(4, 2))
    network = ReluNetwork.from_torch(module)
    x = torch.randn(6, 3)
    assert np.abs(network(x) - module(x).detach().numpy()).max() <= 1e-6
    assert not network.biases[1].any()
    single = nn.Linear(2, 1, dtype=torch.bfloat16)
    exact = float((single.weight.double().sum() + single.bias.double()).detach())
    assert ReluNetwork.from_torch([single])(np.ones((1, 2)))[0, 0] == pytest.approx(exact, rel=1e-12)


def test_what_passes_rows_on_is_passed_over_and_weights_are_read_as_they_are_computed():
    torch = pytest.importorskip("torch")
    nn, x = torch.nn, torch.randn(3, 4, dtype=torch.float64)
    layers = nn.Flatten(), nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Identity(), nn.Linear(8, 1)
    module = nn.Sequential(*layers).double().eval()
    nn.utils.parametrizations.weight_norm(module[1])
    with torch.no_grad():
        module[1].parametrizations.weight.original0 *= 2.0
        np.testing.assert_allclose(ReluNetwork.from_torch(module)(x), module(x), rtol=0, atol=1e-13)


def test_adapters_that_are_merged_are_read():
    torch, peft = pytest.importorskip("torch"), pytest.importorskip("peft")
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)).double()
    config = peft.LoraConfig(target_modules=["0"], r=2, init_lora_weights=False)
    adapted, x = peft.get_peft_model(module, config).double().eval(), torch.randn(3, 4, dtype=torch.float64)
    expected = adapted(x).detach()
    result = ReluNetwork.from_torch(adapted.merge_and_unload())(x)
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12)
