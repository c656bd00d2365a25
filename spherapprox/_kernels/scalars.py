"""Make the scalar kernels, which are plain Python, callable from compiled code: importing this module does it."""

from __future__ import annotations

import inspect

from numba.extending import register_jitable

from . import bessel, bessel_ratio, beta, gamma, gegenbauer, twofold

for _module in (twofold, gamma, bessel, bessel_ratio, beta, gegenbauer):
    for _function in vars(_module).values():
        if inspect.isfunction(_function) and _function.__module__ == _module.__name__:
            register_jitable(_function)
