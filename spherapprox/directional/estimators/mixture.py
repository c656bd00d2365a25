"""Mixtures of von Mises-Fisher distributions with scikit-learn's conventions.

The arguments are the same throughout: `X` are rows (n, p), directions of any lengths above 0: an array, a tensor on the
CPU, a sparse matrix or an array of Dask; `y` is not used; `sample_weight` are weights of rows (n,), at least 0;
`n_samples` is how many to draw. Error names (TypeError, ValueError) what was wrong with an argument, and NotFittedError
what needs `fit` first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import _checks
from ..._types import Float64
from ...vmf import VonMisesFisher
from .. import mixtures
from ..mixtures import Parts
from .base import BaseMixture
from .starts import draw_rows, find_means
from .validation import read_start


class VonMisesFisherMixture(BaseMixture):
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

    _kind = Parts
    _directions = "means_"
    _choice = "concentration"
    _remedy = "take concentration='equal'"

    def __init__(
        self, n_components: int = 1, *, concentration: Any = "free", method: str = "soft", noise: bool = False,
        n_init: int = 1, init: Any = "k-means++", max_iter: int = 100, tol: float = 1e-4, random_state: Any = None,
        warm_start: bool = False,
    ) -> None:  # fmt: skip
        self.n_components, self.concentration, self.method, self.noise = n_components, concentration, method, noise
        self.n_init, self.init, self.max_iter, self.tol = n_init, init, max_iter, tol
        self.random_state, self.warm_start = random_state, warm_start

    def _check(self) -> None:
        super()._check()
        if isinstance(self.init, str):
            _checks.choice(self.init, "init", ("k-means++", "random"))
        if isinstance(self.concentration, str):
            _checks.choice(self.concentration, "concentration", ("free", "equal"))
        else:
            _checks.real(self.concentration, "concentration", minimum=0.0, maximum=1e13)

    def _starts(self, rows: Any, weights: Float64, rng: Any) -> Iterator[Parts]:
        """Yield parts about the first means that `init` says, beside a uniform part also those of narrow rows."""
        k, shape = int(self.n_components), (int(self.n_components), rows.shape[1])
        if not isinstance(self.init, str):
            yield self._begin(rows, weights, read_start(self.init, shape), rng)
        elif self.init == "random":
            yield self._begin(rows, weights, draw_rows(rows, weights, k, rng)[0].values, rng)
        else:
            for loose in (True, False)[: 1 + self.noise]:
                means = find_means(rows, weights, k, rng, loose=loose)
                if means is not None:
                    yield self._begin(rows, weights, means, rng)

    def _begin(self, rows: Any, weights: Float64, means: Any, rng: Any) -> Parts:
        """Return the parts of the rows nearest to means, with one concentration."""
        means = np.asarray(means.toarray() if hasattr(means, "toarray") else means, dtype=np.float64)
        nearest = Parts.of(np.full(len(means), 1.0 / len(means)), means, np.ones(len(means)))
        sums = mixtures.gather_all(rows, weights, nearest, "hard", rng=rng)
        size = "equal" if isinstance(self.concentration, str) else self.concentration
        parts = mixtures.maximize(sums, nearest, size, dtype=rows.dtype)
        # there may be fewer different rows than parts
        return mixtures.fill_up(parts, int(self.n_components), noise=self.noise)

    def _distribution(self, mean: Float64, concentration: float) -> VonMisesFisher:
        return VonMisesFisher(mean, concentration)
