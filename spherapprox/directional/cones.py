"""Cones of confidence about mean directions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import betainccinv, betaincinv, gammaincinv

from .. import _checks
from .._scalars import bessel_ratio
from .._threads import slices
from .._types import Float64, Seed
from ..vmf import VonMisesFisher, fitting, sparse

RESAMPLES = 1999  # so that levels like 0.95 and 0.99 are shares of one more
NARROW = 1.1  # how much too large a concentration the F law may take unsaid
_NUMBERS = 2**21  # counts of rows that are drawn at a time


def confidence_cone(
    x: Any, level: float = 0.95, method: str = "F", *, n_resamples: int = RESAMPLES, rng: Seed = None
) -> tuple[Float64, float]:
    """Return the mean direction and the angle about it within which the true one lies with the given confidence.

    Parameters
    ----------
    x : array_like, tensor or sparse matrix, shape (n, dim+1)
        At least two unit rows, as for `VonMisesFisher.fit`; no sparse ones for "bootstrap".
    level : float
        Confidence, in (0, 1).
    method : {"F", "conditional", "bootstrap"}
        "F": (n-1) R (1 - cos a)/(n - R), R the length of the rows' sum, by the F law with dim and (n-1) dim degrees of
        freedom, for narrow samples of a von Mises-Fisher distribution; on S^2 this is Fisher's a95 [1]_. "conditional":
        for wide ones, too, and of many columns: the `cap` of the sum's direction given R, which is von Mises-Fisher of
        concentration times R, widened as F's quantile is from chi-square's. "bootstrap": for any distribution that has
        a mean direction, of few columns and many rows: r^2 (1 - cos a)/(1 - mean <x, m>^2), r and m the mean's length
        and direction, by resamples about m [2]_; the cone is round also where the spread is not.
    n_resamples, rng : int; None, int or numpy.random.Generator
        For "bootstrap": how many samples are drawn from the rows, at least 99, and their source of randomness.

    Returns
    -------
    mean_direction, angle : ndarray, shape (dim+1,), and float
        Radians in [0, pi]; pi where the sample excludes no direction.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind, shape or range, or all rows agree.

    Warns
    -----
    RuntimeWarning
        If the rows are too wide for the F law: on S^2 of a concentration below 3; of 768 columns with a mean of length
        0.5 it holds the true direction never, not 95 times in 100.

    References
    ----------
    .. [1] N. I. Fisher, T. Lewis & B. J. J. Embleton (1987), Statistical Analysis of Spherical Data, 5.3.
    .. [2] N. I. Fisher & P. Hall (1989), J. Am. Stat. Assoc. 84, 996-1002.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import VonMisesFisher
    >>> from spherapprox.directional import confidence_cone
    >>> mean, angle = confidence_cone(VonMisesFisher([0.0, 0.0, 1.0], 109.0).rvs(26, rng=0))
    >>> bool(mean[2] > np.cos(angle)), round(float(np.degrees(angle)), 2)
    (True, 2.65)
    """
    if np.ndim(level):
        text = "'level' must be one number such as 0.95, got an array: 'x' alone has the directions, as unit rows"
        raise TypeError(f"{text}; sphere.from_declination_inclination makes them of degrees")
    level = _checks.real(level, "level", above=0.0, below=1.0, why="0.95 for 95 percent")
    method = _checks.choice(method, "method", ("F", "conditional", "bootstrap"))
    count = _checks.integer(n_resamples, "n_resamples", minimum=99, maximum=10**6)
    rows = fitting.unit_rows(x)
    n, columns = rows.shape
    direction, length, complement = fitting.resultant(rows, np.full(n, 1.0 / n))
    if complement < fitting.EQUAL:
        raise ValueError(f"'x' must hold at least two different points, got {n} that agree: they have no spread")
    if length == 0.0:
        return direction, math.pi
    if method != "bootstrap":
        law = _narrow if method == "F" else _conditional
        return direction, law(level, n, columns, length=min(length, 1.0), complement=complement)
    if sparse.is_sparse(rows):
        raise ValueError("'x' must be dense for method='bootstrap', got a sparse matrix: the other methods take it")
    _checks.operations(2.0 * n * columns * count, f"{count} resamples of {n} rows", "take fewer rows or resamples")
    return direction, _bootstrap(rows, direction, level, count=count, rng=_checks.generator(rng))


def _narrow(level: float, n: int, columns: int, length: float, complement: float) -> float:
    """Return the angle of a narrow sample by the F law."""
    # the concentration that the F law stands for, over that of the largest likelihood
    likely = bessel_ratio.iv_ratio_inverse(0.5 * (columns - 2), length, complement)
    share = (columns - 1.0) / (2.0 * complement * likely)
    if share > NARROW:
        _checks.warn_inaccurate(
            f"the rows of 'x' are too wide for the F law (their mean has length {length:.2g} in {columns} columns): it "
            f"takes their concentration {share:.2g} times too large, and the cone misses the true mean direction more "
            "often than 'level' says; method='conditional' holds it"
        )
    return _angle(_f_quantile(level, n, columns) * complement / ((n - 1.0) * length))


def _conditional(level: float, n: int, columns: int, length: float, complement: float) -> float:
    """Return the angle by the law of the direction, given the length, widened as the F law is against chi-square."""
    concentration = fitting.marginal_concentration(0.5 * (columns - 2), n, length, complement=complement)
    freedom = columns - 1.0
    widening = _f_quantile(level, n, columns) * freedom / (2.0 * float(gammaincinv(0.5 * freedom, level)))
    return float(VonMisesFisher(columns - 1, concentration * n * length / widening).cap(level))


def _f_quantile(level: float, n: int, columns: int) -> float:
    """Return the quantile of the F law with p - 1 and (n-1) (p-1) degrees of freedom, to more digits than `fdtri`."""
    first, second = columns - 1.0, (n - 1.0) * (columns - 1.0)
    share, rest = betaincinv(0.5 * first, 0.5 * second, level), betainccinv(0.5 * second, 0.5 * first, level)
    return float((n - 1.0) * share / rest)


def _angle(versine: float) -> float:
    """Return the angle of a cone by 1 - cos."""
    return 2.0 * math.asin(math.sqrt(0.5 * versine)) if versine < 2.0 else math.pi


def _bootstrap(rows: Any, direction: Float64, level: float, count: int, rng: np.random.Generator) -> float:
    """Return the angle by the pivots of resamples."""
    n = len(rows)
    # Step 1: chords from the mean direction, which keep the digits of narrow samples, and their half squares
    chords = rows.astype(np.float64)  # (n, d)
    chords /= np.sqrt(np.einsum("ij,ij->i", chords, chords))[:, None]
    chords -= direction
    versines = 0.5 * np.einsum("ij,ij->i", chords, chords)  # 1 - <x, mean>
    # Step 2: the pivots of resamples, inf where one has no direction or no spread
    pivots = np.empty(count)
    for part in slices(count, max(1, _NUMBERS // n)):
        weights = rng.multinomial(n, np.full(n, 1.0 / n), size=part.stop - part.start) / n  # (b, n)
        means = weights @ chords  # (b, d), less the mean direction
        lengths = np.sqrt(np.square(means + direction).sum(axis=1))  # (b,)
        with np.errstate(divide="ignore", invalid="ignore"):
            # m* - m = (mean + m)/r - m, of mean = r m* - m and 1 - r without subtraction
            shortfall = -(2.0 * means @ direction + np.square(means).sum(axis=1)) / (1.0 + lengths)  # 1 - r
            moved = (means + shortfall[:, None] * direction) / lengths[:, None]  # (b, d)
            away = 0.5 * np.square(moved).sum(axis=1)  # 1 - cos a
            apart = versines[:, None] - chords @ moved.T + away  # 1 - <x, m*>, (n, b)
            pivots[part] = lengths**2 * away / np.einsum("bn,nb->b", weights, apart * (2.0 - apart))
    pivots[~np.isfinite(pivots)] = np.inf
    # Step 3: the quantile, times what the sample's own pivot has beside 1 - cos
    pivot = np.sort(pivots)[min(count, math.ceil((count + 1) * level)) - 1]
    length = 1.0 - float(versines.mean())  # of the mean
    return _angle(float(pivot * (versines * (2.0 - versines)).mean() / (length * length)))
