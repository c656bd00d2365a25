"""Guards of the lemmas' arguments, by name: each lemma has the same ones."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from spherapprox import _checks

from ...records.problem import LARGEST_CONCENTRATION, LARGEST_DIM

P = ParamSpec("P")
R = TypeVar("R")

SMALLEST, LARGEST = 1e-200, 1e200
"""The range of the sizes; those of `bounds.prefix_length` and what they are divided by are inside."""

_Guard = Callable[[Any, str], Any]
_POSITIVE: _Guard = functools.partial(_checks.real, minimum=SMALLEST, maximum=LARGEST)
_ERROR: _Guard = functools.partial(_checks.real, minimum=0.0, maximum=LARGEST)
_LOG: _Guard = functools.partial(_checks.real, minimum=-1e300, maximum=1e300)
_GUARDS: dict[str, _Guard] = {
    "dim": lambda value, _: _checks.dimension(value, maximum=LARGEST_DIM),
    "degree": functools.partial(_checks.integer, minimum=0, maximum=10**18),
    "inputs": functools.partial(_checks.integer, minimum=1),
    "concentration": functools.partial(_checks.real, minimum=0.0, maximum=LARGEST_CONCENTRATION),
    "radius": functools.partial(_checks.real, above=0.0, maximum=4.0),
    "log_delta": functools.partial(_checks.real, minimum=-1e300, below=0.0),
    "printed": _checks.flag,
    **dict.fromkeys(("eps", "lipschitz", "sup_norm", "jackson_constant", "harmonic_constant"), _POSITIVE),
    **dict.fromkeys(("inner", "product"), _POSITIVE),
    **dict.fromkeys(("component_error", "numerator_error", "denominator_error", "numerator", "denominator"), _ERROR),
    "log_concentration": functools.partial(_checks.real, maximum=1e300, finite=False),
    **dict.fromkeys(("log_slope", "log_mass", "mask"), _LOG),
}


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Check a lemma's arguments, each by the guard of its name; a default of None stays None."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        bound = signature.bind(*args, **kwargs)
        for name, value in bound.arguments.items():
            if value is not None or signature.parameters[name].default is not None:
                bound.arguments[name] = _GUARDS[name](value, name)
        return function(*bound.args, **bound.kwargs)

    return call
