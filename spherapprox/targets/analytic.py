"""Test functions in closed form on every sphere, with exact or proven constants."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks, harmonics, special, sphere
from .._types import Float64, Floats
from ..target import DERIVED, Target

_MAX_DEGREE = 10_000  # largest degree of a zonal harmonic: each value takes as many steps


def distance(dim: int, *, pole: ArrayLike | None = None) -> Target:
    """Return the geodesic distance to a point: the extremal function of the convolution error.

    Parameters
    ----------
    dim : int
        m of the sphere S^m, from 1 to what memory holds a point of.
    pole : array_like, shape (dim+1,), optional
        The point; by default the last axis.

    Returns
    -------
    Target
        Values in [0, pi].

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range, or `pole` is no point of S^m.

    Notes
    -----
    *Constants.* L = 1, exact: the triangle inequality, with equality along great circles through the pole. F = pi,
    exact: the antipode.

    Examples
    --------
    >>> from spherapprox import targets
    >>> targets.distance(2)([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]).round(6)
    array([0.      , 1.570796])
    """
    dim = _checks.dimension(dim)
    axis = _pole(pole, dim)
    return Target(
        functools.partial(sphere.distance, axis), dim, axes=axis[None, :], lipschitz=1.0, sup_norm=math.pi,
        name="distance", provenance="exact: triangle inequality", origins=DERIVED,
    )  # fmt: skip


def zonal_harmonic(dim: int, degree: int = 4, *, pole: ArrayLike | None = None) -> Target:
    """Return a zonal harmonic, normalised to 1 at its pole: an eigenfunction of every zonal kernel.

    Parameters
    ----------
    dim : int
        m of the sphere S^m, from 1 to what memory holds a point of.
    degree : int, default 4
        k, 0 to 10000.
    pole : array_like, shape (dim+1,), optional
        Where it is 1; by default the last axis.

    Returns
    -------
    Target
        ``P_k(<x, pole>)`` with the normalised Gegenbauer polynomial; on S^1 ``cos(k theta)``.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range, or `pole` is no point of S^m.

    Notes
    -----
    *Constants.* F = 1, exact. L is `special.gegenbauer_lipschitz`: the best constant, rounded upward by 4e-15 relative
    at most; exact for k <= 1 and on S^1. ``H = k(k+m-1)/m`` and ``Lap = k(k+m-1)`` are attained at the pole, and
    ``T = sqrt(H (H + 3 H (k-1)(k+m)/(m+2)))`` is an upper bound (docs/theorems/6.4-zonal-derivatives.md), all rounded
    upward.

    Examples
    --------
    >>> from spherapprox import targets
    >>> wave = targets.zonal_harmonic(2, 2)  # (3 cos(theta)^2 - 1) / 2
    >>> wave([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]).round(6)
    array([ 1. , -0.5])
    >>> round(wave.lipschitz, 6)
    1.5
    """
    dim = _checks.dimension(dim)
    degree = _checks.integer(degree, "degree", minimum=0, maximum=_MAX_DEGREE)
    slope = degree * ((degree + (dim - 1.0)) / dim)  # of the polynomial at 1
    axis, bend = _pole(pole, dim), slope * (degree - 1.0) * ((degree + dim) / (dim + 2.0))
    return Target(
        functools.partial(_zonal, degree, axis), dim, axes=axis[None, :], degree=degree, sup_norm=1.0,
        lipschitz=special.gegenbauer_lipschitz(degree, dim), **_kernel_constants(slope, bend, dim),
        name=f"zonal harmonic {degree}", origins=DERIVED,
        provenance="sup norm exact; Lipschitz constant a proven upper bound within 4e-15",
    )  # fmt: skip


def bump(dim: int, concentration: float = 10.0, *, pole: ArrayLike | None = None) -> Target:
    """Return a smooth bump: a von Mises-Fisher kernel scaled to height 1.

    Parameters
    ----------
    dim : int
        m of the sphere S^m, from 1 to what memory holds a point of.
    concentration : float, default 10.0
        kappa in [0, 1e300]; its width is about ``1/sqrt(kappa)``.
    pole : array_like, shape (dim+1,), optional
        Its top; by default the last axis.

    Returns
    -------
    Target
        ``exp(kappa (<x, pole> - 1))``, computed as ``exp(-kappa |x - pole|^2 / 2)``.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range, or `pole` is no point of S^m.

    Notes
    -----
    *Constants.* F = 1, exact. ``L = max_t kappa sin(t) exp(kappa (cos t - 1))`` is attained where
    ``cos t = c = 2 kappa/(1 + s)``, ``s = sqrt(1 + 4 kappa^2)`` (the root of ``kappa (1 - c^2) = c``), so with
    ``1 - c = (1 + 1/(s + 2 kappa))/(1 + s)`` nothing cancels: closed form, accurate to a few units in the last place.
    ``H = kappa`` and ``Lap = m kappa`` are attained at the top, and ``T = kappa sqrt(1 + 3 kappa)`` is an upper bound
    (docs/theorems/6.4-zonal-derivatives.md); what exceeds the largest float is left out.

    Examples
    --------
    >>> from spherapprox import targets
    >>> hill = targets.bump(3, concentration=2.0)
    >>> hill([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]).round(6)
    array([1.      , 0.135335])
    >>> round(hill.lipschitz, 6)
    0.806052
    """
    dim = _checks.dimension(dim)
    kappa = _checks.concentration(concentration, maximum=1e300)
    axis, s = _pole(pole, dim), math.hypot(1.0, 2.0 * kappa)
    c, u = 2.0 * kappa / (1.0 + s), (1.0 + 1.0 / (s + 2.0 * kappa)) / (1.0 + s)  # u = 1 - c
    return Target(
        functools.partial(_bump, kappa, axis), dim, axes=axis[None, :], sup_norm=1.0,
        lipschitz=kappa * math.sqrt(u) * math.sqrt(1.0 + c) * math.exp(-kappa * u),
        **_kernel_constants(kappa, kappa * kappa, dim),
        name=f"bump {kappa:g}", provenance="exact: closed form", origins=DERIVED,
    )  # fmt: skip


def _zonal(degree: int, pole: Float64, x: Floats) -> Float64:
    return harmonics.zonal_harmonic(degree, x, pole)


def _bump(kappa: float, pole: Float64, x: Floats) -> Float64:
    return np.asarray(np.exp(-0.5 * kappa * np.square(x - pole).sum(axis=1)))


def _pole(pole: ArrayLike | None, dim: int) -> Float64:
    """Return the pole as a read-only row, by default the last axis."""
    if pole is None:
        _checks.memory(8.0 * (dim + 1), f"a point of S^m for 'dim' = {dim}", "choose a smaller 'dim'")
        row = np.zeros(dim + 1)
        row[-1] = 1.0
    else:
        row = _checks.one_row(pole, "pole", dim=dim).astype(np.float64)
    row.flags.writeable = False
    return row


def _kernel_constants(slope: float, bend: float, dim: int) -> dict[str, Any]:
    """Return H, Lap and T of ``q(<x, pole>)``, q positive definite with q'(1) = slope and q''(1) = bend (6.4)."""
    third = math.sqrt(slope) * math.sqrt(slope + 3.0 * bend)
    constants = {"smoothness": slope, "laplacian": dim * slope, "third_derivative": third}
    return {name: value * (1.0 + 1e-15) for name, value in constants.items() if value < 1e308}
