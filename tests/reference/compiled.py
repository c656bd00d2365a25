"""Hold every compiled scalar kernel against the plain Python that it was compiled from, bit by bit.

    python tests/reference/compiled.py [--points 100000] [--seed 0]

Arguments come from the whole range of each kernel: ordinary, tiny, huge and subnormal numbers, the ends of the ranges,
and numbers a few units in the last place from the seams of the formulas. The tests run it with fewer points
(tests/spherapprox/special/test_compiled.py).
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from spherapprox._kernels.scalars.loops import LOOPS
from spherapprox._scalars import angle, bessel_ratio, beta, divergence, gegenbauer, gegenbauer_zeros

Array = NDArray[np.float64]
Kernel = Callable[..., Any]

WHOLE_SEQUENCES = (bessel_ratio.all_ratios, bessel_ratio.all_log_ratios)
SLOW = {
    angle.log_tail: 5,
    angle.quantile: 30,
    gegenbauer_zeros.max_zero: 30,
    gegenbauer_zeros.max_zero_angle: 30,
    gegenbauer_zeros.lipschitz: 30,
}
"""Kernels that take so many times longer than others in plain Python, and get fewer points."""


class Sampler:
    """Random arguments of one length."""

    def __init__(self, rng: np.random.Generator, n: int) -> None:
        self.rng, self.n = rng, n

    def spread(self, low: float, high: float) -> Array:
        """Return numbers uniform in their logarithm."""
        return np.exp(self.rng.uniform(math.log(low), math.log(high), self.n)).clip(low, high)

    def mix(self, *choices: Array | float) -> Array:
        """Take each number from one of the choices, at random."""
        table = np.stack(np.broadcast_arrays(*choices, np.empty(self.n))[:-1])
        return table[self.rng.integers(len(choices), size=self.n), np.arange(self.n)]

    def near(self, *seams: Array | float) -> Array:
        """Return numbers at seams, or up to 64 units in the last place from them."""
        return self.mix(*seams) * (1.0 + self.rng.integers(-64, 65, self.n) * 2.0**-52)

    def counts(self, least: int, most: float) -> Array:
        """Return whole numbers, small ones and all orders of magnitude, and both ends."""
        few = self.rng.integers(least, min(most, 64), self.n, endpoint=True).astype(float)
        many = np.floor(self.spread(1.0, most)).clip(least)
        return self.mix(few, few, many, many)

    def orders(self) -> Array:
        """Return orders of Bessel functions."""
        return self.mix(0.5 * self.counts(0, 300), self.rng.uniform(0.0, 130.0, self.n), self.spread(1e-300, 1e12), 0.0)

    def dims(self) -> Array:
        """Return dimensions of spheres."""
        return self.mix(self.counts(1, 12), self.counts(1, 300), self.counts(1, 1e12))


def of_distribution(kernel: Kernel, draw: Sampler) -> tuple[Array, ...]:
    """Return arguments of the kernels of a distribution's angle and divergence."""
    if kernel.__module__ == divergence.__name__:
        x = draw.mix(draw.rng.uniform(0.0, 200.0, draw.n), draw.spread(1e-3, 1e9), draw.spread(1e-300, 1e300), 0.0)
        return (draw.orders(), x, draw.mix(x * draw.spread(0.4, 2.5), x[::-1], 0.0))[: kernel.__code__.co_argcount]
    dims = draw.mix(draw.counts(1, 12), draw.counts(1, 300), draw.counts(1, 1e5))
    concentrations = draw.mix(draw.spread(1e-6, 1e7), draw.spread(0.1, 10.0) * dims, draw.spread(1e-300, 1e12), 0.0)
    t = draw.mix(
        draw.rng.uniform(-1.0, 1.0, draw.n), 1.0 - draw.spread(1e-16, 1.0), draw.spread(1e-16, 1.0) - 1.0, 1.0, -1.0
    )
    logs = -draw.mix(draw.spread(0.7, 1.0), draw.spread(0.7, 700.0), draw.spread(1.0, 1e300), math.inf)
    return dims, concentrations, t if kernel is angle.log_tail else logs, draw.mix(angle.INSIDE, angle.OUTSIDE)


def arguments(kernel: Kernel, rng: np.random.Generator, n: int) -> tuple[Array, ...]:
    """Return n arguments of a kernel from its whole range, runs of equal ones among them."""
    draw = Sampler(rng, n)
    if kernel.__module__ in (angle.__name__, divergence.__name__):
        return of_distribution(kernel, draw)
    if kernel in (beta.log_cap_measure, beta.cap_angle, beta.log_surface_area):
        dims = draw.dims()
        dims[: n // 3] = np.sort(dims[: n // 3])
        equator = 0.5 * math.pi + draw.rng.standard_normal(n) * draw.spread(1e-3, 10.0) / np.sqrt(dims)
        seams = (np.arccos(np.sqrt(top / np.maximum(dims, low))) for top, low in ((3.0, 12.0), (12.0, 48.0)))
        angles = draw.mix(
            rng.uniform(0.0, math.pi, n), equator, draw.spread(5e-324, 1.0), math.pi - draw.spread(1e-16, 1.0),
            draw.near(*seams, 0.25 * math.pi, 0.5 * math.pi, 1e-300), math.pi, 0.0,
        ).clip(0.0, math.pi)  # fmt: skip
        logs = -draw.mix(draw.spread(5e-324, 1.0), draw.spread(1e-3, 1e3), draw.spread(1.0, 1e300), math.inf, 0.0)
        return {beta.log_cap_measure: (dims, angles), beta.cap_angle: (dims, logs)}.get(kernel, (dims,))
    if kernel.__module__ == gegenbauer.__name__:
        degrees, dims = draw.mix(draw.counts(0, 60), draw.counts(0, 300)), draw.dims()
        degrees[: n // 2], dims[: n // 3] = np.sort(degrees[: n // 2]), np.sort(dims[: n // 3])
        degrees[: n // 8], dims[: n // 8] = 300.0, 1e6  # a run that goes through underflow
        t = draw.mix(rng.uniform(-1.0, 1.0, n), 1.0 - draw.spread(1e-16, 1.0), draw.near(0.5, -0.5), -1.0, 1.0, 0.0)
        steps = draw.mix(draw.counts(0, 5), draw.counts(0, 300))
        columns = {"k": degrees, "m": dims, "t": t.clip(-1.0, 1.0), "order": steps}
        return tuple(columns[name] for name in kernel.__code__.co_varnames[: kernel.__code__.co_argcount])
    if kernel.__module__ == gegenbauer_zeros.__name__:
        return draw.counts(0 if kernel is gegenbauer_zeros.lipschitz else 1, 300), draw.dims()
    orders = draw.orders()
    if kernel is bessel_ratio.iv_ratio_inverse:
        small = draw.spread(5e-324, 1.0)
        ratios = draw.mix(rng.random(n), small, 1.0 - small, draw.near(1e-8, 0.5), 0.0, 1.0).clip(0.0, 1.0)
        return orders, ratios, 1.0 - ratios
    circle = np.sqrt(np.maximum(0.0, draw.mix(64.0, 96.0, 1e4) ** 2 - orders**2))
    seams = draw.near(circle, np.maximum(0.0, 128.0 - orders), 1e-8 * orders, 1e17 * (orders + 1.0))
    x = draw.mix(rng.uniform(0.0, 200.0, n), draw.spread(1e-3, 1e9), draw.spread(5e-324, 1.7e308), seams, 0.0, math.inf)
    many = draw.mix(draw.counts(0, 40), draw.counts(0, 1e15))
    return (orders, x) if kernel in WHOLE_SEQUENCES else (orders, x, many)[: kernel.__code__.co_argcount]


def differences(kernel: Kernel, points: int, seed: int) -> Iterator[str]:
    """Describe every argument at which plain Python and the compiled loop give other bits, or plain Python fails."""
    rng = np.random.default_rng(seed)
    columns = arguments(kernel, rng, max(200, points // SLOW.get(kernel, 1)))
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    if kernel in WHOLE_SEQUENCES:
        for v, x in rows[: max(20, points // 200)]:
            plain, compiled = np.empty((2, int(rng.integers(1, 1300))))
            kernel(v, x, plain)
            LOOPS[kernel](v, x, compiled)
            if plain.tobytes() != compiled.tobytes():
                yield f"{kernel.__name__}{(v, x, plain.size)}"
        return
    compiled = np.empty(len(rows))
    LOOPS[kernel](*columns, compiled)
    for row, value in zip(rows, compiled.tolist(), strict=True):
        try:
            plain = kernel(*row)
        except ArithmeticError as error:
            yield f"{kernel.__name__}{row}: {error!r}, compiled {value!r}"
            continue
        if plain.hex() != value.hex() or math.isnan(plain):
            yield f"{kernel.__name__}{row}: {plain!r}, compiled {value!r}"


def main() -> int:
    """Compare every kernel, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=10**5, help="arguments of each kernel")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    count = 0
    for kernel in tqdm(LOOPS, unit="kernel", disable=None):
        lines = list(differences(kernel, chosen.points, chosen.seed))
        count += len(lines)
        tqdm.write("\n".join([f"{kernel.__module__}.{kernel.__name__}: {len(lines)} differences", *lines[:5]]))
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
