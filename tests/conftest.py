"""Settings for all tests."""

import os

if "PYTEST_XDIST_WORKER" in os.environ:  # tests run side by side already
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")

import pytest
from hypothesis import settings

settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("other draws", deadline=None, derandomize=False, max_examples=60, database=None)
settings.load_profile("repeatable")  # tests/reference/machines.py takes the other one


def pytest_ignore_collect(collection_path, config):
    """Leave what starts compilers or a browser, or runs pages, to .ci/run, unless tests/once is named."""
    return (collection_path.name == "once" and "tests/once" not in " ".join(config.args)) or None


def pytest_configure(config):
    """Name the mark of tests that a whole run leaves out."""
    config.addinivalue_line("markers", "once: takes long and is rarely at risk; in no whole run, .ci/run runs it once")


def pytest_collection_modifyitems(config, items):
    """Leave out the tests marked `once` from a whole run, unless marks are asked for; files and folders run theirs."""
    if len(items) > 2000 and not config.option.markexpr:
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("once")])
        items[:] = [item for item in items if not item.get_closest_marker("once")]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session):
    """Compile a share of the common kernels before a whole run; no worker gets tests until all have come so far."""
    worker, count = (os.environ.get(f"PYTEST_XDIST_WORKER{end}") for end in ("", "_COUNT"))
    if worker and int(count) > 1 and len(session.items) > 2000:
        import kernels

        for share in kernels.SHARES[int(worker.removeprefix("gw")) :: int(count)]:
            for call in share:
                call()
