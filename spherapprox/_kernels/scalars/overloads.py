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


def _guard(name: str, least: float, largest: float, limits: str, integer: bool = False) -> Any:
    """Return a compiled check that a number, if it is no nan, is in its range, which makes a float of it."""
    message = f"'{name}' must be {limits}"

    @register_jitable
    def checked(number: Any) -> float:
        if number < least or number > largest or (integer and number != math.floor(number)):
            raise ValueError(message)
        return float(number)

    return checked


_order = _guard("order", 0.0, 1e12, "at least 0 and at most 1e+12")
_argument = _guard("x", 0.0, math.inf, "at least 0")
_step = _guard("step", 0.0, 1e15, "an integer from 0 to 1e15", integer=True)
_dim = _guard("dim", 1.0, 1e12, "an integer from 1 to 1e12", integer=True)
_degree = _guard("degree", 0.0, 1e6, "an integer from 0 to 1e6", integer=True)
_degree_with_zeros = _guard("degree", 1.0, 1e6, "an integer from 1 to 1e6", integer=True)
_derivative_order = _guard("order", 0.0, 1e6, "an integer from 0 to 1e6", integer=True)
_cosine = _guard("t", -1.0, 1.0, "at least -1 and at most 1")
_ratio = _guard("ratio", 0.0, 1.0, "at least 0 and at most 1")
_angle = _guard("angle", 0.0, math.pi, "at least 0 and at most pi")
_log_measure = _guard("log_measure", -math.inf, 0.0, "at most 0")


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
    v, r = _order(order), _ratio(ratio)
    return NAN if math.isnan(v + r) else bessel_ratio.iv_ratio_inverse(v, r, 1.0 - r)


def log_cap_measure(dim: Any, angle: Any) -> float:
    m, phi = _dim(dim), _angle(angle)
    return NAN if math.isnan(phi) else beta.log_cap_measure(m, phi)


def cap_angle(dim: Any, log_measure: Any) -> float:
    m, log = _dim(dim), _log_measure(log_measure)
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
