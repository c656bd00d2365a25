"""4.D, centroids: D2 against proven digits, and what it bounds on covers with the worst cells one can make."""

import itertools
import math

import enclosures
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bounds import prefix_length
from bounds.records.problem import Problem
from bounds.theorems import state
from bounds.theorems.centroid import centroid, centroid_error, log_centroid_variation, log_variation
from bounds.theorems.core import core, core_error
from spherapprox import EqualMeasurePartition, VonMisesFisher


@pytest.mark.parametrize(
    ("dim", "lam", "rho"),
    [(1, 30.0, 0.1), (1, 1.5, 0.4), (2, 400.0, 0.0077), (3, 1.6, 0.15), (3, 0.3, 0.7), (3, 0.3, 1.2), (8, 70.0, 0.02),
     (8, 7e5, 1e-4), (8, 4.0, 0.9), (100, 170.0, 0.0055), (2, 300.0, 0.06), (1, 1e4, 0.0117), (2, 1e3, 0.1)],
)  # fmt: skip
def test_variation_in_ball_arithmetic(dim, lam, rho):
    expected = float(enclosures.log_centroid_variation(dim, lam, rho, digits=16).midpoint)
    assert log_centroid_variation(lam, rho, dim) == pytest.approx(expected, abs=1e-13, rel=1e-13)


def test_variation_where_it_is_known():
    assert log_centroid_variation(0.0, 0.3, 3) == -math.inf
    assert log_centroid_variation(5.0, math.pi / 2, 3) == math.inf
    # e^q >= 2: no cell can do worse than e^q - 1
    assert log_centroid_variation(1e4, 0.1, 2) == pytest.approx(1e4 * (1 - math.cos(0.1)), rel=1e-13)
    # rho -> 0: rho^2/2 lambda E[max(1, lambda sin^2 theta)]; lambda -> 0: lambda (1 - cos rho)
    theta = (np.arange(10**6) + 0.5) * math.pi / 10**6
    density = np.exp(50.0 * np.cos(theta)) * np.sin(theta) ** 2
    limit = 25.0 * np.sum(density * np.maximum(1.0, 50.0 * np.sin(theta) ** 2)) / np.sum(density)
    for rho in (1e-9, 1e-100, 1e-280):
        assert log_centroid_variation(50.0, rho, 3) - 2 * math.log(rho) == pytest.approx(math.log(limit), abs=2e-7)
    assert log_centroid_variation(1e-30, 0.4, 3) == pytest.approx(math.log(1e-30 * (1 - math.cos(0.4))), rel=1e-14)
    assert log_centroid_variation(1e-17, 0.4, 3) == pytest.approx(math.log(1e-17 * (1 - math.cos(0.4))), rel=1e-14)


@example(dim=1000, lam=100.0, rho=0.1)
@given(
    dim=st.sampled_from([1, 2, 8, 1000, 10**6]), lam=st.floats(-25, 60).map(lambda e: 10.0**e),
    rho=st.floats(-60, 0.19).map(lambda e: 10.0**e),
)  # fmt: skip
def test_variation_grows_and_is_the_smaller_one(dim, lam, rho):
    logs = [log_centroid_variation(lam, rho * factor, dim) for factor in (0.5, 0.9, 1.0, 1.001)]
    assert all(a < b + 2e-15 or b > 1e300 for a, b in itertools.pairwise(logs))  # D2 may be 1 to rounding
    centred = VonMisesFisher(dim, lam).shift_variation(rho, log=True)
    assert log_variation(lam, rho, dim) == min(logs[2], centred)


def wild_cells(dim, rho, rng, mode, n=4_000):
    """Fine points and the number of the cell of each: cells inside caps of radius rho, of slivers and tatters."""
    points = EqualMeasurePartition(dim, n).centers()
    cell, count = np.full(n, -1), 0
    while (cell < 0).any():
        start = points[rng.choice(np.flatnonzero(cell < 0))]
        centre = start + 0.5 * rho * rng.normal(size=dim + 1) / math.sqrt(dim)
        centre /= np.linalg.norm(centre)
        take = np.arccos(np.clip(points @ centre, -1.0, 1.0)) < 0.999 * rho
        if mode == "slivers":
            along = np.abs((points - centre) @ rng.normal(size=dim + 1))
            take &= along > 0.6 * along[take].max(initial=0.0)
        take &= (cell < 0) | (rng.random(n) < 0.3) if mode == "tatters" else cell < 0
        cell[take] = count
        count += 1
    return points, cell, count


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("mode", ["whole", "slivers", "tatters"])
def test_contains_the_variation_of_cells_of_a_cover(dim, mode):
    rng = np.random.default_rng(dim)
    worst = 0.0
    for rho in (0.3, 0.7, 1.3):
        points, cell, count = wild_cells(dim, rho, rng, mode)
        sizes = np.bincount(cell, minlength=count)
        sums = np.stack([np.bincount(cell, weights=x, minlength=count) for x in points.T], axis=1)
        used = sizes > 0
        centroids = sums[used] / np.linalg.norm(sums[used], axis=1, keepdims=True)
        for lam in (0.3, 3.0, 30.0):
            kernel, bound = VonMisesFisher(dim, lam), math.exp(log_centroid_variation(lam, rho, dim))
            for x in (points[0], centroids[-1], points[len(points) // 3]):
                total = np.bincount(cell, weights=kernel(points @ x), minlength=count)[used]
                atoms = kernel(np.clip(centroids @ x, -1.0, 1.0)) * sizes[used]
                measured = np.abs(total - atoms).sum() / len(points)
                worst = max(worst, measured / bound)
    assert 0.02 < worst <= 1.0


def test_nothing_smaller_would_do_to_first_order():
    # S^1, arcs whose mass sits at their ends: the spread term alone is then attained up to the choice of its maximum
    lam, rho = 200.0, 0.01
    kernel = VonMisesFisher(1, lam)
    centre = np.arange(-math.pi, math.pi, 2e-4)
    atoms = kernel(np.cos(centre))
    total = 0.5 * (kernel(np.cos(centre - rho)) + kernel(np.cos(centre + rho)))
    measured = np.mean(np.abs(total - atoms))
    assert 0.5 < measured / math.exp(log_centroid_variation(lam, rho, 1)) < 1.0


def test_the_error_is_its_formula_and_the_prefix_shorter_than_at_centres():
    lam, rho = 1750.0, 2e-3
    d2 = math.exp(log_centroid_variation(lam, rho, 8))
    mean = VonMisesFisher(8, lam).mean_angle(0.5)
    assert centroid_error(lam, rho, 8, 2.0, 3.0, 0.5) == pytest.approx(2.0 * (mean + rho**0.5) + 3.0 * d2, rel=1e-13)
    assert centroid_error(lam, 2.0, 8, 2.0, 3.0) == pytest.approx(core_error(lam, 2.0, 8, 2.0, 3.0), rel=1e-13)
    assert centroid_error(1e100, 1.5, 8, 2.0, 3.0) == math.inf
    greedy = centroid(Problem(0.1, 8, covering="greedy"))
    assert greedy.reference == "docs/theorems/4.D-centroids.md, greedy cover"
    assert greedy.log10 < prefix_length(0.1, dim=8, theorem=state("sharp-core", covering="greedy")).log10 - 6.0


@pytest.mark.parametrize("dim", [1, 2, 8, 1000])
def test_never_longer_than_the_core_head_at_centres(dim):
    for eps in (1e-6, 0.3, 1.6):
        for ratio in (1.0001, 10.0, 1e6):
            problem = Problem(eps, dim, 1.0, ratio * eps, covering="volume")
            assert centroid(problem).log <= core(problem).log * (1 + 1e-12)
