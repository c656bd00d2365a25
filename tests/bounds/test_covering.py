"""Covering numbers against the printed table, known coverings, and each other."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds import HypothesisError, covering_number
from bounds.covering import METHODS

# log10 N: dim, radius, lower, greedy, volume, rogers
TABLE = [(8, 0.1, 8.87, 10.51, 11.27, 11.30), (16, 0.05, 21.83, 23.83, 26.64, 24.73), (2, 0.1, 2.60, 3.52, 3.20, None)]


@pytest.mark.parametrize(("dim", "radius", "lower", "greedy", "volume", "rogers"), TABLE)
def test_table(dim, radius, lower, greedy, volume, rogers):
    expected = {"lower": lower, "greedy": greedy, "volume": volume} | ({"rogers": rogers} if rogers else {})
    for method, log10 in expected.items():
        assert covering_number(radius, dim=dim, method=method).log10 == pytest.approx(log10, abs=0.00501)


@pytest.mark.parametrize(("dim", "radius", "log10"), [(8, 0.1, 10.43), (16, 0.05, 23.76), (2, 0.1, 3.2045)])
def test_random_then_fill(dim, radius, log10):
    assert covering_number(radius, dim=dim, method="random").log10 == pytest.approx(log10, abs=0.00501)


# optimal coverings of S^2: number of caps and their radius in degrees (tetrahedron, octahedron, icosahedron)
@pytest.mark.parametrize(("n", "degrees"), [(4, 70.528780), (6, 54.735611), (12, 37.377369)])
def test_contains_optimal_coverings(n, degrees):
    radius = math.radians(degrees) + 1e-8
    assert covering_number(radius, dim=2, method="lower").value <= n
    assert covering_number(radius, dim=2, method="best").value >= n


@given(dim=st.integers(1, 300), radius=st.floats(1e-6, math.pi))
def test_lower_is_below_every_upper(dim, radius):
    below = covering_number(radius, dim=dim, method="lower").log
    best = covering_number(radius, dim=dim).log
    assert below <= best + 1e-12
    for method in ("volume", "greedy", "random", "rogers", "circle"):
        assert covering_number(radius, dim=dim, method=method).log >= best


@given(st.floats(1e-9, math.pi / 2, exclude_max=True))
def test_circle_is_exact(radius):
    count = covering_number(radius, dim=1).as_integer()
    assert count * 2 * radius >= 2 * math.pi * (1 - 1e-12)
    assert (count - 1) * 2 * radius < 2 * math.pi


def test_greedy_optimum_is_no_worse_than_a_scan():
    from spherapprox.special import log_cap_measure

    dim, radius = 8, 0.1
    eta = radius * np.linspace(1e-3, 0.9, 400)
    net = log_cap_measure(dim, radius - eta / 2) - log_cap_measure(dim, eta / 2)
    scan = np.log1p(net) - log_cap_measure(dim, radius - eta)
    assert covering_number(radius, dim=dim, method="greedy").log <= scan.min()


def test_large_radii():
    for method in METHODS:
        assert covering_number(math.pi / 2, dim=5, method=method).value == 2.0
        assert covering_number(math.pi, dim=5, method=method).value == 1.0


def test_rogers_outside_its_range():
    outside = covering_number(0.5, dim=8, method="rogers")
    assert outside.value == math.inf
    assert "sin(radius) <= 1/(dim+1)" in outside.failed
    with pytest.raises(HypothesisError, match="dim >= 2"):
        covering_number(0.1, dim=1, method="rogers", strict=True)


def test_arrays():
    table = covering_number([0.1, 0.2], dim=[[2], [8]], method="volume")
    assert table.shape == (2, 2)
    assert table[1, 0].log == covering_number(0.1, dim=8, method="volume").log


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"radius": 0.0, "dim": 2}, ValueError, "'radius' must be greater than 0.0, got 0"),
        ({"radius": 4.0, "dim": 2}, ValueError, "'radius' must be at most 3.14"),
        ({"radius": math.nan, "dim": 2}, ValueError, "'radius' must be a number"),
        ({"radius": "a", "dim": 2}, TypeError, "'radius' must be a real number"),
        ({"radius": 0.1, "dim": 0}, ValueError, "'dim' must be at least 1, got 0"),
        ({"radius": 0.1, "dim": 2.5}, ValueError, "'dim' must be an integer"),
        ({"radius": 0.1, "dim": 2, "method": "magic"}, ValueError, "'method' must be one of 'best'"),
    ],
)
def test_bad_input(arguments, error, message):
    with pytest.raises(error, match=message):
        covering_number(**arguments)
