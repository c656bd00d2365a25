"""The kernel of sums relative to the largest exponential."""

import numpy as np
import pytest
from sums import sphere, unit, wide

from spherapprox.summation import angle_mean, dense
from spherapprox.summation.problem import Problem

LIMIT = {np.float64: 2e-15, np.float32: 5e-7}


def shifted(x, b, offset, w, rate):
    """The triples of the shifted kernel: offsets rule the other one out."""
    problem = Problem(x, b, rate, x.dtype, w, offset=offset)
    return dense.sums(problem, None, 1, lambda pairs: None).partial


def deviation(dtype, d, n, p, rate):
    """The largest relative error of sums and of shifts, at points within an exponent or so of a control point."""
    rng = np.random.default_rng(7)
    b = sphere(n, d - 1, 1).astype(dtype)
    x = (b[:30] + rng.standard_normal((min(n, 30), d)) / np.sqrt(2 * max(rate, 2) * d)).astype(dtype)
    offset = (rng.random(n) / max(rate, 1.0)).astype(dtype).astype(np.float64)
    w = (rng.random((n, p)) + 0.1).astype(dtype).astype(np.float64)
    result = shifted(x, b, offset, w, rate)
    t = np.stack([((row - b.astype(np.longdouble)) ** 2).sum(axis=1) for row in x.astype(np.longdouble)]) + offset
    e = np.exp(-np.longdouble(rate) * (t - result.shift[:, None]))
    pairs = (result.numerators, e @ w), (result.denominator, e.sum(axis=1)), (result.shift, t.min(axis=1))
    return float(max(np.abs(sums / expected - 1).max() for sums, expected in pairs))


SHAPES = [(d, n, p) for d in (2, 5, 24, 25, 130) for n, p in ((1, 1), (5, 2), (64, 66), (131, 5), (200, 1))]


@wide
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rate", [0.0, 1e-310, 1e-3, 1.0, 500.0, 1e8, 1e30])
def test_sums_keep_their_digits_at_every_rate(dtype, rate):
    for shape in SHAPES:
        assert deviation(dtype, *shape, rate) <= LIMIT[dtype], shape


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_exponentials_below_the_normal_range_are_zero(dtype):
    """Control points at the point itself, and another with an exponent around the end of the range, alone or not."""
    smallest = float(np.finfo(dtype).smallest_normal)
    exponents = -np.log(smallest) * np.concatenate([[0.6], np.linspace(0.98, 1.02, 200), [10.0, 1e5]])
    for n, rate in ((2, 1.0), (2, 1e30), (65, 1.0)):
        b, offset, w = np.tile(np.array([0.0, 1.0], dtype), (n, 1)), np.zeros(n), np.zeros((n, 2))
        w[0, 0] = w[-1, 1] = 1.0
        for exponent in exponents:
            offset[-1] = np.asarray(exponent / rate, dtype)
            result, expected = shifted(b[:1], b, offset, w, rate).numerators[0], np.exp(-rate * offset[-1])
            assert result[0] == 1.0
            if expected > 2.0 * smallest:
                assert result[1] == pytest.approx(expected, rel=2e-5 if dtype == np.float32 else 1e-12, abs=0.0)
            else:
                assert result[1] == 0.0 or smallest <= result[1] < 3.0 * smallest


@pytest.mark.parametrize("rate", [1e100, 5e299])
def test_only_the_nearest_count_at_the_largest_rates(rate):
    b = sphere(300, 2, 1)
    w = np.random.default_rng(3).standard_normal((300, 3))
    b[200] = b[7]
    result = shifted(b[:100], b, np.zeros(300), w, rate)
    expected, count = w[:100].copy(), np.ones(100)
    expected[7] += w[200]
    count[7] = 2.0
    assert np.array_equal(result.numerators, expected)
    assert np.array_equal(result.denominator, count)
    assert not result.shift.any()


def test_earlier_sums_are_scaled_to_nearer_blocks():
    """Control points that come nearer and nearer, and the same in the other order."""
    angle = np.linspace(3.0, 1e-3, 1000)
    b = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    x, w = np.array([[1.0, 0.0]]), np.random.default_rng(5).random((1000, 1))
    for rate in (1.0, 40.0, 1e4):
        forward, backward = (shifted(x, b[s], np.zeros(1000), w[s], rate) for s in (slice(None), slice(None, None, -1)))
        assert forward.shift == backward.shift
        np.testing.assert_allclose(forward.numerators, backward.numerators, rtol=1e-15)
        np.testing.assert_allclose(forward.denominator, backward.denominator, rtol=1e-15)


@wide
@pytest.mark.parametrize("concentration", [0.0, 1.0, 50.0, 1e5])
def test_mean_angles_keep_their_digits(concentration):
    for d in (2, 5, 130):
        b = sphere(203, d - 1, 1)
        x = np.concatenate([sphere(40, d - 1, 2), b[:5], unit(b[:5] + b[5:10])])
        t = np.stack([((row - b) ** 2).sum(axis=1) for row in x.astype(np.longdouble)])
        e = np.exp(-np.longdouble(concentration) / 2 * (t - t.min(axis=1, keepdims=True)))
        expected = (e * 2 * np.arcsin(np.minimum(np.sqrt(t) / 2, 1))).sum(axis=1) / e.sum(axis=1)
        limit = 4e-16 * (5.0 + concentration)
        np.testing.assert_allclose(angle_mean(x, b, concentration), expected.astype(float), rtol=limit, atol=1e-300)
