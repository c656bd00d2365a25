"""Theorems on approximation by attention heads on the sphere, stated as numbers, and achieved errors held against them.

========================  ==========================================================================
theorem                   what it promises
========================  ==========================================================================
thesis-core               Petrov (2025), Theorem 4.12: core head, dim >= 8
thesis-vector             Theorem 4.14: core head, m+1 components
thesis-split              Theorem 4.15 as printed: split head (its proof has a gap)
thesis-split-corrected    Theorem 4.15 with the proof repaired
sharp-core                docs/theorems.md, 4.3: core head on any partition
sharp-core-centroid       4.D: core head whose points are the centroids of their cells
sharp-core-quadrature     4.C: core head on a positive quadrature rule
sharp-core-spectral       4.7: core head with spectrally corrected weights
sharp-core-interpolation  4.G: core head with any real weights
sharp-core-rank           4.G (rank): the same, with any points too
sharp-split-mean          4.4 (mean): split head on equal-measure cells
sharp-split-equal         4.B: the same, the best that the cells' radius allows
sharp-split-pack          4.A: split head on separated points at moderate concentrations
sharp-split-random        4.F: split head on random points
sharp-split-nearest       4.4 (nearest): split head on any points with a covering radius
sharp-split               the smallest of the split ones
lower                     4.5: no scheme that samples at N points does better for every target
lower-continuous          4.E: no tokens that depend continuously on the target do
lower-any                 4.E: no real tokens do, however they are chosen
lower-bits                4.E: no tokens of so many bits do
========================  ==========================================================================

`study` measures heads with a growing prefix on one target and holds them against all of this; `rungs` and `makers` are
the tables and figures of the ladder and of control points. Names are loaded when they are first used (PEP 562).
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import makers, rungs, study
    from . import plot as plot
    from ._bound import Bound, Hypothesis, HypothesisError
    from .api import concentration, ladder, prefix_length
    from .claims import Claim
    from .covering import covering_number, covering_radius
    from .inverse import best_concentration, error_bound, tokens_within
    from .ragozin import approximation_error, jackson_degree, ragozin_constant
    from .thesis.harmonics import zonal_harmonic_bound
    from .validate import validate
    from .verdicts import Check, Validation

_HOME = {
    "Bound": "_bound",
    "Check": "verdicts",
    "Claim": "claims",
    "Hypothesis": "_bound",
    "HypothesisError": "_bound",
    "Validation": "verdicts",
    "approximation_error": "ragozin",
    "best_concentration": "inverse",
    "concentration": "api",
    "covering_number": "covering",
    "covering_radius": "covering",
    "error_bound": "inverse",
    "jackson_degree": "ragozin",
    "ladder": "api",
    "prefix_length": "api",
    "ragozin_constant": "ragozin",
    "tokens_within": "inverse",
    "validate": "validate",
    "zonal_harmonic_bound": "thesis.harmonics",
}
_MODULES = ("makers", "plot", "rungs", "study")

__all__ = [
    "Bound",
    "Check",
    "Claim",
    "Hypothesis",
    "HypothesisError",
    "Validation",
    "approximation_error",
    "best_concentration",
    "concentration",
    "covering_number",
    "covering_radius",
    "error_bound",
    "jackson_degree",
    "ladder",
    "makers",
    "prefix_length",
    "ragozin_constant",
    "rungs",
    "study",
    "tokens_within",
    "validate",
    "zonal_harmonic_bound",
]


class _Package(ModuleType):
    """Keeps a name for its function where a submodule is called the same: importing one would set `validate`."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _HOME:
        return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
