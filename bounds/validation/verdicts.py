"""`Validation`: the result of `validate`, as a table, records and a document."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tabulate import tabulate

from spherapprox import __version__
from spherapprox._checks import upper_text
from spherapprox.error import ErrorInterval
from spherapprox.heads.head import Head
from spherapprox.target import CONSTANTS, Target

from .check import SYMBOLS, Check, interval, to_json
from .claims import Claim
from .judgement import proven


@dataclass(frozen=True)
class Validation:
    """The result of `validate`: the error, one `Check` per theorem and lemma, and one `Claim` per number stated.

    Parameters
    ----------
    error : ErrorInterval
        The sup error of the head on the target: measured, with a proven upper end where that was asked for.
    checks : tuple of Check
        One for each theorem that speaks of this kind of head.
    claims : tuple of Claim
        One for everything that was stated and enters a theorem, those included that were not attempted.
    lemmas : tuple of Check
        One for each part of the error that was examined by itself.
    head : CoreHead, SplitHead or ClassicalHead
        What was validated; None in records made by hand.
    target : Target
        What it approximates.
    options : mapping
        The options of `validate`, by which the result can be reproduced.

    Examples
    --------
    >>> import bounds
    >>> from spherapprox import EqualMeasurePartition, SplitHead, Target
    >>> target = Target(lambda x: 3.0 * x[:, 2], 2, lipschitz=2.0, sup_norm=3.0)
    >>> head = SplitHead.from_target(target, EqualMeasurePartition(2, 100), concentration=20.0)
    >>> validation = bounds.validate(head, target, n=1000, examine=["claims"])
    >>> validation.ok, validation.summary, validation.violated
    (False, 'refuted: Lipschitz constant', ())
    >>> print(str(validation).splitlines()[-1])
    ok: False (refuted: Lipschitz constant)
    >>> [(record["name"], record["verdict"]) for record in validation.records()][-1]
    ('sharp-split', 'not applicable')
    >>> validation.document()["target"]["origins"]["lipschitz"]
    'given'
    """

    error: ErrorInterval
    checks: tuple[Check, ...]
    claims: tuple[Claim, ...] = ()
    lemmas: tuple[Check, ...] = ()
    head: Head | None = field(default=None, compare=False, repr=False)
    target: Target | None = field(default=None, compare=False, repr=False)
    options: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def violated(self) -> tuple[str, ...]:
        """The theorems and lemmas that what was achieved contradicts; a correct head on a correct target has none."""
        return tuple(check.theorem for check in (*self.checks, *self.lemmas) if check.verdict == "violated")

    @property
    def refuted(self) -> tuple[str, ...]:
        """The names of the claims that were refuted."""
        return tuple(claim.name for claim in self.claims if claim.outcome == "refuted")

    @property
    def ok(self) -> bool:
        """The validity of the head: `summary` is "proved", "holds" or "certified"."""
        return self.summary in ("proved", "holds", "certified")

    @property
    def summary(self) -> str:
        """The first that applies: "violated: ...", "refuted: ...", "not attempted: ..." with names, or one verdict.

        "certified": no theorem speaks of the head, and its error has a proven upper end all the same.
        """
        skipped = tuple(claim.name for claim in self.claims if claim.outcome == "not attempted")
        for word, names in (("violated", self.violated), ("refuted", self.refuted), ("not attempted", skipped)):
            if names:
                return f"{word}: " + ", ".join(names)
        upper = {check.verdict for check in self.checks if check.quantity == "error"}
        ranked = ("proved", "holds", "vacuous", "not applicable")
        best = next((verdict for verdict in ranked if verdict in upper), "undecided")
        return "certified" if best == "not applicable" and proven(self.error)[0] < math.inf else best

    def records(self) -> list[dict[str, Any]]:
        """Return `Check.record` of each theorem and lemma, for ``pandas.DataFrame(validation.records())``."""
        return [check.record() for check in (*self.checks, *self.lemmas)]

    def document(self) -> dict[str, Any]:
        """Return the validation as a document for `json.dumps`; None, JSON's null, stands for what is not finite."""
        certificate, head = self.error.certificate, self.head
        error = {name: getattr(self.error, name) for name in ("lower", "upper", "at", "reason")}
        numbers = ("name", "stated", "found", "outcome", "reason", "at")
        return {
            "made_by": f"spherapprox {__version__}", "ok": self.ok, "summary": self.summary,
            "options": dict(self.options),
            "head": None if head is None else {
                "kind": type(head).__name__, "n": len(head), "dim": head.dim,
                "concentration": to_json(head.concentration), "n_outputs": head.n_outputs,
                "points": None if head.points is None else repr(head.points),
            },
            "target": describe_target(self.target),
            "error": to_json(error | {"certificate": None if certificate is None else vars(certificate)}),
            "checks": self.records(),
            "claims": [{name: to_json(getattr(claim, name)) for name in numbers} for claim in self.claims],
        }  # fmt: skip

    def __str__(self) -> str:
        error, unit = self.error, f" {self.target.unit}" if self.target is not None and self.target.unit else ""
        reason = "" if error.certificate is None else error.reason  # said once, below the tables
        checks = []
        for c in self.checks:
            achieved = interval(c.achieved, c.upper)
            places = ("-", achieved) if c.quantity == "worst-case error" else (achieved, "-")
            why = c.reason.replace(f"slack: {reason}", "slack") if reason else c.reason
            checks.append((c.theorem, _number(c.predicted), *places, _number(c.ratio), c.verdict.upper(), why))
        lemmas = [
            (SYMBOLS[c.quantity], _number(c.predicted), interval(c.achieved, c.upper), _number(c.ratio),
             c.verdict.upper(), c.reason)
            for c in self.lemmas
        ]  # fmt: skip
        claims = [(c.name, _number(c.stated), _number(c.found), c.outcome.upper(), c.reason) for c in self.claims]
        tables: Iterable[tuple[list[Any], tuple[str, ...]]] = (
            (checks, ("theorem", "bound", "error", "worst case", "ratio", "verdict", "why")),
            (lemmas, ("lemma", "bound", "found", "ratio", "verdict", "why")),
            (claims, ("claim", "stated", "found", "outcome", "what was seen")),
        )
        upper = "none is proven" if error.upper == math.inf else f"proven to be at most {upper_text(error.upper)}{unit}"
        estimated = "" if error.certificate is None else " and ".join(error.certificate.estimated)
        text = [f"sup error: {error.lower:.4g}{unit} found, {upper}" + (estimated and f" with estimated {estimated}")]
        text += [tabulate(rows, headers=headers, disable_numparse=True) for rows, headers in tables if rows]
        text += [f"no proof within the slack: {reason}"] if reason else []
        return "\n\n".join([*text, f"ok: {self.ok} ({self.summary})"])


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def describe_target(target: Target | None) -> dict[str, Any] | None:
    """Return the constants of a target with their origins, for JSON."""
    if target is None:
        return None
    names = ("name", "unit", "dim", "exponent", "n_outputs", "provenance", *CONSTANTS)
    origins = {name: target.origin(name) for name in CONSTANTS if getattr(target, name) is not None}
    return {name: to_json(getattr(target, name)) for name in names} | {"origins": origins}
