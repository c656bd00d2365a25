"""Bandwidths of kernel densities: sums without rows' own terms, the likelihood that they give, and a rule of thumb."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial

import numpy as np

from .._scalars import bessel_ratio
from .._types import Float64, Indices
from ..special import iv_ratio
from ..summation import evaluate_log, explain_sum
from ..vmf import VonMisesFisher
from ..vmf.fitting import resultant

LEAST, LARGEST = 1e-3, 1e12  # of concentrations that are chosen
RTOL, DIGITS = 1e-11, 1e-6
FEW = 32  # rows of which all pairs are taken at once
SCAN, PILOT = 512, 4096  # rows with which the search begins
COARSE, FINE = 1.0, 0.25  # steps in the logarithm: a parabola of the second is right to 0.01


def log_sums(x: Float64, rows: Float64, weights: Float64, concentration: float) -> Float64:
    """Return the logarithms (m,) of ``sum_k w_k exp(-concentration |x - rows_k|^2 / 2)`` at unit rows, to `DIGITS`."""
    logs, doubtful = _fast_logs(x, rows, weights, concentration, own=0.0)
    if len(doubtful):
        logs[doubtful] = evaluate_log(x[doubtful], rows, weights, concentration, rtol=RTOL)
    return logs


def log_sums_of_others(rows: Float64, weights: Float64, concentration: float) -> Float64:
    """Return the logarithms (n,) of `log_sums` at each row without the row's own term, to `DIGITS`.

    The own term is taken off where what is left has digits enough; isolated rows are summed without it.
    """
    logs, doubtful = _fast_logs(rows, rows, weights, concentration, own=weights)
    if len(doubtful):
        others = np.ones(len(rows), dtype=bool)
        others[doubtful] = False
        logs[doubtful] = _log_sums_among(rows[doubtful], weights[doubtful], concentration)
        if others.any():
            rest = evaluate_log(rows[doubtful], rows[others], weights[others], concentration, rtol=RTOL)
            logs[doubtful] = np.logaddexp(logs[doubtful], rest)
    return logs


def _fast_logs(
    x: Float64, rows: Float64, weights: Float64, concentration: float, *, own: Float64 | float
) -> tuple[Float64, Indices]:
    """Return the logarithms of sums less own terms, and where the bound of their errors is too large."""
    sums, record = explain_sum(x, rows, weights, concentration, rtol=RTOL)
    scale = sums.max() if record.scale == "largest row" else sums
    errors = record.atol + record.rtol * scale
    sums = sums - own
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(sums), np.flatnonzero(~(sums * DIGITS >= errors))


def _log_sums_among(rows: Float64, weights: Float64, concentration: float) -> Float64:
    """Return the logarithms of each row's sum over the others, by halves: two halves have no own terms."""
    n = len(rows)
    if n <= FEW:
        squares = np.square(rows[:, None] - rows).sum(axis=-1)
        terms = np.log(weights) - 0.5 * concentration * squares
        np.fill_diagonal(terms, -np.inf)
        return np.asarray(np.logaddexp.reduce(terms, axis=1))
    halves, logs = (slice(n // 2), slice(n // 2, n)), np.empty(n)
    for own, other in (halves, halves[::-1]):
        across = evaluate_log(rows[own], rows[other], weights[other], concentration, rtol=RTOL)
        logs[own] = np.logaddexp(_log_sums_among(rows[own], weights[own], concentration), across)
    return logs


def cross_validate(rows: Float64, weights: Float64) -> tuple[float, float]:
    """Return the concentration of the largest leave-one-out likelihood, and the mean log density of left-out rows.

    `weights` have the sum 1. Clusters far apart make likelihoods of several local maxima: all orders of magnitude are
    tried with `SCAN` rows. From there it is sought with `PILOT` rows, and then with all: for n times as many it lies
    about n^(2 / (dim + 4)) times higher.
    """
    likelihood = partial(left_out_likelihood, rows, weights)
    limits = math.log(LEAST), math.log(LARGEST)
    if len(rows) > PILOT:
        part = _draw(rows, weights, PILOT)
        start, steps = math.log(cross_validate(*part)[0]), [FINE]
    else:
        part = _draw(rows, weights, SCAN)
        start, steps = max(np.arange(*limits, 2.0), key=partial(left_out_likelihood, *part)), [COARSE, FINE]
    start += 2.0 / (rows.shape[1] + 3.0) * math.log(len(rows) / len(part[0]))
    best, value = maximize(likelihood, start, steps, limits=limits)
    return math.exp(best), value


def left_out_likelihood(rows: Float64, weights: Float64, log_concentration: float) -> float:
    """Return the weighted mean of the log densities, in the measure of total 1, of rows that are left out."""
    concentration = math.exp(log_concentration)
    logs = log_sums_of_others(rows, weights, concentration) - np.log1p(-np.minimum(weights, 1.0 - 1e-15))
    return float(weights @ logs + VonMisesFisher(rows.shape[1] - 1, concentration).log_density(1.0))


def _draw(rows: Float64, weights: Float64, count: int) -> tuple[Float64, Float64]:
    """Return at most so many rows, always the same ones, and their shares."""
    if len(rows) <= count:
        return rows, weights
    part = np.sort(np.random.default_rng(0).choice(len(rows), count, replace=False, shuffle=False))
    return rows[part], weights[part] / weights[part].sum()


def maximize(
    f: Callable[[float], float], start: float, steps: list[float], limits: tuple[float, float]
) -> tuple[float, float]:
    """Return where a function of one local maximum is largest, and its value.

    It walks uphill by each of the steps, and then goes to the vertex of the parabola through the last three points.
    """
    x = start
    for step in steps:
        ladder = cache(lambda i, x=x, step=step: f(min(max(x + i * step, limits[0]), limits[1])))
        i = 0
        while ladder(i) < max(ladder(i - 1), ladder(i + 1)):
            i += 1 if ladder(i + 1) > ladder(i - 1) else -1
        left, middle, right = (ladder(j) for j in (i - 1, i, i + 1))
        bend = 2.0 * middle - left - right
        x += step * (i + (0.5 * (right - left) / bend if bend > 0.0 else 0.0))
    x = min(max(x, limits[0]), limits[1])
    return x, f(x)


def rule_of_thumb(rows: Float64, weights: Float64) -> float:
    """Return the concentration of least asymptotic error for the von Mises-Fisher density that fits the rows.

    `weights` have the sum 1; they count as one over the sum of their squares rows.
    """
    _, length, complement = resultant(rows, weights)
    dim = rows.shape[1] - 1
    fitted = bessel_ratio.iv_ratio_inverse(0.5 * (dim - 1), min(length, 1.0), complement)
    return best_concentration(dim, fitted, 1.0 / float(weights @ weights))


def best_concentration(dim: int, fitted: float, n: float) -> float:
    """Return the concentration for n rows of a von Mises-Fisher distribution that makes `log_error` least."""
    from scipy.optimize import minimize_scalar

    if fitted <= 0.0:
        return LEAST
    options, limits = {"xatol": 1e-9}, (math.log(LEAST), math.log(LARGEST))
    best = minimize_scalar(
        lambda t: log_error(dim, fitted, n, concentration=math.exp(t)), bounds=limits, method="bounded", options=options
    )
    return math.exp(float(best.x))


def log_error(dim: int, fitted: float, n: float, *, concentration: float) -> float:
    """Return the logarithm of the asymptotic mean integrated squared error, in the measure of total 1.

    The square of the bias is that of (1 - a_1)/dim times the Laplace-Beltrami operator of f, the variance the integral
    of the kernel's square over n: the page of these estimators derives both.
    """
    first, second = (float(iv_ratio(0.5 * (dim - 1), 2.0 * fitted, j)) for j in (1, 2))
    roughness = 0.25 * dim * fitted * ((dim + 2.0) * fitted * second + 2.0 * dim * first)
    squared = 2.0 * math.log(VonMisesFisher(dim, concentration).mean_one_minus_cos() / dim)
    bias = squared + math.log(roughness) + log_square_integral(dim, fitted)
    return float(np.logaddexp(bias, log_square_integral(dim, concentration) - math.log(n)))


def log_square_integral(dim: int, concentration: float) -> float:
    """Return the logarithm of the integral of the kernel's square, c(k)^2 / c(2k), in the measure of total 1."""
    kernel, narrow = (VonMisesFisher(dim, k).log_density(1.0) for k in (concentration, 2.0 * concentration))
    return float(2.0 * kernel - narrow)
