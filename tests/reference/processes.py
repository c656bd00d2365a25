"""Code in a process of its own, and the memory that a call takes in this one."""

import os
import subprocess
import sys
import tracemalloc


def run(code, *arguments, **variables):
    """Return what the code prints, with these arguments and with these environment variables beside the usual ones."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code, *arguments]
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def run_with_threads(code, n):
    """Return what the code prints, with n threads of every kind."""
    return run(code, OPENBLAS_NUM_THREADS=n, OMP_NUM_THREADS=n, SPHERAPPROX_WORKERS=n)


def peak_memory(call):
    """Return a call's result, and the bytes held at once while it is made, the result included."""
    tracemalloc.start()
    try:
        result = call()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
