"""A study: heads with a growing prefix on one target, the errors they achieve, and what every theorem says of them."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple, dataclass, fields, replace
from pathlib import Path
from typing import cast

import numpy as np
from scipy.optimize import minimize_scalar
from tabulate import tabulate
from tqdm import tqdm

from spherapprox import _checks, sphere
from spherapprox.error import sup_error
from spherapprox.heads import CoreHead, SplitHead
from spherapprox.partition import EqualMeasurePartition
from spherapprox.target import Target

from ._bound import Bound, Hypothesis, format_log10
from ._files import together, write_csv
from ._problem import LARGEST_CONCENTRATION, SMALLEST, WIDEST
from .api import prefix_length
from .inverse import best_concentration, error_bound
from .validate import validate

PREFIX_LENGTHS = (100, 300, 1000, 3000, 10_000, 30_000)
"""The numbers of control points of the standard study."""

CHOICES = ("theory", "best")
"""How the concentration is chosen: by the a-priori bound, or by the measured error."""

_HEADS: dict[str, type[CoreHead] | type[SplitHead]] = {"core": CoreHead, "split": SplitHead}
_THEOREMS = {"core": ("sharp-core",), "split": ("sharp-split-mean", "sharp-split")}
_THESIS = {"core": "thesis-core", "split": "thesis-split"}
_THESIS_VECTOR = {"core": "thesis-vector", "split": "thesis-split"}
"""What the thesis says of targets with several components, at most dim + 1 of them."""
_SEARCH_POINTS = 3000
_MAPPED = 10_000
"""The maps show the best head of the n nearest to this."""


@dataclass(frozen=True)
class Row:
    """One head of a study. Errors and bounds are in the target's unit; None where a theorem does not speak."""

    n: int
    head: str
    choice: str
    concentration: float
    radius: float
    error: float
    relative_error: float | None
    sharp_core: float | None
    sharp_split_mean: float | None
    sharp_split_equal: float | None
    sharp_split: float | None
    floor: float
    verdict: str
    thesis_concentration: float | None
    thesis_log10_n: float | None
    thesis_needs: str

    @property
    def bound(self) -> float | None:
        """The smallest a-priori bound that applies to this head."""
        bounds = (self.sharp_core, self.sharp_split_mean, self.sharp_split_equal, self.sharp_split)
        known = [b for b in bounds if b is not None]
        return min(known, default=None)


@dataclass(frozen=True)
class Study:
    """What `run` found: the target's constants, the rows, and the head that the maps show."""

    target: Target
    rows: tuple[Row, ...]
    shown: CoreHead | SplitHead
    shown_error: float
    points: int

    def series(self, head: str, choice: str) -> tuple[Row, ...]:
        """Return the rows of one kind of head and one choice of the concentration, by increasing n."""
        return tuple(r for r in self.rows if r.head == head and r.choice == choice)

    def table(self) -> str:
        """Return the rows as a text table."""
        align = ("right", "left", "left", *["right"] * 7, "left", "left")
        cells = [_cells(row) for row in self.rows]
        return str(tabulate(cells, headers=_HEADERS, colalign=align, disable_numparse=True))


_HEADERS = (
    "N", "head", "by", "lambda", "error", "% of sup", "core", "equal", "nearest", "floor*", "checks",
    "thesis lambda, N",
)  # fmt: skip


def _cells(row: Row) -> tuple[str, ...]:
    def show(value: float | None) -> str:
        return "" if value is None else f"{value:.4g}"

    thesis = row.thesis_needs
    if row.thesis_log10_n is not None:
        thesis = f"{show(row.thesis_concentration)}, {format_log10(row.thesis_log10_n)}"
    percent = None if row.relative_error is None else 100.0 * row.relative_error
    return (
        str(row.n), row.head, row.choice, show(row.concentration), show(row.error), show(percent),
        show(row.sharp_core), show(row.sharp_split_equal), show(row.sharp_split), show(row.floor), row.verdict, thesis,
    )  # fmt: skip


def run(
    target: Target,
    n: Sequence[int] = PREFIX_LENGTHS,
    *,
    choices: Sequence[str | float] = CHOICES,
    points: int = 20_000,
    rng: np.random.Generator | int | None = 0,
    workers: int = -1,
    progress: bool | None = False,
) -> Study:
    """Approximate a target by core and split heads on equal-measure partitions, and hold their errors against theory.

    Parameters
    ----------
    target : Target
        With a Lipschitz constant and a sup norm.
    n : sequence of int
        Numbers of control points.
    choices : sequence of {"theory", "best"} or float
        How each head's concentration is chosen: "theory" minimises the a-priori bound at that n, "best" the measured
        error; a number is taken as it is.
    points : int
        At least so many points measure each error, before local refinement of the worst ones.
    rng : None, int or numpy.random.Generator
        Seeds the sample.
    workers : int
        Threads; -1: all.
    progress : bool or None
        Show a progress bar; None: on a terminal only.

    Returns
    -------
    Study
        Rows by n, head and choice.

    Raises
    ------
    ValueError, TypeError
        For a target without constants, an empty or invalid `n`, or an unknown choice.

    Examples
    --------
    >>> from spherapprox import targets
    >>> study = run(targets.distance(2), [100, 400], choices=["theory"], points=2000)
    >>> [(row.n, row.head, row.verdict) for row in study.rows]
    [(100, 'core', 'holds'), (100, 'split', 'holds'), (400, 'core', 'holds'), (400, 'split', 'holds')]
    """
    counts, ways = _check(target, n, choices)
    points = _checks.integer(points, "points", minimum=100, maximum=10**8)
    measure = _Measure(target, points, rng, workers)
    rows: list[Row] = []
    mapped: list[tuple[float, CoreHead | SplitHead]] = []
    wanted = min(counts, key=lambda count: abs(math.log(count / _MAPPED)))
    steps = [(count, kind, way) for count in counts for kind in _HEADS for way in ways]
    with tqdm(steps, unit="head", disable=_checks.no_bar(progress), leave=False) as bar:
        for count, kind, way in bar:
            bar.set_description(f"N = {count}, {kind} head, {way if isinstance(way, str) else 'fixed'}")
            head, row = _one(measure, EqualMeasurePartition(target.dim, count), kind, way)
            rows.append(row)
            if count == wanted:
                mapped.append((row.error, head))
    shown_error, shown = min(mapped, key=lambda pair: pair[0])
    return Study(target, tuple(rows), shown, shown_error, points)


def _check(target: Target, n: Sequence[int], choices: Sequence[str | float]) -> tuple[list[int], list[str | float]]:
    if not isinstance(target, Target):
        raise TypeError(f"'target' must be a Target, got {type(target).__name__}")
    if target.lipschitz is None or target.sup_norm is None:
        raise ValueError(
            f"'target' must have both constants, got lipschitz={target.lipschitz} and sup_norm={target.sup_norm} "
            f"for '{target.name}', and no theorem speaks of a target without: "
            "Target(function, dim, lipschitz=..., sup_norm=...)"
        )
    why = "a study holds all its control points in memory"
    counts = sorted({_checks.integer(count, "n", minimum=1, maximum=10**8, why=why) for count in n})
    if not counts:
        raise ValueError("'n' must name at least one number of control points, got none")
    ways: list[str | float] = []
    for choice in choices:
        word = isinstance(choice, str)
        ways.append(
            _checks.choice(choice, "choices", CHOICES)
            if word
            else _checks.concentration(choice, maximum=LARGEST_CONCENTRATION)
        )
    if not ways:
        raise ValueError("'choices' must hold 'theory', 'best' or a concentration, got none")
    return counts, ways


@dataclass(frozen=True)
class _Measure:
    """The target with the settings by which errors are measured."""

    target: Target
    points: int
    rng: np.random.Generator | int | None
    workers: int


def _one(
    measure: _Measure, partition: EqualMeasurePartition, kind: str, way: str | float
) -> tuple[CoreHead | SplitHead, Row]:
    """Make and measure one head."""
    target, n, radius = measure.target, len(partition), partition.cell_radius()
    known = target(partition.centers())

    def make(concentration: float) -> CoreHead | SplitHead:
        return _HEADS[kind].from_target(lambda _: known, partition, concentration)

    if way == "theory":
        concentration = _theory(target, kind, radius, n)
    elif way == "best":
        concentration = _best(measure, make, radius)
    else:
        concentration = float(way)
    head = make(concentration)
    return head, _row(measure, head, radius, kind, way if isinstance(way, str) else "fixed")


def _row(measure: _Measure, head: CoreHead | SplitHead, radius: float, kind: str, choice: str) -> Row:
    """Measure a head and hold its error against theory."""
    target = measure.target
    error = sup_error(head, target, n=measure.points, rng=measure.rng, workers=measure.workers)
    validation = validate(head, target, error=error, worst_case=False)
    values = {c.theorem: c.bound.value for c in validation.checks if c.bound is not None and c.bound.holds}
    floor = error_bound(
        dim=target.dim, theorem="lower", lipschitz=_lipschitz(target), exponent=target.exponent, n=len(head),
        sup_norm=target.sup_norm,
    )  # fmt: skip
    thesis = _thesis(target, kind, error.lower, head.n_outputs)
    return Row(
        n=len(head),
        head=kind,
        choice=choice,
        concentration=head.concentration,
        radius=radius,
        error=error.lower,
        relative_error=error.lower / target.sup_norm if target.sup_norm else None,
        sharp_core=values.get("sharp-core"),
        sharp_split_mean=values.get("sharp-split-mean"),
        sharp_split_equal=values.get("sharp-split-equal"),
        sharp_split=values.get("sharp-split"),
        floor=floor.value,
        verdict="holds" if validation.ok else "violated: " + ", ".join(validation.violated),
        thesis_concentration=thesis.concentration,
        thesis_log10_n=thesis.log10 if thesis.holds else None,
        thesis_needs="" if thesis.holds else "needs " + " and ".join(thesis.failed),
    )


def _lipschitz(target: Target) -> float:
    assert target.lipschitz is not None
    return target.lipschitz


def _theory(target: Target, kind: str, radius: float, n: int) -> float:
    """Return the concentration with the smallest a-priori bound."""
    bounds: list[Bound] = [
        best_concentration(
            dim=target.dim, theorem=theorem, lipschitz=_lipschitz(target), radius=radius, n=n,
            sup_norm=target.sup_norm, exponent=target.exponent,
        )
        for theorem in _THEOREMS[kind]
    ]  # fmt: skip
    best = min(bounds, key=lambda bound: bound.log)
    assert best.concentration is not None
    return best.concentration


def _best(measure: _Measure, make: Callable[[float], CoreHead | SplitHead], radius: float) -> float:
    """Return the concentration with the smallest error on a sample: a coarse grid, then a local search."""
    target, count = measure.target, min(_SEARCH_POINTS, measure.points)
    controls = make(0.0).control_points  # where a kernel that is too narrow peaks, and poles of the catalogue's targets
    few = controls[np.linspace(0, len(controls) - 1, min(count // 2, len(controls))).astype(int)]
    x = np.concatenate([sphere.uniform(target.dim, count, rng=0), few])
    wanted = target(x)

    def error(log_concentration: float) -> float:
        difference = make(math.exp(log_concentration))(x, workers=measure.workers) - wanted
        return float(np.max(np.linalg.norm(difference.reshape(len(x), -1), axis=1)))

    grid = np.linspace(math.log(0.03), math.log(40.0) - 2.0 * math.log(min(radius, 1.0)), 20)
    errors = [error(float(g)) for g in grid]
    i = int(np.argmin(errors))
    low, high = grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)]
    found = minimize_scalar(error, bounds=(low, high), method="bounded", options={"maxiter": 12})
    return math.exp(float(found.x) if found.fun <= errors[i] else float(grid[i]))


def _thesis(target: Target, kind: str, eps: float, n_outputs: int | None) -> Bound:
    """Return the thesis's prefix length for the error achieved; 4.14 and 4.15 speak of dim + 1 components."""
    lipschitz = _lipschitz(target)
    low, high = 10.0 * SMALLEST * lipschitz, 0.1 * WIDEST * lipschitz
    bound = prefix_length(
        min(max(eps, low), high), dim=target.dim, lipschitz=lipschitz, sup_norm=max(target.sup_norm or 0.0, low),
        theorem=(_THESIS if n_outputs in (None, 1) else _THESIS_VECTOR)[kind], ragozin=1.0,
    )  # fmt: skip
    fits = Hypothesis("at most dim + 1 components", (n_outputs or 1) <= target.dim + 1)
    return cast("Bound", bound if fits.holds else replace(bound, hypotheses=(*bound.hypotheses, fits)))


def save(study: Study, out: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write study.csv, study.json, error.png and, on S^2, maps.png into the folder `out`; all of them or none.

    Returns
    -------
    tuple of Path
        The files written.

    Raises
    ------
    OSError
        When the folder cannot be written.
    """
    from . import plot  # matplotlib is loaded when a figure is asked for

    with together(Path(out)) as folder:
        write_csv(folder / "study.csv", [field.name for field in fields(Row)], map(astuple, study.rows))
        _write_json(study, folder / "study.json")
        plot.error_figure(study).savefig(folder / "error.png", dpi=150)
        if study.target.dim == 2:
            plot.maps_figure(study.shown, study.target, study.shown_error).savefig(folder / "maps.png", dpi=150)
        names = sorted(path.name for path in folder.iterdir())
    return tuple(Path(out) / name for name in names)


def _write_json(study: Study, path: Path) -> None:
    target = study.target
    document = {
        "target": {"name": target.name, "unit": target.unit, "dim": target.dim, "n_outputs": study.shown.n_outputs,
                   "lipschitz": target.lipschitz, "exponent": target.exponent, "sup_norm": target.sup_norm},
        "points": study.points,
        "rows": [{name: _json_value(value) for name, value in asdict(row).items()} for row in study.rows],
    }  # fmt: skip
    path.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def _json_value(value: object) -> object:
    """JSON has no infinity: null says that nothing finite is promised."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
