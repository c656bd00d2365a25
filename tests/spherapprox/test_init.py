"""The public names, and what importing costs."""

import json
import subprocess
import sys

import pytest

import bounds
import spherapprox


def loaded_after(statement):
    """Return the names of all modules that a fresh process has loaded after a statement."""
    code = f"import sys, json; {statement}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_import_is_light():
    loaded = loaded_after("import spherapprox")
    assert not loaded & {"numba", "scipy", "matplotlib", "mpmath", "tqdm", "sklearn", "torch"}


def test_most_names_load_neither_scipy_nor_a_compiler():
    names = (
        "CoreHead, EqualMeasurePartition, PointSet, SplitHead, harmonics, points, special, sphere, sup_error, targets"
    )
    loaded = loaded_after(f"from spherapprox import {names}; points.fibonacci(9); targets.geomagnetic_field")
    assert not loaded & {"numba", "llvmlite", "scipy", "matplotlib", "sklearn", "torch"}


def test_bounds_loads_no_matplotlib():
    loaded = loaded_after("import bounds, spherapprox.prompts.prefix; bounds.validate")
    assert "spherapprox.heads" in loaded
    assert not loaded & {"matplotlib", "torch"}


@pytest.mark.parametrize("name", spherapprox.__all__)
def test_every_public_name_loads(name):
    assert getattr(spherapprox, name).__doc__
    assert name in dir(spherapprox)


@pytest.mark.parametrize("package", [spherapprox, spherapprox.heads, spherapprox.prompts, bounds, bounds.report])
def test_dir_shows_public_names_only(package):
    assert set(package.__all__) <= set(dir(package))
    assert set(dir(package)) - set(package.__all__) <= {"HeadRegressor", *getattr(package, "_MODULES", ())}


@pytest.mark.parametrize("package", [spherapprox, bounds])
def test_the_door_has_few_names_and_leads_to_all_others(package):
    assert len(package.__all__) <= 20
    for name in package._MODULES:
        assert getattr(package, name).__doc__


AT_ONCE = """
import threading
import bounds, spherapprox

names = [(package, name) for package in (spherapprox, bounds, spherapprox.heads) for name in package.__all__]
barrier, faults = threading.Barrier(len(names)), []

def first_use(package, name):
    barrier.wait()
    try:
        getattr(package, name)
    except Exception as error:
        faults.append(f"{name}: {error!r}")

threads = [threading.Thread(target=first_use, args=each) for each in names]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(faults)
"""


@pytest.mark.once
def test_names_may_be_used_first_in_several_threads_at_once():
    done = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout == "[]\n"


NO_ENTRY = 'sys.modules["sklearn"] = None  # imports fail as where it is not installed'
STAND_IN = 'import types; sys.modules["sklearn"] = types.ModuleType("sklearn")  # its __spec__ is None'
REFUSED = """
class Refusing:
    def find_spec(self, name, *_):
        if name == "sklearn":
            raise ModuleNotFoundError("no scikit-learn here", name=name)

sys.meta_path.insert(0, Refusing())
"""
WITHOUT_SCIKIT_LEARN = """
import inspect, pydoc
import spherapprox

assert not hasattr(spherapprox, "HeadRegressor")
assert not hasattr(spherapprox.heads, "HeadRegressor")
assert {"SplitHead", "sphere"} <= dict(inspect.getmembers(spherapprox)).keys()
assert "class SplitHead" in pydoc.plaintext.document(spherapprox)
for line in ("spherapprox.HeadRegressor", "from spherapprox import HeadRegressor",
             "from spherapprox.heads import HeadRegressor"):
    try:
        exec(line)
    except (AttributeError, ImportError) as error:
        print(type(error).__name__, error)
"""


@pytest.mark.once
@pytest.mark.parametrize("how", [NO_ENTRY, STAND_IN, REFUSED])
def test_without_scikit_learn_everything_else_can_be_inspected_and_its_import_says_what_to_install(how):
    code = f"import sys\n{how}\n{WITHOUT_SCIKIT_LEARN}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    kinds, messages = zip(*(line.split(" ", 1) for line in done.stdout.splitlines()), strict=True)
    assert kinds == ("AttributeError", "ImportError", "ImportError")
    assert all('pip install "spherapprox[learn]"' in message for message in messages)


def test_the_regressor_is_listed_where_scikit_learn_is_installed():
    pytest.importorskip("sklearn", reason="the extra `learn`")
    assert "HeadRegressor" in dir(spherapprox)
