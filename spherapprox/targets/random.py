"""Random targets with proven constants: spherical polynomials, and functions of finite smoothness."""

from __future__ import annotations

import functools
import math

import numpy as np

from .. import _checks, harmonics, sphere
from .._threads import slices
from .._types import Float64, Floats, Int64, Seed
from ..harmonics.hyperspherical import sizes
from ..harmonics.rounding import transform_rounding
from ..target import DERIVED, Target

TABLE_ELEMENTS = 2**22  # elements of a table of harmonics or of distances that are in memory at a time: 32 MiB
_GRID = 1e6  # points of the grid that proves constants on S^2, at most as far as the slack of 1/2 allows
_ROUNDING = 1.0 + 1e-12  # proven bounds are raised by this against rounding


def random_bandlimited(dim: int, degree: int = 8, rng: Seed = None) -> Target:
    """Return a random spherical polynomial.

    Parameters
    ----------
    dim : int
        m >= 1 of the sphere S^m.
    degree : int, default 8
        n, 0 to 1000 or as far as memory allows.
    rng : None, int or numpy.random.Generator
        Source of randomness, as for `numpy.random.default_rng`.

    Returns
    -------
    Target
        ``sum_j c_j Y_j`` over an orthonormal basis of all harmonics of degree at most n (`harmonics`), c uniform on the
        unit sphere: its mean square over S^m is 1, and its distribution is the same in every orthonormal basis and
        under every rotation. A call takes a table of the basis, in blocks of points.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range or the basis too large for memory.

    Notes
    -----
    *Constants.* On S^1 and S^2 proven upper bounds from a grid, on S^2 `harmonics.bandlimited_maximum`: at most 0.1 %
    above the true ones up to degree 14, and 2 % up to 60; its rounding is proven to degree 256. Beyond S^2, with |c|_l
    the norm of the coefficients of degree l, ``F = sum_l |c|_l sqrt(dim H_l)`` and
    ``L = sum_l |c|_l sqrt(dim H_l l(l+m-1)/m)``: by the Cauchy-Schwarz inequality with ``sum_j Y_lj(x)^2 = dim H_l``,
    and ``sum_j (d_v Y_lj)^2 = dim H_l l(l+m-1)/m`` for every unit tangent v (docs/theorems/4.12-random-targets.md).

    Examples
    --------
    >>> from spherapprox import points, targets
    >>> wave = targets.random_bandlimited(3, 4, rng=0)
    >>> round(points.gauss_product(3, 8).integrate(lambda x: wave(x) ** 2), 12)
    1.0
    """
    dim = _checks.dimension(dim)
    degree = _checks.integer(degree, "degree", minimum=0, maximum=harmonics.hyperspherical.MAX_SOLID_DEGREE)
    of = harmonics.hyperspherical_degrees(degree, dim)
    c = _checks.generator(rng).standard_normal(len(of))
    c /= math.sqrt(c @ c)
    c.flags.writeable = False
    sup_norm, lipschitz, how = _constants(dim, degree, c, of=of)
    return Target(
        functools.partial(_polynomial, degree, c), dim, lipschitz=lipschitz, sup_norm=sup_norm, degree=degree,
        name=f"random polynomial {degree}", provenance=f"proven upper bounds: {how}", origins=DERIVED,
    )  # fmt: skip


def random_smooth(dim: int, smoothness: float = 1.5, rng: Seed = None, *, terms: int = 8) -> Target:
    """Return a random function of finite smoothness: a sum of powers of distances.

    Parameters
    ----------
    dim : int
        m of the sphere S^m, from 1 to what memory holds a point of.
    smoothness : float, default 1.5
        s in (0, 100], no even number: polynomials of degree n come within ``O(n^-s)``, so N parameters within
        ``O(N^(-s/m))``.
    rng : None, int or numpy.random.Generator
        Source of randomness, as for `numpy.random.default_rng`.
    terms : int, default 8
        J >= 1.

    Returns
    -------
    Target
        ``sum_j g_j (|x - y_j|/2)^s`` with J random points y_j and random weights of both signs, ``sum_j |g_j| = 1``; at
        each point y_j it is smooth of order s and no more.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range; for even s the function would be a polynomial.

    Notes
    -----
    *Constants.* F is the larger of the sums of the positive and of the negative weights, as the powers lie in [0, 1].
    With ``|x - y|/2 = sin(theta/2)`` the slope of a power is at most ``(s/2) max_u u^(s-1) sqrt(1-u^2)
    = (sqrt(s)/2) ((s-1)/s)^((s-1)/2)`` for s >= 1; for s < 1 it is Hoelder continuous with exponent s and
    constant ``2^-s``, since ``|a^s - b^s| <= |a - b|^s`` and the sine's slope is at most 1/2.

    *Rate.* The distance to polynomials of degree n is at most ``sum_(l>n) dim(H_l) |q_l| = O(n^-s)`` with the
    coefficients ``q_l/q_0 = (-s/2)_l / (m + s/2)_l`` of the powers (`approximation_bound`,
    docs/theorems/4.12-random-targets.md).

    Examples
    --------
    >>> from spherapprox import targets
    >>> rough = targets.random_smooth(2, 0.5, rng=0)
    >>> rough.exponent, rough.sup_norm <= 1.0
    (0.5, True)
    """
    dim = _checks.dimension(dim)
    s = _smoothness(smoothness)
    terms = _checks.integer(terms, "terms", minimum=1)
    _checks.memory(8.0 * terms * (dim + 2), f"{terms} points of S^m for 'dim' = {dim}", "choose fewer 'terms'")
    generator = _checks.generator(rng)
    centers = sphere.uniform(dim, terms, generator)
    weights = generator.standard_normal(terms)
    weights /= np.abs(weights).sum()
    centers.flags.writeable = weights.flags.writeable = False
    # 4.12, moduli
    slope = 0.5 * math.sqrt(s) * ((s - 1.0) / s) ** (0.5 * (s - 1.0)) if s > 1.0 else 2.0**-s
    return Target(
        functools.partial(_powers, s, centers, weights), dim, exponent=min(s, 1.0),
        lipschitz=slope * float(np.abs(weights).sum()) * _ROUNDING,
        sup_norm=float(max(weights.clip(min=0.0).sum(), -weights.clip(max=0.0).sum())) * _ROUNDING,
        name=f"random of smoothness {s:g}", provenance="proven upper bounds: sums of the terms' constants",
        origins=DERIVED,
    )  # fmt: skip


def approximation_bound(dim: int, smoothness: float, degree: int) -> float:
    """Bound the distance of a target of `random_smooth` on S^m from the polynomials of degree n, at least s/2.

    ``sum_(l>n) dim(H_l) |q_l|`` in closed form: the largest value of what is left of the expansion of one power
    ``(|x - y|/2)^s`` in harmonics, attained at y; to 1e-8 relative (docs/theorems/4.12-random-targets.md).

    Examples
    --------
    >>> from spherapprox.targets import random
    >>> [round(random.approximation_bound(2, 1.0, n) * n, 4) for n in (1, 10, 100, 1000)]
    [0.2667, 0.4555, 0.4951, 0.4995]
    """
    dim, s = _checks.dimension(dim), _smoothness(smoothness)
    half = 0.5 * s
    n = _checks.integer(
        degree, "degree", minimum=math.floor(half), why="from 'smoothness'/2 on the terms have one sign"
    )
    # 4.12
    sine = abs(math.sin(math.pi * (half - round(half))))  # pi / (Gamma(half) |Gamma(1 - half)|)
    from scipy.special import betaln  # not before it is needed, as it loads much

    log = betaln(float(n + dim), half) + betaln(n + 1.0 - half, half) - betaln(0.5 * dim, half)
    return sine / math.pi * math.exp(log)


def _smoothness(smoothness: float) -> float:
    """Check the smoothness s, which is no even number."""
    s = _checks.real(smoothness, "smoothness", above=0.0, maximum=100.0)
    if s % 2.0 == 0.0:
        raise ValueError(f"'smoothness' must be no even number, got {s:g}: even powers of distances are polynomials")
    return s


def _polynomial(degree: int, c: Float64, x: Floats, *, elements: int = TABLE_ELEMENTS) -> Float64:
    values = np.empty(len(x))
    for rows in slices(len(x), max(1, elements // len(c))):
        values[rows] = harmonics.hyperspherical_harmonics(degree, x[rows]) @ c
    return values


def _powers(s: float, centers: Float64, weights: Float64, x: Floats) -> Float64:
    values = np.zeros(len(x))
    for center, weight in zip(centers, weights, strict=True):
        values += weight * (0.25 * np.square(x - center).sum(axis=1)) ** (0.5 * s)
    return values


def _constants(dim: int, degree: int, c: Float64, of: Int64) -> tuple[float, float, str]:
    """Return proven bounds of the sup norm and of the slope of a polynomial, and the method of proof."""
    if degree == 0:
        return abs(float(c[0])) * _ROUNDING, 0.0, "a constant"
    if dim == 1:
        return *_circle_constants(degree, c), "a grid on the circle and M. Riesz' lemma"
    if dim == 2:
        slack = min(0.5, max(1e-3, 5.0 * degree**2 / _GRID))
        maximum = harmonics.bandlimited_maximum(c, slack=slack)
        return maximum.sup_norm, maximum.lipschitz, "harmonics.bandlimited_maximum"
    # 4.12
    norms = np.sqrt(np.bincount(of, c * c))
    k = np.arange(degree + 1.0)
    size = sizes(degree, dim).astype(np.float64)
    slope = np.sqrt(size * k * (k + (dim - 1.0)) / dim)
    return (
        float(norms @ np.sqrt(size)) * _ROUNDING,
        float(norms @ slope) * _ROUNDING,
        "reproducing kernels of the harmonics, degree by degree",
    )


def _circle_constants(degree: int, c: Float64) -> tuple[float, float]:
    """Return proven bounds of a trigonometric polynomial and of its derivative, at most 0.1 % above the maxima.

    `harmonics.bandlimited_maximum` has the lemma: the maxima over q equispaced points, over cos(pi degree/q).
    """
    from scipy.fft import next_fast_len  # not before it is needed, as it loads much

    q = next_fast_len(71 * degree, True)
    series = np.zeros((2, q // 2 + 1), dtype=np.complex128)
    series[0, 0] = c[0]
    series[0, 1 : degree + 1] = math.sqrt(0.5) * (c[1::2] - 1j * c[2::2])
    series[1] = 1j * np.arange(q // 2 + 1) * series[0]
    largest = np.abs(np.fft.irfft(series, q, axis=1, norm="forward")).max(axis=1)
    # 6.1, twice the rounding of the transform for that of the coefficients too
    value, slope = largest / math.cos(math.pi * degree / q) * (1.0 + 2.0 * transform_rounding(q))
    return float(value), float(slope)
