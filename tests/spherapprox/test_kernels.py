"""Where compiled kernels are cached: outside the package, and not at all where nothing can be written."""

import os
import subprocess
import sys
from pathlib import Path

import spherapprox

CODE = """
import numpy as np
from spherapprox import EqualMeasurePartition
assert EqualMeasurePartition(2, 10).centers().shape == (10, 3)
"""


def run(**variables):
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"} | variables
    subprocess.run([sys.executable, "-c", CODE], env=environment, check=True)


def compiled_files(folder):
    return [path for path in Path(folder).rglob("*") if path.suffix in (".nbi", ".nbc")]


def test_the_cache_is_the_users_and_never_the_packages(tmp_path):
    run(XDG_CACHE_HOME=str(tmp_path), HOME=str(tmp_path), LOCALAPPDATA=str(tmp_path))
    assert compiled_files(tmp_path)
    assert not compiled_files(Path(spherapprox.__file__).parent)


def test_numbas_own_setting_is_followed(tmp_path):
    run(NUMBA_CACHE_DIR=str(tmp_path))
    assert compiled_files(tmp_path)


def test_nothing_writable_is_no_error(tmp_path):
    file = tmp_path / "file"
    file.write_text("in the way")
    run(NUMBA_CACHE_DIR=str(file))
    assert file.read_text() == "in the way"
    assert not compiled_files(Path(spherapprox.__file__).parent)
