"""Tests of uniformity on the sphere: Rayleigh's of a mean direction, Bingham's of axes, Gine's of everything.

The arguments are the same throughout: `x`, unit rows (n, p) with n >= 2; `n_resamples`, 0 for a P value by the law for
large n, else the number of uniform samples of this size from which P is counted; `rng`, None, an int (a seed) or a
numpy.random.Generator, the source of randomness for these. Error names: TypeError and ValueError, if an argument is of
the wrong kind or shape, there are fewer than two rows, or the work would take hours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import chdtrc, log1p

from .. import _checks, sphere
from .._scalars.gamma import gamma_half_ratio
from .._threads import slices
from .._types import Float64, Seed
from ..vmf.tail import log_sizes
from .densities import SignificanceResult, read_directions

PAIRS = 2**18  # pairs of rows whose angles are held at a time
DEGREES, SINGLE, LARGE = 2000, 100, 300.0
"""Degrees of harmonics that Gine's law counts, those that it counts one by one, and the log of their largest number."""
Statistic = Callable[[Float64], float]
Law = Callable[[float, int, int], float]


def rayleigh(x: ArrayLike, *, n_resamples: int = 0, rng: Seed = None) -> SignificanceResult:
    """Test whether directions are uniform, against a mean direction (Rayleigh's test, as modified by Jupp).

    ``statistic`` S* = (1 - 1/(2n)) S + S^2/(2n(p+2)) with S = p n |mean|^2, and ``pvalue`` by the chi-square law with p
    degrees of freedom: at n = 10 a level of 5% is one of 4.8 to 5.2%, in every dimension tried. P. E. Jupp (2001),
    Modifications of the Rayleigh and Bingham tests for uniformity of directions, J. Multivar. Anal. 77, 1-20.

    Examples
    --------
    >>> from spherapprox import VonMisesFisher, directional
    >>> winds = VonMisesFisher([1.0, 0.0], 0.8).rvs(60, rng=0)
    >>> round(directional.rayleigh(winds).pvalue, 5)
    0.00088
    """

    def statistic(rows: Float64) -> float:
        n, p = rows.shape
        total = rows.sum(axis=0)
        s = p / n * float(total @ total)
        return float((1.0 - 0.5 / n) * s + s * s / (2.0 * n * (p + 2.0)))

    return _test(x, statistic, lambda s, n, p: float(chdtrc(p, s)), n_resamples, rng)


def bingham(x: ArrayLike, *, n_resamples: int = 0, rng: Seed = None) -> SignificanceResult:
    """Test whether axes are uniform, by their second moments (Bingham's test, as modified by Jupp).

    ``statistic`` S = p(p+2) n (tr T^2 - 1/p)/2 for the mean T of x x^T. ``pvalue``: S (1 - (B0 + B1 S + B2 S^2)/n) is
    chi-square with (p-1)(p+2)/2 degrees of freedom (Jupp), made to grow with S everywhere (Kakizawa 1996, Biometrika
    83, 923-927). From n = 10 on a level of 5% is one of 4.5 to 5.5% for p = 2 and 3; with fewer rows than 2p take
    `n_resamples`: a RuntimeWarning says so below 2p - 4, where P may be far too small.

    Examples
    --------
    >>> from spherapprox import directional
    >>> girdle = directional.Watson([0.0, 0.0, 1.0], -5.0).rvs(60, rng=0)
    >>> round(directional.bingham(girdle).pvalue, 5), round(directional.rayleigh(girdle).pvalue, 2)
    (2e-05, 0.61)
    """

    def statistic(rows: Float64) -> float:
        n, p = rows.shape
        moments = rows.T @ rows if p <= n else rows @ rows.T
        return float(0.5 * p * (p + 2.0) * n * (float(np.square(moments / n).sum()) - 1.0 / p))

    def law(s: float, n: int, p: int) -> float:
        if n < 2 * p - 4:
            _checks.warn_inaccurate(f"{n} rows of {p} columns are too few for Bingham's law: pass n_resamples=999")
        b0 = (2.0 * p * p + 3.0 * p + 4.0) / (6.0 * (p + 4.0))
        b1 = -(4.0 * p * p + 3.0 * p - 4.0) / (3.0 * (p + 4.0) * (p * p + p + 2.0))
        b2 = 4.0 * (p * p - 4.0) / (3.0 * (p + 4.0) * (p * p + p + 2.0) * (p * p + p + 6.0))
        excess = np.polynomial.Polynomial([0.0, b0 / n, b1 / n, b2 / n])
        # 1 - e' + e'^2/4 is a square
        modified = s - excess(s) + 0.25 * (excess.deriv() ** 2).integ()(s)
        return float(chdtrc((p - 1) * (p + 2) / 2, modified))

    return _test(x, statistic, law, n_resamples, rng)


def gine(x: ArrayLike, *, n_resamples: int = 0, rng: Seed = None) -> SignificanceResult:
    """Test whether directions are uniform, against every alternative (Gine's F_n, a Sobolev test).

    ``statistic`` F_n = 4 A_n + G_n, Ajne's part of the odd and Gine's of the even degrees: on S^2 3n/2 - 4/(n pi)
    sum_{i<j} (psi + sin psi) for the angles psi of pairs, to 1e-8. ``pvalue`` is the law's for large n, a weighted sum
    of chi-squares, to 1e-8 relative however small it is, with the variance set right for n: at n = 10 a level of 5% is
    one of 4.5 to 5.5%. E. Gine (1975), Ann. Stat. 3, 1243-1266; M. J. Prentice (1978), Ann. Stat. 6, 169-176.

    Examples
    --------
    >>> from spherapprox import directional, sphere
    >>> round(directional.gine(sphere.uniform(2, 100, rng=0)).pvalue, 3)
    0.756
    """
    return _test(x, _gine_statistic, _gine_pvalue, n_resamples, rng)


def _test(x: ArrayLike, statistic: Statistic, law: Law, n_resamples: int, rng: Seed) -> SignificanceResult:
    """Return a statistic that is large where rows are not uniform, and its P value, by its law or by Monte Carlo."""
    rows = read_directions(x)
    n, p = rows.shape
    if n < 2:
        raise ValueError(f"'x' must have at least 2 rows, got {n}: one direction is as good as any other")
    samples, generator = _checks.integer(n_resamples, "n_resamples", minimum=0), _checks.generator(rng)
    cost = 20.0 * n * (p + 20.0) if statistic is _gine_statistic else 4.0 * p  # of a row
    _checks.operations(cost * n * samples, f"{samples} 'n_resamples' of {n} rows", "take fewer")
    value = statistic(rows)
    if not samples:
        return SignificanceResult(value, law(value, n, p))
    drawn = (statistic(sphere.uniform(p - 1, n, rng=generator)) for _ in range(samples))
    larger = sum(other >= value * (1.0 - 1e-12) for other in drawn)
    return SignificanceResult(value, (1.0 + larger) / (1.0 + samples))


def _gine_statistic(rows: Float64) -> float:
    """Return F_n = sum_{ij} [3/2 - (2/pi) psi_ij - sin(psi_ij)/(2 E sin psi)]/n."""
    n, p = rows.shape
    _checks.operations(20.0 * n * n * (p + 20.0), f"the angles of all pairs of {n} rows", "draw some of them")
    mean_sine = gamma_half_ratio(0.5 * (p - 1)) ** 2 / (0.5 * (p - 1))
    total = 0.0
    for part in slices(n, max(1, PAIRS // n)):
        cosines = np.clip(rows[part] @ rows[part.start :].T, -1.0, 1.0)  # pairs with rows from this block on
        twice = np.arccos(cosines) * (2.0 / math.pi) + np.sqrt(1.0 - cosines * cosines) * (0.5 / mean_sine)
        size = part.stop - part.start
        twice[:, :size][np.tri(size, dtype=bool)] = 0.0  # each pair once
        total += float(twice.sum())
    return float(1.5 * n - 2.0 * total / n)


@lru_cache(maxsize=8)
def _gine_weights(p: int) -> tuple[Float64, Float64]:
    """Return the weights v_l of Gine's law and their degrees of freedom; the last are of all high degrees together.

    v_{2i+1} = [Gamma(p/2)/Gamma((p+1)/2)]^2 / pi [(1/2)_i/((p+1)/2)_i]^2, and by Rodrigues' formula
    v_{2i} = -(1/2)_i (-1/2)_i/(2 ((p-1)/2)_i ((p+1)/2)_i).
    """
    i = np.arange(DEGREES // 2)
    odd = 2.0 * np.cumsum(np.concatenate([[0.0], np.log((0.5 + i) / (0.5 * (p + 1) + i))]))[:-1]
    even = np.cumsum(np.log(np.abs((0.5 + i) * (i - 0.5) / ((0.5 * (p - 1) + i) * (0.5 * (p + 1) + i)))))
    first = math.log(math.pi) + 2.0 * math.log(gamma_half_ratio(0.5 * p))
    logs = np.stack([odd - first, even - math.log(2.0)], axis=1).ravel()
    log_degrees = log_sizes(p - 1, DEGREES)[1:]
    single = np.flatnonzero((log_degrees > LARGE) | (np.arange(DEGREES) == SINGLE))[0]
    weights, degrees = np.exp(logs[:single]), np.exp(log_degrees[:single])
    # one chi-square of the mean and the variance of what is left
    mean = 1.5 - float(weights @ degrees)
    half = float(np.exp(2.0 * logs[single:] + log_degrees[single:]).sum())
    return np.append(weights, half / mean), np.append(degrees, mean * (mean / half))


def _gine_pvalue(value: float, n: int, p: int) -> float:
    """Return the P value of F_n, whose mean is 3/2 and whose variance is 1 - 1/n of its limit."""
    return math.exp(log_tail(1.5 + (value - 1.5) / math.sqrt(1.0 - 1.0 / n), *_gine_weights(p)))


def log_tail(x: float, weights: Float64, degrees: Float64) -> float:
    """Return log P(sum_l weights_l chi2(degrees_l) > x) to 1e-11, for positive weights and 30 degrees or more.

    The integral of e^(K(z) - x z)/z over 2 pi i, K the cumulant generating function, along a parabola through the
    saddle c that is near the path of steepest descent (Imhof's is along a line, where it turns often).
    """
    if x <= 0.0:
        return 0.0
    twice = 2.0 * weights
    pole = 1.0 / float(twice.max())

    def log_integrand(z: complex) -> Any:
        return -0.5 * (log1p(-z * twice) @ degrees) - z * x - np.log(z)

    def slope(z: float) -> float:
        return 0.5 * float(degrees @ (twice / (1.0 - z * twice))) - x - 1.0 / z

    c = float(brentq(slope, 1e-12 * min(pole, 1.0 / x), pole * (1.0 - 1e-12), xtol=1e-300, rtol=1e-6))
    peak, tilted = log_integrand(c), twice / (1.0 - c * twice)
    second, third = 0.5 * float(degrees @ tilted**2) + c**-2.0, float(degrees @ tilted**3) - 2.0 * c**-3.0
    width, bend = second**-0.5, max(third / (6.0 * second), 0.0)

    def integrand(t: float) -> float:
        u = t * width
        return float((np.exp(log_integrand(complex(c + bend * u * u, u)) - peak) * complex(1.0, -2.0 * bend * u)).real)

    integral = quad(integrand, 0.0, math.inf, epsabs=0.0, epsrel=1e-10, limit=1000)[0]
    return min(0.0, float(peak) + math.log(integral * width / math.pi))
