r"""Real spherical harmonics on S^2 and hyperspherical ones on S^m: values, sums, derivatives, projection, maxima.

Order of columns
    Column ``k*k + k + m`` belongs to degree k = 0, 1, ... and order m = -k, ..., k (`column` computes it), so a table
    to degree K has ``(K+1)**2`` columns.

Functions
    With colatitude theta from the last axis and longitude phi from the first axis towards the second,
    ``Y_k^m = P_k^m(cos theta) cos(m phi)`` for m >= 0 and ``Y_k^m = P_k^|m|(cos theta) sin(|m| phi)`` for m < 0.
    There is no Condon-Shortley phase: ``P_k^m`` is a positive constant times
    ``sin(theta)^m (d/dt)^m P_k(t)`` at t = cos theta.

Normalisation
    - ``"schmidt"`` (semi-normalised, as in geomagnetism): ``sum_m Y_k^m(x)^2 = 1``, the mean of ``(Y_k^m)^2`` over the
      sphere is ``1/(2k+1)``, and ``P_k^0`` is the Legendre polynomial.
    - ``"orthonormal"``: orthonormal for the normalised measure (total 1), geodesy's "4 pi" normalisation;
      ``sqrt(2k+1)`` times Schmidt's.
    - ``"surface"``: orthonormal for the surface measure (total 4 pi); ``sqrt((2k+1)/(4 pi))`` times Schmidt's.

Everything is computed and returned in float64. Rows are points by their direction: their length, which may differ from
1 by rounding, does not enter. At the poles longitude is taken as 0, and tables have exact values there.
"""

from __future__ import annotations

from .columns import NORMALIZATIONS, column, degrees
from .derivatives import PolynomialDerivatives
from .forms import TangentDerivatives as TangentDerivatives
from .hyperspherical import hyperspherical_degrees, hyperspherical_harmonics, zonal_harmonic
from .maximum import BandlimitedMaximum as BandlimitedMaximum
from .maximum import bandlimited_maximum
from .projection import project
from .spherical import associated_legendre, gradient, real_spherical_harmonics, synthesize

__all__ = [
    "NORMALIZATIONS",
    "PolynomialDerivatives",
    "associated_legendre",
    "bandlimited_maximum",
    "column",
    "degrees",
    "gradient",
    "hyperspherical_degrees",
    "hyperspherical_harmonics",
    "project",
    "real_spherical_harmonics",
    "synthesize",
    "zonal_harmonic",
]
