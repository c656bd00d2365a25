"""The tasks of a sum on a Dask cluster: sent a bounded number at a time, their results united in a fixed tree."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

import dask
import numpy as np
from dask.distributed import Client, Future, KilledWorker, LocalCluster, Status, as_completed, default_client

from ... import _checks
from ..._threads import cores, slices
from ..._types import Floats
from .sources import Piece, is_dask
from .tasks import Recipe, Sizes, State, result_of, state_of, union

T = TypeVar("T")

START = 60.0
"""Seconds in which a worker of an own cluster has to appear."""
CLOSING = 20.0
"""Seconds in which such a cluster has to end."""

DEAF = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
"""What workers of an own cluster run first: an interruption from the terminal is for this process to handle."""


@dataclass(frozen=True)
class Job:
    """What is to be done: `pieces` yields the ranges of n control points, `count` in all, anew for each range of x."""

    recipe: Recipe
    x: Floats
    dtype: np.dtype[Any]
    sizes: Sizes
    pieces: Callable[[], Iterator[Piece]]
    count: int
    n: int


@dataclass
class Tree:
    """States of consecutive parts, united with their neighbours as they come, in a way that only `count` decides."""

    recipe: Recipe
    count: int
    waiting: dict[tuple[int, int], State] = field(default_factory=dict)

    def add(self, index: int, state: State) -> State | None:
        """Take in part `index`; return the state of all parts once the last has come."""
        level, count = 0, self.count
        while count > 1:
            sibling = index ^ 1
            if sibling < count:
                other = self.waiting.pop((level, sibling), None)
                if other is None:
                    self.waiting[level, index] = state
                    return None
                state = union(self.recipe, *((state, other) if index < sibling else (other, state)))
            level, index, count = level + 1, index // 2, (count + 1) // 2
        return state


@dataclass(frozen=True)
class _Group:
    """Tasks whose results are united on a worker; the state of `rows` then enters their tree as part `index`."""

    rows: slice
    tree: Tree
    index: int
    leaves: list[Future]
    whole: Future


@contextmanager
def connected(client: object, n_workers: object) -> Iterator[Client]:
    """Yield the client given, else the current one, else one of a cluster of processes that lives as long as this."""
    if client is not None and n_workers is not None:
        raise ValueError(
            f"'n_workers' must be left out if 'client' is given, got {_checks.show(n_workers)}: its cluster has workers"
        )
    if client is None and n_workers is None:
        with suppress(ValueError):
            client = default_client()
    if client is not None:
        if not isinstance(client, Client) or client.asynchronous:
            raise TypeError(f"'client' must be a synchronous dask.distributed.Client, got {_checks.show(client)}")
        yield client
        return
    wanted = _checks.integer(-1 if n_workers is None else n_workers, "n_workers", minimum=-1)
    if wanted == 0:
        raise ValueError("'n_workers' must be at least 1, or -1 for all cores, got 0")
    n = cores() if wanted < 0 else wanted
    options = {"processes": True, "dashboard_address": "127.0.0.1:0", "scheduler_kwargs": {"dashboard": False}}
    # no workers at first, so that an interruption while they start finds a cluster to close
    cluster = LocalCluster(n_workers=0, threads_per_worker=1, memory_limit=1.0 / n, preload=[DEAF], **options)
    try:
        with Client(cluster, set_as_default=False) as own:
            cluster.scale(n)
            _await_one(own, cluster)
            yield own
    finally:
        with suppress(TimeoutError):  # Dask of 2024 waits forever for a worker that has not started
            cluster.close(timeout=CLOSING)


def _await_one(client: Client, cluster: LocalCluster) -> None:
    """Wait for the first worker."""
    deadline = time.monotonic() + START
    while not threads(client):
        if any(worker.status == Status.failed for worker in cluster.workers.values()) or time.monotonic() > deadline:
            raise RuntimeError(
                "no worker process has started: a script must call this under "
                'if __name__ == "__main__":, since every process loads it anew'
            )
        time.sleep(0.02)


def threads(client: Client) -> int:
    """Return how many threads the workers have that are there now."""
    return sum(client.nthreads().values())


@dataclass
class Run:
    """A job under way: `flight` holds the groups of tasks that are not done, `pairs` what each of their tasks takes."""

    client: Client
    job: Job
    report: Callable[..., None]
    result: Floats
    flight: dict[str, _Group] = field(default_factory=dict)
    pairs: dict[str, int] = field(default_factory=dict)
    threads: int = 0
    counted: float = -math.inf

    def carry_out(self) -> Floats:
        """Return the result; if anything goes wrong, what is under way is cancelled."""
        arrivals, groups = as_completed(loop=self.client.loop), self._groups()
        self.report(0, total=len(self.job.x) * self.job.n)
        try:
            while True:
                for group in islice(groups, self._room()):
                    arrivals.update({future.key: future for future in (*group.leaves, group.whole)}.values())
                if not self.flight:
                    return self.result
                self._take(arrivals.next_batch())
        finally:
            groups.close()
            self.client.cancel([f for group in self.flight.values() for f in (*group.leaves, group.whole)])

    def _room(self) -> int:
        """Return how many groups can be sent, so that all threads have work and little waits."""
        if time.monotonic() > self.counted + 1.0:
            self.threads, self.counted = threads(self.client), time.monotonic()
        fan = self.job.sizes.fan
        wanted = max(2 * fan, 3 * self.threads + fan)
        return max(0, wanted - sum(len(group.leaves) for group in self.flight.values())) // fan

    def _groups(self) -> Generator[_Group, None, None]:
        """Send groups of tasks, one for each that is asked for."""
        recipe = self.client.submit(_same, self.job.recipe, pure=False)
        fan = self.job.sizes.fan
        for rows in slices(len(self.job.x), self.job.sizes.rows):
            x = self._send(_same, self.job.x[rows])
            pieces, tree = self.job.pieces(), Tree(self.job.recipe, -(-self.job.count // fan))
            for index in range(tree.count):
                some = list(islice(pieces, fan))
                leaves = self._leaves(recipe, x, some)
                whole = leaves[0] if len(leaves) == 1 else self._send(union, recipe, *leaves, priority=1)
                group = self.flight[whole.key] = _Group(rows, tree, index, leaves, whole)
                for leaf, piece in zip(leaves, some, strict=True):
                    self.pairs[leaf.key] = (rows.stop - rows.start) * (piece.stop - piece.start)
                yield group

    def _leaves(self, recipe: Future, x: Future, pieces: list[Piece]) -> list[Future]:
        """Send the tasks of some ranges of control points; data goes with them, so that it can be sent again."""

        def ready(arrays: list[Any]) -> list[Any]:
            return [self.client.compute(array) if is_dask(array) else array for array in arrays]

        rows, tables = ready([piece.rows for piece in pieces]), ready([piece.table for piece in pieces])
        starts, stops = [piece.start for piece in pieces], [piece.stop for piece in pieces]
        k = len(pieces)
        with _large_graphs():
            return list(self.client.map(state_of, [recipe] * k, [x] * k, rows, tables, starts, stops, pure=False))

    def _send(self, function: Callable[..., Any], *arguments: Any, priority: int = 0) -> Future:
        """Send one task."""
        with _large_graphs():
            return self.client.submit(function, *arguments, priority=priority, pure=False)

    def _take(self, futures: list[Future]) -> None:
        """Take note of finished tasks, and take in the results of finished groups."""
        for future in futures:
            if future.status != "finished":
                _raise(future)
            self.report(self.pairs.pop(future.key, 0))
        groups = [self.flight[future.key] for future in futures if future.key in self.flight]
        for group, state in zip(groups, self.client.gather([group.whole for group in groups]), strict=True):
            united = group.tree.add(group.index, state)
            if united is not None:
                self.result[group.rows] = result_of(self.job.recipe, self.job.dtype, united)
            del self.flight[group.whole.key]


def _raise(future: Future) -> None:
    """Raise what a task raised."""
    try:
        future.result()
    except KilledWorker as error:
        error.add_note("workers died of one task again and again: give them more memory, or make 'chunks' smaller")
        raise


def _same(value: T) -> T:
    """Return the argument: as a task's result it comes back by itself if the worker that holds it is lost."""
    return value


def _large_graphs() -> Any:
    """Allow arrays of `NUMBERS` numbers in a task: Dask would warn of 10 MB."""
    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"})
