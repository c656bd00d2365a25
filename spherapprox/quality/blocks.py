"""Work cut into blocks and done by threads, with results in the blocks' order, so that no number of threads shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

Result = TypeVar("Result")


def slices(n: int, step: int) -> list[slice]:
    """Return slices of a length that cover 0, ..., n - 1."""
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def in_order(function: Callable[[slice], Result], blocks: list[slice], workers: int) -> Iterator[Result]:
    """Yield a function's results in the order of the blocks; threads are never more than one round ahead."""
    workers = min(workers, len(blocks))
    if workers <= 1:
        yield from map(function, blocks)
        return
    queue = iter(blocks)
    with ThreadPoolExecutor(workers) as pool:
        while some := list(islice(queue, workers)):
            yield from list(pool.map(function, some))
