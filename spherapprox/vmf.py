"""The von Mises-Fisher kernel on S^m: normaliser, eigenvalues, moments and shift integrals, and as a distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _checks, special
from ._kernels import bessel, bessel_ratio, sample, zonal

Array = NDArray[np.float64]

__all__ = ["VonMisesFisher"]

MAX_CONCENTRATION = 1e300

SLACK = 1e-6
"""How far a cosine of two rows that pass as unit rows may lie outside [-1, 1]."""

EQUAL = 1e-31
"""1 - |mean| of rows that differ by rounding alone: half the square of two units in the last place."""


@dataclass(frozen=True)
class VonMisesFisher:
    """The kernel K(t) = c e^(concentration t), t = <x, mean direction>, which is a probability density on S^m.

    Parameters
    ----------
    dim : int
        m of the sphere S^m in R^(m+1), 1 to 1e12 (SciPy users: one less than the number of columns).
    concentration : float
        lambda, 0 to 1e300; 0 is the uniform distribution.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or outside its range.

    Notes
    -----
    Instances are immutable, comparable and hashable. With nu = (m-1)/2, the constant of the normalised measure is
    c = 1 / 0F1(; nu+1; lambda^2/4) = (lambda/2)^nu / (Gamma(nu+1) I_nu(lambda)) and the Funk-Hecke eigenvalues are
    a_k = I_{nu+k}(lambda) / I_nu(lambda) (docs/theorems.md, 1).

    See Also
    --------
    scipy.stats.vonmises_fisher : the distribution for up to some 60 columns, as a SciPy object.

    References
    ----------
    K. V. Mardia & P. E. Jupp (2000), Directional Statistics, Wiley.

    Examples
    --------
    >>> from spherapprox import VonMisesFisher
    >>> kernel = VonMisesFisher(dim=2, concentration=10.0)
    >>> round(kernel.log_normalizer, 12)
    -7.004267724385
    >>> round(kernel.eigenvalue(1), 12)
    0.900000004122
    >>> round(kernel.mean_angle(), 12)
    0.401600267269
    """

    dim: int
    concentration: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", _checks.dimension(self.dim))
        object.__setattr__(self, "concentration", _checks.concentration(self.concentration, maximum=MAX_CONCENTRATION))

    @property
    def _order(self) -> float:
        return 0.5 * (self.dim - 1)

    @cached_property
    def log_normalizer(self) -> float:
        """Log c with respect to the normalised measure, K(t) = c e^(concentration t); 1e-15 relative, also near 0."""
        return 0.0 - bessel.log_0f1(self._order, self.concentration)  # 0.0 rather than -0.0 of the uniform case

    @cached_property
    def _log_peak(self) -> float:
        """Log K(1) = log c + concentration, without that sum's cancellation."""
        return 0.0 - bessel.log_0f1_scaled(self._order, self.concentration)

    @property
    def _is_flat(self) -> bool:
        """Tell whether log c, at most half of concentration, is the term to build on, or else the peak's logarithm."""
        return self.concentration <= self.dim + 1.0

    def log_density(self, t: ArrayLike, measure: str = "normalized") -> Any:
        """Logarithm of the density at points whose inner product with the mean direction is `t`.

        Parameters
        ----------
        t : array_like
            Cosines in [-1, 1], up to rounding.
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
            If an argument is of the wrong kind or outside its range.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> round(VonMisesFisher(2, 10.0).log_density(1.0), 12)
        2.995732275615
        >>> round(VonMisesFisher(767, 1e-3).log_density(0.5, measure="surface"), 6)
        1458.721651
        """
        lam = self.concentration
        cosine = _checks.reals(t, "t", minimum=-1.0 - SLACK, maximum=1.0 + SLACK)
        with np.errstate(over="ignore"):  # beyond -1e308 it is -inf
            flat = self._is_flat
            result = self.log_normalizer + lam * cosine if flat else self._log_peak - lam * (1.0 - cosine)
        result = result - self._log_area(measure)
        return float(result) if np.ndim(result) == 0 else result

    def _log_area(self, measure: str) -> float:
        surface = _checks.choice(measure, "measure", ("normalized", "surface")) == "surface"
        return float(special.log_surface_area(self.dim)) if surface else 0.0

    def __call__(self, t: ArrayLike, measure: str = "normalized") -> Any:
        """Density at points whose inner product with the mean direction is `t`: the exponential of `log_density`.

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

    def logpdf(self, x: ArrayLike, mean_direction: ArrayLike) -> Array:
        """Logarithm of the density at rows `x` with respect to the surface measure, as SciPy's method of this name.

        Parameters
        ----------
        x : array_like, shape (n, dim+1)
            Unit rows.
        mean_direction : array_like, shape (dim+1,)
            Unit vector.

        Returns
        -------
        ndarray, shape (n,)
            log f(x) = log f(mean_direction) - concentration |x - mean_direction|^2 / 2. The chord keeps the digits of
            near points, and rows of length 1 + d move the result by some concentration d^2 / 2 only.

        Raises
        ------
        TypeError, ValueError
            If an argument is of the wrong kind or shape, or not of unit length.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> VonMisesFisher(1, 2.0).logpdf([[1.0, 0.0], [0.0, 1.0]], [1.0, 0.0]).round(6)
        array([-0.661871, -2.661871])
        """
        mean = _checks.one_row(mean_direction, "mean_direction", dim=self.dim).astype(np.float64)
        points = _checks.rows(x, "x", dim=self.dim)
        result = np.empty(points.shape[0])
        for part in sample.blocks(*points.shape):
            result[part] = sample.squares(points[part] - mean)
        with np.errstate(over="ignore"):  # beyond -1e308 it is -inf
            result *= -0.5 * self.concentration
        result += self._log_peak - self._log_area("surface")
        return result

    def pdf(self, x: ArrayLike, mean_direction: ArrayLike) -> Array:
        """Density at rows `x` with respect to the surface measure: the exponential of `logpdf`.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> VonMisesFisher(1, 0.0).pdf([[1.0, 0.0]], [0.0, 1.0]).round(6)
        array([0.159155])
        """
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(self.logpdf(x, mean_direction)))

    def eigenvalue(self, degree: ArrayLike) -> Any:
        """Funk-Hecke eigenvalue a_k: convolution multiplies spherical harmonics of degree k by it.

        Parameters
        ----------
        degree : array_like of int
            k, 0 to 1e15.

        Returns
        -------
        float or ndarray
            a_k = I_{nu+k}/I_nu in [0, 1], with the accuracy of `special.iv_ratio`.

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
        return special.iv_ratio(self._order, self.concentration, _degree(degree))

    def eigenvalue_complement(self, degree: ArrayLike) -> Any:
        """1 - a_k without subtraction: the relative error of convolution on a spherical harmonic of degree k.

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

    def eigenvalues(self, max_degree: int, log: bool = False) -> Array:
        """All Funk-Hecke eigenvalues a_0, ..., a_K at once.

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
            If `max_degree` is not an integer >= 0, or too large for memory.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> VonMisesFisher(2, 10.0).eigenvalues(3).round(6)
        array([1.   , 0.9  , 0.73 , 0.535])
        """
        remedy = "choose a smaller 'max_degree'"
        top = _checks.integer(max_degree, "max_degree", minimum=0)
        log = _checks.flag(log, "log")
        _checks.memory(
            64.0 * (min(top, 2**60) + 1), f"the eigenvalues up to 'max_degree' = {_checks.show(top)}", remedy
        )
        result = np.empty(top + 1)
        kernel = bessel_ratio.all_log_ratios if log else bessel_ratio.all_ratios
        special.run(kernel, float(top), self._order, self.concentration, result)
        return result

    def mean_angle(self, power: float = 1.0) -> float:
        """E[theta^power] under the kernel; the first is the sharp convolution error for Lipschitz functions.

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
            If `power` is outside its range.

        Notes
        -----
        docs/theorems.md, 4.1. Gauss-Legendre quadrature about the mode.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> round(VonMisesFisher(8, 2840.0).mean_angle(), 12)
        0.0514388689
        """
        power = _checks.real(power, "power", minimum=0.0, maximum=4.0)
        if power == 0.0:
            return 1.0
        return math.exp(zonal.log_moment(float(self.dim), self.concentration, power))

    def mean_one_minus_cos(self) -> float:
        """E[1 - cos theta] = 1 - a_1 under the kernel, without subtraction.

        Returns
        -------
        float
            In [0, 1], to 1e-15 relative.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> round(VonMisesFisher(2, 10.0).mean_one_minus_cos(), 12)
        0.099999995878
        """
        return bessel_ratio.first_complement(self._order, self.concentration)

    def shift_variation(self, radius: float, log: bool = False) -> float:
        """D: the integral of the larger of k((theta-rho)+) - k(theta) and k(theta) - k(min(theta+rho, pi)).

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
            If `radius` is outside its range.

        Notes
        -----
        docs/theorems.md, 4.3: the error of replacing an integral against the kernel by a sum over cells of radius rho
        is at most D times the function's supremum.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> round(VonMisesFisher(8, 2840.0).shift_variation(3.23e-4), 9)
        0.048210751
        """
        rho, log = _checks.real(radius, "radius", minimum=0.0, maximum=math.pi), _checks.flag(log, "log")
        value = zonal.log_shift_variation(float(self.dim), self.concentration, rho)
        return value if log else _exp(value)

    def shifted_mean_angle(self, radius: float, log: bool = False) -> float:
        """Quotient of int (theta+rho) k((theta-rho)+) dsigma and int k(min(theta+rho, pi)) dsigma.

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
            If `radius` is outside its range.

        Notes
        -----
        docs/theorems.md, 4.4 (mean): it bounds the worst-case error of a split head, per Lipschitz constant.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> round(VonMisesFisher(8, 1600.0).shifted_mean_angle(2e-3), 9)
        0.110809284
        """
        rho, log = _checks.real(radius, "radius", minimum=0.0, maximum=math.pi), _checks.flag(log, "log")
        value = zonal.log_shifted_mean(float(self.dim), self.concentration, rho)
        return value if log else _exp(value)

    def entropy(self, measure: str = "surface") -> float:
        """Differential entropy, the mean of minus the log density.

        Parameters
        ----------
        measure : {"surface", "normalized"}
            The measure of the density; the surface measure is SciPy's. With "normalized" it is minus the
            Kullback-Leibler divergence from the uniform distribution.

        Returns
        -------
        float
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
        lam = self.concentration
        # For small lam it is about lam^2/(2(m+1)) - lam^2/(m+1): half of a term is left, as much as of the form beyond.
        if self._is_flat:
            value = 0.0 - self.log_normalizer - lam * bessel_ratio.first_ratio(self._order, lam)
        else:
            value = lam * self.mean_one_minus_cos() - self._log_peak
        return value + self._log_area(measure)

    def rvs(
        self,
        mean_direction: ArrayLike,
        size: int | tuple[int, ...] = 1,
        rng: int | np.random.Generator | None = None,
    ) -> Array:
        """Random points.

        Parameters
        ----------
        mean_direction : array_like, shape (dim+1,)
            Unit vector; it is divided by its length in float64.
        size : int or tuple of int
            How many; () for a single point of shape (dim+1,).
        rng : None, int or numpy.random.Generator
            Source of randomness, as for `numpy.random.default_rng`.

        Returns
        -------
        ndarray, shape (size, dim+1) or size + (dim+1,)
            Unit rows to rounding, drawn exactly; the same for the same `rng` and arguments.

        Raises
        ------
        TypeError, ValueError
            If an argument is of the wrong kind or shape, or the result too large for memory.

        Notes
        -----
        1 - cosine is drawn by inversion for dim 2 and by Wood's (1994) rejection elsewhere, which for dim 1 is Best and
        Fisher's (1979), both written so that a narrow kernel keeps its digits; the direction across the mean is that of
        a normal vector. Little more than the result itself is held in memory.

        References
        ----------
        A. T. A. Wood (1994), Simulation of the von Mises Fisher distribution, Commun. Stat. Simul. Comput. 23, 157-164.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> x = VonMisesFisher(2, 1e4).rvs([0.0, 1.0, 0.0], size=3, rng=1)
        >>> x.shape, bool((x[:, 1] > 0.99).all())
        ((3, 3), True)
        """
        mean = _checks.one_row(mean_direction, "mean_direction", dim=self.dim).astype(np.float64)
        mean /= math.sqrt(mean @ mean)
        sizes = size if isinstance(size, tuple) else (size,)
        shape = tuple(_checks.integer(n, "size", minimum=0) for n in sizes)
        n = math.prod(shape)
        _checks.memory(
            8.0 * (min(n, 2**53) * (self.dim + 2) + 2 * self.dim),
            f"a sample of 'size' {_checks.show(shape)}",
            "draw it in parts",
        )
        generator = _checks.generator(rng)
        x = np.empty((n, self.dim + 1))
        sample.place(sample.versines(float(self.dim), self.concentration, n, generator), mean, x, generator)
        return x.reshape(*shape, self.dim + 1)

    @classmethod
    def fit(cls, x: ArrayLike, weights: ArrayLike | None = None) -> tuple[Array, VonMisesFisher]:
        """Maximum-likelihood fit to points.

        Parameters
        ----------
        x : array_like, shape (n, dim+1)
            Unit rows. Each is divided by its length in float64 first: a fit is to directions, and a narrow sample's
            spread may be less than the rounding of float32 lengths.
        weights : array_like, shape (n,), optional
            Non-negative weights with a positive sum; a weight of 2 counts a row twice.

        Returns
        -------
        mean_direction : ndarray, shape (dim+1,)
            The direction of the mean (the pole, the last axis, where the mean vanishes).
        distribution : VonMisesFisher
            With the concentration whose a_1 is the mean's length.

        Raises
        ------
        TypeError, ValueError
            If an argument is of the wrong kind or shape, or all points agree: the likelihood is unbounded there.

        Notes
        -----
        1 - |mean| is summed from the chords |x - mean_direction|, so that narrow samples keep their digits. Float32
        rows hold a direction to about 3e-8, good for concentrations up to about 1e13 dim. The equation is solved by
        `special.iv_ratio_inverse`'s kernel (Banerjee et al. 2005 give its start). The rows are read twice, in blocks.

        The estimate is biased upwards: E |mean|^2 = a_1^2 + (1 - a_1^2)/n for n points. That is less than its standard
        error only where n is above about dim (1 + a_1^2)/(4 a_1^2).

        References
        ----------
        A. Banerjee et al. (2005), Clustering on the unit hypersphere using von Mises-Fisher distributions, J. Mach.
        Learn. Res. 6, 1345-1382.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> mean = [0.0] * 255 + [1.0]
        >>> x = VonMisesFisher(255, 100.0).rvs(mean, size=2000, rng=0)
        >>> direction, fitted = VonMisesFisher.fit(x)
        >>> bool(direction[-1] > 0.99), bool(abs(fitted.concentration - 100.0) < 2.0)
        (True, True)
        """
        points = _checks.rows(x, "x")
        n, columns = points.shape
        share = np.full(n, 1.0 / n) if weights is None else _shares(weights, n)
        mean, scale = _mean_row(points, share)
        length = math.sqrt(mean @ mean)
        if length < 1e-300:
            return np.eye(1, columns, columns - 1)[0], cls(columns - 1, 0.0)
        direction = mean / length
        chords, offset = _chords(points, scale, share, direction)
        # 1 - |mean|^2 is the mean square about the mean: that about `direction`, which rounding may move, less a shift
        complement = (chords - float(offset @ offset)) / (1.0 + length)
        if complement < EQUAL:
            raise ValueError(
                f"'x' must hold at least two different points of positive weight, got {n} that agree: the likelihood "
                "grows without bound"
            )
        concentration = bessel_ratio.iv_ratio_inverse(0.5 * (columns - 2), min(length, 1.0), complement)
        return direction, cls(columns - 1, concentration)


def _degree(degree: ArrayLike) -> Any:
    """Return non-negative integers, named for what they are here."""
    return special.whole(degree, "degree", minimum=0, maximum=special.MAX_STEP)


def _exp(log: float) -> float:
    """Exponentiate, inf where it leaves the range of floats."""
    return math.exp(log) if log < 709.78 else math.inf


def _mean_row(points: Any, share: Array) -> tuple[Array, Array]:
    """Return the weighted mean of rows divided by their length, and one over the lengths."""
    scale = np.empty(points.shape[0])
    mean = np.zeros(points.shape[1])
    for part in sample.blocks(*points.shape):
        rows = points[part].astype(np.float64, copy=False)
        scale[part] = 1.0 / np.sqrt(sample.squares(rows))
        mean += (share[part] * scale[part]) @ rows
    return mean, scale


def _chords(points: Any, scale: Array, share: Array, direction: Array) -> tuple[float, Array]:
    """Return the weighted means of |x - direction|^2 and of x - direction over the scaled rows x."""
    square = 0.0
    offset = np.zeros(direction.size)
    for part in sample.blocks(*points.shape):
        chord = points[part] * scale[part][:, None]
        chord -= direction
        square += float(share[part] @ sample.squares(chord))
        offset += share[part] @ chord
    return square, offset


def _shares(weights: ArrayLike, n: int) -> Array:
    """Return weights divided by their sum."""
    array = _checks.reals(weights, "weights", minimum=0.0, finite=True, nan=False)
    if array.shape != (n,):
        raise ValueError(f"'weights' must have shape ({n},), one for each row of 'x', got {array.shape}")
    largest = float(array.max())
    if not largest > 0.0:
        raise ValueError("'weights' must have a positive sum, got 0: at least one point must count")
    array /= largest
    return np.asarray(array / array.sum())
