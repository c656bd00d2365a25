"""Argument guards: complaints about what a user passed that more than one place has, and how values are shown in all.

Every guard returns the value in the form that the computation wants (a Python int or float, a contiguous array), so
that a public function reads: check, compute, wrap.
"""

from __future__ import annotations

from .arguments import agreeing as agreeing
from .arguments import given as given
from .arguments import instance as instance
from .arguments import left_out as left_out
from .arguments import needs as needs
from .arguments import not_both as not_both
from .arrays import UNIT_TOLERANCE as UNIT_TOLERANCE
from .arrays import concentration_text as concentration_text
from .arrays import concentrations as concentrations
from .arrays import detached as detached
from .arrays import floating as floating
from .arrays import is_masked as is_masked
from .arrays import is_vector as is_vector
from .arrays import non_negative_for_log as non_negative_for_log
from .arrays import numeric as numeric
from .arrays import one_concentration as one_concentration
from .arrays import one_row as one_row
from .arrays import reals as reals
from .arrays import remedy_of_dim as remedy_of_dim
from .arrays import rows as rows
from .arrays import sequences as sequences
from .arrays import values_for as values_for
from .arrays import weights_for as weights_for
from .calls import callable_ as callable_
from .calls import called as called
from .calls import destination as destination
from .limits import MEMORY_LIMIT as MEMORY_LIMIT
from .limits import memory as memory
from .limits import operations as operations
from .limits import workers as workers
from .modules import obstacle as obstacle
from .modules import stock as stock
from .notices import warn as warn
from .notices import warn_inaccurate as warn_inaccurate
from .scalars import MAX_COUNT as MAX_COUNT
from .scalars import MAX_DIM as MAX_DIM
from .scalars import WHAT_DIM_IS as WHAT_DIM_IS
from .scalars import choice as choice
from .scalars import concentration as concentration
from .scalars import did_you_mean as did_you_mean
from .scalars import digits as digits
from .scalars import dimension as dimension
from .scalars import flag as flag
from .scalars import generator as generator
from .scalars import integer as integer
from .scalars import path as path
from .scalars import real as real
from .scalars import show as show
from .scalars import upper_text as upper_text
from .scalars import wrong_type as wrong_type
from .shapes import broadcast_shape as broadcast_shape
from .shapes import same_dim as same_dim
from .shapes import same_sphere as same_sphere
from .shapes import shaped as shaped
