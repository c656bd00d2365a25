import os
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from processes import run
from threadpoolctl import threadpool_info, threadpool_limits

from spherapprox import EqualMeasurePartition, _threads, evaluate


@pytest.fixture(autouse=True)
def four_cores(monkeypatch):
    monkeypatch.delenv(_threads.VARIABLE, raising=False)
    monkeypatch.setattr(_threads, "cores", lambda: 4)


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves only by the seconds that tasks say they take: a busy machine adds none."""
    elapsed = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: elapsed[0])
    return elapsed


def threads_of(blocks, seconds, clock, workers=None):
    """The threads that a call's blocks ran on."""
    threads = []

    def task(block):
        threads.append(threading.get_ident())
        time.sleep(seconds)
        clock[0] += seconds
        return block

    assert list(_threads.in_order(task, range(blocks), workers)) == list(range(blocks))
    assert sorted(_threads.as_done(task, range(blocks), workers)) == list(range(blocks))
    return set(threads)


def test_long_work_takes_all_cores_and_short_work_one(clock):
    assert len(threads_of(24, 0.005, clock)) > 2
    assert threads_of(24, 0.0001, clock) == {threading.get_ident()}
    assert threads_of(1, 0.05, clock) == {threading.get_ident()}


@pytest.mark.skipif(np.__version__ < "2", reason="NumPy 1 keeps its handling of errors for each thread")
def test_all_blocks_handle_numbers_errors_as_their_caller_does():
    with np.errstate(under="raise"):
        names = _threads.as_done(lambda i: (time.sleep(0.002), np.geterr()["under"])[1], range(40), 2)
        assert set(names) == {"raise"}


def test_a_stated_number_is_taken(clock):
    assert threads_of(24, 0.005, clock, workers=1) == {threading.get_ident()}
    assert len(threads_of(8, 0.02, clock, workers=2)) in (2, 3, 4)  # two pools


def test_an_environment_variable_sets_the_number(monkeypatch, clock):
    monkeypatch.setenv(_threads.VARIABLE, "1")
    assert threads_of(24, 0.003, clock) == {threading.get_ident()}
    monkeypatch.setenv(_threads.VARIABLE, "3")
    assert _threads.max_threads(None) == 3
    monkeypatch.setenv(_threads.VARIABLE, "all")
    with pytest.raises(ValueError, match="SPHERAPPROX_WORKERS must be a number of threads, 1 or more, got 'all'"):
        evaluate(np.eye(3), np.eye(3), np.ones(3), 1.0, workers=None)


def test_no_block_runs_after_the_call():
    running = []

    def task(block):
        if block == 0:
            time.sleep(0.01)
            raise ZeroDivisionError
        running.append(block)
        time.sleep(0.05)
        running.remove(block)
        return block

    with pytest.raises(ZeroDivisionError):
        list(_threads.as_done(task, range(20), 3))
    assert not running
    assert sorted(_threads.as_done(task, range(1, 9), 3)) == list(range(1, 9))


def test_threads_of_others_keep_to_one():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(_threads.max_threads, None).result() == 1
    assert _threads.max_threads(None) == 4


@pytest.mark.once
@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_processes_of_others_keep_to_one(method):
    if method == "fork" and sys.platform != "linux":
        pytest.skip("needs fork")
    with ProcessPoolExecutor(1, mp_context=get_context(method)) as pool:
        assert pool.submit(_threads.max_threads, None).result() == 1


@pytest.mark.once
def test_workers_of_joblib_keep_to_one():
    joblib = pytest.importorskip("joblib")
    for backend in ("loky", "threading", "multiprocessing"):
        counts = joblib.Parallel(n_jobs=2, backend=backend)(
            joblib.delayed(_threads.max_threads)(None) for _ in range(2)
        )
        assert counts == [1, 1], backend


@pytest.mark.once
def test_no_blas_thread_is_awake_beside_our_own():
    code = """
import resource, time
import numpy as np
from spherapprox import evaluate
x = np.random.default_rng(0).standard_normal((40_000, 3))
x /= np.linalg.norm(x, axis=1)[:, None]
values = x[:, 0].copy()
for method in ("truncated", "lowrank", "harmonic", "dense"):
    evaluate(x[:50], x[:50], values[:50], 1.0, method=method)
for method, concentration in (("lowrank", 0.1), ("harmonic", 10.0), ("auto", 1e5)):
    time.sleep(0.3)
    before, begin = time.process_time(), time.thread_time()
    evaluate(x, x, values, concentration, method=method, workers=1)
    time.sleep(0.2)
    print(method, time.process_time() - before - (time.thread_time() - begin))
"""
    for line in run(code).splitlines():
        method, seconds = line.split()
        assert float(seconds) < 0.02, method  # a thread of OpenBLAS spins for some 100 ms


def test_results_do_not_depend_on_the_number():
    cells = EqualMeasurePartition(3, 300_000)
    alone = cells.centers(workers=1)
    for workers in (None, 2, -1):
        np.testing.assert_array_equal(cells.centers(workers=workers), alone)
        np.testing.assert_array_equal(cells.locate(alone[:50_000], workers=workers), np.arange(50_000))


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_has_its_threads_again_after_the_last_block_in_any_order():
    with threadpool_limits(3, "blas"):
        before, first, second = blas_threads(), _threads.one_blas_thread(), _threads.one_blas_thread()
        if max(before) == 1:
            pytest.skip("BLAS has one thread here")
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert set(blas_threads()) == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == before
        with pytest.raises(KeyboardInterrupt), _threads.one_blas_thread():
            raise KeyboardInterrupt
        assert blas_threads() == before


def test_blas_heeds_each_thread_while_others_hold_it():
    barrier = threading.Barrier(2)

    def hold():
        with threadpool_limits(3, "blas"):
            barrier.wait()
            barrier.wait()

    other = threading.Thread(target=hold)
    other.start()
    barrier.wait()
    try:
        with _threads.one_blas_thread():
            assert set(blas_threads()) == {1}
    finally:
        barrier.wait()
        other.join()


ENDLESS = """
import signal, threading, time
from spherapprox._threads import interruptible

signal.signal(signal.SIGINT, signal.default_int_handler)
assert interruptible(lambda: 7) == 7
try:
    interruptible(lambda: 1 / 0)
except ZeroDivisionError:
    print("raised")

def endless():
    print("in the main thread:", threading.current_thread() is threading.main_thread())
    while True:
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        time.sleep(0.2)

try:
    interruptible(endless)
except KeyboardInterrupt:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    print("interrupted")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals between threads")
def test_an_interruption_ends_the_wait_for_what_heeds_none():
    assert run(ENDLESS) == "raised\nin the main thread: False\ninterrupted"


def test_a_thread_beside_the_main_one_calls_for_itself():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: _threads.interruptible(threading.get_ident) == threading.get_ident()).result()


@pytest.mark.once
def test_blas_that_is_loaded_later_has_one_thread_too():
    code = """
import numpy
from threadpoolctl import threadpool_info
from spherapprox._threads import one_blas_thread

def threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

with one_blas_thread():
    assert threads() == {1}, threads()
import scipy.linalg  # which comes with a BLAS of its own
with one_blas_thread():
    assert threads() == {1}, threads()
"""
    run(code, OPENBLAS_NUM_THREADS="3", OMP_NUM_THREADS="3", MKL_NUM_THREADS="3")
