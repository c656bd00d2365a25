"""Tests that compare samples of directions: their mean directions, their concentrations.

The arguments are the same throughout: `samples`, two or more arrays of unit rows (n_i, p), each by itself. Error names:
TypeError and ValueError, if an argument is of the wrong kind or shape, there are fewer than two samples, or none
varies, of `same_concentration` one does not.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import chdtrc, fdtrc

from .. import _checks
from .._scalars import bessel, bessel_ratio
from .._types import Float64, Indices, Seed
from ..vmf import fitting
from .densities import SignificanceResult, read_directions

NARROW = 0.1  # share of F's standard deviation that its law may be off by
SELECTION = 2**20  # numbers in a block of permuted memberships


class Groups(NamedTuple):
    """Samples, and what resultants leave of their sizes, from chords: digits of narrow samples last."""

    rows: Float64  # of all samples, (n, p)
    sizes: Float64  # (g,)
    within: Float64  # n_i - R_i for the resultant lengths R_i, (g,)
    between: float  # sum R_i - R
    direction: Float64  # of all rows, (p,)


def same_mean(*samples: ArrayLike, method: str = "F", n_resamples: int = 9999, rng: Seed = None) -> SignificanceResult:
    """Test whether samples of directions have one mean direction.

    ``statistic`` F = (n-g)(sum R_i - R)/((g-1)(n - sum R_i)), to 1e-12, for g samples of n rows in all with resultant
    lengths R_i, R that of all; ``pvalue`` as `method` says.

    Parameters
    ----------
    method : {"F", "permutation"}
        "F": by the F law with (g-1)(p-1) and (n-g)(p-1) degrees of freedom (Watson & Williams 1956, Biometrika 43,
        344-352), for von Mises-Fisher samples of one concentration that is not small. "permutation": by the share of
        random exchanges of rows, this one counted, with an F at least as large, for samples of one distribution.
    n_resamples, rng : int; None, int or numpy.random.Generator
        Exchanges, and the source of randomness for them; an int is a seed.

    Warns
    -----
    RuntimeWarning
        If the F law is off by more than a tenth of F's standard deviation: the mean square within samples is about
        1 - (p-3)/(4 kappa) of that between them. (On the circle R's package multiplies F by 1 + 3/(8 kappa) for this.)

    Examples
    --------
    >>> from spherapprox import VonMisesFisher, directional
    >>> x = VonMisesFisher([0.0, 0.0, 1.0], 30.0).rvs(20, rng=0)
    >>> y = VonMisesFisher([0.0, 0.28, 0.96], 30.0).rvs(25, rng=1)
    >>> round(directional.same_mean(x, y).pvalue, 8)
    0.00045595
    >>> directional.same_mean(x, y, method="permutation", rng=0).pvalue
    0.0007
    """
    groups = _read_groups(samples)
    method = _checks.choice(method, "method", ("F", "permutation"))
    exchanges = _checks.integer(n_resamples, "n_resamples", minimum=1)
    (n, p), g, within = groups.rows.shape, len(samples), float(groups.within.sum())
    statistic = (n - g) * groups.between / ((g - 1) * within)
    if method == "permutation":
        _checks.operations(2.0 * exchanges * g * n * p, f"{exchanges} 'n_resamples'", "take fewer")
        return SignificanceResult(statistic, _permute(groups, exchanges, rng=_checks.generator(rng)))
    kappa = 0.5 * (p - 1.0) * (n - g) / within
    shift = abs(2.0 * kappa / (p - 1.0) * bessel_ratio.first_complement(0.5 * p - 1.0, kappa) - 1.0)
    if shift > NARROW * math.sqrt(2.0 / ((g - 1) * (p - 1))):
        _checks.warn_inaccurate(
            f"the F law needs narrower samples in {p} columns than of concentration {kappa:.3g} (it is off by "
            f"{100 * shift:.2g}%): method='permutation' does not"
        )
    return SignificanceResult(statistic, float(fdtrc((g - 1) * (p - 1), (n - g) * (p - 1), statistic)))


def same_concentration(*samples: ArrayLike) -> SignificanceResult:
    """Test whether von Mises-Fisher samples, whatever their mean directions, have one concentration.

    ``statistic`` is twice the log of the likelihood ratio of the resultant lengths R_i (Schou 1978, Biometrika 65,
    369-377), over Bartlett's factor 1 + (sum 1/f_i - 1/sum f_i)/(3 (g-1)), f_i = (n_i - 1)(p - 1); ``pvalue`` by the
    chi-square law with g - 1 degrees of freedom. A level of 5% is one of 4.5 to 5.5% for narrow samples from n_i = 5
    on; where samples are nearly uniform it rejects too seldom.

    Examples
    --------
    >>> from spherapprox import VonMisesFisher, directional
    >>> x = VonMisesFisher([0.0, 0.0, 1.0], 30.0).rvs(20, rng=0)
    >>> y = VonMisesFisher([0.0, 1.0, 0.0], 90.0).rvs(25, rng=1)
    >>> round(directional.same_concentration(x, y).pvalue, 5)
    0.00107
    """
    groups = _read_groups(samples)
    p, sizes, within = groups.rows.shape[1], groups.sizes, groups.within
    if sizes.min() < 2 or within.min() < 1e-30:
        worst = int(np.argmin(within))
        raise ValueError(f"'samples[{worst}]' must hold at least two different rows, got {sizes[worst]:.0f} that agree")
    order, g = 0.5 * p - 1.0, len(samples)
    apart = [_largest_likelihood(order, sizes[i : i + 1], within[i : i + 1]) for i in range(g)]
    gain = math.fsum([*apart, -_largest_likelihood(order, sizes, within)])
    freedom = (sizes - 1.0) * (p - 1.0)
    factor = 1.0 + float((1.0 / freedom).sum() - 1.0 / freedom.sum()) / (3.0 * (g - 1))
    statistic = max(2.0 * gain / factor, 0.0)
    return SignificanceResult(statistic, float(chdtrc(g - 1, statistic)))


def _read_groups(samples: tuple[ArrayLike, ...]) -> Groups:
    """Return the samples and their resultants."""
    if len(samples) < 2:
        raise TypeError(f"two samples or more must be given, each by itself: f(x, y, ...), got {len(samples)}")
    rows = [read_directions(samples[0], "samples[0]")]
    dim = rows[0].shape[1] - 1
    rows += [read_directions(x, f"samples[{i}]", dim=dim) for i, x in enumerate(samples[1:], 1)]
    sizes = np.array([float(len(x)) for x in rows])
    *parts, (direction, _, _) = (fitting.resultant(x, np.full(len(x), 1.0 / len(x))) for x in (*rows, np.vstack(rows)))
    ends, lengths, shortfalls = (np.array(values) for values in zip(*parts, strict=True))
    within = sizes * shortfalls
    if within.sum() < 1e-30:
        raise ValueError("samples must vary, got equal rows in each: there is no spread to compare with")
    between = float((sizes * lengths) @ (0.5 * np.square(ends - direction).sum(axis=1)))  # R_i (1 - cosine)
    return Groups(np.vstack(rows), sizes, within, between, direction)


def _permute(groups: Groups, exchanges: int, *, rng: np.random.Generator) -> float:
    """Return the P value of sum R_i under exchanges of rows between samples."""
    offsets = groups.rows - groups.direction  # so that narrow samples keep their digits
    memberships = np.repeat(np.arange(len(groups.sizes)), groups.sizes.astype(int))

    def excess(members: Indices) -> Float64:
        """Return sum (R_i - n_i) for rows of memberships: R^2 - n^2 = 2 n <d, u> + |u|^2 where the sum is n d + u."""
        result = np.zeros(len(members))
        for i, n in enumerate(groups.sizes):
            u = (members == i).astype(np.float64) @ offsets
            square = 2.0 * n * (u @ groups.direction) + np.einsum("ij,ij->i", u, u)
            result += square / (n + np.sqrt(np.maximum(n * n + square, 0.0)))
        return result

    observed = float(excess(memberships[None, :])[0])
    larger, left, block = 0, exchanges, max(1, SELECTION // memberships.size)
    while left:
        members = rng.permuted(np.tile(memberships, (min(block, left), 1)), axis=1)
        larger += int((excess(members) >= observed - 1e-12 * abs(observed)).sum())
        left -= len(members)
    return (1.0 + larger) / (1.0 + exchanges)


def _largest_likelihood(order: float, sizes: Float64, within: Float64) -> float:
    """Return the largest log likelihood of resultant lengths n_i - rest_i of one concentration, up to a constant."""
    n, rest, lengths = float(sizes.sum()), float(within.sum()), sizes - within

    def slope(kappa: float) -> float:
        parts = [r * bessel_ratio.first_complement(order, kappa * r) for r in lengths.tolist()]
        return n * bessel_ratio.first_complement(order, kappa) - math.fsum(parts) - rest

    kappa = 0.0
    if float(lengths @ lengths) > n:
        low = (order + 1.0) * n / rest
        while slope(low) > 0.0:
            low *= 2.0
        while slope(low) <= 0.0 and low > 1e-9:  # it is 0 at 0, too
            low *= 0.5
        kappa = float(brentq(slope, low, 2.0 * low, xtol=1e-300, rtol=1e-13)) if low > 1e-9 else 0.0
    parts = [bessel.log_0f1_scaled(order, kappa * r) for r in lengths.tolist()]
    return math.fsum(parts) - n * bessel.log_0f1_scaled(order, kappa) - kappa * rest
