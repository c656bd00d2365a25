"""Targets by their names: the rows that the modules of targets state beside their functions."""

from __future__ import annotations

from typing import Any

from .. import _checks
from ..target import Target
from . import analytic, geomagnetic, landmask, magnetic_vector, random, vector
from .entry import Entry

_MODULES = (geomagnetic, analytic, magnetic_vector, landmask, vector, random)
_CATALOGUE: dict[str, Entry] = {entry.name: entry for module in _MODULES for entry in module.CATALOGUE}


def names() -> tuple[str, ...]:
    """List the names of the catalogue's targets, for `make`.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> from spherapprox import targets
    >>> targets.names()[:4]
    ('geomagnetic_field', 'distance', 'zonal_harmonic', 'bump')
    """
    return tuple(_CATALOGUE)


def make(name: str, *, dim: int | None = None, **options: Any) -> Target:
    """Make a target of the catalogue by its name.

    Parameters
    ----------
    name : str
        One of `names`.
    dim : int, optional
        m of the sphere S^m; by default 2, and 3 for moving_frame.
    **options
        The target's own arguments, such as ``year``, ``frame``, ``degree``, ``concentration`` or ``pole``.

    Returns
    -------
    Target

    Raises
    ------
    ValueError
        If there is no such target, or not on this sphere.
    TypeError
        If the target does not take an option.

    Examples
    --------
    >>> from spherapprox import targets
    >>> targets.make("bump", dim=8, concentration=3).dim
    8
    """
    entry = _CATALOGUE[_checks.choice(name, "name", _CATALOGUE)]
    dim = _checks.dimension(entry.dim if dim is None else dim)
    everywhere = "dim" in entry.arguments
    if not everywhere:
        _checks.agreeing(dim, "dim", entry.dim, f" for target '{name}'")
    takes = [argument for argument in entry.arguments if argument != "dim"]
    for option in options:
        if option not in takes:
            names = ", ".join(map(repr, takes)) or "none"
            hint = _checks.did_you_mean(option, takes)
            raise TypeError(f"'{option}' is no option of target '{name}', which takes {names}{hint}")
    return entry.maker(dim, **options) if everywhere else entry.maker(**options)
