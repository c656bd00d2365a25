"""Sums over control points where one machine is too small: chunks of pairs on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._types import Floats
from .. import plan
from ..evaluation import LARGEST_CONCENTRATION, check
from . import sources, tasks

__all__ = ["evaluate"]


def evaluate(
    x: ArrayLike,
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
) -> Floats:
    """Evaluate a sum of exponential kernels on the workers of a Dask cluster: `spherapprox.evaluate` at any size.

    Pairs of an evaluation point and a control point are cut into chunks, each a task of about a second; control points
    of a partition or a function are made in the tasks, so that 1e9 of them are nowhere in memory at a time.

    Parameters
    ----------
    x : array_like, shape (m, dim+1)
        Points of the sphere S^dim, where the sum is wanted.
    control_points : array_like, EqualMeasurePartition or callable
        The points b_k, shape (n, dim+1). A partition stands for the centres of its cells, as does anything with
        ``len`` and ``centers(start, stop)``; a function returns rows ``start``, ..., ``stop - 1``, and `n` is needed.
    values : array_like, number, Target or callable
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
        Evaluation points and control points of a task, instead of what takes about a second.
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    ndarray, shape (m,) or (m, p)
        float32 if x, control points and values all are, else float64.

    Raises
    ------
    ImportError
        If Dask is missing.
    RuntimeError
        If an own cluster does not start: a script that makes one calls this under ``if __name__ == "__main__":``.
    TypeError, ValueError
        As in `spherapprox.evaluate`; complaints about rows that tasks make are raised when they have run. Arrays of
        Dask are refused: compute them, or pass a function that loads rows.

    Notes
    -----
    A chunk's result is a triple (s, u, v) for each evaluation point: sums u with values and v without them, both
    relative to ``exp(-lambda s / 2)``. Two triples are united by

    ``(s, u, v) + (s', u', v') = (t, e u + e' u', e v + e' v')``, ``t = min(s, s')``, ``e = exp(-lambda (s - t) / 2)``,

    which is associative and commutative, and right at every lambda (where u and v are tiny at the smaller s, t is the
    larger one, lest the others be lost beside them). They are united in a binary tree whose shape depends on `chunks`
    only, so that neither the cluster nor the order in which tasks end changes a bit.

    Data goes with the tasks: what was on a worker that dies is computed again elsewhere, by Dask itself, which waits
    where there is no worker. A task costs Dask a few milliseconds and an own cluster takes seconds to start: below some
    minutes on one thread ``spherapprox.evaluate(..., workers=-1)`` is faster.

    References
    ----------
    docs/theorems/4.8-dense-sums.md.

    Examples
    --------
    A split head with a control point in each of 1e9 cells, on all cores of this machine:

    >>> from spherapprox import EqualMeasurePartition, Target, VonMisesFisher, sphere
    >>> from spherapprox.summation import distributed
    >>> height = Target(lambda x: x[:, -1], dim=2)
    >>> x, cells = sphere.uniform(2, 1000, 0), EqualMeasurePartition(2, 10**9)
    >>> h = distributed.evaluate(x, cells, height, 1e6, normalize=True, progress=True)  # doctest: +SKIP
    """
    with _checks.needs("Dask", "distributed.evaluate", "distributed"):
        import dask.distributed  # noqa: F401
    from . import driver

    normalize, log = _checks.flag(normalize, "normalize"), _checks.flag(log, "log")
    concentration = _checks.concentration(concentration, maximum=LARGEST_CONCENTRATION[np.dtype(np.float64)])
    check(_checks.choice(method, "method", ("auto", *plan.ROW_BY_ROW)), rtol)
    progress, chunks = _checks.flag(progress, "progress"), _chunks(chunks)
    rows = _checks.rows(sources.in_memory(x, "x"), "x")
    controls = sources.points(control_points, n, rows.shape[1] - 1)
    table = sources.values(values, controls, log)
    dtype = np.result_type(rows, controls.first, table.first)
    single = dtype == np.float32 and concentration <= LARGEST_CONCENTRATION[dtype] and not log
    recipe = tasks.Recipe(
        rate=concentration / 2.0, dtype=np.dtype(np.float32 if single else np.float64), shape=table.first.shape[1:],
        normalize=normalize, log=log, method=method, rtol=rtol, centers=controls.rule, values=table.rule,
    )  # fmt: skip
    _checks.memory(8.0 * len(rows) * recipe.p, "the result", "pass x in parts")
    size = chunks or tasks.sizes(len(rows), controls.n, rows.shape[1] - 1, recipe.p)
    with driver.connected(client, n_workers) as found:
        result = driver.run(found, recipe, rows, controls, table, size, progress)
    return result.reshape(len(rows), *recipe.shape).astype(dtype, copy=False)


def _chunks(chunks: Any) -> tuple[int, int] | None:
    """Return the checked evaluation and control points of a task, None for the default."""
    if chunks is None:
        return None
    if not isinstance(chunks, tuple | list) or len(chunks) != 2:
        raise ValueError(
            f"'chunks' must be two integers, evaluation points and control points of a task, got {_checks.show(chunks)}"
        )
    return _checks.integer(chunks[0], "chunks", minimum=1), _checks.integer(chunks[1], "chunks", minimum=1)
