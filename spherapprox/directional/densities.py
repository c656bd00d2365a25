"""What Watson's and Kent's distributions share: densities at points, and samples of any shape.

The arguments are the same throughout: `x`, points of unit length, shape (..., dim+1); `size`, how many, an int or a
tuple of ints, () for a single point; `rng`, None, an int (a seed) or a numpy.random.Generator; a test's `statistic` and
its `pvalue`. Error names: TypeError and ValueError, if an argument is of the wrong kind or shape, a point not of unit
length, or a result too large for memory.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks, special
from .._types import Float64, Seed


class SignificanceResult(NamedTuple):
    """Result of a test of significance, as SciPy's tuple of this name: P is of a statistic at least as large.

    Examples
    --------
    >>> from spherapprox import directional
    >>> directional.SignificanceResult(7.6875, 0.0529).pvalue
    0.0529
    """

    statistic: float
    pvalue: float


def read_directions(x: ArrayLike, name: str = "x", *, dim: int | None = None) -> Float64:
    """Return unit rows (n, dim+1), each divided by its length in float64."""
    rows = _checks.rows(_checks.detached(x), name, dim=dim).astype(np.float64)
    rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return rows


def read_sample(x: ArrayLike, weights: ArrayLike | None, *, dim: int | None = None) -> tuple[Float64, Float64]:
    """Return unit rows, and their weights of sum 1."""
    rows = read_directions(x, dim=dim)
    share = _checks.weights_for(weights, "weights", len(rows))
    share /= share.max()
    return rows, share / share.sum()


class Density:
    """A distribution on S^m: subclasses have the density of unit rows and draw rows."""

    dim: int

    def _set(self, **parameters: Any) -> None:
        """Set the parameters of a frozen instance, arrays read-only."""
        for name, value in parameters.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    def _log_densities(self, rows: Float64) -> Float64:
        """Return log densities of unit rows (n, dim+1) with respect to the measure of total 1."""
        raise NotImplementedError

    def _draw(self, n: int, rng: np.random.Generator) -> Float64:
        """Draw unit rows (n, dim+1)."""
        raise NotImplementedError

    def logpdf(self, x: ArrayLike) -> Any:
        """Return the logarithm of the density with respect to the surface measure at unit rows, shape (..., dim+1).

        Of the leading axes' shape, right to a few units in the last place of the larger of the peak's logarithm and how
        far it is below.
        """
        array, d = _checks.numeric(_checks.detached(x), "x"), self.dim + 1
        remedy = _checks.remedy_of_dim(array.shape, self.dim)
        _checks.shaped(array, "x", (..., d), note=f" for dim = {self.dim}", remedy=remedy)
        result = self._log_densities(read_directions(array.reshape(-1, d), dim=self.dim))
        result -= float(special.log_surface_area(self.dim))
        return float(result[0]) if array.ndim == 1 else result.reshape(array.shape[:-1])

    def pdf(self, x: ArrayLike) -> Any:
        """Return the density with respect to the surface measure: the exponential of `logpdf`, inf beyond 1e308."""
        with np.errstate(over="ignore"):
            result = np.exp(self.logpdf(x))
        return float(result) if np.ndim(result) == 0 else result

    def rvs(self, size: int | tuple[int, ...] | None = None, rng: Seed = None) -> Float64:
        """Draw random points, unit rows of shape (size, dim+1) or size + (dim+1,), one by default: exactly.

        The same ones come for the same `rng` and arguments.
        """
        sizes = size if isinstance(size, tuple) else (1 if size is None else size,)
        shape = tuple(_checks.integer(n, "size", minimum=0) for n in sizes)
        n = math.prod(shape)
        words = f"a sample of 'size' {_checks.show(shape)}", "draw it in parts"
        _checks.memory(8.0 * min(n, 2**53) * (self.dim + 6), *words)
        return self._draw(n, _checks.generator(rng)).reshape(*shape, self.dim + 1)
