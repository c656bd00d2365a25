"""The law of the cosine under the von Mises-Fisher kernel: moments, distribution function, quantiles and caps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._scalars import angle, bessel_ratio, divergence
from ..special import arguments, dispatch
from .kernel import SLACK, refuse_points
from .moments import Moments

TAIL, QUANTILE = 20.0, 90.0  # work of each, in Bessel ratios


class Cosine(Moments):
    """The kernel's law of t = <x, mean direction>, whose density is e^(concentration t) (1 - t^2)^(m/2-1) on [-1, 1].

    Tails are integrated over the angle from the edge, or from the mode, and in logarithms.
    """

    def mean_cosine(self) -> Any:
        """Return E t = a_1, also the length of the mean E x.

        Returns
        -------
        float or ndarray
            In [0, 1], to 3e-16 relative.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> round(VonMisesFisher(767, 500.0).mean_cosine(), 12)
        0.493035031132
        """
        return self._of_each(bessel_ratio.first_ratio)

    def cosine_variance(self) -> Any:
        """Return the variance of t, the derivative of `mean_cosine` and the Fisher information of the concentration.

        Returns
        -------
        float or ndarray
            1 - a_1^2 - dim a_1 / concentration without that cancellation, to 5e-15 relative.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> round(VonMisesFisher(2, 100.0).cosine_variance(), 15)
        0.0001
        """
        return self._of_each(divergence.ratio_slope)

    def cdf(self, t: ArrayLike, complement: bool = False, log: bool = False) -> Any:
        """Return the probability that the cosine <x, mean direction> is at most `t`.

        Parameters
        ----------
        t : array_like
            Cosines in [-1, 1], up to rounding; they broadcast with the concentrations.
        complement : bool
            Return the probability that it is above `t` (SciPy's sf).
        log : bool
            Return the logarithm, which does not underflow.

        Returns
        -------
        float or ndarray
            For dim 1 to 1e5 and concentration to 1e7 both tails are right to 1e-13 + 9e-16 sqrt(dim |log tail|)
            relative, what a unit in the last place of the angle moves, or to 4e-16 of the logarithm; nan where `t` is
            nan. About t = 1 a narrow law is told from its peak by 1 - t only, which `t` carries to 1e-16.

        Raises
        ------
        TypeError, ValueError
            If an argument is of the wrong kind or outside its range, or points are passed where cosines belong.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> VonMisesFisher(2, 20.0).cdf([0.9, 0.99]).round(6)
        array([0.135335, 0.818731])
        >>> round(VonMisesFisher(767, 20.0).cdf(0.9, complement=True, log=True), 9)
        -623.280696423
        """
        why = "cosines <x, mean_direction>, as x @ mean_direction"
        cosine = arguments.real(t, "t", minimum=-1.0 - SLACK, maximum=1.0 + SLACK, why=why)
        refuse_points(cosine, self, why)
        side = angle.INSIDE if _checks.flag(complement, "complement") else angle.OUTSIDE
        logs = dispatch.elementwise(angle.log_tail, float(self.dim), self.concentration, cosine, side, work=TAIL)
        if _checks.flag(log, "log"):
            return logs
        return math.exp(logs) if isinstance(logs, float) else np.exp(logs)

    def ppf(self, q: ArrayLike, complement: bool = False, log: bool = False) -> Any:
        """Return the cosine that <x, mean direction> is at most with probability `q`: the inverse of `cdf`.

        Parameters
        ----------
        q : array_like
            Probabilities in [0, 1]; they broadcast with the concentrations.
        complement : bool
            They are those of a larger cosine (SciPy's isf).
        log : bool
            They are logarithms.

        Returns
        -------
        float or ndarray
            In [-1, 1]: the cosine, to a unit in the last place of 1, of an angle as right as that of `cap`; nan of nan.

        Raises
        ------
        TypeError, ValueError
            If an argument is of the wrong kind or outside its range.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> VonMisesFisher(255, 100.0).ppf([0.05, 0.5, 0.95]).round(6)
        array([0.257126, 0.345529, 0.428575])
        """
        side = angle.INSIDE if _checks.flag(complement, "complement") else angle.OUTSIDE
        result = np.cos(self._angle(q, "q", side=side, log=log))
        return float(result) if result.ndim == 0 else result

    def interval(self, confidence: ArrayLike) -> tuple[Any, Any]:
        """Return the two cosines between which <x, mean direction> has a probability, with equal tails, as SciPy's.

        Parameters
        ----------
        confidence : array_like
            Probabilities in [0, 1]; they broadcast with the concentrations.

        Returns
        -------
        tuple of float or ndarray
            The lower and the upper cosine, as `ppf` returns them.

        Raises
        ------
        TypeError, ValueError
            If `confidence` is of the wrong kind or outside its range.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> low, high = VonMisesFisher(255, 100.0).interval(0.9)
        >>> round(low, 6), round(high, 6)
        (0.257126, 0.428575)
        """
        why = "a probability, 0.95 for 95 percent"
        tail = 0.5 * (1.0 - arguments.real(confidence, "confidence", minimum=0.0, maximum=1.0, why=why))
        return self.ppf(tail), self.ppf(tail, complement=True)

    def cap(self, mass: ArrayLike, complement: bool = False, log: bool = False) -> Any:
        """Return the angle about the mean direction within which a share of the points lies.

        Of all regions that hold this share the cap is the smallest.

        Parameters
        ----------
        mass : array_like
            Shares in [0, 1]; they broadcast with the concentrations.
        complement : bool
            They are the shares outside of the cap.
        log : bool
            They are logarithms.

        Returns
        -------
        float or ndarray
            Radians in [0, pi], to 1e-12 relative for dim 1 to 1e5 and concentration to 1e7, apart from what a share
            near 1 carries of its complement, and near pi to a unit in its last place.

        Raises
        ------
        TypeError, ValueError
            If an argument is of the wrong kind or outside its range.

        Examples
        --------
        >>> import numpy as np
        >>> from spherapprox import VonMisesFisher
        >>> np.degrees(VonMisesFisher(2, 20.0).cap([0.5, 0.95])).round(6)
        array([15.128564, 31.765114])
        >>> round(VonMisesFisher(767, 500.0).cap(1e-30, complement=True), 9)  # all but one point in 1e30
        1.399278475
        """
        side = angle.OUTSIDE if _checks.flag(complement, "complement") else angle.INSIDE
        return self._angle(mass, "mass", side=side, log=log)

    def _angle(self, share: ArrayLike, name: str, side: float, log: bool) -> Any:
        """Return the angle on whose `side` the share lies: by the smaller one of it and its complement."""
        log = _checks.flag(log, "log")
        why = "shares are between 0 and 1, 0.95 for 95 percent" if not log else "it is the logarithm of a share"
        shares = arguments.real(share, name, minimum=None if log else 0.0, maximum=0.0 if log else 1.0, why=why)
        with np.errstate(divide="ignore"):
            logs, rest = (shares, np.log(-np.expm1(shares))) if log else (np.log(shares), np.log1p(-shares))
        most = logs > -math.log(2.0)
        smaller, sides = np.where(most, rest, logs), np.where(most, -side, side)
        known = ~np.isnan(smaller)
        shares = float(self.dim), self.concentration, np.where(known, smaller, -1.0), sides
        result = np.where(known, dispatch.elementwise(angle.quantile, *shares, work=QUANTILE), math.nan)
        return float(result) if result.ndim == 0 else result
