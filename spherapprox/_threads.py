"""Work cut into blocks of rows and done one after another or by threads; no result depends on their number."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from contextvars import copy_context
from functools import lru_cache
from queue import SimpleQueue
from typing import Any, TypeVar

from ._loading import renewed_by_fork

Block = TypeVar("Block")
Result = TypeVar("Result")

VARIABLE = "SPHERAPPROX_WORKERS"  # the environment variable that sets how many threads ``workers=None`` takes
_BLAS = threading.Lock()
_here = threading.local()
_limited: list[Any] = []  # the limit of BLAS' threads, once for each block that wants it at present
WORTH = 3e-3  # seconds of work from which on ``workers=None`` takes more than one thread


@renewed_by_fork
def _new_lock() -> None:
    global _BLAS  # noqa: PLW0603
    _BLAS = threading.Lock()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS have one thread, in the whole process, until the last of such blocks ends, in whatever thread."""
    with _BLAS:
        _limited.append(_limited[0] if _limited else _limit())
    try:
        yield
    finally:
        with _BLAS:
            limit = _limited.pop()
            if not _limited:
                _release()
                limit.restore_original_limits()
                _release()


def _limit() -> Any:
    _release()
    return _controller(len(sys.modules)).limit(limits=1, user_api="blas")


def _release() -> None:
    """Let any thread set the number of threads: from 3.8 on threadpoolctl silently heeds one alone, while it lives."""
    from threadpoolctl import OpenBLASController

    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


@lru_cache(1)
def _controller(modules: int) -> Any:
    """Find the BLAS libraries of this process, which takes milliseconds: again only if it has loaded modules since."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def slices(n: int, step: int) -> list[slice]:
    """Return slices of a length that cover 0, ..., n - 1."""
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]


def cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def max_threads(workers: int | None) -> int:
    """Return the largest number of threads that a call may take; None stands for the environment's, or all cores.

    In a process or a thread of joblib, Dask or multiprocessing it stands for one: other workers take the other cores.
    """
    if workers is not None:
        return workers
    if getattr(_here, "shared", False):  # one of our own threads, beside others
        return 1
    if threading.current_thread() is not threading.main_thread() or multiprocessing.parent_process() is not None:
        return 1
    setting = os.environ.get(VARIABLE, "").strip()
    if not setting:
        return cores()
    if not setting.isdecimal() or len(setting) > 6 or int(setting) == 0:
        raise ValueError(
            f"the environment variable {VARIABLE} must be a number of threads, 1 or more, got {setting!r:.60}"
        )
    return int(setting)


def for_work(workers: int | None, seconds: float) -> int:
    """Return the number of threads for work that takes one of them so long."""
    return 1 if workers is None and seconds <= WORTH else max_threads(workers)


def in_order(
    function: Callable[[Block], Result], blocks: Sequence[Block], workers: int | None
) -> Generator[Result, None, None]:
    """Yield a function's results in the order of the blocks; threads are never more than one round ahead."""
    count = yield from _alone(function, blocks, workers)
    if count == len(blocks):
        return
    threads, queue = min(max_threads(workers), len(blocks) - count), iter(blocks[count:])
    pool = ThreadPoolExecutor(threads)
    try:
        ahead: deque[Future[Result]] = deque()
        for block in queue:
            ahead.append(pool.submit(function, block))
            if len(ahead) > 2 * threads:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def as_done(
    function: Callable[[Block], Result], blocks: Sequence[Block], workers: int | None
) -> Generator[Result, None, None]:
    """Yield results of a function over blocks in the order of completion; an interruption drops blocks not begun.

    This thread does blocks too: it is awake already, and need not wake up for each block that another has done.
    """
    count = yield from _alone(function, blocks, workers)
    todo, inbox = deque(blocks[count:]), SimpleQueue[tuple[Result | None, BaseException | None]]()
    remaining = len(todo)
    ended, helpers = SimpleQueue[None](), 0

    def do_blocks() -> None:
        while _do_next(function, todo, inbox):
            pass
        ended.put(None)

    try:
        for _ in range(min(max_threads(workers), remaining) - 1):
            # Thread.start would wait until it runs; the context has NumPy's handling of errors
            start_new_thread(copy_context().run, (do_blocks,))
            helpers += 1
        for _ in range(remaining):
            if inbox.empty():
                _do_next(function, todo, inbox)
            result, error = inbox.get()
            if error is not None:
                raise error
            yield result  # type: ignore[misc]
    finally:
        todo.clear()
        for _ in range(helpers):
            ended.get()


def _do_next(function: Callable[[Any], Any], todo: deque[Any], inbox: SimpleQueue[Any]) -> bool:
    """Do the next block, if one is left, and put its result or its error where it is found."""
    try:
        block = todo.popleft()
    except IndexError:
        return False
    before = getattr(_here, "shared", False)
    try:
        _here.shared = True
        inbox.put((function(block), None))
    except BaseException as error:
        todo.clear()
        inbox.put((None, error))
    finally:
        _here.shared = before
    return True


def interruptible(function: Callable[[], Result]) -> Result:
    """Return a function's result, from a thread of its own: an interruption ends the wait, as LAPACK heeds none."""
    if threading.current_thread() is not threading.main_thread():  # which alone is interrupted
        return function()
    inbox = SimpleQueue[tuple[Any, BaseException | None]]()
    start_new_thread(copy_context().run, (_do_next, lambda _: function(), deque([None]), inbox))
    result, error = inbox.get()
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]


def each_block(task: Callable[[slice], None], rows: int, size: int, workers: int | None) -> None:
    """Call the task for each block of `size` rows; an interruption waits for the blocks that run and drops the rest."""
    with closing(as_done(task, slices(rows, size), workers)) as results:
        for _ in results:
            pass


def _alone(
    function: Callable[[Block], Result], blocks: Sequence[Block], workers: int | None
) -> Generator[Result, None, int]:
    """Yield the results of the first blocks, computed on this thread, and return their number.

    With a stated number of workers it is all or none, with None until the others seem to take longer than `WORTH`.
    """
    threaded = len(blocks) > 1 and max_threads(workers) > 1
    if threaded and workers is not None:
        return 0
    begin = time.perf_counter()
    for count, block in enumerate(blocks, 1):
        yield function(block)
        if threaded and (time.perf_counter() - begin) * (len(blocks) - count) > WORTH * count:
            return count
    return len(blocks)
