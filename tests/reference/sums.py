"""The sums of `evaluate` by their definition, in long double and in 60 digits, and random points of the sphere."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest

from spherapprox.summation.problem import Problem

Array = np.ndarray[Any, Any]

wide = pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="longdouble is no wider than float64 here")


def unit(x: Array) -> Array:
    """Divide rows by their lengths."""
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def sphere(n: int, dim: int, seed: int | np.random.Generator = 0) -> Array:
    """Draw uniform points (n, dim + 1)."""
    return unit(np.random.default_rng(seed).standard_normal((n, dim + 1)))


def tilted(dim: int) -> Array:
    """Return a unit vector in general position."""
    mean = np.arange(1.0, dim + 2.0) * (-1.0) ** np.arange(dim + 1)
    return np.asarray(mean / np.linalg.norm(mean))


def truth(x: Array, b: Array, values: Array, concentration: float, normalize: bool = False) -> tuple[Array, Array]:
    """Return the sums on the rows as given, or the quotients, and those of absolute values, in long double."""
    x, b, values = (np.asarray(a, np.longdouble) for a in (x, b, values))
    t = ((x[:, None] - b) ** 2).sum(axis=2)  # (m, n)
    e = np.exp(-np.longdouble(concentration) / 2 * (t - (t.min(axis=1, keepdims=True) if normalize else 0.0)))
    below = e.sum(axis=1).reshape(-1, *[1] * (values.ndim - 1)) if normalize else 1.0
    return e @ values / below, e @ np.abs(values) / below


def exact(x: Array, b: Array, values: Array, concentration: float, normalize: bool = False) -> Any:
    """Return the sum, or the quotient, at one point to 60 digits."""
    with mp.workdps(60):
        t = [mp.fsum((mp.mpf(float(p)) - mp.mpf(float(q))) ** 2 for p, q in zip(x, row, strict=True)) for row in b]
        e = [mp.exp(-mp.mpf(float(concentration)) / 2 * s) for s in t]
        total = mp.fsum(mp.mpf(float(v)) * w for v, w in zip(values, e, strict=True))
        return total / mp.fsum(e) if normalize else total


def problem(x: Array, b: Array, values: Array, concentration: float, **options: Any) -> Problem:
    """Return the problem that `evaluate` makes of arguments."""
    table = np.asarray(values, np.float64).reshape(len(b), -1)
    return Problem(x, b, concentration / 2.0, np.result_type(x, b), table, **options)


def exact_keyed(x: Array, b: Array, values: Array, concentrations: Array, normalize: bool = False) -> tuple[Any, Any]:
    """Return the sum with a concentration for each control point, or the quotient, and that of absolute values."""
    with mp.workdps(60):
        t = [mp.fsum((mp.mpf(float(p)) - mp.mpf(float(q))) ** 2 for p, q in zip(x, row, strict=True)) for row in b]
        logits = [mp.mpf(float(c)) * (int(normalize) - s / 2) for c, s in zip(concentrations, t, strict=True)]
        top = max(logits) if normalize else 0
        e = [mp.exp(a - top) for a in logits]
        pairs = [(mp.mpf(float(v)), w) for v, w in zip(values, e, strict=True)]
        below = mp.fsum(e) if normalize else 1
        return mp.fsum(v * w for v, w in pairs) / below, mp.fsum(abs(v) * w for v, w in pairs) / below
