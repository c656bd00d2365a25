"""Mixtures of Watson distributions with scikit-learn's conventions.

The arguments are the same throughout: those of `VonMisesFisherMixture`. Error names (TypeError, ValueError) what was
wrong with an argument, and NotFittedError what needs `fit` first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import _checks
from ..._types import Float64
from .. import mixtures
from ..axes import SIGNS, AxialParts
from ..mixtures import Parts, Sums
from ..watson import Watson
from .base import BaseMixture
from .starts import group_axes


class WatsonMixture(BaseMixture):
    """A mixture of Watson distributions: clusters and girdles of axes, where x and -x are the same.

    The rows, methods and warnings are those of `VonMisesFisherMixture`. A step takes the eigenvectors of k matrices
    p x p, and memory for three of each. The likelihood has no bound where a part shrinks to an axis or, as a girdle, to
    a great sphere, where any p - 1 rows lie: girdles need many rows. S. Sra & D. Karp (2013), The multivariate Watson
    distribution, J. Multivar. Anal. 114, 256-269; "hard" is diametrical clustering, I. S. Dhillon, E. M. Marcotte &
    U. Roshan (2003), Bioinformatics 19, 1612-1619.

    Parameters
    ----------
    n_components : int, default 1
        Number k of parts.
    form : {"bipolar", "girdle", "either"}, default "bipolar"
        Parts about the ends of axes, about great circles (or spheres) across axes, or each part the likelier.
    method, noise, n_init, max_iter, tol, random_state : as in `VonMisesFisherMixture`
        A start is clusters of a sample of rows, 1000 or 20 k, in principal coordinates of their squared cosines.

    Attributes
    ----------
    weights_, axes_, concentrations_ : ndarray, shape (k,), or (k+1,) with noise, whose share is last, (k, p) and (k,)
        Concentrations are negative for girdles, of size up to 8.4e4 of float32 rows and 1e10 of float64 rows.
    lower_bound_, converged_, n_iter_, n_features_in_ : float, bool, int, int
        As in `VonMisesFisherMixture`.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.directional import Watson, WatsonMixture
    >>> X = np.concatenate([Watson(axis, 30.0).rvs(200, rng=0) for axis in np.eye(3)[:2]])
    >>> model = WatsonMixture(2, random_state=0).fit(X)
    >>> np.abs(model.axes_[model.predict([[0.0, -1.0, 0.1]])]).round(1), model.concentrations_.round()
    (array([[0., 1., 0.]]), array([30., 30.]))
    """

    _kind = AxialParts
    _directions = "axes_"
    _choice = "form"
    _remedy = "lower 'n_components'"

    def __init__(
        self, n_components: int = 1, *, form: str = "bipolar", method: str = "soft", noise: bool = False,
        n_init: int = 1, max_iter: int = 100, tol: float = 1e-4, random_state: Any = None,
    ) -> None:  # fmt: skip
        self.n_components, self.form, self.method, self.noise = n_components, form, method, noise
        self.n_init, self.max_iter, self.tol, self.random_state = n_init, max_iter, tol, random_state

    def _check(self) -> None:
        super()._check()
        _checks.choice(self.form, "form", SIGNS)

    def _starts(self, rows: Any, weights: Float64, rng: Any) -> Iterator[Parts]:
        """Yield the parts that are the likeliest for groups of a sample of rows."""
        k, p = int(self.n_components), rows.shape[1]
        sample, share, labels = group_axes(rows, weights, k, rng)
        masses = share * (labels == np.arange(k)[:, None])
        none = AxialParts.of(np.full(k, 1.0 / k), np.eye(1, p).repeat(k, axis=0), np.zeros(k))
        sums = Sums(masses.sum(axis=1), AxialParts.add_up(sample, masses), 0.0)
        parts = mixtures.maximize(sums, none, self.form, dtype=rows.dtype)
        yield mixtures.fill_up(parts, k, noise=self.noise)

    def _distribution(self, mean: Float64, concentration: float) -> Watson:
        return Watson(mean, concentration)
