"""The record of a sup error: a lower bound with the point where it was seen, and an upper bound."""

from __future__ import annotations

from dataclasses import dataclass

from .._types import Float64
from .certificate import Certificate


@dataclass(frozen=True, eq=False)
class ErrorInterval:
    """Enclose a sup error between the largest error seen and an upper bound, which is proven or inf.

    Parameters
    ----------
    lower : float
        The largest error seen.
    upper : float
        No error is larger; inf unless certified.
    at : ndarray, shape (dim+1,)
        The point where `lower` was seen.
    certificate : Certificate, optional
        The proof of `upper`, or why there is none; None if none was asked for.

    Examples
    --------
    >>> from spherapprox import Target, sup_error
    >>> interval = sup_error(lambda x: x[:, 2], Target(lambda x: 0.0 * x[:, 2], 2), n=500)
    >>> round(interval.lower, 6), interval.upper, abs(interval.at.round(3)).tolist()
    (1.0, inf, [0.0, 0.0, 1.0])
    """

    lower: float
    upper: float
    at: Float64
    certificate: Certificate | None = None

    @property
    def reason(self) -> str:
        """Why `upper` is no better; empty where the slack asked for was reached."""
        return "no certificate was asked for: certified=True" if self.certificate is None else self.certificate.reason
