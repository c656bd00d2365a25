"""Targets by their names, those of the functions that make them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .. import _checks
from ..target import Target
from .analytic import bump, distance, zonal_harmonic
from .geomagnetic import geomagnetic_field
from .landmask import land
from .magnetic_vector import geomagnetic_vector
from .random import random_bandlimited, random_smooth
from .vector import moving_frame, rotation_field, tangent_projection

_MAKERS: tuple[Callable[..., Target], ...] = (
    geomagnetic_field, distance, zonal_harmonic, bump, geomagnetic_vector, land, rotation_field, tangent_projection,
    moving_frame, random_bandlimited, random_smooth,
)  # fmt: skip
_CATALOGUE = {maker.__name__: maker for maker in _MAKERS}  # those without an argument `dim` are on S^2


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
    maker = _CATALOGUE[_checks.choice(name, "name", _CATALOGUE)]
    dim = _checks.dimension((3 if maker is moving_frame else 2) if dim is None else dim)
    arguments = inspect.signature(maker).parameters
    if "dim" not in arguments:
        _checks.agreeing(dim, "dim", 2, source=f" for target '{name}'")
    own = [argument for argument in arguments if argument != "dim"]
    for option in options:
        if option not in own:
            names = ", ".join(map(repr, own)) or "none"
            hint = _checks.did_you_mean(option, own)
            raise TypeError(f"'{option}' is no option of target '{name}', which takes {names}{hint}")
    return maker(dim, **options) if "dim" in arguments else maker(**options)
