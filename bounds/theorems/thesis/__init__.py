"""Petrov (2025), chapter 4 and appendix B, as numbers: theorems, lemmas, and help with C_H."""

from __future__ import annotations

from .convolution import (
    best_approximation,
    concentration_at_degree,
    concentration_series,
    eigenvalue_lower,
    log_concentration_needed,
    projection_error,
)
from .harmonics import zonal_harmonic_bound
from .lemmas import (
    cap_counts,
    denominator_error,
    log_kernel_slope,
    log_modulus,
    log_riemann_error,
    mask_error,
    quotient_error,
)

__all__ = [
    "best_approximation",
    "cap_counts",
    "concentration_at_degree",
    "concentration_series",
    "denominator_error",
    "eigenvalue_lower",
    "log_concentration_needed",
    "log_kernel_slope",
    "log_modulus",
    "log_riemann_error",
    "mask_error",
    "projection_error",
    "quotient_error",
    "zonal_harmonic_bound",
]
