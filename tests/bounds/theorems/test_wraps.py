"""Points from lattices laid on cells, built and counted: docs/theorems/4.E-lower-without-sampling.md (v)."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest

from bounds.theorems._shells import log_density
from bounds.theorems._wraps import largest_normal, log_wrapped, separation
from spherapprox import points
from spherapprox.special import log_surface_area

LATTICES = {2: np.array([[1.0, 0.0], [0.5, 0.75**0.5]]), 3: np.array([[1.0, 1, 0], [1, 0, 1], [0, 1, 1]]) * 0.5**0.5}
"""Hexagonal and face-centred cubic, of minimal distance 1."""


def on_one_cube(dim, angle, rng):
    """Return lattice points, lifted to the cell x_0 = max |x_i|, at least angle/2 from its boundary."""
    sine = math.sin(0.5 * angle)
    rows = LATTICES[dim] * 2.0 * sine
    reach = math.ceil(1.5 / sine)
    total = np.array(list(itertools.product(range(-reach, reach + 1), repeat=dim)))
    z = (total + rng.random(dim)) @ rows
    z = z[(z**2).sum(axis=1) < 1.0]
    x = np.column_stack([np.sqrt(1.0 - (z**2).sum(axis=1)), z])
    return x[x[:, 0] - np.abs(z).max(axis=1) >= math.sqrt(2.0) * sine]


@pytest.mark.parametrize(("dim", "angle"), [(2, 0.15), (2, 0.5), (3, 0.45)])
def test_lattices_on_cubes_are_separated_and_as_many(dim, angle):
    rng, result, counts = np.random.default_rng(3), [], []
    for axis, sign in itertools.product(range(dim + 1), (1.0, -1.0)):
        translates = [on_one_cube(dim, angle, rng) for _ in range(15)]
        counts.append([len(translate) for translate in translates])
        cell = max(translates, key=len)
        turned = np.roll(cell, axis, axis=1)
        turned[:, axis] *= sign
        result.append(turned)
    x = np.concatenate(result)
    assert np.max(np.triu(x @ x.T, 1)) <= math.cos(angle) + 1e-12
    area = math.sqrt(2.0 * math.pi) * largest_normal(dim + 1)
    cubes = math.exp(log_density(dim)) * (1.0 / math.tan(0.5 * angle) - 1.0) ** dim * area
    assert math.exp(log_wrapped(dim, angle)) >= 2 * (dim + 1) * math.ceil(cubes / (2 * (dim + 1))) - 1e-9
    assert len(x) >= 2 * (dim + 1) * math.ceil(cubes / (2 * (dim + 1)))
    assert np.mean(counts) >= cubes / (2 * (dim + 1)) - 4.0 * np.std(counts) / math.sqrt(np.size(counts))


@pytest.mark.parametrize("d", [2, 3, 9, 25, 1000, 10**6 + 1])
def test_largest_normal_against_mpmath(d):
    with mp.workdps(30):
        truth = mp.quad(lambda s: 1 - mp.erf(s / mp.sqrt(2)) ** d, [0, 0.5, *range(1, 9), 10, 14, 20])
    assert largest_normal(d) == pytest.approx(float(truth), rel=1e-14)


@pytest.mark.parametrize("dim", [2, 5, 12])
def test_projected_cubes_have_the_mean_of_the_largest_coordinate(dim):
    # int max |x_i| over S^m = sqrt(2 pi) V_m E
    x = points.uniform(dim, 100_000, np.random.default_rng(5)).points
    largest = np.abs(x).max(axis=1)
    ball = math.pi ** (0.5 * dim) / math.gamma(0.5 * dim + 1.0)
    exact = math.sqrt(2.0 * math.pi) * ball * largest_normal(dim + 1) / math.exp(float(log_surface_area(dim)))
    assert exact == pytest.approx(largest.mean(), abs=5.0 * largest.std() / math.sqrt(1e5))


@pytest.mark.parametrize("dim", [2, 8, 24, 200])
@pytest.mark.parametrize("angle", [1e-9, 1e-3, 0.05, 0.8])
def test_no_voronoi_cells_are_better(dim, angle):
    def log(delta):
        return dim * np.log1p(-math.sin(0.5 * angle) / np.sin(0.5 * delta)) + np.log(np.cos(delta))

    grid = np.geomspace(angle * (1.0 + 1e-9), 0.5 * math.pi * (1.0 - 1e-9), 4001)
    assert log(separation(dim, angle)) >= np.max(log(grid)) - 1e-12


@pytest.mark.parametrize("dim", [2, 8, 24, 97, 10**5])
@pytest.mark.parametrize("angle", [1e-300, 1e-60, 1e-12])
def test_small_angles_attain_the_density_of_the_lattice(dim, angle):
    # Delta w_m/V_m (2/t)^m
    with mp.workdps(40):
        ball = mp.mpf(dim) / 2 * mp.log(mp.pi) - mp.loggamma(mp.mpf(dim) / 2 + 1)
        area = mp.log(2) + (mp.mpf(dim) + 1) / 2 * mp.log(mp.pi) - mp.loggamma((mp.mpf(dim) + 1) / 2)
        ideal = float(log_density(dim) + area - ball + dim * mp.log(2 / mp.mpf(angle)))
    loss = 3.0 * (dim * angle) ** (2.0 / 3.0)
    assert -1e-14 * ideal - loss <= log_wrapped(dim, angle) - ideal <= 1e-14 * ideal
