"""The tasks of a sum on a Dask cluster: sent a bounded number at a time, their sums united in a fixed tree."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import get_context
from typing import TypeVar

import dask
import numpy as np
from dask.distributed import Client, Future, KilledWorker, LocalCluster, as_completed, default_client
from tqdm.auto import tqdm

from ... import _checks
from ..._threads import cores, slices
from ..._types import Floats
from ..progress import is_shown
from .sources import Source
from .tasks import Recipe, State, answer, state_of, union

T = TypeVar("T")

AHEAD = 3  # tasks under way for each thread of the cluster: one runs, the others' data is on its way
QUIET = {"distributed.admin.large-graph-warning-threshold": "1GB"}
"""A task's arrays of `tasks.NUMBERS` numbers are meant to go with it: Dask would warn of 10 MB."""


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
                sibling_state = self.waiting.pop((level, sibling), None)
                if sibling_state is None:
                    self.waiting[level, index] = state
                    return None
                state = union(self.recipe, *((state, sibling_state) if index < sibling else (sibling_state, state)))
            level, index, count = level + 1, index // 2, (count + 1) // 2
        return state


@contextmanager
def connected(client: object) -> Iterator[Client]:
    """Yield the client given, else the current one, else one of a cluster of processes that lives as long as this."""
    if client is None:
        with suppress(ValueError):
            client = default_client()
    if client is not None:
        if not isinstance(client, Client) or client.asynchronous:
            raise TypeError(f"'client' must be a synchronous dask.distributed.Client, got {_checks.show(client)}")
        if client.status == "closed":
            raise ValueError(f"'client' must be connected to a scheduler, got one that is closed: {client!r}")
        yield client
        return
    with _safe_path():
        _check_start()
        cluster = LocalCluster(n_workers=cores(), threads_per_worker=1, processes=True, dashboard_address=None)
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
    client: Client, recipe: Recipe, x: Floats, *, controls: Source, values: Source, size: tuple[int, int]
) -> Floats:  # fmt: skip
    """Return the sums (m, p) by tasks of `size`; if anything goes wrong, those under way are cancelled."""
    result, total = np.empty((len(x), recipe.p)), -(-len(x) // size[0]) * -(-controls.n // size[1])
    tasks = _tasks(client, recipe, x, controls=controls, values=values, size=size)
    flight: dict[Future, tuple[Tree, int]] = {}
    arrivals = as_completed(with_results=True, loop=client.loop)

    def send() -> None:
        """Send tasks, as many as keep all threads busy."""
        for future, place in islice(tasks, max(0, AHEAD * max(1, threads(client)) - len(flight))):
            flight[future] = place
            arrivals.add(future)

    try:
        with tqdm(total=total, unit="task", disable=not is_shown.get()) as bar, dask.config.set(QUIET):
            send()
            for future, state in arrivals:
                tree, index = flight.pop(future)
                if (united := tree.add(index, state)) is not None:
                    result[tree.rows] = answer(recipe, united)
                future.release()
                bar.update()
                send()
        return result
    except KilledWorker as error:
        error.add_note("workers died of one task again and again: give them more memory, or make 'chunks' smaller")
        raise
    finally:
        tasks.close()
        client.cancel(list(flight))


def threads(client: Client) -> int:
    """Return the number of threads of the present workers."""
    return sum(client.nthreads().values())


def _tasks(
    client: Client, recipe: Recipe, x: Floats, *, controls: Source, values: Source, size: tuple[int, int]
) -> Generator[tuple[Future, tuple[Tree, int]], None, None]:
    """Send tasks, one for each that is asked for; data goes with them, so that Dask can run them again elsewhere."""
    shared = client.submit(_same, recipe, pure=False)
    parts = range(0, controls.n, size[1])
    for rows in slices(len(x), size[0]):
        here, tree = client.submit(_same, x[rows], pure=False), Tree(recipe, rows, len(parts))
        for index, start in enumerate(parts):
            part = slice(start, min(start + size[1], controls.n))
            task = client.submit(state_of, shared, here, controls.sent(part), values.sent(part), part, pure=False)
            yield task, (tree, index)


def _same(value: T) -> T:
    """Return the argument: as a task's result it comes back by itself if the worker that holds it is lost."""
    return value
