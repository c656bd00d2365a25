"""The two layers as torch's own modules, against NumPy."""

import numpy as np
import pytest

from spherapprox import sphere
from spherapprox.prompts.sequences import SequenceHead

torch = pytest.importorskip("torch")


def made(seed=0, length=2, dim=2, n=12, concentration=9.0, outputs=2, **options):
    rng = np.random.default_rng(seed)
    points = [sphere.uniform(dim, n, rng=rng) for _ in range(length)]
    return SequenceHead(points, rng.normal(size=(*[n] * length, length, outputs)), concentration, **options)


def sequences(length=2, dim=2, batch=6, seed=1):
    return sphere.uniform(dim, batch * length, rng=seed).reshape(batch, length, dim + 1)


@pytest.mark.parametrize("concentration", [0.0, 9.0, 500.0])
@pytest.mark.parametrize(("length", "dim"), [(1, 2), (2, 2), (3, 1), (2, 15)])
def test_the_module_is_the_head(length, dim, concentration):
    head = made(length=length, dim=dim, n=6, concentration=concentration)
    x, module = sequences(length, dim), head.to_torch()
    actual = module(torch.tensor(x)).numpy()
    limit = 1e-12 * np.abs(head.values).max()
    assert np.abs(actual - head.attend(x)).max() <= limit
    assert np.abs(actual - head(x)).max() <= limit
    assert np.array_equal(module(torch.tensor(x[0])).numpy().shape, head(x[0]).shape)


@pytest.mark.parametrize(("dtype", "digits"), [(torch.float32, 1e-6), (torch.float64, 1e-15)])
def test_one_pair_of_layers_for_all_targets_concentrations_and_lengths_of_the_prefix(dtype, digits):
    layers, x = made(length=3, n=2).to_torch(dtype=dtype), torch.tensor(sequences(length=3)).to(dtype)
    for seed, (concentration, n) in enumerate(((5.0 / 3.0, 4), (50.0 / 3.0, 5), (500.0 / 3.0, 6))):
        head = made(seed, length=3, n=n, concentration=concentration)
        own = head.to_torch(dtype=dtype).state_dict()
        frozen = {name: tensor for name, tensor in layers.state_dict().items() if name != "prefix"}
        assert all(torch.equal(own.pop(name), tensor) for name, tensor in frozen.items())
        assert own.keys() == {"prefix"}
        layers.prefix = own["prefix"]  # only this is another
        exact = head((x / x.norm(dim=-1, keepdim=True)).numpy())
        limit = digits * (head.mask + head.total_concentration) * np.abs(head.values).max()
        assert np.abs(layers(x).numpy() - exact).max() <= limit


def test_made_of_stock_modules():
    heads = [made(seed, concentration=lam) for seed, lam in ((0, 9.0), (5, 40.0))]
    one, states = heads[0].to_torch(), [head.to_torch().state_dict() for head in heads]
    kinds = [type(module) for module in one.children()]
    assert kinds.count(torch.nn.MultiheadAttention) == 2
    assert kinds.count(torch.nn.Linear) == 3
    assert all(module.num_heads == 1 for module in (one.first, one.second))
    assert not [name for name, parameter in one.named_parameters() if parameter.requires_grad]
    # the weights run the other function with its prefix
    one.load_state_dict(states[1])
    x = sequences()
    assert np.abs(one(torch.tensor(x)).numpy() - heads[1](x)).max() <= 1e-12
    assert torch.equal(one.train()(torch.tensor(x)), one.eval()(torch.tensor(x)))


@pytest.mark.parametrize("concentration", [1.0, 30.0, 1000.0])
def test_in_float32(concentration):
    head, x = made(concentration=concentration), sequences().astype(np.float32)
    actual = head.to_torch(dtype=torch.float32)(torch.tensor(x))
    assert actual.dtype == torch.float32
    x = (x / np.linalg.norm(x, axis=-1, keepdims=True)).astype(np.float32)
    assert np.abs(actual.numpy() - head(x)).max() <= 1e-6 * (4.0 + head.total_concentration) * np.abs(head.values).max()


def test_the_prefix_trains():
    head, x = made(n=4, concentration=3.0), torch.tensor(sequences(batch=20))
    module = head.to_torch(trainable=True)
    assert [name for name, parameter in module.named_parameters() if parameter.requires_grad] == ["prefix"]
    expected = torch.flip(x, dims=[1])[..., :2]
    optimizer = torch.optim.Adam(module.parameters(), lr=0.05)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = torch.mean((module(x) - expected) ** 2)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]
