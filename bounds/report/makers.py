"""Makers of control points side by side: covering radius, separation and mesh ratio against the number of points."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from spherapprox import PointSet, _checks
from spherapprox.partition import EqualMeasurePartition

from ..covering import covering_radius
from ._comparison import COLUMNS, MAKERS, Comparison, Made
from ._files import write_csv, write_together
from ._progress import each

__all__ = ["COUNTS", "MAKERS", "Comparison", "Made", "compare", "save"]

COUNTS = (10, 30, 100, 300, 1000, 3000)
"""Numbers of points of the standard comparison."""

DRAWN = 300
"""The figure of cells shows the partition into the number of cells nearest to this."""


FILES = {"points.csv": b"maker,dim,n,covering", "covering.png": b"spherapprox", "partition.png": b"spherapprox"}
"""What `save` writes, and what stands near the beginning of each."""


def compare(
    dim: int = 2, n: Sequence[int] = COUNTS, *, makers: Sequence[str] | None = None, rng: int = 0,
    progress: bool | None = False,
) -> Comparison:  # fmt: skip
    """Measure the covering radius, separation and mesh ratio of control points by every maker.

    Parameters
    ----------
    dim : int
        The manifold's dimension m >= 1.
    n : sequence of int
        Numbers of points; a product Gauss rule has at most that many. `Comparison.left_out` says which maker has none
        for a dimension or a number (`fibonacci` above S^2, relaxed sets of more than 1000 points).
    makers : sequence of str, optional
        Names in `MAKERS`; all by default.
    rng : int
        Seed of the random makers.
    progress : bool or None
        Show progress on stderr: a bar on a terminal, elsewhere a line every few seconds; None: on a terminal only.

    Returns
    -------
    Comparison
        Covering radii are exact on S^1 and S^2, elsewhere certified from both sides.

    Raises
    ------
    ValueError, TypeError
        For an unknown maker, for numbers that are none, and where no maker makes points of any number.

    Examples
    --------
    >>> found = compare(2, [100], makers=["partition", "fibonacci"])
    >>> [(row.maker, round(row.upper / row.floor, 2)) for row in found.rows]
    [('partition', 1.28), ('fibonacci', 1.36)]
    """
    dim = _checks.dimension(dim)
    counts = [_checks.integer(count, "n", minimum=1) for count in n]
    names = list(MAKERS) if makers is None else [_checks.choice(name, "makers", MAKERS) for name in makers]
    seed = _checks.integer(rng, "rng", minimum=0)
    work = [(name, count) for name in names for count in counts]
    rows: dict[Made, None] = {}
    left_out = []
    for name, count in each(work, progress, "set", lambda pair: f"{pair[0]}, N = {pair[1]}"):
        made = MAKERS[name](dim, count, seed)
        row = None if isinstance(made, str) else _measure(name, made)
        if row is None or row in rows:
            left_out.append((name, count, made if isinstance(made, str) else f"the same {len(made)} points once more"))
        else:
            rows[row] = None
    if not rows:
        raise ValueError(f"'makers' = {names} make no points of S^{dim} with 'n' = {counts}: name others")
    return Comparison(dim, tuple(rows), tuple(left_out))


def _measure(maker: str, made: PointSet) -> Made:
    interval = made.covering_interval()
    floor = covering_radius(len(made), dim=made.dim, method="lower").value
    return Made(maker, len(made), interval.lower, interval.upper, made.smallest_distance(), floor)


def save(comparison: Comparison, out: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write points.csv, covering.png and, on S^2, partition.png; all of them or none.

    Parameters
    ----------
    comparison : Comparison
        What `compare` found.
    out : str or os.PathLike
        The folder, made where there is none; files of these names in it are replaced.

    Returns
    -------
    tuple of Path
        The files written.

    Raises
    ------
    OSError
        When the folder cannot be written.
    TypeError
        When `comparison` is none, or `out` no path.

    Examples
    --------
    >>> import bounds, tempfile
    >>> found = bounds.report.makers.compare(3, [20, 50], makers=["partition", "greedy"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in bounds.report.makers.save(found, folder)]
    ['covering.png', 'points.csv']
    """
    from . import plot  # matplotlib is loaded when a figure is asked for

    _checks.instance(comparison, "comparison", Comparison, remedy="compare makes one")
    writers: dict[str, Callable[[Path], object]] = {
        "points.csv": lambda path: write_csv(path, COLUMNS, (row.values() for row in comparison.records())),
        "covering.png": lambda path: plot.write(plot.covering_figure(comparison), path),
    }
    if comparison.dim == 2:
        n = min((row.n for row in comparison.rows), key=lambda count: abs(math.log(count / DRAWN)))
        writers["partition.png"] = lambda path: plot.write(plot.partition_figure(EqualMeasurePartition(2, n)), path)
    return write_together(out, FILES, writers)
