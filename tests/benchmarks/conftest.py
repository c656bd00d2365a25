"""The scripts of benchmarks/, which import their neighbours."""

import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module", autouse=True)
def folder():
    """Let scripts be imported by their names, for the tests of a file alone; returns their folder."""
    names = [path.stem for path in FOLDER.glob("*.py")]
    before = {name: sys.modules.pop(name, None) for name in names}
    sys.path.insert(0, str(FOLDER))
    yield FOLDER
    sys.path[:] = [entry for entry in sys.path if entry != str(FOLDER)]
    for name in names:
        sys.modules.pop(name, None)
    sys.modules.update({name: module for name, module in before.items() if module is not None})
