"""The core head on any partition, 4.3, in ball arithmetic: L E[theta^alpha] + L rho^alpha + F D <= eps."""

from __future__ import annotations

from ._moments import shift_variation
from ._variation import by_variation

prove = by_variation(shift_variation)
