"""Errors of interpolants on Kuhn's triangulation and of one hidden layer: attained, contained, and the mean itself."""

import math

import numpy as np
import pytest

from bounds import prompts
from spherapprox.prompts.executor import ReluNetwork
from spherapprox.prompts.executor.pieces import damping

BOX, CELLS = [(-1.0, 2.0), (0.0, 1.0), (3.0, 3.5)], (3, 2, 2)
HESSIAN = np.array([[1.0, 0.5, 0.25], [0.5, 2.0, 0.75], [0.25, 0.75, 3.0]])


def middle(d):
    """Return the steps of the grid, and the centre of its first cell."""
    low, high = np.array(BOX[:d]).T
    steps = (high - low) / CELLS[:d]
    return steps, low + 0.5 * steps


def from_vertices(x):
    """Return the distances of rows from the lines of the grid, along each axis."""
    steps, centre = middle(x.shape[1])
    z = (x - centre) / steps + 0.5
    return np.abs(z - np.rint(z)) * steps


@pytest.mark.parametrize("d", [1, 2, 3])
def test_every_form_is_attained(d):
    centre = middle(d)[1]
    slopes, hessian = np.array([1.0, 3.0, 2.0])[:d], HESSIAN[:d, :d]
    cases = (
        (lambda x: from_vertices(x) @ slopes, {"lipschitz": slopes}),
        (lambda x: 2.0 * np.linalg.norm(from_vertices(x), axis=1), {"lipschitz": 2.0}),
        (lambda x: 1.5 * (x * x).sum(axis=1), {"curvature": 3.0}),
        (lambda x: 0.5 * np.einsum("ni,ij,nj->n", x, hessian, x), {"curvature": hessian}),
    )
    for f, options in cases:
        bound = prompts.interpolation_error(BOX[:d], CELLS[:d], **options)
        network = ReluNetwork.interpolate(f, BOX[:d], CELLS[:d])
        assert abs(network(centre[None]) - f(centre[None]))[0, 0] == pytest.approx(bound.value, rel=1e-12)
        x = np.random.default_rng(d).uniform(*np.array(BOX[:d]).T, (500, d))
        assert np.abs(network(x)[:, 0] - f(x)).max() <= bound.value * (1.0 + 1e-12)
    smaller = prompts.interpolation_error(BOX[:d], CELLS[:d], lipschitz=slopes, curvature=1e-3)
    assert smaller == prompts.interpolation_error(BOX[:d], CELLS[:d], curvature=1e-3)


def test_a_function_that_is_linear_has_no_error():
    assert prompts.interpolation_error(BOX, CELLS, curvature=0.0).value == 0.0
    assert prompts.interpolation_error([(0, 1e300)] * 2, 1, curvature=1e100).value == math.inf
    assert prompts.interpolation_error([(0, 1e300)] * 2, 1, lipschitz=1e100).value == math.inf
    assert prompts.shallow_error([(0, 1e300)] * 2, 1, 1, lipschitz=1e100).value == math.inf


@pytest.mark.parametrize(("d", "cells", "pieces"), [(1, 9, 3), (2, (5, 4), 3), (3, (3, 4, 2), 3), (4, 2, 2)])
def test_one_hidden_layer_is_within_its_bound(d, cells, pieces):
    box = [*BOX, (0.0, 2.0)][:d]
    low, high = np.array(box).T
    x = np.random.default_rng(d).uniform(low, high, (200, d))
    f = lambda x: np.abs(np.sin(2.0 * x).sum(axis=1) - 0.5)  # noqa: E731
    network = ReluNetwork.shallow(f, box, cells, pieces)
    assert len(network.weights) == 2
    bound = prompts.shallow_error(box, cells, pieces, lipschitz=2.0, sup_norm=0.5 * (d + 0.5))
    assert np.abs(network(x)[:, 0] - f(x)).max() <= bound.value
    # the mean itself: values under a kernel that is nowhere negative, with reflections at the ends
    counts = np.broadcast_to(cells, d)
    mean, points = np.ones((len(x), 1)), np.zeros((1, 0))
    for i, count in enumerate(counts):
        places = (np.arange(count) + 0.5) / count
        t = np.pi * (x[:, i, None] - low[i]) / (high[i] - low[i])
        k, factors = np.arange(count)[:, None, None], damping(count)[:, None, None]
        factors[1:] *= 2.0
        both = sum((factors * np.cos(k * (t - sign * np.pi * places))).sum(axis=0) for sign in (1.0, -1.0))
        weights = both / (2.0 * count)
        assert weights.min() >= -1e-15
        assert np.abs(weights.sum(axis=1) - 1.0).max() <= 1e-13
        mean = (mean[:, :, None] * weights[:, None]).reshape(len(x), -1)
        axis = np.tile(low[i] + (high[i] - low[i]) * places, len(points))[:, None]
        points = np.hstack([np.repeat(points, count, axis=0), axis])
    smooth = mean @ f(points)
    assert np.abs(network(x)[:, 0] - smooth).max() <= dict(bound.constants)["pieces"]
    fine = ReluNetwork.shallow(f, box, cells, 8 * pieces)
    assert np.abs(fine(x)[:, 0] - smooth).max() <= dict(bound.constants)["pieces"] / 64.0


def test_several_outputs_and_constants_of_their_own():
    x = np.random.default_rng(0).uniform(0.0, 1.0, (300, 2))
    f = lambda x: np.stack([x[:, 0], np.full(len(x), 2.5), x[:, 1] ** 2], axis=1)  # noqa: E731
    both = ReluNetwork.shallow(f, [(0, 1)] * 2, (6, 1), 4)(x)
    assert np.abs(both[:, 1] - 2.5).max() <= 1e-14
    assert np.ptp(both[:, 2]) <= 1e-14
    error = prompts.shallow_error([(0, 1)] * 2, (6, 1), 4, lipschitz=[1.0, 0.0], sup_norm=0.5)
    assert np.abs(both[:, 0] - x[:, 0]).max() <= error.value
    assert dict(error.constants)["mean"] == pytest.approx(math.sin(math.pi / 14.0), rel=1e-14)
