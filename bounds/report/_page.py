"""One self-contained page for a validation: verdicts, figures, the proof, and how to reproduce it."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from html import escape
from typing import Any

from spherapprox._checks import concentration_text
from spherapprox.error import ErrorInterval
from spherapprox.heads.head import Head
from spherapprox.target import Target

from ..records.bound import up
from ..theorems import POINTWISE, THEOREMS
from ..validation.check import SYMBOLS, Check, interval
from ..validation.claims import Claim
from . import _intervals
from ._html import banner, definitions, document, facts, picture, pill, section, table

_WORDS = {
    "proved": "Proved: the error is proven to be below a bound.",
    "holds": "Holds: nothing contradicts the theorems.",
    "vacuous": "Vacuous: no bound that applies says more than 2 sup|f|.",
    "certified": "Certified: no theorem speaks of this head, and its error is proven.",
    "not applicable": "No theorem speaks of this head and target.",
    "undecided": "Undecided: what was found is compatible with either.",
}


def page(validation: Any, command: str, source: str) -> str:
    """Return the page of a `Validation`, as HTML that loads nothing."""
    head, target, error = validation.head, validation.target, validation.error
    if head is None or target is None:
        raise ValueError("the page needs the head and the target, which `validate` records")
    parts = [
        _banner(validation, target), _asked(head, target, validation.options),
        _bounds(validation.checks, target.unit), _lemmas(validation.lemmas), _largest(head, target, error),
        _claims(validation.claims), _certificate(error), _again(validation.options, command, source),
    ]  # fmt: skip
    return document("Validation", target, _of(head), parts)


def _of(head: Head) -> str:
    kind = type(head).__name__.removesuffix("Head").lower()
    return f"A {kind} head of {len(head):,} control points, concentration λ = {concentration_text(head.concentration)}"


def _banner(validation: Any, target: Target) -> str:
    """Return the verdict with the numbers that a reader wants first."""
    summary, error = validation.summary, validation.error
    word, _, names = summary.partition(": ")
    kind = "violated" if word in ("violated", "refuted") else word
    said = _WORDS.get(word, f"{word.capitalize()}: {names}.")
    unit = f" {target.unit}" if target.unit else ""
    upper = "not proven" if error.upper == math.inf else f"{up(error.upper)}{unit}"
    numbers = [("largest error found", f"{error.lower:.4g}{unit}"), ("proven upper bound", upper)]
    applies = [c for c in validation.checks if c.quantity == "error" and c.predicted and c.verdict != "not applicable"]
    if applies:
        least = min(applies, key=lambda check: check.predicted)
        numbers.append((f"least a-priori bound ({least.theorem})", f"{least.predicted:.4g}{unit}"))
    return banner(kind, said, numbers)


def _asked(head: Head, target: Target, options: Any) -> str:
    made = [
        ("kind", escape(type(head).__name__)), ("control points", f"{len(head):,}"),
        ("made from", f"<code>{escape('bare rows' if head.points is None else repr(head.points))}</code>"),
        ("concentration", concentration_text(head.concentration, 8)), ("outputs", str(head.n_outputs or 1)),
    ]  # fmt: skip
    for name in ("n", "certified", "slack", "max_evaluations"):
        if name in options:
            words = {"n": "points of a sample", "max_evaluations": "budget, evaluations", "certified": "proofs"}
            value = options[name]
            text = ("asked for" if value else "none") if value is True or value is False else f"{value:g}"
            made.append((words.get(name, name), text))
    return section("What was asked", f'<div class="columns">{definitions(facts(target))}{definitions(made)}</div>')


def _row(check: Check, name: str, statement: str) -> list[tuple[str, str]]:
    reference = f"<small>{escape(check.bound.reference)}</small>" if check.bound else ""
    said = f"<small>{escape(statement)}</small>" if statement else ""
    predicted = "" if check.predicted is None else f"{check.predicted:.4g}"
    ratio = "" if check.ratio is None else f"{check.ratio:.3g}"
    achieved = "" if check.achieved is None else interval(check.achieved, check.upper)
    if check.quantity == "worst-case error" and achieved:
        achieved += "<small>of the worst target</small>"
    sign = "≥ " if check.bound is not None and check.bound.side == "lower" and predicted else ""
    reason = f"<small>{escape(check.reason)}</small>" if check.reason else ""
    return [
        (f'<span class="name">{escape(name)}</span>{said}{reference}', ""), (sign + predicted, "number"),
        (achieved, "number"), (ratio, "number"), (pill(check.verdict) + reason, ""),
    ]  # fmt: skip


_HEADERS = ("predicted", "achieved", "ratio", "verdict")


def _bounds(checks: Sequence[Check], unit: str) -> str:
    known = THEOREMS | POINTWISE
    rows = [_row(c, c.theorem, known[c.theorem].statement if c.theorem in known else "") for c in checks]
    chart = _intervals.chart(checks, unit)
    note = (
        '<p class="note">The bar runs from the largest value found to the proven upper end; the tick is the bound. '
        "The ratio is predicted over achieved: 1 would be a sharp theorem.</p>"
    )
    body = (f"{chart}{note}" if chart else "") + table(("theorem", *_HEADERS), rows)
    return section("Bounds against what was achieved", body)


def _lemmas(lemmas: Sequence[Check]) -> str:
    if not lemmas:
        return ""
    said = {"convolution": "the kernel alone, without discretisation", "denominator": "the sum of kernels",
            "discretisation": "the sum over control points in place of the integral"}  # fmt: skip
    rows = [_row(check, SYMBOLS[check.quantity], said.get(check.quantity, "")) for check in lemmas]
    return section("The parts of the error", table(("lemma", *_HEADERS), rows))


def _largest(head: Head, target: Target, error: ErrorInterval) -> str:
    """Return the place of the largest error, with a picture."""
    from . import plot  # matplotlib is loaded when a figure is asked for

    stream = io.BytesIO()
    plot.write(plot.error_figure_of(head, target, error), stream, dpi=130)
    place = ", ".join(f"{value:.6f}" for value in error.at[:8]) + (", …" if len(error.at) > 8 else "")
    where = f"x = ({place})"
    if target.dim == 2:
        latitude = math.degrees(math.asin(max(-1.0, min(1.0, float(error.at[2])))))
        longitude = math.degrees(math.atan2(float(error.at[1]), float(error.at[0])))
        where += f"; latitude {latitude:.3f}°, longitude {longitude:.3f}°"
    what = "A map of the error" if target.dim == 2 else "The error along a great circle through its largest place"
    body = (
        f"<p>|f - h| = {error.lower:.6g}{escape(f' {target.unit}' if target.unit else '')} at {where}.</p>\n"
        + picture(stream.getvalue(), what, f"{what}; the circle is where it is largest.")
    )
    return section("Where the error is largest", body)


def _claims(claims: Sequence[Claim]) -> str:
    if not claims:
        return ""
    rows = [
        [(f'<span class="name">{escape(c.name)}</span>', ""), (_number(c.stated), "number"),
         (_number(c.found), "number"),
         (pill(c.outcome) + (f"<small>{escape(c.reason)}</small>" if c.reason else ""), "")]
        for c in claims
    ]  # fmt: skip
    note = '<p class="note">A search tried to refute each number. Surviving it proves nothing.</p>'
    return section(
        "What was stated, and attempts to refute it", note + table(("claim", "stated", "found", "outcome"), rows)
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _certificate(error: ErrorInterval) -> str:
    """Return how the upper end was proven, or why it was not."""
    certificate = error.certificate
    if certificate is None:
        return section("Proof of the upper bound", f"<p>None: {escape(error.reason)}.</p>")
    if not certificate.proven:
        return section("Proof of the upper bound", f"<p>None: {escape(certificate.reason)}</p>")
    tests = {
        "Riesz": "Riesz's test: a polynomial that is large somewhere is large on a cap about that place",
        "Taylor": "Taylor's test: value and gradient at the centre, or the values near it, bound the cell",
    }
    used = "; ".join(tests.get(name, name) for name in certificate.tests)
    said = (
        f"<p>The sphere was cut into cells until each was proven to hold no error above {up(certificate.upper, 6)}: "
        f"{certificate.slack:.2%} above the largest error found. {escape(used)}.</p>"
    )
    reason = f'<p class="note">{escape(certificate.reason)}</p>' if certificate.reason else ""
    passed = ", ".join(f"{count:,} by {escape(name)}" for name, count in certificate.cells.items() if count)
    facts = [("cells passed", passed), ("evaluations", f"{certificate.evaluations:,}"),
             ("smallest cell", f"radius {certificate.finest:.3g} rad")]  # fmt: skip
    if certificate.degree is not None:
        facts += [
            ("degree of the polynomials", str(certificate.degree)),
            ("beyond it", f"at most {certificate.tail:.2g}"),
        ]
    facts += [("rounding", f"at most {certificate.rounding:.2g}, included")]
    rests = ", ".join(f"{escape(n.replace('_', ' '))} ({escape(o)})" for n, o in certificate.constants.items())
    facts += [("rests on", rests or "the control points alone")]
    return section("Proof of the upper bound", said + reason + definitions(facts))


def _again(options: Any, command: str, source: str) -> str:
    """Return the command and the lines of Python that make this page again."""
    proof = f"spherapprox.error.Proof({options['slack']!r}, {options['max_evaluations']!r})"
    certified = proof if options["certified"] else "False"
    given = f"n={options['n']}, rng={options['rng']}, examine={options['examine']}, certified={certified}"
    lines = (
        "import bounds\nfrom spherapprox import load\n"
        + (source or "target = ...  # the Target that was approximated")
        + '\nhead = load("validated-head.npz")  # beside this page, if it was saved\n'
        + f'found = bounds.validate(head, target, {given})\nprint(found)\nfound.save("validation")'
    )
    shown = f"<p>On the command line:</p><pre>{escape(command)}</pre><p>In Python:</p>" if command else ""
    return section("How to reproduce it", f"{shown}<pre>{escape(lines)}</pre>")
