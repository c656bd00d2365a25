"""Watson's distribution: constants against ball arithmetic and mpmath, samples, fits, densities, complaints."""

import math

import flint
import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest, vonmises

from spherapprox import special, sphere
from spherapprox.directional import Watson


def pole(p):
    return np.eye(1, p)[0]


def series(a, b, z):
    """Return 1F1(a; b; z), z > 0, by its positive terms."""
    a, b, z = map(mp.mpf, (a, b, z))
    total, term, j = mp.mpf(1), mp.mpf(1), 0
    while term > total * mp.mpf(10) ** -30 or (a + j) * z > (b + j) * (j + 1):
        term *= (a + j) * z / ((b + j) * (j + 1))
        total, j = total + term, j + 1
    return total


def truth(p, kappa):
    """Return log 1F1(1/2; p/2; kappa), its derivative and 1 minus that, by Kummer's transformation below 0."""
    z, positive = abs(kappa), kappa > 0.0
    a, b = 0.5 if positive else 0.5 * (p - 1), 0.5 * p
    with mp.workdps(40), flint.ctx.workprec(200):
        f, g = (flint.arb(z).hypgeom_1f1(a + up, b + up) for up in (0, 1))
        if all(ball.is_finite() and ball.rad() < 1e-24 * abs(ball) for ball in (f, g)):
            log, slope = (mp.mpf(part.mid().str(40, radius=False)) for part in (f.log(), g * a / b / f))
        else:
            f, g = series(a, b, z), series(a + 1.0, b + 1.0, z)
            log, slope = mp.log(f), g * a / b / f
        slope, rest = (slope, 1 - slope) if positive else (1 - slope, slope)
        return float(log - (0 if positive else mp.mpf(z))), float(slope), float(rest)


@pytest.mark.parametrize(
    ("p", "kappa", "expected"),
    [
        (3, 10.0, 7.0632454586326093), (3, -10.0, -1.2720825283786857), (128, 50.0, 0.70855606812681554),
        (768, -300.0, -0.28884557832356947), (768, 2000.0, 983.57861332716748),
    ],
)  # fmt: skip
def test_log_constants_of_the_specification(p, kappa, expected):
    assert Watson(pole(p), kappa).log_normalizer == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("p", "kappa", "expected"),
    [(3, 10.0, 0.89272776140925086), (3, -10.0, 0.049991900026315962), (768, 2000.0, 0.80819062152355416)],
)
def test_mean_squares_of_the_specification(p, kappa, expected):
    assert Watson(pole(p), kappa).mean_square() == pytest.approx(expected, rel=2e-15)


@pytest.mark.parametrize("p", [2, 3, 17, 128, 768, pytest.param(100_000, marks=pytest.mark.once)])
def test_constants_over_the_whole_range(p):
    root = math.sqrt(p)
    sizes = [1e-9, 1e-3, 1.0, 30.0, 0.24 * p, 0.26 * p, 0.5 * p, 0.5 * p + root, 0.5 * p + 3 * root, 2.0 * p, 1e5, 1e7]
    for kappa in (sign * size for size in sizes for sign in (1.0, -1.0)):
        if p > 10_000 and (0.3 * p if kappa < 0.0 else 0.9 * p) < abs(kappa) < 1e6:
            continue  # long series
        log, square, rest = truth(p, kappa)
        watson = Watson(pole(p), kappa)
        assert abs(watson.log_normalizer - log) <= 2e-15 * max(
            1.0 if abs(kappa) > 0.25 * p else abs(log), abs(log), abs(kappa) * square
        )
        assert watson.mean_square() == pytest.approx(square, rel=5e-15)
        assert watson._law.means[1] == pytest.approx(rest, rel=5e-15)
        # the density at its largest keeps its digits: log f = kappa - log 1F1 at the axis
        if kappa == 1e7 and p < 1000:
            peak = watson.logpdf(pole(p)) + special.log_surface_area(p - 1)
            with mp.workdps(40):
                tail = mp.log(mp.hyp2f0(mp.mpf(p - 1) / 2, mp.mpf(1) / 2, 1 / mp.mpf(kappa)))
                exact = (
                    mp.loggamma(mp.mpf(1) / 2) - mp.loggamma(mp.mpf(p) / 2) - (1 - mp.mpf(p)) / 2 * mp.log(kappa) - tail
                )
            assert peak == pytest.approx(float(exact), rel=1e-14)


@given(st.integers(2, 3000), st.floats(-1e6, 1e6))
def test_the_constant_is_convex_with_slope_the_mean_square(p, kappa):
    """Tangents lie below: the value at another concentration is above that of the tangent."""
    here, there = Watson(pole(p), kappa), Watson(pole(p), kappa * 1.01 + 0.1)
    rise = there.log_normalizer - here.log_normalizer
    step, slack = there.concentration - kappa, 1e-13 * max(1.0, abs(here.log_normalizer))
    assert here.mean_square() * step - slack <= rise if step > 0 else True
    assert min(here.mean_square(), there.mean_square()) * abs(step) - slack <= abs(rise)
    assert abs(rise) <= max(here.mean_square(), there.mean_square()) * abs(step) + slack


@pytest.mark.parametrize("p", [2, 3, 10, 200])
@pytest.mark.parametrize("kappa", [-1e9, -3000.0, -20.0, -1.0, 0.0, 1.0, 20.0, 120.0, 3000.0, 1e9])
def test_samples_follow_the_distribution(p, kappa):
    axis = sphere.uniform(p - 1, 1, rng=5)[0]
    watson = Watson(axis, kappa)
    x = watson.rvs(4000, rng=7)
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0, rtol=1e-14)
    t = x @ axis
    across = x - t[:, None] * axis
    shares = watson._law.distribute(t * t, np.einsum("ij,ij->i", across, across))
    if kappa != -1e9:  # there t is rounded
        assert kstest(shares, "uniform").pvalue > 1e-3
    assert abs((t > 0.0).mean() - 0.5) < 0.03
    moments = (x * x).mean(axis=0)
    expected = watson.mean_square() * axis**2 + (1.0 - watson.mean_square()) * (1.0 - axis**2) / (p - 1)
    np.testing.assert_allclose(moments, expected, atol=0.03)


def test_the_circle_is_a_von_mises_distribution_of_twice_the_angle():
    angles = np.linspace(0.0, 6.0, 30)
    x = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for kappa in (-7.0, 0.0, 3.0, 40.0):
        # density of theta: that of 2 theta under von Mises(kappa/2), from both of whose turns it comes
        expected = vonmises.logpdf(2.0 * angles if kappa >= 0 else 2.0 * angles + np.pi, abs(kappa) / 2)
        np.testing.assert_allclose(Watson([1.0, 0.0], kappa).logpdf(x), expected, atol=1e-12)


def integral(p, kappa, to):
    """Return the integral of e^(kappa s) s^(-1/2) (1-s)^((p-3)/2), for s = sin^2."""
    end = mp.asin(mp.sqrt(to))
    cuts = [0, *(end * mp.mpf(share) for share in (0.01, 0.1, 0.4, 0.7, 1))]
    return mp.quad(lambda angle: mp.exp(kappa * mp.sin(angle) ** 2) * mp.cos(angle) ** (p - 2), cuts)


@pytest.mark.parametrize(("p", "kappa"), [(3, 10.0), (3, -1e3), (40, 25.0), (2, 0.5)])
def test_distribution_functions_against_mpmath(p, kappa):
    law, total = Watson(pole(p), kappa)._law, integral(p, kappa, 1)
    for s in (1e-5, 0.01, 0.3):
        share = law.distribute(np.array([s]), np.array([1.0 - s]))[0]
        assert share == pytest.approx(float(integral(p, kappa, s) / total), abs=1e-12)


@pytest.mark.parametrize(("p", "kappa"), [(3, 8.0), (3, -8.0), (3, 1e7), (3, -1e7), (50, 60.0), (50, -40.0)])
def test_fits_solve_the_likelihood_equations(p, kappa):
    watson = Watson(sphere.uniform(p - 1, 1, rng=1)[0], kappa)
    x = watson.rvs(3000, rng=2)
    fitted = Watson.fit(x)
    assert np.sign(fitted.concentration) == np.sign(kappa)
    assert fitted.concentration == pytest.approx(kappa, rel=0.2)
    assert abs(fitted.axis @ watson.axis) > 0.98
    t = x @ fitted.axis
    rest = np.square(x - t[:, None] * fitted.axis).sum(axis=1).mean()
    part, mean = (rest, fitted._law.means[1]) if kappa > 0 else ((t * t).mean(), fitted.mean_square())
    assert mean == pytest.approx(part, rel=1e-10)
    likelihood = fitted.logpdf(x).sum()
    for other in (0.98, 1.02):
        assert Watson(fitted.axis, other * fitted.concentration).logpdf(x).sum() < likelihood
    assert Watson.fit(x, form="girdle" if kappa > 0 else "bipolar").logpdf(x).sum() < likelihood
    # weights count rows, signs and the length in float32 do not
    halves = Watson.fit(np.repeat(x[:200], 2, axis=0))
    doubled = Watson.fit(x[:200] * np.where(np.arange(200) % 2, 1.0, -1.0)[:, None], weights=np.full(200, 2.0))
    assert doubled.concentration == pytest.approx(halves.concentration, rel=1e-9)


def test_fewer_rows_than_columns_give_a_bipolar_fit():
    x = Watson(pole(300), 900.0).rvs(40, rng=0)
    fitted = Watson.fit(x)
    assert abs(fitted.axis[0]) > 0.95
    assert fitted.concentration > 500.0
    with pytest.raises(ValueError, match="must have at least 300 rows"):
        Watson.fit(x, form="girdle")


def test_shapes_and_values():
    watson = Watson([0.0, 0.6, 0.8], 5)
    x = watson.rvs((4, 5), rng=0)
    assert x.shape == (4, 5, 3)
    assert watson.rvs().shape == (1, 3)
    assert watson.rvs((), rng=1).shape == (3,)
    np.testing.assert_array_equal(watson.rvs(20, rng=0), x.reshape(20, 3))
    assert watson.logpdf(x).shape == (4, 5)
    assert isinstance(watson.logpdf(x[0, 0]), float)
    np.testing.assert_allclose(watson.pdf(x), np.exp(watson.logpdf(x)), rtol=1e-15)
    # the normaliser is subtracted
    peak = 5.0 - watson.log_normalizer - special.log_surface_area(2)
    assert watson.logpdf(watson.axis) == pytest.approx(peak, rel=1e-14)
    np.testing.assert_allclose(watson.logpdf(-x.astype(np.float32)), watson.logpdf(x), atol=1e-5)
    assert repr(watson) == "Watson(axis=[0.0, 0.6, 0.8], concentration=5.0)"
    assert not watson.axis.flags.writeable
    assert Watson([1.0, 0.0], 1e10).pdf([1.0, 0.0]) > 1e4
