"""Handwritten digits as points on S^63."""

from __future__ import annotations

import numpy as np

from .. import _checks
from .._types import Float64


def digits() -> tuple[Float64, Float64]:
    """Return 1797 handwritten digits as points on S^63 and their labels, as data for `CoreHead.fit`.

    It is no `Target`: nothing is known of the function between these points, and it has no Lipschitz constant.

    Returns
    -------
    x : ndarray, shape (1797, 64)
        Images of 8 x 8 pixels with values from 0 to 16, over their lengths: brightness does not count.
    y : ndarray, shape (1797, 10)
        Column j is 1 for the images of digit j, else 0; ``y.argmax(axis=1)`` are the digits.

    Raises
    ------
    ImportError
        Without scikit-learn, the extra ``learn``, which carries the data.

    References
    ----------
    Alpaydin and Kaynak (1998), Optical recognition of handwritten digits, UCI Machine Learning Repository,
    doi:10.24432/C50P49; its test set, as bundled with scikit-learn.

    Examples
    --------
    >>> from spherapprox import targets
    >>> x, y = targets.digits()
    >>> x.shape, y.argmax(axis=1)[:4]
    ((1797, 64), array([0, 1, 2, 3]))
    """
    with _checks.needs("scikit-learn, which carries the data", "digits()", "learn"):
        from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    return images / np.linalg.norm(images, axis=1, keepdims=True), np.eye(10)[labels]
