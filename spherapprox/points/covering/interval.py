"""A number known to lie between two ends."""

from __future__ import annotations

from typing import NamedTuple

from .._types import Float64


class Interval(NamedTuple):
    """Two numbers with the true one between them, and where the lower one was found.

    Parameters
    ----------
    lower : float
        A value that is attained.
    upper : float
        A proven upper bound, `lower` where the value is exact, inf where none is known.
    at : ndarray, shape (dim+1,)
        The point of the sphere where `lower` is attained.
    """

    lower: float
    upper: float
    at: Float64
