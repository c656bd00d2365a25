"""Speed of the special functions and of VonMisesFisher beside named peers, as ratios measured in one run on one thread.

Each row times this library and a peer on the same numbers in turn, round after round, and gives the medians. Compiled
kernels are loaded by a first call that is not timed. The last column is the worst disagreement with the peer: what this
library's own errors are, tests/reference/accuracy.py tells. It takes one to two minutes, half of it SciPy's::

    python benchmarks/special.py

TensorFlow Probability's NumPy substrate (``pip install tensorflow-probability``, no TensorFlow needed) is timed in a
child process; give the Python that has it where this one has not::

    python benchmarks/special.py --tfp-python /path/to/python
"""

# ruff: noqa: E402 - the limits on threads come before the import of NumPy, which reads them

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
import scipy.special
import scipy.stats
from numpy.typing import NDArray
from tabulate import tabulate
from timing import HEADER, Row, Timed, measure
from tqdm import tqdm

from spherapprox import VonMisesFisher, special

Array = NDArray[np.float64]

IMPORT_COST = 1.3
"""What `import spherapprox` may cost, in imports of NumPy."""


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--values", type=int, default=10**6, help="arguments of each elementwise function")
    add("--rounds", type=int, default=5, help="how often each call is timed")
    add("--tfp-python", default=sys.executable, help="a Python that can import tensorflow_probability")
    return parser.parse_args()


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


CHILD = """
import sys, time
import numpy as np
from tensorflow_probability.substrates import numpy as tfp
order, x = np.load(sys.argv[1])
print("ready", flush=True)
for _ in sys.stdin:
    start = time.perf_counter()
    result = tfp.math.bessel_iv_ratio(order + 1.0, x)
    seconds = time.perf_counter() - start
    np.save(sys.argv[2], result)
    print(seconds, flush=True)
"""
"""Times TensorFlow Probability's ratio, whose order is the numerator's, once for each line that it reads."""


@contextmanager
def tfp_row(size: int, python: str) -> Iterator[list[Row]]:
    """Compare Bessel ratios with TensorFlow Probability's, in a child process that lives as long as the row."""
    order, x = spread(0.01, 1e6, size, 1), spread(1e-3, 1e7, size, 2)
    with tempfile.TemporaryDirectory() as folder:
        arguments, result = Path(folder) / "arguments.npy", Path(folder) / "result.npy"
        np.save(arguments, np.stack([order, x]))
        child = subprocess.Popen(
            [python, "-W", "ignore", "-c", CHILD, str(arguments), str(result)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert child.stdin is not None
        assert child.stdout is not None
        reply, ask = child.stdout, child.stdin
        if reply.readline() != "ready\n":
            reason = child.communicate()[1].strip().splitlines() or ["no message"]
            tqdm.write(f"skipped: TensorFlow Probability under {python} ({reason[-1]}): see --help for --tfp-python")
            yield []
            return

        def peer() -> float:
            ask.write("\n")
            ask.flush()
            return float(reply.readline())

        ours = Timed(lambda: special.iv_ratio(order, x))
        name = f"iv_ratio, {size} values / tfp bessel_iv_ratio (numpy)"
        try:
            yield [Row(name, ours, peer, lambda: worst(ours.result, np.load(result), np.load(result)), target=5.0)]
        finally:
            child.communicate()


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


def sample_rows() -> Iterator[Row]:
    """Compare samples with those of scipy.stats.vonmises_fisher, which makes its rotation anew in each call."""
    for dim, n, target, peer_rounds in ((4095, 2000, 100.0, 1), (2, 10**6, None, 3), (1, 10**6, None, 3)):
        mean, concentration = np.ones(dim + 1) / math.sqrt(dim + 1.0), 10.0 * (dim + 1)
        kernel, peer = VonMisesFisher(dim, concentration), scipy.stats.vonmises_fisher(mean, concentration)
        yield Row(
            f"rvs, dim {dim}, {n} points / scipy.stats",
            Timed(lambda kernel=kernel, mean=mean, n=n: kernel.rvs(mean, n, rng=1)),  # type: ignore[misc]
            Timed(lambda peer=peer, n=n: peer.rvs(n, random_state=np.random.default_rng(1))),  # type: ignore[misc]
            lambda: "",
            target,
            peer_rounds,
        )


def fit_row() -> Row:
    """Compare a fit at ambient dimension 768 with SciPy's."""
    dim, concentration = 767, 2000.0
    x = VonMisesFisher(dim, concentration).rvs(np.eye(dim + 1)[0], 5000, rng=1)
    ours = Timed(lambda: VonMisesFisher.fit(x)[1].concentration)
    peer = Timed(np.errstate(invalid="ignore")(lambda: scipy.stats.vonmises_fisher.fit(x)[1]))
    return Row(
        f"fit, dim {dim}, 5000 points / scipy.stats",
        ours,
        peer,
        lambda: f"{ours.result:.1f}, peer {peer.result:.3g}, true {concentration:g}",
    )


def import_rows() -> Iterator[Row]:
    """Compare imports in fresh processes."""

    def importing(statement: str) -> Callable[[], float]:
        code = f"import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
        return lambda: float(subprocess.run([sys.executable, "-P", "-c", code], check=True, capture_output=True).stdout)

    for ours, peer, target in (
        ("import spherapprox", "import numpy", 1 / IMPORT_COST),
        ("from spherapprox import VonMisesFisher", "from scipy.stats import vonmises_fisher", None),
    ):
        yield Row(f"{ours} / {peer}", importing(ours), importing(peer), lambda: "", target)


def main() -> None:
    """Measure every row and print one table."""
    chosen = options()
    size, rounds = chosen.values, chosen.rounds
    table = []
    with tqdm(desc="rows", unit="row", disable=None) as bar, tfp_row(size, chosen.tfp_python) as tfp:
        for rows, times in (
            (ratio_rows(size), rounds),
            (tfp, rounds),
            (log_rows(size), rounds),
            (cap_rows(size), rounds),
            (eigenvalue_rows(), 4 * rounds),
            (sample_rows(), rounds),
            ([fit_row()], rounds),
            (import_rows(), 3 * rounds),
        ):
            for row in rows:
                table.append(measure(row, times))
                bar.update()
    print(tabulate(table, HEADER, disable_numparse=True))


if __name__ == "__main__":
    main()
