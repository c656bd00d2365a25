"""Bandwidths: sums without own terms, and the rule against integrals."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy.special import binom, gammaln, ive

from spherapprox import VonMisesFisher, sphere
from spherapprox.directional import bandwidths
from spherapprox.summation import explain_sum


def others(rows, weights, concentration):
    """Return the logarithms of each row's sum over the others, in mpmath."""
    exact = [[mp.mpf(float(t)) for t in row] for row in rows]
    terms = [
        [mp.mpf(w) * mp.exp(-mp.mpf(concentration) / 2 * mp.fsum((s - t) ** 2 for s, t in zip(a, b, strict=True)))
         for b, w in zip(exact, weights, strict=True)]
        for a in exact
    ]  # fmt: skip
    return [mp.log(mp.fsum(row[:i] + row[i + 1 :])) for i, row in enumerate(terms)]


@pytest.mark.parametrize("dim", [1, 2, 6])
@pytest.mark.parametrize("concentration", [0.0, 100.0, 1e4, 1e12])
def test_own_terms_are_left_out_however_isolated_rows_are(dim, concentration):
    rng = np.random.default_rng(dim)
    rows = VonMisesFisher(np.eye(dim + 1)[0], 10.0).rvs(30, rng=rng)
    rows = np.concatenate([rows, sphere.uniform(dim, 10, rng=rng)])  # the last ones are alone
    weights = rng.random(40) ** 8
    logs = bandwidths.log_sums_of_others(rows, weights, concentration)
    truth = others(rows, weights, concentration)
    errors = [abs(float(a - b)) / max(1.0, abs(float(b))) for a, b in zip(logs, truth, strict=True)]
    assert max(errors) < 1e-10


def test_own_terms_leave_rows_of_low_density_their_digits():
    """In sums by harmonics, whose errors are those of the largest row."""
    rows = np.concatenate([VonMisesFisher([0.0, 0.0, 1.0], 3e4).rvs(15000, rng=0), sphere.uniform(2, 500, rng=1)])
    weights = np.full(len(rows), 1.0 / len(rows))
    assert explain_sum(rows, rows, weights, 1e3, rtol=bandwidths.RTOL)[1].scale == "largest row"
    squares = 2.0 - 2.0 * rows[15000:] @ rows.T
    squares[np.arange(500), np.arange(15000, 15500)] = np.inf
    truth = np.logaddexp.reduce(-500.0 * squares, axis=1) - math.log(len(rows))
    logs = bandwidths.log_sums_of_others(rows, weights, 1e3)[15000:]
    np.testing.assert_allclose(logs, truth, rtol=1e-10, atol=bandwidths.DIGITS)


NODES, GAUSS = np.polynomial.legendre.leggauss(60)


def log_constant(dim, k):
    """Return the logarithm of the constant of e^(k t), in the measure of total 1."""
    nu, k = 0.5 * (dim - 1), np.maximum(k, 1e-9)
    return -(gammaln(nu + 1.0) + nu * np.log(2.0 / k) + np.log(ive(nu, k)) + k)


def integrated_error(dim, smooth, fitted, n):
    """Integrate the mean squared error by the cosine alone: kernels about x and y have c^2 / c(k |x + y|) together."""
    cuts = np.pi * np.linspace(0.0, 1.0, 41) ** 2
    angles = (cuts[:-1, None] + 0.5 * np.diff(cuts)[:, None] * (1.0 + NODES)).ravel()
    masses = (0.5 * np.diff(cuts)[:, None] * GAUSS).ravel() * np.sin(angles) ** (dim - 1)
    t = np.cos(angles)

    def pair(k, t):
        return np.exp(2.0 * log_constant(dim, k) - log_constant(dim, k * np.sqrt(2.0 + 2.0 * t)))

    kernel, f, k = np.exp(log_constant(dim, smooth) + smooth * t), pair(fitted, t), pair(smooth, t)
    return (
        masses @ ((1.0 - 1.0 / n) * k * f - 2.0 * kernel * f) / masses.sum() + pair(fitted, 1.0) + pair(smooth, 1.0) / n
    )


@pytest.mark.parametrize(("dim", "fitted"), [(1, 4.0), (2, 10.0), (2, 0.5), (5, 20.0), (30, 60.0)])
def test_asymptotic_error_is_the_sum_over_harmonics_of_narrow_kernels(dim, fitted):
    smooth, degrees = 1e6, np.arange(120)
    alpha = 0.5 * (dim - 1)
    counts = 2.0 if dim == 1 else (degrees + alpha) / alpha * binom(degrees + dim - 2, degrees)
    left = VonMisesFisher(dim, smooth).eigenvalue_complement(degrees) * VonMisesFisher(dim, fitted).eigenvalue(degrees)
    bias = float((counts * left**2).sum())
    log_square = float(2.0 * log_constant(dim, smooth) - log_constant(dim, 2.0 * smooth))
    log_n = log_square - math.log(bias)  # so that both parts count
    value = bandwidths.log_error(dim, fitted, math.exp(min(log_n, 700.0)), concentration=smooth)
    truth = np.logaddexp(math.log(bias), log_square - min(log_n, 700.0))
    assert value == pytest.approx(truth, abs=1e-3)


@pytest.mark.parametrize(
    ("dim", "fitted", "n", "excess"),
    [(1, 4.0, 200, 1.01), (2, 10.0, 200, 1.02), (2, 0.5, 2000, 1.01), (3, 6.0, 1000, 1.02), (7, 14.0, 10_000, 1.04)],
)
def test_rule_is_near_the_least_integrated_error(dim, fitted, n, excess):
    rule = bandwidths.best_concentration(dim, fitted, n)
    least = min(integrated_error(dim, k, fitted, n) for k in rule * np.geomspace(0.3, 3.0, 60))
    assert least <= integrated_error(dim, rule, fitted, n) <= excess * least


@pytest.mark.parametrize("fitted", [0.5, 2.0, 10.0])
def test_rule_is_the_published_one_for_many_rows(fitted):
    """h_AMI of Garcia-Portugues (2013), concentration 1/h^2."""
    k, n = mp.mpf(fitted), mp.mpf(10) ** 12
    circle = 4 * mp.sqrt(mp.pi) * mp.besseli(0, k) ** 2
    circle /= k * (2 * mp.besseli(1, 2 * k) + 3 * k * mp.besseli(2, 2 * k)) * n
    ball = 8 * mp.sinh(k) ** 2 / (k * ((1 + 4 * k**2) * mp.sinh(2 * k) - 2 * k * mp.cosh(2 * k)) * n)
    for dim, width in ((1, circle ** (mp.mpf(1) / 5)), (2, ball ** (mp.mpf(1) / 6))):
        assert bandwidths.best_concentration(dim, fitted, float(n)) == pytest.approx(float(width**-2), rel=1e-3)


@pytest.mark.parametrize(
    ("top", "limits", "best"), [(0.3, (-9.0, 9.0), 0.3), (30.0, (-9.0, 9.0), 9.0), (0.0, (1.0, 9.0), 1.0)]
)
def test_search_finds_the_top_or_the_end_of_its_range_in_few_calls(top, limits, best):
    calls = []

    def f(t):
        calls.append(t)
        return -math.cosh(t - top)

    x, value = bandwidths.maximize(f, 2.0, [1.0, 0.25], limits)
    assert abs(x - best) < 0.02
    assert value == -math.cosh(x - top)
    assert len(calls) < 16
    assert limits[0] <= min(calls) <= max(calls) <= limits[1]
