"""Heads as a scikit-learn estimator, for rows of any features."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks, sphere
from .._types import Float64
from ..fitting import fit_recipe
from .registry import FAMILIES

with _checks.needs("scikit-learn 1.6 or newer", "HeadRegressor", "learn"):
    from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_is_fitted, validate_data

EMBEDDINGS = ("stereographic", "normalize")
_FAR = 1e300
"""Features beyond are this: rows so far off are at the pole in any case."""


class HeadRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Regression by an attention head over control points: `SplitHead.fit` and `CoreHead.fit` for scikit-learn.

    Parameters
    ----------
    kind : {"split", "core"}, default "split"
        "split" is softmax attention, an average of fitted values, with larger weights the nearer their control points.
        Far from the data it does not go to the mean of y: very far rows are near one point, the pole, and get nearly
        one prediction. "core" is a sum of kernels, kernel ridge regression on control points: it has no constant term,
        so that the mean of y should be near 0.
    n_control_points : int or "auto", default "auto"
        Number of control points, or all rows where these are fewer. "auto" takes 300 and doubles them as long as that
        lowers the leave-one-out error by 1 %, while this takes seconds; 300 of free points. None means "auto".
    concentration : float, optional
        lambda, at least 0; of an RBF kernel on the sphere it is ``2 gamma``. None: by cross-validation.
    regularization : float, optional
        Of the least squares, above 0; of a core head it is the alpha of kernel ridge regression. None: by
        cross-validation.
    points : {"fixed", "free"}, default "fixed"
        Whether control points stay where k-means puts them, or move to where they lower the error: fewer do then.
    embedding : {"stereographic", "normalize"}, default "stereographic"
        How rows of d features become points of a sphere. "stereographic": less their mean, over the root of their mean
        squared length, then through the inverse stereographic map to S^d: different rows stay different, small figures
        keep their shape, far rows meet near the pole. Features are not scaled one by one: put a `StandardScaler` before
        it, where they have different units. "normalize": rows over their lengths, points of S^(d-1), for rows of which
        only the direction matters (images up to brightness, counts up to their total) or that have unit length already;
        it takes d >= 2 and no row of zeros.
    random_state : None, int or numpy.random.RandomState
        Draws where the search for control points starts: scikit-learn's name of what is `rng` elsewhere.

    Attributes
    ----------
    head_ : CoreHead or SplitHead
        The head, on embedded rows.
    concentration_, regularization_ : float
        What was given, or chosen.
    loo_error_ : float
        Root of the mean squared leave-one-out error in cross-validation, summed over outputs; inf where it is unknown.
        For free points, of the error at a fifth of the rows, left out of the fit that chose the regularisation.
    center_ : ndarray, shape (n_features,)
        What is taken off rows before the stereographic map.
    scale_ : float
        What they are divided by then.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Their names, if X has some.

    Raises
    ------
    ImportError
        When it is imported without scikit-learn, the extra ``learn``.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import HeadRegressor
    >>> X = np.linspace(-3.0, 3.0, 100)[:, None]
    >>> model = HeadRegressor(n_control_points=20, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> model.predict([[1.0]]).round(2), model.head_.dim  # sin 1 = 0.84
    (array([0.84]), 1)
    """

    def __init__(
        self,
        kind: str = "split",
        *,
        n_control_points: int | str = "auto",
        concentration: float | None = None,
        regularization: float | None = None,
        points: str = "fixed",
        embedding: str = "stereographic",
        random_state: Any = None,
    ) -> None:
        self.kind = kind
        self.n_control_points = n_control_points
        self.concentration = concentration
        self.regularization = regularization
        self.points = points
        self.embedding = embedding
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit a head to rows of features.

        Parameters
        ----------
        X : array_like, shape (n_samples, n_features)
            Rows of features.
        y : array_like, shape (n_samples,) or (n_samples, n_outputs)
            What is to be predicted.
        sample_weight : array_like, shape (n_samples,), optional
            Weights of rows, at least 0 and not all 0, in all that is fitted or chosen; None means 1 each. A weight of 2
            counts as the row twice, 0 as if it were left out.

        Returns
        -------
        HeadRegressor
            Itself.

        Raises
        ------
        TypeError, ValueError
            If a parameter is out of its range, or X, y or weights are not finite numbers of these shapes.

        Examples
        --------
        >>> from spherapprox import HeadRegressor
        >>> model = HeadRegressor(concentration=2.0, regularization=0.1)
        >>> model.fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 9.0], sample_weight=[1.0, 1.0, 0.0]).head_  # two rows count
        SplitHead(n=2, dim=1, concentration=2)
        """
        # Step 1: check parameters and data
        family = FAMILIES[_checks.choice(self.kind, "kind", FAMILIES)]
        _checks.choice(self.embedding, "embedding", EMBEDDINGS)
        n = "auto" if self.n_control_points is None else self.n_control_points
        if isinstance(n, str):
            _checks.choice(n, "n_control_points", ("auto",))
        else:
            n = _checks.integer(n, "n_control_points", minimum=1)
        raw = np.asarray(y)
        label = next((item for item in raw.flat if isinstance(item, str)), None) if raw.dtype.kind in "OUT" else None
        if label is not None:
            raise TypeError(
                f"'y' must hold real numbers, got {str(label)!r}: for classes, fit the rows that "
                "sklearn.preprocessing.LabelBinarizer makes of them"
            )
        features, outputs = validate_data(self, X, y, dtype=np.float64, multi_output=True, y_numeric=True)
        weights = _checks.weights_for(sample_weight, "sample_weight", len(features))
        # Step 2: put the features on a sphere
        self.center_, self.scale_ = _center_and_scale(features, weights)
        rows = self._embed(features)  # (n_samples, dim+1)
        # Step 3: fit a head to the points
        recipe = fit_recipe(
            rows, outputs, self.points, n=n if isinstance(n, str) else min(n, len(rows)), normalize=family._normalize,
            concentration=self.concentration, regularization=self.regularization, weights=weights,
            rng=np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1)),
        )  # fmt: skip
        self.head_ = family(recipe.control_points, recipe.values, recipe.concentration)
        self.concentration_, self.regularization_ = recipe.concentration, recipe.regularization
        self.loo_error_ = recipe.error
        return self

    def predict(self, X: ArrayLike) -> Float64:
        """Predict outputs for rows of features.

        Parameters
        ----------
        X : array_like, shape (n_samples, n_features)
            Rows of features.

        Returns
        -------
        ndarray, shape (n_samples,) or (n_samples, n_outputs)

        Raises
        ------
        sklearn.exceptions.NotFittedError
            Before `fit`.
        ValueError
            If X does not hold finite numbers, as many features as in `fit`.
        """
        check_is_fitted(self)
        return np.asarray(self.head_(self._embed(validate_data(self, X, dtype=np.float64, reset=False))))

    def _embed(self, X: Float64) -> Float64:
        """Return rows of features as points of a sphere."""
        if self.embedding == "stereographic":
            with np.errstate(over="ignore"):
                moved = (X - self.center_) / self.scale_
            return np.asarray(sphere.inverse_stereographic(np.clip(moved, -_FAR, _FAR)))
        if X.shape[1] == 1:
            raise ValueError("'X' must have at least 2 features for embedding='normalize', got 1: use 'stereographic'")
        largest = np.abs(X).max(axis=1, keepdims=True)
        if not largest.all():
            row = int(np.argmin(largest))
            raise ValueError(f"'X' must have no row of zeros for embedding='normalize', got it in row {row}: drop it")
        scaled = X / largest
        return np.asarray(scaled / np.linalg.norm(scaled, axis=1, keepdims=True))


def _center_and_scale(X: Float64, weights: Float64) -> tuple[Float64, float]:
    """Return the mean of rows and the root of their mean squared distance from it, or 1; no square overflows."""
    X, weights = X[weights > 0.0], weights[weights > 0.0] / weights.max()
    size = math.ldexp(0.5, math.frexp(float(np.abs(X).max()))[1])  # a power of 2: quotients are exact
    rows = X / size
    center = np.average(rows, axis=0, weights=weights)
    scale = size * float(np.sqrt(np.average(np.square(rows - center).sum(axis=1), weights=weights)))
    return center * size, scale or 1.0
