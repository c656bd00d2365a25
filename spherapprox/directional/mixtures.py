"""Mixtures of von Mises-Fisher distributions: densities and responsibilities in log space, sums, and what they give."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._scalars import bessel_ratio
from .._softmax import exponentiate, log_sum_exp, softmax
from .._types import Array, Float64
from ..special.bessel import INVERSE
from ..special.dispatch import elementwise
from ..vmf import VonMisesFisher
from .rows import Rows

ROUNDING = 0.01  # of a log density, of rows at the mean of the narrowest part
FAINT = 1e-30  # share of a row, or of all rows, below which a part has none


class Parts(NamedTuple):
    """The parts of a mixture: shares (k,), or (k+1,) with a uniform part, means (k, p), concentrations (k,)."""

    shares: Float64
    means: Float64
    concentrations: Float64
    offsets: Float64  # logarithms of shares times the largest densities by the normalised measure, as `shares`

    @classmethod
    def of(cls, shares: Float64, means: Float64, concentrations: Float64) -> Parts:
        """Return parts with their offsets."""
        with np.errstate(divide="ignore"):
            offsets = np.log(shares)
        offsets[: len(means)] += VonMisesFisher(means.shape[1] - 1, concentrations).log_density(1.0)
        return cls(shares, means, concentrations, offsets)


class Sums(NamedTuple):
    """What the next parts depend on: weights of rows in each part, sums of their directions, and the log-likelihood."""

    masses: Float64
    resultants: Float64
    log_likelihood: float


class Ascent(NamedTuple):
    """Parts of a large likelihood, their sums, the mean log-likelihood by the normalised measure, and how it ended."""

    parts: Parts
    sums: Sums
    bound: float
    steps: int = 0
    converged: bool = False


def log_densities(rows: Rows, parts: Parts) -> Float64:
    """Return the logarithms of shares times densities, (n, k) or (n, k+1), by the normalised measure."""
    k = len(parts.means)
    result = np.empty((len(parts.offsets), len(rows)))  # so that a part's numbers lie together
    result[k:] = parts.offsets[k:, None]
    np.subtract(rows.cosines(parts.means), 1.0, out=result[:k])
    result[:k] *= parts.concentrations[:, None]
    result[:k] += parts.offsets[:k, None]
    return result.T


def describe(rows: Rows, parts: Parts, what: str) -> Array:
    """Return "logs" of the mixture's densities (n,), the "labels" of likeliest parts (n,), or their "shares" (k, n)."""
    logs = log_densities(rows, parts)
    if what == "labels":
        return np.asarray(logs.argmax(axis=1))
    return log_sum_exp(logs) if what == "logs" else softmax(logs, out=logs).T


def gather(rows: Rows, weights: Float64, draws: Float64 | None, parts: Parts, method: str) -> Sums:
    """Return the sums over a block of rows, each shared by probability, or put into the likeliest or a drawn part.

    `weights` (n,), and `draws` (n,), uniform random numbers. For "hard" the likelihood is of rows and their parts.
    """
    logs = log_densities(rows, parts)
    if method == "hard":
        labels, scores = logs.argmax(axis=1), logs.max(axis=1)
    else:
        largest, masses = exponentiate(logs, out=logs)
        totals = masses.sum(axis=1)
        scores = largest[:, 0] + np.log(totals)
    if method == "soft":
        masses *= (weights / totals)[:, None] * (masses > FAINT)  # none that float32 has too few digits of: slow
    else:
        if draws is not None:
            labels = (masses.cumsum(axis=1) <= (draws * totals)[:, None]).sum(axis=1)
        masses = weights[:, None] * (labels[:, None] == np.arange(logs.shape[1]))
    return Sums(masses.sum(axis=0), rows.add_up(masses.T[: len(parts.means)]), float(scores @ weights))


def gather_all(rows: Any, weights: Float64, parts: Parts, method: str, *, rng: Any) -> Sums:
    """Return the sums over all rows."""
    draws = rng.uniform(size=len(rows)) if method == "stochastic" else None
    return Sums(*rows.total(partial(gather, parts=parts, method=method), weights, draws))


def maximize(sums: Sums, parts: Parts, concentration: str | float, *, dtype: Any) -> Parts:
    """Return the parts of the largest expected log-likelihood, given sums over rows of a precision.

    Concentrations end at the `largest`. A part without rows keeps its mean and has the share 0.
    """
    k, p = parts.means.shape
    masses = np.where(sums.masses > FAINT * sums.masses.sum(), sums.masses, 0.0)
    lengths = np.sqrt(np.square(sums.resultants).sum(axis=1))
    full = (masses[:k] > 0.0) & (lengths > 0.0)
    means = np.where(full[:, None], sums.resultants / np.where(full, lengths, 1.0)[:, None], parts.means)
    if not isinstance(concentration, str):
        return Parts.of(masses / masses.sum(), means, np.full(k, concentration))
    counts, lengths = np.where(full, masses[:k], 1.0), np.where(full, lengths, 0.0)
    if concentration == "equal":
        counts, lengths = np.full(k, masses[:k].sum() or 1.0), np.full(k, lengths.sum())
    excess = np.maximum(counts - lengths, 0.0) / counts  # 1 - the mean's length
    sizes = elementwise(bessel_ratio.iv_ratio_inverse, 0.5 * p - 1.0, 1.0 - excess, excess, work=INVERSE)
    return Parts.of(masses / masses.sum(), means, np.minimum(sizes, largest(dtype)))


def largest(dtype: Any) -> float:
    """Return the largest concentration: its rounding of cosines changes log densities by `ROUNDING`."""
    return ROUNDING / float(np.finfo(dtype).eps)


def climb(
    rows: Any, weights: Float64, parts: Parts, concentration: Any, *, method: str, max_iter: int, tol: float, rng: Any
) -> Ascent:  # fmt: skip
    """Alternate sums over rows and their best parts until the mean log-likelihood rises by at most `tol`.

    With drawn parts it does not settle: all steps are taken, and the best of the parts returned.
    """
    count, eps = float(weights.sum()), float(np.finfo(rows.dtype).eps)
    sums = gather_all(rows, weights, parts, method, rng=rng)
    best = Ascent(parts, sums, sums.log_likelihood / count)
    bound, converged, step = best.bound, False, 0
    while step < max_iter and not converged:
        step += 1
        parts = maximize(sums, parts, concentration, dtype=rows.dtype)
        sums = gather_all(rows, weights, parts, method, rng=rng)
        before, bound = bound, sums.log_likelihood / count
        rounding = eps * float(parts.concentrations @ parts.shares[: len(parts.means)])
        converged = method != "stochastic" and bound - before <= tol + rounding
        if bound >= best.bound - rounding:
            best = Ascent(parts, sums, bound)
    return best._replace(steps=step, converged=converged)
