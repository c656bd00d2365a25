"""The public names, and what importing costs."""

import json
import subprocess
import sys

import pytest

import spherapprox


def loaded_after(statement):
    """Return the names of all modules that a fresh process has loaded after a statement."""
    code = f"import sys, json; {statement}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_import_is_light():
    loaded = loaded_after("import spherapprox")
    assert not loaded & {"numba", "scipy", "matplotlib", "mpmath", "tqdm"}


def test_bounds_loads_no_matplotlib():
    loaded = loaded_after("import bounds")
    assert "spherapprox.heads" in loaded
    assert not loaded & {"matplotlib", "torch"}


@pytest.mark.parametrize("name", spherapprox.__all__)
def test_every_public_name_loads(name):
    assert getattr(spherapprox, name).__doc__
    assert name in dir(spherapprox)


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        spherapprox.nothing  # noqa: B018
