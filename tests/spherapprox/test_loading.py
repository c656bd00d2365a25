"""Modules that are loaded when they are first used."""

import signal
import sys
import threading

import pytest

from spherapprox._loading import load

INTERRUPTED = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nfor _ in range(1000):\n    pass\nends = True\n"
AROUND = "from spherapprox._loading import load\nends = load('interrupted_module').ends\n"


@pytest.fixture
def modules(tmp_path, monkeypatch):
    for name, text in (("interrupted_module", INTERRUPTED), ("module_around", AROUND)):
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield ("interrupted_module", "module_around")
    for name in ("interrupted_module", "module_around"):
        sys.modules.pop(name, None)


@pytest.mark.skipif(sys.platform == "win32", reason="there os.kill ends the process")
def test_an_interruption_waits_until_a_module_is_loaded(modules):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
    try:
        for name in modules[::-1]:
            sys.modules.pop("interrupted_module", None)
            with pytest.raises(KeyboardInterrupt):
                load(name)
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
            assert sys.modules[name].ends
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_load_modules_too():
    loaded = []
    thread = threading.Thread(target=lambda: loaded.append(load("colorsys")))
    thread.start()
    thread.join()
    assert loaded[0].__name__ == "colorsys"
