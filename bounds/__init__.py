"""Theorems on approximation by attention heads on the sphere, stated as numbers, and achieved errors held against them.

`study` measures heads with a growing prefix on one target and holds them against all of this; `rungs`, `makers` and
`shortest` are the tables and figures of the ladder, of control points and of searches for the fewest tokens;
`sequences` bounds heads of several tokens, `prompts` counts what prompts of other models can do, and `recurrent` says
how long those of recurrent ones are and what their gates err. Names are loaded when they are first used (PEP 562).
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from spherapprox import _extras
from spherapprox._loading import load as _load

if TYPE_CHECKING:
    from . import makers, prompts, recurrent, rungs, sequences, shortest, study
    from . import plot as plot
    from ._bound import Bound, Hypothesis, HypothesisError
    from ._check import Check
    from .api import concentration, ladder, prefix_length
    from .claims import Claim
    from .covering import covering_number, covering_radius
    from .error import best_concentration, error_bound, tokens_within
    from .pointwise import PointwiseBound, second_order_bound
    from .ragozin import approximation_error, jackson_degree, ragozin_constant
    from .thesis import zonal_harmonic_bound
    from .validate import validate
    from .verdicts import Validation

_HOME = {
    name: module
    for module, names in {
        "_bound": ("Bound", "Hypothesis", "HypothesisError"),
        "_check": ("Check",),
        "api": ("concentration", "ladder", "prefix_length"),
        "claims": ("Claim",),
        "covering": ("covering_number", "covering_radius"),
        "error": ("best_concentration", "error_bound", "tokens_within"),
        "pointwise": ("PointwiseBound", "second_order_bound"),
        "ragozin": ("approximation_error", "jackson_degree", "ragozin_constant"),
        "thesis": ("zonal_harmonic_bound",),
        "validate": ("validate",),
        "verdicts": ("Validation",),
    }.items()
    for name in names
}
_MODULES = ("certify", "plot", "thesis")  # one level down, in the reference

__all__ = [
    "Bound",
    "Check",
    "Claim",
    "Hypothesis",
    "HypothesisError",
    "PointwiseBound",
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
    "prompts",
    "ragozin_constant",
    "recurrent",
    "rungs",
    "second_order_bound",
    "sequences",
    "shortest",
    "study",
    "tokens_within",
    "validate",
    "zonal_harmonic_bound",
]


class _Package(ModuleType):
    """The package: names kept for their functions, and the table of theorems, loaded for the docstring."""

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return f"{vars(self)['__doc__']}\n{_load('bounds.theorems').table()}\n"

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)  # importing a submodule would set `validate`


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(_load(f"{__name__}.{_HOME[name]}"), name)
    return _extras.load_submodule(__name__, name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})
