"""Argument guards: complaints about what a user passed that more than one place has, and how values are shown in all.

Every guard returns the value in the form that the computation wants (a Python int or float, a contiguous array), so
that a public function reads: check, compute, wrap.
"""

from .arguments import *  # noqa: F403
from .arrays import *  # noqa: F403
from .calls import *  # noqa: F403
from .concentrations import *  # noqa: F403
from .limits import *  # noqa: F403
from .scalars import *  # noqa: F403
from .shapes import *  # noqa: F403
