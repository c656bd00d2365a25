"""Executors in torch: the outputs of NumPy, the same weights for all networks, and a network that was trained."""

import copy
import io
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds import prompts
from spherapprox.prompts.executor import ReluNetwork
from spherapprox.prompts.executor.layout import gate_above

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402


def random_network(budget, seed=0):
    rng = np.random.default_rng(seed)
    weights = []
    for k, n, most in zip(budget.sizes, budget.sizes[1:], budget.row_bound, strict=False):
        rows = rng.uniform(-1.0, 1.0, (n, k)) * budget.weight_bound
        weights.append(rows * np.minimum(1.0, most / np.abs(rows).sum(axis=1, keepdims=True)))
    biases = [rng.uniform(-1.0, 1.0, n) * budget.weight_bound for n in budget.sizes[1:]]
    return ReluNetwork(weights, biases)


@settings(max_examples=15)
@given(st.lists(st.integers(1, 5), min_size=2, max_size=4), st.sampled_from([0.5, 0.05]), st.integers(0, 99))
def test_torch_computes_what_numpy_does(sizes, eps, seed):
    budget = prompts.executor_budget(sizes, eps, row_bound=1.5)
    executor = budget.executor()
    network = random_network(budget, seed)
    prompt, x = executor.encode(network), np.random.default_rng(seed).uniform(-1.0, 1.0, (6, sizes[0]))
    outputs = executor.to_torch()(prompt, x).numpy()
    assert np.abs(outputs - executor.run(prompt, x)).max() <= 1e-12
    assert np.abs(outputs - network(x)).max() <= budget.bound.value <= eps
    single = prompts.executor_budget(sizes, eps, row_bound=1.5, dtype="float32")
    outputs = single.executor().to_torch(dtype=torch.float32)(prompt, x).double().numpy()
    assert np.abs(outputs - network(x)).max() <= single.bound.value <= eps


def test_weights_are_the_same_for_all_networks():
    budget = prompts.executor_budget((2, 4, 1), 0.1, row_bound=2.0)
    executor = budget.executor()
    module = executor.to_torch()
    before = copy.deepcopy(module.state_dict())
    networks = [random_network(budget, seed) for seed in range(5)]
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (20, 2))
    outputs = [module(executor.encode(network), x).numpy() for network in networks]
    for network, result in zip(networks, outputs, strict=True):
        assert np.abs(result - network(x)).max() <= budget.bound.value
    spread = max(np.abs(a - b).max() for a in outputs for b in outputs)
    assert spread > 10.0 * budget.bound.value
    after = module.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert sum(tensor.numel() for tensor in after.values()) == executor.n_weights
    assert not any(parameter.requires_grad for parameter in module.parameters())
    # and of another executor of the same numbers
    assert all(torch.equal(before[name], value) for name, value in budget.executor().to_torch().state_dict().items())


def test_it_is_made_of_torchs_own_layers():
    executor = prompts.executor_budget((1, 3, 1), 0.1).executor()
    module = executor.to_torch(dtype=torch.float32)
    assert len(module.blocks) == executor.depth == 4
    kinds = {type(part) for part in module.modules() if not list(part.children())}
    assert kinds <= {nn.Linear, nn.ReLU, nn.modules.linear.NonDynamicallyQuantizableLinear}
    assert all(isinstance(block.attention, nn.MultiheadAttention) for block in module.blocks)
    buffer = io.BytesIO()
    torch.save(module.state_dict(), buffer)
    buffer.seek(0)
    fresh = executor.to_torch(dtype=torch.float32)
    fresh.load_state_dict(torch.load(buffer))
    prompt = executor.encode(ReluNetwork([[[0.5]]], [[0.25]]))
    x = torch.linspace(-1.0, 1.0, 9)[:, None]
    assert torch.equal(fresh.train()(prompt, x), module.eval()(prompt, x))


def test_states_hold_what_the_layout_says():
    budget = prompts.executor_budget((2, 4, 3, 1), 1e-3, row_bound=1.5)
    executor, network = budget.executor(), random_network(budget)
    module, layout, states = executor.to_torch(), executor.layout, []
    for block in module.blocks:
        block.register_forward_hook(lambda *inputs: states.append(inputs[-1].numpy()))
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (5, 2))
    module(executor.encode(network), x)
    held = x
    for layer, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        n, k = weight.shape
        read = states[2 * layer][:, layout.records : layout.records + n, layout.columns("read")]
        assert np.abs(read[..., :k] - weight).max() <= 1e-3
        assert np.abs(read[..., -1] - bias).max() <= 1e-3
        held = held @ weight.T + bias
        sums = states[2 * layer + 1][:, layout.records : layout.records + n, layout.columns("sum")[0]]
        assert np.abs(sums - held).max() <= 1e-3
        held = np.maximum(held, 0.0)
        outputs = states[2 * layer + 1][:, :, layout.columns("output")]
        assert not outputs.any()
    for state in states:  # prompts keep what they hold, and pass nothing on
        kept = state[:, : layout.records, : layout.ends["read"][0]]
        assert np.array_equal(kept, np.broadcast_to(executor.encode(network)[:, : kept.shape[2]], kept.shape))
        assert not state[:, : layout.records, layout.columns("output")].any()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_outputs_are_written_back_by_the_blocks_themselves(dtype):
    turn = 0.9 * np.array([[math.cos(0.3), -math.sin(0.3)], [math.sin(0.3), math.cos(0.3)]])
    network = ReluNetwork([np.vstack([turn, -turn]), np.hstack([np.eye(2), -np.eye(2)])], [np.zeros(4), [0.02, -0.1]])
    slopes = {"row_bound": network.row_sums, "radius": 2.5}
    budget = prompts.executor_budget((2, 4, 2), 0.05, dtype=dtype, **slopes)
    executor = budget.executor()
    module, layout = executor.to_torch(dtype=getattr(torch, dtype)), executor.layout
    prompt, x = executor.encode(network), np.random.default_rng(3).uniform(-1.0, 1.0, (10, 2))
    states, exact = [], x
    module.blocks[0].register_forward_hook(lambda *inputs: states.append(inputs[-1].numpy()))
    largest = gate_above(
        max(budget.row_bound), 1.0, 4, segments=budget.segments[1], activation=budget.activation_bounds[1]
    )
    written = 6.0 * largest * np.finfo(dtype).eps / 2.0  # 9.3 (written back)
    for steps in range(1, 7):
        exact = network(exact)
        bound = prompts.chain_error(budget.bound.value + written, steps, lipschitz=math.prod(network.row_sums))
        assert np.abs(module(prompt, x, steps=steps).double().numpy() - exact).max() <= bound.value
    for state in states:  # prompt tokens, and work tokens that are no input, write nothing
        outputs = state[..., layout.columns("output")]
        assert not outputs[:, : layout.records].any()
        assert not outputs[:, layout.records + 2 :].any()


def test_one_prompt_for_each_input_and_gradients():
    budget = prompts.executor_budget((2, 3, 2), 0.1, row_bound=1.5)
    executor = budget.executor()
    module = executor.to_torch()
    networks = [random_network(budget, seed) for seed in range(4)]
    several = torch.tensor(np.array([executor.encode(network) for network in networks]), requires_grad=True)
    x = torch.tensor(np.random.default_rng(0).uniform(-0.9, 0.9, (4, 2)), requires_grad=True)
    outputs = module(several, x)
    for i, network in enumerate(networks):
        assert np.abs(outputs[i].detach().numpy() - network(x.detach().numpy())[i]).max() <= budget.bound.value
    outputs.sum().backward()
    slopes = several.grad[..., executor.layout.columns("record")[-1]][:, -2:]
    assert (slopes - 1.0).abs().max() < 0.1  # biases of outputs
    assert x.grad.abs().max() > 0.01


def test_a_trained_network_runs():
    torch.manual_seed(0)
    mlp = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1)).double()
    x = torch.rand(500, 2, dtype=torch.float64) * 2.0 - 1.0
    expected = torch.sin(3.0 * x[:, :1]) * x[:, 1:]
    optimizer = torch.optim.Adam(mlp.parameters(), 1e-2, weight_decay=1e-4)
    for _ in range(400):
        optimizer.zero_grad()
        loss = ((mlp(x) - expected) ** 2).mean()
        loss.backward()
        optimizer.step()
    assert math.sqrt(loss.item()) < 0.1
    network = ReluNetwork.from_torch(mlp)
    bounds_of = {"weight_bound": network.largest, "row_bound": network.row_sums}
    budget = prompts.executor_budget(network.sizes, 0.1, **bounds_of)
    executor = budget.executor()
    error = np.abs(executor.run(executor.encode(network), x) - network(x)).max()
    assert error <= budget.bound.value <= 0.1
    assert error < 0.02
    # one bound for all rows takes more segments
    largest = prompts.executor_budget(network.sizes, 0.1, weight_bound=network.largest, row_bound=max(network.row_sums))
    assert sum(largest.segments) > sum(budget.segments)
    few = x[:4]
    assert np.abs(executor.to_torch()(executor.encode(network), few).numpy() - mlp(few).detach().numpy()).max() < 0.02
