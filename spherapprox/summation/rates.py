"""What this machine makes of the methods' expected times: each method's time of a small sum, measured once.

The models of the methods say how times grow; how fast a machine is, relative to the one they were fitted on, a run of a
few milliseconds says. It is made when sums take much longer, by methods whose code this process has loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from .._loading import load
from .method import Method, Tolerance, silent
from .problem import Problem

WORTH, LEAST = 0.3, 0.02
"""Expected seconds of all sums of a process from which on methods are measured, some 30 ms each, once on a machine; and
of a sum that waits for that."""
FARTHEST = 16.0  # how many times faster or slower than expected a machine is believed to be
_LOADED = "spherapprox._kernels.jit"

_used: set[str] = set()  # runs whose code this process has loaded
_spent = [0.0]  # expected seconds of the sums of this process


@dataclass(frozen=True)
class _Run:
    """A sum that takes 3 to 30 milliseconds: its method, dimension, size and concentration."""

    method: str
    dim: int
    n: int
    concentration: float

    def problem(self) -> Problem:
        """Return the sum, at points of the sphere over others."""
        from .. import sphere

        x, b = (sphere.uniform(self.dim, self.n, rng=seed) for seed in (0, 1))
        return Problem(
            x, b, self.concentration / 2.0, dtype=np.dtype(np.float64), values=np.ones((self.n, 1)), normalize=False
        )


_RUNS = {
    "dense": _Run("dense", 2, 2000, concentration=10.0),
    "dense by products": _Run("dense", 19, 1500, concentration=10.0),
    "truncated": _Run("truncated", 2, 30_000, concentration=1e4),
    "harmonic on S^1": _Run("harmonic", 1, 30_000, concentration=30.0),
    "harmonic on S^2": _Run("harmonic", 2, 30_000, concentration=30.0),
    "lowrank": _Run("lowrank", 3, 30_000, concentration=1.0),
}
_TOLERANCE = Tolerance(1e-10, 1e-9)


def note_use(method: str, problem: Problem) -> None:
    """Note that a method's compiled code is loaded, the one that its run needs: no measurement waits for a compiler."""
    if problem.kernel == "fused" and problem.dtype == np.float64:
        _used.add(_run_name(method, problem))


def on_this_machine(costs: Mapping[str, float], problem: Problem) -> dict[str, float]:
    """Return the expected seconds of methods on this machine, from those of the models.

    Methods that have not been measured are taken to be as much faster or slower as the dense one, or else the others.
    """
    least = min(costs.values())
    _spent[0] += least
    long = _spent[0] > WORTH and least > LEAST
    if not long and _LOADED not in sys.modules:  # numba alone takes longer than the sum
        return dict(costs)
    factors = {name: _factor(_run_name(name, problem), long) for name in costs}
    usual = factors.get("dense") or float(np.median([factor for factor in factors.values() if factor] or [1.0]))
    return {name: cost * (factors[name] or usual) for name, cost in costs.items()}


def _run_name(method: str, problem: Problem) -> str:
    """Return the name of the run that stands for a method's time of a problem."""
    if method == "harmonic":
        return f"harmonic on S^{problem.dim}"
    return "dense by products" if method == "dense" and problem.by_products else method


def _factor(name: str, measure: bool) -> float | None:
    """Return a run's time over the expected one; None if it has not been measured, and is not to be or cannot be yet.

    The bounds are what machines differ by, not what a busy one may seem to do.
    """
    machine = load("spherapprox._kernels.machine")
    if name not in _RUNS:  # a method without a run is as fast as the others
        return None
    if name not in machine.recorded() and not (measure and name in _used):
        return None
    factor: float = machine.measured(name, lambda: _slowness(_RUNS[name], machine.seconds), 1.0 / FARTHEST, FARTHEST)
    return factor


def _slowness(run: _Run, seconds: Callable[[Callable[[], object]], float]) -> float:
    """Return the measured seconds of a run over those that its method's model expects."""
    method, problem = cast(Method, load(f"{__package__}.{run.method}")), run.problem()
    # dense sums in the form that most take, which is compiled
    tolerance = replace(_TOLERANCE, omitted=0.0) if run.method == "dense" else _TOLERANCE
    return seconds(lambda: method.sums(problem, tolerance, 1, silent)) / method.cost(problem, _TOLERANCE)
