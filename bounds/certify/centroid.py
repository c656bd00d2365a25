"""The core head at centroids, 4.D, in ball arithmetic: L E[theta^alpha] + L rho^alpha + F D2 <= eps."""

from __future__ import annotations

from ._moments import centroid_variation
from ._variation import by_variation

prove = by_variation(centroid_variation)
