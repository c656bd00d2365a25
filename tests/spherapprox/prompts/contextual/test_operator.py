"""Boltzmann operators against mpmath."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import lambertw

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


@pytest.mark.parametrize("n", [2, 3, 10, 1000])
def test_means_of_numbers_with_weights_of_a_softmax(n):
    # 8.9 (means), Hu et al., C.1 to C.5 and C.7
    rng = np.random.default_rng(n)
    w = lambertw((n - 1) / math.e).real
    assert w <= math.log(n)
    extreme = np.append(0.0, np.full(n - 1, -1.0 - w))
    assert boltzmann(extreme) == pytest.approx(-w, rel=1e-13)
    for slope, near in ((-1.0, 1.001), (1.0, 0.999)):  # (c), sharp
        z = np.append(extreme[:-1], -(1.0 + w) * near)
        assert slope * boltzmann_gradient(z)[-1] > 0.0
    for _ in range(50):
        z = 3.0 * rng.standard_normal(n)
        p = np.exp(z - z.max())
        total = p.sum()
        p /= total
        assert boltzmann(z) == pytest.approx(z.max() + math.log(total) + (p * np.log(p)).sum(), abs=1e-12)
        assert z.max() - w <= boltzmann(z) <= z.max()
        others = z[:-1]  # (d), with weights at the far end
        top = others.max()
        t = top - (2.25 + w) - np.array([0.0, 0.02, 0.04])
        chord = [boltzmann(np.append(others, number)) for number in t]
        assert chord[1] > 0.5 * (chord[0] + chord[2])
        assert chord[0] < chord[1] < chord[2]
        delta = 1.0 + w + rng.exponential()  # (e)
        far = np.append(0.0, -delta - rng.exponential(size=n - 1))
        share = (n - 1) * math.exp(-delta) / (1.0 + (n - 1) * math.exp(-delta))
        assert boltzmann(far) >= -delta * share - 1e-14
        t = z.min() - rng.exponential()  # (f)
        more = boltzmann(z) - (boltzmann(z) - t) * math.exp(t - z.max()) / (total + math.exp(t - z.max()))
        assert boltzmann(np.append(z, t)) == pytest.approx(more, abs=1e-12)
        assert more <= boltzmann(z)
