"""The functions of `special` inside users' compiled code: the same scalar kernels behind the same checks."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

from numba import types
from numba.core.errors import TypingError
from numba.extending import overload, register_jitable

from ..._scalars import bessel, bessel_ratio, beta, gegenbauer_zeros
from ..._scalars import gegenbauer as polynomials

NAN = math.nan


@register_jitable
def _order(order: Any) -> float:
    if order < 0.0 or order > 1e12:
        raise ValueError("'order' must be at least 0 and at most 1e+12")
    return float(order)


@register_jitable
def _argument(x: Any) -> float:
    if x < 0.0:
        raise ValueError("'x' must be at least 0")
    return float(x)


@register_jitable
def _step(step: Any) -> float:
    if not 0.0 <= step <= 1e15 or step != math.floor(step):
        raise ValueError("'step' must be an integer from 0 to 1e15")
    return float(step)


@register_jitable
def _dim(dim: Any) -> float:
    if not 1.0 <= dim <= 1e12 or dim != math.floor(dim):
        raise ValueError("'dim' must be an integer from 1 to 1e12")
    return float(dim)


@register_jitable
def _degree(degree: Any) -> float:
    if not 0.0 <= degree <= 1e6 or degree != math.floor(degree):
        raise ValueError("'degree' must be an integer from 0 to 1e6")
    return float(degree)


@register_jitable
def _degree_with_zeros(degree: Any) -> float:
    if not 1.0 <= degree <= 1e6 or degree != math.floor(degree):
        raise ValueError("'degree' must be an integer from 1 to 1e6")
    return float(degree)


@register_jitable
def _derivative_order(order: Any) -> float:
    if not 0.0 <= order <= 1e6 or order != math.floor(order):
        raise ValueError("'order' must be an integer from 0 to 1e6")
    return float(order)


@register_jitable
def _cosine(t: Any) -> float:
    if t < -1.0 or t > 1.0:
        raise ValueError("'t' must be at least -1 and at most 1")
    return float(t)


def log_iv(order: Any, x: Any) -> float:
    v, z = _order(order), _argument(x)
    return NAN if math.isnan(v + z) else bessel.log_iv(v, z)


def iv_ratio(order: Any, x: Any, step: Any = 1) -> float:
    v, z, n = _order(order), _argument(x), _step(step)
    return NAN if math.isnan(v + z) else bessel_ratio.iv_ratio(v, z, n)


def iv_ratio_complement(order: Any, x: Any, step: Any = 1) -> float:
    v, z, n = _order(order), _argument(x), _step(step)
    return NAN if math.isnan(v + z) else bessel_ratio.iv_ratio_complement(v, z, n)


def log_iv_ratio(order: Any, x: Any, step: Any = 1) -> float:
    v, z, n = _order(order), _argument(x), _step(step)
    return NAN if math.isnan(v + z) else bessel_ratio.log_iv_ratio(v, z, n)


def iv_ratio_inverse(order: Any, ratio: Any) -> float:
    v, r = _order(order), float(ratio)
    if r < 0.0 or r > 1.0:
        raise ValueError("'ratio' must be at least 0 and at most 1")
    return NAN if math.isnan(v + r) else bessel_ratio.iv_ratio_inverse(v, r, 1.0 - r)


def log_cap_measure(dim: Any, angle: Any) -> float:
    m, phi = _dim(dim), float(angle)
    if phi < 0.0 or phi > math.pi:
        raise ValueError("'angle' must be at least 0 and at most pi")
    return NAN if math.isnan(phi) else beta.log_cap_measure(m, phi)


def cap_angle(dim: Any, log_measure: Any) -> float:
    m, log = _dim(dim), float(log_measure)
    if log > 0.0:
        raise ValueError("'log_measure' must be at most 0")
    return NAN if math.isnan(log) else beta.cap_angle(m, log)


def log_surface_area(dim: Any) -> float:
    return beta.log_surface_area(_dim(dim))


def gegenbauer(degree: Any, dim: Any, t: Any) -> float:
    k, m, cosine = _degree(degree), _dim(dim), _cosine(t)
    return NAN if math.isnan(cosine) else polynomials.gegenbauer(k, m, cosine)


def gegenbauer_derivative(degree: Any, dim: Any, t: Any, order: Any = 1) -> float:
    k, m, cosine, j = _degree(degree), _dim(dim), _cosine(t), _derivative_order(order)
    return NAN if math.isnan(cosine) else polynomials.derivative(k, m, cosine, j)


def gegenbauer_derivative_bound(degree: Any, dim: Any, order: Any = 1, log: Any = False) -> float:
    k, m, j = _degree(degree), _dim(dim), _derivative_order(order)
    return polynomials.log_derivative_bound(k, m, j) if log else polynomials.derivative_bound(k, m, j)


def gegenbauer_lipschitz(degree: Any, dim: Any) -> float:
    return gegenbauer_zeros.lipschitz(_degree(degree), _dim(dim))


def gegenbauer_max_zero(degree: Any, dim: Any) -> float:
    return gegenbauer_zeros.max_zero(_degree_with_zeros(degree), _dim(dim))


def gegenbauer_max_zero_angle(degree: Any, dim: Any) -> float:
    return gegenbauer_zeros.max_zero_angle(_degree_with_zeros(degree), _dim(dim))


def install(special: ModuleType) -> None:
    """Register every public function above with numba."""
    for name, implementation in globals().items():
        if inspect.isfunction(implementation) and name in special.__all__:
            overload(getattr(special, name))(_for_numbers(implementation))


def _for_numbers(implementation: Callable[..., float]) -> Callable[..., Any]:
    """Return a chooser for numba: given argument types, it returns the implementation if all are numbers."""
    signature = inspect.signature(implementation)

    def choose(*arguments: Any, **named: Any) -> Callable[..., float]:
        from . import subroutines  # noqa: F401 - not before it is needed: users of numba alone need not wait for it

        for argument, kind in signature.bind(*arguments, **named).arguments.items():
            kinds = types.Boolean | bool if argument == "log" else types.Integer | types.Float | int
            if not isinstance(kind, kinds | types.Omitted):
                raise TypingError(
                    f"special.{implementation.__name__} takes numbers in compiled code, got '{argument}' of type {kind}"
                )
        return implementation

    choose.__signature__ = signature  # type: ignore[attr-defined]
    return choose
