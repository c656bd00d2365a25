"""Make the scalar kernels, which are plain Python, callable from compiled code: importing this module does it."""

from __future__ import annotations

import inspect

from ..._scalars import angle, bessel, bessel_ratio, beta, divergence, gamma, gegenbauer, gegenbauer_zeros, twofold
from ..jit import subroutine

for _module in (twofold, gamma, bessel, bessel_ratio, beta, gegenbauer, gegenbauer_zeros, divergence, angle):
    for _function in vars(_module).values():
        if inspect.isfunction(_function) and _function.__module__ == _module.__name__:
            subroutine(_function, error_model="python")
