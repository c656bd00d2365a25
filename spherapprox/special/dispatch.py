"""Scalar functions over arrays: in plain Python until enough was asked for, then by compiled loops, bit for bit."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._loading import load
from .._types import Float64

COMPILE_FROM = 40_000
"""Elements from which compiled loops are used, in one call or over all calls: they load in the time that plain Python
takes for so many, 0.3 s (each takes one to three more the first time on a machine)."""


class Allowance:
    """Work that plain Python does before compiled code is loaded for what follows: about as long as loading takes.

    So no program takes much more than twice the time of the better choice. Work is counted by sizes alone.
    """

    def __init__(self, work: float) -> None:
        self._left = work

    def covers(self, work: float) -> bool:
        """Take work off the allowance; tell whether it is for plain Python, as none is from the first that is not."""
        self._left = self._left - work if work < self._left else 0.0
        return self._left > 0.0


_allowance = Allowance(COMPILE_FROM)


def common_shape(arguments: Sequence[float | Float64]) -> tuple[int, ...]:
    """Return the shape to which arguments broadcast."""
    shapes = [np.shape(argument) for argument in arguments]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        text = " and ".join(map(str, dict.fromkeys(shape for shape in shapes if shape)))
        raise ValueError(f"arguments must broadcast, got shapes {text}: a[:, None] and b give all pairs") from None


def elementwise(kernel: Callable[..., float], *arguments: float | Float64, work: float = 1.0) -> Any:
    """Apply a scalar kernel to broadcast arguments; nan where any argument is nan.

    `work` is how long plain Python takes for an element, in units of some 8 us, the time of a Bessel ratio.
    """
    numbers = [argument for argument in arguments if isinstance(argument, float)]
    if len(numbers) == len(arguments):
        return math.nan if any(map(math.isnan, numbers)) else kernel(*numbers)
    shapes = {argument.shape for argument in arguments if not isinstance(argument, float)}
    shape = shapes.pop() if len(shapes) == 1 else common_shape(arguments)
    # Step 1: contiguous vectors of one length that can be written to, as numba compiles a kernel again for others; nan
    # replaced by a number that every kernel takes
    flat = [
        np.full(math.prod(shape), argument)
        if isinstance(argument, float)
        else np.require(
            argument if argument.shape == shape else np.broadcast_to(argument, shape), None, ["C", "W"]
        ).ravel()
        for argument in arguments
    ]
    nans = [nan for array in flat if (nan := np.isnan(array)).any()]
    if nans:
        flat = [np.where(np.isnan(array), 0.5, array) for array in flat]
    # Step 2: the kernel
    result = np.empty(flat[0].size)
    if _allowance.covers(work * result.size):
        result[:] = [kernel(*row) for row in zip(*(array.tolist() for array in flat), strict=True)]
    else:
        _loops()[kernel](*flat, result)
    for nan in nans:
        result[nan] = np.nan
    return result.reshape(shape)


def run(kernel: Callable[..., None], work: float, *arguments: Any) -> None:
    """Run a kernel that fills its last argument, compiled where that pays."""
    chosen = kernel if _allowance.covers(work) else _loops()[kernel]
    chosen(*arguments)


@functools.cache
def _loops() -> dict[Callable[..., Any], Callable[..., None]]:
    """Import the compiled loops; each compiles at its first call."""
    load("spherapprox._kernels.scalars.loops")
    from .._kernels.scalars.loops import LOOPS

    return LOOPS
