"""The catalogue of targets: a real field and test functions, each with exact or proven constants."""

from .analytic import bump, distance, zonal_harmonic
from .catalogue import make, names
from .geomagnetic import geomagnetic_coefficients, geomagnetic_field
from .random import random_bandlimited, random_smooth

__all__ = [
    "bump",
    "distance",
    "geomagnetic_coefficients",
    "geomagnetic_field",
    "make",
    "names",
    "random_bandlimited",
    "random_smooth",
    "zonal_harmonic",
]
