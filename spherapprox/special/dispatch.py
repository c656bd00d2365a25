"""Scalar functions over arrays: in plain Python until enough has been seen, then as compiled loops."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._loading import load
from .._types import Float64

COMPILE_FROM = 40_000
"""Elements from which compiled kernels are used, in one call, or over all calls by the time they took: the kernels load
in 0.3 s (each takes one to three more the first time on a machine)."""

ELEMENT = 1e-5  # seconds that plain Python takes for an element, where nothing better is known
BATCH = 64  # elements that plain Python goes through between two readings of the clock

_interpreted = 0.0  # work done in plain Python so far, in elements of `ELEMENT` seconds


def common_shape(arguments: Sequence[float | Float64]) -> tuple[int, ...]:
    """Return the shape to which arguments broadcast."""
    shapes = [np.shape(argument) for argument in arguments]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        text = " and ".join(map(str, dict.fromkeys(shape for shape in shapes if shape)))
        raise ValueError(f"arguments must broadcast, got shapes {text}: a[:, None] and b give all pairs") from None


def elementwise(kernel: Callable[..., float], *arguments: float | Float64, work: float = 0.0) -> Any:
    """Apply a scalar kernel to broadcast arguments; nan where any argument is nan.

    `work` is an estimate of the time it takes, in elements; loops that prove slow are compiled too.
    """
    numbers = [argument for argument in arguments if isinstance(argument, float)]
    if len(numbers) == len(arguments):
        return math.nan if any(map(math.isnan, numbers)) else kernel(*numbers)
    shapes = {argument.shape for argument in arguments if not isinstance(argument, float)}
    shape = shapes.pop() if len(shapes) == 1 else common_shape(arguments)
    # Step 1: contiguous vectors of one length, nan replaced by a number that every kernel takes
    flat = [
        np.full(math.prod(shape), argument)
        if isinstance(argument, float)
        else np.ascontiguousarray(argument if argument.shape == shape else np.broadcast_to(argument, shape)).ravel()
        for argument in arguments
    ]
    nans = [nan for array in flat if (nan := np.isnan(array)).any()]
    if nans:
        flat = [np.where(np.isnan(array), 0.5, array) for array in flat]
    # Step 2: plain Python, batch by batch, until compiling pays
    result = np.empty(flat[0].size)
    count = 0
    loop = loop_of(kernel, max(work, result.size))
    while loop is None and count < result.size:
        block = slice(count, count + BATCH)
        _time_call(_fill_rows, kernel, [array[block] for array in flat], result[block])
        count += BATCH
        loop = loop_of(kernel, result.size - count)
    # Step 3: the rest by the compiled loop
    if loop is not None and count < result.size:
        loop(*(array[count:] for array in flat), result[count:])
    for nan in nans:
        result[nan] = np.nan
    return result.reshape(shape)


def run(kernel: Callable[..., None], work: float, *arguments: Any) -> None:
    """Run a kernel that fills its last argument, compiled where that pays."""
    loop = loop_of(kernel, work)
    if loop is None:
        _time_call(kernel, *arguments)
    else:
        loop(*arguments)


def loop_of(kernel: Callable[..., Any], work: float) -> Callable[..., None] | None:
    """Return the kernel's compiled loop if so much more work is worth compiling, else None."""
    return _loops().get(kernel) if _interpreted + work >= COMPILE_FROM else None


def _time_call(function: Callable[..., None], *arguments: Any) -> None:
    """Call a function in plain Python and add its time to the account."""
    global _interpreted  # noqa: PLW0603
    start = time.perf_counter()
    function(*arguments)
    _interpreted += (time.perf_counter() - start) / ELEMENT


def _fill_rows(kernel: Callable[..., float], columns: list[Float64], result: Float64) -> None:
    """Fill the result with a kernel's values at rows of arguments."""
    result[:] = [kernel(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


@functools.cache
def _loops() -> dict[Callable[..., Any], Callable[..., None]]:
    """Import the compiled loops; each compiles at its first call."""
    load("spherapprox._kernels.scalars.loops")
    from .._kernels.scalars.loops import LOOPS

    return LOOPS
