"""Work cut into blocks of rows and done one after another or by threads; no result depends on their number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from typing import TypeVar

Block = TypeVar("Block")
Result = TypeVar("Result")


def slices(n: int, step: int) -> list[slice]:
    """Return slices of a length that cover 0, ..., n - 1."""
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def in_order(function: Callable[[Block], Result], blocks: Sequence[Block], workers: int) -> Iterator[Result]:
    """Yield a function's results in the order of the blocks; threads are never more than one round ahead."""
    workers = min(workers, len(blocks))
    if workers <= 1:
        yield from map(function, blocks)
        return
    queue = iter(blocks)
    with ThreadPoolExecutor(workers) as pool:
        while some := list(islice(queue, workers)):
            yield from list(pool.map(function, some))


def each_block(task: Callable[[slice], None], rows: int, size: int, workers: int) -> None:
    """Call the task for each block of `size` rows; an interruption waits for the blocks that run and drops the rest."""
    blocks = slices(rows, size)
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
