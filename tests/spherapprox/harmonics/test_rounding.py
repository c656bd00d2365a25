"""Proven bounds of rounding in sums of harmonics, against 40 digits and against errors that are put in."""

import math

import mpmath
import numpy as np
import pytest
from scipy import special

from spherapprox import Target, harmonics, targets
from spherapprox.harmonics import rounding, sums


def harmonics_mp(degree, point):
    """All harmonics of Schmidt's normalisation at the direction of a row of floats, at 40 digits."""
    with mpmath.workdps(40):
        x, y, z = (mpmath.mpf(float(t)) for t in point)
        length, across = mpmath.sqrt(x * x + y * y + z * z), mpmath.sqrt(x * x + y * y)
        turn, z, s = mpmath.mpc(x, y) / across, z / length, across / length
        table, seed = [mpmath.mpf(0)] * (degree + 1) ** 2, mpmath.mpf(1)
        for m in range(degree + 1):
            seed *= mpmath.sqrt(mpmath.mpf(2 * m - 1) / (2 * m)) * s if m > 1 else (s if m else 1)
            before, last, wave = mpmath.mpf(0), seed, turn**m
            for k in range(m, degree + 1):
                if k > m:
                    ahead = (2 * k - 1) * z * last - mpmath.sqrt((k - 1) ** 2 - m * m) * before
                    before, last = last, ahead / mpmath.sqrt(k * k - m * m)
                table[k * k + k + m] = last * wave.real
                if m:
                    table[k * k + k - m] = last * wave.imag
        return table


@pytest.mark.parametrize("point", [(0.6, -0.3, 0.7), (1e-3, 2e-3, -1.0), (0.7, 0.7, 1e-9)])
def test_sums_are_right_to_the_bound_where_they_are_largest(point):
    degree, row = 40, np.array([point]) / np.linalg.norm(point)
    exact = harmonics_mp(degree, row[0])
    values = np.array([float(value) for value in exact])
    k = harmonics.degrees(degree)
    for c in ((2.0 * k + 1.0) * values, (2.0 * k + 1.0) * np.sign(values) / (1.0 + k)):
        with mpmath.workdps(40):
            truth = mpmath.fsum(mpmath.mpf(float(a)) * b for a, b in zip(c, exact, strict=True))
            error = float(abs(mpmath.mpf(float(sums.summed_directly(c[:, None], degree, row)[0, 0])) - truth))
        assert 0.0 < error <= rounding.sum_rounding(degree) * rounding.mean_size(c)


def test_growth_of_errors_in_heights_is_bounded_by_no_more_than_it_takes():
    """Heights with errors of nine units at the pole change the sum that is largest there by a tenth of the bound."""
    degree, unit = 120, 1e-10
    k = np.arange(degree + 1.0)
    change = (2.0 * k + 1.0) @ (1.0 - special.eval_legendre(k, 1.0 - 9.0 * unit))
    bound = rounding.sum_rounding(degree) / 2.0**-53 * unit * math.sqrt((2.0 * k + 1.0).sum())
    assert 0.1 * bound <= change <= bound


def test_mean_sizes_are_those_of_values_and_slopes():
    c = np.array([2.0, 0.0, 3.0, 0.0])  # 2 + 3 z, whose gradient has the mean square 9 * 2/3
    assert rounding.mean_size(c) == pytest.approx(math.sqrt(4.0 + 3.0), rel=1e-15)
    assert rounding.mean_size(c[:, None], order=1) == pytest.approx(math.sqrt(6.0), rel=1e-15)


@pytest.mark.parametrize("size", [24, 1000, 2700])
def test_transforms_are_right_to_the_bound(size):
    series = np.exp(1j * np.arange(size // 2 + 1.0) ** 2)
    series[[0, -1]] = 1.0
    values = np.fft.irfft(series, size, norm="forward")
    m = np.arange(1, size // 2)
    i = np.array([0, 1, size // 3, size - 1])
    angle = np.longdouble(2) * np.pi * ((i[:, None] * m) % size) / size
    exact = 1 + (-1.0) ** i + 2 * (series[m].real * np.cos(angle) - series[m].imag * np.sin(angle)).sum(axis=1)
    assert np.abs(values[i] - exact).max() <= rounding.transform_rounding(size) * np.abs(values).max()


def test_constants_allow_for_expansions_that_miss_the_values():
    def noisy(size):
        return Target(lambda x: x[:, 2] + size * np.sign(np.sin(1e5 * x[:, 0])), 2, degree=1, accuracy=2e-9)

    rough, smooth = targets.with_constants(noisy(1e-9)), targets.with_constants(noisy(0.0))
    for name, order in (("sup_norm", 0), ("lipschitz", 1), ("smoothness", 2)):
        assert getattr(rough, name) - getattr(smooth, name) >= 1.5 * 2**order * 1e-9
