"""Names of the kinds of arrays, one for each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
"""Of any kind, objects too."""
Floats = NDArray[np.floating[Any]]
"""float32 or float64, as the caller's arrays are."""
Float64 = NDArray[np.float64]
Float32 = NDArray[np.float32]
Complex128 = NDArray[np.complex128]
Int64 = NDArray[np.int64]
Int32 = NDArray[np.int32]
Indices = NDArray[np.intp]
Bools = NDArray[np.bool_]
Seed = np.random.Generator | int | None
"""A source of randomness: a generator, the seed of one, or None for a fresh one."""
