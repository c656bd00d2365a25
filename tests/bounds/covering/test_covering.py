"""Covering numbers against the printed table, known coverings, coverings built here point by point, and each other."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds import covering_number
from bounds.covering import METHODS, NECESSARY, SUFFICIENT, covering_radius
from spherapprox.special import log_cap_measure

DIMS = (1, 2, 3, 4, 6, 8, 16, 24, 26, 65, 1000)


# dim, radius, log10 N of each method; where "best" is printed, it is slabs
PRINTED = [
    (8, 0.1, {"lower": 8.87, "greedy": 10.51, "volume": 11.27, "rogers": 11.30, "random": 10.43, "slab": 9.92,
              "best-lower": 9.28, "zonal": 11.00, "lattice": 10.32}),
    (16, 0.05, {"lower": 21.83, "greedy": 23.83, "volume": 26.64, "rogers": 24.73, "random": 23.76}),
    (2, 0.1, {"lower": 2.60, "greedy": 3.52, "volume": 3.20, "random": 3.2045, "best-lower": 2.69, "zonal": 2.82,
              "lattice": 2.83}),
    (4, 0.1, {"best-lower": 4.95, "zonal": 5.48, "lattice": 5.33}),
    (24, 0.01, {"best-lower": 49.88, "zonal": 55.82, "lattice": 50.77}),
    (6, 0.1, {"best": 7.64}), (8, 0.3, {"best": 6.39}), (12, 0.03, {"best": 20.64}), (23, 0.01, {"best": 48.58}),
    (24, 0.03, {"best": 39.49}),
]  # fmt: skip


@pytest.mark.parametrize(("dim", "radius", "printed"), PRINTED)
def test_printed_covering_numbers(dim, radius, printed):
    for method, log10 in printed.items():
        bound = covering_number(radius, dim=dim, method=method)
        assert bound.log10 == pytest.approx(log10, abs=0.00501)
        assert method != "best" or bound.theorem == "slab"


@pytest.mark.parametrize("radius", [0.6, 1.0, 1.3])
def test_random_then_fill_of_few_caps_is_the_least_of_a_scan(radius):
    net = radius * np.linspace(0.0, 0.5, 20_001)[1:]
    inner, outer = np.sin(net / 2) ** 2, np.sin((radius - net) / 2) ** 2  # the measures of caps of S^2
    least = float(np.min(1 + (1 + np.log(outer / inner)) / outer))
    assert covering_number(radius, dim=2, method="random").value == pytest.approx(least, rel=1e-6)


# optimal coverings of S^2: number of caps and their radius in degrees (tetrahedron, octahedron, icosahedron)
@pytest.mark.parametrize(("n", "degrees"), [(4, 70.528780), (6, 54.735611), (12, 37.377369)])
def test_contains_optimal_coverings(n, degrees):
    radius = math.radians(degrees) + 1e-8
    assert covering_number(radius, dim=2, method="lower").value <= n
    assert covering_number(radius, dim=2, method="best").value == n
    assert covering_number(radius, dim=2, method="fejes-toth").value == pytest.approx(n, abs=1e-5)
    assert covering_radius(n, dim=2).value == pytest.approx(radius, abs=3e-8)
    assert covering_radius(n, dim=2, method="best-lower").value == pytest.approx(radius, abs=3e-8)


# n = 5, 7, 10: optimal radii in degrees, proved by K. Schuette (Math. Ann. 129, 1955) and G. Fejes Toth
@pytest.mark.parametrize(("n", "degrees"), [(5, 63.4349), (7, 51.0266), (10, 42.3078)])
def test_fejes_toth_is_below_other_optimal_coverings(n, degrees):
    for method in ("fejes-toth", "best-lower"):
        assert n - 1 < covering_number(math.radians(degrees), dim=2, method=method).value <= n
    assert covering_number(math.radians(degrees) - 1e-4, dim=2).value >= n


@pytest.mark.parametrize("radius", [1.5, 0.3, 1e-3, 1e-9, 1e-60])
def test_fejes_toth_keeps_its_digits(radius):
    with mpmath.workdps(150):
        omega = mpmath.acot(mpmath.sqrt(3) * mpmath.cos(mpmath.mpf(radius)))
        expected = mpmath.log(2 * omega / (omega - mpmath.pi / 6))
    assert covering_number(radius, dim=2, method="fejes-toth").log == pytest.approx(float(expected), rel=1e-14)


@given(dim=st.integers(1, 300), radius=st.floats(1e-6, math.pi))
def test_lower_is_below_every_upper(dim, radius):
    below = covering_number(radius, dim=dim, method="best-lower").log
    best = covering_number(radius, dim=dim).log
    assert below <= best + 1e-12
    assert best == min(covering_number(radius, dim=dim, method=method).log for method in SUFFICIENT)
    for method in NECESSARY:
        assert covering_number(radius, dim=dim, method=method).log <= below


@pytest.mark.parametrize("dim", DIMS)
def test_counts_fall_as_the_radius_grows(dim):
    radii = [*np.geomspace(1e-60, 1e-3, 8), *np.geomspace(1e-3, math.pi, 60)[1:-1], math.pi]
    for method in sorted(set(METHODS) - {"greedy"}):
        logs = [covering_number(r, dim=dim, method=method) for r in radii]
        logs = [b.log for b in logs if b.holds and math.isfinite(b.log)]
        assert np.diff(logs).max(initial=-1.0) <= 1e-13 * abs(logs[0]) if logs else method != "best"


@given(st.floats(1e-9, math.pi / 2, exclude_max=True))
def test_circle_is_exact(radius):
    count = covering_number(radius, dim=1).as_integer()
    assert count * 2 * radius >= 2 * math.pi * (1 - 1e-12)
    assert (count - 1) * 2 * radius < 2 * math.pi


def test_greedy_and_random_are_no_worse_than_a_scan():
    for dim, radius in ((8, 0.1), (3, 0.9), (5, 1.57), (1000, 1.2)):
        eta = radius * np.linspace(1e-4, 0.9, 400)
        net = log_cap_measure(dim, radius - eta / 2) - log_cap_measure(dim, eta / 2)
        scan = np.log1p(net) - log_cap_measure(dim, radius - eta)
        assert covering_number(radius, dim=dim, method="greedy").log <= scan.min() + 1e-12
        eta = eta[eta <= radius / 2]
        v, s = log_cap_measure(dim, radius - eta), log_cap_measure(dim, eta)
        scan = np.log1p(np.exp(np.log1p(v - s) - v))
        assert covering_number(radius, dim=dim, method="random").log <= scan.min() + 1e-9


@pytest.mark.parametrize("dim", [1, 2, 5, 30, 1000])
def test_simplex_is_exact(dim):
    radius = math.acos(1.0 / (dim + 1))
    for r, n in ((radius + 1e-9, dim + 2), (1.5707, dim + 2), (radius - 1e-9, dim + 3)):
        assert covering_number(r, dim=dim, method="best-lower").value >= n
        assert n > dim + 2 or covering_number(r, dim=dim).as_integer() == n


# ------------------------------------------------------------------------------------------------ ranges and inverse


def test_two_caps_cover_at_a_right_angle_and_one_at_two():
    for method in METHODS:
        assert covering_number(math.pi / 2, dim=5, method=method).value == 2.0
        assert covering_number(math.pi, dim=5, method=method).value == 1.0


@pytest.mark.parametrize(
    ("method", "dim", "radius", "condition"),
    [("rogers", 8, 0.5, "sin(radius) <= 1/(dim+1)"), ("rogers", 1, 0.1, "dim >= 2"), ("circle", 2, 0.1, "dim = 1"),
     ("boroczky-wintsche", 2, 0.1, "dim >= 3"), ("lattice", 8, 0.8, "radius <= pi/4"),
     ("lattice", 65, 0.1, "2 <= dim <= 64"), ("zonal", 1, 0.1, "2 <= dim <= 64"),
     ("polytope", 2, 0.6, "radius >= 0.652358"), ("fejes-toth", 3, 0.1, "dim = 2"),
     ("coxeter-few-rogers", 1, 0.1, "dim >= 2"), ("coxeter-few-rogers", 8, 0.79, "radius <= pi/4")],
)  # fmt: skip
def test_outside_its_range_a_method_is_trivial(method, dim, radius, condition):
    outside = covering_number(radius, dim=dim, method=method)
    assert outside.value == (1.0 if method in NECESSARY else math.inf)
    assert condition in outside.failed


def test_boroczky_and_wintsches_constant_is_400():
    expected = math.log(400 * 5 * math.log(5)) - log_cap_measure(5, 0.3)
    assert covering_number(0.3, dim=5, method="boroczky-wintsche").log == pytest.approx(expected, rel=1e-15)


@given(dim=st.integers(1, 80), radius=st.floats(1e-3, 1.57), method=st.sampled_from(sorted({*SUFFICIENT} - {"greedy"})))
def test_radius_inverts_the_number(dim, radius, method):
    bound = covering_number(radius, dim=dim, method=method)
    if not bound.holds or bound.log > 690.0:
        return
    n = math.ceil(bound.value * (1.0 + 1e-12)) if not bound.whole else bound.value
    least = covering_radius(n, dim=dim, method=method)
    assert least.value <= radius * (1.0 + 1e-12)
    again = covering_number(least.value, dim=dim, method=method)
    assert again.log <= math.log(n) * (1.0 + 1e-14)
    assert covering_radius(n, dim=dim, method="best-lower").value <= covering_radius(n, dim=dim).value * (1.0 + 1e-13)
    assert covering_radius(n, dim=dim).value <= least.value


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 17, 1000, 10**15, 1e300])
def test_radius_on_the_circle(n):
    assert covering_radius(n, dim=1).value == pytest.approx(math.pi / n, rel=1e-12)
    assert covering_radius(n, dim=1, method="best-lower").value <= math.pi / n * (1.0 + 1e-12)


@pytest.mark.parametrize("dim", [1, 2, 3, 8, 1000, 10**6])
def test_radii_of_few_points_are_exact(dim):
    simplex = math.acos(1 / (dim + 1))
    for n, radius in ((1, math.pi), (1.99, math.pi), (2, math.pi / 2), (dim + 1, math.pi / 2), (dim + 2, simplex)):
        for method in ("best", "best-lower"):
            assert covering_radius(n, dim=dim, method=method).value == pytest.approx(radius, rel=1e-14)


@pytest.mark.parametrize("dim", DIMS)
def test_radii_fall_as_points_are_added(dim):
    counts = [*range(1, 20), *np.geomspace(20, 1e300, 15)]
    for method in ("best", "best-lower", "zonal", "lattice"):
        logs = [b.log for b in covering_radius(counts, dim=dim, method=method)]
        assert np.diff(logs).max() <= 1e-12


def test_radius_solves_for_n():
    for method, dim in (("random", 6), ("volume", 6), ("lattice", 6), ("greedy", 6), ("lower", 6), ("fejes-toth", 2)):
        radius = covering_radius(1e9, dim=dim, method=method).value
        assert covering_number(radius, dim=dim, method=method).value == pytest.approx(1e9, rel=1e-9)


def test_radius_where_nothing_is_said():
    assert covering_radius(100, dim=2, method="circle").value == pytest.approx(math.pi)
    assert covering_radius(100, dim=3, method="fejes-toth").value == 0.0
    assert covering_radius(100, dim=3, method="simplex").value == 0.0
