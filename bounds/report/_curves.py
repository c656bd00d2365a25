"""`Curves`: the ladder of prefix lengths along an axis of eps or of dim."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spherapprox._types import Float64

from ..theorems import THEOREMS


@dataclass(frozen=True)
class Curves:
    """log10 N of every theorem over an axis of eps or of dim; nan for the trivial bound.

    Parameters
    ----------
    over : {"eps", "dim"}
        What varies.
    axis : ndarray, shape (n,)
        Its values.
    fixed : float
        The value of the other one.
    log10 : dict of str to ndarray, shape (n,)
        Theorem -> the decimal logarithm of its prefix length.
    sides : dict of str to {"upper", "lower"}
        Theorem -> whether its prefix length suffices, or no fewer tokens do.

    Examples
    --------
    >>> import bounds
    >>> found = bounds.report.rungs.curves(0.1, dim=[2, 8])
    >>> found.over, found.axis, found.fixed, found.sides["sharp-core"]
    ('dim', array([2., 8.]), 0.1, 'upper')
    >>> found.log10["thesis-core"].round(1)  # needs dim >= 8
    array([  nan, 944.6])
    """

    over: str
    axis: Float64
    fixed: float
    log10: dict[str, Float64]
    sides: dict[str, str]

    def gap(self) -> tuple[Float64, Float64]:
        """Return the floor for heads made from N samples (4.5), and the least N proven for a split head.

        Returns
        -------
        floor : ndarray, shape (n,)
            Decimal logarithms; 0, one token, where the theorem says nothing.
        proven : ndarray, shape (n,)
            Decimal logarithms; nan where no theorem applies.

        Examples
        --------
        >>> import bounds
        >>> floor, proven = bounds.report.rungs.curves([0.1, 0.5], dim=8).gap()
        >>> floor.round(2), proven.round(2)
        (array([8.87, 3.37]), array([9.93, 4.93]))
        """
        proven = [y for name, y in self.log10.items() if THEOREMS[name].family == "split"]
        return np.nan_to_num(self.log10["lower"]), np.fmin.reduce(proven)
