"""Tails of the kernel's expansion in harmonics: the parts of its peak that belong to degrees beyond a number."""

from __future__ import annotations

import math

import numpy as np

from .._types import Float64
from . import VonMisesFisher

_LARGEST = 2_000_000  # terms that are summed at most; where more are needed the bound is the kernel's peak


def log_tails(dim: int, concentration: float, max_degree: int, *, simple: bool = False) -> Float64:
    """Return logarithms (max_degree+1,) of bounds of the sum over l > g of ``dim(H_l) a_l``, or `simple` a_l.

    They are right within 1e-9 relative where at most `_LARGEST` terms count, else the kernel's peak. The ratio of two
    terms falls with l, so a geometric series bounds those that are not summed: 4.7 and 4.C (tails).
    """
    log_peak = float(VonMisesFisher(dim, concentration).log_density(1.0))
    if concentration == 0.0:
        return np.full(max_degree + 1, -math.inf)
    terms = max_degree + 100 + 12.0 * math.sqrt(concentration * (dim + 8.0))
    if terms > _LARGEST:
        return np.full(max_degree + 1, log_peak)
    log_terms = VonMisesFisher(dim, concentration).eigenvalues(int(terms), log=True)
    if not simple:
        log_terms += log_sizes(dim, int(terms))
    log_ratio = float(log_terms[-1] - log_terms[-2])
    log_remainder = log_peak if log_ratio >= 0.0 else log_terms[-1] + log_ratio - math.log(-math.expm1(log_ratio))
    sums = np.logaddexp.accumulate(np.append(log_terms[1:], log_remainder)[::-1])[::-1]
    return np.minimum(sums[: max_degree + 1], log_peak)


def log_sizes(dim: int, max_degree: int) -> Float64:
    """Return log dim H_l for l = 0, ..., max_degree >= 1, from the ratios of successive ones."""
    k = np.arange(1.0, max_degree)
    growth = 0.0 * k if dim == 1 else np.log1p(2.0 / (2.0 * k + dim - 1.0)) + np.log1p((dim - 2.0) / (k + 1.0))
    return np.concatenate([[0.0, math.log(dim + 1.0)], math.log(dim + 1.0) + np.cumsum(growth)])
