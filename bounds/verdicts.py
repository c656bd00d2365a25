"""`Check` and `Validation`: the results of `validate`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tabulate import tabulate

from spherapprox._types import Float64
from spherapprox.error import ErrorInterval

from ._bound import Bound
from .claims import Claim

Verdict = Literal["holds", "vacuous", "violated", "not applicable", "undecided"]
Quantity = Literal["error", "worst-case error", "error at points"]


@dataclass(frozen=True)
class Check:
    """One theorem held against one measured number.

    Parameters
    ----------
    theorem : str
        Its name, as `error_bound` takes it.
    bound : Bound or None
        What it promises; None where it does not speak of this head and target.
    achieved : float or None
        The number held against it.
    verdict : {"holds", "vacuous", "violated", "not applicable", "undecided"}
        "holds": the error does not contradict the bound. "vacuous": nor could it, the bound is 2 sup|f| or more.
        "violated": it does; the theorem is proven, so a claim is wrong. "not applicable": a hypothesis fails, by what
        is known or since a claim was refuted. "undecided": the numbers measured are compatible with either.
    reason : str
        Which hypothesis fails, or where the bound is violated and what to suspect.
    quantity : {"error", "worst-case error", "error at points"}
        What `achieved` is: the error on this target, or the largest over all targets of its Lipschitz constant. "error
        at points": the error too, held against a bound that is proven at each point, its largest value searched for.
    at : ndarray, shape (dim+1,), or None
        Where a violation was seen.
    suspects : tuple of str
        For "violated": the names of the claims that were refuted, or else of all that enter the bound.

    Examples
    --------
    >>> import bounds
    >>> from spherapprox import EqualMeasurePartition, SplitHead, targets
    >>> target = targets.distance(2)
    >>> head = SplitHead.from_target(target, EqualMeasurePartition(2, 100), concentration=1e4)
    >>> checks = bounds.validate(head, target, n=1000, worst_case=False).checks
    >>> checks[-1].theorem, checks[-1].verdict
    ('sharp-split', 'holds')
    >>> all(check.achieved <= check.bound.value for check in checks if check.bound)
    True
    """

    theorem: str
    bound: Bound | None
    achieved: float | None
    verdict: Verdict
    reason: str = ""
    quantity: Quantity = "error"
    at: Float64 | None = field(default=None, compare=False, repr=False)
    suspects: tuple[str, ...] = ()


@dataclass(frozen=True)
class Validation:
    """The result of `validate`: the measured error, one `Check` per theorem, and one `Claim` per number stated.

    Parameters
    ----------
    error : ErrorInterval
        The measured sup error of the head on the target.
    checks : tuple of Check
        One for each theorem that speaks of this kind of head.
    claims : tuple of Claim
        One for everything that was stated and enters a theorem, those included that were not attempted.

    Examples
    --------
    >>> import bounds
    >>> from spherapprox import EqualMeasurePartition, SplitHead, Target
    >>> target = Target(lambda x: 3.0 * x[:, 2], 2, lipschitz=2.0, sup_norm=3.0)
    >>> head = SplitHead.from_target(target, EqualMeasurePartition(2, 100), concentration=20.0)
    >>> found = bounds.validate(head, target, n=1000, worst_case=False)
    >>> found.ok, found.summary, found.violated
    (False, 'refuted: Lipschitz constant', ())
    >>> print(str(found).splitlines()[-1])
    ok: False (refuted: Lipschitz constant)
    """

    error: ErrorInterval
    checks: tuple[Check, ...]
    claims: tuple[Claim, ...] = ()

    @property
    def violated(self) -> tuple[str, ...]:
        """The theorems that the measured errors contradict; a correct head on a correct target has none."""
        return tuple(check.theorem for check in self.checks if check.verdict == "violated")

    @property
    def ok(self) -> bool:
        """The validity of the head: an upper bound below 2 sup|f| holds, none is violated, every claim survived."""
        return self.summary == "holds"

    @property
    def summary(self) -> str:
        """The first that applies: "violated: ...", "refuted: ...", "not attempted: ..." with names, or one verdict."""
        if self.violated:
            return "violated: " + ", ".join(self.violated)
        for outcome in ("refuted", "not attempted"):
            if names := [claim.name for claim in self.claims if claim.outcome == outcome]:
                return f"{outcome}: " + ", ".join(names)
        upper = {check.verdict for check in self.checks if check.quantity == "error"}
        return next((verdict for verdict in ("holds", "vacuous", "not applicable") if verdict in upper), "undecided")

    def __str__(self) -> str:
        checks = [
            (c.theorem, _number(c.bound.value if c.bound and c.bound.holds else None),
             *(_number(c.achieved if (c.quantity == "worst-case error") == worst else None) for worst in (False, True)),
             c.verdict.upper(), c.reason)
            for c in self.checks
        ]  # fmt: skip
        claims = [(c.name, _number(c.stated), _number(c.found), c.outcome.upper(), c.reason) for c in self.claims]
        tables = (
            (checks, ("theorem", "bound", "error", "worst case", "verdict", "why")),
            (claims, ("claim", "stated", "found", "outcome", "what was seen")),
        )
        text = [tabulate(rows, headers=headers, disable_numparse=True) for rows, headers in tables if rows]
        return "\n\n".join([*text, f"ok: {self.ok} ({self.summary})"])


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
