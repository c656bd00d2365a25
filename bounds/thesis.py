"""Petrov (2025), chapter 4 and appendix B, as numbers: prefix lengths, lemmas, and help with C_H."""

from __future__ import annotations

from .theorems.thesis._printed import assumptions, ragozin_of
from .theorems.thesis.core import core, core_error
from .theorems.thesis.harmonics import zonal_harmonic_bound, zonal_harmonic_norms
from .theorems.thesis.lemmas import (
    best_approximation,
    cap_counts,
    concentration_at_degree,
    concentration_needed,
    concentration_series,
    convolution_error,
    denominator_error,
    eigenvalue_lower,
    inner_accuracy,
    log_concentration_needed,
    log_count,
    log_delta,
    log_kernel_slope,
    log_modulus,
    log_peak,
    log_riemann_error,
    mask_error,
    projection_error,
    quotient_error,
    split_error,
    vector_error,
)
from .theorems.thesis.split import split
from .theorems.thesis.split_corrected import split_corrected
from .theorems.thesis.vector import vector

__all__ = [
    "assumptions",
    "best_approximation",
    "cap_counts",
    "concentration_at_degree",
    "concentration_needed",
    "concentration_series",
    "convolution_error",
    "core",
    "core_error",
    "denominator_error",
    "eigenvalue_lower",
    "inner_accuracy",
    "log_concentration_needed",
    "log_count",
    "log_delta",
    "log_kernel_slope",
    "log_modulus",
    "log_peak",
    "log_riemann_error",
    "mask_error",
    "projection_error",
    "quotient_error",
    "ragozin_of",
    "split",
    "split_corrected",
    "split_error",
    "vector",
    "vector_error",
    "zonal_harmonic_bound",
    "zonal_harmonic_norms",
]
