"""What estimators of directions share: what they are given, read once, and their tags."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _checks
from ..._types import Float64
from ..rows import read_rows

with _checks.needs("scikit-learn 1.6 or newer", "estimators of directions", "learn"):
    from sklearn.base import BaseEstimator
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import validate_data


class DirectionalEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator of rows that may be sparse."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _read(self, X: Any, sample_weight: Any, *, reset: bool = False) -> tuple[Any, Float64]:
        """Return rows and their weights."""
        rows = read_directions(self, X, reset=reset)
        return rows, read_weights(rows, sample_weight)


def read_directions(estimator: Any, X: Any, *, reset: bool = False) -> Any:
    """Return `Rows` or `LazyRows`; the estimator keeps the number and names of columns (`reset`) or compares them."""
    if hasattr(X, "to_delayed") and hasattr(X, "numblocks"):  # an array of Dask, which stays where it is
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return read_rows(X)
    X = _checks.detached(X)
    if isinstance(X, np.ndarray) and X.dtype.kind not in "bcO":
        _checks.numeric(X, "X")  # refuses masks, dates and texts
    if str(getattr(X, "dtype", "")).endswith("float16"):
        X = np.asarray(X, dtype=np.float32)
    options = {"dtype": [np.float64, np.float32], "accept_sparse": "csr", "ensure_all_finite": False}
    try:
        return read_rows(validate_data(estimator, X, reset=reset, ensure_min_features=1 + reset, **options))
    except (OverflowError, TypeError, ValueError) as error:
        if str(error).startswith(("'X'", "X ", "The feature names")):
            raise
        text = " ".join(line for line in str(error).splitlines() if not line.startswith(("array=", "[", " ")))
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"'X' must hold rows of real numbers, got {_checks.show(X)}: {text[:300]}") from None


def check_kept(estimator: Any, name: str, fitted: int) -> None:
    """Refuse a number of parts that is not the fitted one, with which `partial_fit` goes on."""
    if (value := getattr(estimator, name)) != fitted:
        raise ValueError(f"'{name}' must stay {fitted} in partial_fit, as fitted, got {value}: fit begins anew")


def read_random_state(value: Any) -> Any:
    """Return scikit-learn's source of randomness."""
    if value is not None and not isinstance(value, np.random.RandomState):
        value = _checks.integer(value, "random_state", minimum=0, maximum=2**32 - 1)
    return check_random_state(value)


def read_weights(rows: Any, sample_weight: Any) -> Float64:
    """Return the weights of rows (n,), 0 of those without a direction, and say so in a warning."""
    weights = _checks.weights_for(sample_weight, "sample_weight", len(rows))
    if not 1e-300 < (top := float(weights.max())) < 1e300 / len(rows):
        raise ValueError(f"'sample_weight' must have its largest from 1e-300 to 1e300 / n, got {top:g}: divide by it")
    present = rows.present()
    if not present.all():
        row, count = int(np.argmin(present)), len(rows) - int(present.sum())
        text = f"'X' has rows of zeros, which have no direction: {count}, row {row} first, are left out; drop them"
        _checks.warn(text, UserWarning)
        weights = np.where(present, weights, 0.0)
        if not weights.any():
            raise ValueError("'X' must have rows that have a direction and a weight above 0, got none")
    return weights


def read_start(init: Any, shape: tuple[int, int]) -> Float64:
    """Return first directions that are given, of length 1."""
    first = read_rows(_checks.floating(_checks.detached(init), "init", shape), "init")
    if not first.present().all():
        raise ValueError("'init' must have rows that have a direction, got a row of zeros")
    return np.asarray(first.unit(), dtype=np.float64)
