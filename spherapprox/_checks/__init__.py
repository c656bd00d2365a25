"""Argument guards: the only module that words a `ValueError` or `TypeError` about what a user passed.

Every guard returns the value in the form that the computation wants (a Python int or float, a contiguous array), so
that a public function reads: check, compute, wrap.
"""

from __future__ import annotations

from .arrays import (
    UNIT_TOLERANCE,
    callable_,
    called,
    destination,
    detached,
    floating,
    is_masked,
    is_vector,
    numeric,
    one_row,
    reals,
    rows,
    sequences,
    values_for,
)
from .limits import MEMORY_LIMIT, OPERATION_LIMIT, memory, operations, workers
from .notices import renamed, warn, warn_inaccurate
from .scalars import (
    MAX_COUNT,
    MAX_DIM,
    WHAT_DIM_IS,
    choice,
    concentration,
    did_you_mean,
    digits,
    dimension,
    flag,
    generator,
    inside,
    integer,
    is_real,
    no_bar,
    path,
    real,
    show,
)

__all__ = [
    "MAX_COUNT",
    "MAX_DIM",
    "MEMORY_LIMIT",
    "OPERATION_LIMIT",
    "UNIT_TOLERANCE",
    "WHAT_DIM_IS",
    "callable_",
    "called",
    "choice",
    "concentration",
    "destination",
    "detached",
    "did_you_mean",
    "digits",
    "dimension",
    "flag",
    "floating",
    "generator",
    "inside",
    "integer",
    "is_masked",
    "is_real",
    "is_vector",
    "memory",
    "no_bar",
    "numeric",
    "one_row",
    "operations",
    "path",
    "real",
    "reals",
    "renamed",
    "rows",
    "sequences",
    "show",
    "values_for",
    "warn",
    "warn_inaccurate",
    "workers",
]
