"""One list of programs through the interpreter, networks and torch's own modules, and random ones, within 10.6."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recurrent_programs import BLOCKS, STYLES, cases, exact, random_program

from bounds.prompts.recurrent import module_error
from spherapprox import load
from spherapprox.prompts.recurrent import Input, LinState, Multiplicative, Program, ReLU, RunningMax, step
from spherapprox.prompts.recurrent.gates import Gates, relu_network
from spherapprox.prompts.recurrent.hawk.states import refusal

torch = pytest.importorskip("torch")

CASES = cases()
DTYPES = ("float64", "float32")
MODULES = {"rnn": torch.nn.RNN, "lstm": torch.nn.LSTM, "gru": torch.nn.GRU}


def run(module, x):
    dtype = module.readout.weight.dtype
    return module(torch.tensor(x, dtype=dtype)).double().numpy()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_every_model_is_the_program(case, tmp_path):
    network = case.program.compile()
    network.save(tmp_path / "network.npz")
    models = {"interpreter": case.program, "network": network, "saved": load(tmp_path / "network.npz")}
    if "rnn" in case.kinds:
        models["relu"] = relu_network(network)
    for name, model in models.items():
        actual = model(case.x)
        limit = module_error(case.program, case.x, kind=name if name == "interpreter" else "network")
        assert (
            np.array_equal(actual, case.expected) if case.whole else (np.abs(actual - case.expected) <= limit).all()
        ), name
    for kind in (*case.kinds, "hawk"):
        for dtype in DTYPES:
            module = network.to_torch(kind, dtype=getattr(torch, dtype))
            assert kind == "hawk" or type(module.rnn) is MODULES[kind]
            error = np.abs(run(module, case.x) - case.expected)
            assert (error <= module_error(case.program, case.x, kind=kind, dtype=dtype)).all(), (kind, dtype)
            if case.whole and kind != "gru":
                assert not error.any(), (kind, dtype)


@given(
    dim=st.integers(1, 4),
    length=st.integers(1, 8),
    style=st.sampled_from(STYLES),
    blocks=st.lists(st.sampled_from(BLOCKS), min_size=1, max_size=7),
    single=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=50)
def test_random_programs_are_within_their_bounds_of_exact_arithmetic(dim, length, style, blocks, single, seed):
    rng = np.random.default_rng(seed)
    program = random_program(dim, blocks, style, rng)
    x = rng.integers(-4, 5, (length, dim)).astype(float)
    x = x if style == "integer" else (x + rng.uniform(-0.5, 0.5, x.shape)).astype(np.float32).astype(float)
    network, dtype = program.compile(), DTYPES[single]
    held = max((np.abs(values).max() for values in network.activations(x)), default=4.0)
    wanted, results = exact(program, x), [("interpreter", program(x)), ("network", network(x))]
    kinds = ("lstm", "gru") if any(isinstance(v, Multiplicative) for v in program.variables) else tuple(MODULES)
    if "rnn" in kinds:
        results.append(("network", relu_network(network)(x)))
    states = [v for v in program.variables if isinstance(v, LinState)]
    if seed % 3 == 0 and not any(refusal(v.transition, v.weight, v.bias) for v in states):
        kinds = *kinds, "hawk"
    for kind in kinds:
        bound = 2.0 * max(held, 1.0)
        results.append((kind, run(network.to_torch(kind, dtype=getattr(torch, dtype), value_bound=bound), x)))
    for kind, actual in results:
        limit = module_error(program, x, kind=kind, dtype=dtype, value_bound=2.0 * max(held, 1.0))
        error = np.vectorize(lambda value, goal: float(abs(Fraction(value) - goal)))(actual, wanted)
        assert (error <= limit).all(), (kind, dtype, program.variables, float((error / limit).max()))


@pytest.mark.parametrize("kind", [*MODULES, "hawk"])
def test_long_sequences_go_on_where_the_part_before_ended(kind):
    program = Program(RunningMax(LinState(Input(2, bound=4.0), 1.0, bound=256.0), 256.0))
    x = np.random.default_rng(3).integers(-4, 5, (3, 40, 2)).astype(float)
    module = program.compile().to_torch(kind)
    whole = run(module, x)
    module.numbers = 2**16 if kind == "hawk" else 500
    assert np.array_equal(run(module, x), whole)
    assert np.array_equal(whole, program(x))
    assert np.array_equal(run(module, x[1]), whole[1])
    assert run(module, x[:, :0]).shape == (3, 0, 2)
    assert run(module, x[:0]).shape == (0, 40, 2)


@pytest.mark.parametrize("kind", MODULES)
def test_stock_modules_that_can_be_saved_and_do_not_learn(kind):
    network = Program(ReLU(LinState(Input(2, bound=4.0), 0.5) - 1.0)).compile()
    torch.manual_seed(5)
    drawn = torch.rand(3)
    torch.manual_seed(5)
    module, other = network.to_torch(kind), network.to_torch(kind)
    assert torch.equal(torch.rand(3), drawn), "random numbers of the caller"
    assert [type(part) for part in module.children()] == [MODULES[kind], torch.nn.Linear]
    assert module.rnn.num_layers == len(network.layers)
    assert not any(parameter.requires_grad for parameter in module.parameters())
    assert "start" in module.state_dict()
    for tensor in other.state_dict().values():
        tensor.zero_()
    other.load_state_dict(module.state_dict())
    x = np.random.default_rng(1).normal(size=(7, 2))
    assert np.array_equal(run(other, x), run(module, x))
    assert f"kind='{kind}'" in repr(module)


def test_scale_and_sharpness():
    assert run(Program(ReLU(Input(1))).compile().to_torch("rnn"), [[3.0]]) == [[3.0]]  # which needs no bounds
    network = Program(ReLU(Input(1, bound=1000.0))).compile()
    module, single = network.to_torch("lstm"), network.to_torch("gru", dtype=torch.float32)
    assert (module.scale, module.sharpness) == (2.0**-37, 2.0**60)
    assert (single.scale, single.sharpness) == (2.0**-23, 2.0**30)
    assert network.to_torch("lstm", value_bound=2.0).scale == 2.0**-28
    assert [Gates.of(1.0, dtype).slope for dtype in DTYPES] == [2.0**-16, 2.0**-7]
    assert Gates.of(2.0**77, "float32").sharpness / Gates.of(2.0**77, "float32").scale == 2.0**120


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_a_factor_above_all_values_of_layers_has_its_room(kind):
    x = Input(2, bound=4.0)
    program = Program(1e6 * Multiplicative(2.0**-20 * x[0], 2.0**30 * x[1]))
    network = program.compile()
    assert network.value_bound == 2.0**32
    error = run(network.to_torch(kind), [[1.0, 3.0]]) / program([[1.0, 3.0]]) - 1.0
    assert abs(error.item()) <= 1e-3


def test_a_running_maximum_far_above_its_input_has_its_room():
    program = Program(RunningMax(2.0**20 * Input(1, bound=1.0), 8.0))
    assert program.compile().value_bound >= 2.0**20 + 8.0
    assert np.array_equal(run(program.compile().to_torch("lstm"), [[-1.0], [-0.5]]), [[-8.0], [-8.0]])


@pytest.mark.parametrize("kind", MODULES)
def test_gates_are_for_one_dtype(kind):
    network, x = Program(ReLU(Input(1, bound=4.0) - 1.0)).compile(), torch.tensor([[1.2345678], [3.25], [-2.0]])
    single = network.to_torch(kind, dtype=torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        result = single(x)
    assert result.dtype == torch.float32
    assert torch.equal(result, network.to_torch(kind, dtype=torch.float32)(x))
    with pytest.raises(TypeError, match=r"must keep torch\.float32, which its gates are for, got torch\.float64"):
        single.double()(x.double())
    with pytest.raises(TypeError, match=r"must keep torch\.float64, which its gates are for, got torch\.float16"):
        network.to_torch(kind).half()(x.half())
    with torch.device("meta"):
        assert network.to_torch(kind, device="cpu").start.device.type == "cpu"


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_step_of_a_long_sum_is_exact_in_every_module(dtype):
    bits = Input(1, bound=1.0)
    program = Program(step(LinState(2.0 * bits - 1.0, 1.0, bound=2.0**16)))
    x = np.random.default_rng(9).integers(0, 2, (1, 3000, 1)).astype(float)
    expected = np.cumsum(2.0 * x - 1.0, axis=1) > 0.0
    for kind in (*MODULES, "hawk"):
        assert np.array_equal(run(program.compile().to_torch(kind, dtype=getattr(torch, dtype)), x), expected), kind


@pytest.mark.parametrize("kind", ["lstm", "gru"])
@pytest.mark.parametrize(("dtype", "share"), [("float64", 4e-10), ("float32", 2e-3)])
@pytest.mark.parametrize("size", [2.0**-30, 0.3, 1.0, 100.0, 2.0**40])
def test_products_are_as_exact_for_factors_of_any_size(kind, dtype, share, size):
    x = Input(2, bound=1.0)
    program = Program((size * x[0]) * x[1])
    values = np.random.default_rng(0).uniform(-1.0, 1.0, (400, 2)).astype(np.float32).astype(np.float64)
    values[:4] = [[1.0, 1.0], [-1.0, 1.0], [1.0, 1e-3], [1e-3, -1.0]]
    actual = run(program.compile().to_torch(kind, dtype=getattr(torch, dtype)), values)
    error = np.abs(actual[:, 0] - size * values[:, 0] * values[:, 1])
    assert (error <= share * size).all()
    assert (error <= module_error(program, values, kind=kind, dtype=dtype)[:, 0]).all()
