"""Land and sea: a discontinuous target from a public map."""

from __future__ import annotations

import functools
import importlib.resources

import numpy as np
from numpy.typing import NDArray

from .. import sphere
from .._types import Float64, Floats
from ..target import DERIVED, Target

_PER_DEGREE = 2  # cells of the map per degree


def land() -> Target:
    """Return the map of land (1) and sea (0), a discontinuous target.

    Returns
    -------
    Target
        On S^2, values 0.0 and 1.0. The last axis is the north pole, the first has longitude 0
        (`sphere.from_latitude_longitude` makes points).

    Notes
    -----
    Constant on the cells of a grid of half a degree: a cell is land if its centre is, in Natural Earth's countries at
    1:110 million [1]_. Lakes count as land, the Caspian Sea as sea, Antarctica with its ice shelves as land. 28.9 % of
    the sphere are land, and on 98.7 % of it a map at 1 km says the same.

    *Constants.* F = 1, exact. There is no modulus of continuity, so `lipschitz` is None: every head is continuous, and
    its sup error is at least 1/2, by its values on both sides of a shore. Means over the sphere or far from the shores
    are what can be small.

    References
    ----------
    .. [1] Natural Earth, https://www.naturalearthdata.com, public domain; data/README.

    Examples
    --------
    >>> from spherapprox import sphere, targets
    >>> nairobi_and_mid_atlantic = sphere.from_latitude_longitude([-1.3, 0.0], [36.8, -25.0])
    >>> targets.land()(nairobi_and_mid_atlantic)
    array([1., 0.])
    """
    return Target(_lookup, 2, sup_norm=1.0, name="land", provenance="sup norm exact; discontinuous", origins=DERIVED)


def _lookup(x: Floats) -> Float64:
    """Return the values of the cells that hold the points."""
    cells = _map()
    latitude, longitude = sphere.to_latitude_longitude(x)
    row = np.minimum(np.floor((90.0 - latitude) * _PER_DEGREE).astype(np.intp), len(cells) - 1)
    column = np.floor((longitude + 180.0) * _PER_DEGREE).astype(np.intp) % cells.shape[1]
    return np.asarray(cells[row, column], dtype=np.float64)


@functools.cache
def _map() -> NDArray[np.uint8]:
    """Read the map, (rows from north to south, columns from west to east)."""
    packed = importlib.resources.files("spherapprox").joinpath("data", "land.pbm").read_bytes()
    header, shape = b"P4\n720 360\n", (360, 720)
    if not packed.startswith(header) or len(packed) != len(header) + shape[0] * shape[1] // 8:
        raise RuntimeError("data/land.pbm is damaged: install spherapprox again")
    bits = np.frombuffer(packed, dtype=np.uint8, offset=len(header)).reshape(shape[0], -1)
    return np.unpackbits(bits, axis=1)
