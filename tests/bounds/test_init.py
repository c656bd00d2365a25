"""The package: its names, and what is loaded when."""

import subprocess
import sys

import pytest

import bounds


@pytest.mark.parametrize("name", bounds.__all__)
def test_every_name_is_there_and_listed(name):
    assert getattr(bounds, name) is not None
    assert name in dir(bounds)


def test_importing_loads_nothing_else():
    code = (
        "import sys, bounds.report.cli; print({'numpy', 'scipy', 'numba', 'matplotlib', 'argparse'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
