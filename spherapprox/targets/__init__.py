"""The catalogue of targets: a real field and test functions, each with exact or proven constants."""

from .analytic import bump, distance, zonal_harmonic
from .catalogue import make, names
from .digits import digits
from .geomagnetic import geomagnetic_coefficients, geomagnetic_field

__all__ = [
    "bump",
    "digits",
    "distance",
    "geomagnetic_coefficients",
    "geomagnetic_field",
    "make",
    "names",
    "zonal_harmonic",
]
