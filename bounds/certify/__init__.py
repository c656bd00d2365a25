"""The bounds' numbers as enclosures in ball arithmetic: two exact numbers between which each is proven to lie.

`certified` encloses what `bounds.prefix_length` returned; `quantities` has the functions behind it.
"""

from __future__ import annotations

from typing import Any

from spherapprox import _checks, _extras

with _checks.needs("python-flint", "bounds.certify", "certify"):
    import flint  # noqa: F401

from ..records.enclosure import CertificationError, Enclosure
from ._certified import THEOREMS as THEOREMS
from ._certified import certified
from .quantities import (
    bessel_zero,
    best_approximation,
    concentration,
    eigenvalue,
    eigenvalue_complement,
    jackson_constant,
    log_cap_measure,
    log_centroid_variation,
    log_covering_number,
    log_normalizer,
    log_shift_variation,
    log_shifted_mean_angle,
    log_tail,
    mean_angle,
    printed_concentration,
)

__all__ = [
    "CertificationError",
    "Enclosure",
    "bessel_zero",
    "best_approximation",
    "certified",
    "concentration",
    "eigenvalue",
    "eigenvalue_complement",
    "jackson_constant",
    "log_cap_measure",
    "log_centroid_variation",
    "log_covering_number",
    "log_normalizer",
    "log_shift_variation",
    "log_shifted_mean_angle",
    "log_tail",
    "mean_angle",
    "printed_concentration",
]


def __getattr__(name: str) -> Any:
    return _extras.load_submodule(__name__, name)


def __dir__() -> list[str]:
    return sorted(__all__)
