"""Riemann coefficients: the convolution of kernel and target, its integral replaced by a sum over control points."""

from __future__ import annotations

import math

import numpy as np

from .._types import Floats
from ..points.pointset import require_equal
from ..vmf import VonMisesFisher
from .task import Task


def core(task: Task) -> Floats:
    """Return ``c exp(lambda) w_k f(b_k)``, c the kernel's normaliser for the normalised measure.

    c alone is near ``exp(-lambda)``; here it is never apart from ``exp(lambda)``: the product grows like
    ``lambda^(dim/2)``.
    """
    f = task.sample()
    n, weights = len(task.rows), task.weights
    scale = peak(task.dim, task.concentration) * (np.full(n, 1.0 / n) if weights is None else weights)
    values = (f.astype(np.float64).T * scale).T
    fits = f.dtype == np.float32 and np.abs(values).max() < np.finfo(np.float32).max
    return values.astype(np.float32) if fits else values


def split(task: Task) -> Floats:
    """Return ``f(b_k)``; softmax weighs every control point alike, so the weights must be equal."""
    require_equal(task.weights)
    return task.sample().copy()  # the target may have returned a part of its argument


def peak(dim: int, concentration: float) -> float:
    """Return ``c exp(lambda)``, the kernel's largest value, unless it is beyond float64."""
    log_peak = float(VonMisesFisher(dim, concentration).log_density(1.0))
    if log_peak > 700.0:
        raise ValueError(
            f"'concentration' must be small enough for the kernel's peak to fit float64, got {concentration:g}: "
            f"at dim = {dim} the peak is exp({log_peak:.6g}); a SplitHead does not need it"
        )
    return math.exp(log_peak)
