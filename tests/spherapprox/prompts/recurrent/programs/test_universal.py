"""One network for all continuous functions: errors at faces too, and on a sphere, and lengths of prompts."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.prompts.recurrent import error_bound, module_error, prompt_length
from spherapprox import sphere
from spherapprox.prompts.recurrent import Input, LinState, Program, ReLU, RunningMax, validate
from spherapprox.prompts.recurrent.programs import Universal
from spherapprox.prompts.recurrent.programs.model import largest


def queries(dim, cells, rng):
    """Queries everywhere, on faces of all grids, halfway between them, and at corners."""
    width = (dim + 1) / ((dim + 1) * cells - dim)
    faces = width / (2 * dim + 2) * rng.integers(0, 2 * (dim + 1) * cells, (120, dim))
    return np.clip(np.vstack([rng.random((40, dim)), faces, list(product((0.0, 1.0), repeat=dim))]), 0.0, 1.0)


def test_weights_are_the_same_for_all_functions_and_of_the_simplest():
    for model in (Universal(1), Universal(3, 2)):
        arrays = [(layer.weight, layer.bias, layer.recurrent, layer.start) for layer in model.network.layers]
        weights = np.concatenate([array.ravel() for each in arrays for array in each] + [model.network.readout.ravel()])
        assert set(weights) <= {-1.0, 0.0, 1.0}
        assert {type(v).__name__ for v in model.program.variables} == {"Input", "Linear", "LinState", "ReLU"}
        assert {layer.op for layer in model.network.layers} == {"state", "relu"}
        assert validate(model.program, "rnn") == ()


@settings(max_examples=10, deadline=None)
@given(
    st.integers(1, 3), st.integers(1, 4), st.sampled_from([0.01, 1.0, 30.0]), st.floats(-100.0, 100.0),
    st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_errors_of_lipschitz_functions_are_those_of_half_a_cell(dim, cells, constant, offset, seed):
    rng = np.random.default_rng(seed)
    model, kinks, sign = Universal(dim, 2), rng.random((2, 3, dim)), rng.choice([-1.0, 1.0], 2)

    def f(x):
        assert ((x >= 0.0) & (x <= 1.0)).all()  # where it is known
        return offset + constant * sign * np.abs(x[:, None, None] - kinks).max(axis=3).min(axis=2)

    prompt, x = model.prompt(f, cells), queries(dim, cells, rng)
    error = np.abs(model.run(x, prompt) - f(x)).max()
    half = 0.5 * (dim + 1) / ((dim + 1) * cells - dim)
    assert error <= constant * half * (1.0 + 1e-9) + 1e-12 * (100.0 + constant)
    counted = prompt_length(constant * half, dim=dim, lipschitz=constant, theorem="universal").as_integer()
    assert len(prompt) <= counted
    assert error_bound(dim=dim, n=counted, lipschitz=constant, theorem="universal").value == pytest.approx(
        constant * min(half, 1.0), rel=1e-9
    )


def test_high_values_everywhere_but_for_one_corner_need_the_slope():
    """Halfway between the faces of grids some cell must have reached its value, which is the whole range."""
    for dim, cells in ((1, 9), (2, 6), (3, 3)):
        model, x = Universal(dim), queries(dim, cells, np.random.default_rng(0))
        prompt = model.prompt(lambda x: 5.0 * (x.min(axis=1) > 0.0), cells)
        inner = x[x.min(axis=1) > 2.0 / cells]
        assert np.abs(model.run(inner, prompt) - 5.0).max() <= 1e-9


def test_functions_without_a_lipschitz_constant():
    model, x = Universal(1), np.linspace(0.0, 1.0, 301)[:, None]
    for cells in (10, 100):
        error = np.abs(model.run(x, model.prompt(np.sqrt, cells)) - np.sqrt(x)).max()
        assert error <= np.sqrt(1.0 / (2.0 * cells - 1.0))


def test_a_sphere_takes_few_of_the_cubes_cells():
    model, x = Universal(3), sphere.uniform(2, 80, rng=0)

    def f(q):
        y = 2.0 * q - 1.0
        y /= np.maximum(np.linalg.norm(y, axis=1, keepdims=True), 1e-9)
        return y[:, 2] + y[:, 0] * y[:, 1]

    def meets(low, high):
        near, far = np.clip(0.5, low, high) - 0.5, np.maximum(abs(low - 0.5), abs(high - 0.5))
        return (np.linalg.norm(near, axis=1) <= 0.5) & (np.linalg.norm(far, axis=1) >= 0.5)

    lengths = []
    for cells in (5, 10):
        prompt = model.prompt(f, cells, meets)
        lengths.append(len(prompt))
        error = np.abs(model.run((1.0 + x) / 2.0, prompt)[:, 0] - f((1.0 + x) / 2.0)).max()
        assert error <= 2.0 * np.sqrt(2.0) * np.sqrt(3.0) * 4.0 / (4.0 * cells - 3.0)
    assert lengths[1] < 5 * lengths[0] < 4 * 10**3


def test_torch_modules_within_the_bound_of_roundings():
    torch, model = pytest.importorskip("torch"), Universal(2)
    x, prompt = queries(2, 2, np.random.default_rng(1))[20:60], model.prompt(lambda x: x.sum(axis=1), 2)
    steps = model.sequences(x, prompt)
    limit = module_error(model.program, steps[:2], kind="rnn")[:, -1].max()
    for kind, bound in (("rnn", None), ("lstm", 128.0), ("gru", 128.0)):
        outputs = model.network.to_torch(kind, value_bound=bound)(torch.tensor(steps)).numpy()
        assert np.abs(model.answers(outputs)[:, 0] - model.run(x, prompt)[:, 0]).max() <= 2.0 * limit <= 1e-9


def test_with_running_maxima_as_few_values_as_any_model_needs():
    """10.9, (maxima): two maxima, from values at any points; the constant is a number of tokens."""
    dim, slope, rng = 2, 3, np.random.default_rng(2)
    x = Input(2 * dim + 4)
    query = LinState(x[:dim], 1.0)
    scaled = LinState(ReLU(query + x[dim] - 1.0), 1.0)
    distance = largest(ReLU(scaled - x[dim + 1 : -3]) + ReLU(x[dim + 1 : -3] - scaled))
    maxima = RunningMax(x[-3:-1] - distance, 1.0)
    program = Program(LinState(x[-1], 1.0) + 0.5 * (maxima[:1] - maxima[1:]))
    points, q = rng.random((40, dim)), rng.random((300, dim))

    def f(x):
        return slope * np.abs(x - 0.3).max(axis=1) - 7.0

    values = f(points)
    prompt = np.zeros((slope + 40, 2 * dim + 4))
    prompt[:slope, dim], prompt[0, -1] = 1.0, 0.5 * (values.min() + values.max())
    prompt[slope:, dim + 1 : -3] = slope * points
    prompt[slope:, -3:-1] = np.stack([values - values.min(), values.max() - values], axis=1) + slope
    first = np.pad(q, [(0, 0), (0, dim + 4)])[:, None]
    answers = program.compile()(np.concatenate([first, np.broadcast_to(prompt, (300, *prompt.shape))], axis=1))
    far = np.abs(q[:, None] - points).max(axis=2)
    central = 0.5 * ((values - slope * far).max(axis=1) + (values + slope * far).min(axis=1))
    assert np.abs(answers[:, -1, 0] - central).max() <= 1e-12
    assert (np.abs(answers[:, -1, 0] - f(q)) <= slope * far.min(axis=1) + 1e-12).all()
