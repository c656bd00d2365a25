"""The tasks of a sum on a Dask cluster: sent a bounded number at a time, their sums united in a fixed tree."""

from __future__ import annotations

import os
from asyncio import timeout
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import get_context
from typing import Any, TypeVar

import dask
import numpy as np
from dask.distributed import Client, Future, KilledWorker, LocalCluster, as_completed, default_client
from tqdm.auto import tqdm

from ... import _checks
from ..._threads import cores, slices
from ..._types import Floats
from .sources import Source
from .tasks import Recipe, State, answer, state_of, union

T = TypeVar("T")

AHEAD = 3
"""Tasks under way for each thread of the cluster: one runs, the others' data is on its way."""
QUIET = {"distributed.admin.large-graph-warning-threshold": "1GB"}
"""A task's arrays of `tasks.NUMBERS` numbers are meant to go with it: Dask would warn of 10 MB."""
PATIENCE, SENDINGS = 60.0, 10
"""Seconds without a state after which tasks are lost if no worker runs anything; how often they are sent, at most."""


@dataclass
class Tree:
    """States over `count` parts of the control points, united with their neighbours as they come.

    The shape of the tree depends on `count` only, so the order of arrival changes no bit.
    """

    recipe: Recipe
    rows: slice
    count: int
    waiting: dict[tuple[int, int], State] = field(default_factory=dict)

    def add(self, index: int, state: State) -> State | None:
        """Unite part `index` with its neighbours; return the state of all parts once the last has come."""
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


Place = tuple[Tree, int, tuple[Any, ...]]
"""A part of a tree, and what its task is sent: x, control points, values and their range."""


@contextmanager
def connected(client: object, n_workers: object) -> Iterator[Client]:
    """Yield the client given, else the current one, else one of a cluster of processes that lives as long as this."""
    if client is not None:
        _checks.left_out(n_workers, "n_workers", "if 'client' is given", "its cluster has workers")
    if client is None and n_workers is None:
        with suppress(ValueError):
            client = default_client()
    if client is not None:
        if not isinstance(client, Client) or client.asynchronous:
            raise TypeError(f"'client' must be a synchronous dask.distributed.Client, got {_checks.show(client)}")
        if client.status == "closed":
            raise ValueError(f"'client' must be connected to a scheduler, got one that is closed: {client!r}")
        yield client
        return
    n = -1 if n_workers is None else _checks.integer(n_workers, "n_workers", minimum=-1)
    n = cores() if n == -1 else _checks.integer(n, "n_workers", minimum=1)
    with _safe_path():
        _check_start()
        cluster = LocalCluster(n_workers=n, threads_per_worker=1, processes=True, dashboard_address=None)
        with cluster, Client(cluster, set_as_default=False) as own:
            yield own


def _check_start() -> None:
    """Raise RuntimeError where a new process dies of the user's script; Dask would start it again without end."""
    process = get_context(dask.config.get("distributed.worker.multiprocessing-method")).Process(target=int)
    process.start()
    process.join()
    if process.exitcode != 0:
        raise RuntimeError(
            "no worker process has started: a script must call this under "
            'if __name__ == "__main__":, since every process loads it anew'
        )


@contextmanager
def _safe_path() -> Iterator[None]:
    """Let new processes start without the current folder on their path; then they take this process' path."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        os.environ.pop("PYTHONSAFEPATH")
        if before is not None:
            os.environ["PYTHONSAFEPATH"] = before


def run(
    client: Client, recipe: Recipe, x: Floats, controls: Source, values: Source, size: tuple[int, int], progress: bool
) -> Floats:
    """Return the sums (m, p) by tasks of `size`; if anything goes wrong, those under way are cancelled."""
    result, total = np.empty((len(x), recipe.p)), -(-len(x) // size[0]) * -(-controls.n // size[1])
    tasks, arrivals = _tasks(client, recipe, x, controls, values, size), as_completed(loop=client.loop)
    flight: dict[Future, Place] = {}
    batch: list[Future] = []
    sendings = 1
    try:
        with tqdm(total=total, unit="task", disable=not progress) as bar, dask.config.set(QUIET):
            while True:
                # Step 1: send tasks, as many as keep all threads busy
                for future, place in islice(tasks, max(0, AHEAD * max(1, threads(client)) - len(flight))):
                    flight[future] = place
                    arrivals.add(future)
                if not flight:
                    return result
                # Step 2: unite the states that have arrived; send again what is lost
                states = client.sync(_arrived, client, arrivals, batch)
                if states is not None:
                    for future, state in zip(batch, states, strict=True):
                        tree, index, _ = flight.pop(future)
                        if (united := tree.add(index, state)) is not None:
                            result[tree.rows] = answer(recipe, united)
                    bar.update(len(batch))
                    batch, sendings = [], 1
                elif _idle(client):
                    flight = _sent_again(client, recipe, flight, sendings)
                    arrivals, batch, sendings = as_completed(flight, loop=client.loop), [], sendings + 1
    finally:
        tasks.close()
        client.cancel(list(flight))


def threads(client: Client) -> int:
    """Return the number of threads of the present workers."""
    return sum(client.nthreads().values())


def _tasks(
    client: Client, recipe: Recipe, x: Floats, controls: Source, values: Source, size: tuple[int, int]
) -> Generator[tuple[Future, Place], None, None]:
    """Send tasks, one for each that is asked for; data goes with them, so that it can be sent again."""
    shared = client.submit(_same, recipe, pure=False)
    parts = range(0, controls.n, size[1])
    for rows in slices(len(x), size[0]):
        here, tree = client.submit(_same, x[rows], pure=False), Tree(recipe, rows, len(parts))
        for index, start in enumerate(parts):
            some = slice(start, min(start + size[1], controls.n))
            arrays = controls.sent(some), values.sent(some), some
            yield client.submit(state_of, shared, here, *arrays, pure=False), (tree, index, (x[rows], *arrays))


async def _arrived(client: Client, arrivals: as_completed, batch: list[Future]) -> list[State] | None:
    """Fill the batch with finished tasks and return their states, or raise the first error; None if none comes."""
    try:
        async with timeout(PATIENCE) as limit:
            if not batch:
                batch.append(await anext(arrivals))
                batch.extend(arrivals.next_batch(block=False))
            return list(await client.gather(batch, asynchronous=True))
    except TimeoutError:
        if limit.expired():
            return None
        raise
    except KilledWorker as error:
        error.add_note("workers died of one task again and again: give them more memory, or make 'chunks' smaller")
        raise


def _idle(client: Client) -> bool:
    """Return whether no worker runs anything."""
    try:
        return not client.sync(client.scheduler.call_stack, keys=None, callback_timeout=PATIENCE)
    except (OSError, TimeoutError):  # a worker has just died, or is too busy to answer
        return False


def _sent_again(client: Client, recipe: Recipe, flight: dict[Future, Place], sendings: int) -> dict[Future, Place]:
    """Send tasks again, with all that they need, as what they waited for may be lost too."""
    if sendings == SENDINGS:
        raise RuntimeError(
            f"{len(flight)} tasks were sent {SENDINGS} times, and no worker runs them (of {threads(client)} threads), "
            f"such as {next(iter(flight)).key}: restart the workers (client.restart()), or wait until there are some "
            "(client.wait_for_workers(1)); client.get_worker_logs() has what they say"
        )
    client.cancel(list(flight))
    return {client.submit(state_of, recipe, *place[2], pure=False): place for place in flight.values()}


def _same(value: T) -> T:
    """Return the argument: as a task's result it comes back by itself if the worker that holds it is lost."""
    return value
