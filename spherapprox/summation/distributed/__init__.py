"""Sums over control points where one machine is too small: chunks of pairs on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._types import Floats
from .. import plan
from ..evaluation import LARGEST_CONCENTRATION, check, pair_bar
from . import sources, tasks

__all__ = ["evaluate"]


def evaluate(
    x: Any,
    control_points: Any,
    values: ArrayLike | Callable[[Any], ArrayLike],
    concentration: float,
    *,
    n: int | None = None,
    normalize: bool = False,
    method: str = "auto",
    rtol: float | None = 1e-14,
    log: bool = False,
    client: Any = None,
    n_workers: int | None = None,
    chunks: tuple[int, int] | None = None,
    progress: bool = False,
) -> Any:
    """Evaluate a sum of exponential kernels on the workers of a Dask cluster: `spherapprox.evaluate` at any size.

    Pairs of an evaluation point and a control point are cut into chunks, each a task of about a second; control points
    of a partition or a function are made in the tasks, so that 1e9 of them are nowhere in memory at a time.

    Parameters
    ----------
    x : array_like or dask array, shape (m, dim+1)
        Points of the sphere S^dim, where the sum is wanted.
    control_points : array_like, dask array, EqualMeasurePartition or callable
        The points b_k, shape (n, dim+1). A partition stands for the centres of its cells, as does anything with
        ``len`` and ``centers(start, stop)``; a function returns rows ``start``, ..., ``stop - 1``, and `n` is needed.
    values : array_like, dask array, number, Target or callable
        One value, or one row of them, for each control point, shape (n,) or (n, p); one number for all; or a function
        of the control points that returns them.
    concentration : float
        lambda, from 0 to 1e300.
    n : int, optional
        The number of control points, if these are a function.
    normalize, log : bool, default False
        As in `spherapprox.evaluate`.
    method : {"auto", "dense", "truncated"}
        How each task evaluates its sums: by a method whose error is relative to each row's own sum.
    rtol : float or None, default 1e-14
        As in `spherapprox.evaluate`.
    client : dask.distributed.Client, optional
        Whose cluster does the work. By default the current client's; if there is none, or with `n_workers`, a cluster
        of processes on this machine that lives as long as the call.
    n_workers : int, optional
        Processes of such a cluster, of one thread each; -1, the default, takes all cores. Not with `client`.
    chunks : (int, int), optional
        Evaluation points and control points of a task, instead of what takes about a second. A dask array keeps its
        own chunks: of x each is a task's rows, of control points or values a task takes one or several.
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    ndarray or dask array, shape (m,) or (m, p)
        A dask array if x is one: chunked as x, and evaluated when it is computed, where the caller computes it. float32
        if x, control points and values all are, else float64.

    Raises
    ------
    ImportError
        If Dask is missing.
    RuntimeError
        If no process of an own cluster starts, which may take a minute to be seen. A script that makes one calls this
        under ``if __name__ == "__main__":``.
    TypeError, ValueError
        As in `spherapprox.evaluate`; what tasks find in rows that they make or load is raised when they have run.

    Notes
    -----
    A chunk's result is a triple (s, u, v) for each evaluation point: sums u with values and v without them, both
    relative to ``exp(-lambda s / 2)``. Two triples are united by

    ``(s, u, v) + (s', u', v') = (t, e u + e' u', e v + e' v')``, ``t = min(s, s')``, ``e = exp(-lambda (s - t) / 2)``,

    which is associative and commutative, and right at every lambda (where u and v are tiny at the smaller s, t is the
    larger one, lest the others be lost beside them). Up to 16 are united on a worker, their results here
    in a binary tree whose shape depends on `chunks` only. So results do not depend on the order in which tasks end;
    they agree with `spherapprox.evaluate` to its accuracy (mostly to a relative 1e-15 for values of one sign).

    All data goes with the tasks and not ahead of them: what was on a worker that dies is computed again elsewhere. No
    more tasks are under way than keep the workers busy. An interruption cancels them and ends an own cluster.

    A task costs Dask a few milliseconds and an own cluster takes seconds to start: below some minutes on one thread
    ``spherapprox.evaluate(..., workers=-1)`` is faster. A dask array of control points is computed anew for every chunk
    of x (of up to 16384 rows): persist it if that is dear.

    References
    ----------
    docs/theorems.md, 4.8.

    Examples
    --------
    A split head with a control point in each of 1e9 cells, on all cores of this machine:

    >>> from spherapprox import EqualMeasurePartition, Target, VonMisesFisher, sphere
    >>> from spherapprox.summation import distributed
    >>> height = Target(lambda x: x[:, -1], dim=2)
    >>> x, cells = sphere.uniform(2, 1000, 0), EqualMeasurePartition(2, 10**9)
    >>> h = distributed.evaluate(x, cells, height, 1e6, normalize=True, progress=True)  # doctest: +SKIP

    A core head is the sum times ``c exp(lambda) / n``, the kernel's peak and the cells' measure; x in chunks:

    >>> import dask.array as da
    >>> lam, cells = 100.0, EqualMeasurePartition(2, 2000)
    >>> sums = distributed.evaluate(da.from_array([[0.6, 0.0, 0.8]]), cells, height, lam)
    >>> (sums * VonMisesFisher(2, lam)(1.0) * cells.measure).compute(scheduler="synchronous").round(3)
    array([0.792])
    """
    _need_dask()
    normalize, log = _checks.flag(normalize, "normalize"), _checks.flag(log, "log")
    concentration = _checks.concentration(concentration, maximum=LARGEST_CONCENTRATION[np.dtype(np.float64)])
    check(_checks.choice(method, "method", ("auto", *plan.ROW_BY_ROW)), rtol)
    progress, chunks = _checks.flag(progress, "progress"), _chunks(chunks)
    points, width, x_dtype = _points(x)
    controls = sources.points(control_points, n, width - 1)
    table = sources.values(values, controls, log)
    dtype = np.result_type(x_dtype, controls.dtype, table.dtype)
    single = dtype == np.float32 and concentration <= LARGEST_CONCENTRATION[dtype] and not log
    recipe = tasks.Recipe(
        rate=concentration / 2.0,
        dtype=np.dtype(np.float32 if single else np.float64),
        shape=table.shape,
        normalize=normalize,
        log=log,
        method=method,
        rtol=rtol,
        centers=controls.centers,
        values=table.rule,
    )
    if not sources.is_dask(points):
        return _now(recipe, points, controls, table, dtype, chunks, client, n_workers, progress)
    _no_cluster(client, n_workers, progress)
    from .graph import lazy

    return lazy(recipe, points, controls, table, dtype, chunks and chunks[1])


def _need_dask() -> None:
    """Raise, with the remedy, unless Dask is there."""
    try:
        import dask.distributed  # noqa: F401
    except ImportError as error:
        raise ImportError("distributed sums need Dask: pip install spherapprox[distributed]") from error


def _no_cluster(client: Any, n_workers: int | None, progress: bool) -> None:
    """Raise if it is said how a lazy result is to be computed."""
    if client is not None or n_workers is not None or progress:
        raise ValueError(
            "'client', 'n_workers' and 'progress' must be left out for a dask array x: the result is "
            "evaluated when and where it is computed"
        )


def _now(
    recipe: tasks.Recipe,
    x: Floats,
    controls: sources.Points,
    values: sources.Values,
    dtype: np.dtype[Any],
    chunks: tuple[int, int] | None,
    client: Any,
    n_workers: int | None,
    progress: bool,
) -> Floats:
    """Evaluate on a cluster."""
    from . import driver

    _checks.memory(8.0 * len(x) * recipe.p, "the result", "pass x as a dask array, or in parts")
    sent = controls.rows is not None or values.table is not None
    with driver.connected(client, n_workers) as found:
        threads = driver.threads(found)
        sizes = tasks.sizes(len(x), controls.n, x.shape[1] - 1, recipe.p, threads, sent, chunks)
        ends = sources.edges(controls, values, sizes.controls)
        pieces = partial(sources.pieces, controls, values, ends)
        job = driver.Job(recipe, x, dtype, sizes, pieces, len(ends) - 1, controls.n)
        with pair_bar(progress) as report:
            return driver.Run(found, job, report, np.empty((len(x), *recipe.shape), dtype)).carry_out()


def _points(x: Any) -> tuple[Any, int, np.dtype[Any]]:
    """Return the evaluation points, checked as far as they are there, the number of columns and the type."""
    if not sources.is_dask(x):
        points = _checks.rows(x, "x")
        return points, points.shape[1], points.dtype
    shape, dtype = sources.dask_table(x, "x", "(m, dim+1)")
    if len(shape) != 2 or shape[1] < 2 or shape[0] == 0:
        raise ValueError(f"'x' must have shape (m, dim+1), got {shape}")
    return x, shape[1], dtype


def _chunks(chunks: Any) -> tuple[int, int] | None:
    """Return the sizes of a task, if given."""
    if chunks is None:
        return None
    if not isinstance(chunks, tuple | list) or len(chunks) != 2:
        raise ValueError(
            f"'chunks' must be two integers, evaluation points and control points of a task, got {_checks.show(chunks)}"
        )
    return _checks.integer(chunks[0], "chunks", minimum=1), _checks.integer(chunks[1], "chunks", minimum=1)
