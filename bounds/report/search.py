"""Heads at fixed points, each with its best concentration, to set beside a search for the fewest tokens."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from spherapprox import CoreHead, EqualMeasurePartition, SplitHead, _checks, points, sphere
from spherapprox.error import lengths, sup_error
from spherapprox.heads.head import Head
from spherapprox.target import Target

COUNTS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
_SAMPLE = 4000
"""Points at which concentrations are compared."""


def compare_fixed_points(
    target: Target, counts: Sequence[int] = COUNTS, *, least: float = 0.0, rng: np.random.Generator | int | None = 0
) -> dict[str, list[tuple[int, float]]]:
    """Measure heads at fixed points, each with the concentration of least error.

    Parameters
    ----------
    target : Target
        What is approximated.
    counts : sequence of int
        Numbers of control points.
    least : float, default 0.0
        A method whose error is no larger is not tried with more points.
    rng : None, int or numpy.random.Generator
        Seeds the sample at which concentrations are compared.

    Returns
    -------
    dict of str to list of (int, float)
        Numbers of tokens and sup errors of "Riemann sums, split" (on an equal-measure partition) and of "interpolation,
        core" (at Fibonacci points on S^2, else at the centres of the partition).

    Raises
    ------
    TypeError, ValueError
        If the target is none, or a count is no whole number above 0.

    Examples
    --------
    >>> import bounds
    >>> from spherapprox import targets
    >>> errors = bounds.report.compare_fixed_points(targets.zonal_harmonic(2, 2), [10, 40])
    >>> {name: [round(error, 2) for _, error in rows] for name, rows in errors.items()}
    {'Riemann sums, split': [0.3, 0.18], 'interpolation, core': [0.01, 0.0]}
    """
    target = _checks.instance(target, "target", Target, remedy="Target(function, dim) makes one")
    least = _checks.real(least, "least", minimum=0.0)
    counts = [_checks.integer(n, "counts", minimum=1, maximum=10**6) for n in counts]
    x = sphere.uniform(target.dim, _SAMPLE, rng=rng)
    values = target(x)
    errors: dict[str, list[tuple[int, float]]] = {"Riemann sums, split": [], "interpolation, core": []}
    for n in counts:
        cells = EqualMeasurePartition(target.dim, n)
        nodes: Any = points.fibonacci(n) if target.dim == 2 else cells
        methods: dict[str, Callable[[float], Head]] = {
            "Riemann sums, split": partial(SplitHead.from_target, target, cells),
            "interpolation, core": partial(CoreHead.from_target, target, nodes, coefficients="interpolation"),
        }
        for name, make in methods.items():
            if not errors[name] or errors[name][-1][1] > least:
                head = _best_head(make, n=n, x=x, values=values, dim=target.dim)
                errors[name].append((n, sup_error(head, target).lower))
    return errors


def _best_head(make: Callable[[float], Head], *, n: int, x: Any, values: Any, dim: int) -> Head:
    """Return the head of the concentration with the least error at a sample."""
    scale = math.log(n) * 2.0 / dim

    def error(log: float) -> float:
        return float(lengths((make(math.exp(log))(x) - values).reshape(len(x), -1)).max())

    with warnings.catch_warnings():  # of concentrations that do not suit the points
        warnings.simplefilter("ignore", RuntimeWarning)
        grid = np.linspace(scale - 5.0, scale + 2.0, 9)
        start = min(grid, key=error)
        local = minimize_scalar(error, bounds=(start - 0.9, start + 0.9), method="bounded", options={"xatol": 0.05})
        return make(math.exp(min((local.x, start), key=error)))
