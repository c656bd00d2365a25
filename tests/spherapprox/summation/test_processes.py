"""Sums in threads and processes of the user's own."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from spherapprox import evaluate, sphere

X, B = sphere.uniform(2, 300, 0), sphere.uniform(2, 500, 1)


def test_many_threads_at_once_give_the_same_bits():
    values = [np.random.default_rng(seed).random(len(B)) for seed in range(8)]
    alone = [evaluate(X, B, v, 20.0, workers=2) for v in values]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda v: evaluate(X, B, v, 20.0, workers=2), values))
    for a, b in zip(alone, together, strict=True):
        np.testing.assert_array_equal(a, b)


SCRIPT = """
import multiprocessing, os, sys
import numpy as np
import pytest
from spherapprox import evaluate, sphere
from spherapprox.summation import dense

x, b = sphere.uniform(2, 300, 0), sphere.uniform(2, 500, 1)

def sums(seed):
    return evaluate(x, b, np.random.default_rng(seed).random(len(b)), 20.0, workers=2)

if __name__ == "__main__":
    here = [sums(seed) for seed in range(4)]
    for method in sys.argv[1:]:
        with multiprocessing.get_context(method).Pool(1) as pool:
            there = pool.map(sums, range(4))
        assert all(np.array_equal(a, b) for a, b in zip(here, there)), method
"""


@pytest.mark.once
def test_pools_of_processes_give_the_same_bits(tmp_path):
    script = tmp_path / "sums.py"
    script.write_text(SCRIPT)
    methods = ["spawn", "fork"] if sys.platform == "linux" else ["spawn"]  # fork is the default on Linux alone
    subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", str(script), *methods], check=True, timeout=120)
