"""A density of directions by kernels, with scikit-learn's conventions.

The arguments are the same throughout: `X` are dense rows (n, p), directions of any lengths above 0; `y` is not used;
`sample_weight` are weights of rows (n,), at least 0; `n_samples` is how many rows are drawn by `random_state`, None, an
int, a Generator or a RandomState; `region` tells of unit rows (k, p) whether they are inside, (k,), or is a cap, its
centre (p,) and its angle in radians; `mass` are shares of probability, 0 to 1. Error names (TypeError, ValueError) what
was wrong with an argument, and NotFittedError what needs `fit` first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks, special
from ..._types import Bools, Float64
from ...vmf import VonMisesFisher
from ...vmf.sparse import is_sparse
from .. import bandwidths
from ..rows import Rows, merge_equal, read_rows
from .validation import read_directions, read_weights

with _checks.needs("scikit-learn 1.6 or newer", "SphericalKernelDensity", "learn"):
    from sklearn.base import BaseEstimator, DensityMixin
    from sklearn.utils.validation import check_is_fitted

SAMPLES = 100_000  # of the density, for its regions
Region = Callable[[Float64], ArrayLike] | tuple[ArrayLike, float]


class SphericalKernelDensity(DensityMixin, BaseEstimator):  # type: ignore[misc]
    """The density of directions by a von Mises-Fisher kernel about each of them, on S^m of any dimension.

    Rows that are the same to 12 decimals, 6 in float32, are one row of their added weights, which is left out as a
    whole: else repeated rows, as of rounded data, would make the likelihood grow with the concentration for ever.
    P. Hall, G. S. Watson & J. Cabrera (1987), Biometrika 74, 751-762; "rule" has h_AMI of E. Garcia-Portugues (2013),
    Electron. J. Stat. 7, 1655-1685, on S^1 and S^2 as its limit for many rows.

    Parameters
    ----------
    concentration : "cv", "rule" or float, default "cv"
        Of the kernels: the larger, the narrower; 1 / h^2 of a bandwidth h in radians. "cv" has the largest likelihood
        of rows left out of the density one by one. "rule" has the least asymptotic mean integrated squared error if
        rows are von Mises-Fisher distributed: for one peak, and few columns. A number is at least 0, at most 1e12.

    Attributes
    ----------
    concentration_, log_likelihood_ : float
        What was given or chosen, 1e-3 to 1e12; with "cv", the weighted mean of the log densities of left-out rows.
    rows_, weights_, n_features_in_ : ndarray, shape (n, n_features) and (n,), int
        The different rows, of length 1, and their shares.

    Examples
    --------
    >>> from spherapprox import VonMisesFisher, directional
    >>> X = VonMisesFisher([0.0, 0.0, 1.0], 20.0).rvs(1000, rng=0)
    >>> density = directional.SphericalKernelDensity().fit(X)
    >>> density.score_samples([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]).round(1)
    array([  0.9, -62.9])
    >>> share, error = density.probability(([0.0, 0.0, 1.0], 0.5))  # within half a radian of the pole
    >>> round(share, 2), error < 2e-3
    (0.88, True)
    >>> X[density.score_samples(X) >= density.level(0.5)].shape[0] // 10  # half of the probability, and of the rows
    54
    >>> density.sample(5, random_state=0).shape, round(density.score(X) / 1000, 1)
    ((5, 3), 0.2)
    """

    def __init__(self, concentration: str | float = "cv") -> None:
        self.concentration = concentration

    def fit(self, X: Any, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Keep the rows, and choose the concentration."""
        rule: Any = self.concentration
        if isinstance(rule, str):
            _checks.choice(rule, "concentration", ("cv", "rule"))
        else:
            rule = _checks.real(rule, "concentration", minimum=0.0, maximum=bandwidths.LARGEST)
        given = self._read(X, reset=True)
        weights = read_weights(given, sample_weight)
        weights /= weights.max()
        rows, weights = merge_equal(_unit(given), weights, 12 if given.dtype == np.float64 else 6)
        weights = weights / weights.sum()
        if isinstance(rule, str) and len(rows) == 1:
            raise ValueError(
                "'X' must have at least two different rows to choose 'concentration', got 1 sample: pass it"
            )
        if rule == "cv":
            self.concentration_, value = bandwidths.cross_validate(rows, weights)
            self.log_likelihood_ = value - float(special.log_surface_area(rows.shape[1] - 1))
        else:
            self.concentration_ = bandwidths.rule_of_thumb(rows, weights) if rule == "rule" else rule
        self.rows_, self.weights_ = rows, weights
        return self

    def score_samples(self, X: Any) -> Float64:
        """Return log densities (n,) with respect to the surface measure, to 1e-6."""
        check_is_fitted(self)
        given = self._read(X)
        if not (present := given.present()).all():
            raise ValueError(
                f"'X' must have rows that have a direction, got zeros in row {np.argmin(present)}: drop it"
            )
        rows = _unit(given)
        peak = VonMisesFisher(rows.shape[1] - 1, self.concentration_).log_density(1.0, measure="surface")
        return np.asarray(bandwidths.log_sums(rows, self.rows_, self.weights_, self.concentration_) + peak)

    def score(self, X: Any, y: None = None) -> float:
        """Return the sum of the log densities, as scikit-learn's KernelDensity does."""
        return float(self.score_samples(X).sum())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Float64:
        """Return rows (n_samples, p) of length 1, drawn from the density."""
        return self._draw(n_samples, random_state, spread=False)

    def probability(self, region: Region, *, n_samples: int = SAMPLES, random_state: Any = 0) -> tuple[float, float]:
        """Return the density's probability of a region, and its standard error.

        It is the share of random rows inside, spread evenly over the kernels; the error is at most 0.5/sqrt(n_samples).
        """
        rows = self._draw(n_samples, random_state, spread=True)
        if not callable(region) and not (isinstance(region, tuple) and len(region) == 2):
            raise _checks.wrong_type(region, "region", "a function of rows, or a cap (centre, angle)")
        inside = np.asarray(_checks.called(region, rows) if callable(region) else _in_cap(rows, *region))
        if inside.dtype != bool or inside.shape != rows.shape[:1]:
            text = f"an array of {inside.dtype}, shape {inside.shape}"
            raise TypeError(f"'region' must return True or False for each of {len(rows)} rows, got {text}")
        share = float(inside.mean())
        return share, max(math.sqrt(share * (1.0 - share) / len(rows)), 1.0 / len(rows))

    def level(self, mass: ArrayLike, *, n_samples: int = SAMPLES, random_state: Any = 0) -> Any:
        """Return the log density above which lies a share of the probability: ``score_samples(x) >= level(0.5)``.

        A quantile of random rows: what lies above it has the share up to sqrt(mass (1 - mass) / n_samples).
        """
        share = _checks.reals(mass, "mass", minimum=0.0, maximum=1.0, nan=False)
        levels = np.quantile(self.score_samples(self._draw(n_samples, random_state, spread=True)), 1.0 - share)
        return float(levels) if np.ndim(levels) == 0 else levels

    def _draw(self, n_samples: int, random_state: Any, *, spread: bool) -> Float64:
        """Draw rows, at random or so that each kernel has its share up to one (systematic sampling)."""
        check_is_fitted(self)
        n, rng = _checks.integer(n_samples, "n_samples", minimum=1), _checks.generator(random_state, "random_state")
        _checks.memory(24.0 * n * self.rows_.shape[1], f"a sample of {n} rows", "lower 'n_samples'")
        quantiles, ends = (np.arange(n) + rng.random()) / n if spread else rng.random(n), np.cumsum(self.weights_)
        centers = self.rows_[np.searchsorted(ends[:-1], quantiles * ends[-1], side="right")]
        return np.asarray(VonMisesFisher(centers, self.concentration_).rvs(size=(), rng=rng))

    def _read(self, X: Any, *, reset: bool = False) -> Rows:
        """Return rows in memory."""
        given: Any = read_directions(self, X, reset=reset)
        rows: Rows = given if isinstance(given, Rows) else given[:]
        if is_sparse(rows.values):
            raise TypeError("'X' must be dense for sums of kernels, got a sparse matrix: pass X.toarray()")
        return rows


def _unit(rows: Rows) -> Float64:
    """Return a copy in float64, of length 1 in it, but for zeros."""
    unit: Float64 = rows.values.astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", unit, unit))
    unit /= np.where(lengths > 0.0, lengths, 1.0)[:, None]
    return unit


def _in_cap(rows: Float64, center: ArrayLike, angle: float) -> Bools:
    """Tell which rows lie in a cap, by their chords from its centre."""
    center = _checks.floating(_checks.detached(center), "region[0]", (rows.shape[1],))
    middle = _unit(read_rows(center[None, :], "region[0]"))  # (1, p)
    if not middle.any():
        raise ValueError("'region[0]' must have a direction, got zeros")
    angle = _checks.real(angle, "region[1]", minimum=0.0, maximum=math.pi, why="in radians")
    return np.asarray(np.linalg.norm(rows - middle, axis=1) <= 2.0 * math.sin(0.5 * angle))
