"""Mixtures of distributions of directions: densities and responsibilities in log space, sums, and what they give."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from .._scalars import bessel_ratio
from .._softmax import exponentiate, log_sum_exp, softmax
from .._types import Array, Float64
from ..special.bessel import INVERSE
from ..special.dispatch import elementwise
from ..vmf import VonMisesFisher
from .rows import Rows

ROUNDING = 0.01  # of a log density, of rows at the mean of the narrowest part
FIRST_NOISE = 0.1  # share of a uniform part at the start
FAINT = 1e-30  # share of a row, or of all rows, below which a part has none


class Parts(NamedTuple):
    """Von Mises-Fisher parts: shares (k,), or (k+1,) with a uniform part, means (k, p), concentrations (k,).

    Parts of another kind override what follows `of`.
    """

    shares: Float64
    means: Float64
    concentrations: Float64
    offsets: Float64  # logarithms of shares times the largest densities by the normalised measure, as `shares`

    @classmethod
    def of(cls, shares: Float64, means: Float64, concentrations: Float64) -> Self:
        """Return parts with their offsets."""
        with np.errstate(divide="ignore"):
            offsets = np.log(shares)
        offsets[: len(means)] += cls.log_peaks(means.shape[1], concentrations)
        return cls(shares, means, concentrations, offsets)

    @staticmethod
    def log_peaks(columns: int, concentrations: Float64) -> Float64:
        """Return the logarithms of the largest densities by the normalised measure."""
        return np.asarray(VonMisesFisher(columns - 1, concentrations).log_density(1.0))

    @staticmethod
    def largest(dtype: Any) -> float:
        """Return the largest concentration: its rounding of cosines changes log densities by `ROUNDING`."""
        return ROUNDING / float(np.finfo(dtype).eps)

    def exponents(self, cosines: Array, *, out: Array) -> None:
        """Write, of cosines with means (k, n), what concentrations multiply in log densities less those at peaks."""
        np.subtract(cosines, 1.0, out=out)

    @staticmethod
    def add_up(rows: Rows, masses: Array) -> Float64:
        """Return the sums over rows, with masses (k, n), that the likeliest parts depend on: (k, p)."""
        return rows.add_up(masses)

    def refit(self, masses: Float64, sums: Float64, choice: str | float, top: float) -> tuple[Float64, Float64]:
        """Return the likeliest means and concentrations up to `top`, for masses (k,); without rows a mean stays."""
        lengths = np.sqrt(np.square(sums).sum(axis=1))
        full = (masses > 0.0) & (lengths > 0.0)
        means = np.where(full[:, None], sums / np.where(full, lengths, 1.0)[:, None], self.means)
        if not isinstance(choice, str):
            return means, np.full(len(masses), choice)
        counts, lengths = np.where(full, masses, 1.0), np.where(full, lengths, 0.0)
        if choice == "equal":
            counts, lengths = np.full(len(masses), masses.sum() or 1.0), np.full(len(masses), lengths.sum())
        excess = np.maximum(counts - lengths, 0.0) / counts  # 1 - the mean's length
        order = 0.5 * means.shape[1] - 1.0
        sizes = elementwise(bessel_ratio.iv_ratio_inverse, order, 1.0 - excess, excess, work=INVERSE)
        return means, np.minimum(sizes, top)


class Sums(NamedTuple):
    """What the next parts depend on: weights of rows in each part, sums over its rows, and the log-likelihood."""

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
    parts.exponents(rows.cosines(parts.means), out=result[:k])
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
    return Sums(masses.sum(axis=0), parts.add_up(rows, masses.T[: len(parts.means)]), float(scores @ weights))


def gather_all(rows: Any, weights: Float64, parts: Parts, method: str, *, rng: Any) -> Sums:
    """Return the sums over all rows."""
    draws = rng.uniform(size=len(rows)) if method == "stochastic" else None
    return Sums(*rows.total(partial(gather, parts=parts, method=method), weights, draws))


def maximize(sums: Sums, parts: Parts, choice: str | float, *, dtype: Any) -> Parts:
    """Return the parts of a choice that have the largest expected log-likelihood, given sums over rows of a precision.

    Concentrations end at the `largest`. A part without rows keeps its mean and has the share 0.
    """
    masses = np.where(sums.masses > FAINT * sums.masses.sum(), sums.masses, 0.0)
    means, sizes = parts.refit(masses[: len(parts.means)], sums.resultants, choice, parts.largest(dtype))
    return parts.of(masses / masses.sum(), means, sizes)


def fill_up(parts: Parts, k: int, *, noise: bool) -> Parts:
    """Return k parts to start from, those that are missing without rows, and with `noise` a uniform one."""
    missing = k - len(parts.means)
    shares = np.append(parts.shares, np.zeros(missing))
    shares = np.append((1.0 - FIRST_NOISE) * shares, FIRST_NOISE) if noise else shares
    means = np.vstack((parts.means, np.repeat(parts.means[:1], missing, axis=0)))
    return parts.of(shares, means, np.resize(parts.concentrations, k))


def climb(
    rows: Any, weights: Float64, parts: Parts, choice: Any, *, method: str, max_iter: int, tol: float, rng: Any
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
        parts = maximize(sums, parts, choice, dtype=rows.dtype)
        sums = gather_all(rows, weights, parts, method, rng=rng)
        before, bound = bound, sums.log_likelihood / count
        rounding = eps * float(np.abs(parts.concentrations) @ parts.shares[: len(parts.means)])
        converged = method != "stochastic" and bound - before <= tol + rounding
        if bound >= best.bound - rounding:
            best = Ascent(parts, sums, bound)
    return best._replace(steps=step, converged=converged)
