"""Real-gated linear recurrences: latches, sums, counters without errors, and RecurrentGemma's layers in their place."""

import numpy as np
import pytest

from bounds.prompts.recurrent import module_error
from spherapprox.prompts.recurrent import (
    Input,
    LinState,
    Program,
    RunningMax,
    cycle,
    delay,
    first,
    gate,
    validate,
    window,
)
from spherapprox.prompts.recurrent.hawk import states
from spherapprox.prompts.recurrent.programs import Dictionary

torch = pytest.importorskip("torch")

from spherapprox.prompts.recurrent.torch_modules import RGLRU, blocks  # noqa: E402

DTYPES = (torch.float64, torch.float32)


def run(program, x, dtype=torch.float64):
    return program.compile().to_torch("hawk", dtype=dtype)(torch.tensor(x, dtype=dtype)).double().numpy()


@pytest.mark.parametrize("dtype", DTYPES)
def test_gates_keep_and_overwrite_without_rounding(dtype):
    unit = RGLRU(1, dtype=dtype).requires_grad_(False)
    unit.recurrent_param.fill_(1000.0)
    unit.input_gate.weight.zero_(), unit.input_gate.bias.fill_(1000.0)
    unit.recurrent_gate.weight.fill_(2000.0), unit.recurrent_gate.bias.fill_(-3000.0)  # r = 1 where x is 2 or more
    x = torch.tensor([2.0, *[0.7] * 500, 3.0, 1.0, 1.2], dtype=dtype)[None, :, None]
    assert unit(x)[0][0, :, 0].tolist() == [2.0] * 501 + [3.0] * 3


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [1.0, 3.0, 2.0**20])
def test_sums_are_exact_up_to_their_bound(dtype, size):
    x = np.random.default_rng(0).integers(-3, 4, (3000, 1)).astype(float)
    turns = np.cumsum(x, axis=0)
    scale = 2.0 ** np.floor(np.log2(size / np.abs(turns).max()))
    program = Program(LinState(scale * Input(1, bound=3.0), 1.0, bound=size))
    assert np.array_equal(run(program, x, dtype), scale * turns)
    steep = np.array([[size], *[[-2.0 * size], [2.0 * size]] * 4])  # from end to end
    ends = Program(LinState(Input(1, bound=2.0 * size), 1.0, bound=size))
    assert np.array_equal(run(ends, steep, dtype), np.cumsum(steep, axis=0))


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_a_sum_loses_is_what_the_bound_says(dtype):
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (400, 1))
    x = x.astype(np.float32).astype(float) if dtype == torch.float32 else x
    program = Program(LinState(Input(1, bound=1.0), 1.0, bound=64.0))
    error = np.abs(run(program, x, dtype) - np.cumsum(x, axis=0))
    limit = module_error(program, x, kind="hawk", dtype=str(dtype).removeprefix("torch."))
    unit = 2.0**-45 if dtype == torch.float64 else 2.0**-14
    assert unit / 2.0 < error.max() < 20.0 * unit
    assert (error <= limit).all()
    assert np.isfinite(limit).all()
    assert np.isinf(
        module_error(Program(LinState(Input(1, bound=1.0), 1.0, bound=8.0)), 0.0 * x + 1.0, kind="hawk")
    ).any()


@pytest.mark.parametrize("dtype", DTYPES)
def test_registers_longer_than_a_convolution_and_counters(dtype):
    x = np.random.default_rng(1).integers(-8, 9, (2, 50, 2)).astype(float)
    v, mixed = Input(2, bound=8.0), [[0.0, 0.0, 0.0], [2.0, 1.0, 0.0], [1.0, -1.0, 0.0]]
    for program in (
        Program(window(v, 11)), Program(delay(v, 17)), Program(first(v, 14)), Program(cycle(v, 7, 3)),
        Program(LinState(v, mixed, np.eye(3, 2), [3.0, 2.0, 1.0], 1.0, bound=2.0**12)),
        Program(LinState(cycle(v, 3), np.eye(3, k=-1) + np.diag([1.0, 0.0, 1.0]), bound=2.0**10)),
    ):  # fmt: skip
        assert np.array_equal(run(program, x, dtype), program(x))


def test_a_count_ends_where_it_says():
    program = Program(np.arange(3.0)[None] @ cycle(Input(1, bound=1.0), 3))
    module = program.compile().to_torch("hawk", dtype=torch.float32)
    assert module.longest == states.STEPS == 2**20
    long = module(torch.zeros(3000, 1))[:, 0]
    assert torch.equal(long, torch.arange(3000) % 3.0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_maximum_is_one_of_the_numbers_that_were_seen(dtype):
    x = np.random.default_rng(2).normal(size=(300, 1)).astype(np.float32).astype(float) * 2.0**-3
    program = Program(RunningMax(Input(1, bound=1.0), 1.0))
    result = run(program, x, dtype) + 1.0
    assert set(result.ravel()) <= set((x + 1.0).astype(np.float32 if dtype == torch.float32 else float).ravel())
    assert np.abs(result - 1.0 - np.maximum.accumulate(x, axis=0)).max() <= (
        2.0**-52 if dtype == torch.float64 else 2.0**-20
    )


def stock(block, width, mlp_width):
    """Return RecurrentGemma's layer with the weights of a block, zeros making it as wide as others."""
    gemma = pytest.importorskip("transformers.models.recurrent_gemma.modeling_recurrent_gemma")
    config = gemma.RecurrentGemmaConfig(
        hidden_size=block.width, lru_width=width, num_attention_heads=1, intermediate_size=2 * mlp_width,
        num_hidden_layers=1, block_types=["recurrent"], vocab_size=4,
    )  # fmt: skip
    layer, ours, state = gemma.RecurrentGemmaDecoderLayer(config, 0), block.state_dict(), {}
    for name, other in layer.state_dict().items():
        own = ours.get(name.replace("_gate_weight", "_gate.weight").replace("_gate_bias", "_gate.bias"))
        state[name] = torch.zeros_like(other)
        if own is not None:
            own = own.T[None] if "_gate_weight" in name else own[None] if "_gate_bias" in name else own
            state[name][tuple(map(slice, own.shape))] = own
    layer.load_state_dict(state)
    return layer


def through(layers, x):
    """Return the stream after stock layers; position 0 would begin anew, so that positions start at 1."""
    positions = torch.arange(1, x.shape[1] + 1).expand(len(x), -1)
    for layer in layers:
        x = layer(x, position_ids=positions, attention_mask=None, use_cache=False)
    return x


def test_blocks_compute_what_the_layers_of_recurrent_gemma_do():
    torch.manual_seed(0)
    block, x = blocks.HawkBlock(16, 8, 12), torch.randn(2, 30, 16)
    torch.testing.assert_close(block(x)[0], through([stock(block, 8, 12)], x), rtol=0.0, atol=2e-6)


@torch.inference_mode()
def test_layers_of_recurrent_gemma_look_tokens_up():
    model = Dictionary(2, 9)
    keys = np.array([[a, b] for a in range(1, 10) for b in (3, 7)])
    prompt = model.prompt(keys, keys[::-1] % 9 + 1)
    module = model.network.to_torch("hawk", dtype=torch.float32)
    x = torch.tensor(model.sequences(keys[:3], prompt), dtype=torch.float32)
    layers = [stock(block, 4, 80) for block in module.blocks]
    outputs = module.readout(module.final_norm(through(layers, module.embedding(x))))
    assert torch.equal(outputs, module(x))
    assert np.array_equal(model.answers(outputs.numpy()), keys[::-1][:3] % 9 + 1)


def test_what_is_refused_is_said_before():
    x = Input(1, bound=1.0)
    (reason,) = validate(Program(LinState(x, -1.0, bound=1.0)), "hawk")
    assert reason.endswith("by numbers from 0 to 1: use 'lstm'")
    kept = LinState(gate(first(x, 1), x, 1.0), 1.0, bound=1.0)
    assert validate(Program(kept), "hawk") == ()


@pytest.mark.filterwarnings("ignore")  # torch's own
def test_exported_for_any_number_and_length():
    module = Program(LinState(Input(1, bound=1.0), 1.0, bound=64.0)).compile().to_torch("hawk")
    batch, length = (torch.export.Dim(name) for name in ("batch", "length"))
    x = torch.ones(3, 4, 1, dtype=torch.float64)
    exported = torch.export.export(module, (x,), dynamic_shapes=({0: batch, 1: length},)).module()
    assert torch.equal(exported(x[:2].repeat(1, 3, 1))[0, :, 0], torch.arange(1.0, 13.0, dtype=torch.float64))


@pytest.mark.parametrize(("dtype", "share"), [(torch.float64, 2.0**-50), (torch.float32, 2.0**-20)])
@pytest.mark.parametrize("bound", [2.0, 2.0**26])
def test_sums_are_rounded_by_the_share_of_their_bound_that_is_promised(dtype, share, bound):
    network = Program(LinState(Input(1, bound=1.0), 1.0, bound=bound)).compile()
    x = np.full((20, 1), 0.09375 + 2.0**-20)
    outputs = network.to_torch("hawk", dtype=dtype)(torch.tensor(x, dtype=dtype)).double().numpy()
    assert (np.abs(outputs - network(x))[:, 0] <= np.arange(1, 21) * share * bound).all()
