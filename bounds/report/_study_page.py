"""One self-contained page for a study: errors, proofs and bounds over the number of control points."""

from __future__ import annotations

from html import escape
from pathlib import Path

from spherapprox._checks import concentration_text

from ..records.bound import up
from . import _html
from ._study import Row, Study

_HEADERS = ("prefix", "head", "chosen by", "λ", "error", "proven", "2nd order", "a priori", "verdict")
_LEGEND = {
    "error": "the largest found.",
    "proven": "no error of this head is larger, by a proof.",
    "2nd order": "the largest value found of a bound that is proven at each point (4.H), for these points.",
    "a priori": "the least bound that asks for no values but the target's constants; the verdict is on it.",
}


def page(study: Study, command: str, folder: Path) -> str:
    """Return the page of a study, as HTML that loads nothing, with the figures in the folder."""
    target = study.target
    parts = [
        _banner(study),
        _html.section("Error against the number of control points", _html.picture(
            (folder / "error.png").read_bytes(), "Error against the number of control points",
            "Marks are measured errors, the ticks above them proven upper bounds, lines without marks bounds.",
            wide=True,
        )),
        _html.section("Every head", _every(study)),
    ]  # fmt: skip
    if target.dim == 2:
        shown, rate = study.shown, concentration_text(study.shown.concentration)
        maps = (folder / "maps.png").read_bytes()
        said = f"A {shown.family} head of {len(shown):,} control points, λ = {rate}."
        parts.append(_html.section("One head on the map", _html.picture(maps, "Maps of function, head, error", said)))
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in study.notes)
    parts.append(_html.section("The function", _html.definitions(_html.facts(target)) + notes))
    if command:
        parts.append(_html.section("How to reproduce it", f"<pre>{escape(command)}</pre>"))
    counts = sorted({row.n for row in study.rows})
    subtitle = f"{len(study.rows)} heads of {counts[0]:,} to {counts[-1]:,} control points"
    return _html.document("Study", target, subtitle, parts)


def _banner(study: Study) -> str:
    """Return how many errors are proven, and the least of them."""
    unit = f" {study.target.unit}" if study.target.unit else ""
    proven = [row for row in study.rows if row.upper is not None]
    violated = [row for row in study.rows if row.verdict.startswith("violated")]
    best = min(study.rows, key=lambda row: row.error)
    numbers = [(f"least error found: {best.head} head, N = {best.n:,}", f"{best.error:.4g}{unit}")]
    if best.upper is not None:
        numbers.append(("proven upper bound", f"{up(best.upper)}{unit}"))
    if best.second_order_local is not None:
        numbers.append(("its second-order bound, the largest found", f"{best.second_order_local:.4g}{unit}"))
    wrong = [f"Violated: a bound, by {len(violated)} of {len(study.rows)} heads."] if violated else []
    wrong += [f"Refuted: {', '.join(claim.name for claim in study.refuted)}."] if study.refuted else []
    if wrong:
        return _html.banner("violated", " ".join(wrong), numbers)
    said = f"The errors of {len(proven)} of {len(study.rows)} heads are enclosed by proof."
    if not proven:
        said = "No bound is violated." if any(row.verdict for row in study.rows) else "Measured: no bound speaks of it."
    kind = "proved" if proven else "holds" if any(row.verdict for row in study.rows) else "undecided"
    return _html.banner(kind, said, numbers)


def _every(study: Study) -> str:
    """Return the table of all heads, without empty columns, and what its columns are."""
    rows = list(map(_cells, study.rows))
    shown = [i for i in range(len(_HEADERS)) if any(row[i][0] for row in rows)]
    headers = [_HEADERS[i] for i in shown]
    said = " ".join(f"<b>{escape(name)}</b>: {escape(_LEGEND[name])}" for name in headers if name in _LEGEND)
    table = _html.table(headers, [[row[i] for i in shown] for row in rows])
    return f'<p class="note">{said}</p>{table}'


def _cells(row: Row) -> list[tuple[str, str]]:
    """Return a head's cells."""

    def shown(value: float | None) -> tuple[str, str]:
        return ("" if value is None else f"{value:.4g}", "number")

    local = row.second_order if row.second_order_local is None else row.second_order_local
    word, _, reason = row.verdict.partition(": ")
    word, _, estimated = word.partition(" (")
    reason = reason or estimated.removesuffix(")")
    verdict = (_html.pill(word) if word else "") + (f"<small>{escape(reason)}</small>" if reason else "")
    return [
        (f'<span class="name">N = {row.n:,}</span>', ""), (row.head, ""), (row.choice, ""), shown(row.concentration),
        shown(row.error), ("" if row.upper is None else up(row.upper), "number"), shown(local), shown(row.bound),
        (verdict, ""),
    ]  # fmt: skip
