"""Small calls that make every kernel compile, in processes that share the cache folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import product
from typing import Any

import numpy as np

from . import _checks
from ._loading import wings
from ._threads import max_threads

__all__ = ["compile_kernels"]


def compile_kernels(*, workers: int | None = None, progress: bool = False) -> int:
    """Compile every kernel and keep it in the cache folder, so that no later call waits for a compiler.

    What was compiled before, by this version for this processor, is not compiled again. Without it, each kernel is
    compiled when it is first needed; if that takes over a second, the logger "spherapprox" says so, once in a process:
    ``logging.getLogger("spherapprox").setLevel("ERROR")`` silences it.

    Parameters
    ----------
    workers : int or None, default None
        Processes that compile at a time; -1 takes all cores, and so does None (see `spherapprox.evaluate`).
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    int
        Number of kernels that were compiled. ``show_config("dicts")["compiled code"]`` is their folder.

    Raises
    ------
    OSError
        If no folder can keep them; the environment variable NUMBA_CACHE_DIR names another.
    RuntimeError
        If a process that compiles fails.

    Examples
    --------
    >>> import spherapprox
    >>> spherapprox.warmup.compile_kernels()  # doctest: +SKIP
    """
    from tqdm import tqdm

    from ._kernels.jit import cache_folder

    count, visible, folder = _checks.workers(workers), _checks.flag(progress, "progress"), cache_folder()
    if folder is None or not os.access(folder, os.W_OK):
        raise OSError("no folder can keep compiled kernels; name one that can be written to in NUMBA_CACHE_DIR")
    compiled, pool = 0, ThreadPoolExecutor(max_threads(count))
    try:
        names = list(tasks())
        with tqdm(total=len(names), desc="compiling", disable=not visible) as bar:
            for task in as_completed([pool.submit(_compile, name) for name in names]):
                compiled += task.result()
                bar.update()
    finally:
        pool.shutdown(cancel_futures=True)
    return compiled


def _compile(name: str) -> int:
    """Run a task in a process of its own, and return the number of kernels that it compiled."""
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    code = f"from spherapprox.warmup import tasks; tasks()[{name!r}]()"
    code += "; from spherapprox._kernels.store import count_kept; print(count_kept())"
    run = subprocess.run(
        [sys.executable, "-P", "-W", "ignore", "-c", code],  # -P: no module of the current folder
        env=os.environ | single | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if run.returncode:
        raise RuntimeError(f"compiling the kernels of {name!r} failed:\n{run.stderr}")
    return int(run.stdout.split()[-1])


def _radii() -> None:
    from .partition import EqualMeasurePartition

    for dim, n, kind in product((2, 3, 8), (1000, 10**8), ("midpoint", "centroid", "smallest-cap")):
        partition = EqualMeasurePartition(dim, n, centers=kind)
        assert partition.cell_radius() + partition.cell_diameter_bound() + len(partition.collar_counts) > 0.0


def _partitions() -> None:
    from . import sphere
    from .partition import EqualMeasurePartition

    for dim, kind in product((1, 2, 3, 4), ("midpoint", "centroid", "smallest-cap")):
        partition = EqualMeasurePartition(dim, 1000, centers=kind)
        partition.centers()
        partition.locate(sphere.uniform(dim, 100, rng=0))
        partition.radii()
        partition.cell(5)
    EqualMeasurePartition(2, 100_000).centers()  # so many that plain Python would be slower
    EqualMeasurePartition(4, 50).locate(sphere.uniform(4, 1000, rng=0))


def _special() -> None:
    from ._kernels.scalars.loops import LOOPS
    from ._scalars import bessel_ratio

    for kernel, loop in LOOPS.items():
        arguments: list[Any] = [np.ones(9)] * kernel.__code__.co_argcount
        if kernel in (bessel_ratio.all_ratios, bessel_ratio.all_log_ratios):
            arguments = [1.0, 1.0]
        loop(*arguments, np.empty(9))


def _points() -> None:
    from . import points
    from .vmf import VonMisesFisher

    x = points.fibonacci(60)
    for exponent in (0.0, 1.0):
        points.relax(x, steps=2, exponent=exponent)
    points.greedy(x, 90)
    for dim in (1, 2, 3, 5):
        nodes = points.uniform(dim, 50, rng=0)
        nodes.cap_discrepancy()
        nodes.quadrature_error(4)
        VonMisesFisher(dim, 20.0).rvs(nodes.points[0], 10, rng=0)


def _sums() -> None:
    from . import sphere
    from ._kernels.summation.layout import MANY
    from .summation import attention, evaluate, explain_sum, tangent_moments

    tangent_moments(np.eye(3), np.eye(3), 1.0)
    for dtype in (np.float64, np.float32):
        for mask in (None, np.arange(3.0, dtype=dtype)):
            rows = np.eye(3, dtype=dtype)
            attention(rows, rows, rows, mask)
        # as many that NumPy would be slower
        x, b = (sphere.uniform(2, 15000, rng=seed).astype(dtype) for seed in (0, 1))
        column, columns = np.ones(len(b), dtype), np.ones((len(b), 2), dtype)
        for values, rtol in product((column, columns), (None, 0.1)):  # by differences, and by products alone
            evaluate(x, b, values, 1.0, method="dense", rtol=rtol)
        for rtol in (None, 0.1):
            evaluate(x[:300], b, np.ones((len(b), MANY), dtype), 1.0, method="dense", rtol=rtol)
        for method, log in product(("dense", "truncated"), (False, True)):
            explain_sum(x, b, columns, concentration=1e4, log=log, method=method)
    evaluate(np.eye(3), np.eye(3), np.ones(3), 1.0)


def _expansions() -> None:
    from . import harmonics, sphere
    from .harmonics import sums
    from .summation import evaluate

    harmonics.synthesize(np.ones(256**2), sphere.uniform(2, 5000, rng=0))  # so many that they go by a grid
    sums.summed_directly(np.ones((4, 1)), 1, np.eye(3), dear=0.0)
    for dim, method in ((1, "harmonic"), (2, "harmonic"), (2, "lowrank"), (5, "lowrank")):
        x, b = (sphere.uniform(dim, 4000, rng=seed) for seed in (0, 1))
        for normalize in (False, True):
            evaluate(x, b, np.ones((len(b), 2)), 2.0, normalize=normalize, method=method, rtol=1e-9)


def _proofs() -> None:
    from . import points, sup_error, targets
    from .error import head_constants, worst_case_error
    from .heads import CoreHead, SplitHead

    wave, rows = targets.zonal_harmonic(2, 3), points.fibonacci(60)
    for kind in (CoreHead, SplitHead):
        head = kind.from_target(wave, rows, 20.0)
        assert sup_error(head, wave, certified=True, n=500).upper > 0.0
        head_constants(head, slack=1.0)
        keyed = kind(head.control_points, head.values, np.linspace(10.0, 20.0, len(head)))
        assert sup_error(keyed, wave, certified=True, n=500).upper > 0.0
    assert worst_case_error(rows, 20.0, certified=True, n=500).upper > 0.0


TASKS: dict[str, Callable[[], None]] = {
    "sums": _sums,
    "radii": _radii,
    "special": _special,
    "partitions": _partitions,
    "points": _points,
    "expansions": _expansions,
    "proofs": _proofs,
}
"""The longest first."""


def tasks() -> dict[str, Callable[[], None]]:
    """Return all tasks by name, those of the wings after the others."""
    return {name: task for tasks in (TASKS, *(wing.TASKS for wing in wings())) for name, task in tasks.items()}
