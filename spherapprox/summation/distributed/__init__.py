"""Sums over control points where one machine is too small: chunks of pairs on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._checks import Floats
from .. import plan
from ..evaluation import LARGEST_CONCENTRATION, pair_bar
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
    log: bool = False,
    method: str = "auto",
    rtol: float | None = 1e-14,
    client: Any = None,
    n_workers: int | None = None,
    chunks: tuple[int, int] | None = None,
    progress: bool = False,
) -> Any:
    """Evaluate."""
    try:
        import dask.distributed  # noqa: F401
    except ImportError as error:
        raise ImportError("distributed sums need Dask: pip install spherapprox[distributed]") from error
    from . import driver

    lazy = sources.is_dask(x)
    points = _checks.rows(x, "x")
    dim = points.shape[1] - 1
    concentration = _checks.concentration(concentration, maximum=LARGEST_CONCENTRATION[np.dtype(np.float64)])
    normalize, log = _checks.flag(normalize, "normalize"), _checks.flag(log, "log")
    progress = _checks.flag(progress, "progress")
    plan.check(method, rtol)
    controls = sources.points(control_points, n, dim)
    table = sources.values(values, controls, log)
    dtype = np.result_type(points.dtype, controls.dtype, table.dtype)
    compute_dtype = dtype if concentration <= LARGEST_CONCENTRATION[dtype] and not log else np.dtype(np.float64)
    recipe = tasks.Recipe(
        concentration / 2.0, compute_dtype, table.shape, normalize, log, method, rtol, controls.centers, table.rule
    )
    with driver.connected(client, n_workers) as found, pair_bar(progress) as report:
        threads = sum(found.nthreads().values())
        sent = controls.rows is not None or table.table is not None
        sizes = tasks.sizes(len(points), controls.n, dim, recipe.p, threads, sent)
        if chunks is not None:
            sizes = sizes._replace(rows=min(chunks[0], len(points)), controls=min(chunks[1], controls.n))
        ends = sources.edges(controls, table, sizes.controls)
        job = driver.Job(recipe, points, dtype, sizes, partial(sources.pieces, controls, table, ends), len(ends) - 1, controls.n)
        return driver.Run(found, job, report, np.empty((len(points), *recipe.shape), dtype)).carry_out()
