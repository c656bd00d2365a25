"""The catalogue of targets: real fields and test functions, each with exact or proven constants."""

from . import analytic, constants, geomagnetic, igrf, landmask, magnetic_vector, random, vector
from .analytic import *  # noqa: F403
from .catalogue import make, names
from .constants import *  # noqa: F403
from .digits import digits
from .geomagnetic import *  # noqa: F403
from .igrf import *  # noqa: F403
from .landmask import *  # noqa: F403
from .magnetic_vector import *  # noqa: F403
from .random import *  # noqa: F403
from .vector import *  # noqa: F403

__all__ = ["digits", "make", "names"]
__all__ += analytic.__all__
__all__ += constants.__all__
__all__ += geomagnetic.__all__
__all__ += igrf.__all__
__all__ += landmask.__all__
__all__ += magnetic_vector.__all__
__all__ += random.__all__
__all__ += vector.__all__
