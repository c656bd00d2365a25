"""A study: heads with a growing prefix on one target, their errors, and their bounds by every theorem.

`run` makes and measures the heads, `save` writes the result as tables and figures; the command ``spherapprox study`` is
both.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from spherapprox import _checks, sphere
from spherapprox._loading import load
from spherapprox.heads.head import Head
from spherapprox.heads.registry import FAMILIES
from spherapprox.partition import EqualMeasurePartition
from spherapprox.target import Target

from ..records.problem import LARGEST_CONCENTRATION
from ..theorems import POINTWISE
from ..validation.claims import of_numbers
from ..validation.estimates import with_estimates, with_proofs
from ._files import write_csv, write_together
from ._progress import each
from ._study import CHOICES, Row, Study
from ._trial import LOCAL, Measure, one, without

__all__ = ["CHOICES", "PREFIX_LENGTHS", "Row", "Study", "run", "save"]

PREFIX_LENGTHS = (100, 300, 1000, 3000, 10_000, 30_000)
"""The numbers of control points of the standard study."""

FILES = {"study.csv": b"n,head,choice,", "study.json": b"spherapprox", "error.png": b"spherapprox",
         "maps.png": b"spherapprox", "study.html": b"spherapprox"}  # fmt: skip
"""What `save` writes, and what stands near the beginning of each."""

_MAPPED = 10_000
"""The maps show the best head of the n nearest to this."""
_SAMPLE = 100_000
"""Mean errors are taken at no more points than this."""


def run(
    target: Target | Callable[[Any], ArrayLike], n: Sequence[int] = PREFIX_LENGTHS, *, dim: int | None = None,
    choices: Sequence[str | float] | None = None, points: int = 20_000, estimate: bool = False,
    rng: np.random.Generator | int | None = 0, workers: int | None = None, progress: bool | None = False,
    certified: bool = False,
) -> Study:  # fmt: skip
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
    choices : sequence of {"theory", "second-order", "best", "mean"} or float, optional
        How each head's concentration is chosen: "theory" minimises the a-priori bound at that n, "second-order" that of
        split heads at these very points (`best_concentration`, "second-order-local"), "best" the measured sup error,
        "mean" the measured mean error; a number is taken as it is. By default "theory" and "best", "second-order" too
        for polynomials, or "best" and "mean" where the target states no Lipschitz constant: it may jump, and then no
        sup error becomes small.
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
    certified : bool
        Prove an upper bound, 5 % above the largest error found, for heads whose proof takes seconds: nearly all on S^1
        and S^2.

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
    >>> found = bounds.report.study.run(targets.distance(2), [100, 400], choices=["theory"], points=2000)
    >>> [(row.n, row.head, row.verdict) for row in found.rows]
    [(100, 'core', 'holds'), (100, 'split', 'holds'), (400, 'core', 'holds'), (400, 'split', 'holds')]

    A plain function has measured errors:

    >>> found = bounds.report.study.run(lambda x: abs(x[:, 0]), [400], dim=2, choices=["best"], points=2000)
    >>> [(row.head, round(row.error, 2), row.bound) for row in found.rows]
    [('core', 0.07, None), ('split', 0.05, None)]
    """
    # Step 1: the target, the choices and the sample
    known = with_proofs(_target(target, dim))
    counts, points = _counts(n), _checks.integer(points, "points", minimum=100, maximum=10**8)
    estimated: tuple[str, ...] = ()
    if _checks.flag(estimate, "estimate"):
        known, estimated = with_estimates(known, rng)
    ways = _ways(known, choices)
    sample = sphere.uniform(known.dim, min(points, _SAMPLE), rng=rng)
    certified = _checks.flag(certified, "certified")
    measure = Measure(known, estimated, points, sample, known(sample), rng, workers, certified)
    steps = [(count, kind, way) for count in counts for kind in FAMILIES for way in ways]
    silent = {("core", "second-order"), *([("core", "theory")] if known.sup_norm is None else [])}
    steps = [step for step in steps if step[1:] not in silent]
    # Step 2: every head
    rows: list[Row] = []
    mapped: list[tuple[float, float, Head]] = []
    wanted = min(counts, key=lambda count: abs(math.log(count / _MAPPED)))
    for count, kind, way in each(steps, progress, "head", _step):
        head, row = one(measure, EqualMeasurePartition(known.dim, count), kind, way)
        rows.append(row)
        if count == wanted:
            mapped.append((row.mean_error if known.lipschitz is None else row.error, row.error, head))
    # Step 3: the best head, and attempts to refute the target's constants
    _, shown_error, shown = min(mapped, key=lambda found: found[0])
    claims = () if estimated else of_numbers(shown, known, None, n=points, workers=workers, rng=rng, attempted=True)
    refuted = tuple(claim for claim in claims if claim.outcome == "refuted")
    if refuted:
        rows = [without(row, {claim.name for claim in refuted}) for row in rows]
    return Study(known, tuple(rows), shown, shown_error, points, estimated, refuted)


def _step(step: tuple[int, str, str | float]) -> str:
    count, kind, way = step
    return f"N = {count}, {kind} head, {way if isinstance(way, str) else 'fixed'}"


def _target(target: Any, dim: int | None) -> Target:
    """Return the target, after trying it on a few points."""
    if isinstance(target, Target):
        _checks.agreeing(dim, "dim", target.dim, f", as '{target.name}' says")
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
    if isinstance(cast("object", n), str) or not np.iterable(n):
        raise TypeError(f"'n' must be a sequence of numbers of control points, got {_checks.show(n)}: write [n]")
    why = "a study holds all its control points in memory"
    counts = sorted({_checks.integer(count, "n", minimum=1, maximum=10**8, limit=why) for count in n})
    if not counts:
        raise ValueError("'n' must name at least one number of control points, got none")
    return counts


def _ways(target: Target, choices: Sequence[str | float] | None) -> list[str | float]:
    """Check the choices, or make them."""
    bare = target.lipschitz is None
    lack = POINTWISE[LOCAL].lack(target)
    if choices is None:
        return ["best", "mean"] if bare else ["theory", *([] if lack else ["second-order"]), "best"]
    if isinstance(choices, str) or not np.iterable(choices):
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
        raise ValueError("'choices' must hold 'theory', 'second-order', 'best', 'mean' or a concentration, got none")
    if "theory" in ways and bare:
        raise ValueError(
            f"'choices' may hold 'theory' only where the target states a Lipschitz constant, and '{target.name}' "
            "states none: Target(function, dim, lipschitz=..., sup_norm=...), or estimate=True"
        )
    if "second-order" in ways and lack:
        raise ValueError(f"'choices' may hold 'second-order' only for a target with what it needs: {lack}")
    return ways


def save(study: Study, out: str | os.PathLike[str], *, command: str = "") -> tuple[Path, ...]:
    """Write study.html, study.csv, study.json, error.png and, on S^2, maps.png; all of them or none.

    Parameters
    ----------
    study : Study
        What `run` found.
    out : str or os.PathLike
        The folder, made where there is none; files of these names in it are replaced.
    command : str, default ""
        The command that made the study, for the page.

    Returns
    -------
    tuple of Path
        The files written.

    Raises
    ------
    OSError
        When the folder cannot be written.
    TypeError
        When `study` is none, `out` no path or `command` no text.

    Examples
    --------
    >>> import bounds, tempfile
    >>> from spherapprox import targets
    >>> found = bounds.report.study.run(targets.distance(3), [20, 50], choices=["theory"], points=200)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in bounds.report.study.save(found, folder)]
    ['error.png', 'study.csv', 'study.html', 'study.json']
    """
    load(f"{__package__}._study_page")  # matplotlib is loaded when a figure is asked for
    from . import _study_page, plot

    study = _checks.instance(study, "study", Study, remedy="run returns one")
    command = _checks.instance(command, "command", str)
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
    # last, as it takes the figures
    writers["study.html"] = lambda path: path.write_text(
        _study_page.page(study, command, path.parent), encoding="utf-8"
    )
    return write_together(out, FILES, writers)
