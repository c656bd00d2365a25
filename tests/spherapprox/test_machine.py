"""What is measured on this machine is kept beside the kernels, once, and measured again where its file is no good."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest
from processes import run

from spherapprox._kernels import machine

CODE = """
from spherapprox.config import show_config
from spherapprox._kernels import machine
calls = []
took = machine.measured("some run", lambda: machine.seconds(lambda: calls.append(1)), 1e-8, 1e-5)
assert 1e-8 <= took <= 1e-5
assert "some run" in show_config("dicts")["calibration"]
print(len(calls), machine.measured("some run", None, 1e-8, 1e-5) == took)
"""


def calls(folder):
    """Return how often a process that keeps its kernels in a folder has measured."""
    count, equal = run(CODE, NUMBA_CACHE_DIR=str(folder)).split()
    assert equal == "True"
    return int(count)


def record(folder):
    (path,) = Path(folder).rglob("machine-*.json")
    return path


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filled")
    assert calls(folder) > 0
    return folder


def test_a_machine_is_measured_once(filled):
    assert calls(filled) == 0
    assert not list(filled.rglob("*.part"))


def edited(text, *, sealed=False, **entries):
    """Return a record with other entries, with or without the seal of these."""
    content = json.loads(text) | entries
    if sealed:
        parts = json.dumps([content["machine"], content["measured"]], sort_keys=True)
        content["seal"] = sha256(parts.encode()).hexdigest()
    return json.dumps(content)


SPOILED = {
    "cut": lambda text: text[:40],
    "changed": lambda text: edited(text, measured={"some run": 1.0}),
    "another machine's": lambda text: edited(text, machine=["other"]),
    "another machine's, sealed": lambda text: edited(text, machine=["other"], sealed=True),
    "without names": lambda text: edited(text, measured=[1.0], sealed=True),
    "a list": lambda text: "[1]",
    "deep": lambda text: 100_000 * "[",
    "binary": lambda text: "\xff\xfe\x00",
}


@pytest.mark.parametrize("kind", SPOILED)
def test_a_file_that_is_no_good_is_measured_again(filled, kind, monkeypatch):
    def calls_anew():
        """Return how often a run is called by a module that knows as little as a new process."""
        runs = []
        monkeypatch.setattr(machine, "_numbers", {})
        monkeypatch.setattr(machine, "_read", [])
        machine.measured("some run", lambda: machine.seconds(lambda: runs.append(1)), 1e-8, 1e-5)
        return len(runs)

    path = record(filled)
    monkeypatch.setattr(machine, "cache_folder", lambda: path.parent)
    assert calls_anew() == 0
    path.write_bytes(SPOILED[kind](path.read_text("utf-8")).encode("latin-1"))
    assert calls_anew() > 0
    assert calls_anew() == 0


def test_without_a_folder_numbers_last_as_long_as_the_process(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert calls(blocked) > 0
    assert blocked.read_text("utf-8") == ""


ALONE = """
import time
from spherapprox._kernels import machine

# a busy machine gives no nonsense
pauses = iter([0.03, 0.02, 0.02, 0.0] + 9 * [0.02])
assert machine.seconds(lambda: time.sleep(next(pauses))) < 5e-3
# and what is out of all bounds is not believed
assert machine.measured("e", lambda: 9.0, 1.0, 3.0) == 3.0
assert machine.measured("f", lambda: 0.1, 1.0, 3.0) == 1.0
"""


FORKED = """
import os, threading
from spherapprox import _loading
from spherapprox._kernels import machine

measuring, end = threading.Event(), threading.Event()

def busy():
    with _loading._LOCK:
        machine.measured("long", lambda: (measuring.set(), end.wait())[0] or 1.0, 0.1, 9.0)

threading.Thread(target=busy).start()
measuring.wait()
child = os.fork()
if child == 0:
    _loading.load("spherapprox._kernels.jit")
    machine.recorded()
    os._exit(7)
end.set()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
def test_a_forked_process_does_not_wait_for_threads_that_it_has_not(tmp_path):
    assert run(FORKED, NUMBA_CACHE_DIR=str(tmp_path)) == "7"


def test_runs_are_measured_fairly(tmp_path):
    run(ALONE, NUMBA_CACHE_DIR=str(tmp_path))


def test_processes_that_measure_at_a_time_do_no_harm(tmp_path):
    with ThreadPoolExecutor(3) as pool:
        assert max(pool.map(calls, 3 * [tmp_path])) > 0
    assert calls(tmp_path) == 0
