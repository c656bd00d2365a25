"""Where compiled kernels are cached: outside the package, and not at all where nothing can be written."""

import os
import subprocess
import sys
from pathlib import Path

import spherapprox

CODE = """
import math
import numpy as np
from spherapprox._kernels.loops import LOOPS, beta
areas = np.empty(2)
LOOPS[beta.log_surface_area](np.array([1.0, 2.0]), areas)
np.testing.assert_allclose(areas, np.log([2.0 * math.pi, 4.0 * math.pi]))
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
    kernels = {path.name.split("-")[0] for path in compiled_files(tmp_path)}
    assert {"beta.log_surface_area", "gamma.log_gamma"} <= kernels  # called from the compiled loop, yet on their own


def test_nothing_writable_is_no_error(tmp_path):
    file = tmp_path / "file"
    file.write_text("in the way")
    run(NUMBA_CACHE_DIR=str(file))
    assert file.read_text() == "in the way"
    assert not compiled_files(Path(spherapprox.__file__).parent)
