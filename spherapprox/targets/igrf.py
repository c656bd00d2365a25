"""IGRF-14, the model of the Earth's main magnetic field: its Gauss coefficients by year."""

from __future__ import annotations

import functools
import importlib.resources
import math

import numpy as np

from .. import _checks, harmonics
from .._types import Float64, Floats

__all__ = ["geomagnetic_coefficients"]

_FIRST_YEAR, _LAST_YEAR, _PREDICTED_FROM = 1900.0, 2030.0, 2025.0
"""The years that IGRF-14 covers, and the start of its predictive part."""


def geomagnetic_coefficients(year: float = 2025.0) -> Float64:
    """Return IGRF-14's Gauss coefficients for a year.

    Parameters
    ----------
    year : float, default 2025.0
        Decimal year in [1900, 2030]; beyond 2025 the model predicts, and a `UserWarning` says so.

    Returns
    -------
    ndarray, shape (196,)
        In nanotesla, for Schmidt's semi-normalised harmonics to degree 13 in the order of `harmonics`: entry
        ``n*n + n + m`` is g_n^m, entry ``n*n + n - m`` is h_n^m. Entry 0 is 0.

    Raises
    ------
    ValueError
        If `year` is outside [1900, 2030].

    Examples
    --------
    >>> from spherapprox import harmonics, targets
    >>> float(targets.geomagnetic_coefficients(2025)[harmonics.column(1, 0)])
    -29350.0
    """
    return gauss_coefficients(check_year(year))


def check_year(year: float) -> float:
    """Check a year of IGRF-14, and warn in its predictive part."""
    year = _checks.real(
        year, "year", minimum=_FIRST_YEAR, maximum=_LAST_YEAR, why="IGRF-14 covers the years 1900 to 2030"
    )
    if year > _PREDICTED_FROM:
        message = (
            f"IGRF-14 predicts the field after {_PREDICTED_FROM:g} (year = {year:g}): a later generation will differ"
        )
        _checks.warn(message, UserWarning)
    return year


def gauss_coefficients(year: float) -> Float64:
    """Return the Gauss coefficients of a year, linear between the epochs (spline order 2)."""
    epochs, table = _igrf()
    i = min(int(np.searchsorted(epochs, year, side="right")) - 1, len(epochs) - 2)
    part = (year - epochs[i]) / (epochs[i + 1] - epochs[i])
    return np.asarray((1.0 - part) * table[:, i] + part * table[:, i + 1])


def radial_coefficients(year: float) -> Float64:
    """Return the coefficients of B_r at r = a, in microtesla, for Schmidt's harmonics."""
    degree = harmonics.degrees(math.isqrt(len(_igrf()[1])) - 1)
    return 1e-3 * (degree + 1.0) * gauss_coefficients(year)


def sum_harmonics(coefficients: Float64, x: Floats) -> Float64:
    """Evaluate the sum of Schmidt's harmonics with these coefficients."""
    return harmonics.synthesize(coefficients, x, normalization="schmidt")


@functools.cache
def _igrf() -> tuple[Float64, Float64]:
    """Read IGRF-14: its epochs, and the coefficients in the order of `harmonics`, (columns, epochs)."""
    text = importlib.resources.files("spherapprox").joinpath("data", "IGRF14.shc").read_text(encoding="ascii")
    header, epochs, *lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    _, max_degree, n_epochs, spline_order = map(int, header[:4])
    table = np.zeros(((max_degree + 1) ** 2, n_epochs))
    for degree, order, *values in lines:
        table[harmonics.column(int(degree), int(order))] = [float(value) for value in values]
    if len(lines) != len(table) - 1 or len(epochs) != n_epochs or spline_order != 2:
        raise RuntimeError("data/IGRF14.shc is damaged: install spherapprox again")
    return np.array(epochs, dtype=np.float64), table
