"""Boltzmann operators against mpmath."""

import math

import mpmath as mp
import numpy as np
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
