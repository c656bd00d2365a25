"""Kernel sums: a split head's prompt, read by a recurrent model."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox import ClassicalHead, EqualMeasurePartition, SplitHead, sphere, targets
from spherapprox.prompts.recurrent.programs import KernelSum


def field_head():
    return SplitHead.from_target(targets.geomagnetic_field(2025.0), EqualMeasurePartition(2, 300), 60.0)


def proven(x, head, model):
    """The bound of 10.5, for each query."""
    logits = head.concentration * (x @ head.control_points.T - 1.0)
    sums = np.exp(logits).sum(axis=1)
    largest = np.abs(head.values).max()
    chords = model.spacing**2 / 8.0 * np.exp(model.spacing)
    return 2.0 * largest * (chords + len(head) * np.exp(-model.depth) / sums)


@pytest.mark.parametrize(("spacing", "error"), [(0.4, 0.07), (0.2, 0.015), (0.1, 0.004)])
def test_the_magnetic_field(spacing, error):
    head, model = field_head(), KernelSum(2, 1, spacing, bound=128.0, length=300)
    x = sphere.uniform(2, 500, rng=0)
    residual = np.abs(model.run(x, model.prompt(head))[:, 0] - head(x))
    assert 0.5 * error < residual.max() <= error
    assert (residual <= proven(x, head, model)).all()


@settings(max_examples=20, deadline=None)
@given(
    st.integers(1, 4), st.integers(1, 40), st.floats(0.5, 20.0), st.floats(0.05, 1.0), st.floats(5.0, 60.0),
    st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_the_bound_holds(dim, n, concentration, spacing, depth, seed):
    rng = np.random.default_rng(seed)
    head = SplitHead(sphere.uniform(dim, n, rng=rng), rng.standard_normal((n, 2)), concentration)
    model, x = KernelSum(dim, 2, spacing, depth), sphere.uniform(dim, 30, rng=rng)
    bound = proven(x, head, model)
    near = bound < np.abs(head.values).max()  # elsewhere no token may be within the depth
    if near.any():
        residual = np.abs(model.run(x[near], model.prompt(head)) - head(x[near])).max(axis=1)
        assert (residual <= bound[near] + 1e-12).all()


def test_classical_heads_and_one_concentration_for_each_token():
    head, model = field_head(), KernelSum(2)
    assert np.array_equal(model.prompt(ClassicalHead.from_head(head)), model.prompt(head))
    rng = np.random.default_rng(0)
    mixed = SplitHead(sphere.uniform(2, 20, rng=rng), rng.standard_normal(20), rng.uniform(1.0, 5.0, 20))
    x, fine = sphere.uniform(2, 50, rng=rng), KernelSum(2, 1, 0.02)
    assert np.abs(fine.run(x, fine.prompt(mixed))[:, 0] - mixed(x)).max() <= 1e-4


def test_one_chord_is_an_exponential():
    head, model = SplitHead(np.eye(2)[:1], [0.5], 1.0), KernelSum(1, 1, 1.0, 1.0)
    outputs = model.network(model.sequences([[0.6, 0.8]], model.prompt(head)))[0, -1]
    assert np.abs(outputs - 0.6 * (1.0 - np.exp(-1.0)) * np.array([0.5, 1.0])).max() <= 1e-15
