"""Code in a process of its own."""

import os
import subprocess
import sys


def run(code, **variables):
    """Return what the code prints, with these environment variables beside the usual ones."""
    process = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | variables, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.strip()


def run_with_threads(code, n):
    """Return what the code prints, with n threads of every kind."""
    return run(code, OPENBLAS_NUM_THREADS=n, OMP_NUM_THREADS=n, SPHERAPPROX_WORKERS=n)
