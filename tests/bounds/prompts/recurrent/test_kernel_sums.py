"""Errors of kernel sums by chords."""

import math

import numpy as np
import pytest

from bounds.prompts import recurrent

NEAR = {"rel": 1e-9}


def chords(u, spacing, depth):
    """Return exp by chords at knots on [-depth, ...], less its value at the first."""
    knots = -depth + spacing * np.arange(math.ceil(depth / spacing) + 2)
    return np.where(u < -depth, 0.0, np.interp(u, knots, np.exp(knots)) - math.exp(-depth))


@pytest.mark.parametrize("spacing", [0.05, 0.4, 1.5])
def test_kernel_sums_by_chords(spacing):
    rng = np.random.default_rng(0)
    angle, lam = np.linspace(0.0, 2.0 * math.pi, 40, endpoint=False), 30.0
    q = rng.uniform(0.0, 2.0 * math.pi, 500)
    u = lam * (np.cos(q[:, None] - angle) - 1.0)
    for depth in (8.0, 12.0, 30.0):
        options = {"n": 40, "concentration": lam, "radius": math.pi / 40}
        bound = recurrent.kernel_sum_error(spacing, depth, **options)
        for values in (rng.choice([-1.0, 1.0], 40), rng.uniform(-1.0, 1.0, 40)):
            exact = (np.exp(u) @ values) / np.exp(u).sum(axis=1)
            sums = chords(u, spacing, depth)
            assert np.abs(sums @ values / sums.sum(axis=1) - exact).max() <= bound.value
    # one term above, one exact: the part of the chords is attained
    at = np.array([-20.0 * spacing, -20.5 * spacing])
    weights = np.exp(at) / np.exp(at)[0]
    sums = chords(at, spacing, 60.0) / np.exp(at)[0]
    copies = np.array([1.0, 1.0 / weights[1]])  # as much of the second
    ratio = (sums * copies) @ [1.0, -1.0] / ((sums * copies).sum())
    bound = recurrent.kernel_sum_error(spacing, 60.0, n=1, concentration=0.0, radius=0.0).value
    assert abs(ratio) <= bound
    assert abs(ratio) >= (0.95 if spacing < 1.0 else 0.75) * bound


@pytest.mark.parametrize(("lam", "radius"), [(0.0, 0.0), (5.0, 1.0)])
def test_kernel_sums_lose_what_is_deep(lam, radius):
    # one token at the covering radius, and many of the other value at the first knot, which count as 0
    depth, n, spacing = 15.0, 2000, 1e-4
    u = np.append(-depth * np.ones(n - 1), -lam * (1.0 - math.cos(radius)))
    values = np.append(-np.ones(n - 1), 1.0)
    exact = np.exp(u) @ values / np.exp(u).sum()
    sums = chords(u, spacing, depth)
    error = abs(sums @ values / sums.sum() - exact)
    bound = recurrent.kernel_sum_error(spacing, depth, n=n, concentration=lam, radius=radius).value
    assert 0.9 * bound <= error <= bound


def test_kernel_sums_that_lose_too_much():
    bound = recurrent.kernel_sum_error(0.1, 5.0, n=300, concentration=60.0, radius=0.15)
    assert bound.log == math.inf
    assert bound.failed == ("N e^-depth < e^(-lambda (1 - cos radius))",)
    half = recurrent.kernel_sum_error(1e-30, 10.0 + math.log(2.0), n=1, concentration=10.0, radius=0.5 * math.pi)
    assert half.value == pytest.approx(2.0, **NEAR)  # of beta = 1/2
    small = recurrent.kernel_sum_error(1e-30, 1e3, n=1, concentration=1.0, radius=0.1)
    assert small.value == pytest.approx(1e-60 / 16.0, **NEAR)
