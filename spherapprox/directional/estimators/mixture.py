"""Mixtures of von Mises-Fisher distributions with scikit-learn's conventions.

The arguments are the same throughout: `X` are rows (n, p), directions of any lengths above 0: an array, a tensor on the
CPU, a sparse matrix or an array of Dask; `y` is not used; `sample_weight` are weights of rows (n,), at least 0;
`n_samples` is how many to draw. Error names (TypeError, ValueError) what was wrong with an argument, and NotFittedError
what needs `fit` first.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Self

import numpy as np

from ... import _checks, special
from ..._types import Array, Float64
from ...vmf import VonMisesFisher
from .. import mixtures
from ..mixtures import Ascent, Parts, Sums
from ..rows import Blocks
from .starts import draw_rows, find_means
from .validation import DirectionalEstimator, read_directions, read_random_state, read_start

with _checks.needs("scikit-learn 1.6 or newer", "VonMisesFisherMixture", "learn"):
    from sklearn.base import DensityMixin
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.validation import check_is_fitted

FIRST_NOISE = 0.1  # share of the uniform part at the start
FORGET = 0.6  # power of a batch's share of the weight so far with which it replaces older sums


class VonMisesFisherMixture(DensityMixin, DirectionalEstimator):  # type: ignore[misc]
    """A mixture of von Mises-Fisher distributions, fitted by expectation and maximisation: clusters of directions.

    float32 rows stay float32, rows are not copied, and no number of threads changes a bit. Densities are by the surface
    measure, as SciPy's. The log-likelihood of a "soft" fit never falls but for roundings. It has no bound where a part
    shrinks to a point: with more columns than rows in a part "equal" is safer. A. Banerjee et al. (2005), J. Mach.
    Learn. Res. 6, 1345-1382; `partial_fit` is of O. Cappe & E. Moulines (2009), J. R. Stat. Soc. B 71, 593-613.

    Parameters
    ----------
    n_components : int, default 1
        Number k of parts.
    concentration : {"free", "equal"} or float, default "free"
        Each part's own, one for all, or this one, 0 to 1e13.
    method : {"soft", "hard", "stochastic"}, default "soft"
        A step shares each row among parts by probability, gives it to the likeliest, or to one that is drawn.
    noise : bool, default False
        Whether a uniform part is added, for outliers: `predict` says -1 of its rows.
    init : {"k-means++", "random"} or array_like, shape (k, p), default "k-means++"
        First mean directions: clusters of a sample of rows (8192, or 20 k) in k columns, with `noise` also of the rows
        in narrow clusters alone, and the better fit is taken; random rows; or these.
    n_init, max_iter, tol : int, int, float, default 1, 100, 1e-4
        Starts, of which the best is taken; most steps of each ("stochastic" takes all); and the rise of the mean
        log-likelihood in a step at which a fit ends.
    random_state, warm_start : None, int or numpy.random.RandomState; bool, default False
        Draws samples, starts and stochastic steps; whether `fit` starts from the last fit.

    Attributes
    ----------
    weights_, means_, concentrations_ : ndarray, shape (k,), or (k+1,) with noise, whose share is last, (k, p) and (k,)
        Concentrations are at most 8.4e4 of float32 rows and 4.5e13 of float64 rows, as of a part of equal rows.
    lower_bound_ : float
        Mean log density of the rows, as `score`; of a "hard" fit of rows and their parts together.
    converged_, n_iter_, n_features_in_ : bool, int, int

    Warns
    -----
    ConvergenceWarning, UserWarning
        If a fit has not come to rest, or parts have no rows: their weights are 0; if there are rows of zeros: they do
        not count, and are at right angles to all means in `predict`; by `bic` and `aic` if parts shrank to one
        direction, as those of equal rows do.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import VonMisesFisher
    >>> from spherapprox.directional import VonMisesFisherMixture
    >>> X = VonMisesFisher(np.eye(3), [10.0, 50.0, 200.0]).rvs(500, rng=0).reshape(-1, 3)  # three parts in turn
    >>> model = VonMisesFisherMixture(3, random_state=0).fit(X)
    >>> np.sort(model.concentrations_).round(), model.weights_.round(2)
    (array([  9.,  50., 202.]), array([0.33, 0.33, 0.33]))
    >>> model.predict(X[:3]), model.predict_proba(X[:3]).shape, model.score_samples(X[:3]).round(1)
    (array([2, 0, 1]), (3, 3), array([-1.8,  0.6,  2.3]))
    >>> other = VonMisesFisherMixture(2, random_state=0).fit(X)
    >>> model.score(X) > other.score(X), model.bic(X) < other.bic(X), model.aic(X) < other.aic(X)
    (True, True, True)
    >>> model.sample(5)[0].shape, model.partial_fit(X[:300]).n_iter_ > 1
    ((5, 3), True)
    """

    def __init__(
        self, n_components: int = 1, *, concentration: Any = "free", method: str = "soft", noise: bool = False,
        n_init: int = 1, init: Any = "k-means++", max_iter: int = 100, tol: float = 1e-4, random_state: Any = None,
        warm_start: bool = False,
    ) -> None:  # fmt: skip
        self.n_components, self.concentration, self.method, self.noise = n_components, concentration, method, noise
        self.n_init, self.init, self.max_iter, self.tol = n_init, init, max_iter, tol
        self.random_state, self.warm_start = random_state, warm_start

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the mixture."""
        self._check()
        rows, weights = self._read(X, sample_weight, reset=True)
        return self._fit_rows(rows, weights, rng=read_random_state(self.random_state))

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to a first batch, of 50 rows a part or more, then take a step for each, from sums that forget slowly."""
        if not hasattr(self, "means_"):
            return self.fit(X, y, sample_weight)
        self._check()
        rows, weights = self._read(X, sample_weight)
        top, rng = float(weights.max()), read_random_state(self.random_state)
        weights = weights / top  # which float32 can hold
        batch = mixtures.gather_all(rows, weights, self._parts(), self.method, rng=rng)
        count = float(weights.sum())
        self._count += top * count
        new = (top * count / self._count) ** FORGET
        sums = Sums(*((1.0 - new) * a + new / count * b for a, b in zip(self._sums, batch, strict=True)))
        parts = mixtures.maximize(sums, self._parts(), self.concentration, dtype=rows.dtype)
        end = Ascent(parts, sums, batch.log_likelihood / count, self.n_iter_ + 1, self.converged_)
        return self._keep(end, count=1.0)

    def predict(self, X: Any) -> Array:
        """Return the numbers of the likeliest parts, (n,), -1 of the uniform one."""
        labels = self._describe(X, "labels")
        return np.where(labels < len(self.means_), labels, -1)

    @available_if(lambda self: self.n_components > 1 or self.noise)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Float64:
        """Return the probabilities of parts given each row, (n, k), or (n, k+1) with the uniform one, for k > 1."""
        return self._describe(X, "shares").T

    def score_samples(self, X: Any) -> Float64:
        """Return the log density of each row, (n,)."""
        return self._describe(X, "logs") - self._log_area()

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log density of the rows."""
        return float(self.score_samples(X).mean())

    def bic(self, X: Any) -> float:
        """Return the Bayesian information criterion, the lower the better: it chooses `n_components`."""
        logs = self.score_samples(X)
        return self._count_parameters() * math.log(len(logs)) - 2.0 * math.fsum(logs)

    def aic(self, X: Any) -> float:
        """Return Akaike's information criterion, the lower the better."""
        return -2.0 * math.fsum(self.score_samples(X)) + 2.0 * self._count_parameters()

    def sample(self, n_samples: int = 1) -> tuple[Float64, Array]:
        """Draw rows; return them (n_samples, p), part after part, and the parts' numbers, -1 of the uniform one."""
        check_is_fitted(self)
        rng = read_random_state(self.random_state)
        counts = rng.multinomial(_checks.integer(n_samples, "n_samples", minimum=1), self.weights_)
        sizes, means = np.append(self.concentrations_, 0.0), np.vstack((self.means_, self.means_[:1]))
        rows = [VonMisesFisher(means[j], sizes[j]).rvs(size=int(n), random_state=rng) for j, n in enumerate(counts)]
        return np.concatenate(rows), np.repeat(np.append(np.arange(len(self.means_)), -1)[: len(counts)], counts)

    def _check(self) -> None:
        """Check the parameters."""
        for name in ("n_components", "n_init", "max_iter"):
            _checks.integer(getattr(self, name), name, minimum=1)
        for name in ("noise", "warm_start"):
            _checks.flag(getattr(self, name), name)
        _checks.real(self.tol, "tol", minimum=0.0)
        words = {"method": "soft hard stochastic", "init": "k-means++ random", "concentration": "free equal"}
        for name, choices in words.items():
            if name == "method" or isinstance(getattr(self, name), str):
                _checks.choice(getattr(self, name), name, choices.split())
        if not isinstance(self.concentration, str):
            _checks.real(self.concentration, "concentration", minimum=0.0, maximum=1e13)

    def _fit_rows(self, rows: Any, weights: Float64, *, rng: Any) -> Self:
        """Fit the mixture to rows that were read."""
        if len(rows) < (k := int(self.n_components)):
            raise ValueError(f"'X' must have at least n_components = {k} rows, got {len(rows)}")
        top = float(weights.max())
        weights = weights / top
        shape = (len(self.weights_), self.means_.shape[1]) if hasattr(self, "means_") else None
        if self.warm_start and shape == (k + self.noise, rows.shape[1]):
            best = self._climb(rows, weights, self._parts(), rng=rng)
        else:
            ends = (self._climb_anew(rows, weights, rng) for _ in range(int(self.n_init)))
            best = max(ends, key=lambda end: end.bound)
        empty = int(np.sum(best.parts.shares[:k] == 0.0))
        if not best.converged and self.method != "stochastic":
            _checks.warn(f"no rest in max_iter = {self.max_iter} steps: raise 'max_iter' or 'tol'", ConvergenceWarning)
        if empty:
            text = f"{empty} of {k} parts have no rows and the weight 0: lower 'n_components'"
            _checks.warn(text, ConvergenceWarning)
        self._count = top * float(weights.sum())
        return self._keep(best, count=self._count / top)

    def _climb(self, rows: Any, weights: Float64, parts: Parts, *, rng: Any) -> Ascent:
        options = {"method": self.method, "max_iter": self.max_iter, "tol": self.tol, "rng": rng}
        return mixtures.climb(rows, weights, parts, self.concentration, **options)

    def _climb_anew(self, rows: Any, weights: Float64, rng: Any) -> Ascent:
        """Return an ascent from a start, beside a uniform part the better of two: of all rows, and of narrow ones."""
        ends = [self._climb(rows, weights, self._start(rows, weights, rng), rng=rng)]
        if self.noise and isinstance(self.init, str) and self.init == "k-means++":
            means = find_means(rows, weights, int(self.n_components), rng, loose=False)
            if means is not None:
                ends.append(self._climb(rows, weights, self._begin(rows, weights, means, rng), rng=rng))
        return max(ends, key=lambda end: end.bound)

    def _start(self, rows: Any, weights: Float64, rng: Any) -> Parts:
        """Return the first parts, those of first means that `init` says."""
        k, shape = int(self.n_components), (int(self.n_components), rows.shape[1])
        if not isinstance(self.init, str):
            means: Any = read_start(self.init, shape)
        elif self.init == "random":
            means = draw_rows(rows, weights, k, rng)[0].values
        else:
            means = find_means(rows, weights, k, rng)
        return self._begin(rows, weights, means, rng)

    def _begin(self, rows: Any, weights: Float64, means: Any, rng: Any) -> Parts:
        """Return the parts of the rows nearest to means, with one concentration."""
        k = int(self.n_components)
        means = np.asarray(means.toarray() if hasattr(means, "toarray") else means, dtype=np.float64)
        nearest = Parts.of(np.full(len(means), 1.0 / len(means)), means, np.ones(len(means)))
        sums = mixtures.gather_all(rows, weights, nearest, "hard", rng=rng)
        size = "equal" if isinstance(self.concentration, str) else self.concentration
        parts = mixtures.maximize(sums, nearest, size, dtype=rows.dtype)
        # there may be fewer different rows than parts
        shares, extra = np.append(parts.shares, np.zeros(k - len(means))), np.repeat(means[:1], k - len(means), axis=0)
        shares = np.append((1.0 - FIRST_NOISE) * shares, FIRST_NOISE) if self.noise else shares
        return Parts.of(shares, np.vstack((parts.means, extra)), np.resize(parts.concentrations, k))

    def _keep(self, end: Ascent, *, count: float) -> Self:
        """Keep the result of a fit, and its sums for each unit of weight."""
        self.weights_, self.means_, self.concentrations_, _ = end.parts
        self._sums = tuple(term / count for term in end.sums)
        self.lower_bound_ = end.bound - self._log_area()
        self.converged_, self.n_iter_ = end.converged, end.steps
        return self

    def _parts(self) -> Parts:
        return Parts.of(self.weights_, self.means_, self.concentrations_)

    def _describe(self, X: Any, what: str) -> Array:
        """Return what `mixtures.describe` tells of rows that are given or were read."""
        check_is_fitted(self)
        rows = X if isinstance(X, Blocks) else read_directions(self, X)
        return rows.concatenate(partial(mixtures.describe, parts=self._parts(), what=what))

    def _log_area(self) -> float:
        return float(special.log_surface_area(self.means_.shape[1] - 1))

    def _count_parameters(self) -> int:
        """Count the free parameters of parts that have rows: shares, means, concentrations."""
        k = int(np.count_nonzero(self.weights_[: len(self.means_)]))
        points = int(np.isin(self.concentrations_, [mixtures.largest(np.float32), mixtures.largest(np.float64)]).sum())
        if points and len(self.means_) > 1:
            _checks.warn(
                f"{points} of {len(self.means_)} parts shrank to one direction, where a likelihood has no bound: the "
                "criterion does not tell how many parts there are. Drop repeated rows or take concentration='equal'",
                UserWarning,
            )
        sizes = {"free": k, "equal": 1}.get(self.concentration, 0) if isinstance(self.concentration, str) else 0
        return int(k * (self.means_.shape[1] - 1) + sizes + np.count_nonzero(self.weights_) - 1)
