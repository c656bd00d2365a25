"""Code in a process of its own."""

import os
import subprocess
import sys


def run(code, *arguments, **variables):
    """Return what the code prints, with these arguments and with these environment variables beside the usual ones."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code, *arguments]
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def run_with_threads(code, n):
    """Return what the code prints, with n threads of every kind."""
    return run(code, OPENBLAS_NUM_THREADS=n, OMP_NUM_THREADS=n, SPHERAPPROX_WORKERS=n)
