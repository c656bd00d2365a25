"""The sphere S^m as rows of R^(m+1): geodesic distance, coordinates, the stereographic map and uniform samples.

Every function returns float64. The pole is the last axis, as everywhere in the package.
"""

from __future__ import annotations

from .coordinates import (
    from_latitude_longitude,
    from_polar,
    inverse_stereographic,
    stereographic,
    to_latitude_longitude,
    to_polar,
)
from .points import MAX_POINTS as MAX_POINTS
from .points import distance, uniform

__all__ = [
    "distance",
    "from_latitude_longitude",
    "from_polar",
    "inverse_stereographic",
    "stereographic",
    "to_latitude_longitude",
    "to_polar",
    "uniform",
]
