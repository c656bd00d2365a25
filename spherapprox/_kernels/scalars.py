"""Make the scalar kernels, which are plain Python, callable from compiled code: importing this module does it."""

from __future__ import annotations

import inspect

from numba import types
from numba.core.typing.templates import infer_global

from . import bessel, bessel_ratio, beta, gamma, gegenbauer, twofold
from .jit import njit

# numba's types refer to them weakly; register_jitable would compile anew in every process
COMPILED = {
    function: njit(function, error_model="python", no_cpython_wrapper=True, no_cfunc_wrapper=True)
    for module in (twofold, gamma, bessel, bessel_ratio, beta, gegenbauer)
    for function in vars(module).values()
    if inspect.isfunction(function) and function.__module__ == module.__name__
}
for _function, _compiled in COMPILED.items():
    infer_global(_function, types.Dispatcher(_compiled))  # type: ignore[no-untyped-call]
