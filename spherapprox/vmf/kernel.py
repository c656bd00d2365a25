"""The von Mises-Fisher kernel as a function of the angle: normaliser, density, eigenvalues and entropy."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks, special
from .._scalars import bessel, bessel_ratio, divergence
from .._types import Float64
from ..special import arguments, dispatch

FEW = 2**20  # numbers that fit into any memory
SLACK = 1e-6  # how far a cosine of two rows that pass as unit rows may lie outside [-1, 1]


class Kernel:
    """The kernel K(t) = c e^(concentration t) on S^m, whatever its mean direction."""

    dim: int
    concentration: Any
    mean_direction: Float64 | None

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape to which concentrations and mean directions broadcast, () of a single distribution."""
        mean = self.mean_direction
        return self._batch(() if mean is None else mean.shape[:-1])

    def _batch(self, means: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape to which the concentrations and axes of mean directions broadcast."""
        lam = self.concentration
        return means if isinstance(lam, float) else np.broadcast_shapes(lam.shape, means)

    def _of_each(self, kernel: Callable[..., float], *others: float | Float64, work: float = 1.0) -> Any:
        """Return a scalar function of order, concentration and others, of each concentration."""
        lam = self.concentration
        if isinstance(lam, float) and not others:
            return kernel(self._order, lam)
        return dispatch.elementwise(kernel, self._order, lam, *others, work=work)

    def _only(self, call: str) -> float:
        """Return the concentration for what takes a single one."""
        if not isinstance(self.concentration, float):
            raise ValueError(
                f"'{call}' needs one concentration, got an array of shape {self.concentration.shape}: take one "
                f"distribution, as distribution[0].{call}(...)"
            )
        return self.concentration

    @property
    def _order(self) -> float:
        """The order nu = (m-1)/2 of the Bessel functions."""
        return 0.5 * (self.dim - 1)

    @cached_property
    def log_normalizer(self) -> Any:
        """Log c of the factor in K(t) = c e^(concentration t), added in log K(t) = log_normalizer + concentration t.

        K is with respect to the measure of total 1; 1e-15 relative, also near 0.
        """
        # 1.1: 1/c = Gamma(nu+1) (2/lambda)^nu I_nu(lambda) = 0F1(; nu+1; lambda^2/4)
        return 0.0 - self._of_each(bessel.log_0f1)  # 0.0 rather than -0.0 of the uniform case

    @cached_property
    def _log_peak(self) -> Any:
        """Log K(1) = log c + concentration, without that sum's cancellation."""
        return 0.0 - self._of_each(bessel.log_0f1_scaled)

    def log_density(self, t: ArrayLike, measure: str = "normalized") -> Any:
        """Return the logarithm of the density at points whose inner product with the mean direction is `t`.

        Parameters
        ----------
        t : array_like
            Cosines in [-1, 1], up to rounding; they broadcast with the concentrations.
        measure : {"normalized", "surface"}
            Density with respect to the measure of total 1, or to the surface measure (SciPy's).

        Returns
        -------
        float or ndarray
            log K(t), or log K(t) minus the log of the sphere's area; nan where `t` is nan. The error is a few units
            in the last place of the larger of log c and concentration t, or, where concentration > dim + 1, of the
            larger of log K(1) and concentration (1 - t), which keeps the digits near t = 1.

        Raises
        ------
        TypeError, ValueError
            If an argument is of the wrong kind or outside its range, or points are passed where cosines belong.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> round(VonMisesFisher(2, 10.0).log_density(1.0), 12)
        2.995732275615
        >>> round(VonMisesFisher(767, 1e-3).log_density(0.5, measure="surface"), 6)
        1458.721651
        """
        lam = self.concentration
        why = "cosines <x, mean_direction>; `pdf` and `logpdf` take points"
        cosine = _checks.reals(t, "t", minimum=-1.0 - SLACK, maximum=1.0 + SLACK, why=why)
        refuse_points(cosine, self, why)
        flat = lam <= self.dim + 1.0  # where log c, at most half of lam, is the term to build on
        with np.errstate(over="ignore"):  # beyond -1e308 it is -inf
            if isinstance(lam, float):
                result = self.log_normalizer + lam * cosine if flat else self._log_peak - lam * (1.0 - cosine)
            else:
                _checks.broadcast_shape("t[:, None] gives all pairs", t=cosine.shape, concentration=lam.shape)
                result = np.where(flat, self.log_normalizer + lam * cosine, self._log_peak - lam * (1.0 - cosine))
        result = result - self._log_area(measure)
        return float(result) if np.ndim(result) == 0 else result

    def _log_area(self, measure: str) -> float:
        """Return the logarithm of the total of a measure."""
        surface = _checks.choice(measure, "measure", ("normalized", "surface")) == "surface"
        return float(special.log_surface_area(self.dim)) if surface else 0.0

    def __call__(self, t: ArrayLike, measure: str = "normalized") -> Any:
        """Return the density at points whose inner product with the mean direction is `t`: e to the `log_density`.

        Parameters
        ----------
        t : array_like
            Cosines in [-1, 1], up to rounding.
        measure : {"normalized", "surface"}
            As in `log_density`.

        Returns
        -------
        float or ndarray
            inf beyond 1e308.

        Raises
        ------
        TypeError, ValueError
            As `log_density`.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> VonMisesFisher(3, 0.0)([-1.0, 0.3])
        array([1., 1.])
        """
        logs = self.log_density(t, measure)
        with np.errstate(over="ignore"):  # beyond 1e308 the density is inf: `log_density` has it
            result = np.exp(logs)
        return float(result) if np.ndim(result) == 0 else result

    def eigenvalue(self, degree: ArrayLike) -> Any:
        """Return the Funk-Hecke eigenvalue a_k: convolution multiplies spherical harmonics of degree k by it.

        Parameters
        ----------
        degree : array_like of int
            k, 0 to 1e15.

        Returns
        -------
        float or ndarray
            a_k = I_{nu+k}/I_nu in [0, 1], with the accuracy of `special.iv_ratio`; degrees and concentrations
            broadcast.

        Raises
        ------
        TypeError, ValueError
            If `degree` is not an integer of that range.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> round(VonMisesFisher(8, 100.0).eigenvalue(10), 12)
        0.42618380312
        """
        return special.iv_ratio(self._order, self.concentration, _degree(degree))  # 1.2

    def eigenvalue_complement(self, degree: ArrayLike) -> Any:
        """Return 1 - a_k without subtraction: the relative error of convolution on a spherical harmonic of degree k.

        Parameters
        ----------
        degree : array_like of int
            k, 0 to 1e15.

        Returns
        -------
        float or ndarray
            1 - a_k in [0, 1], to 1e-14 relative.

        Raises
        ------
        TypeError, ValueError
            If `degree` is not an integer of that range.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> f"{VonMisesFisher(2, 1e20).eigenvalue_complement(3):.6e}"
        '6.000000e-20'
        """
        return special.iv_ratio_complement(self._order, self.concentration, _degree(degree))

    def eigenvalues(self, max_degree: int, log: bool = False) -> Float64:
        """Return the Funk-Hecke eigenvalues a_0, ..., a_K at once.

        Parameters
        ----------
        max_degree : int
            K >= 0.
        log : bool
            Return their logarithms, which do not underflow.

        Returns
        -------
        ndarray, shape (max_degree + 1,)
            a_k, decreasing from a_0 = 1, or their logarithms; relative error below 1e-14.

        Raises
        ------
        TypeError, ValueError
            If `max_degree` is not an integer >= 0, or too large for memory, or there is more than one concentration.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> VonMisesFisher(2, 10.0).eigenvalues(3).round(6)
        array([1.   , 0.9  , 0.73 , 0.535])
        """
        top = _checks.integer(max_degree, "max_degree", minimum=0)
        log = _checks.flag(log, "log")
        if top > FEW:  # else the words take as long as ten eigenvalues
            words = f"the eigenvalues up to 'max_degree' = {_checks.show(top)}", "choose a smaller 'max_degree'"
            _checks.memory(64.0 * (min(top, 2**60) + 1), *words)
        result = np.empty(top + 1)
        kernel = bessel_ratio.all_log_ratios if log else bessel_ratio.all_ratios
        dispatch.run(kernel, float(top), self._order, self._only("eigenvalues"), result)
        return result

    def entropy(self, measure: str = "surface") -> Any:
        """Return the differential entropy, the mean of minus the log density.

        Parameters
        ----------
        measure : {"surface", "normalized"}
            The measure of the density; the surface measure is SciPy's. With "normalized" it is minus the
            Kullback-Leibler divergence from the uniform distribution.

        Returns
        -------
        float or ndarray
            The entropy. "normalized" is at most 0 and to 5e-15 relative; "surface" adds the logarithm of the sphere's
            area, so that its error is a few units in the last place of the larger of the two.

        Raises
        ------
        ValueError
            If `measure` is another word.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> round(VonMisesFisher(2, 10.0).entropy(), 9)
        0.53529193
        """
        refuse_class(self, "entropy()")
        return (0.0 - self._of_each(divergence.bregman, 0.0)) + self._log_area(measure)


def refuse_class(distribution: object, call: str) -> None:
    """Refuse methods that are called on the class, with parameters, as SciPy's are."""
    if not isinstance(distribution, Kernel):
        raise TypeError(f"a distribution must be made first: VonMisesFisher(mean_direction, concentration).{call}")


def refuse_points(t: float | Float64, kernel: Kernel, why: str) -> None:
    """Refuse points, rows of unit length, where cosines belong to a kernel that has a mean direction."""
    if isinstance(t, float) or kernel.mean_direction is None or t.ndim < 2 or t.shape[-1] != kernel.dim + 1:
        return
    if t.size and abs(np.einsum("...i,...i->...", t, t) - 1.0).max() < SLACK:
        raise ValueError(f"'t' must hold cosines, got rows of unit length, shape {t.shape}: {why}")


def _degree(degree: ArrayLike) -> Any:
    """Return degrees of spherical harmonics, integers from 0 to 1e15."""
    return arguments.integers(degree, "degree", minimum=0, maximum=arguments.MAX_STEP)
