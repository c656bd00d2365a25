"""Extensions: the central algorithm, as well as any that knows the same values."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox.prompts.recurrent import Multiplicative, validate
from spherapprox.prompts.recurrent.programs import Extension


def formula(x, points, values, lipschitz):
    away = lipschitz * np.abs(x[:, None] - points).max(axis=2)[:, :, None]
    return ((values - away).max(axis=1) + (values + away).min(axis=1)) / 2.0


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5), st.integers(1, 30), st.sampled_from([0.5, 1.0, 7.0]), st.integers(0, 2**32 - 1))
def test_it_is_the_formula_and_errs_by_the_distance_to_points_at_most(dim, n, constant, seed):
    rng = np.random.default_rng(seed)
    kinks, sign = rng.uniform(-1.0, 1.0, (2, 3, dim)), rng.choice([-1.0, 1.0], 2)

    def f(x):
        return sign * np.clip(constant * np.abs(x[:, None, None] - kinks).max(axis=3).min(axis=2) - 0.5, -1.0, 1.0)

    model, points = Extension(dim, 2, constant), rng.uniform(-1.0, 1.0, (n, dim))
    x = np.vstack([rng.uniform(-1.0, 1.0, (50, dim)), points[:3]])
    result = model.run(x, model.prompt(points, f(points)))
    assert np.abs(result - formula(x, points, f(points), constant)).max() <= 1e-13 * (1.0 + constant)
    distance = np.abs(x[:, None] - points).max(axis=2).min(axis=1)[:, None]
    assert (np.abs(result - f(x)) <= constant * distance + 1e-13 * (1.0 + constant)).all()


@pytest.mark.parametrize(("dim", "cells"), [(1, 16), (2, 8), (3, 5)])
def test_centres_of_cells(dim, cells):
    """rho is half a cell; a function with a kink in the middle of a face nearly attains it."""
    points = (np.array(list(product(range(cells), repeat=dim))) + 0.5) / cells
    model, x = Extension(dim), np.random.default_rng(0).random((3000, dim))
    worst = [np.abs(model.run(x, model.prompt(points, f(points)))[:, 0] - f(x)).max() for f in (
        lambda x: np.abs(x - 0.4).max(axis=1), lambda x: np.abs(x - 0.4).mean(axis=1),
    )]  # fmt: skip
    assert 0.4 / cells < max(worst) <= 0.5 / cells


def test_no_method_does_better():
    """Two functions that have the same values at all points, apart by twice the distance: any method misses one."""
    points, x, model = np.array([[0.25], [0.75]]), np.array([[0.5]]), Extension(1)
    prompt, distance = model.prompt(points, [0.0, 0.0]), np.abs(x - points).min()
    assert (model.run(x, prompt)[0, 0], distance) == (0.0, 0.25)
    for sign in (-1.0, 1.0):
        assert np.array_equal(prompt, model.prompt(points, sign * np.abs(points[:, None] - points).min(axis=1)[:, 0]))


def test_no_products_and_bounds_for_every_module():
    program = Extension(3, 2, 5.0, bound=2.0).program
    assert not any(isinstance(v, Multiplicative) for v in program.variables)
    assert [validate(program, kind) for kind in ("rnn", "lstm", "gru")] == [()] * 3
