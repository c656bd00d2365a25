"""The report of a search for the fewest tokens: the head, every length that was tried, and what fixed points take."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from spherapprox import CoreHead, EqualMeasurePartition, SplitHead, __version__, _checks, points, sphere
from spherapprox._checks import upper_text
from spherapprox._loading import Later
from spherapprox._types import Float64
from spherapprox.coefficients import core_values
from spherapprox.error import lengths, sup_error
from spherapprox.heads.head import Head
from spherapprox.shortest import ShortestHead
from spherapprox.target import Target

from ..validation.check import to_json
from ..validation.verdicts import describe_target
from .report import Cell, Facts, Picture, Report, Table, Verdict, list_facts, name_sphere, with_unit

_plot = Later(f"{__package__}.plot")  # matplotlib is loaded when a figure is drawn

FILES = {"shortest.csv": b"n,error,upper,", "shortest.json": b"spherapprox", "shortest.html": b"spherapprox",
         "head.npz": b"header.npy", "shortest.npz": b"header.npy", "error.png": b"spherapprox",
         "map.png": b"spherapprox"}  # fmt: skip
"""What the report saves, and what stands near the beginning of each."""

COUNTS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
_SAMPLE = 4000
"""Points at which concentrations are compared."""

_COLUMNS = (
    "n", "error", "upper", "rms", "numbers", "concentration", "largest_value", "digits_lost", "condition", "start",
    "starts", "seconds",
)  # fmt: skip


def report_search(
    search: ShortestHead, target: Target, *, others: Mapping[str, Sequence[tuple[int, float]]] | None = None,
    command: str = "",
) -> Report:  # fmt: skip
    """Report a search for the fewest tokens.

    It saves shortest.html, .csv and .json, error.png, on S^2 map.png, the head that is picked, head.npz, and all of the
    search, shortest.npz.

    Parameters
    ----------
    search : ShortestHead
        The result of `spherapprox.shortest_head`.
    target : Target
        What was approximated.
    others : mapping of str to sequence of (int, float), optional
        By the name of a method, tokens and errors, for error.png: what `compare_fixed_points` returns.
    command : str, optional
        The command line that made it, to be shown.

    Raises
    ------
    TypeError
        When `search` is no search, `target` none, or `command` no text.

    Examples
    --------
    >>> import bounds
    >>> from spherapprox import shortest_head, targets
    >>> bump = targets.bump(3)
    >>> search = shortest_head(bump, 1e-6, "core")
    >>> report = bounds.report.report_search(search, bump)
    >>> report.document["n"], report.verdict.text
    (1, '1 token is within eps = 1e-06.')
    """
    _checks.instance(search, "search", ShortestHead, remedy="shortest_head makes one")
    _checks.instance(target, "target", Target, remedy="what the head approximates")
    floor = [] if search.lower is None or search.norm != "sup" else [(search.lower, search.eps)]
    figures = [
        Picture(
            "error.png", lambda: _plot.shortest_figure(search, target, others=others, floor=floor),
            "Errors against tokens", caption="The star is the head that is picked; left of a step there is none.",
        )
    ]  # fmt: skip
    if target.dim == 2:
        draw = lambda: _plot.control_points_figure(search, target)  # noqa: E731
        figures.append(Picture("map.png", draw, "Its control points", caption="Grey is the error of the head."))
    names = ("n", "lower", *_COLUMNS[2:])
    rows = [dict(zip(_COLUMNS, (getattr(rung, name) for name in names), strict=True)) for rung in search.history]
    document = {
        "made_by": f"spherapprox {__version__}", "n": search.n, "eps": search.eps, "norm": search.norm,
        "reached": search.reached, "kind": search.head.family, "failed": list(search.failed),
        "lower": search.lower, "lower_reason": search.lower_reason,
        "error": {name: to_json(getattr(search.error, name)) for name in ("lower", "upper", "at")},
        "target": describe_target(target), "rows": [to_json(row) for row in rows], "notes": list(search.notes),
    }  # fmt: skip
    lower = "" if search.lower is None else f"at least {search.lower} tokens"
    pairs = [("head", repr(search.head)), ("norm of the error", search.norm)]
    pairs += [("lower bound", "; ".join(filter(None, (lower, search.lower_reason))))] if search.lower_reason else []
    return Report(
        name="shortest", title=f"Fewest tokens: {target.name} on {name_sphere(target.dim)}",
        subtitle=f"{search.head.family.capitalize()} heads within {with_unit(upper_text(search.eps), target)}",
        verdict=_verdict(search, target), rows=rows, document=document, tables=[_tabulate(search)], figures=figures,
        facts=[list_facts(target), Facts("The search", pairs, ". ".join(search.notes))],
        saved={"head.npz": search.head.save, "shortest.npz": search.save}, marks=FILES, command=command,
    )  # fmt: skip


def _verdict(search: ShortestHead, target: Target) -> Verdict:
    """Return the number of tokens with the error of their head."""
    tokens = "1 token is" if search.n == 1 else f"{search.n} tokens are"
    numbers = [("largest error found", with_unit(f"{search.error.lower:.4g}", target))]
    if search.error.upper < float("inf"):
        numbers.append(("proven upper bound", with_unit(upper_text(search.error.upper), target)))
    if search.lower is not None:
        numbers.append(("tokens that are necessary", str(search.lower)))
    if not search.reached:
        return Verdict("undecided", f"No head within eps = {search.eps:.4g} was found.", numbers)
    word = "proved" if search.norm == "sup" and search.error.upper <= search.eps else "holds"
    return Verdict(word, f"{tokens} within eps = {upper_text(search.eps)}.", numbers)


def _tabulate(search: ShortestHead) -> Table:
    """Return the table of all lengths that were tried."""
    rows = [
        [
            Cell(f"{rung.n} token{'s' * (rung.n != 1)}", "name"), Cell(f"{rung.lower:.4g}", "number"),
            Cell(upper_text(rung.upper) if rung.upper < float("inf") else "", "number"),
            Cell(str(rung.numbers), "number"), Cell(f"{rung.digits_lost:.1f}", "number"),
            Cell("yes" if rung.lower <= search.eps else "no"),
        ]
        for rung in search.history
    ]  # fmt: skip
    note = "Numbers are what is stored: keys, values and a common concentration; digits are those that cancel in a sum."
    columns = ("length", "error", "proven", "numbers", "digits lost", "within eps")
    return Table("Every length that was tried", columns, rows, note=note)


def compare_fixed_points(
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
    >>> errors = bounds.report.compare_fixed_points(targets.zonal_harmonic(2, 2), [10, 40])
    >>> {name: [round(error, 2) for _, error in rows] for name, rows in errors.items()}
    {'Riemann sums, split': [0.3, 0.18], 'interpolation, core': [0.01, 0.0]}
    """
    target = _checks.instance(target, "target", Target, remedy="Target(function, dim) makes one")
    least = _checks.real(least, "least", minimum=0.0)
    counts = [_checks.integer(n, "counts", minimum=1, maximum=10**6) for n in counts]
    x = sphere.uniform(target.dim, _SAMPLE, rng=rng)
    values = target(x)
    errors: dict[str, list[tuple[int, float]]] = {"Riemann sums, split": [], "interpolation, core": []}
    for n in counts:
        cells = EqualMeasurePartition(target.dim, n)
        rows = points.fibonacci(n).points if target.dim == 2 else cells.centers()
        methods: dict[str, Callable[[float], Head]] = {
            "Riemann sums, split": partial(SplitHead.from_target, target, cells),
            "interpolation, core": partial(_interpolate, target, rows),
        }
        for name, make in methods.items():
            if not errors[name] or errors[name][-1][1] > least:
                head = _fit_concentration(make, math.log(n) * 2.0 / target.dim, x=x, values=values)
                dense = partial(head, method="dense")  # another is not worth compiling for a few sums
                errors[name].append((n, sup_error(dense, target).lower))
    return errors


def _interpolate(target: Target, rows: Float64, concentration: float) -> CoreHead:
    """Return the interpolating head, not tested for the resolution of its points, which may take half a second."""
    return CoreHead(rows, core_values(target, rows, concentration, rule="interpolation"), concentration)


def _fit_concentration(make: Callable[[float], Head], scale: float, *, x: Any, values: Any) -> Head:
    """Return the head of the concentration, about exp(scale), with the least error at a sample."""

    def error(log: float) -> float:
        return float(lengths((make(math.exp(log))(x, method="dense") - values).reshape(len(x), -1)).max())

    with warnings.catch_warnings():  # of concentrations that do not suit the points
        warnings.simplefilter("ignore", RuntimeWarning)
        grid = np.linspace(scale - 5.0, scale + 2.0, 9)
        start = min(grid, key=error)
        local = minimize_scalar(error, bounds=(start - 0.9, start + 0.9), method="bounded", options={"xatol": 0.05})
        return make(math.exp(min((local.x, start), key=error)))
