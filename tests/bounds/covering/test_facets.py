"""The simplex floor: angles in closed form, known covers, triangles at random, and its enclosure by a coarse rule."""

import math

import enclosures
import mpmath as mp
import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds import covering_number
from bounds.certify import CertificationError
from bounds.certify._balls import precision
from bounds.certify._formulas import coxeter_few_rogers, log_angle
from bounds.covering import covering_bound, covering_radius
from bounds.covering.facets import LARGEST_RADIUS, log_facets
from spherapprox import sphere
from spherapprox.special import log_cap_measure

METHOD = "coxeter-few-rogers"


def angle_integral(dim, c):
    """Return I(c) of 4.L for dim 2 and 3, by the angle or the excess of the cone that the form makes of the orthant."""
    form = mp.matrix(dim, dim) + (c - c * c)
    for i in range(dim):
        form[i, i] += 1 - c
    edge = form[0, 1] / form[0, 0]
    size = mp.acos(edge) / (2 * mp.pi)
    if dim == 3:  # the equilateral spherical triangle with these edges
        size = (3 * mp.acos(edge / (1 + edge)) - mp.pi) / (4 * mp.pi)
    return size / mp.sqrt(mp.det(form))


def truth(dim, radius):
    rho = mp.mpf(radius)
    c = ((dim + 1) * mp.cos(rho) ** 2 - 1) / dim
    surface = 2 * mp.pi ** (mp.mpf(dim + 1) / 2) / mp.gamma(mp.mpf(dim + 1) / 2)
    count = (dim + 1) * (dim + 2) * mp.factorial(dim) * surface * angle_integral(dim, c)
    return mp.log(count / ((dim + 1) * mp.cos(rho) ** -(dim + 1) + 1))


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("radius", [LARGEST_RADIUS, 0.3, 1e-3, 1e-12, 1e-60])
def test_floors_of_two_and_three_dimensions_in_closed_form(dim, radius):
    with mp.workdps(400):
        expected = truth(dim, radius)
    assert abs(log_facets(dim, radius) - expected) <= 4e-15 * max(1, expected)
    assert enclosures.log_covering_number(radius, dim=dim, method=METHOD, digits=40).contains(expected)


@pytest.mark.parametrize(
    ("dim", "cosine", "floor"),
    [(2, math.sqrt((5 + 2 * math.sqrt(5)) / 15), "11.3605"), (3, (3 + math.sqrt(5)) / math.sqrt(32), "118.855"),
     (3, (2 + math.sqrt(2)) / 4, "42.6786"), (7, math.sqrt(0.5) + 1e-16, "111.990")],
)  # fmt: skip
def test_floors_of_known_covers(dim, cosine, floor):
    # the icosahedron's 12, the 600-cell's 120, the 48 roots of F4, the 240 of E8
    assert math.exp(log_facets(dim, math.acos(cosine))) == pytest.approx(float(floor), rel=5e-6)


@settings(max_examples=40)
@given(dim=st.integers(2, 5000), radius=st.one_of(st.floats(1e-3, 0.785), st.floats(-60, -3).map(lambda x: 10.0**x)))
def test_floats_lie_in_enclosures(dim, radius):
    log = log_facets(dim, radius)
    enclosed = enclosures.log_covering_number(radius, dim=dim, method=METHOD, digits=18)
    assert abs(log - float(enclosed.midpoint)) <= 1e-14 * max(1.0, abs(log))
    assert log > -float(log_cap_measure(dim, radius))
    assert dim > 2 or log <= covering_bound(radius, 2, "fejes-toth").log * (1.0 + 1e-14)


@pytest.mark.parametrize("dim", [2, 8, 26, 300])
def test_what_a_coarse_rule_leaves_out_is_in_its_enclosure(dim):
    with precision(300):
        for c in (arb(dim - 1) / (2 * dim), arb(1)):
            exact = log_angle(dim, c, 60.0)
            assert exact.rad() < 1e-9
            for nats in (3.0, 5.0, 8.0, 12.0):
                assert log_angle(dim, c, nats).contains(exact)
    assert 0.0 < float(abs(log_angle(dim, arb(0.9), 5.0).mid() - log_angle(dim, arb(0.9), 60.0).mid())) < 0.05


def test_nothing_is_proved_beyond_an_eighth_of_a_turn():
    with precision(100), pytest.raises(CertificationError, match="at most pi/4"):
        coxeter_few_rogers(8, arb.pi() / 4 + arb(1e-25), 0.0)


def test_angles_and_measures_of_random_triangles():
    v = sphere.uniform(2, 60000, rng=0).reshape(-1, 3, 3)
    normal = np.cross(v[:, 1] - v[:, 0], v[:, 2] - v[:, 0])
    height = np.abs(np.einsum("ij,ij->i", normal, v[:, 0])) / np.linalg.norm(normal, axis=1)
    v, height = v[height > math.sqrt(0.5)], height[height > math.sqrt(0.5)]
    d = np.abs(np.linalg.det(v))
    a, b, c = (np.einsum("ij,ij->i", v[:, i], v[:, i - 1]) for i in range(3))
    sines = np.sqrt(1 - a * a), np.sqrt(1 - b * b), np.sqrt(1 - c * c)
    angles = [
        np.arccos(np.clip((x - y * z) / (s * t), -1, 1))
        for x, y, z, s, t in ((a, b, c, *sines[1:]), (b, a, c, sines[0], sines[2]), (c, a, b, *sines[:2]))
    ]
    shares = sum(angles) / (2 * math.pi)
    measure = (sum(angles) - math.pi) / (4 * math.pi)
    mean = (3 * height**2 - 1) / 2
    floor = np.array([float(angle_integral(2, mp.mpf(x))) for x in mean[:500]])
    assert len(v) > 2000
    assert np.all(shares[:500] >= 3 * d[:500] * floor * (1 - 1e-9))
    assert np.min(shares[:500] / (3 * d[:500] * floor)) < 1.1
    share = measure * 4 * math.pi / (d / 2 * (3 * height**-3 + 1) / 4)
    assert 0.9 < share.max() <= 1 + 1e-9


@pytest.mark.parametrize("n", [20, 1000, 10**9, 1e200])
def test_radii_are_excluded_up_to_the_floors(n):
    radius = covering_radius(n, dim=8, method=METHOD).value
    assert covering_number(radius * (1 - 1e-12), dim=8, method=METHOD).value > n
    assert radius == LARGEST_RADIUS or covering_number(radius * (1 + 1e-12), dim=8, method=METHOD).value <= n
    assert covering_radius(n, dim=8, method="best-lower").value >= radius
