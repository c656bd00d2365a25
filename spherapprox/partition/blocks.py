"""Blocks of rows, one after another or on threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed


def each_block(task: Callable[[slice], None], rows: int, size: int, workers: int) -> None:
    """Call the task for each block of `size` rows; an interruption waits for the blocks that run and drops the rest."""
    blocks = [slice(low, min(low + size, rows)) for low in range(0, rows, size)]
    if workers == 1 or len(blocks) <= 1:
        for block in blocks:
            task(block)
        return
    pool = ThreadPoolExecutor(min(workers, len(blocks)))
    try:
        for future in as_completed([pool.submit(task, block) for block in blocks]):
            future.result()
    finally:
        pool.shutdown(cancel_futures=True)
