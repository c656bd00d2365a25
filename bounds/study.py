"""A study: heads with a growing prefix on one target, the errors they achieve, and what every theorem says of them.

`run` makes and measures the heads, `save` writes the result as tables and figures; the command ``spherapprox study`` is
both.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from tabulate import tabulate

from spherapprox import __version__, _checks, sphere
from spherapprox.heads.head import Head
from spherapprox.heads.registry import FAMILIES
from spherapprox.partition import EqualMeasurePartition
from spherapprox.target import Target

from ._bound import format_log10
from ._estimate import with_estimates
from ._files import write_csv, write_together
from ._problem import LARGEST_CONCENTRATION
from ._progress import each
from ._trial import Measure, Row, one
from .claims import Claim, of_numbers

__all__ = ["CHOICES", "PREFIX_LENGTHS", "Row", "Study", "run", "save"]

PREFIX_LENGTHS = (100, 300, 1000, 3000, 10_000, 30_000)
"""The numbers of control points of the standard study."""

CHOICES = ("theory", "best", "mean")
"""How the concentration is chosen: by the a-priori bound, by the sup error measured, by the mean error measured."""

FILES = {"study.csv": b"n,head,choice,", "study.json": b"spherapprox", "error.png": b"spherapprox",
         "maps.png": b"spherapprox"}  # fmt: skip
"""What `save` writes, and what stands near the beginning of each."""

_MAPPED = 10_000
"""The maps show the best head of the n nearest to this."""
_SAMPLE = 100_000
"""Mean errors are taken at no more points than this."""


@dataclass(frozen=True)
class Study:
    """The result of `run`.

    Parameters
    ----------
    target : Target
        With the constants that the bounds use.
    rows : tuple of Row
        One for each head.
    shown : CoreHead or SplitHead
        The head that the maps show: the one of least sup error among those of about 10 000 control points, or of
        least mean error where the target states no Lipschitz constant.
    shown_error : float
        Its sup error.
    points : int
        At least so many points measured each error.
    estimated : tuple of str
        Constants of the target that are estimates: "lipschitz", "sup_norm".
    refuted : tuple of Claim
        Constants that the target states and sampling refutes, as `bounds.validate` does.

    Examples
    --------
    >>> import bounds
    >>> from spherapprox import targets
    >>> found = bounds.study.run(targets.land(), [50], choices=["mean"], points=500)
    >>> found.target.name, len(found.rows), found.shown.concentration in {row.concentration for row in found.rows}
    ('land', 2, True)
    >>> print(found.notes[0][:51])
    no bounds: 'land' states no Lipschitz constant, and
    """

    target: Target
    rows: tuple[Row, ...]
    shown: Head
    shown_error: float
    points: int
    estimated: tuple[str, ...] = ()
    refuted: tuple[Claim, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Why columns or the figure are empty, and which constants are estimates or wrong, in words."""
        states = f"'{self.target.name}' states no"
        remedy = "Target(f, dim, lipschitz=..., sup_norm=...) states both, estimate=True estimates them"
        notes = []
        if self.target.lipschitz is None:
            notes.append(f"no bounds: {states} Lipschitz constant, and no theorem speaks of it; {remedy}")
        elif self.target.sup_norm is None:
            notes.append(f"no bounds for core heads: {states} sup norm; {remedy}")
        if self.estimated:
            words = " and ".join({"lipschitz": "Lipschitz constant", "sup_norm": "sup norm"}[e] for e in self.estimated)
            notes.append(f"the {words} used here: estimated from below, by the target's values; no bound is proven")
        if not any(0.0 < row.error < math.inf for row in self.rows):
            notes.append("every sup error is 0 or infinite: the logarithmic axis of error.png shows none")
        notes += [f"refuted: the {c.name} {c.stated:.6g} that is stated; {c.reason}" for c in self.refuted]
        return tuple(notes)

    def series(self, head: str, choice: str) -> tuple[Row, ...]:
        """Return the rows of one kind of head and one choice of the concentration, by increasing n.

        Parameters
        ----------
        head : {"core", "split"}
        choice : {"theory", "best", "mean", "fixed"}
            How the concentration was chosen; "fixed" stands for all that were given as numbers.

        Returns
        -------
        tuple of Row
            Empty where the study has no such heads.

        Raises
        ------
        ValueError
            For another word.

        Examples
        --------
        >>> import bounds
        >>> from spherapprox import targets
        >>> found = bounds.study.run(targets.distance(2), [50, 100], choices=[9.0, 90.0], points=200)
        >>> [(row.n, row.concentration) for row in found.series("split", "fixed")]
        [(50, 9.0), (50, 90.0), (100, 9.0), (100, 90.0)]
        >>> found.series("split", "best")
        ()
        """
        _checks.choice(head, "head", FAMILIES)
        _checks.choice(choice, "choice", (*CHOICES, "fixed"))
        return tuple(r for r in self.rows if r.head == head and r.choice == choice)

    def table(self) -> str:
        """Return the rows as a text table, without the columns in which nothing stands.

        Returns
        -------
        str
            A line for each row, below two for the headers; "by" is how lambda was chosen, "% of sup" the error's share
            of the sup norm, "core", "equal" and "nearest" are bounds.

        Examples
        --------
        >>> import bounds
        >>> from spherapprox import targets
        >>> found = bounds.study.run(targets.land(), [50], choices=[9.0], points=200)
        >>> print(found.table().splitlines()[0])
          N  head    by       lambda    error    mean    % of sup
        """
        cells = [_cells(row) for row in self.rows]
        columns = [i for i in range(len(_COLUMNS)) if any(line[i] for line in cells)]
        align = ["left" if _COLUMNS[i] in _WORDS else "right" for i in columns]
        shown = [[line[i] for i in columns] for line in cells]
        return str(tabulate(shown, headers=[_COLUMNS[i] for i in columns], colalign=align, disable_numparse=True))

    def document(self) -> dict[str, Any]:
        """Return what study.json holds: the target's constants, the notes and the rows.

        Returns
        -------
        dict
            Of strings, numbers, lists and dicts, which `json.dumps` takes; None, JSON's null, for what is not finite.

        Examples
        --------
        >>> import bounds
        >>> from spherapprox import targets
        >>> document = bounds.study.run(targets.distance(2), [50], choices=[9.0], points=200).document()
        >>> list(document)
        ['made_by', 'target', 'estimated', 'notes', 'points', 'rows']
        >>> document["target"]["lipschitz"], document["rows"][1]["head"]
        (1.0, 'split')
        """
        target = self.target
        return {
            "made_by": f"spherapprox {__version__}",
            "target": {"name": target.name, "unit": target.unit, "dim": target.dim, "n_outputs": self.shown.n_outputs,
                       "lipschitz": target.lipschitz, "exponent": target.exponent, "sup_norm": target.sup_norm},
            "estimated": list(self.estimated),
            "notes": list(self.notes),
            "points": self.points,
            "rows": [{name: _json_value(value) for name, value in asdict(row).items()} for row in self.rows],
        }  # fmt: skip


_COLUMNS = (
    "N", "head", "by", "lambda", "error", "mean", "% of sup", "core", "equal", "nearest", "floor*", "checks",
    "thesis lambda, N",
)  # fmt: skip
_WORDS = ("head", "by", "checks", "thesis lambda, N")


def _cells(row: Row) -> tuple[str, ...]:
    def show(value: float | None) -> str:
        return "" if value is None else f"{value:.4g}"

    thesis = row.thesis_needs
    if row.thesis_log10_n is not None:
        thesis = f"{show(row.thesis_concentration)}, {format_log10(row.thesis_log10_n)}"
    percent = None if row.relative_error is None else 100.0 * row.relative_error
    return (
        str(row.n), row.head, row.choice, show(row.concentration), show(row.error), show(row.mean_error), show(percent),
        show(row.sharp_core), show(row.sharp_split_equal), show(row.sharp_split), show(row.floor), row.verdict, thesis,
    )  # fmt: skip


def run(
    target: Target | Callable[[Any], ArrayLike],
    n: Sequence[int] = PREFIX_LENGTHS,
    *,
    dim: int | None = None,
    choices: Sequence[str | float] | None = None,
    points: int = 20_000,
    estimate: bool = False,
    rng: np.random.Generator | int | None = 0,
    workers: int | None = None,
    progress: bool | None = False,
) -> Study:
    """Approximate a target by core and split heads on equal-measure partitions, and hold their errors against theory.

    Parameters
    ----------
    target : Target or callable
        What is approximated; a plain function maps points (n, dim+1) to values (n,) or (n, p). Bounds need a Lipschitz
        constant, those of core heads a sup norm too; measured errors need neither.
    n : sequence of int
        Numbers of control points.
    dim : int, optional
        m of the sphere S^m, for a plain function.
    choices : sequence of {"theory", "best", "mean"} or float, optional
        How each head's concentration is chosen: "theory" minimises the a-priori bound at that n, "best" the measured
        sup error, "mean" the measured mean error; a number is taken as it is. By default "theory" and "best", or "best"
        and "mean" where the target states no Lipschitz constant: it may jump, and then no sup error becomes small.
    points : int
        At least so many points measure each error, before local refinement of the worst ones.
    estimate : bool
        Estimate the constants that the target does not state, from below; no bound made with them is proven.
    rng : None, int or numpy.random.Generator
        Seeds the samples.
    workers : int or None, default None
        Threads, as in `spherapprox.evaluate`; the result is the same for any number.
    progress : bool or None
        Show progress on stderr: a bar on a terminal, elsewhere a line every few seconds; None: on a terminal only.

    Returns
    -------
    Study
        Rows by n, head and choice.

    Raises
    ------
    ValueError, TypeError
        For a target that is no function of points of S^dim, a choice that needs constants which it does not state, an
        empty or invalid `n`, or an unknown choice.

    Examples
    --------
    >>> import bounds
    >>> from spherapprox import targets
    >>> found = bounds.study.run(targets.distance(2), [100, 400], choices=["theory"], points=2000)
    >>> [(row.n, row.head, row.verdict) for row in found.rows]
    [(100, 'core', 'holds'), (100, 'split', 'holds'), (400, 'core', 'holds'), (400, 'split', 'holds')]

    A plain function has measured errors:

    >>> found = bounds.study.run(lambda x: abs(x[:, 0]), [400], dim=2, choices=["best"], points=2000)
    >>> [(row.head, round(row.error, 2), row.bound) for row in found.rows]
    [('core', 0.07, None), ('split', 0.05, None)]
    """
    known = _target(target, dim)
    counts, points = _counts(n), _checks.integer(points, "points", minimum=100, maximum=10**8)
    estimated: tuple[str, ...] = ()
    if _checks.flag(estimate, "estimate"):
        known, estimated = with_estimates(known, rng)
    ways = _ways(known, choices)
    sample = sphere.uniform(known.dim, min(points, _SAMPLE), rng=rng)
    measure = Measure(known, estimated, points, sample, known(sample), rng, workers)
    steps = [(count, kind, way) for count in counts for kind in FAMILIES for way in ways]
    if known.sup_norm is None:
        steps = [step for step in steps if step[1:] != ("core", "theory")]
    rows: list[Row] = []
    mapped: list[tuple[float, float, Head]] = []
    wanted = min(counts, key=lambda count: abs(math.log(count / _MAPPED)))
    for count, kind, way in each(steps, progress, "head", _step):
        head, row = one(measure, EqualMeasurePartition(known.dim, count), kind, way)
        rows.append(row)
        if count == wanted:
            mapped.append((row.mean_error if known.lipschitz is None else row.error, row.error, head))
    _, shown_error, shown = min(mapped, key=lambda found: found[0])
    claims = () if estimated else of_numbers(shown, known, None, n=points, workers=workers, rng=rng, attempted=True)
    refuted = tuple(claim for claim in claims if claim.outcome == "refuted")
    return Study(known, tuple(rows), shown, shown_error, points, estimated, refuted)


def _step(step: tuple[int, str, str | float]) -> str:
    count, kind, way = step
    return f"N = {count}, {kind} head, {way if isinstance(way, str) else 'fixed'}"


def _target(target: Any, dim: int | None) -> Target:
    """Return the target, after trying it on a few points."""
    if isinstance(target, Target):
        if dim not in (None, target.dim):
            raise ValueError(
                f"'dim' must be {target.dim}, as '{target.name}' says, got {_checks.show(dim)}: leave it out"
            )
    elif not callable(target):
        raise TypeError(f"'target' must be a Target or a function, got {type(target).__name__}")
    elif dim is None:
        raise ValueError(
            "'dim' must be given for a plain function: m of the sphere S^m, whose points have m + 1 columns"
        )
    else:
        target = Target(target, dim)
    target(sphere.uniform(target.dim, target.dim + 3, rng=0))  # not as many rows as columns
    return cast("Target", target)


def _counts(n: Sequence[int]) -> list[int]:
    if not np.iterable(n):
        raise TypeError(f"'n' must be a sequence of numbers of control points, got {_checks.show(n)}: write [n]")
    why = "a study holds all its control points in memory"
    counts = sorted({_checks.integer(count, "n", minimum=1, maximum=10**8, why=why) for count in n})
    if not counts:
        raise ValueError("'n' must name at least one number of control points, got none")
    return counts


def _ways(target: Target, choices: Sequence[str | float] | None) -> list[str | float]:
    """Check the choices, or make them."""
    bare = target.lipschitz is None
    if choices is None:
        return ["best", "mean"] if bare else ["theory", "best"]
    if isinstance(choices, str):
        raise TypeError(f"'choices' must be a sequence, got {choices!r}: write [{choices!r}]")
    ways: list[str | float] = []
    for choice in choices:
        word = isinstance(choice, str)
        ways.append(
            _checks.choice(choice, "choices", CHOICES)
            if word
            else _checks.concentration(choice, maximum=LARGEST_CONCENTRATION)
        )
    if not ways:
        raise ValueError("'choices' must hold 'theory', 'best', 'mean' or a concentration, got none")
    if "theory" in ways and bare:
        raise ValueError(
            f"'choices' may hold 'theory' only where the target states a Lipschitz constant, and '{target.name}' "
            "states none: Target(function, dim, lipschitz=..., sup_norm=...), or estimate=True"
        )
    return ways


def save(study: Study, out: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write study.csv, study.json, error.png and, on S^2, maps.png; all of them or none.

    Parameters
    ----------
    study : Study
        What `run` found.
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
        When `out` is no path.

    Examples
    --------
    >>> import bounds, tempfile
    >>> from spherapprox import targets
    >>> found = bounds.study.run(targets.distance(3), [20, 50], choices=["theory"], points=200)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in bounds.study.save(found, folder)]
    ['error.png', 'study.csv', 'study.json']
    """
    from . import plot  # matplotlib is loaded when a figure is asked for

    columns = [field.name for field in fields(Row)]
    text = json.dumps(study.document(), indent=1, allow_nan=False) + "\n"
    writers: dict[str, Callable[[Path], object]] = {
        "study.csv": lambda path: write_csv(path, columns, map(astuple, study.rows)),
        "study.json": lambda path: path.write_text(text, encoding="utf-8"),
        "error.png": lambda path: plot.write(plot.error_figure(study), path),
    }
    if study.target.dim == 2:
        maps = (study.shown, study.target, study.shown_error)
        writers["maps.png"] = lambda path: plot.write(plot.maps_figure(*maps), path)
    return write_together(out, FILES, writers)


def _json_value(value: object) -> object:
    """JSON has no infinity: null says that nothing finite is promised."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
