"""Expected times are held against the machine: once, for long sums, and never for short ones."""

from processes import run

SETTING = """
import sys
import numpy as np
from spherapprox import sphere
from spherapprox.summation import plan
from spherapprox.summation.problem import Problem

def costs(n, concentration=1.0):
    x = sphere.uniform(2, n, rng=0)
    problem = Problem(x, x, concentration / 2.0, np.dtype(np.float64), np.ones((n, 1)), normalize=False)
    return plan.compare(problem, plan.allowed(problem, 1e-9), False)[0]
"""

PARTLY = """
from spherapprox._kernels import machine
machine.measured("harmonic on S^2", lambda: 8.0, 0.1, 10.0)
machine.measured("lowrank", lambda: 4.0, 0.1, 10.0)
machine._numbers.pop("dense", None)
plan.rates._spent[0] = -1e9  # nothing more is measured
for before, after in ((plain, costs(100)), (many, costs(20_000))):
    assert abs(after["dense"] / before["dense"] - 6.0) < 1e-12
"""

SCALED = """
costs(1000)
assert "spherapprox._kernels.machine" not in sys.modules  # short sums neither measure nor ask for it
from spherapprox._kernels import machine
assert machine.recorded() == {}
plain, many = costs(100), costs(20_000)
assert machine.recorded() == {}
machine.measured("dense", lambda: 2.0, 0.1, 10.0)
machine.measured("harmonic on S^2", lambda: 8.0, 0.1, 10.0)
machine.measured("harmonic on S^1", lambda: 5.0, 0.1, 10.0)
for before, after in ((plain, costs(100)), (many, costs(20_000))):
    assert set(before) == {"dense", "harmonic", "lowrank"}
    for name, factor in (("dense", 2.0), ("harmonic", 8.0), ("lowrank", 2.0)):
        assert abs(after[name] / before[name] - factor) < 1e-12, name
"""


def test_expected_times_are_scaled_by_what_was_measured(tmp_path):
    run(SETTING + SCALED + PARTLY, NUMBA_CACHE_DIR=str(tmp_path))


LONG = """
import numpy as np
from spherapprox import evaluate, sphere
from spherapprox.config import show_config
from spherapprox.summation import evaluate_log
x, b = sphere.uniform(2, 20_000, rng=0), sphere.uniform(2, 20_000, rng=1)
evaluate(x[:5000], b, np.ones(len(b)), 5000.0, method="dense")
evaluate_log(x, b, np.ones(len(b)), 0.1)
numbers = show_config("dicts")["calibration"]
assert 1 / 16 <= numbers["dense"] <= 16, numbers
"""


def test_a_long_sum_measures_the_methods_that_this_process_has_used():
    run(LONG)
