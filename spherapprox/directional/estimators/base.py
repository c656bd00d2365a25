"""What mixtures of distributions of directions share, with scikit-learn's conventions.

The arguments are the same throughout: `X` are rows (n, p), directions of any lengths above 0: an array, a tensor on the
CPU, a sparse matrix or an array of Dask; `y` is not used; `sample_weight` are weights of rows (n,), at least 0;
`n_samples` is how many to draw. Error names (TypeError, ValueError) what was wrong with an argument, and NotFittedError
what needs `fit` first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from ... import _checks, special
from ..._types import Array, Float64
from .. import mixtures
from ..mixtures import Ascent, Parts, Sums
from ..rows import Blocks
from .validation import DirectionalEstimator, check_kept, read_directions, read_random_state

with _checks.needs("scikit-learn 1.6 or newer", "mixtures of directions", "learn"):
    from sklearn.base import DensityMixin
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.validation import check_is_fitted

FORGET = 0.6  # power of a batch's share of the weight so far with which it replaces older sums


class BaseMixture(DensityMixin, DirectionalEstimator):  # type: ignore[misc]
    """A mixture; subclasses have the parameters, find starts, and make distributions."""

    _kind: ClassVar[type[Parts]]
    _directions: ClassVar[str]  # the attribute that keeps parts' directions
    _choice: ClassVar[str]  # the parameter that says which concentrations
    _remedy: ClassVar[str]  # where parts shrink: drop repeated rows, or this
    warm_start = False

    def _starts(self, rows: Any, weights: Float64, rng: Any) -> Iterator[Parts]:
        """Yield first parts, of which those of the best ascent are taken."""
        raise NotImplementedError

    def _distribution(self, mean: Float64, concentration: float) -> Any:
        """Return the distribution of a part, 0 for a uniform one."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the mixture."""
        self._check()
        rows, weights = self._read(X, sample_weight, reset=True)
        return self._fit_rows(rows, weights, rng=read_random_state(self.random_state))

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to a first batch, of 50 rows a part or more, then take a step for each, from sums that forget slowly."""
        if not hasattr(self, "weights_"):
            return self.fit(X, y, sample_weight)
        self._check()
        k = len(self.concentrations_)
        check_kept(self, "n_components", k)
        check_kept(self, "noise", len(self.weights_) > k)
        rows, weights = self._read(X, sample_weight)
        top, rng = float(weights.max()), read_random_state(self.random_state)
        weights = weights / top  # which float32 can hold
        batch = mixtures.gather_all(rows, weights, self._parts(), self.method, rng=rng)
        count = float(weights.sum())
        self._count += top * count
        new = (top * count / self._count) ** FORGET
        sums = Sums(*((1.0 - new) * a + new / count * b for a, b in zip(self._sums, batch, strict=True)))
        parts = mixtures.maximize(sums, self._parts(), getattr(self, self._choice), dtype=rows.dtype)
        end = Ascent(parts, sums, batch.log_likelihood / count, self.n_iter_ + 1, self.converged_)
        return self._keep(end, count=1.0)

    def predict(self, X: Any) -> Array:
        """Return the numbers of the likeliest parts, (n,), -1 of the uniform one."""
        labels = self._describe(X, "labels")
        return np.where(labels < len(self.concentrations_), labels, -1)

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
        _, means, sizes, _ = self._parts()
        laws = [self._distribution(*part) for part in zip((*means, means[0]), (*sizes, 0.0), strict=True)]
        rows = [law.rvs(size=int(n), rng=rng) for law, n in zip(laws, counts, strict=False)]
        return np.concatenate(rows), np.repeat(np.append(np.arange(len(means)), -1)[: len(counts)], counts)

    def _check(self) -> None:
        """Check the parameters."""
        for name in ("n_components", "n_init", "max_iter"):
            _checks.integer(getattr(self, name), name, minimum=1)
        for name in ("noise", "warm_start"):
            _checks.flag(getattr(self, name), name)
        _checks.real(self.tol, "tol", minimum=0.0)
        _checks.choice(self.method, "method", ("soft", "hard", "stochastic"))

    def _fit_rows(self, rows: Any, weights: Float64, *, rng: Any) -> Self:
        """Fit the mixture to rows that were read."""
        if len(rows) < (k := int(self.n_components)):
            raise ValueError(f"'X' must have at least n_components = {k} rows, got {len(rows)}")
        top = float(weights.max())
        weights = weights / top
        fitted = (len(self.weights_), self._means.shape[1]) if hasattr(self, "weights_") else None
        if self.warm_start and fitted == (k + self.noise, rows.shape[1]):
            best = self._climb(rows, weights, self._parts(), rng=rng)
        else:
            starts = (start for _ in range(int(self.n_init)) for start in self._starts(rows, weights, rng))
            best = max((self._climb(rows, weights, start, rng=rng) for start in starts), key=lambda end: end.bound)
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
        return mixtures.climb(rows, weights, parts, getattr(self, self._choice), **options)

    def _keep(self, end: Ascent, *, count: float) -> Self:
        """Keep the result of a fit, and its sums for each unit of weight."""
        self.weights_, means, self.concentrations_, _ = end.parts
        setattr(self, self._directions, means)
        self._sums = tuple(term / count for term in end.sums)
        self.lower_bound_ = end.bound - self._log_area()
        self.converged_, self.n_iter_ = end.converged, end.steps
        return self

    @property
    def _means(self) -> Float64:
        means: Float64 = getattr(self, self._directions)
        return means

    def _parts(self) -> Parts:
        return self._kind.of(self.weights_, self._means, self.concentrations_)

    def _describe(self, X: Any, what: str) -> Array:
        """Return what `mixtures.describe` tells of rows that are given or were read."""
        check_is_fitted(self)
        rows = X if isinstance(X, Blocks) else read_directions(self, X)
        return rows.concatenate(partial(mixtures.describe, parts=self._parts(), what=what))

    def _log_area(self) -> float:
        return float(special.log_surface_area(self._means.shape[1] - 1))

    def _count_parameters(self) -> int:
        """Count the free parameters of parts that have rows: shares, directions, concentrations."""
        k, p = self._means.shape
        ends = [self._kind.largest(dtype) for dtype in (np.float32, np.float64)]
        points = int(np.isin(np.abs(self.concentrations_), ends).sum())
        if points and k > 1:
            _checks.warn(
                f"{points} of {k} parts have no width left, where a likelihood has no bound: the criterion does not "
                f"tell how many parts there are. Drop repeated rows or {self._remedy}",
                UserWarning,
            )
        full, choice = int(np.count_nonzero(self.weights_[:k])), getattr(self, self._choice)
        sizes = 0 if not isinstance(choice, str) else 1 if choice == "equal" else full
        return int(full * (p - 1) + sizes + np.count_nonzero(self.weights_) - 1)
