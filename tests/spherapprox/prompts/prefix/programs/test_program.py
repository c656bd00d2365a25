"""`program`: frozen layers that compute split heads by a prefix, run by torch's own attention."""

import math
import re
from functools import partial

import numpy as np
import pytest
from attention_layers import random_layer
from hypothesis import given
from hypothesis import strategies as st

from spherapprox import EqualMeasurePartition, SplitHead, points, sphere, targets
from spherapprox.prompts.prefix import AttentionLayer, program

frozen = partial(random_layer, size=0.3, bias=0.3)


def interface(rng, d, dim, outputs=1):
    embedding = np.linalg.qr(rng.standard_normal((d, dim + 1)))[0]
    readout = rng.standard_normal((outputs, d)) / math.sqrt(d)
    return {"embedding": embedding, "readout": readout, "shift": 0.2 * rng.standard_normal(d)}


def through_torch(programmed, y, *, causal=False, dtype=None):
    """Return the read-outs of torch.nn.MultiheadAttention with the tokens before the inputs."""
    torch = pytest.importorskip("torch")
    layer, kind = programmed.layer, dtype or torch.float64
    mha = torch.nn.MultiheadAttention(layer.width, layer.heads, batch_first=True, dtype=kind)
    with torch.no_grad():
        mha.in_proj_weight.copy_(torch.tensor(np.concatenate([layer.query, layer.key, layer.value])))
        mha.in_proj_bias.copy_(torch.tensor(np.concatenate([layer.query_bias, layer.key_bias, layer.value_bias])))
        mha.out_proj.weight.copy_(torch.tensor(layer.out))
        mha.out_proj.bias.copy_(torch.tensor(layer.out_bias))
        x = torch.tensor(programmed.embed(y), dtype=kind)
        tokens = torch.tensor(programmed.prefix.tokens, dtype=kind)
        length, t = len(tokens), x.shape[0]
        mask = torch.cat([torch.zeros(t, length), torch.triu(torch.ones(t, t), 1)], 1).bool() if causal else None
        joined = torch.cat([tokens, x])
        outputs = mha(x, joined, joined, attn_mask=mask, need_weights=False)[0]
    return outputs.double().numpy() @ programmed.interface.readout[0]


FIELD = targets.geomagnetic_field(2025.0)


@pytest.mark.parametrize("causal", [False, True])
def test_the_magnetic_field_in_a_layer_of_torch(causal):
    # the reference: 8e-13 microtesla, by logits that are rounded as concentration * 1e-15 * 66 allows
    rng = np.random.default_rng(7)
    layer = frozen(rng, 64)
    head = SplitHead.from_target(FIELD, EqualMeasurePartition(2, 2000), 300.0)
    programmed = program(head, layer, **interface(rng, 64, 2))
    assert programmed.prefix.tokens.shape == (2000, 64)
    assert programmed.condition < 20.0
    y = points.uniform(2, 5, rng=1).points
    assert abs(through_torch(programmed, y, causal=causal) - head(y)).max() < 2e-11
    assert abs(programmed.attend(y, causal=causal) - head(y)).max() < 2e-11
    assert np.all(programmed.bound(y, causal=causal) < 1e-100)


@pytest.mark.parametrize(("offset", "shows"), [(0.0, False), (-45.0, True)])
def test_the_content_shows_where_its_share_does(offset, shows):
    rng = np.random.default_rng(7)
    head = SplitHead.from_target(FIELD, EqualMeasurePartition(2, 500), 50.0)
    programmed = program(head, frozen(rng, 64), **interface(rng, 64, 2), offset=offset)
    y = points.uniform(2, 5, rng=1).points
    away = abs(through_torch(programmed, y) - head(y))
    assert bool(away.max() > 0.1) is shows
    assert np.all(away <= programmed.bound(y) + 1e-11)
    if shows:
        assert programmed.bound(y).max() < 10.0 * away.max()


@pytest.mark.parametrize("kind", ["tokens", "key_values"])
@pytest.mark.parametrize(
    "shape",
    [
        {"d": 32, "heads": 1}, {"d": 64, "heads": 8}, {"d": 256, "heads": 8}, {"d": 48, "heads": 4, "s": 6, "p": 2},
        {"d": 64, "heads": 4, "groups": 2}, {"d": 64, "heads": 4, "groups": 1}, {"d": 64, "heads": 2, "bias": 0.0},
        {"d": 64, "heads": 2, "scale": 1.7},
    ],
)  # fmt: skip
def test_layers_of_many_shapes(kind, shape):
    rng = np.random.default_rng(11)
    layer = frozen(rng, **shape)
    head = SplitHead(points.fibonacci(60).points, rng.standard_normal((60, 3)), 40.0)
    programmed = program(head, layer, **interface(rng, shape["d"], 2, outputs=3), kind=kind, offset=10.0)
    y = points.uniform(2, 6, rng=2).points
    result = programmed.attend(y.reshape(2, 3, 3)).reshape(6, 3)
    rounding = 5e-15 * programmed.condition * 50.0 * np.linalg.norm(head.values, axis=1).max()
    assert np.all(np.linalg.norm(result - head(y), axis=1) <= programmed.bound(y.reshape(2, 3, 3)).ravel() + rounding)
    assert programmed.bound(y.reshape(2, 3, 3)).max() < 1e-6
    assert (programmed.prefix.tokens is None) == (kind == "key_values")
    if programmed.prefix.tokens is not None:
        np.testing.assert_array_equal(layer.prefix(programmed.prefix.tokens).key, programmed.prefix.key)


@given(
    st.integers(0, 10**6), st.sampled_from([1, 2, 4]), st.integers(1, 3), st.integers(1, 8),
    st.floats(-30.0, 30.0), st.sampled_from(["tokens", "key_values"]), st.booleans(),
)  # fmt: skip
def test_the_bound_holds(seed, heads, dim, length, offset, kind, causal):
    rng = np.random.default_rng(seed)
    size = rng.choice([0.1, 0.5, 1.0])
    layer = random_layer(rng, 32, heads, size=size, bias=size)
    head = SplitHead(sphere.uniform(dim, 20, rng=rng), rng.standard_normal((20, 2)), rng.uniform(0.0, 30.0, 20))
    programmed = program(head, layer, **interface(rng, 32, dim, 2), kind=kind, offset=offset)
    y = sphere.uniform(dim, length, rng=rng)
    content = rng.standard_normal((9, 32)) if not causal else None
    away = np.linalg.norm(programmed.attend(y, content, causal=causal) - head(y), axis=1)
    rounding = 1e-13 * programmed.condition * (30.0 + abs(offset)) * (1.0 + programmed.bound(y, content).max())
    assert np.all(away <= programmed.bound(y, content, causal=causal) + rounding)


def test_little_cancels_among_heads():
    # what tokens leave free makes the read-outs behind the heads as small as the head's values
    rng = np.random.default_rng(7)
    head = SplitHead.from_target(FIELD, EqualMeasurePartition(2, 300), 300.0)
    for kind in ("tokens", "key_values"):
        programmed = program(head, frozen(rng, 64, 8), **interface(rng, 64, 2), kind=kind)
        layer = programmed.layer
        read = (programmed.interface.readout @ layer.out).reshape(8, 1, 8) @ np.swapaxes(
            programmed.prefix.value, -1, -2
        )
        np.testing.assert_allclose(read.sum(axis=0)[0] + programmed.interface.readout @ layer.out_bias, head.values)
        assert abs(read).max(axis=(1, 2)).sum() < 1.1 * abs(head.values).max()


def test_no_content_leaves_the_head():
    rng = np.random.default_rng(3)
    head = SplitHead(np.eye(3), [1.0, 2.0, 3.0], [1.0, 5.0, 20.0])
    programmed = program(head, frozen(rng), **interface(rng, 32, 2))
    y = points.uniform(2, 7, rng=3).points
    np.testing.assert_allclose(programmed.attend(y, np.empty((0, 32))), head(y), rtol=1e-12)
    assert not programmed.bound(y, np.empty((0, 32))).any()


def test_a_layer_without_shift_or_query_bias_has_no_levels():
    rng = np.random.default_rng(4)
    layer = frozen(rng, 24, 4, bias=0.0)
    head = SplitHead(points.fibonacci(30).points, rng.standard_normal(30), 20.0)
    options = interface(rng, 24, 2) | {"shift": None}
    # 4 (m + 1) + 1 = 13 equations, and keys of 6 numbers have to meet 3
    programmed = program(head, layer, **options)
    y = points.uniform(2, 4, rng=3).points
    assert np.all(abs(programmed.attend(y) - head(y)) <= programmed.bound(y) + 1e-11)
    with pytest.raises(ValueError, match="'offset' must be 0 where a head's queries are 0 at the shift, got 3"):
        program(head, layer, **options, offset=3.0)


@pytest.mark.parametrize(
    ("d", "heads", "kind", "text"),
    [
        # (m + 2) heads + p = 17 equations
        (16, 4, "tokens", "a token (3 coordinates and a level for each of 4 heads and 1 outputs) have rank 16 of 17 in "
         "16 unknowns: 17 equations need as many, got 16"),
        (24, 8, "key_values", "a key for head 1 (3 coordinates and a level for each of 1 head) have rank 3 of 4 in 3 "
         "unknowns: 4 equations need as many, got 3"),
    ],
)  # fmt: skip
def test_the_missing_rank_is_named(d, heads, kind, text):
    rng = np.random.default_rng(5)
    head = SplitHead(np.eye(3), np.ones(3), 1.0)
    with pytest.raises(ValueError, match=re.escape(text)):
        program(head, frozen(rng, d, heads), **interface(rng, d, 2), kind=kind)


def test_weights_of_too_small_a_rank_are_named():
    rng = np.random.default_rng(6)
    layer = frozen(rng, 32, 2)
    low = AttentionLayer(layer.query, layer.key * (np.arange(32) < 9), layer.value, layer.out, heads=2)
    head = SplitHead(np.eye(3), np.ones(3), 1.0)
    layer.value[:] = 0.0
    with pytest.raises(ValueError, match="have rank 8 of 9 in 32 unknowns and 9 are needed"):
        program(head, layer, **interface(rng, 32, 2))
    assert program(head, low, **interface(rng, 32, 2)).condition > 1.0
    thin = AttentionLayer(layer.query, layer.key * (np.arange(32) < 7), low.value, layer.out, heads=2)
    with pytest.raises(ValueError, match=r"have rank \d of 9"):
        program(head, thin, **interface(rng, 32, 2))


@pytest.mark.parametrize(("dtype", "loss"), [("float32", 2e-5), ("bfloat16", 0.5)])
def test_less_precision_loses_what_is_said(dtype, loss):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(8)
    head = SplitHead.from_target(FIELD, EqualMeasurePartition(2, 200), 20.0)
    programmed = program(head, frozen(rng, 64), **interface(rng, 64, 2))
    y = points.uniform(2, 50, rng=1).points
    lost = abs(through_torch(programmed, y, dtype=getattr(torch, dtype)) - head(y)).max() / abs(head.values).max()
    unit = float(torch.finfo(getattr(torch, dtype)).eps) / 2.0
    assert loss / 1000.0 < lost < min(loss, 2.0 * programmed.condition * 20.0 * unit)


def test_weights_of_any_size_are_programmed():
    # squares of their rows overflow or vanish
    rng = np.random.default_rng(0)
    layer, inputs = frozen(rng), interface(rng, 32, 2)
    head = SplitHead(sphere.uniform(2, 20, rng=20), rng.standard_normal(20), 5.0)
    y = sphere.uniform(2, 7, rng=7)
    for size in (2.0**-600, 2.0**600):
        weights = {name: getattr(layer, name) for name in ("query", "key", "value", "query_bias")}
        scaled = AttentionLayer(**weights, out=size * layer.out, heads=4)
        programmed = program(head, scaled, **(inputs | {"readout": inputs["readout"] / size}))
        plain = program(head, AttentionLayer(**weights, out=layer.out, heads=4), **inputs)
        np.testing.assert_allclose(programmed.attend(y), plain.attend(y), rtol=1e-10)
        np.testing.assert_allclose(programmed.bound(y), plain.bound(y), rtol=1e-10)
        times = SplitHead(head.control_points, size * head.values, 5.0)
        wide = program(times, plain.layer, **(inputs | {"readout": size * inputs["readout"]}))
        np.testing.assert_allclose(wide.bound(y) / size, plain.bound(y), rtol=1e-10)


@pytest.mark.parametrize("kind", ["tokens", "key_values"])
def test_read_outs_without_digits_are_refused(kind):
    rng = np.random.default_rng(1)
    layer, inputs = frozen(rng), interface(rng, 32, 2)
    head = SplitHead(sphere.uniform(2, 20, rng=20), rng.standard_normal(20), 5.0)
    tiny = inputs | {"embedding": 1e-14 * inputs["embedding"]}
    with pytest.raises(ValueError, match=r"'layer' must have queries that depend more on the points: .* no digit"):
        program(head, layer, **tiny, kind=kind)
    huge = inputs | {"readout": 1e200 * inputs["readout"]}
    with pytest.raises(ValueError, match="'layer' must have weights whose products are finite"):
        program(
            head,
            AttentionLayer(*(1e150 * np.eye(32) for _ in range(4)), query_bias=np.ones(32), heads=1),
            **huge,
            kind=kind,
        )


def test_points_as_tensors():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(2)
    head = SplitHead(sphere.uniform(2, 20, rng=20), rng.standard_normal(20), 5.0)
    programmed = program(head, frozen(rng), **interface(rng, 32, 2))
    y = sphere.uniform(2, 4, rng=4)
    np.testing.assert_array_equal(programmed.attend(torch.tensor(y, requires_grad=True)), programmed.attend(y))
    assert programmed.bound(torch.eye(3, dtype=torch.bfloat16)).shape == (3,)
