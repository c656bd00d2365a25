"""A search for the shortest head beside what fixed points take, as a table, a head, a document and two figures.

`compare` makes and measures heads at fixed points, `save` writes a search; ``spherapprox shortest`` is both.
"""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from spherapprox import CoreHead, EqualMeasurePartition, SplitHead, __version__, _checks, points, sphere
from spherapprox.error import lengths, sup_error
from spherapprox.heads.head import Head
from spherapprox.shortest import ShortestHead
from spherapprox.target import Target

from ._document import plain
from ._document import target as target_document
from ._files import write_csv, write_together

__all__ = ["compare", "document", "save"]

FILES = {"shortest.csv": b"n,error,upper,", "shortest.json": b"spherapprox", "head.npz": b"header.npy",
         "shortest.npz": b"header.npy", "error.png": b"spherapprox", "map.png": b"spherapprox"}  # fmt: skip
"""What `save` writes, and what stands near the beginning of each."""
COUNTS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
_COLUMNS = (
    "n", "error", "upper", "rms", "numbers", "concentration", "largest_value", "digits_lost", "condition", "start",
    "starts", "seconds",
)  # fmt: skip
_SAMPLE = 4000
"""Points at which concentrations are compared."""


def compare(
    target: Target, counts: Sequence[int] = COUNTS, *, least: float = 0.0, rng: np.random.Generator | int | None = 0
) -> dict[str, list[tuple[int, float]]]:
    """Measure heads at fixed points, each with the concentration of least error.

    Parameters
    ----------
    target : Target
        What is approximated.
    counts : sequence of int
        Numbers of control points.
    least : float, default 0.0
        A method whose error is no larger is not tried with more points.
    rng : None, int or numpy.random.Generator
        Seeds the sample at which concentrations are compared.

    Returns
    -------
    dict of str to list of (int, float)
        Numbers of tokens and sup errors of "Riemann sums, split" (on an equal-measure partition) and of "interpolation,
        core" (at Fibonacci points on S^2, else at the centres of the partition).

    Raises
    ------
    TypeError, ValueError
        If the target is none, or a count is no whole number above 0.

    Examples
    --------
    >>> import bounds
    >>> from spherapprox import targets
    >>> found = bounds.report.shortest.compare(targets.zonal_harmonic(2, 2), [10, 40])
    >>> {name: [round(error, 2) for _, error in rows] for name, rows in found.items()}
    {'Riemann sums, split': [0.3, 0.18], 'interpolation, core': [0.01, 0.0]}
    """
    target = _checks.instance(target, "target", Target, remedy="Target(function, dim) makes one")
    least = _checks.real(least, "least", minimum=0.0)
    counts = [_checks.integer(n, "counts", minimum=1, maximum=10**6) for n in counts]
    x = sphere.uniform(target.dim, _SAMPLE, rng=rng)
    values = target(x)
    found: dict[str, list[tuple[int, float]]] = {"Riemann sums, split": [], "interpolation, core": []}
    for n in counts:
        cells = EqualMeasurePartition(target.dim, n)
        nodes: Any = points.fibonacci(n) if target.dim == 2 else cells
        makers: dict[str, Callable[[float], Head]] = {
            "Riemann sums, split": partial(SplitHead.from_target, target, cells),
            "interpolation, core": partial(CoreHead.from_target, target, nodes, coefficients="interpolation"),
        }
        for name, make in makers.items():
            if found[name] and found[name][-1][1] <= least:
                continue
            found[name].append((n, sup_error(_best(make, n, x, values, target.dim), target).lower))
    return found


def _best(make: Callable[[float], Head], n: int, x: Any, values: Any, dim: int) -> Head:
    """Return the head of the concentration with the least error at a sample."""
    scale = math.log(n) * 2.0 / dim

    def error(log: float) -> float:
        return float(lengths((make(math.exp(log))(x) - values).reshape(len(x), -1)).max())

    with warnings.catch_warnings():  # of concentrations that do not suit the points
        warnings.simplefilter("ignore", RuntimeWarning)
        grid = np.linspace(scale - 5.0, scale + 2.0, 9)
        start = min(grid, key=error)
        found = minimize_scalar(error, bounds=(start - 0.9, start + 0.9), method="bounded", options={"xatol": 0.05})
        return make(math.exp(min((found.x, start), key=error)))


def document(found: ShortestHead, target: Target) -> dict[str, Any]:
    """Return a search as a document for JSON.

    Parameters
    ----------
    found : ShortestHead
    target : Target
        What was approximated.

    Returns
    -------
    dict
        The rows, the head picked with its error, and the target's constants.

    Raises
    ------
    TypeError
        If `found` is no search, or `target` none.

    Examples
    --------
    >>> import bounds
    >>> from spherapprox import shortest_head, targets
    >>> from spherapprox.shortest import SearchOptions
    >>> bump = targets.bump(2)
    >>> bounds.report.shortest.document(shortest_head(bump, 1e-6, "core", search=SearchOptions(lower=False)), bump)["n"]
    1
    """
    _checks.instance(found, "found", ShortestHead, remedy="shortest_head makes one")
    _checks.instance(target, "target", Target, remedy="what the head approximates")
    rows = [dict(zip(_COLUMNS, map(plain, cells), strict=True)) for cells in _rows(found)]
    return {
        "made_by": f"spherapprox {__version__}", "n": found.n, "eps": found.eps, "norm": found.norm,
        "reached": found.reached, "kind": found.head.family, "failed": list(found.failed),
        "lower": found.lower, "lower_reason": found.lower_reason,
        "error": {name: plain(getattr(found.error, name)) for name in ("lower", "upper", "at")},
        "target": target_document(target), "rows": rows, "notes": list(found.notes),
    }  # fmt: skip


def _floor(found: ShortestHead) -> list[tuple[int, float]]:
    return [] if found.lower is None or found.norm != "sup" else [(found.lower, found.eps)]


def _rows(found: ShortestHead) -> list[list[Any]]:
    names = ("n", "lower", *_COLUMNS[2:])
    return [[getattr(row, name) for name in names] for row in found.history]


def save(
    found: ShortestHead, target: Target, out: str | os.PathLike[str], *,
    others: Mapping[str, Sequence[tuple[int, float]]] | None = None,
) -> tuple[Path, ...]:  # fmt: skip
    """Write the head, the search, its table and document, error.png and, on S^2, map.png; all of them or none.

    Parameters
    ----------
    found : ShortestHead
        The search.
    target : Target
        What was approximated.
    out : str or os.PathLike
        The folder, made where there is none; files of these names in it are replaced.
    others : mapping of str to sequence of (int, float), optional
        By the name of a method, tokens and errors, for error.png: what `compare` returns.

    Returns
    -------
    tuple of Path
        The files written: head.npz is the head that is picked, shortest.npz all of them.

    Raises
    ------
    OSError
        When the folder cannot be written.
    TypeError
        When `found` is no search, or `target` none.

    Examples
    --------
    >>> import bounds, tempfile
    >>> from spherapprox import shortest_head, targets
    >>> from spherapprox.shortest import SearchOptions
    >>> bump = targets.bump(3)
    >>> found = shortest_head(bump, 1e-6, "core", search=SearchOptions(lower=False))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in bounds.report.shortest.save(found, bump, folder)]
    ['error.png', 'head.npz', 'shortest.csv', 'shortest.json', 'shortest.npz']
    """
    from . import plot  # matplotlib is loaded when a figure is asked for

    text = json.dumps(document(found, target), indent=1, allow_nan=False) + "\n"
    writers: dict[str, Callable[[Path], object]] = {
        "shortest.csv": lambda path: write_csv(path, _COLUMNS, _rows(found)),
        "shortest.json": lambda path: path.write_text(text, encoding="utf-8"),
        "head.npz": found.head.save,
        "shortest.npz": found.save,
        "error.png": lambda path: plot.write(
            plot.shortest_figure(found, target, others=others, floor=_floor(found)), path
        ),
    }
    if target.dim == 2:
        writers["map.png"] = lambda path: plot.write(plot.control_points_figure(found, target), path)
    return write_together(out, FILES, writers)
