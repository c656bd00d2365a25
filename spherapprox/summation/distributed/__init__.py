"""Sums over control points where one machine is too small: chunks of pairs on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._types import Floats
from ..evaluation import LARGEST_CONCENTRATION, check_method
from . import sources, tasks
from .sources import Rows

__all__ = ["Rows", "evaluate", "evaluate_log"]


def evaluate(
    x: ArrayLike,
    control_points: Any,
    values: ArrayLike | Callable[[Any], ArrayLike],
    concentration: float,
    *,
    normalize: bool = False,
    rtol: float | None = 1e-14,
    client: Any = None,
    chunks: tuple[int, int] | None = None,
) -> Floats:
    """Evaluate a sum of exponential kernels on the workers of a Dask cluster: `spherapprox.evaluate` at any size.

    Pairs of an evaluation point and a control point are cut into chunks, each a task of about a second; control points
    of a partition or a function are made in the tasks, so that 1e9 of them are nowhere in memory at a time. Each task
    takes all pairs or leaves out those that are too far: methods whose error is relative to each row's own sum.

    Parameters
    ----------
    x : array_like, shape (m, dim+1)
        Points of the sphere S^dim, where the sum is wanted.
    control_points : array_like, EqualMeasurePartition or Rows
        The points b_k, shape (n, dim+1). A partition stands for the centres of its cells, as does anything with
        ``len`` and ``centers(start, stop)``, such as `Rows` that a function makes.
    values : array_like, number, Target or callable
        One value, or one row of them, for each control point, shape (n,) or (n, p); one number for all; or a function
        of the control points that returns them.
    concentration : float
        lambda, from 0 to 1e300.
    normalize : bool, default False
        As in `spherapprox.evaluate`.
    rtol : float or None, default 1e-14
        As in `spherapprox.evaluate`.
    client : dask.distributed.Client, optional
        Whose cluster does the work. By default the current client's; if there is none, a cluster of processes of one
        thread each, as many as there are cores, that lives as long as the call.
    chunks : (int, int), optional
        Evaluation points and control points of a task, instead of what takes about a second.

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
    where there is no worker. `spherapprox.summation.show_progress` shows a bar of tasks.
    A task costs Dask a few milliseconds and an own cluster takes seconds to start: below some
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
    >>> h = distributed.evaluate(x, cells, height, 1e6, normalize=True)  # doctest: +SKIP
    """
    options = {"normalize": normalize, "log": False, "rtol": rtol, "client": client, "chunks": chunks}
    return _evaluated(x, control_points, values, concentration=concentration, **options)


def evaluate_log(
    x: ArrayLike,
    control_points: Any,
    values: ArrayLike | Callable[[Any], ArrayLike],
    concentration: float,
    *,
    normalize: bool = False,
    rtol: float | None = 1e-14,
    client: Any = None,
    chunks: tuple[int, int] | None = None,
) -> Floats:
    """Evaluate the logarithm of a sum on the workers of a Dask cluster: `spherapprox.summation.evaluate_log`.

    Parameters
    ----------
    x, control_points, concentration, normalize, rtol, client, chunks
        As in `evaluate`.
    values : array_like, number, Target or callable
        As there; none is below 0.

    Returns
    -------
    ndarray, shape (m,) or (m, p)
        -inf where the sum is 0.

    Raises
    ------
    ImportError, RuntimeError, TypeError, ValueError
        As `evaluate` does, and for values below 0.

    Examples
    --------
    >>> from spherapprox import EqualMeasurePartition, sphere
    >>> from spherapprox.summation import distributed
    >>> x, cells = sphere.uniform(2, 1000, 0), EqualMeasurePartition(2, 10**9)
    >>> logs = distributed.evaluate_log(x, cells, 1e-9, 1e6)  # doctest: +SKIP
    """
    options = {"normalize": normalize, "log": True, "rtol": rtol, "client": client, "chunks": chunks}
    return _evaluated(x, control_points, values, concentration=concentration, **options)


def _evaluated(
    x: ArrayLike, control_points: Any, values: Any, concentration: float, *, normalize: bool, log: bool,
    rtol: float | None, client: Any, chunks: tuple[int, int] | None,
) -> Floats:  # fmt: skip
    """Check the arguments, and evaluate the sum or its logarithm."""
    with _checks.needs("Dask", "distributed.evaluate", "distributed"):
        import dask.distributed  # noqa: F401
    from . import driver

    normalize = _checks.flag(normalize, "normalize")
    concentration = _checks.concentration(concentration, maximum=LARGEST_CONCENTRATION[np.dtype(np.float64)])
    check_method("auto", rtol)
    if chunks is not None and (not isinstance(chunks, tuple | list) or len(chunks) != 2):
        raise ValueError(
            f"'chunks' must be two integers, evaluation points and control points of a task, got {_checks.show(chunks)}"
        )
    sizes = [_checks.integer(size, "chunks", minimum=1) for size in chunks or ()]
    rows = _checks.rows(sources.in_memory(x, "x"), "x")
    controls = sources.points(control_points, rows.shape[1] - 1)
    table = sources.values(values, controls, log)
    dtype = np.result_type(rows, controls.first, table.first)
    single = dtype == np.float32 and concentration <= LARGEST_CONCENTRATION[dtype] and not log
    recipe = tasks.Recipe(
        rate=concentration / 2.0, dtype=np.dtype(np.float32 if single else np.float64), shape=table.first.shape[1:],
        normalize=normalize, log=log, rtol=rtol, centers=controls.rule, values=table.rule,
    )  # fmt: skip
    _checks.memory(8.0 * len(rows) * recipe.p, "the result", "pass x in parts")
    m, n = sizes or tasks.sizes(len(rows), controls.n, rows.shape[1] - 1, p=recipe.p)
    with driver.connected(client) as cluster:
        result = driver.run(cluster, recipe, rows, controls=controls, values=table, size=(m, n))
    return result.reshape(len(rows), *recipe.shape).astype(dtype, copy=False)
