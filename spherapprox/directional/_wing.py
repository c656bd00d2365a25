"""What the core asks of this wing: kinds of saved objects, and calls that compile."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

SAVED: tuple[type, ...] = ()


def _nearest_centres() -> None:
    from .clusters import label
    from .rows import read_rows

    for columns, kind in product((3, 30), (np.float32, np.float64)):  # few and many columns
        label(read_rows(np.eye(columns, dtype=kind)), np.eye(columns))


TASKS: dict[str, Callable[[], None]] = {"nearest centres": _nearest_centres}
"""The wing's own compiled code."""
