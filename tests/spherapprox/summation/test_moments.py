"""Moments of control points in tangent spaces, against 40 digits and in closed form."""

import math

import mpmath
import numpy as np
import pytest

from spherapprox import SplitHead, sphere
from spherapprox.summation import tangent_moments


def exact(x, controls, concentration):
    """Return the moments at one point in 40 digits, of the rows as directions."""
    with mpmath.workdps(40):
        x, rows = mpmath.matrix(x.tolist()), [mpmath.matrix(b.tolist()) for b in controls]
        first, second, third, total = mpmath.zeros(len(x), 1), mpmath.zeros(len(x)), mpmath.mpf(0), mpmath.mpf(0)
        t = [sum((a - b) ** 2 for a, b in zip(x, row, strict=True)) for row in rows]
        x /= mpmath.norm(x)
        for row, square in zip(rows, t, strict=True):
            e, unit = mpmath.exp(-concentration * (square - min(t)) / 2), row / mpmath.norm(row)
            u = unit - (x.T * unit)[0] * x
            angle = mpmath.atan2(mpmath.norm(u), (x.T * unit)[0])
            v = angle / mpmath.norm(u) * u if mpmath.norm(u) > mpmath.mpf(10) ** -30 else 0 * u
            total, first, second, third = total + e, first + e * v, second + e * v * v.T, third + e * angle**3
        return [np.array((a / total).tolist(), dtype=float) for a in (first, second)], float(third / total)


@pytest.mark.parametrize("dim", [1, 2, 5])
@pytest.mark.parametrize("concentration", [0.0, 0.3, 40.0, 3000.0, 1e9])
def test_moments_against_forty_digits(dim, concentration):
    controls = sphere.uniform(dim, 12, rng=1)
    beside = controls[:1] + 1e-6 * sphere.uniform(dim, 1, rng=2)
    across = -controls[1:2] + 1e-4 * sphere.uniform(dim, 1, rng=3)
    x = np.concatenate([sphere.uniform(dim, 3, rng=4), controls[:1], beside, across])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    result = tangent_moments(x, controls, concentration)
    for i, row in enumerate(x):
        (first, second), third = exact(row, controls, concentration)
        nearest = np.square(row - controls).sum(axis=1).min()
        error, size = 1e-13 * (1.0 + concentration * nearest), np.trace(second)
        # a direction across is known to 1e-16 over its 1e-4
        assert np.abs(result.first[i] - first[:, 0]).max() <= (error + 1e-11 * (i == 5)) * math.sqrt(size) + 1e-16
        assert np.abs(result.second[i] - second).max() <= (error + 1e-11 * (i == 5)) * size + 1e-18
        assert abs(result.third[i] - third) <= error * third + 1e-18


def test_the_logarithm_of_an_antipode_is_a_tangent_vector_of_length_pi():
    x = sphere.uniform(3, 5, rng=0)
    for row in np.concatenate([x, np.eye(4), -np.eye(4)]):
        result = tangent_moments(row[None], -row[None], 7.0)
        assert abs(result.first[0] @ row) < 1e-14
        assert np.linalg.norm(result.first[0]) == pytest.approx(math.pi, rel=1e-14)
        assert np.trace(result.second[0]) == pytest.approx(math.pi**2, rel=1e-14)
        assert result.third[0] == pytest.approx(math.pi**3, rel=1e-14)


def test_the_first_moment_takes_a_linear_function_to_second_order():
    controls, x = sphere.uniform(2, 2000, rng=0), sphere.uniform(2, 50, rng=1)
    head = SplitHead(controls, controls[:, 2], 3000.0)
    result = tangent_moments(x, controls, 3000.0)
    spread = np.trace(result.second, axis1=1, axis2=2)
    # cos(theta) = 1 - theta^2/2 and sin(theta) = theta, to third order
    assert np.abs(head(x) - x[:, 2] * (1.0 - spread / 2) - result.first[:, 2]).max() <= result.third.max() / 6


def test_moments_do_not_depend_on_the_number_of_threads():
    x, controls = sphere.uniform(2, 3000, rng=0), sphere.uniform(2, 2000, rng=1)
    alone, threaded = (tangent_moments(x, controls, 100.0, workers=workers) for workers in (1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(alone, threaded, strict=True))
    nearest = tangent_moments(x[:20], controls[:50], 1e300)  # which alone counts
    distance = sphere.distance(x[:20], controls[:50, None]).min(0)
    assert np.allclose(np.trace(nearest.second, axis1=1, axis2=2), distance**2)


@pytest.mark.parametrize("dim", [1, 2, 5])
@pytest.mark.parametrize("concentration", [150.0, 3000.0, 1e6])
def test_many_points_have_the_moments_of_few(dim, concentration):
    # for few points no boxes are made, which leave out control points
    x, controls = sphere.uniform(dim, 150, rng=0), sphere.uniform(dim, 1500, rng=1)
    together = tangent_moments(x, controls, concentration)
    apart = [tangent_moments(part, controls, concentration) for part in np.split(x, 5)]
    for result, parts in zip(together, zip(*apart, strict=True), strict=True):
        np.testing.assert_allclose(result, np.concatenate(parts), rtol=1e-10, atol=1e-13 * np.abs(result).max())
