"""The options of theorems, each with its check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from spherapprox import _checks

from ..covering import SUFFICIENT
from ..records.problem import LARGEST_CONCENTRATION, LARGEST_DEGREE, LEAST_SLACK, positive


def _slack(value: object, name: str) -> float:
    share = _checks.real(value, name, minimum=0.0, below=1.0)
    if 0.0 < share < LEAST_SLACK:
        raise ValueError(f"'slack' must be 0 or at least {LEAST_SLACK:g}, got {share:g}")
    return share


OPTIONS: Mapping[str, Callable[[object, str], Any]] = {
    "concentration": lambda value, _: _checks.concentration(value, maximum=LARGEST_CONCENTRATION),
    "covering": partial(_checks.choice, choices=SUFFICIENT),
    "slack": _slack,
    "jackson_constant": positive,
    "harmonic_constant": positive,
    "degree": partial(_checks.integer, minimum=0, maximum=LARGEST_DEGREE),
    "sobolev_order": partial(_checks.real, above=0.0, maximum=1e6),
    "bits": partial(_checks.real, minimum=1.0, maximum=1e12),
    "smoothness": partial(_checks.real, above=0.0),  # in the unit of the class, where it is checked again
}
"""Option -> check; which theorem takes which is in its record."""


def check_options(**options: object) -> dict[str, Any]:
    """Check options of theorems; those that are None, which stands for a default, are left out."""
    checked = {name: OPTIONS[name](value, name) for name, value in options.items() if value is not None}
    if {"degree", "sobolev_order"} <= checked.keys():
        degree, order = checked["degree"], checked["sobolev_order"]
        raise ValueError(f"'degree' and 'sobolev_order' name two classes: give one, got {degree!r} and {order!r}")
    return checked
