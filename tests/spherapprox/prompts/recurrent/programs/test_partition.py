"""Grids: the error of every Lipschitz function, at faces too, and prompts from coarse to fine."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox.prompts.recurrent import Multiplicative, validate
from spherapprox.prompts.recurrent.programs import Grid


def near_faces(dim, cells, slope, rng):
    """Queries everywhere, and within the ramps around faces."""
    faces = rng.integers(0, cells + 1, (400, dim)) / cells + rng.uniform(-2.0, 2.0, (400, dim)) / slope
    mixed = np.where(rng.random((400, dim)) < 0.5, faces, rng.random((400, dim)))
    return np.clip(np.vstack([rng.random((400, dim)), faces, mixed, np.eye(dim), np.zeros((1, dim))]), 0.0, 1.0)


def lipschitz(dim, rng):
    """A random function of p = 2 values with Lipschitz constant 1 in Euclidean distance, and sizes up to 1."""
    centres, sign = rng.uniform(-0.2, 1.2, (2, 5, dim)), rng.choice([-1.0, 1.0], 2)

    def function(x):
        away = np.linalg.norm(x[:, None, None] - centres, axis=3).min(axis=2)
        return sign * np.minimum(away, 0.9)

    return function


@pytest.mark.parametrize(("dim", "cells", "error"), [(1, 16, 0.03325), (2, 8, 0.129)])
def test_errors_of_a_sum_of_kinks(dim, cells, error):
    model, f = Grid(dim, slope=1000.0, bound=2.0), lambda x: np.abs(x - 0.4).sum(axis=1)
    x = near_faces(dim, cells, 1000.0, np.random.default_rng(0))
    result = np.abs(model.run(x, model.prompt(f, cells))[:, 0] - f(x)).max()
    assert error * 0.9 < result <= error


def test_where_the_printed_listing_returns_0():
    model = Grid(1, slope=1000.0)
    assert np.array_equal(
        model.run([[0.0], [1e-4], [0.2505]], model.prompt(lambda x: np.ones(len(x)), 4)), np.ones((3, 1))
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 3), st.integers(1, 6), st.sampled_from([16.0, 100.0, 1000.0]), st.integers(0, 2**32 - 1))
def test_the_bound_holds(dim, cells, slope, seed):
    rng = np.random.default_rng(seed)
    model, f = Grid(dim, 2, slope), lipschitz(dim, rng)
    x = near_faces(dim, cells, slope, rng)
    error = np.linalg.norm(model.run(x, model.prompt(f, cells)) - f(x), axis=1).max() / np.sqrt(2.0)
    assert error <= np.sqrt(dim) * (0.5 / cells + 2.0 / slope) + 1e-12


def test_shares_are_a_partition_of_unity_in_ramps():
    """Values of a constant come out exactly, without products as with them."""
    for dim in (1, 2):
        model = Grid(dim, bound=4.0)
        x = near_faces(dim, 8, 1024.0, np.random.default_rng(1))
        values = model.run(x, model.prompt(lambda x: np.full(len(x), 3.0), 8))
        assert np.abs(values - 3.0).max() <= 1e-13


def test_products():
    assert not any(isinstance(v, Multiplicative) for v in Grid(1).program.variables)
    assert validate(Grid(1).program, "rnn") == validate(Grid(2).program, "lstm") == ()
    assert len(validate(Grid(2).program, "rnn")) == 2


def test_prompts_from_coarse_to_fine():
    model, f = Grid(2), lambda x: np.sin(3.0 * x[:, 0]) * x[:, 1]
    x, prompt = np.random.default_rng(0).random((300, 2)), model.prompt(f, (2, 4, 16))
    assert len(prompt) == 4 + 16 + 256
    for end, cells in ((4, 2), (20, 4), (276, 16)):
        alone = model.run(x, model.prompt(f, cells))
        assert np.abs(model.run(x, prompt[:end]) - alone).max() <= 1e-12
