"""The report of a validation: verdicts, figures, the proof, and how to reproduce it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from spherapprox import _checks
from spherapprox._checks import concentration_text, upper_text
from spherapprox._loading import Later
from spherapprox.error import ErrorInterval
from spherapprox.heads.head import Head
from spherapprox.target import Target

from ..theorems import POINTWISE, THEOREMS
from ..validation.check import SYMBOLS, Check, interval
from ..validation.claims import Claim
from ..validation.verdicts import Validation
from .report import Cell, Facts, Picture, Report, Table, Verdict, list_facts, name_sphere, with_unit

_plot = Later(f"{__package__}.plot")  # matplotlib is loaded when a figure is drawn

FILES = {"validation.csv": b"name,quantity,side,", "validation.json": b"spherapprox", "validation.png": b"spherapprox",
         "validation.html": b"spherapprox", "validated-head.npz": b"PK"}  # fmt: skip
"""What the report saves, and what stands near the beginning of each."""

_WORDS = {
    "proved": "Proved: the error is proven to be below a bound.",
    "holds": "Holds: nothing contradicts the theorems.",
    "vacuous": "Vacuous: no bound that applies says more than 2 sup|f|.",
    "certified": "Certified: no theorem speaks of this head, and its error is proven.",
    "not applicable": "No theorem speaks of this head and target.",
    "undecided": "Undecided: what was found is compatible with either.",
}
_LEMMAS = {
    "convolution": "the kernel alone, without discretisation", "denominator": "the sum of kernels",
    "discretisation": "the sum over control points in place of the integral",
}  # fmt: skip
_CAPTION = """The bar runs from the largest value found to the proven upper end; the tick is the bound. \
The ratio is predicted over achieved: 1 would be a sharp theorem. """
_TESTS = {
    "Riesz": "Riesz's test: a polynomial that is large somewhere is large on a cap about that place",
    "Taylor": "Taylor's test: value and gradient at the centre, or the values near it, bound the cell",
}


def report_validation(validation: Validation, *, command: str = "", source: str = "") -> Report:
    """Report a validation: its verdicts, the proof of the error, and the head.

    It saves validation.html, .json, .csv and .png and the head, validated-head.npz.

    Parameters
    ----------
    validation : Validation
        The result of `bounds.validate`.
    command : str, optional
        The command line that made it, to be shown.
    source : str, optional
        Lines of Python that make the variable ``target``, to be shown.

    Raises
    ------
    ValueError, TypeError
        For a record made by hand, without head and target; when an argument is of another kind.

    Examples
    --------
    >>> import bounds, tempfile
    >>> from spherapprox import EqualMeasurePartition, SplitHead, targets
    >>> target = targets.distance(1)
    >>> head = SplitHead.from_target(target, EqualMeasurePartition(1, 30), concentration=100.0)
    >>> report = bounds.report.report_validation(bounds.validate(head, target, n=500))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in report.save(folder)]
    ['validated-head.npz', 'validation.csv', 'validation.html', 'validation.json', 'validation.png']
    """
    _checks.instance(validation, "validation", Validation, remedy="validate returns one")
    head, target, error = validation.head, validation.target, validation.error
    if head is None or target is None:
        raise ValueError("'validation' must have a head and a target, which `validate` records: it was made by hand")
    kind, rate = type(head).__name__.removesuffix("Head").lower(), concentration_text(head.concentration)
    theorems = THEOREMS | POINTWISE
    statements = {name: theorem.statement for name, theorem in theorems.items()}
    rows = [_check(check, check.theorem, statements.get(check.theorem, "")) for check in validation.checks]
    parts = [_check(lemma, SYMBOLS[lemma.quantity], _LEMMAS.get(lemma.quantity, "")) for lemma in validation.lemmas]
    tables = [
        Table("Every theorem", ("theorem", *_COLUMNS), rows),
        Table("The parts of the error", ("lemma", *_COLUMNS), parts), _claims(validation.claims),
    ]  # fmt: skip
    figure = Picture(
        "validation.png", lambda: _plot.validation_figure(validation.checks, error, head, target=target),
        "Bounds against what was achieved", caption=_CAPTION + _place(error, target),
    )  # fmt: skip
    return Report(
        name="validation", title=f"Validation: {target.name} on {name_sphere(target.dim)}",
        subtitle=f"A {kind} head of {len(head):,} control points, concentration λ = {rate}",
        verdict=_verdict(validation, target), rows=validation.records(), document=validation.document(),
        tables=tables, figures=[figure],
        facts=[list_facts(target), _head(validation, head), _proof(error)], saved={"validated-head.npz": head.save},
        marks=FILES, command=command, source=_source(validation, _checks.instance(source, "source", str)),
    )  # fmt: skip


def _verdict(validation: Validation, target: Target) -> Verdict:
    """Return the verdict with the numbers that a reader wants first."""
    error = validation.error
    word, _, names = validation.summary.partition(": ")
    upper = "not proven" if error.upper == math.inf else with_unit(upper_text(error.upper), target)
    numbers = [("largest error found", with_unit(f"{error.lower:.4g}", target)), ("proven upper bound", upper)]
    bounds = [
        (check.predicted, check.theorem)
        for check in validation.checks
        if check.quantity == "error" and check.predicted and check.verdict != "not applicable"
    ]
    if bounds:
        least, theorem = min(bounds)
        numbers.append((f"least a-priori bound ({theorem})", with_unit(f"{least:.4g}", target)))
    text = _WORDS.get(word, f"{word.capitalize()}: {names}.")
    return Verdict("violated" if word == "refuted" else word, text, numbers)


def _place(error: ErrorInterval, target: Target) -> str:
    """Return where the error is largest, in words."""
    place = ", ".join(f"{value:.6f}" for value in error.at[:8]) + (", …" if len(error.at) > 8 else "")
    text = f"Circled is the largest error found, |f - h| = {with_unit(f'{error.lower:.6g}', target)} at x = ({place})"
    if target.dim == 2:
        latitude = math.degrees(math.asin(max(-1.0, min(1.0, float(error.at[2])))))
        longitude = math.degrees(math.atan2(float(error.at[1]), float(error.at[0])))
        text += f"; latitude {latitude:.3f}°, longitude {longitude:.3f}°"
    return text + "."


_COLUMNS = ("predicted", "achieved", "ratio", "verdict")


def _check(check: Check, name: str, statement: str) -> list[Cell]:
    predicted = "" if check.predicted is None else f"{check.predicted:.4g}"
    lower = check.bound is not None and check.bound.side == "lower" and predicted != ""
    achieved = "" if check.achieved is None else interval(check.achieved, check.upper)
    worst = ("of the worst target",) if achieved and check.quantity == "worst-case error" else ()
    return [
        Cell(name, "name", (statement, check.bound.reference if check.bound else "")),
        Cell("≥ " * lower + predicted, "number"), Cell(achieved, "number", worst), Cell.number(check.ratio, 3),
        Cell(check.verdict, "verdict", (check.reason,)),
    ]  # fmt: skip


def _claims(claims: Sequence[Claim]) -> Table:
    rows = []
    for c in claims:
        numbers = Cell.number(c.stated, 6), Cell.number(c.found, 6)
        rows.append([Cell(c.name, "name"), *numbers, Cell(c.outcome, "verdict", (c.reason,))])
    note = "A search tried to refute each number. Surviving it proves nothing."
    return Table("What was stated, and attempts to refute it", ("claim", "stated", "found", "outcome"), rows, note=note)


def _head(validation: Validation, head: Head) -> Facts:
    """Return the rows of a head's numbers, and the options by which it was validated."""
    pairs = [
        ("kind", type(head).__name__), ("control points", f"{len(head):,}"),
        ("made from", "bare rows" if head.points is None else repr(head.points)),
        ("concentration", concentration_text(head.concentration, 8)), ("outputs", str(head.n_outputs or 1)),
    ]  # fmt: skip
    words = {"n": "points of a sample", "max_evaluations": "budget, evaluations", "certified": "proofs"}
    for name in ("n", "certified", "slack", "max_evaluations"):
        if name in validation.options:
            value = validation.options[name]
            text = ("asked for" if value else "none") if isinstance(value, bool) else f"{value:g}"
            pairs.append((words.get(name, name), text))
    return Facts("The head", pairs)


def _proof(error: ErrorInterval) -> Facts:
    """Return how the upper end was proven, or why it was not."""
    certificate = error.certificate
    if certificate is None or not certificate.proven:
        return Facts("Proof of the upper bound", [], f"None: {(certificate or error).reason.removesuffix('.')}.")
    text = (
        f"The sphere was cut into cells until each was proven to hold no error above "
        f"{upper_text(certificate.upper, 6)}: {certificate.slack:.2%} above the largest error found. "
        f"{'; '.join(_TESTS.get(name, name) for name in certificate.tests)}. {certificate.reason}"
    )
    cells = ", ".join(f"{count:,} by {name}" for name, count in certificate.cells.items() if count)
    pairs = [("cells passed", cells), ("evaluations", f"{certificate.evaluations:,}"),
             ("smallest cell", f"radius {certificate.finest:.3g} rad")]  # fmt: skip
    if certificate.degree is not None:
        pairs.append(("degree of the polynomials", str(certificate.degree)))
        pairs.append(("beyond it", f"at most {certificate.tail:.2g}"))
    constants = ", ".join(f"{name.replace('_', ' ')} ({origin})" for name, origin in certificate.constants.items())
    pairs += [("rounding", f"at most {certificate.rounding:.2g}, included"),
              ("rests on", constants or "the control points alone")]  # fmt: skip
    return Facts("Proof of the upper bound", pairs, text)


def _source(validation: Validation, target: str) -> str:
    """Return the lines of Python that make the report again."""
    options = ", ".join(f"{name}={value!r}" for name, value in validation.options.items())
    return (
        f"import bounds\nfrom spherapprox import load\n{target or 'target = ...  # the Target that was approximated'}\n"
        'head = load("validated-head.npz")  # beside this page, if it was saved\n'
        f"validation = bounds.validate(head, target, {options})\nprint(validation)\n"
        'bounds.report.report_validation(validation).save("validation")'
    )
