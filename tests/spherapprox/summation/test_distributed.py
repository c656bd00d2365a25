import contextlib
import dataclasses
import gc
import itertools
import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import run
from sums import sphere, truth, wide

from spherapprox import EqualMeasurePartition, Target, evaluate
from spherapprox.summation import distributed, explain_sum, show_progress
from spherapprox.summation.distributed import Rows, tasks

dask = pytest.importorskip("dask.distributed")
driver = pytest.importorskip("spherapprox.summation.distributed.driver")

E = np.eye(3)
CHOICES = [dict(zip(("normalize", "log"), pair, strict=True)) for pair in itertools.product((False, True), repeat=2)]


def first_plus_two(b):
    return b[:, 0] + 2.0


def at_once(x, *arguments, log=False, chunks=(30, 70), **options):
    """The tasks in this thread, by a client without a cluster."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver, "connected", lambda client: contextlib.nullcontext(Here()))
        patch.setattr(driver, "as_completed", Arrivals)
        call = distributed.evaluate_log if log else distributed.evaluate
        return call(x, *arguments, chunks=chunks, **options)


class Here:
    """A client whose tasks are done, in this thread, when they are sent."""

    loop = None

    def nthreads(self):
        return {"here": 1}

    def submit(self, function, *arguments, pure):
        assert not pure
        return Done(function(*(value.result if isinstance(value, Done) else value for value in arguments)))

    def cancel(self, futures):
        pass


@dataclasses.dataclass(eq=False)
class Done:
    result: object

    def release(self):
        pass


class Arrivals(list):
    """Finished tasks with their results, the last first."""

    def __init__(self, *, with_results, loop):
        assert with_results

    add = list.append

    def __iter__(self):
        while self:
            future = self.pop()
            yield future, future.result


def agree(result, expected, log=False, rtol=2e-15):
    """The same numbers to rounding, logarithms to that of their largest term."""
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(result, expected, rtol=rtol, atol=1e-13 if log else 0.0)


@pytest.fixture(scope="module")
def client():
    options = {"dashboard_address": "127.0.0.1:0", "scheduler_kwargs": {"dashboard": False}}
    with (
        dask.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **options) as cluster,
        dask.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def scheduled(client):
    """The tasks that the scheduler still knows, with their states, once it has forgotten what it can."""
    gc.collect()  # errors of earlier tests hold frames, and these hold futures
    deadline = time.monotonic() + 30.0
    while tasks := client.run_on_scheduler(
        lambda dask_scheduler: {k: t.state for k, t in dask_scheduler.tasks.items()}
    ):
        if time.monotonic() > deadline:
            break
        time.sleep(0.02)
    return tasks


# tasks and their union, without a cluster


@pytest.mark.parametrize("options", CHOICES)
@pytest.mark.parametrize("concentration", [0.0, 1.0, 300.0, 1e4, 1e8])
def test_chunks_of_any_size_give_the_sum(options, concentration):
    x, b = sphere(70, 2, 1), sphere(400, 2, 2)
    values = np.random.default_rng(3).random((400, 2)) + 0.1
    expected = explain_sum(x, b, values, concentration, **options)[0]
    for chunks in ((70, 400), (30, 70), (1, 399)):
        result = at_once(x, b, values, concentration, chunks=chunks, **options)
        # exponents far out round, as they do in one piece
        scale = 1.0 if concentration < 1e4 else concentration
        agree(result, expected, options["log"], 1e-15 * scale if options["log"] else 2e-15)


@wide
def test_quotient_is_right_where_every_exponential_underflows():
    x, b = -sphere(5, 3, 4), sphere(200, 3, 4)
    values = sphere(200, 3, 5)[:, 0] + 2.0
    assert evaluate(x, b[:5], values[:5], 1e5).max() == 0.0
    result = at_once(x, b, values, 1e5, normalize=True, chunks=(5, 7))
    np.testing.assert_allclose(result, truth(x, b, values, 1e5, True)[0].astype(float), rtol=2e-11)  # 2e5 roundings


@pytest.mark.parametrize("concentration", [2.0, 1e3])
@pytest.mark.parametrize("options", CHOICES)
def test_values_of_any_size_in_different_chunks(concentration, options):
    x, b = sphere(20, 2, 6), sphere(40, 2, 7)
    values = np.ones((40, 3))
    values[:10, 0], values[10:20, 0], values[20:, 0] = 1e300, 0.0, 1e-300
    values[:, 1], values[30:, 1] = 0.0, 5e-324
    values[:, 2] = 0.0
    expected = explain_sum(x, b, values, concentration, **options)[0]
    result = at_once(x, b, values, concentration, chunks=(20, 10), **options)
    assert np.isfinite(expected[:, 0]).all()
    assert (result[:, 2] == (-np.inf if options["log"] else 0.0)).all()
    atol = 1e-11 if options["log"] else 5e-324 * options["normalize"]
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=atol)


@given(st.integers(1, 40), st.permutations(range(40)))
@settings(max_examples=30)
def test_order_of_arrival_changes_no_bit(count, order):
    recipe = tasks.Recipe(1e3, np.dtype(float), (), True, False, 1e-14)
    x, b = sphere(3, 2, 8), sphere(40, 2, 9)
    states = [tasks.state_of(recipe, x, b[i : i + 1], b[i : i + 1, 0], slice(0, 1)) for i in range(count)]

    def united(arrivals):
        tree = driver.Tree(recipe, slice(0, 3), count)
        roots = [tree.add(i, states[i]) for i in arrivals]
        assert all(root is None for root in roots[:-1])
        assert not tree.waiting
        return tasks.answer(recipe, roots[-1])[:, 0]

    result = united(range(count))
    np.testing.assert_array_equal(united([i for i in order if i < count]), result)
    np.testing.assert_allclose(result, evaluate(x, b[:count], b[:count, 0], 2e3, normalize=True), atol=1e-15)


def test_control_points_and_values_of_every_kind_give_the_sum():
    x, cells = sphere(50, 2, 10), EqualMeasurePartition(2, 300)
    b = cells.centers()
    f = Target(first_plus_two, dim=2)
    expected = evaluate(x, b, f(b), 40.0)
    for points in (b, cells, b.tolist()):
        for values in (f(b), f, first_plus_two):
            agree(at_once(x, points, values, 40.0), expected)
    agree(at_once(x, Rows(300, cells.centers), f, 40.0), expected)
    agree(at_once(x, cells, 3, 40.0), evaluate(x, b, np.full(300, 3.0), 40.0))
    single = x.astype(np.float32), b.astype(np.float32)
    agree(at_once(*single, 3, 40.0), evaluate(*single, np.full(300, 3.0, np.float32), 40.0), rtol=1e-6)


@pytest.mark.parametrize("m", [1, 1000, 10**6])
@pytest.mark.parametrize("n", [1, 1000, 10**6, 10**12])
@pytest.mark.parametrize("dim", [1, 3, 10**4])
def test_tasks_are_neither_long_nor_large(m, n, dim):
    for p in (1, 100):
        rows, controls = tasks.sizes(m, n, dim, p)
        work = rows * controls * (3 * dim + p + 28)
        assert 1 <= rows <= m
        assert 1 <= controls <= n
        assert work <= tasks.TASK_WORK
        assert max(rows, controls) * (dim + p + 1) <= tasks.NUMBERS


# on a cluster of processes


@pytest.mark.once
def test_a_cluster_gives_the_same_and_forgets_the_rest(client, capsys):
    x, cells = sphere(300, 2, 12), EqualMeasurePartition(2, 1000)
    b = cells.centers()
    sums = {"client": client, "chunks": (100, 130)}
    expected = evaluate(x, b, b + 2.0, 40.0)
    for points, values in ((b, b + 2.0), (cells, lambda b: b + 2.0), (b, lambda b: b + 2.0)):
        agree(distributed.evaluate(x, points, values, 40.0, **sums), expected)
    assert capsys.readouterr() == ("", "")
    with show_progress():
        result = distributed.evaluate_log(x, cells, 1.0, 1e5, normalize=True, **sums)
    assert np.abs(result).max() < 1e-10
    assert "24/24" in capsys.readouterr().err
    assert scheduled(client) == {}
    with client.as_current():
        agree(distributed.evaluate(x, cells, first_of_each, 2.0), evaluate(x, b, b[:, 0] + 2.0, 2.0))


first_of_each = lambda b: b[:, 0] + 2.0  # noqa: E731 (sent by value: workers cannot import this file)


@pytest.mark.once
def test_a_killed_worker_is_survived(client):
    x, cells = sphere(64, 2, 13), EqualMeasurePartition(2, 4000)
    before = set(client.run(os.getpid).values())

    def slow(b):
        time.sleep(0.02)
        return b[:, 0] + 2.0

    killer = threading.Timer(0.4, os.kill, (min(before), signal.SIGKILL))
    killer.start()
    result = distributed.evaluate(x, cells, slow, 40.0, client=client, chunks=(32, 100))
    killer.join()
    agree(result, evaluate(x, cells.centers(), cells.centers()[:, 0] + 2.0, 40.0))
    client.wait_for_workers(2, timeout=30)
    assert min(before) not in client.run(os.getpid).values()


@pytest.mark.once
def test_few_tasks_are_under_way(client):
    class Census(dask.SchedulerPlugin):
        name = "census"
        largest = 0

        def start(self, scheduler):
            self.scheduler = scheduler

        def transition(self, key, start, finish, *arguments, **options):
            living = sum(str(name).startswith("state_of") for name in self.scheduler.tasks)
            Census.largest = self.largest = max(self.largest, living)

    client.register_plugin(Census())
    x, cells = sphere(2, 2, 14), EqualMeasurePartition(2, 120)
    distributed.evaluate(x, cells, 1.0, 1.0, client=client, chunks=(2, 3))  # 40 tasks
    largest = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.plugins["census"].largest)
    client.unregister_scheduler_plugin("census")
    assert 2 <= largest <= 14  # 3 for each of 2 threads, a group, and what is not yet forgotten


@pytest.mark.once
def test_a_task_that_kills_its_workers_is_named(client):
    def fatal(b):
        return os._exit(1) if len(b) > 1 else np.ones(1)

    def allow(failures, dask_scheduler):
        dask_scheduler.allowed_failures = failures

    client.run_on_scheduler(allow, 0)
    with pytest.raises(dask.KilledWorker) as error:
        distributed.evaluate(sphere(2, 2, 15), EqualMeasurePartition(2, 9), fatal, 1.0, client=client, chunks=(2, 9))
    client.run_on_scheduler(allow, 3)
    assert "make 'chunks' smaller" in error.value.__notes__[0]
    client.wait_for_workers(2, timeout=30)


@pytest.mark.once
def test_a_closed_client_is_refused(client):
    with dask.Client(client.scheduler.address, set_as_default=False) as closed:
        pass
    with pytest.raises(ValueError, match="'client' must be connected to a scheduler, got one that is closed"):
        distributed.evaluate(E, E, 1.0, 1.0, client=closed)


@pytest.mark.once
def test_errors_of_tasks_are_raised_and_the_rest_cancelled(client):
    x, cells = sphere(2, 2, 15), EqualMeasurePartition(2, 300)

    def late(b):
        return np.where(b[:, 2] < -0.9, np.nan, 1.0)

    with pytest.raises(ValueError, match="'values' must be finite, got nan") as error:
        distributed.evaluate(x, cells, late, 1.0, client=client, chunks=(2, 3))
    assert scheduled(client) == {}
    assert error.value.__notes__[0].startswith("at control points 2")


INTERRUPTED = """
import os, pathlib, signal, sys, threading, time
import numpy as np
import psutil
from spherapprox.summation import distributed
from spherapprox.summation.distributed import driver

def interrupt(mark):
    while not mark.exists():
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored here
    driver.cores = lambda: 1  # worker
    mark = pathlib.Path(sys.argv[1])

    def slow(start, stop):
        if start:
            mark.touch()
            time.sleep(0.1)
        return np.eye(3)[[0] * (stop - start)]

    threading.Thread(target=interrupt, args=(mark,)).start()
    try:
        distributed.evaluate(np.eye(3), distributed.Rows(10**6, slow), 1.0, 1.0, chunks=(3, 10))
    except KeyboardInterrupt:
        every = psutil.Process().children(recursive=True)
        print("interrupted", [child for child in every if "spawn_main" in " ".join(child.cmdline())])
"""


@pytest.mark.once
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals between processes")
def test_an_interruption_leaves_no_process(tmp_path):
    assert run(INTERRUPTED, str(tmp_path / "mark")) == "interrupted []"


@pytest.mark.once
def test_a_script_that_starts_workers_without_a_guard_is_told_so(tmp_path):
    script, planted = tmp_path / "script.py", tmp_path / "elsewhere" / "multiprocessing.py"
    planted.parent.mkdir()
    planted.write_text("open('ran', 'w').close()")
    script.write_text(
        "import numpy as np\nfrom spherapprox.summation import distributed\n"
        "distributed.evaluate(np.eye(3), np.eye(3), 1.0, 1.0)\n"
    )
    options = {"capture_output": True, "text": True, "timeout": 60}
    process = subprocess.run([sys.executable, str(script)], cwd=planted.parent, check=False, **options)
    assert "RuntimeError: no worker process has started: a script must call this under" in process.stderr
    assert not (planted.parent / "ran").exists()  # workers run no module of the current folder


# refusals


def test_missing_dask_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    with pytest.raises(ImportError, match=re.escape('pip install "spherapprox[distributed]"')):
        distributed.evaluate(np.eye(3), np.eye(3), 1.0, 1.0)


@pytest.mark.parametrize(
    ("points", "values", "error", "note"),
    [
        (Rows(100, lambda a, b: sphere(100, 2)[a:b] * (1 + (a == 40))), 1.0, ValueError, "at control points 40 to 79"),
        (sphere(100, 2), lambda b: 1 / 0 if len(b) > 1 else np.ones(1), ZeroDivisionError, "at control points 0 to 39"),
        (
            Rows(3, lambda a: E[a:]),
            1.0,
            TypeError,
            "when the function 'control_points' was tried for start, stop = 0, 1",
        ),
        (E, lambda b: b["z"], IndexError, "when the function 'values' was tried at the first control point"),
    ],
)
def test_errors_are_placed(points, values, error, note):
    with pytest.raises(error) as caught:
        at_once(E, points, values, 1.0, chunks=(3, 40))
    assert caught.value.__notes__ == [note]


@pytest.mark.parametrize("normalize", [False, True])
def test_values_of_any_size_are_summed_in_parts(normalize):
    circle = np.array([[1.0, 0.0], [-1.0, 0.0]])
    for small, large, concentration in ((0, 1.0, 1500.0), (0, 1e200, 800.0), (1e-300, 1e300, 500.0), (3, 1e300, 400.0)):
        arguments = circle[:1], circle, [small, large], concentration
        expected = evaluate(*arguments, normalize=normalize)
        for chunks in ((1, 1), (1, 2)):
            result = at_once(*arguments, normalize=normalize, chunks=chunks)
            np.testing.assert_allclose(result, expected, rtol=1e-11, atol=1e-300)
    x, values = sphere(60, 2, 1), np.zeros((60, 2))
    values[3], values[50] = (1e200, 2.0), (1.0, 1e-250)
    expected = evaluate(x, x, values, 400.0, normalize=normalize)
    result = at_once(x, x, values, 400.0, normalize=normalize, chunks=(20, 7))
    np.testing.assert_allclose(result, expected, rtol=1e-11, atol=1e-300)
