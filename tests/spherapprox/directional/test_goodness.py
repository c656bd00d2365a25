"""Goodness of fit: laws, levels, power, complaints."""

import numpy as np
import pytest
from scipy.stats import kstest

from spherapprox import VonMisesFisher, sphere
from spherapprox.directional import Kent, Watson, goodness_of_fit


@pytest.mark.parametrize("dim", [1, 2, 40])
@pytest.mark.parametrize("size", [0.0, 4.0, pytest.param(1e8, marks=pytest.mark.once)])
def test_pvalues_are_uniform_under_the_distribution(dim, size):
    rng = np.random.default_rng(6)
    mean = sphere.uniform(dim, 1, rng)[0]
    for distribution in (VonMisesFisher(mean, size), Watson(mean, size), Watson(mean, -size)):
        if dim == 40 and isinstance(distribution, Watson):
            continue  # Bingham's law needs more rows than columns
        pvalues = [goodness_of_fit(distribution.rvs(size=25, rng=rng), distribution).pvalue for _ in range(60)]
        assert kstest(pvalues, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("dim", [1, 2])
def test_signs_of_axes_do_not_matter(dim):
    watson = Watson(sphere.uniform(dim, 1, rng=0)[0], 3.0)
    x = watson.rvs(40, rng=1)
    turned = x * np.where(np.arange(40) % 3, 1.0, -1.0)[:, None]
    assert goodness_of_fit(turned, watson) == pytest.approx(goodness_of_fit(x, watson), rel=1e-9)


@pytest.mark.once
def test_pvalues_of_a_family_are_uniform_under_it():
    rng = np.random.default_rng(1)
    for distribution, repetitions in ((VonMisesFisher([0.0, 0.0, 1.0], 5.0), 24), (Watson([0.0, 1.0], 2.0), 8)):
        pvalues = [
            goodness_of_fit(distribution.rvs(size=20, rng=rng), type(distribution), n_resamples=9, rng=rng).pvalue
            for _ in range(repetitions)
        ]
        assert set(np.round(np.array(pvalues) * 10)) <= set(range(1, 11))
        assert abs(np.mean(pvalues) - 0.55) < 3.5 * 0.29 / repetitions**0.5


def test_other_distributions_are_rejected():
    pole = np.eye(3)[2]
    oval = Kent(np.eye(3)[[2, 0, 1]], 40.0, 19.0).rvs(150, rng=0)
    girdle = Watson(pole, -6.0).rvs(150, rng=0)
    assert goodness_of_fit(oval, VonMisesFisher, n_resamples=99, rng=0).pvalue == 0.01
    assert goodness_of_fit(girdle, Watson(pole, 3.0)).pvalue < 1e-6
    assert goodness_of_fit(girdle, Watson(pole, -6.0)).pvalue > 0.01
    tilted = VonMisesFisher([0.28, 0.0, 0.96], 40.0)
    assert goodness_of_fit(tilted.rvs(150, rng=0), VonMisesFisher(pole, 40.0)).pvalue < 1e-6
    first = goodness_of_fit(oval, VonMisesFisher, n_resamples=19, rng=3)
    assert first == goodness_of_fit(oval, VonMisesFisher, n_resamples=19, rng=3)
