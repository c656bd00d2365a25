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
from .instruments import (
    from_azimuth_plunge,
    from_declination_inclination,
    from_right_ascension_declination,
    from_strike_dip,
    to_azimuth_plunge,
    to_declination_inclination,
    to_right_ascension_declination,
    to_strike_dip,
)
from .points import MAX_POINTS as MAX_POINTS
from .points import distance, uniform

__all__ = [
    "distance",
    "from_azimuth_plunge",
    "from_declination_inclination",
    "from_latitude_longitude",
    "from_polar",
    "from_right_ascension_declination",
    "from_strike_dip",
    "inverse_stereographic",
    "stereographic",
    "to_azimuth_plunge",
    "to_declination_inclination",
    "to_latitude_longitude",
    "to_polar",
    "to_right_ascension_declination",
    "to_strike_dip",
    "uniform",
]
