"""Slab covers: the formula at many digits, lattice points counted, mean widths drawn at random, and the rounding."""

import itertools
import math

import enclosures
import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds import covering_number
from bounds.covering import covering_bound, covering_radius
from bounds.covering.slab import log_slab
from spherapprox import points, sphere
from spherapprox.special import log_surface_area


def projection(part, dim):
    return mp.gammaprod([mp.mpf(part + 1) / 2, mp.mpf(dim) / 2], [mp.mpf(part) / 2, mp.mpf(dim + 1) / 2])


def dual_root(n):
    """Return (covolume, covering radius, inradius, mean of the support function) of A_n*."""
    width = mp.mpf(n) / (2 * mp.sqrt(2)) * projection(1, n)
    return 1 / mp.sqrt(n + 1), mp.sqrt(mp.mpf(n * (n + 2)) / (12 * (n + 1))), mp.sqrt(mp.mpf(n) / (n + 1)) / 2, width


def leech():
    return 1, mp.sqrt(2), 1, mp.sqrt(2)


def with_leech(n):
    """Return the same of the orthogonal sum with A_(n-24)*."""
    covolume, cell, inradius, width = dual_root(n - 24)
    a, b = mp.sqrt(mp.mpf(12) / n), mp.sqrt(mp.mpf(n - 24) / n) / cell
    mean = a * mp.sqrt(2) * projection(24, n) + b * width * projection(n - 24, n)
    return a**24 * covolume * b ** (n - 24), mp.mpf(1), min(a, b * inradius), mean


def mean_number(lattice, n, radius):
    covolume, cell, inradius, width = lattice
    size = cell / mp.sin(mp.mpf(radius))
    root = mp.sqrt(size**2 - cell**2 + width**2)

    def shell(h):
        return (size + h) ** n - max(root + width / root * (h - width) - h, 0) ** n

    share = (width - inradius) / (cell - inradius)
    ball = mp.pi ** (mp.mpf(n) / 2) / mp.gamma(mp.mpf(n) / 2 + 1)
    return ball / covolume * ((1 - share) * shell(inradius) + share * shell(cell))


def truth(dim, radius):
    n = dim + 1
    rivals = [leech()] if n == 24 else [with_leech(n)] if n > 24 else []
    return mp.log(min(mean_number(lattice, n, radius) for lattice in [dual_root(n), *rivals]))


RADII = st.one_of(
    st.floats(1e-3, 1.57), st.floats(-60, -3).map(lambda x: 10.0**x), st.floats(0, 1e-9).map(lambda x: 1.5707963 - x)
)


@settings(max_examples=60)
@given(dim=st.integers(2, 64), radius=RADII)
def test_mean_numbers_against_mpmath_over_all_radii(dim, radius):
    with mp.workdps(150):
        expected = truth(dim, radius)
        assert abs(log_slab(dim, radius) - expected) <= 2e-15 * max(1, abs(expected))


@pytest.mark.parametrize(("dim", "radius"), [(2, 0.3), (3, 0.25), (4, 0.5), (6, 0.8), (3, 1.3)])
def test_mean_of_built_covers_is_just_below_the_bound(dim, radius):
    counts = [len(points.lattice_cover(dim, radius, rng=seed)) for seed in range(60)]
    bound = math.exp(log_slab(dim, radius))
    error = np.std(counts) / math.sqrt(60)
    assert 0.93 * bound - 3 * error <= np.mean(counts) <= bound + 3 * error
    assert min(counts) <= covering_number(radius, dim=dim, method="slab").value


def support(x):
    """Return the support function of the permutohedron of A_n*, over its covering radius, for rows of sum 0."""
    size = x.shape[1]
    half = sum(np.abs(x[:, i] - x[:, j]) for i, j in itertools.combinations(range(size), 2)) / (2 * size)
    return half / math.sqrt((size - 1) * (size + 1) / (12 * size))


def directions(rng, size, count=20000):
    x = rng.standard_normal((count, size))
    x -= x.mean(axis=1, keepdims=True)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@pytest.mark.parametrize(("n", "log_covolume"), [(3, -0.5 * math.log(4)), (9, -0.5 * math.log(10))])
def test_slabs_are_as_thick_as_the_mean_cell(n, log_covolume):
    cell = 0.5 * math.log(n * (n + 2) / (12 * (n + 1)))
    h = support(directions(np.random.default_rng(0), n + 1))
    # as the radius falls to 0, N is the volume w_m R^m 2 E h of the slab over the covolume
    expected = log_surface_area(n - 1) - (log_covolume - n * cell) + math.log(2 * h.mean()) - (n - 1) * math.log(1e-9)
    assert log_slab(n - 1, 1e-9) == pytest.approx(expected, abs=4e-3)


def test_slabs_of_a_sum_with_the_leech_lattice_are_as_thick_as_its_mean_cell():
    x = sphere.uniform(25, 20000, rng=1)
    plane = np.column_stack([np.ones(3), np.eye(3)[:, :2]])
    two = x[:, 24:] @ np.linalg.qr(plane)[0][:, 1:].T  # (20000, 3), sum 0: the part in the plane of A_2*
    h = math.sqrt(24 / 26) * np.linalg.norm(x[:, :24], axis=1) + math.sqrt(2 / 26) * support(two)
    a, b = math.sqrt(12 / 26), math.sqrt(2 / 26) / math.sqrt(8 / 36)  # scales; covolumes are 1 and 1/sqrt 3
    log_covolume = 24 * math.log(a) - 0.5 * math.log(3) + 2 * math.log(b)
    expected = log_surface_area(25) - log_covolume + math.log(2 * h.mean()) - 25 * math.log(1e-9)
    assert log_slab(25, 1e-9) == pytest.approx(expected, abs=2e-3)


@given(dim=st.integers(2, 20), radius=st.floats(0.05, 1.57))
def test_mean_numbers_are_rounded_down(dim, radius):
    bound, mean = covering_bound(radius, dim, "slab"), math.exp(log_slab(dim, radius))
    assert bound.whole == (mean < 1e9)
    if bound.whole:
        assert mean - 1 < bound.value <= mean * (1 + 1e-12)


@pytest.mark.parametrize(("n", "dim"), [(100, 2), (5000, 4), (10**6, 8), (999_999_999, 6), (10**9, 6), (1e20, 23)])
def test_no_smaller_radius_has_so_few_points(n, dim):
    radius = covering_radius(n, dim=dim, method="slab").value
    assert covering_number(radius, dim=dim, method="slab").value <= n * (1 + 1e-12)
    assert covering_number(radius * (1 - 1e-10), dim=dim, method="slab").value > n


@pytest.mark.parametrize(("dim", "radius"), [(2, 0.3), (8, 0.1), (23, 1e-9), (25, 0.01), (64, 1.5), (3, "1/4")])
def test_enclosures_of_slabs_hold_the_truth(dim, radius):
    enclosed = enclosures.log_covering_number(radius, dim=dim, method="slab", digits=25)
    with mp.workdps(60):
        exact = mp.mpf(1) / 4 if radius == "1/4" else mp.mpf(radius)
        mean = truth(dim, exact)
        if mean < mp.log(1e9):
            mean = mp.log(mp.floor(mp.exp(mean)))
        assert enclosed.lower <= mean <= enclosed.upper
        assert enclosed.width <= mp.mpf(10) ** -24 * max(1, mean)
