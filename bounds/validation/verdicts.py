"""`Validation`: the result of `validate`, as a table, records and a document."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tabulate import tabulate

from spherapprox import __version__
from spherapprox.error import ErrorInterval
from spherapprox.heads.head import Head
from spherapprox.target import Target

from ._document import describe_claim, describe_error, describe_head, describe_target
from .check import SYMBOLS, Check, headline, interval
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
        """Return `Check.record` of each theorem and lemma, for ``pandas.DataFrame(validation.records())``.

        Examples
        --------
        >>> import bounds
        >>> from spherapprox import EqualMeasurePartition, SplitHead, targets
        >>> target = targets.distance(2)
        >>> head = SplitHead.from_target(target, EqualMeasurePartition(2, 300), concentration=100.0)
        >>> records = bounds.validate(head, target, n=1000).records()
        >>> [(r["name"], r["side"], r["verdict"]) for r in records][-1]
        ('lower', 'lower', 'holds')
        """
        return [check.record() for check in (*self.checks, *self.lemmas)]

    def document(self) -> dict[str, Any]:
        """Return the validation as a document for `json.dumps`; None, JSON's null, stands for what is not finite.

        Examples
        --------
        >>> import bounds
        >>> from spherapprox import EqualMeasurePartition, SplitHead, targets
        >>> wave = targets.zonal_harmonic(2, 3)
        >>> head = SplitHead.from_target(wave, EqualMeasurePartition(2, 300), concentration=40.0)
        >>> document = bounds.validate(head, wave, n=1000, certified=True).document()
        >>> document["summary"], document["error"]["upper"] < 0.15, document["target"]["origins"]["degree"]
        ('proved', True, 'derived')
        """
        return {
            "made_by": f"spherapprox {__version__}", "ok": self.ok, "summary": self.summary,
            "options": dict(self.options), "head": describe_head(self.head), "target": describe_target(self.target),
            "error": describe_error(self.error), "checks": self.records(),
            "claims": [describe_claim(claim) for claim in self.claims],
        }  # fmt: skip

    def __str__(self) -> str:
        reason = "" if self.error.certificate is None else self.error.reason  # said once, below the tables
        checks = [
            (c.theorem, _number(c.predicted), *(_achieved(c, worst) for worst in (False, True)), _number(c.ratio),
             c.verdict.upper(), c.reason.replace(f"slack: {reason}", "slack") if reason else c.reason)
            for c in self.checks
        ]  # fmt: skip
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
        text = [tabulate(rows, headers=headers, disable_numparse=True) for rows, headers in tables if rows]
        text += [f"no proof within the slack: {reason}"] if reason else []
        text.insert(0, headline(self.error, "" if self.target is None else self.target.unit))
        return "\n\n".join([*text, f"ok: {self.ok} ({self.summary})"])


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _achieved(check: Check, worst: bool) -> str:
    """Write what was achieved into the column of the error, or of the worst case."""
    return interval(check.achieved, check.upper) if (check.quantity == "worst-case error") is worst else "-"
