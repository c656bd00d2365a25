"""Two von Mises-Fisher distributions: the divergence of one from the other, and the product of their densities."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _checks
from .._scalars import divergence
from .._types import Float64
from ..special import dispatch
from .distribution import Distribution
from .kernel import refuse_class

WORK = 20.0  # of a divergence, in Bessel ratios


class Pairs(Distribution):
    """The distribution, and what is of two of them."""

    def kl_divergence(self, other: Any) -> Any:
        """Return the Kullback-Leibler divergence of the `other` distribution from this one, E log(f/g) under f.

        Parameters
        ----------
        other : VonMisesFisher
            Of the same dimension; batches broadcast. Where neither has a mean direction they are about the same one;
            a uniform distribution needs none.

        Returns
        -------
        float or ndarray
            At least 0, to 1e-13 relative for dim 1 to 1e5 and concentrations to 1e7, also where the two are near.

        Raises
        ------
        TypeError, ValueError
            If `other` is no VonMisesFisher, has another dimension, or only one of them has a mean direction.

        Notes
        -----
        With F = log 0F1 and A = F' the mean cosine it is F(k2) - F(k1) - A(k1) (k2 - k1) + A(k1) k2 |mu1 - mu2|^2 / 2.
        The first three terms are Bregman's divergence of F: the integral of (k2 - k) A'(k) from k1 to k2.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> f, g = VonMisesFisher([0.0, 0.0, 1.0], 5.0), VonMisesFisher([0.0, 0.6, 0.8], 20.0)
        >>> round(f.kl_divergence(g), 12), round(g.kl_divergence(f), 12)
        (4.812752196038, 1.58624896016)
        """
        refuse_class(self, "kl_divergence(other)")
        other = self._companion(other)
        first, second = self.concentration, other.concentration
        result = dispatch.elementwise(divergence.bregman, self._order, first, second, work=WORK)
        means = self._unit_means(other)
        if means is not None:
            result = result + self.mean_cosine() * second * (0.5 * np.square(means[0] - means[1]).sum(axis=-1))
        return float(result) if np.ndim(result) == 0 else result

    def multiply(self, other: Any) -> Any:
        """Return the distribution whose density is the normalised product of both densities, as in Bayes' formula.

        Parameters
        ----------
        other : VonMisesFisher
            As for `kl_divergence`.

        Returns
        -------
        VonMisesFisher
            Of concentration times mean direction k1 mu1 + k2 mu2, to rounding of the larger term; where that vanishes
            it is uniform, and keeps this mean direction.

        Raises
        ------
        TypeError, ValueError
            As `kl_divergence`, or if a concentration would be above 1e300.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> VonMisesFisher([1.0, 0.0], 3.0).multiply(VonMisesFisher([0.0, 1.0], 4.0))
        VonMisesFisher(mean_direction=[0.6, 0.8], concentration=5.0)
        """
        refuse_class(self, "multiply(other)")
        other = self._companion(other)
        kind: Any = type(self)
        first, second, means = self.concentration, other.concentration, self._unit_means(other)
        if means is None:
            mean = self.mean_direction if self.mean_direction is not None else other.mean_direction
            return kind(self.dim, first + second, mean)
        scale = np.maximum(np.maximum(first, second), 1e-300)[..., None]
        total = np.asarray(first)[..., None] / scale * means[0] + np.asarray(second)[..., None] / scale * means[1]
        length = np.sqrt(np.square(total).sum(axis=-1, keepdims=True))
        mean = np.where(length > 0.0, total / np.where(length > 0.0, length, 1.0), means[0])
        return kind(self.dim, (length * scale)[..., 0], mean)

    def _companion(self, other: Any) -> Distribution:
        """Return another distribution of the same sphere that broadcasts with this one."""
        if not isinstance(other, Distribution):
            remedy = "fit returns a mean direction and the distribution" * isinstance(other, tuple)
            remedy = "VonMisesFisher(other.mu, other.kappa) makes one" if hasattr(other, "kappa") else remedy
            raise _checks.wrong_type(other, "other", "a VonMisesFisher", remedy=remedy)
        _checks.same_dim(other.dim, "other", self.dim, "as the distribution has")
        remedy = "distribution[:, None] and other give all pairs"
        _checks.broadcast_shape(remedy, distribution=self.batch_shape, other=other.batch_shape)
        return other

    def _unit_means(self, other: Distribution) -> tuple[Float64, Float64] | None:
        """Return both mean directions; None where they are the same one, or one of the distributions is uniform."""
        pair = self, other
        without = [distribution for distribution in pair if distribution.mean_direction is None]
        if not without:
            return self._unit_mean(), other._unit_mean()
        if len(without) == 1 and np.any(without[0].concentration):
            raise ValueError(
                "'other' must have a mean direction where the distribution has, and none where it has not: "
                "VonMisesFisher(mean_direction, concentration)"
            )
        return None
