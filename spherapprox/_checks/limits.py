"""Guards of memory, work and threads: what would take too much is refused before it begins."""

from __future__ import annotations

import os

from .. import _threads
from .scalars import integer

MEMORY_LIMIT = 8 * 2**30  # bytes that one result may take before a function refuses to make it
OPERATION_LIMIT = 1e13  # operations that one call may take before a function refuses to begin: some hours


def memory(n_bytes: float, result: str, remedy: str) -> None:
    """Refuse a result larger than `MEMORY_LIMIT` before any of it is made."""
    if n_bytes > MEMORY_LIMIT:
        raise ValueError(
            f"{result} would take {n_bytes / 2**30:.3g} GiB, above the limit of {MEMORY_LIMIT / 2**30:.3g} GiB: "
            f"{remedy}"
        )


def operations(count: float, result: str, remedy: str, limit: float = OPERATION_LIMIT) -> None:
    """Refuse work of more operations than the limit before any of it is done."""
    if count > limit:
        raise ValueError(f"{result} would take {count:.3g} operations, above the limit of {limit:.3g}: {remedy}")


def workers(value: object) -> int | None:
    """Return the number of threads; -1 means all cores that this process may use, None leaves it to the work."""
    if value is None:
        if _threads.VARIABLE in os.environ:
            _threads.max_threads(None)  # refuses what it may say
        return None
    number = integer(value, "workers", minimum=-1)
    if number == 0:
        raise ValueError("'workers' must be at least 1, -1 for all cores, or None, got 0")
    return _threads.cores() if number < 0 else number
