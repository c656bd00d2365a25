"""Speed of the special functions beside SciPy's, as ratios measured in one run on one thread.

Each row times this library and SciPy on the same numbers in turn, round after round, and gives the medians. Compiled
kernels are loaded by a first call that is not timed. The last column is the worst disagreement: what this library's own
errors are, tests/reference/accuracy.py tells. Samples, fits and imports are in speed.py, directions.py and start.py::

    python benchmarks/special.py
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import _one_thread  # noqa: F401 - before NumPy, which reads the limits
import numpy as np
import scipy.special
from numpy.typing import NDArray
from tabulate import tabulate
from timing import HEADER, Row, Timed, measure
from tqdm import tqdm

from spherapprox import VonMisesFisher, special

Array = NDArray[np.float64]


def spread(low: float, high: float, size: int, seed: int) -> Array:
    """Draw numbers that are uniform in their logarithm."""
    return np.exp(np.random.default_rng(seed).uniform(math.log(low), math.log(high), size))


def worst(ours: Any, peer: Any, scale: Any) -> str:
    """Print the largest disagreement where the peer is finite, and how often it is not."""
    ours, peer, scale = np.broadcast_arrays(ours, peer, scale)
    finite = np.isfinite(peer)
    largest = float(np.max(np.abs(ours - peer)[finite] / scale[finite], initial=0.0))
    lost = 1.0 - finite.mean()
    return f"{largest:.1e}" + (f" (peer nan or inf: {lost:.2%})" if lost else "")


def compare(what: str, ours: Timed, peer: Timed, scale: Callable[[Any], Any], target: float | None = None) -> Row:
    """Compare two functions of the same numbers; their results differ by parts of `scale` of the peer's."""
    return Row(what, ours, peer, lambda: worst(ours.result, peer.result, scale(peer.result)), target)


def ratio_rows(size: int) -> Iterator[Row]:
    """Compare Bessel ratios with SciPy's private ufunc, which takes the order of the numerator."""
    order, x = spread(0.01, 1e6, size, 1), spread(1e-3, 1e7, size, 2)
    peer = getattr(scipy.special._ufuncs, "_iv_ratio", None)
    if peer is None:
        tqdm.write("skipped: this SciPy has no _iv_ratio (1.15 and later have)")
        return
    yield compare(
        f"iv_ratio, {size} values / scipy _iv_ratio",
        Timed(lambda: special.iv_ratio(order, x)),
        Timed(lambda: peer(order + 1.0, x)),
        np.abs,
        target=1.0,
    )


def log_rows(size: int) -> Iterator[Row]:
    """Compare logarithms with those of SciPy's functions, where these neither under- nor overflow."""
    order, x = spread(0.01, 1e3, 4 * size, 3), spread(0.1, 1e6, 4 * size, 4)
    good = scipy.special.ive(order, x) > 1e-300
    order, x = order[good][:size], x[good][:size]
    yield compare(
        f"log_iv, {order.size} values / x + log(scipy ive)",
        Timed(lambda: special.log_iv(order, x)),
        Timed(lambda: np.log(scipy.special.ive(order, x)) + x),
        lambda _: np.maximum(1.0, np.hypot(order, x)),
        target=1.0,
    )


def cap_rows(size: int) -> Iterator[Row]:
    """Compare caps' log measures with SciPy's where these do not underflow: of one dimension each, and of many."""

    def peer(dim: Any, angle: Array) -> Any:
        return np.log(0.5 * scipy.special.betainc(0.5 * dim, 0.5, np.sin(angle) ** 2))

    for dim in (np.floor(spread(1.0, 1e3, 4 * size, 5)), *map(np.int64, (2, 3, 8, 64, 1000))):
        angle = np.random.default_rng(6).uniform(0.0, math.pi / 2, 4 * size)
        good = scipy.special.betainc(0.5 * dim, 0.5, np.sin(angle) ** 2) > 1e-300
        angle, m = angle[good][:size], dim[good][:size] if dim.ndim else dim
        yield compare(
            f"log_cap_measure, dim {dim if dim.ndim == 0 else '1 to 1000'}, {angle.size} values / log(scipy betainc)",
            Timed(partial(special.log_cap_measure, m, angle)),
            Timed(partial(peer, m, angle)),
            lambda values: np.maximum(1.0, np.abs(values)),
            target=1.0,
        )


def eigenvalue_rows() -> Iterator[Row]:
    """Compare the eigenvalues up to some degree with SciPy's ive of their orders, where none of these underflows."""
    for dim, lam, top in (*product((2, 3, 8), (1.0, 100.0, 1e4), (10, 100, 1000)), (767, 5000.0, 1000)):
        kernel, orders, calls = VonMisesFisher(dim, lam), 0.5 * (dim - 1) + np.arange(top + 1), 2000 // top
        ours, peer = (
            Timed(partial(repeat, function, calls))
            for function in (partial(kernel.eigenvalues, top), partial(scipy.special.ive, orders, lam))
        )

        def agreement(ours: Timed = ours, peer: Timed = peer) -> str:
            ratios = np.where(peer.result > 1e-290, peer.result / peer.result[0], np.nan)
            return worst(ours.result, ratios, ratios)

        target = 1.0 if top > 10 else None  # below it is the price of a call
        yield Row(f"{calls} x eigenvalues({top}), dim {dim}, {lam:g} / scipy ive", ours, peer, agreement, target)


def repeat(function: Callable[[], Any], calls: int) -> Any:
    """Call a function so often, and return its last result."""
    for _ in range(calls - 1):
        function()
    return function()


def main() -> None:
    """Measure every row and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--values", type=int, default=10**6, help="arguments of each elementwise function")
    parser.add_argument("--rounds", type=int, default=5, help="how often each call is timed")
    chosen = parser.parse_args()
    size, rounds = chosen.values, chosen.rounds
    table = [measure(row, rounds) for rows in (ratio_rows, log_rows, cap_rows) for row in rows(size)]
    table += [measure(row, 4 * rounds) for row in eigenvalue_rows()]
    print(tabulate(table, HEADER, disable_numparse=True))


if __name__ == "__main__":
    main()
