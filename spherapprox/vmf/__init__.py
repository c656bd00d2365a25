"""The von Mises-Fisher kernel on S^m: normaliser, eigenvalues, moments and shift integrals, and as a distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._types import Float64
from .distribution import either
from .fitting import estimate_parameters
from .pairs import Pairs

__all__ = ["VonMisesFisher"]

MAX_CONCENTRATION = 1e300


@dataclass(frozen=True, init=False, eq=False, repr=False)
class VonMisesFisher(Pairs):
    """The kernel K(t) = c e^(concentration t), t = <x, mean direction>, which is a probability density on S^m.

    ``VonMisesFisher(dim, concentration)`` is the kernel, whose methods `logpdf`, `pdf` and `rvs` are given a mean
    direction; ``VonMisesFisher(mean_direction, concentration)`` holds one, as SciPy's frozen distribution does. Arrays
    of mean directions and concentrations are a batch of distributions, in one object.

    Parameters
    ----------
    dim : int or array_like, shape (..., dim+1)
        m of the sphere S^m in R^(m+1), 1 to 1e12 (SciPy users: one less than the number of columns). Or the mean
        direction, a unit vector, which says the dimension too; unit rows are the mean directions of a batch.
    concentration : float or array_like, shape (...)
        lambda, 0 to 1e300; 0 is the uniform distribution. An array broadcasts with the mean directions.
    mean_direction : array_like, shape (..., dim+1), optional
        By keyword instead of in the place of `dim`. It is kept as it is given, in float64.
    mu, kappa
        SciPy's names of `mean_direction` and `concentration`.

    Attributes
    ----------
    dim : int
    concentration, kappa : float or ndarray
    mean_direction, mu : ndarray, shape (..., dim+1), or None
        Read-only.
    batch_shape : tuple of int
        The shape to which concentrations and mean directions broadcast, () of a single distribution.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind, outside its range, or given under two names, or shapes do not broadcast.

    Notes
    -----
    Instances are immutable, comparable and hashable. Of a batch, methods return arrays of its shape, or of the
    concentration's where means do not matter, `rvs` after the axes of its size, and points and cosines broadcast with
    it, so that ``logpdf(x[:, None])`` is of all pairs; ``distribution[i]`` is a part of it. `mean_angle`, `eigenvalues`
    and the integrals of shifts take one distribution.

    With nu = (m-1)/2, the constant of the normalised measure is c = 1 / 0F1(; nu+1; lambda^2/4) = (lambda/2)^nu /
    (Gamma(nu+1) I_nu(lambda)) and the Funk-Hecke eigenvalues are a_k = I_{nu+k}(lambda) / I_nu(lambda)
    (docs/theorems/1-kernel.md).

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
    >>> north = VonMisesFisher([0.0, 0.0, 1.0], 10.0)
    >>> round(north.pdf([0.0, 0.6, 0.8]), 6), north.rvs(5, random_state=0).shape
    (0.215393, (5, 3))
    >>> both = VonMisesFisher([[0.0, 0.0, 1.0], [0.0, 0.6, 0.8]], [10.0, 100.0])
    >>> both.logpdf([0.0, 0.6, 0.8]).round(6), both.rvs(5, random_state=0).shape, both[1].kappa
    (array([-1.535292,  2.767293]), (5, 2, 3), 100.0)
    """

    dim: int
    concentration: Any
    mean_direction: Float64 | None

    def __init__(
        self,
        dim: Any = None,
        concentration: float | ArrayLike | None = None,
        mean_direction: ArrayLike | None = None,
        *,
        mu: ArrayLike | None = None,
        kappa: float | ArrayLike | None = None,
    ) -> None:
        if _checks.is_vector(dim):
            (mean_direction, _), dim = either(mean_direction, dim, "mean_direction", alias="dim"), None
        mean, name = either(mean_direction, mu, "mean_direction", alias="mu")
        if mean is None:
            _checks.given(
                dim, "dim", ", or a mean direction in its place: VonMisesFisher(mean_direction, concentration)"
            )
        dim = None if dim is None else _checks.dimension(dim)
        if mean is not None:
            mean = _directions(mean, name, dim)
            dim = mean.shape[-1] - 1
        call = f", got none: {type(self).__name__}({'dim' if mean is None else 'mean_direction'}, concentration)"
        lam, name = either(concentration, kappa, "concentration", alias="kappa")
        if isinstance(lam, VonMisesFisher):
            raise TypeError(
                f"'{name}' must be a real number, got a VonMisesFisher, as `fit` returns: its .concentration"
            )
        lam = _concentrations(_checks.given(lam, name, call), name)
        if not isinstance(lam, float) and mean is not None and mean.ndim > 1:
            remedy = f"{name}[:, None] gives all pairs"
            _checks.broadcast_shape(remedy, **{"mean_direction": mean.shape[:-1], name: lam.shape})
        object.__setattr__(self, "dim", dim)
        object.__setattr__(self, "concentration", lam)
        object.__setattr__(self, "mean_direction", mean)

    def __reduce__(self) -> tuple[type[VonMisesFisher], tuple[int, float, Float64 | None]]:
        return type(self), (self.dim, self.concentration, self.mean_direction)

    def _key(self) -> tuple[Any, ...]:
        arrays = () if self.mean_direction is None else (self.mean_direction,)
        parts = [(array.shape, *array.ravel().tolist()) for array in (np.asarray(self.concentration), *arrays)]
        return self.dim, *parts

    def __getitem__(self, index: Any) -> VonMisesFisher:
        """Return one distribution of a batch, or a part of it, as an array of its shape is indexed."""
        shape, mean = self.batch_shape, self.mean_direction
        if not shape:
            raise TypeError("one distribution has no parts: VonMisesFisher.fit returns a mean direction and it, a pair")
        rows = np.arange(math.prod(shape)).reshape(shape)[index]
        if mean is not None:
            mean = np.broadcast_to(mean, (*shape, self.dim + 1)).reshape(-1, self.dim + 1)[rows]
        return type(self)(self.dim, np.broadcast_to(self.concentration, shape).ravel()[rows], mean)

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, VonMisesFisher) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        mean = None if self.mean_direction is None else _checks.show(self.mean_direction.tolist())
        first = f"dim={self.dim}" if mean is None else f"mean_direction={mean}"
        lam = self.concentration if isinstance(self.concentration, float) else self.concentration.tolist()
        return f"{type(self).__name__}({first}, concentration={_checks.show(lam)})"

    @property
    def mu(self) -> Float64 | None:
        """The mean direction, by SciPy's name."""
        return self.mean_direction

    @property
    def kappa(self) -> Any:
        """The concentration, by SciPy's name."""
        return self.concentration

    @classmethod
    def fit(cls, x: Any, weights: ArrayLike | None = None, *, method: str = "mle") -> tuple[Float64, VonMisesFisher]:
        """Fit a distribution to points.

        Parameters
        ----------
        x : array_like, tensor or sparse matrix, shape (n, dim+1)
            Unit rows, of at least two directions; rows of zeros have none: drop them. Each is divided by its length in
            float64 first: a fit is to directions, and a narrow sample's spread may be less than the rounding of float32
            lengths. Tensors of torch may have a graph, and 16 bits. Of a sparse matrix or array of SciPy the stored
            elements alone are read; none is made dense.
        weights : array_like, shape (n,), optional
            Non-negative weights with a positive sum; a weight of 2 counts a row twice. For "mle" only.
        method : {"mle", "marginal"}
            "mle": maximum likelihood, which errs towards larger concentrations. "marginal": the concentration that
            maximises the density of the mean's length alone, which takes most of that bias away [2]_; both have the
            same mean direction.

        Returns
        -------
        mean_direction : ndarray, shape (dim+1,)
            The direction of the mean (the pole, the last axis, where the mean vanishes).
        distribution : VonMisesFisher
            With that mean direction, and for "mle" the concentration whose a_1 is the mean's length.

        Raises
        ------
        TypeError, ValueError
            If an argument is of the wrong kind or shape, or all points agree: the likelihood is unbounded there.

        Warns
        -----
        RuntimeWarning
            If the points have an axis and no mean direction, as directions whose sign is chance have: the message says
            how to turn them to one side.

        Notes
        -----
        1 - |mean| is summed from the chords |x - mean_direction|, so that narrow samples keep their digits. Float32
        rows hold a direction to about 3e-8, good for concentrations up to about 1e13 dim. The equation is solved by
        `special.iv_ratio_inverse`'s kernel ([1]_ gives its start). The rows are read twice, in blocks.

        The maximum-likelihood estimate is biased upwards: E |mean|^2 = a_1^2 + (1 - a_1^2)/n for n points. That is less
        than its standard error only where n is above about dim (1 + a_1^2)/(4 a_1^2). The marginal estimate solves
        a_1(lambda) = r a_1(n r lambda) with r = |mean|, and is 0 where n r^2 <= 1, as it is for uniform points more
        often than not.

        References
        ----------
        .. [1] A. Banerjee et al. (2005), Clustering on the unit hypersphere using von Mises-Fisher distributions, J.
           Mach. Learn. Res. 6, 1345-1382.
        .. [2] G. Schou (1978), Estimation of the concentration parameter in von Mises-Fisher distributions, Biometrika
           65, 369-377.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> mean = [0.0] * 255 + [1.0]
        >>> x = VonMisesFisher(255, 100.0).rvs(mean, size=2000, rng=0)
        >>> direction, fitted = VonMisesFisher.fit(x)
        >>> bool(direction[-1] > 0.99), bool(abs(fitted.concentration - 100.0) < 2.0)
        (True, True)
        >>> [round(VonMisesFisher.fit(x[:50], method=m)[1].concentration) for m in ("mle", "marginal")]
        [111, 102]
        """
        direction, concentration = estimate_parameters(x, weights, method)
        return direction, cls(direction, concentration)


def _directions(mean: Any, name: str, dim: int | None) -> Float64:
    """Return a read-only copy of a mean direction, or of an array of them."""
    if _checks.numeric(mean, name).ndim < 2:
        rows = _checks.one_row(mean, name, dim=dim)
    else:
        rows = _checks.floating(mean, name, (..., "dim+1" if dim is None else dim + 1))
        _checks.rows(rows.reshape(-1, rows.shape[-1]), name)
    directions = rows.astype(np.float64)
    directions.flags.writeable = False
    return directions


def _concentrations(value: Any, name: str) -> Any:
    """Return a concentration, or a read-only copy of an array of them."""
    if not _checks.is_vector(value):
        return _checks.real(value, name, minimum=0.0, maximum=MAX_CONCENTRATION)
    array = _checks.reals(value, name, minimum=0.0, maximum=MAX_CONCENTRATION, finite=True, nan=False)
    array.flags.writeable = False
    return array
