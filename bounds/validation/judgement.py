"""Verdicts: a bound held against the interval that encloses an error, measured or proven."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from spherapprox import _checks
from spherapprox.error import Certificate, ErrorInterval, Proof
from spherapprox.heads.head import Head
from spherapprox.target import CONSTANTS, Target

from ..records.bound import Bound
from ..records.theorem import Prefix
from . import claims as attempts
from .check import Check
from .claims import Claim

ROUNDING = 1e-12
"""Relative to the larger of bound and sup norm: float64 evaluation of a head may add this much to its error."""

CLAIMS = {"lipschitz": attempts.LIPSCHITZ, "sup_norm": attempts.SUP_NORM, "smoothness": attempts.SMOOTHNESS,
          "third_derivative": attempts.THIRD, "laplacian": attempts.LAPLACIAN, "degree": attempts.DEGREE,
          "remainder": attempts.DEGREE}  # fmt: skip
"""Constants of a target that enter proofs, with the claims that may refute them."""


@dataclass(frozen=True)
class Case:
    """A head and its target, with all that theorems are asked of them.

    `constants` and `prefix` are those of the target's class and of the control points, `claims` the outcomes of
    attempts by name, `size` is sup |f| as measured, None for values that are no Riemann coefficients, `search` the
    sample of `sup_error`, `proof` None where nothing is proved, and `announce` shows the part at work.
    """

    head: Head
    target: Target
    error: ErrorInterval
    claims: Mapping[str, Claim]
    size: float | None
    constants: dict[str, Any]
    prefix: Prefix
    search: dict[str, Any]
    proof: Proof | None
    announce: Callable[[str], object]

    @property
    def concentration(self) -> float:
        """The concentration of a head of one."""
        return _checks.one_concentration(self.head.concentration, "the theorems treat")

    @property
    def riemann(self) -> bool:
        """Whether the head's values are the Riemann coefficients of the target."""
        return self.claims[attempts.VALUES].outcome == "survived"

    def measuring(self, part: str, largest: float = math.inf) -> dict[str, Any]:
        """Return the options of `sup_error` for a part of the validation, as `proving` does."""
        return self.search | proving(self.proof, f".{part}", largest)

    def entering(self, *names: str) -> dict[str, Claim]:
        """Return the claims of these names that were stated."""
        return {name: self.claims[name] for name in names if name in self.claims}


def proving(proof: Proof | None, suffix: str = "", largest: float = math.inf) -> dict[str, Any]:
    """Return the options of `sup_error` for a proof of at most so many evaluations, with a checkpoint of its own."""
    if proof is None:
        return {}
    budget = _checks.real(proof.max_evaluations, "max_evaluations", minimum=1000.0)
    file = proof.checkpoint and _checks.path(proof.checkpoint, "checkpoint") + suffix
    return {"certified": replace(proof, max_evaluations=min(budget, max(largest, 1000.0)), checkpoint=file)}


def proven(error: ErrorInterval) -> tuple[float, str]:
    """Return the upper end of an interval as far as it is proven, inf where not, and what there is against it."""
    certificate = error.certificate
    if certificate is None:
        return math.inf, "" if error.upper == math.inf else "the upper end given has no certificate"
    if not certificate.upper <= error.upper:
        return math.inf, "the upper end given is below that of its certificate"
    if certificate.estimated:
        return math.inf, f"the upper end rests on an estimated {' and '.join(certificate.estimated)}"
    return error.upper, certificate.reason and f"upper end not within the slack: {certificate.reason}"


def without_refuted(error: ErrorInterval, claims: Mapping[str, Claim]) -> ErrorInterval:
    """Return an error without its upper end where that was proven from constants that were refuted."""
    certificate = error.certificate
    if certificate is None or not certificate.proven:
        return error
    names = dict.fromkeys(CLAIMS[name] for name in certificate.constants if name in CLAIMS) | {attempts.ERROR: None}
    refuted = [name for name in names if name in claims and claims[name].outcome == "refuted"]
    if not refuted:
        return error
    reason = f"no proof without the true {' and '.join(refuted)}, which values refute"
    return replace(error, upper=math.inf, certificate=Certificate(math.inf, reason, math.inf))


def judged(bound: Bound, size: float | None, error: ErrorInterval, claims: dict[str, Claim]) -> Check:
    """Hold a bound against an error; its hypotheses hold but for claims that may be refuted."""
    refuted = tuple(name for name, claim in claims.items() if claim.outcome == "refuted")
    upper, doubt = proven(error)
    check = partial(Check, bound.theorem, bound, error.lower, upper=upper)
    if not error.lower <= bound.value + ROUNDING * max(bound.value, size or 0.0):
        suspects, place = refuted or tuple(claims), _checks.show(error.at.round(4).tolist())
        wrong = "refuted below" if refuted else "one of them is wrong, or this is a bug"
        reason = f"{', '.join(suspects)}: {wrong}" if suspects else "a bug: please report it"
        return check("violated", f"at {place}; {reason}", at=error.at, suspects=suspects)
    if attempts.ERROR in refuted:
        return check("undecided", "the error given is not this head's")
    if refuted:
        return check("not applicable", f"needs the true {' and '.join(refuted)}: refuted below")
    if size is not None and bound.value >= 2.0 * size * (1.0 - 1e-9):
        return check("vacuous", f"2 sup|f| is {2.0 * size:.4g}")
    return check("proved") if upper <= bound.value * (1.0 - ROUNDING) else check("holds", doubt)


def with_estimates(check: Check, target: Target, names: tuple[str, ...]) -> Check:
    """Add to a verdict the target's constants, of those named, that are estimates."""
    estimated = tuple(name for name in CONSTANTS if name in names and target.origin(name) == "estimated")
    if not estimated or check.verdict == "not applicable":
        return check
    scaled = check.quantity == "worst-case error"  # proportional to the constant, as its floor is
    note = f"with estimated {' and '.join(estimated)}: {'both sides scale with it' if scaled else 'not proven'}"
    return replace(check, estimated=estimated, reason="; ".join(filter(None, (check.reason, note))))
