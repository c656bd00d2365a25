"""Relaxation: known points of least energy, and what any relaxation keeps."""

import math
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pointsets import nearly_doubled, separation
from scipy.spatial.distance import pdist
from sums import unit

from spherapprox import EqualMeasurePartition, points, sphere
from spherapprox.points import relaxation

fixed = settings(derandomize=True, deadline=None, max_examples=20)
THOMSON = {  # https://en.wikipedia.org/wiki/Thomson_problem, from Wales and Ulker 2006
    2: 0.5, 3: 1.732050808, 4: 3.674234614, 5: 6.474691495, 6: 9.985281374, 7: 14.452977414, 8: 19.675287861,
    9: 25.759986531, 10: 32.716949460, 11: 40.596450510, 12: 49.165253058, 24: 223.347074052, 32: 412.261274651,
}  # fmt: skip


def energy(x, s):
    r = pdist(x)
    return -np.log(r).sum() if s == 0.0 else (r**-s).sum()


@pytest.mark.parametrize("n", THOMSON)
def test_relaxation_solves_thomsons_problem(n):
    relaxed = [points.relax(points.uniform(2, n, seed), exponent=1.0, steps=300).points for seed in range(2)]
    assert min(energy(x, 1.0) for x in relaxed) == pytest.approx(THOMSON[n], abs=4e-9)


@pytest.mark.parametrize(("dim", "exponent"), [(1, None), (2, 0.0), (3, 2.5), (6, None), (15, 40.0), (50, 0.0)])
def test_relaxation_finds_the_simplex(dim, exponent):
    relaxed = points.relax(points.uniform(dim, dim + 2, 0), exponent=exponent, steps=400).points
    gram = relaxed @ relaxed.T
    assert np.allclose(gram[~np.eye(dim + 2, dtype=bool)], -1.0 / (dim + 1), rtol=0, atol=2e-6)


@pytest.mark.parametrize(("dim", "exponent"), [(1, 1.0), (2, None), (3, 0.0), (5, 4.0)])
def test_relaxation_finds_the_cross_polytope(dim, exponent):
    best = np.vstack([np.eye(dim + 1), -np.eye(dim + 1)])
    relaxed = [points.relax(points.uniform(dim, 2 * dim + 2, seed), exponent=exponent, steps=400) for seed in range(3)]
    s = dim + 1 if exponent is None else exponent
    assert min(energy(x.points, s) for x in relaxed) == pytest.approx(energy(best, s), rel=1e-10)


@pytest.mark.parametrize(("n", "exponent"), [(2, None), (3, 0.0), (7, 1.0), (20, 2.0), (20, 30.5)])
def test_relaxation_finds_regular_polygons(n, exponent):
    relaxed = points.relax(points.uniform(1, n, 1), exponent=exponent, steps=2000)
    assert relaxed.covering_bound() == pytest.approx(math.pi / n, rel=1e-5)
    assert separation(relaxed.points) == pytest.approx(2 * math.pi / n, rel=1e-5)


def test_the_600_cell_stays():
    cell = points.spherical_design(3, 11).points
    assert separation(cell) == pytest.approx(math.pi / 5)
    relaxed = points.relax(cell, steps=20).points
    assert np.allclose(relaxed, cell, rtol=0, atol=1e-7)
    assert energy(relaxed, 4.0) <= energy(cell, 4.0)
    moved = sphere.uniform(3, 120, 0) * 0.03 + cell
    back = points.relax(unit(moved), steps=200).points
    assert energy(back, 4.0) == pytest.approx(energy(cell, 4.0), rel=1e-9)


@fixed
@given(
    st.integers(1, 5), st.integers(2, 40), st.sampled_from([0.0, 0.5, 1.0, 3.0, 7.25, 64.0, 3000.0]),
    st.integers(0, 12), st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_relaxation_never_raises_the_energy(dim, n, s, steps, seed):
    x = sphere.uniform(dim, n, seed)
    relaxed = points.relax(x, exponent=s, steps=steps).points
    assert np.abs(np.linalg.norm(relaxed, axis=1) - 1.0).max() < 4e-16 or np.array_equal(relaxed, x)
    if s == 0.0:
        assert energy(relaxed, s) <= energy(x, s) + 1e-12 * n * n
    else:
        logs = [np.logaddexp.reduce(-s * np.log(pdist(y))) for y in (relaxed, x)]
        assert logs[0] <= logs[1] + 1e-12 * (abs(logs[1]) + 1)


@pytest.mark.parametrize("s", [0.0, 1.0, 2.0, 2.5, 5.0, 900.0])
def test_energy_and_gradient(s):
    x = sphere.uniform(3, 200, 1)
    objective = relaxation.Energy(x, s)
    r = pdist(x)
    value, gradient = objective(2.5 * x.ravel())
    logs = np.logaddexp.reduce(-s * np.log(r)) / s if s else -np.log(r).mean()
    assert value == pytest.approx(200 * logs, rel=1e-13)
    rng = np.random.default_rng(0)
    step = 1e-6 / (1 + s)
    for way in rng.standard_normal((3, 800)):
        ahead, behind = (objective(2.5 * x.ravel() + sign * step * way)[0] for sign in (1, -1))
        assert (ahead - behind) / (2 * step) == pytest.approx(float(gradient @ way), rel=1e-4, abs=1e-4)
    assert np.abs(np.einsum("ij,ij->i", gradient.reshape(x.shape), x)).max() < 1e-9  # tangent


def test_workers_do_not_change_the_result():
    threads = set(threading.enumerate())
    assert np.array_equal(*(points.relax(points.uniform(4, 500, 0), steps=5, workers=k).points for k in (1, 2)))
    assert set(threading.enumerate()) <= threads


def test_relaxation_separates_and_covers_better():
    random, cells = points.uniform(2, 300, 0), EqualMeasurePartition(3, 500)
    relaxed = points.relax(random)
    assert relaxed.covering_bound() < 0.6 * random.covering_bound()
    assert separation(relaxed.points) > 5 * separation(random.points)
    assert separation(points.relax(cells, progress=True).points) > 1.1 * separation(cells.centers())
    assert np.array_equal(points.relax(random).points, relaxed.points)


def test_relaxation_parts_nearly_coincident_points():
    for s in (0.0, None, 100.0):
        assert separation(points.relax(nearly_doubled(1e-9), exponent=s, steps=300).points) > 0.15


def test_points_that_cannot_move_come_back():
    assert np.array_equal(points.relax([[0.6, 0.8]]).points, [[0.6, 0.8]])
    lattice = points.fibonacci(30)
    assert np.array_equal(points.relax(lattice, steps=0).points, lattice.points)
    poles = np.array([[0.0, 0.0, 1.0 + 1e-8], [0.0, 0.0, -1.0]])
    assert np.array_equal(points.relax(poles).points, poles)


def test_an_interruption_passes_through(monkeypatch):
    calls = []

    def interrupt(self, y):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return call(self, y)

    call = relaxation.Energy.__call__
    monkeypatch.setattr(relaxation.Energy, "__call__", interrupt)
    threads = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        points.relax(points.fibonacci(50), workers=2)
    assert set(threading.enumerate()) <= threads
