"""Moments of the angle under the von Mises-Fisher kernel, and integrals of the kernel shifted by a radius."""

from __future__ import annotations

import math
from typing import Any

from .. import _checks
from .._integrals import zonal
from .._scalars import bessel_ratio
from .kernel import Kernel


class Moments(Kernel):
    """Moments and shift integrals of the kernel, from which theorems make errors."""

    def mean_angle(self, power: float = 1.0) -> float:
        """Return E[theta^power] under the kernel; the first is the sharp convolution error for Lipschitz functions.

        Parameters
        ----------
        power : float
            In [0, 4]; an exponent alpha of Hoelder continuity gives that class's error.

        Returns
        -------
        float
            The moment, to 1e-12 relative for dim 1 to 1e5 and concentration up to 1e12 (1e-13 seen).

        Raises
        ------
        TypeError, ValueError
            If `power` is outside its range, or there is more than one concentration.

        Notes
        -----
        docs/theorems/4.1-convolution.md. Gauss-Legendre quadrature about the mode.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> round(VonMisesFisher(8, 2840.0).mean_angle(), 12)
        0.0514388689
        """
        lam, power = self._only("mean_angle"), _checks.real(power, "power", minimum=0.0, maximum=4.0)
        if power == 0.0:
            return 1.0
        return math.exp(zonal.log_moment(float(self.dim), lam, power))

    def mean_one_minus_cos(self) -> Any:
        """Return E[1 - cos theta] = 1 - a_1 under the kernel, without subtraction.

        Returns
        -------
        float or ndarray
            In [0, 1], to 1e-15 relative.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> round(VonMisesFisher(2, 10.0).mean_one_minus_cos(), 12)
        0.099999995878
        """
        return self._of_each(bessel_ratio.first_complement)  # 1.3

    def shift_variation(self, radius: float, log: bool = False) -> float:
        """Return D, the integral of the larger of k((theta-rho)+) - k(theta) and k(theta) - k(min(theta+rho, pi)).

        Parameters
        ----------
        radius : float
            rho in [0, pi], such as the radius of a partition's cells.
        log : bool
            Return the logarithm, where the value leaves the range of floats.

        Returns
        -------
        float
            D, or its logarithm; relative error below ``1e-12`` or ``1e-14 |log D|``, also for tiny rho. inf beyond
            1e308.

        Raises
        ------
        TypeError, ValueError
            If `radius` is outside its range, or there is more than one concentration.

        Notes
        -----
        docs/theorems/4.3-core-head.md: the error of replacing an integral against the kernel by a sum over cells of
        radius rho is at most D times the function's supremum.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> round(VonMisesFisher(8, 2840.0).shift_variation(3.23e-4), 9)
        0.048210751
        """
        rho, log = _checks.real(radius, "radius", minimum=0.0, maximum=math.pi), _checks.flag(log, "log")
        value = zonal.log_shift_variation(float(self.dim), self._only("shift_variation"), rho)
        return value if log else _exp(value)

    def shifted_mean_angle(self, radius: float, log: bool = False) -> float:
        """Return the quotient of int (theta+rho) k((theta-rho)+) dsigma and int k(min(theta+rho, pi)) dsigma.

        Parameters
        ----------
        radius : float
            rho in [0, pi], such as the radius of equal-measure cells.
        log : bool
            Return the logarithm, where the value leaves the range of floats.

        Returns
        -------
        float
            The quotient, at least `mean_angle`, or its logarithm; relative error below ``1e-12`` or ``1e-14 |log|``.
            inf beyond 1e308.

        Raises
        ------
        TypeError, ValueError
            If `radius` is outside its range, or there is more than one concentration.

        Notes
        -----
        docs/theorems/4.4-split-head.md (mean): it bounds the worst-case error of a split head, per Lipschitz constant.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> round(VonMisesFisher(8, 1600.0).shifted_mean_angle(2e-3), 9)
        0.110809284
        """
        rho, log = _checks.real(radius, "radius", minimum=0.0, maximum=math.pi), _checks.flag(log, "log")
        value = zonal.log_shifted_mean(float(self.dim), self._only("shifted_mean_angle"), rho)
        return value if log else _exp(value)


def _exp(log: float) -> float:
    """Exponentiate, inf where it leaves the range of floats."""
    return math.exp(log) if log < 709.78 else math.inf
