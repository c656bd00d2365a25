"""Where compiled kernels are kept: outside the package, whole, and not at all where nothing can be written."""

import os
import pickle
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

import spherapprox
from spherapprox import warmup as _warmup
from spherapprox._kernels import jit
from spherapprox.warmup import compile_kernels as warmup

CODE = """
import math
import numpy as np
from spherapprox._kernels.scalars.loops import LOOPS, beta
areas = np.empty(2)
LOOPS[beta.log_surface_area](np.array([1.0, 2.0]), areas)
np.testing.assert_allclose(areas, np.log([2.0 * math.pi, 4.0 * math.pi]))
"""


def start(code, **variables):
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"} | variables
    command = [sys.executable, "-c", f"{code}\nprint('done')"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(code=CODE, **variables):
    """Run code to its end, and return what it says on stderr."""
    out, stderr = start(code, **variables).communicate()
    assert out == "done\n", stderr
    return stderr


def compiled_files(folder):
    return [path for path in Path(folder).rglob("*") if path.suffix in (".nbi", ".nbc")]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A folder that holds the kernels of `CODE`."""
    folder = tmp_path_factory.mktemp("filled")
    run(NUMBA_CACHE_DIR=str(folder))
    return folder


def test_the_cache_is_the_users_and_never_the_packages(tmp_path):
    run(XDG_CACHE_HOME=str(tmp_path), HOME=str(tmp_path), LOCALAPPDATA=str(tmp_path))
    assert compiled_files(tmp_path)
    assert not compiled_files(Path(spherapprox.__file__).parent)


def test_numbas_own_setting_is_followed(filled):
    kernels = {path.name.rpartition("-")[0] for path in compiled_files(filled)}
    # They are called from the compiled loop, yet kept on their own.
    assert {"_scalars.beta-log_surface_area", "_scalars.gamma-log_gamma"} <= kernels


def test_nothing_writable_is_no_error(tmp_path):
    file = tmp_path / "file"
    file.write_text("in the way")
    run(NUMBA_CACHE_DIR=str(file))
    assert file.read_text("utf-8") == "in the way"
    assert not compiled_files(Path(spherapprox.__file__).parent)


def test_damaged_files_are_compiled_again_with_one_warning(filled, tmp_path):
    shutil.copytree(filled, tmp_path, dirs_exist_ok=True)
    files = sorted(compiled_files(tmp_path))
    assert len(files) > 2
    for i, path in enumerate(files):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes((bytes(content), b"", content[: len(content) // 2])[i % 3])  # flipped, empty, cut
    stderr = run(NUMBA_CACHE_DIR=str(tmp_path))
    assert stderr.count("RuntimeWarning") == 1
    assert str(files[0].parent) in stderr
    assert "delete that folder" in stderr
    assert run(NUMBA_CACHE_DIR=str(tmp_path)) == ""


class Planted:
    """What another user would have run: it makes a file when it is unpickled."""

    def __init__(self, mark):
        self.mark = str(mark)

    def __reduce__(self):
        return open, (self.mark, "w")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs modes of files")
@pytest.mark.parametrize("shared", ["folder", "files"])
def test_kernels_that_others_could_have_written_are_not_read(filled, tmp_path, shared):
    shutil.copytree(filled, tmp_path / "cache")
    files = sorted(compiled_files(tmp_path))
    content = pickle.dumps(Planted(tmp_path / "ran"))
    for path in files:
        path.write_bytes(sha256(content).digest() + content)
        path.chmod(0o666 if shared == "files" else 0o644)
    folder = files[0].parent
    folder.chmod(0o777 if shared == "folder" else 0o755)
    stderr = run(f"import os; os.umask(0)\n{CODE}", NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert not (tmp_path / "ran").exists()
    assert stderr.count("RuntimeWarning") == 1
    assert f"'{folder}'" in stderr
    assert ("NUMBA_CACHE_DIR" if shared == "folder" else "delete that folder") in stderr
    if shared == "files":  # they are the user's own now, whatever the umask
        assert run(NUMBA_CACHE_DIR=str(tmp_path / "cache")) == ""


def test_a_full_disk_is_a_warning(tmp_path):
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n" + CODE
    stderr = run(full, NUMBA_CACHE_DIR=str(tmp_path))
    assert stderr.count("RuntimeWarning") == 1
    assert "NUMBA_CACHE_DIR" in stderr
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]  # nothing half written


def test_two_processes_may_fill_the_folder_at_once(tmp_path):
    processes = [start(CODE, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2)]
    assert [process.communicate() for process in processes] == [("done\n", "")] * 2
    assert run(NUMBA_CACHE_DIR=str(tmp_path)) == ""


SLOW = f"""
from spherapprox._kernels import store
store.QUIET = 0.0
{CODE}
LOOPS[beta.cap_angle](np.ones(2), -np.ones(2), np.empty(2))
"""


def test_compiling_for_long_is_said_once_and_only_then(tmp_path):
    stderr = run(SLOW, NUMBA_CACHE_DIR=str(tmp_path))
    assert stderr.count("\n") == 1
    assert stderr.startswith("spherapprox: compiling kernels for this machine, once;")
    assert run(SLOW, NUMBA_CACHE_DIR=str(tmp_path)) == ""  # all compiled


def test_the_word_about_compiling_can_be_silenced(tmp_path):
    silent = 'import logging; logging.getLogger("spherapprox").setLevel("ERROR")\n' + SLOW
    assert run(silent, NUMBA_CACHE_DIR=str(tmp_path)) == ""


needs_a_folder = pytest.mark.skipif(jit.cache_folder() is None, reason="no folder here can keep compiled kernels")


@needs_a_folder
def test_warmup_leaves_nothing_to_compile(monkeypatch):
    monkeypatch.setattr(_warmup, "TASKS", {})  # those of the wings are quick
    assert warmup() >= 0
    assert warmup() == 0


@needs_a_folder
def test_warmup_runs_no_module_of_the_current_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "platformdirs.py").write_text("open('ran', 'w').close()")
    monkeypatch.setattr(_warmup, "TASKS", {})  # those of the wings are quick
    warmup()
    assert not (tmp_path / "ran").exists()


def test_warmup_without_a_folder_says_what_to_set(monkeypatch):
    monkeypatch.setattr(jit, "cache_folder", lambda: None)
    with pytest.raises(OSError, match="NUMBA_CACHE_DIR"):
        warmup()
    with pytest.raises(ValueError, match="'workers'"):
        warmup(workers=0)


def test_all_that_is_compiled_counts_for_the_folders_name(tmp_path):
    package = tmp_path / "spherapprox"
    shutil.copytree(Path(spherapprox.__file__).parent, package, ignore=shutil.ignore_patterns("data", "__pycache__"))
    ask = [sys.executable, "-c", "from spherapprox._kernels import jit; print(jit.__file__, jit.cache_folder().name)"]

    def name():
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(tmp_path)}
        told = subprocess.run(ask, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        assert told.startswith(str(package))
        return told.split()[-1]

    names = {name()}
    for compiled in ("_kernels", "_kernels/partition", "_scalars", "prompts/_kernels"):
        (package / compiled / "more.py").write_text("x = 1\n")
        names.add(name())
    assert len(names) == 5


ALL_FUNCTIONS = """
@numba.njit
def all_of_them(v, x, m, phi):
    log = special.log_cap_measure(m, phi)
    return (
        special.log_iv(v, x), special.iv_ratio(v, x), special.iv_ratio(v, x, step=3),
        special.iv_ratio_complement(v, x, 2), special.log_iv_ratio(v, x, 1000), special.iv_ratio_inverse(v, phi),
        log, special.cap_angle(m, log), special.log_surface_area(m), special.gegenbauer(5, m, phi),
        special.gegenbauer_derivative(5, m, phi), special.gegenbauer_derivative(5, m, phi, order=2),
        special.gegenbauer_derivative_bound(5, m), special.gegenbauer_derivative_bound(5, m, 3, log=True),
        special.gegenbauer_lipschitz(5, m), special.gegenbauer_max_zero(5, m), special.gegenbauer_max_zero_angle(5, m),
    )

for arguments in ((2.5, 7.0, 8, 0.25), (0.0, 1e9, 1, 1.0), (3.0, float("nan"), 2, float("nan"))):
    got, expected = all_of_them(*arguments), all_of_them.py_func(*arguments)
    assert np.array_equal(got, expected, equal_nan=True), (got, expected)
"""

CHECKS = """
@numba.njit
def mean(m, angle):
    return special.log_cap_measure(m, angle)

assert mean(np.float32(2.0), np.float32(0.5)) == special.log_cap_measure(2, np.float32(0.5))
@numba.njit
def log_iv(order, x):
    return special.log_iv(order, x)

@numba.njit
def inverse(order, ratio):
    return special.iv_ratio_inverse(order, ratio)

@numba.njit
def value(degree, dim, t):
    return special.gegenbauer(degree, dim, t)

assert log_iv(2, 3) == special.log_iv(2, 3)
REFUSED = [
    (mean, (0.0, 1.0), "'dim'"), (mean, (2.5, 1.0), "'dim'"), (mean, (2.0, 4.0), "'angle'"),
    (mean, (2.0, -1.0), "'angle'"), (log_iv, (-1.0, 1.0), "'order'"), (log_iv, (1.1e12, 1.0), "'order'"),
    (log_iv, (1.0, -1.0), "'x'"), (inverse, (1.0, -0.1), "'ratio'"), (inverse, (1.0, 1.5), "'ratio'"),
    (value, (3.0, 2, 1.5), "'t'"), (value, (3.0, 2, -1.5), "'t'"), (value, (-1.0, 2, 0.5), "'degree'"),
    (value, (1.5, 2, 0.5), "'degree'"),
]
for compiled, arguments, message in REFUSED:
    for function in (compiled, compiled.py_func):
        try:
            function(*arguments)
        except ValueError as error:
            assert message in str(error)
        else:
            raise AssertionError(message)
for argument in (np.ones(2), 1j, True, "1"):
    try:
        mean(2, argument)
    except numba.TypingError as error:
        assert "takes numbers in compiled code, got 'angle'" in str(error)
    else:
        raise AssertionError(argument)
"""


@pytest.mark.parametrize(
    ("imports", "code"),
    [
        ("import numpy as np\nfrom spherapprox import special\nimport numba", ALL_FUNCTIONS),
        ("import numba\nimport numpy as np\nfrom spherapprox import special", CHECKS),
    ],
    ids=["numba last", "numba first"],
)
def test_functions_are_callable_in_compiled_code(imports, code):
    subprocess.run([sys.executable, "-c", f"{imports}\n{code}"], check=True)
