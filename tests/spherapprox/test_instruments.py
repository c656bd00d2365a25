"""Directions by compass, clinometer and telescope: axes, ranges and round trips."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spherapprox import sphere

PAIRS = {
    "declination_inclination": ((0.0, 359.0), (-89.0, 89.0)),
    "azimuth_plunge": ((0.0, 359.0), (1.0, 89.0)),
    "strike_dip": ((0.0, 359.0), (1.0, 89.0)),
    "right_ascension_declination": ((0.0, 359.0), (-89.0, 89.0)),
}


@pytest.mark.parametrize("words", PAIRS)
def test_angles_come_back(words):
    there, back = getattr(sphere, f"from_{words}"), getattr(sphere, f"to_{words}")
    rng = np.random.default_rng(0)
    first, second = (rng.uniform(*ends, 200) for ends in PAIRS[words])
    x = there(first, second)
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0, atol=3e-16)
    np.testing.assert_allclose(back(x), [first, second], atol=3e-13)
    np.testing.assert_allclose(there(first + 720.0, second), x, atol=1e-14)
    radians = np.radians(first), np.radians(second)
    np.testing.assert_allclose(there(*radians, degrees=False), x, atol=1e-15)
    np.testing.assert_allclose(back(x, degrees=False), radians, atol=1e-14)
    single = back(x[0])
    assert all(type(angle) is float for angle in single)
    assert there(first[:, None], second[:3]).shape == (200, 3, 3)
    if words in ("azimuth_plunge", "strike_dip"):  # axes have no sign
        np.testing.assert_allclose(back(-x), [first, second], atol=3e-13)


def test_axes_are_those_that_are_said():
    north, east, down = np.eye(3)
    np.testing.assert_array_equal(
        sphere.from_declination_inclination([0, 90, 0, 0], [0, 0, 90, -90]), [north, east, down, -down]
    )
    np.testing.assert_array_equal(sphere.from_azimuth_plunge([360, 270], [0, 0]), [north, -east])
    np.testing.assert_array_equal(sphere.from_right_ascension_declination([0, 90, 7], [0, 0, 90]), np.eye(3))
    # a plane that strikes north falls to the east: the pole is west of down, and across strike and dip line
    strike, dip = 35.0, 50.0
    pole = sphere.from_strike_dip(strike, dip)
    assert abs(pole @ sphere.from_azimuth_plunge(strike, 0)) < 1e-16
    assert abs(pole @ sphere.from_azimuth_plunge(strike + 90, dip)) < 1e-16
    np.testing.assert_allclose(pole, sphere.from_azimuth_plunge(strike - 90, 90 - dip), atol=1e-16)
    assert sphere.from_strike_dip(0, 30)[1] < 0 < sphere.from_strike_dip(0, 30)[2]
    np.testing.assert_array_equal(sphere.from_strike_dip([0, 90, 180], [90, 90, 90]), [-east, north, east])
    assert sphere.to_strike_dip(down) == (0.0, 0.0)
    assert sphere.to_strike_dip(-down) == (0.0, 0.0)
    assert sphere.to_strike_dip(-east) == (0.0, 90.0)
    assert sphere.to_azimuth_plunge(-east) == (270.0, 0.0)
    assert sphere.to_declination_inclination(-down) == (0.0, -90.0)


@given(st.floats(-1e6, 1e6), st.floats(0.0, 90.0))
def test_all_angles_are_in_their_ranges(first, second):
    for words in PAIRS:
        azimuth, up = getattr(sphere, f"to_{words}")(getattr(sphere, f"from_{words}")(first, second))
        assert 0.0 <= azimuth < 360.0
        assert up == pytest.approx(second, abs=1e-6)
