"""Targets by their names."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .. import _checks
from ..target import Target
from .analytic import bump, distance, zonal_harmonic
from .geomagnetic import geomagnetic_field, geomagnetic_vector
from .landmask import land
from .random import random_bandlimited, random_smooth
from .vector import FRAMED, moving_frame, rotation_field, tangent_projection

_CATALOGUE: dict[str, Callable[..., Target]] = {
    "geomagnetic_field": geomagnetic_field,
    "distance": distance,
    "zonal_harmonic": zonal_harmonic,
    "bump": bump,
    "geomagnetic_vector": geomagnetic_vector,
    "land": land,
    "rotation_field": rotation_field,
    "tangent_projection": tangent_projection,
    "moving_frame": moving_frame,
    "random_bandlimited": random_bandlimited,
    "random_smooth": random_smooth,
}
"""What `make` knows by name."""

_ONLY_DIM = {"geomagnetic_field": 2, "geomagnetic_vector": 2, "land": 2}
"""Targets that exist on one sphere."""

_DEFAULT_DIM = {"moving_frame": FRAMED[1]}
"""Where it is not 2."""


def names() -> tuple[str, ...]:
    """Return the names of the catalogue's targets, for `make`.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> from spherapprox import targets
    >>> targets.names()
    ('geomagnetic_field', 'distance', 'zonal_harmonic', 'bump', 'geomagnetic_vector', 'land', 'rotation_field',
     'tangent_projection', 'moving_frame', 'random_bandlimited', 'random_smooth')
    """
    return tuple(_CATALOGUE)


def make(name: str, *, dim: int | None = None, **options: Any) -> Target:
    """Return a target of the catalogue by its name.

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
    maker = _CATALOGUE[_checks.choice(name, "name", _CATALOGUE)]
    only = _ONLY_DIM.get(name)
    dim = _checks.dimension((only or _DEFAULT_DIM.get(name, 2)) if dim is None else dim)
    if only is not None and dim != only:
        raise ValueError(f"'dim' must be {only} for target '{name}', got {dim}: leave it out")
    takes = [option for option in inspect.signature(maker).parameters if option != "dim"]
    for option in options:
        if option not in takes:
            known = ", ".join(map(repr, takes)) or "none"
            hint = _checks.did_you_mean(option, takes)
            raise TypeError(f"'{option}' is no option of target '{name}', which takes {known}{hint}")
    return maker(**options) if only is not None else maker(dim, **options)
