"""Divergences against mpmath, also of near distributions, and products of densities."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
import scipy.stats
import truth
from hypothesis import given, settings
from hypothesis import strategies as st
from sums import tilted

from spherapprox import VonMisesFisher, sphere


def pair(columns, first, second, cosine):
    """Return two distributions whose mean directions have a cosine."""
    one, other = np.eye(2, columns)
    return VonMisesFisher(one, first), VonMisesFisher(cosine * one + math.sqrt(1.0 - cosine**2) * other, second)


def exact_radial(columns, first, second):
    """Return F(k2) - F(k1) - A(k1) (k2 - k1) to 30 digits more than cancel."""
    order = 0.5 * (columns - 2)
    digits = 60 + 2 * int(-math.log10(abs(second / first - 1.0) + 1e-300) if first else 0)
    with mp.workdps(digits):

        def log_0f1(v, x):
            return truth.log_iv_here(mp.mpf(v), mp.mpf(x)) + mp.loggamma(v + 1) + v * mp.log(2 / mp.mpf(x)) if x else 0

        ratio = (
            first
            / (2 * (mp.mpf(order) + 1))
            * mp.exp(log_0f1(mp.mpf(order) + 1, first) - log_0f1(mp.mpf(order), first))
        )
        return log_0f1(mp.mpf(order), second) - log_0f1(mp.mpf(order), first) - ratio * (mp.mpf(second) - mp.mpf(first))


@pytest.mark.parametrize(("columns", "first", "second", "cosine", "expected"), [
    (3, 5.0, 20.0, 0.5, 9.613297019930383), (128, 80.0, 200.0, 0.9, 27.632321844278278),
    (768, 1500.0, 300.0, 0.2, 362.63769656309188),
])  # fmt: skip
def test_divergences_of_the_specification(columns, first, second, cosine, expected):
    f, g = pair(columns, first, second, cosine)
    assert f.kl_divergence(g) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("columns", [2, 3, 10, 128, 768, 10**5])
def test_divergence_is_right_near_and_far(columns):
    rng = np.random.default_rng(columns)
    for i in range(40):
        first = 10 ** rng.uniform(-4, 7) if i % 2 else columns * 10 ** rng.uniform(-1, 1)
        factor = (1.0 + 10 ** rng.uniform(-13, -1), rng.uniform(0.4, 2.5), 10 ** rng.uniform(-4, 4), 0.0)[i % 4]
        second = min(first * factor, 1e7)
        got = VonMisesFisher(columns - 1, first).kl_divergence(VonMisesFisher(columns - 1, second))
        assert abs(got / exact_radial(columns, first, second) - 1) < 5e-14, (first, second)


def test_divergence_of_near_directions_keeps_its_digits():
    mean, moved = np.array([0.0, 0.0, 1.0]), np.array([1e-9, 0.0, 1.0])
    for kappa in (1e-3, 3.0, 1e6):
        f, g = VonMisesFisher(mean, kappa), VonMisesFisher(moved, kappa)
        assert f.kl_divergence(g) == pytest.approx(f.mean_cosine() * kappa * 0.5e-18, rel=1e-14)
        assert f.kl_divergence(f) == 0.0
    single = (1.0009 * moved).astype(
        np.float32
    )  # a unit vector to float32's tolerance, no distribution of a shorter mean
    assert VonMisesFisher(single, 3.0).kl_divergence(VonMisesFisher(mean, 3.0)) < 1e-13


def test_divergence_is_the_mean_of_the_log_quotient():
    f, g = pair(5, 4.0, 9.0, 0.7)
    logs = f.logpdf(x := f.rvs(100_000, rng=0)) - g.logpdf(x)
    assert abs(logs.mean() - f.kl_divergence(g)) < 4 * logs.std() / math.sqrt(100_000)


def test_divergence_from_the_uniform_distribution_is_minus_the_entropy():
    f = VonMisesFisher(tilted(6), 7.0)
    uniform = VonMisesFisher(6, 0.0)
    assert f.kl_divergence(uniform) == -f.entropy("normalized")
    assert uniform.kl_divergence(f) == -f.log_normalizer
    batch = VonMisesFisher(sphere.uniform(6, 3, rng=0), [1.0, 2.0, 3.0])
    table = batch[:, None].kl_divergence(batch)
    assert table.shape == (3, 3)
    for i, j in itertools.product(range(3), range(3)):
        assert table[i, j] == pytest.approx(batch[i].kl_divergence(batch[j]), rel=1e-15, abs=0.0)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([2, 3, 7, 300]), st.floats(0.0, 1e7), st.floats(0.0, 1e7), st.floats(-1.0, 1.0), st.integers(0, 9)
)
def test_divergences_are_positive_and_products_multiply(columns, first, second, cosine, seed):
    f, g = pair(columns, first, second, cosine)
    assert f.kl_divergence(g) >= 0.0
    product = f.multiply(g)
    x = sphere.uniform(columns - 1, 4, rng=seed)
    logs = f.logpdf(x) + g.logpdf(x) - product.logpdf(x)
    assert np.ptp(logs) <= 1e-12 * (1.0 + first + second)
    other = g.multiply(f)
    assert other.kappa == pytest.approx(product.kappa, rel=1e-12, abs=1e-12 * (first + second))


def test_products_of_batches_opposites_and_kernels():
    f = VonMisesFisher([0.0, 1.0], 3.0)
    against = f.multiply(VonMisesFisher([0.0, -1.0], 3.0))
    assert against == VonMisesFisher([0.0, 1.0], 0.0)
    assert VonMisesFisher(4, 2.0).multiply(VonMisesFisher(4, 3.0)) == VonMisesFisher(4, 5.0)
    assert f.multiply(VonMisesFisher(1, 0.0)) == f == VonMisesFisher(1, 0.0).multiply(f)
    batch = VonMisesFisher(np.eye(2), [1.0, 2.0]).multiply(f)
    assert batch.batch_shape == (2,)
    assert batch[1] == VonMisesFisher([0.0, 1.0], 5.0)
    wide = VonMisesFisher([1.0, 0.0], 5e299).multiply(VonMisesFisher([0.0, 1.0], 5e299))
    assert wide.kappa == pytest.approx(math.sqrt(0.5) * 1e300, rel=1e-15)


def test_other_kinds_of_others_are_refused():
    f = VonMisesFisher([0.0, 0.0, 1.0], 3.0)
    with pytest.raises(TypeError, match=r"'other' must be a VonMisesFisher.*other.mu, other.kappa"):
        f.kl_divergence(scipy.stats.vonmises_fisher([0.0, 0.0, 1.0], 3.0))
