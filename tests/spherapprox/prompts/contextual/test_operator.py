"""Boltzmann operators against mpmath."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spherapprox.prompts.contextual import boltzmann, boltzmann_gradient

NUMBERS = arrays(np.float64, st.integers(1, 8), elements=st.floats(-1e3, 1e3) | st.floats(-1e308, 1e308))


@given(NUMBERS)
def test_boltzmann_operators_are_those_of_mpmath(z):
    with mp.workdps(40):
        numbers = [mp.mpf(x) for x in z.tolist()]
        powers = [mp.exp(max(x - max(numbers), -5000)) for x in numbers]
        weights = [power / mp.fsum(powers) for power in powers]
        mean = mp.fdot(numbers, weights)
        above = [mp.fdot(weights, [x - y for y in numbers]) for x in numbers]
        slopes = [w * (1 + x) for w, x in zip(weights, above, strict=True)]
        off = [float(abs(a - b)) for a, b in zip(slopes, boltzmann_gradient(z).tolist(), strict=True)]
        error = float(abs(boltzmann(z) - mean))
    room = 1.0 + math.log(len(z))
    assert error <= 1.2e-16 * float(abs(mean)) + 1e-15 * room
    assert max(off) <= 1e-14 * room
    assert abs(boltzmann_gradient(z).sum() - 1.0) <= 1e-14 * room


def test_numbers_of_boltzmann_operators():
    assert boltzmann([9.0, 5.5, 0.0]) == pytest.approx(8.896341478385143, rel=1e-15)
    assert boltzmann([9.0, 1.0, -4.0]) == pytest.approx(8.997287830656342, rel=1e-15)
    assert boltzmann([9.0, 4.5, 0.0]) == pytest.approx(8.949466440811854, rel=1e-15)
    assert boltzmann([9.0, 0.0, -4.5]) == pytest.approx(8.998870944699933, rel=1e-15)
    assert boltzmann([3.2, -1.1, 0.4, 2.9]) == pytest.approx(2.9516200806455997, rel=1e-15)
    expected = [1.14285297, -0.07372207, -0.0691309]
    np.testing.assert_allclose(boltzmann_gradient([2.0, 0.0, -1.0]), expected, atol=5e-9)
    expected = [0.68773804, -0.0228108, -0.0519801, 0.38705286]
    np.testing.assert_allclose(boltzmann_gradient([3.2, -1.1, 0.4, 2.9]), expected, atol=5e-9)


def test_operators_of_many_axes_and_kinds_of_numbers():
    z = np.random.default_rng(0).standard_normal((2, 3, 5))
    assert boltzmann(z).shape == (2, 3)
    assert boltzmann_gradient(z).shape == z.shape
    assert boltzmann(z)[1, 2] == boltzmann(z[1, 2])
    assert np.array_equal(boltzmann_gradient(z)[1, 2], boltzmann_gradient(z[1, 2]))
    assert boltzmann([1, 2, 3]) == boltzmann(np.array([1, 2, 3], np.float32))
    assert boltzmann([7.0]) == 7.0
    assert boltzmann([1e308, -1e308]) == 1e308
    assert np.array_equal(boltzmann_gradient([1e308, -1e308]), [1.0, 0.0])
