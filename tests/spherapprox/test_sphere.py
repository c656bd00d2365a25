import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pointsets import exact_angle

from spherapprox import sphere

DIMS = st.integers(1, 12)
SEEDS = st.integers(0, 2**32 - 1)
fixed = settings(derandomize=True, deadline=None, max_examples=60)


def turned(x, angle, rng):
    """Return a point at about this angle from x."""
    e = rng.standard_normal(x.shape)
    e -= (e @ x) * x
    e /= np.linalg.norm(e)
    y = np.cos(angle) * x + np.sin(angle) * e
    return y / np.linalg.norm(y)


@fixed
@given(DIMS, SEEDS, st.floats(-14.0, 0.49))
def test_distance_matches_mpmath_near_and_far(dim, seed, exponent):
    rng = np.random.default_rng(seed)
    x = sphere.uniform(dim, 1, rng)[0]
    y = turned(x, 10.0**exponent, rng)
    for z in (y, -y):
        with mpmath.workdps(60):
            truth = exact_angle(x, z)
        assert abs(float(sphere.distance(x, z)) - truth) <= 2e-15 * truth
    # to the antipode: what is left of pi
    assert abs(float(sphere.distance(x, -y)) + float(sphere.distance(x, y)) - np.pi) < 2e-15


def test_distance_is_a_metric_that_broadcasts_and_keeps_its_digits_in_high_dimension():
    rng = np.random.default_rng(1)
    x = sphere.uniform(2000, 1, rng)[0]
    y = turned(x, 1e-9, rng)
    with mpmath.workdps(60):
        truth = exact_angle(x, y)
    assert abs(float(sphere.distance(x, y)) - truth) <= 4e-15 * truth
    x = sphere.uniform(5, 40, 2)
    table = sphere.distance(x[:, None], x)
    assert table.shape == (40, 40)
    assert np.array_equal(table, table.T)
    assert np.array_equal(np.diag(table), np.zeros(40))
    assert np.allclose(sphere.distance(x, -x), np.pi, rtol=1e-15, atol=0)
    assert (table[:, :, None] <= table[:, None, :] + table[None, :, :] + 1e-14).all()
    assert sphere.distance(x[0], x).shape == (40,)
    assert sphere.distance([1.0, 0.0], [0.0, 1.0]) == pytest.approx(np.pi / 2, rel=1e-16)


def test_distance_of_float32_rows_ignores_their_rounded_lengths():
    x = sphere.uniform(3, 50, 3).astype(np.float32)
    y = (x * np.float32(1.0 + 3e-7)).astype(np.float32)
    assert sphere.distance(x, y).max() < 2e-7  # the directions' own rounding, the length error of 3e-7 is not seen
    assert sphere.distance(x, x).max() == 0.0
    assert sphere.distance(x, y).dtype == np.float64


@fixed
@given(st.floats(-90, 90), st.floats(-720, 720))
def test_latitude_longitude_round_trip(latitude, longitude):
    x = sphere.from_latitude_longitude([latitude], [longitude])
    assert x.shape == (1, 3)
    assert np.linalg.norm(x) == pytest.approx(1.0, abs=4e-16)
    north, east = sphere.to_latitude_longitude(x)
    assert north[0] == pytest.approx(latitude, abs=2e-14)
    assert -180.0 < east[0] <= 180.0
    if abs(latitude) < 89.9:
        turns = (east[0] - longitude) / 360.0
        assert abs(turns - round(turns)) < 1e-11
    in_radians = sphere.from_latitude_longitude([np.radians(latitude)], [np.radians(longitude)], degrees=False)
    assert np.allclose(in_radians, x, atol=3e-15)


def test_latitude_longitude_axes_are_exact():
    x = sphere.from_latitude_longitude([90, -90, 0, 0, 0, 0, 30], [12, 34, 0, 90, 180, -90, 0])
    expected = [[0, 0, 1], [0, 0, -1], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]]
    assert np.array_equal(x[:6], np.array(expected, dtype=float))
    assert x[6, 2] == pytest.approx(0.5, abs=1e-16)
    north, east = sphere.to_latitude_longitude([[-1.0, -0.0, 0.0], [0.0, 0.0, 1.0]])
    assert north.tolist() == [0.0, 90.0]
    assert east.tolist() == [180.0, 0.0]
    _, east = sphere.to_latitude_longitude([[-1.0, -0.0, 0.0]], degrees=False)
    assert east[0] == np.pi
    assert sphere.from_latitude_longitude(np.zeros((4, 1)), np.zeros(7)).shape == (4, 7, 3)


@fixed
@given(DIMS, SEEDS)
def test_polar_round_trip(dim, seed):
    x = sphere.uniform(dim, 7, seed)
    angles = sphere.to_polar(x)
    assert angles.shape == (7, dim)
    assert (angles >= 0).all()
    assert (angles[:, :-1] <= np.pi).all()
    assert (angles[:, -1] < 2 * np.pi).all()
    assert np.allclose(sphere.from_polar(angles), x, rtol=0, atol=2e-15)
    if dim > 1:
        assert np.allclose(angles[:, 0], sphere.distance(x, np.eye(dim + 1)[-1]), rtol=1e-14)


def test_angles_of_poles_and_of_the_seam_are_exact():
    assert np.allclose(sphere.to_polar([[0.0, 0.0, 1.0]])[0, 0], 0.0)
    assert sphere.to_polar([[0.0, 0.0, -1.0]])[0, 0] == np.pi
    assert np.allclose(sphere.to_polar([[0.0, -1.0]]), 1.5 * np.pi)
    assert sphere.to_polar([[1.0, -1e-300]])[0, 0] == 0.0
    assert np.allclose(sphere.from_polar([[np.pi / 2, 0.0, 1.0]]), [[0.0, 0.0, 1.0, 0.0]])
    near_pole = sphere.to_polar([[3e-170, 4e-170, 1.0]])
    assert near_pole[0, 0] == pytest.approx(5e-170, rel=1e-15)


@fixed
@given(DIMS, SEEDS, st.floats(-150, 150))
def test_stereographic_round_trip_at_every_scale(dim, seed, exponent):
    direction = sphere.uniform(dim, 3, seed)[:, :dim] if dim > 1 else np.array([[1.0], [-1.0], [0.5]])
    y = direction * 10.0**exponent
    x = sphere.inverse_stereographic(y)
    assert x.shape == (3, dim + 1)
    assert np.allclose(np.linalg.norm(x, axis=1), 1.0, rtol=0, atol=5e-16)
    if 10.0**exponent > 1e-8:  # below, the height rounds to -1 and only the plane's coordinates hold the point
        assert np.allclose(sphere.stereographic(x), y, rtol=3e-15, atol=0)
    south = sphere.distance(x, -np.eye(dim + 1)[-1])
    assert np.allclose(np.tan(south / 2), np.linalg.norm(y, axis=1), rtol=1e-13) or exponent > 10


def test_stereographic_preserves_angles_near_the_pole():
    x = sphere.from_polar([[1e-9, 0.3], [2e-9, 0.3], [1e-12, 2.0]])
    y = sphere.stereographic(x)
    assert np.allclose(np.linalg.norm(y, axis=1), 1 / np.tan(np.array([1e-9, 2e-9, 1e-12]) / 2), rtol=1e-14)
    assert np.allclose(sphere.stereographic([[0.0, 0.0, -1.0], [1.0, 0.0, 0.0]]), [[0, 0], [1, 0]])


def test_uniform_is_uniform_seeded_and_unit():
    x = sphere.uniform(3, 40000, 7)
    assert np.array_equal(x, sphere.uniform(3, 40000, np.random.default_rng(7)))
    assert np.abs(np.linalg.norm(x, axis=1) - 1).max() < 4e-16
    assert np.abs(x.mean(0)).max() < 0.015
    assert np.allclose(x.T @ x / len(x), np.eye(4) / 4, atol=0.01)
    assert set(np.sign(sphere.uniform(1, 100, 0)).astype(int).ravel()) == {-1, 1}


@pytest.mark.parametrize("angle", [720.0, 1e14, 1.2e14, -1e20, 1.7e308])
def test_any_finite_longitude_is_a_point(angle):
    with mpmath.workdps(330):
        turned = float(mpmath.fmod(mpmath.mpf(angle), 360))
    x = sphere.from_latitude_longitude(30.0, angle)
    assert np.linalg.norm(x) == pytest.approx(1.0, abs=4e-16)
    np.testing.assert_allclose(x, sphere.from_latitude_longitude(30.0, turned), atol=2e-16)
    with mpmath.workdps(330):
        east = [math.cos(30.0 / 180.0 * math.pi) * float(f(mpmath.mpf(angle))) for f in (mpmath.cos, mpmath.sin)]
    radians = sphere.from_latitude_longitude(30.0 / 180.0 * math.pi, angle, degrees=False)
    np.testing.assert_allclose(radians[:2], east, atol=1e-15)
    polar = sphere.from_polar([[angle, -angle, 0.5 * angle]])
    assert np.linalg.norm(polar) == pytest.approx(1.0, abs=4e-16)


def test_angles_in_degrees_are_those_in_radians():
    angles = np.array([[258.0], [51.0], [-10.0]])
    in_degrees, in_radians = sphere.from_polar(angles, degrees=True), sphere.from_polar(np.radians(angles))
    assert np.allclose(in_degrees, in_radians, rtol=0, atol=1e-15)
    x = sphere.uniform(3, 20, 0)
    assert np.array_equal(sphere.to_polar(x, degrees=True), np.degrees(sphere.to_polar(x)))
    assert np.allclose(sphere.from_polar(sphere.to_polar(x, degrees=True), degrees=True), x, rtol=0, atol=1e-14)


@pytest.mark.parametrize("degrees", [True, False])
def test_latitude_and_longitude_of_one_point_are_floats(degrees):
    place = sphere.to_latitude_longitude([0.0, 0.6, 0.8], degrees=degrees)
    assert [type(angle) for angle in place] == [float, float]
    assert place == tuple(column[0] for column in sphere.to_latitude_longitude([[0.0, 0.6, 0.8]], degrees=degrees))
    assert sphere.from_latitude_longitude(*place, degrees=degrees) == pytest.approx([0.0, 0.6, 0.8], abs=1e-15)
