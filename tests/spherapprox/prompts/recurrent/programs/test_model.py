"""Prompt models: parts of long prompts, many queries, and whole sequences."""

import numpy as np
import pytest

from spherapprox import EqualMeasurePartition, SplitHead, sphere, targets
from spherapprox.prompts.recurrent import Multiplicative, programs, validate


def test_parts_of_prompts_and_of_queries_make_no_difference():
    rng = np.random.default_rng(0)
    lookup, extension = programs.Dictionary(3, 9), programs.Extension(2)
    keys, points = np.unique(rng.integers(1, 10, (40, 3)), axis=0), rng.random((50, 2))
    for model, x, prompt in (
        (lookup, keys[:30], lookup.prompt(keys, keys[::-1])),
        (extension, rng.random((40, 2)), extension.prompt(points, points[:, 0])),
    ):
        answers = model.run(x, prompt)
        assert np.array_equal(model._run(x, prompt, entries=64), answers)
        assert np.array_equal(model._run(x, prompt, workers=1, entries=64), answers)
        assert np.array_equal(model.answers(model.network(model.sequences(x, prompt))), answers)


def field_head():
    return SplitHead.from_target(targets.geomagnetic_field(2025.0), EqualMeasurePartition(2, 40), 8.0)


@pytest.mark.parametrize(
    ("model", "size", "make", "atol"),
    [
        (programs.Extension(1), 20, lambda model, x: model.prompt(x, x.mean(axis=1)), 4e-15),
        (programs.Extension(3), 20, lambda model, x: model.prompt(x, x.mean(axis=1)), 4e-15),
        (programs.Grid(1), 90, lambda model, x: model.prompt(lambda x: x.mean(axis=1), 4), 1e-9),
        (programs.Grid(2), 90, lambda model, x: model.prompt(lambda x: x.mean(axis=1), 4), 1e-9),
        (
            programs.KernelSum(2, 1, 0.5, 10.0, bound=128.0, length=300),
            8,
            lambda model, x: model.prompt(field_head()),
            1e-7,
        ),
    ],
    ids=["Extension(1)", "Extension(3)", "Grid(1)", "Grid(2)", "KernelSum"],
)
def test_torch_modules_answer_as_networks_do(model, size, make, atol):
    torch, rng = pytest.importorskip("torch"), np.random.default_rng(0)
    prompt = make(model, rng.random((size, model.dim)))
    x = sphere.uniform(2, size, rng=rng) if isinstance(model, programs.KernelSum) else rng.random((size, model.dim))
    if isinstance(model, programs.Grid):  # half of them near faces, in the ramps
        faces = np.round(4.0 * x[::2]) / 4.0 + rng.uniform(-2.0, 2.0, x[::2].shape) / model.slope
        x[::2] = np.clip(faces, 0.0, 1.0)
    kinds = [kind for kind in ("rnn", "lstm", "gru", "hawk") if not validate(model.program, kind)]
    assert len(kinds) == (3 if any(isinstance(v, Multiplicative) for v in model.program.variables) else 4)
    for kind in kinds:
        outputs = model.network.to_torch(kind)(torch.tensor(model.sequences(x, prompt)))
        assert np.abs(model.answers(outputs.numpy()) - model.run(x, prompt)).max() <= atol, kind
