"""Dense sums over control points beside NumPy, PyTorch and others, and beside the machine's own limits, in one run.

Every peer evaluates the same sums; ours are right at every concentration, theirs are what their users would write. The
script starts itself again for each number of threads, with memory that is kept when it is freed and without settings
that tie OpenBLAS to another machine's kernels, and prints what threadpoolctl reports. Medians of interleaved rounds of
wall time; it takes some minutes::

    python benchmarks/dense.py
    python benchmarks/dense.py --threads 1 --dims 3 65 --rounds 9

Peers that are not installed are left out: ``pip install threadpoolctl torch scikit-learn numexpr pykeops``. Matrix
products alone, which NumPy and PyTorch leave to their BLAS, say how much of a ratio is left to win. A target is
a ratio of times, or the share of a limit: those of the machine's streams of vector arithmetic (roofline.py). Where
additions take the place of multiply-adds, as on Intel's machines, the limit of all arithmetic is held against it.
"""

from __future__ import annotations

import argparse
import importlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import roofline
from numpy.typing import NDArray
from tabulate import tabulate
from timing import machine

from spherapprox import evaluate, sphere

Array = NDArray[Any]

CONCENTRATION = 20.0
TILE = (128, 512)
PAUSE = 0.15
THREAD_SETTINGS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
MEMORY_SETTINGS = dict.fromkeys(("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"), str(2**30))
"""glibc keeps what is freed: else page faults are half of a peer's time, and the next call pays for giving back."""
CORE_TARGETS = {(3, 1): 4.3, (3, 2): 8.0}
SPLIT_TARGETS = {3: 6.0, 65: 2.5, 129: 2.0}
SHARES = {3: 0.65, 9: 0.72, 17: 0.75, 65: 0.88, 129: 0.88}
LENIENT = {8: 1e-10, 4: 1e-3}
"""By the size of a number: tolerances that allow exponents from products alone."""
PORTABLE_SHARE = 0.45


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--threads", type=int, nargs="+", default=[1, 2])
    add("--dims", type=int, nargs="+", default=[3, 9, 17, 65, 129], help="columns d of the points")
    add("--rounds", type=int, default=7, help="how often each call is timed")
    add("--child", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def optional(name: str) -> Any:
    """Import a peer, or return None."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def numpy_tiles(x: Array, b: Array, w: Array, tile: tuple[int, int]) -> Array:
    """Evaluate the core sums by products, tile by tile, in buffers that are used again."""
    out = np.zeros((len(x), w.shape[1]), x.dtype)
    buffer = np.empty(tile, x.dtype)
    concentration = x.dtype.type(CONCENTRATION)
    for i in range(0, len(x), tile[0]):
        rows = x[i : i + tile[0]]
        for k in range(0, len(b), tile[1]):
            part = b[k : k + tile[1]]
            t = buffer[: len(rows), : len(part)]
            np.matmul(rows, part.T, out=t)
            np.subtract(t, 1.0, out=t)
            np.multiply(t, concentration, out=t)
            np.exp(t, out=t)
            out[i : i + tile[0]] += t @ w[k : k + tile[1]]
    return out


def numpy_products(x: Array, b: Array, tile: tuple[int, int]) -> Array:
    """Compute only the products that those sums begin with, a floor of their time."""
    buffer = np.empty(tile, x.dtype)
    for i in range(0, len(x), tile[0]):
        for k in range(0, len(b), tile[1]):
            rows, part = x[i : i + tile[0]], b[k : k + tile[1]]
            np.matmul(rows, part.T, out=buffer[: len(rows), : len(part)])
    return buffer


def core_peers(x: Array, b: Array, w: Array) -> Iterator[tuple[str, Callable[[], Array]]]:
    """Yield the peers of the core sums."""
    gamma = x.dtype.type(CONCENTRATION)
    yield "numpy L2 tiles", lambda: numpy_tiles(x, b, w, TILE)
    yield "  their first products alone", lambda: numpy_products(x, b, TILE)
    yield (
        "numpy chunks of 1024 rows",
        lambda: np.concatenate(
            [np.exp(gamma * (x[i : i + 1024] @ b.T - x.dtype.type(1.0))) @ w for i in range(0, len(x), 1024)]
        ),
    )
    if numexpr := optional("numexpr"):

        def by_numexpr() -> Array:
            parts = []
            for i in range(0, len(x), 256):
                s = x[i : i + 256] @ b.T
                parts.append(numexpr.evaluate("exp(g * (s - 1))", {"s": s, "g": gamma}, out=s) @ w)
            return np.concatenate(parts)

        yield "numexpr", by_numexpr
    if pairwise := optional("sklearn.metrics.pairwise"):
        yield (
            "scikit-learn rbf_kernel",
            lambda: np.concatenate(
                [pairwise.rbf_kernel(x[i : i + 1024], b, gamma=float(gamma) / 2.0) @ w for i in range(0, len(x), 1024)]
            ),
        )
    if torch := optional("torch"):
        tx, tb, tw = (torch.from_numpy(a) for a in (x, b, w))

        def by_torch() -> Array:
            parts = []
            for i in range(0, len(x), 128):
                parts.append((tx[i : i + 128] @ tb.T).sub_(1.0).mul_(float(gamma)).exp_() @ tw)
            return np.asarray(torch.cat(parts).numpy())

        yield "torch tiles", by_torch
    if keops := optional("pykeops.numpy"):
        yield "pykeops LazyTensor", _keops(keops, x, b, w)


def _keops(keops: Any, x: Array, b: Array, w: Array) -> Callable[[], Array]:
    lazy_x, lazy_b = keops.LazyTensor(x[:, None, :]), keops.LazyTensor(b[None, :, :])
    kernel = (((lazy_x - lazy_b) ** 2).sum(-1) * (-CONCENTRATION / 2.0)).exp()
    return lambda: np.asarray(kernel @ w)


def split_peers(x: Array, b: Array, w: Array) -> Iterator[tuple[str, Callable[[], Array]]]:
    """Yield the peers of the split sums."""
    if torch := optional("torch"):
        q, k, v = (torch.from_numpy(a)[None, None] for a in (x, b, w))
        attention = torch.nn.functional.scaled_dot_product_attention
        yield "torch attention", lambda: np.asarray(attention(q, k, v, scale=CONCENTRATION)[0, 0].numpy())
        tx, tb, tw = q[0, 0], k[0, 0], v[0, 0]
        blocks = range(0, len(x), 128)
        yield "  its products alone", lambda: np.concatenate([(tx[i : i + 128] @ tb.T @ tw).numpy() for i in blocks])

    def by_numpy() -> Array:
        sums = numpy_tiles(x, b, np.hstack([w, np.ones((len(w), 1), w.dtype)]), TILE)
        return sums[:, :-1] / sums[:, -1:]

    yield "numpy L2 tiles", by_numpy


def rounds_of(calls: dict[str, Callable[[], Any]], rounds: int, threads: int) -> dict[str, float]:
    """Return the median wall time of each call, in interleaved rounds after one that is not timed.

    A pause before each lets threads of the call before fall asleep: those of BLAS spin for up to a tenth of a second.
    Then all cores are woken: on virtual machines two threads share one for milliseconds while another sleeps.
    """
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            time.sleep(PAUSE)
            wake(threads)
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}


def wake(threads: int) -> None:
    """Compute on so many cores for some ten milliseconds."""
    stream = roofline.streams()["multiply-adds"]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda _: [stream() for _ in range(8)], range(threads)))


def case(d: int, dtype: Any, split: bool, rounds: int, threads: int) -> tuple[list[list[str]], list[str]]:
    """Return the rows of the table of one problem, and the row of the table of shares on one thread."""
    n = 6144 if d <= 17 else 4096
    x, b = (sphere.uniform(d - 1, n, seed).astype(dtype) for seed in (0, 1))
    w = np.random.default_rng(2).random((n, d if split else 1)).astype(dtype)
    sums = partial(evaluate, x, b, w, CONCENTRATION, normalize=split, method="dense", workers=threads)
    calls: dict[str, Callable[[], Any]] = {"ours": sums}
    calls[f"ours, rtol={LENIENT[x.itemsize]:g}"] = partial(sums, rtol=LENIENT[x.itemsize])
    calls |= dict((split_peers if split else core_peers)(x, b, w)) | roofline.streams()
    seconds = rounds_of(calls, rounds, threads)
    limits, rows = roofline.machine({name: seconds.pop(name) for name in roofline.streams()}), []
    mine = seconds.pop("ours")
    for peer, time_of_peer in seconds.items():
        target = None
        if peer == "numpy L2 tiles" and not split and x.itemsize == 8:
            target = CORE_TARGETS.get((d, threads))
        if peer == "torch attention" and threads == 1:
            target = SPLIT_TARGETS.get(d)
        ratio = time_of_peer / mine
        kept = "" if target is None else "yes" if ratio >= target else "NO"
        what = f"{'split p=d' if split else 'core p=1'} {np.dtype(dtype).name} d={d}"
        rows.append([what, peer, f"{n * n / mine / 1e9:.3g}", f"{n * n / time_of_peer / 1e9:.3g}", f"{ratio:.3g}"])
        rows[-1] += ["" if target is None else f">= {target:g}", kept]
    return rows, share_row(limits, d, dtype, split, n * n / mine)


def share_row(machine: roofline.Machine, d: int, dtype: Any, split: bool, rate: float) -> list[str]:
    """Return the shares of the machine's limits that a problem's rate is on one thread."""
    itemsize = np.dtype(dtype).itemsize
    pipe, everything = machine.limits(d, d if split else 1, itemsize, split)
    wanted = SHARES.get(d) if itemsize == 8 and not split else None
    if wanted is not None and machine.lanes < 8:
        wanted = PORTABLE_SHARE
    limit = everything if machine.shared else pipe
    kept = "" if wanted is None else "yes" if rate >= wanted * limit else "NO"
    what = f"{'split p=d' if split else 'core p=1'} {np.dtype(dtype).name} d={d}"
    shares = [f"{rate / pipe:.2f}", f"{rate / everything:.2f}" if machine.shared else "-"]
    rates = [f"{machine.multiply_adds / 1e9:.2f}", f"{machine.with_additions / 1e9:.2f}"]
    return [what, *rates, f"{rate / 1e9:.3g}", *shares, "" if wanted is None else f">= {wanted:g}", kept]


def child(threads: int, dims: list[int], rounds: int) -> None:
    """Measure with a number of threads that the environment has been told already."""
    if torch := optional("torch"):
        torch.set_num_threads(threads)
    if threadpoolctl := optional("threadpoolctl"):
        for pool in threadpoolctl.threadpool_info():
            print({key: pool.get(key) for key in ("internal_api", "version", "architecture", "num_threads")})
    packages = ("numpy", "numba", "llvmlite", "torch", "scikit-learn", "numexpr", "pykeops")
    print(f"{machine(*packages)}\n\n{threads} thread(s), vectors of {roofline.lanes()} float64")
    rows, shares = [], []
    for d in dims:
        for dtype in (np.float64, np.float32):
            for split in (False, True):
                lines, share = case(d, dtype, split, rounds, threads)
                rows += lines
                shares.append(share)
    print(
        tabulate(rows, ["what", "peer", "ours (G/s)", "peer (G/s)", "ratio", "target", "kept"], disable_numparse=True)
    )
    if threads == 1:
        header = ["what", "G multiply-adds/s", "with additions", "G pairs/s", "of the former", "of all arithmetic"]
        header += ["target", "kept"]
        print("\n" + tabulate(shares, header, disable_numparse=True))


def main() -> None:
    """Run a child process for each number of threads."""
    chosen = options()
    if chosen.child:
        child(chosen.child, chosen.dims, chosen.rounds)
        return
    clean = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    for threads in chosen.threads:
        settings = clean | MEMORY_SETTINGS | dict.fromkeys(THREAD_SETTINGS, str(threads))
        command = [sys.executable, __file__, "--child", str(threads), "--rounds", str(chosen.rounds), "--dims"]
        subprocess.run([*command, *map(str, chosen.dims)], env=settings, check=True)


if __name__ == "__main__":
    main()
