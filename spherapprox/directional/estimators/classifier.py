"""Classes of directions, each a mixture of von Mises-Fisher distributions.

The arguments are the same throughout: `X` (n, p) and `sample_weight` (n,) as `VonMisesFisherMixture` takes them, and
classes `y` (n,). Error names (TypeError, ValueError) what was wrong, and NotFittedError what needs `fit` first.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ... import _checks
from ..._softmax import softmax
from ..._types import Array, Float64
from .mixture import VonMisesFisherMixture
from .validation import DirectionalEstimator, read_directions, read_random_state, read_weights

with _checks.needs("scikit-learn 1.6 or newer", "VonMisesFisherClassifier", "learn"):
    from sklearn.base import ClassifierMixin
    from sklearn.utils import assert_all_finite, column_or_1d
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted


class VonMisesFisherClassifier(ClassifierMixin, DirectionalEstimator):  # type: ignore[misc]
    """Bayes' rule with a `VonMisesFisherMixture` for each class.

    Parameters
    ----------
    n_components : int, default 1
        Number of parts of each class, or of its rows where these are fewer.
    priors : array_like, shape (n_classes,), optional
        Probabilities of the classes, in sorted order; by default their shares of the rows' weight.
    concentration, random_state : as in `VonMisesFisherMixture`

    Attributes
    ----------
    classes_, priors_, mixtures_, n_features_in_ : ndarrays, shape (n_classes,), list of VonMisesFisherMixture, int

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import VonMisesFisher
    >>> from spherapprox.directional import VonMisesFisherClassifier
    >>> X, y = VonMisesFisher(np.eye(3), 20.0).rvs(100, rng=0).reshape(-1, 3), ["x", "y", "z"] * 100
    >>> model = VonMisesFisherClassifier().fit(X, y)
    >>> model.predict([[0.0, 0.1, 1.0]]), model.predict_proba([[1.0, 1.0, 0.0]]).round(1), model.score(X, y) > 0.99
    (array(['z'], dtype='<U1'), array([[0.7, 0.3, 0. ]]), True)
    """

    def __init__(
        self, n_components: int = 1, *, concentration: Any = "free", priors: Any = None, random_state: Any = None
    ) -> None:
        self.n_components, self.concentration = n_components, concentration
        self.priors, self.random_state = priors, random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a mixture to the rows of each class."""
        rows, k = read_directions(self, X, reset=True), _checks.integer(self.n_components, "n_components", minimum=1)
        if y is None:
            raise ValueError("'y' must hold classes, requires y to be passed, but the target y is None")
        y = _checks.shaped(column_or_1d(y, warn=True), "y", (len(rows),), note=", a class for each row of 'X'")
        assert_all_finite(y, input_name="y")
        weights = read_weights(rows, sample_weight)
        try:
            check_classification_targets(y)
            self.classes_, labels = np.unique(y, return_inverse=True)
        except TypeError as error:  # numbers beside texts
            raise TypeError(f"'y' must hold classes of one kind, which can be sorted: {error}") from None
        masses = np.bincount(labels, weights)
        if not masses.all():
            label = self.classes_[np.argmin(masses)]
            raise ValueError(f"'sample_weight' must not be 0 in a whole class, as in {label}: leave it out")
        given = masses if self.priors is None else self.priors
        priors = _checks.weights_for(given, "priors", len(masses), owner="class")
        self.priors_, self.mixtures_ = priors / priors.sum(), []
        rng = read_random_state(self.random_state)
        for label in range(len(self.classes_)):
            own = np.flatnonzero((labels == label) & (weights > 0.0))
            mixture = VonMisesFisherMixture(min(k, len(own)), concentration=self.concentration, random_state=rng)
            mixture._check()
            self.mixtures_.append(mixture._fit_rows(rows[own], weights[own], rng=rng))
        return self

    def predict(self, X: Any) -> Array:
        """Return the likeliest classes, (n,)."""
        likeliest = self.predict_proba(X).argmax(axis=1)  # which checks first that there was a fit
        return np.asarray(self.classes_[likeliest])

    def predict_proba(self, X: Any) -> Float64:
        """Return the probabilities of the classes given each row, (n, n_classes)."""
        check_is_fitted(self)
        rows = read_directions(self, X)
        with np.errstate(divide="ignore"):
            logs = np.log(self.priors_) + np.stack([part.score_samples(rows) for part in self.mixtures_], axis=1)
        return softmax(logs, out=logs)
