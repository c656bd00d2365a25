"""Goodness of fit: cosines against their law, and directions about the axis against the uniform distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc
from scipy.stats import kstest

from .. import _checks
from .._types import Float64, Seed
from ..vmf import VonMisesFisher
from .densities import SignificanceResult, read_directions
from .uniformity import bingham, rayleigh
from .watson import Watson, split_squares

FAMILIES = (VonMisesFisher, Watson)


def goodness_of_fit(x: ArrayLike, distribution: Any, *, n_resamples: int = 499, rng: Seed = None) -> SignificanceResult:
    """Test whether directions come from a von Mises-Fisher or a Watson distribution.

    Parameters
    ----------
    x : array_like, shape (n, p)
        Unit rows, n >= 2.
    distribution : VonMisesFisher or Watson, or one of these two classes
        A distribution that was not fitted to `x` (else P is too large); or the class, which is fitted, P is its own.
    n_resamples, rng : int; None, int or numpy.random.Generator
        For a class: samples of the fitted distribution from which P is counted, each fitted again, and their source of
        randomness; an int is a seed.

    Returns
    -------
    SignificanceResult
        ``statistic`` -2 sum log P, Fisher's sum of independent tests: Kolmogorov and Smirnov's of the cosines
        <x, mean>, or of their squares, against their law (on the circle, of the angles); and of the directions across,
        `rayleigh` (not for axes) and `bingham` (from 2 (p-1) rows on). ``pvalue`` by the chi-square law with twice as
        many degrees of freedom as tests, or by the share of samples, this one counted, with as large a statistic.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or shape, a distribution has no mean direction, or no fit is possible.

    References
    ----------
    N. I. Fisher & D. J. Best (1984), Goodness-of-fit tests for Fisher's distribution, Aust. J. Stat. 26, 142-150.

    Examples
    --------
    >>> from spherapprox import VonMisesFisher, directional
    >>> north = VonMisesFisher([0.0, 0.0, 1.0], 20.0)
    >>> round(directional.goodness_of_fit(north.rvs(200, rng=0), north).pvalue, 3)
    0.072
    >>> poles = directional.Watson([0.0, 0.0, 1.0], 10.0).rvs(100, rng=0)
    >>> directional.goodness_of_fit(poles, VonMisesFisher(north.mu, 0.1)).pvalue < 1e-6
    True
    """
    rows = read_directions(x)
    if len(rows) < 2:
        raise ValueError(f"'x' must have at least 2 rows, got {len(rows)}")
    if isinstance(distribution, type) and issubclass(distribution, FAMILIES):
        samples = _checks.integer(n_resamples, "n_resamples", minimum=1)
        return _test_family(rows, distribution, samples, rng=_checks.generator(rng))
    remedy = "a class, as in goodness_of_fit(x, VonMisesFisher), is fitted first"
    _checks.instance(distribution, "distribution", *FAMILIES, remedy=remedy)
    if isinstance(distribution, VonMisesFisher):
        stored = ": VonMisesFisher(mean_direction, concentration) stores one"
        _checks.given(distribution.mean_direction, "distribution.mean_direction", stored)
        if distribution.batch_shape:
            raise ValueError(f"'distribution' must be one, got {distribution.batch_shape}: take distribution[0]")
    _checks.same_sphere(rows, "x", distribution.dim, "the distribution's")
    value, tests = _compare(rows, distribution)
    return SignificanceResult(value, float(chdtrc(2 * tests, value)))


def _test_family(rows: Float64, family: Any, samples: int, *, rng: np.random.Generator) -> SignificanceResult:
    """Return the test with fitted parameters, P from samples of the fitted distribution."""

    def fit(sample: Float64) -> Any:
        return family.fit(sample) if family is Watson else family.fit(sample)[1]

    _checks.operations(samples * (1e6 + 100.0 * rows.size), f"{samples} 'n_resamples'", "take fewer")
    fitted = fit(rows)
    value, larger = _compare(rows, fitted)[0], 0
    for _ in range(samples):
        sample = fitted.rvs(size=len(rows), rng=rng)
        larger += _compare(sample, fit(sample))[0] >= value
    return SignificanceResult(value, (1.0 + larger) / (1.0 + samples))


def _compare(rows: Float64, distribution: Any) -> tuple[float, int]:
    """Return -2 times the sum of the logarithms of independent P values, and their number."""
    # Step 1: the cosines, or the angles of the circle, both sides of the pole at once
    axial = isinstance(distribution, Watson)
    pole = distribution.axis if axial else distribution.mean_direction / np.linalg.norm(distribution.mean_direction)
    square, rest = split_squares(rows, pole)
    if axial:
        shares = distribution._law.distribute(square, rest)
    else:  # by 1 - |x - pole|^2/2, the cosine to its last digit
        shares = distribution.cdf(1.0 - 0.5 * np.square(rows - pole).sum(axis=1), complement=True)
    along = rows @ pole
    if distribution.dim == 1:
        sides = rows @ np.array([-pole[1], pole[0]])
        shares = 0.5 + np.copysign(0.5 * shares, sides * along if axial else sides)
    pvalues = [float(kstest(shares, "uniform").pvalue)]
    # Step 2: directions in the plane across the pole, by the reflection that takes the pole to the last axis
    apart = rest > 1e-300
    if distribution.dim > 1 and apart.sum() > 1:
        across = (rows - along[:, None] * pole)[apart]
        mirror = pole + math.copysign(1.0, pole[-1]) * np.eye(1, pole.size, pole.size - 1)[0]
        flat = across[:, :-1] - (across @ mirror)[:, None] * (2.0 * mirror[:-1] / (mirror @ mirror))
        flat /= np.sqrt(np.einsum("ij,ij->i", flat, flat))[:, None]
        tests = [] if axial else [rayleigh]
        tests += [bingham] if len(flat) >= 2 * flat.shape[1] else []  # else its law is not good enough
        pvalues += [test(flat).pvalue for test in tests]
    return -2.0 * math.fsum(math.log(max(pvalue, 1e-300)) for pvalue in pvalues), len(pvalues)
