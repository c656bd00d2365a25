"""`program_module`: torch's own layers compute split heads, from points to read-outs."""

import math
from functools import partial

import numpy as np
import pytest
from attention_layers import random_module

torch = pytest.importorskip("torch")

from spherapprox import EqualMeasurePartition, SplitHead, points, targets  # noqa: E402
from spherapprox.prompts.prefix import as_layer, fit_layer, fit_prefix, program, reachable_by_layer  # noqa: E402
from spherapprox.prompts.prefix.torch_modules import PrefixAttention, program_module  # noqa: E402

FIELD = targets.geomagnetic_field(2025.0)
Y = torch.tensor(points.uniform(2, 6, rng=1).points)
layer = partial(random_module, std=0.3)


def interface(d, outputs=None, seed=0):
    rng = np.random.default_rng(seed)
    shape = (d,) if outputs is None else (outputs, d)
    embedding = np.linalg.qr(rng.standard_normal((d, 3)))[0]
    return {"embedding": embedding, "readout": rng.standard_normal(shape) / math.sqrt(d), "shift": np.full(d, 0.1)}


@pytest.mark.parametrize("kind", ["tokens", "key_values"])
@pytest.mark.parametrize(("d", "heads"), [(32, 1), (32, 4), (64, 8), (128, 4), (256, 8)])
def test_random_layers(d, heads, kind):
    head = SplitHead.from_target(FIELD, EqualMeasurePartition(2, 500), 150.0)
    module = program_module(layer(d, heads), head, **interface(d), kind=kind)
    programmed = program(head, module.attention.attention, **interface(d), kind=kind)
    expected = head(Y.numpy())
    rounding = 1e-15 * programmed.condition * 150.0 * abs(head.values).max()
    for y in (Y, Y.reshape(2, 3, 3)):
        away = abs(module(y).detach().numpy().reshape(-1) - expected)
        assert np.all(away <= programmed.bound(y.numpy()).reshape(-1) + rounding)
    assert programmed.bound(Y.numpy()).max() < 1e-20


def test_the_layer_is_not_changed():
    mha = layer(64, 4)
    before = {name: value.clone() for name, value in mha.state_dict().items()}
    heads = [SplitHead.from_target(f, EqualMeasurePartition(2, 200), 60.0) for f in (FIELD, lambda x: x[:, 2])]
    modules = [program_module(mha, head, **interface(64)) for head in heads]
    for module, head in zip(modules, heads, strict=True):
        np.testing.assert_allclose(module(Y).detach().numpy(), head(Y.numpy()), rtol=0, atol=1e-9)
    assert all(torch.equal(value, before[name]) for name, value in mha.state_dict().items())


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("causal", [True, False])
def test_sequences_content_and_several_outputs(batch_first, causal):
    mha = layer(64, 4, batch_first=batch_first)
    rng = np.random.default_rng(2)
    head = SplitHead(points.fibonacci(40).points, rng.standard_normal((40, 3)), rng.uniform(5.0, 40.0, 40))
    module = program_module(mha, head, **interface(64, 3), offset=-5.0)
    programmed = program(head, mha, **interface(64, 3), offset=-5.0)
    y, content = Y.reshape(2, 3, 3), rng.standard_normal((2, 5, 64))
    np.testing.assert_allclose(module(y, causal=causal), programmed.attend(y.numpy(), causal=causal), atol=1e-12)
    result = module(y, torch.tensor(content))
    np.testing.assert_allclose(result, programmed.attend(y.numpy(), content), atol=1e-12)
    away = np.linalg.norm(result.numpy() - head(Y.numpy()).reshape(2, 3, 3), axis=-1)
    assert np.all(away <= programmed.bound(y.numpy(), content) + 1e-11)
    assert away.max() > 1e-8


@pytest.mark.parametrize(("dtype", "loss"), [(torch.float32, 2e-5), (torch.bfloat16, 0.08)])
@pytest.mark.parametrize("kind", ["tokens", "key_values"])
def test_layers_of_less_precision(dtype, loss, kind):
    head = SplitHead.from_target(FIELD, EqualMeasurePartition(2, 200), 20.0)
    module = program_module(layer(128, 4, dtype=dtype), head, **interface(128), kind=kind, offset=20.0)
    lost = abs(module(Y).double().numpy() - head(Y.numpy())).max() / abs(head.values).max()
    assert module(Y).dtype == dtype
    assert 1e-9 < lost < loss


@pytest.mark.parametrize(
    ("kind", "names"), [("tokens", ["prefix_tokens"]), ("key_values", ["prefix_key", "prefix_value"])]
)
def test_the_prefix_can_be_trained(kind, names):
    head = SplitHead.from_target(FIELD, EqualMeasurePartition(2, 100), 20.0)
    module = program_module(layer(64, 4), head, **interface(64), kind=kind, trainable=True)
    target = torch.tensor(FIELD(Y.numpy()))
    loss = torch.mean((module(Y) - target) ** 2)
    loss.backward()
    result = [name for name, p in module.named_parameters() if p.grad is not None]
    assert result == [f"attention.{name}" for name in names]
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.grad is not None:
                parameter.sub_(1e-6 * parameter.grad)
    assert torch.mean((module(Y) - target) ** 2) < loss


def test_it_is_in_evaluation_if_the_layer_is():
    mha = layer(64, 4, dropout=0.5)
    head = SplitHead.from_target(FIELD, EqualMeasurePartition(2, 500), 150.0)
    module = program_module(mha.eval(), head, **interface(64))
    assert not module.training
    assert not module.attention.training
    np.testing.assert_allclose(module(Y).detach().numpy(), head(Y.numpy()), rtol=0, atol=1e-9)
    torch.manual_seed(0)
    assert abs(module.train()(Y).detach().numpy() - head(Y.numpy())).max() > 1.0
    assert program_module(layer(64, 4), head, **interface(64)).training


def test_prefixes_of_every_maker_go_into_the_layer():
    mha = layer(64, 4, batch_first=True)
    arrays, rng = as_layer(mha), np.random.default_rng(5)
    x = rng.standard_normal((6, 5, 64))
    targets_of_heads = rng.standard_normal((6, 4, 16))
    query, key, value = arrays.head_inputs(x)  # (6, heads, 5, 16)
    fitted = [fit_prefix(query[:, h, -1], key[:, h], value[:, h], targets_of_heads[:, h]) for h in range(4)]
    result = PrefixAttention(mha, fitted)(*3 * [torch.tensor(x)], need_weights=False)[0][:, -1]
    expected = targets_of_heads.reshape(6, 64) @ arrays.out.T + arrays.out_bias
    np.testing.assert_allclose(result.detach().numpy(), expected, atol=1e-10)
    whole = fit_layer(mha, x[:, -1], x, expected)
    result = PrefixAttention(mha, whole)(*3 * [torch.tensor(x)], need_weights=False)[0][:, -1]
    np.testing.assert_allclose(result.detach().numpy(), expected, atol=1e-10)
    witness = reachable_by_layer(mha, x[:1, -1], x[:1], expected[:1]).prefix
    result = PrefixAttention(mha, witness)(*3 * [torch.tensor(x[:1])], need_weights=False)[0][:, -1]
    np.testing.assert_allclose(result.detach().numpy(), expected[:1], atol=1e-6)


def test_points_of_other_dtypes():
    module = program_module(layer(32, 2), SplitHead(np.eye(3), np.ones(3), 1.0), **interface(32))
    torch.testing.assert_close(module(torch.eye(3, dtype=torch.int64)), module(torch.eye(3)))
