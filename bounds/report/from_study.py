"""The report of a study: errors, proofs and bounds over the number of control points."""

from __future__ import annotations

from dataclasses import astuple, fields

from spherapprox import _checks
from spherapprox._checks import concentration_text, upper_text
from spherapprox._loading import Later

from ._study import Row, Study
from .report import Cell, Picture, Report, Table, Verdict, list_facts, name_sphere, with_unit

_plot = Later(f"{__package__}.plot")  # matplotlib is loaded when a figure is drawn

FILES = {"study.csv": b"n,head,choice,", "study.json": b"spherapprox", "error.png": b"spherapprox",
         "maps.png": b"spherapprox", "study.html": b"spherapprox"}  # fmt: skip
"""What the report saves, and what stands near the beginning of each."""

_COLUMNS = ("prefix", "head", "chosen by", "λ", "error", "proven", "2nd order", "a priori", "verdict")
_LEGEND = {
    "error": "the largest found",
    "proven": "no error of this head is larger, by a proof",
    "2nd order": "the largest value found of a bound that is proven at each point (4.H), for these points",
    "a priori": "the least bound that asks for no values but the target's constants; the verdict is on it",
}


def report_study(study: Study, *, command: str = "") -> Report:
    """Report a study: every head with its error, its proof and its bounds.

    It saves study.html, study.csv, study.json, error.png and, on S^2, maps.png.

    Parameters
    ----------
    study : Study
        The result of `run_study`.
    command : str, optional
        The command line that made it, to be shown.

    Raises
    ------
    TypeError
        When `study` is none, or `command` no text.

    Examples
    --------
    >>> import bounds
    >>> from spherapprox import targets
    >>> study = bounds.report.run_study(targets.distance(3), [20, 50], choices=["theory"], points=200)
    >>> bounds.report.report_study(study).verdict.text
    'No bound is violated.'
    """
    target = _checks.instance(study, "study", Study, remedy="run_study returns one").target
    counts = sorted({row.n for row in study.rows})
    figures = [
        Picture(
            "error.png", lambda: _plot.error_figure(study), "Error against the number of control points",
            caption="Marks are measured errors, the ticks above them proven upper bounds, lines without marks bounds.",
        )
    ]  # fmt: skip
    if target.dim == 2:
        head = study.shown
        text = f"A {head.family} head of {len(head):,} points, λ = {concentration_text(head.concentration)}."
        draw = lambda: _plot.maps_figure(head, target, study.shown_error)  # noqa: E731
        figures.append(Picture("maps.png", draw, "One head on the map", caption=text))
    names = [field.name for field in fields(Row)]
    return Report(
        name="study", title=f"Study: {target.name} on {name_sphere(target.dim)}",
        subtitle=f"{len(study.rows)} heads of {counts[0]:,} to {counts[-1]:,} control points",
        verdict=_verdict(study), rows=[dict(zip(names, astuple(row), strict=True)) for row in study.rows],
        document=study.document(), tables=[_tabulate(study)], figures=figures,
        facts=[list_facts(target, ". ".join(study.notes))], marks=FILES, command=command,
    )  # fmt: skip


def _verdict(study: Study) -> Verdict:
    """Return how many errors are proven, and the least of them."""
    target, best = study.target, min(study.rows, key=lambda row: row.error)
    n_proven = sum(row.upper is not None for row in study.rows)
    violated = [row for row in study.rows if row.verdict.startswith("violated")]
    name = f"least error found: {best.head} head, N = {best.n:,}"
    numbers = [(name, with_unit(f"{best.error:.4g}", target))]
    if best.upper is not None:
        numbers.append(("proven upper bound", with_unit(upper_text(best.upper), target)))
    if best.second_order_local is not None:
        bound = with_unit(f"{best.second_order_local:.4g}", target)
        numbers.append(("its second-order bound, the largest found", bound))
    wrong = [f"Violated: a bound, by {len(violated)} of {len(study.rows)} heads."] if violated else []
    wrong += [f"Refuted: {', '.join(claim.name for claim in study.refuted)}."] if study.refuted else []
    if wrong:
        return Verdict("violated", " ".join(wrong), numbers)
    if n_proven:
        return Verdict("proved", f"The errors of {n_proven} of {len(study.rows)} heads are enclosed by proof.", numbers)
    if any(row.verdict for row in study.rows):
        return Verdict("holds", "No bound is violated.", numbers)
    return Verdict("undecided", "Measured: no bound speaks of it.", numbers)


def _tabulate(study: Study) -> Table:
    """Return the table of all heads, without empty columns, and what its columns are."""
    rows = list(map(_cells, study.rows))
    places = [i for i in range(len(_COLUMNS)) if any(row[i].text for row in rows)]
    columns = [_COLUMNS[i] for i in places]
    note = " ".join(f"{name}: {_LEGEND[name]}." for name in columns if name in _LEGEND)
    return Table("Every head", columns, [[row[i] for i in places] for row in rows], note=note)


def _cells(row: Row) -> list[Cell]:
    """Return the cells of a head."""
    local = row.second_order if row.second_order_local is None else row.second_order_local
    verdict, _, reason = row.verdict.partition(": ")
    verdict, _, constants = verdict.partition(" (")
    return [
        Cell(f"N = {row.n:,}", "name"), Cell(row.head), Cell(row.choice), Cell.number(row.concentration),
        Cell.number(row.error), Cell("" if row.upper is None else upper_text(row.upper), "number"), Cell.number(local),
        Cell.number(row.bound), Cell(verdict, "verdict", (reason or constants.removesuffix(")"),)),
    ]  # fmt: skip
