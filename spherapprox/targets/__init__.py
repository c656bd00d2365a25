"""The catalogue of targets: real fields and test functions, each with exact or proven constants."""

from .analytic import bump, distance, zonal_harmonic
from .catalogue import make, names
from .constants import with_constants
from .digits import digits
from .geomagnetic import geomagnetic_coefficients, geomagnetic_field
from .landmask import land
from .magnetic_vector import geomagnetic_vector
from .random import random_bandlimited, random_smooth
from .vector import moving_frame, rotation_field, tangent_projection

__all__ = [
    "bump",
    "digits",
    "distance",
    "geomagnetic_coefficients",
    "geomagnetic_field",
    "geomagnetic_vector",
    "land",
    "make",
    "moving_frame",
    "names",
    "random_bandlimited",
    "random_smooth",
    "rotation_field",
    "tangent_projection",
    "with_constants",
    "zonal_harmonic",
]
