"""The modules of kernels, imported at their first use: numba takes longer than what many a process does."""

from typing import TYPE_CHECKING

__all__ = ["ascent", "bundles", "cap", "circle", "collars", "descent", "diameters", "largest", "location", "sweep"]

if TYPE_CHECKING:
    from .._kernels.partition import ascent, bundles, cap, circle, collars, descent, diameters, largest, location, sweep
else:
    from .._loading import Later

    ascent, bundles, cap, circle, collars, descent, diameters, largest, location, sweep = (
        Later(f"spherapprox._kernels.partition.{name}") for name in __all__
    )
