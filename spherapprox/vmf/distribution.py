"""The von Mises-Fisher distribution's densities at points, and random points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._types import Float64
from . import sampling as sample
from .cosine import Cosine
from .kernel import refuse_class

Rng = int | np.random.Generator | np.random.RandomState | None


class Distribution(Cosine):
    """The kernel about a mean direction, which is stored or given to each method."""

    def logpdf(self, x: ArrayLike, mean_direction: ArrayLike | None = None) -> Any:
        """Return the logarithm of the density with respect to the surface measure, as SciPy's method of this name.

        Parameters
        ----------
        x : array_like, shape (..., dim+1)
            Points of unit length; their leading axes broadcast with those of the distributions.
        mean_direction : array_like, shape (dim+1,), optional
            Unit vector; by default what is stored.

        Returns
        -------
        float or ndarray of the leading axes' shape
            log f(x) = log f(mean_direction) - concentration |x - mean_direction|^2 / 2. The chord keeps the digits of
            near points, and rows of length 1 + d move the result by some concentration d^2 / 2 only.

        Raises
        ------
        TypeError, ValueError
            If an argument is of the wrong kind or shape, or not of unit length, or there is no mean direction.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> VonMisesFisher(1, 2.0).logpdf([[1.0, 0.0], [0.0, 1.0]], [1.0, 0.0]).round(6)
        array([-0.661871, -2.661871])
        """
        refuse_class(self, "logpdf(x)")
        mean, array, d = self._mean(mean_direction), _checks.numeric(x, "x"), self.dim + 1
        remedy = _checks.remedy_of_dim(array.shape, self.dim)
        _checks.shaped(array, "x", (..., d), note=f" for dim = {self.dim}", remedy=remedy)
        points = _checks.rows(array.reshape(-1, d), "x")  # (n, dim+1)
        lead, lam = array.shape[:-1], self.concentration
        batch = self._batch(mean.shape[:-1])
        if batch:
            _checks.broadcast_shape("x[:, None] gives all pairs", x=lead, distributions=batch)
        squares = sample.squares_between(points, lead, mean)
        with np.errstate(over="ignore"):  # beyond -1e308 it is -inf
            squares = np.multiply(squares, -0.5 * lam, out=squares if not batch else None)
        squares += self._log_peak - self._log_area("surface")
        return float(squares) if squares.ndim == 0 else squares

    def pdf(self, x: ArrayLike, mean_direction: ArrayLike | None = None) -> Any:
        """Return the density with respect to the surface measure: the exponential of `logpdf`.

        Parameters
        ----------
        x : array_like, shape (..., dim+1)
            Points of unit length.
        mean_direction : array_like, shape (dim+1,), optional
            Unit vector; by default the one that is stored.

        Returns
        -------
        float or ndarray of the leading axes' shape
            inf beyond 1e308.

        Raises
        ------
        TypeError, ValueError
            As `logpdf`.

        Examples
        --------
        >>> from spherapprox import VonMisesFisher
        >>> VonMisesFisher(1, 0.0).pdf([[1.0, 0.0]], [0.0, 1.0]).round(6)
        array([0.159155])
        """
        refuse_class(self, "pdf(x)")
        with np.errstate(over="ignore"):
            result = np.exp(self.logpdf(x, mean_direction))
        return float(result) if np.ndim(result) == 0 else result

    def rvs(
        self,
        mean_direction: ArrayLike | None = None,
        size: Any = None,
        rng: Rng = None,
        *,
        random_state: Rng = None,
    ) -> Float64:
        """Draw random points.

        Parameters
        ----------
        mean_direction : array_like, shape (dim+1,), optional
            Unit vector; it is divided by its length in float64. By default the one that is stored.
        size : int or tuple of int, default 1
            How many of each distribution; () for a single point of shape (dim+1,).
        rng, random_state : None, int, numpy.random.Generator or numpy.random.RandomState
            Source of randomness, as for `numpy.random.default_rng`: a seed does not give what SciPy draws from it. A
            `RandomState` gives the seed.

        Returns
        -------
        ndarray, shape (size, dim+1) or size + (dim+1,)
            Or size + batch_shape + (dim+1,): unit rows to rounding, drawn exactly, and the same for the same `rng` and
            arguments.

        Raises
        ------
        TypeError, ValueError
            If an argument is of the wrong kind or shape, there is no mean direction, or the result would be too large
            for memory.

        Notes
        -----
        SciPy's orders are understood: ``rvs(size, mean_direction)`` where `size` is an int, and, where a mean
        direction is stored, ``rvs(size, random_state)`` where `size` is an int or a tuple of positive ints.

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
        refuse_class(self, "rvs(size)")
        rng, source = either(rng, random_state, "rng", alias="random_state")
        mean_direction, size, rng = self._reorder_arguments(mean_direction, size, rng)
        mean, lam = self._unit_mean(mean_direction), self.concentration
        sizes = size if isinstance(size, tuple) else (1 if size is None else size,)
        sizes = tuple(_checks.integer(n, "size", minimum=0) for n in sizes)
        shape = (*sizes, *self._batch(mean.shape[:-1]))
        n = math.prod(shape)
        _checks.memory(
            8.0 * (min(n, 2**53) * (self.dim + 2) + 2 * self.dim),
            f"a sample of 'size' {_checks.show(sizes)}",
            "draw it in parts",
        )
        generator = _checks.generator(rng, source)
        x = np.empty((n, self.dim + 1))
        if isinstance(lam, float):
            versines = sample.versines(float(self.dim), lam, n, rng=generator)
        else:
            versines = sample.versines_of_each(float(self.dim), np.broadcast_to(lam, shape).ravel(), rng=generator)
        if mean.ndim > 1:  # one row for each distribution, which come in turn
            mean = np.broadcast_to(mean, (*shape[len(sizes) :], self.dim + 1)).reshape(-1, self.dim + 1)
        sample.place(versines, mean, x, rng=generator)
        return x.reshape(*shape, self.dim + 1)

    def _unit_mean(self, direction: Any = None) -> Float64:
        """Return the mean direction, or each of them, divided by its length in float64."""
        mean = self._mean(direction)
        mean /= math.sqrt(mean @ mean) if mean.ndim == 1 else np.sqrt(np.square(mean).sum(-1, keepdims=True))
        return mean

    def _mean(self, direction: Any) -> Float64:
        """Return a copy of the mean direction that is given, or else stored."""
        if direction is not None:
            return _checks.one_row(direction, "mean_direction", dim=self.dim).astype(np.float64)
        remedy = f", or be stored in the distribution: VonMisesFisher(mean_direction, {self.concentration})"
        return _checks.given(self.mean_direction, "mean_direction", remedy).copy()

    def _reorder_arguments(self, first: Any, second: Any, rng: Rng) -> tuple[Any, Any, Rng]:
        """Return mean direction, size and source of randomness, whose first is a size in SciPy's order."""
        if isinstance(first, tuple) and self.mean_direction is not None:
            is_size = all(isinstance(n, int | np.integer) and n > 0 for n in first)
        else:
            is_size = first is not None and not _checks.is_vector(first)
        if not is_size:
            return first, second, rng
        if second is None or _checks.is_vector(second):
            return second, first, rng
        if self.mean_direction is not None and rng is None:
            return None, first, second
        raise TypeError(
            f"'mean_direction' must be a vector, got {_checks.show(first)}: rvs(mean_direction, size), or "
            "rvs(size, random_state) where the distribution stores a mean direction"
        )


def either(value: Any, alias_value: Any, name: str, alias: str) -> tuple[Any, str]:
    """Return the argument that was given under one of two names, and that name."""
    _checks.not_both(value, alias_value, f"'{name}' and '{alias}' are the same here")
    return (value, name) if alias_value is None else (alias_value, alias)
