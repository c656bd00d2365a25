"""`validate(head, target)`: every applicable theorem held against the error that the head achieved."""

from __future__ import annotations

from collections.abc import Callable, Collection, Set
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from spherapprox import SplitHead, _checks
from spherapprox.error import ErrorInterval, Proof, sup_error, worst_case_error
from spherapprox.error.records import as_proof
from spherapprox.error.search import sample
from spherapprox.heads.head import Head
from spherapprox.heads.registry import FAMILIES
from spherapprox.partition import EqualMeasurePartition
from spherapprox.points import PointSet, nodes
from spherapprox.summation import show_progress
from spherapprox.summation.progress import is_shown
from spherapprox.target import Target

from ..error import promised
from ..pointwise import bounds_at
from ..records.theorem import Prefix, Theorem
from ..theorems import POINTWISE, THEOREMS
from ..theorems._arguments import measure_points, read_class
from ..theorems._options import check_options
from . import claims as attempts
from ._progress import show_steps
from .check import Check, Quantity, Verdict
from .claims import Claim
from .judgement import CLAIMS, ROUNDING, Case, judged, proving, with_estimates, without_refuted
from .lemmas import of_lemmas
from .verdicts import Validation

POINTS = 4000
"""Points of a sample, at most, at which second-order bounds are taken."""
PAIRS = 3e8
"""Cells times control points that the proof of a worst-case error may take: it sums over all control points."""
PARTS = ("claims", "worst case", "lemmas")
"""What `validate` examines beside the error."""
_CONSTANTS = {"lipschitz": "Lipschitz constant", "sup_norm": "sup norm", "smoothness": "bound of second derivatives"}

PROOF = Proof(max_evaluations=1e6)
"""What each proof may take by default."""


def validate(
    head: Head, target: Target, *, error: ErrorInterval | None = None,
    examine: Collection[str] = ("claims", "worst case"), certified: bool | Proof = False, n: int = 20_000,
    rng: np.random.Generator | int | None = 0, workers: int | None = None,
) -> Validation:  # fmt: skip
    """Hold a head's achieved error against every applicable theorem, and try to refute the stated constants.

    Upper bounds for its kind of head (such as sharp-core or sharp-split) are compared with the measured sup error on
    this target. They speak of Riemann coefficients of this very target, and of no others. The lower bound speaks of the
    worst target of this Lipschitz constant, so it is compared with the worst-case error W of the point set, never with
    the error on one target.

    Parameters
    ----------
    head : CoreHead or SplitHead
        The head; its `.points` tell which theorems apply (an `EqualMeasurePartition` has cells of equal measure and a
        radius, a `PointSet` may have a covering radius and a degree of exactness and has a separation, of bare rows
        nothing is known).
    target : Target
        What it approximates, with the Lipschitz constant (and sup norm) that theory asks for.
    error : ErrorInterval, optional
        The error, when it has been measured already, with 0 <= lower <= upper and a point `at`; by default
        `spherapprox.sup_error` measures it at `n` points. Its upper end counts as proven if it has a certificate.
    examine : tuple, list or set of {"claims", "worst case", "lemmas"}
        What to examine beside the error. "claims": try to refute what was stated of the target and the points; without
        it they are listed as not attempted, and `.ok` is then False: for many heads on one target, of which one is
        enough. "worst case": measure the worst-case error of a split head's points (as long again). "lemmas": hold the
        parts of the error (`Validation.lemmas`) against their bounds: ``|f - K*f|`` by the kernel, ``|K*f - h|`` by the
        control points of a core head, and the distance of the denominator, or of the core head of the function 1, from
        its mean.
    certified : bool or Proof
        Prove upper ends of the error, the worst-case error and the lemmas' quantities, as `Proof` says: seconds on S^1
        and S^2, minutes on S^3; beyond, rarely within the budget.
    n : int
        Points at which errors are measured before local refinement, and of each sample that tries to refute a claim.
    rng : None, int or numpy.random.Generator
        Seeds the samples.
    workers : int or None, default None
        Threads, as in `spherapprox.evaluate`; the result is the same for any number.

    Returns
    -------
    Validation
        `.ok`, `.violated`, `.checks`, `.claims`, `.lemmas`; prints as tables. `bounds.report.report_validation` makes a
        page and files of it.

    Raises
    ------
    TypeError
        When `head` is no head or `target` no `Target`.
    ValueError
        When their dimensions differ, the head has several concentrations, or `error` is negative or no number.

    Notes
    -----
    `.ok` is True only if some upper bound below 2 sup|f| holds, or where no theorem speaks of the head, its error is
    proven, no bound is violated, and each claim was attempted and survived. A proof from a constant that was refuted is
    none: the error's upper end is inf then. The guide on certifying lists what the attempts can do.

    A verdict that rests on a constant whose origin is "estimated" (`Target.origins`) says so, and is never "proved" by
    an error that does. Of the floor 4.5, "proved" says that a larger worst-case error was found.

    In the block of `spherapprox.summation.show_progress`, and with ``Proof(progress=True)``, the part at work is shown.
    After an interruption proofs go on from `Proof.checkpoint`, those of other parts than the error from a file of this
    name with the part's behind it.

    Targets with values in R^p are held against the same bounds: the Lipschitz constant, the sup norm and the error are
    all in the Euclidean norm, and none of these theorems needs more of it than that it is a norm
    (docs/theorems/0-notation.md and 2-thesis.md), so no factor sqrt(p) enters.

    The bounds of `second_order_bound` are taken of split heads on targets with the constants that they need. They hold
    at each point, so the error at its point can violate them; what holds is no supremum, and does not make `.ok` True.

    Examples
    --------
    >>> import dataclasses
    >>> from bounds import validate
    >>> from spherapprox import EqualMeasurePartition, SplitHead, targets
    >>> target = targets.distance(2)
    >>> head = SplitHead.from_target(target, EqualMeasurePartition(2, 500), concentration=200.0)
    >>> validate(head, target, n=2000).ok
    True
    >>> validate(head, dataclasses.replace(target, lipschitz=0.95), n=2000).summary
    'refuted: Lipschitz constant'
    >>> validate(head, target, n=2000, certified=True, examine=["claims"]).summary
    'proved'
    """
    n = _checks.integer(n, "n", minimum=1)
    parts = {_checks.choice(part, "examine", PARTS) for part in _checks.instance(examine, "examine", tuple, list, set)}
    proof = as_proof(certified, PROOF)
    _check(head, target, error)
    search: dict[str, Any] = {"n": n, "workers": workers, "rng": rng}
    progress = is_shown.get() or (proof is not None and proof.progress)
    with show_steps(progress, "part") as announce, show_progress(False):
        return _validate(head, target, error, parts=parts, search=search, proof=proof, announce=announce)


def _validate(
    head: Head, target: Target, error: ErrorInterval | None, *, parts: Set[str], search: dict[str, Any],
    proof: Proof | None, announce: Callable[[str], object],
) -> Validation:  # fmt: skip
    # Step 1: the values, and the error achieved
    announce("error")
    values = attempts.of_values(head, target)
    claimed, error = error, sup_error(head, target, **search, **proving(proof)) if error is None else error
    # Step 2: attempts to refute the numbers stated
    numbers = attempts.of_numbers(head, target, claimed, **search, attempted="claims" in parts, announce=announce)
    claims = {claim.name: claim for claim in (values, *numbers)}
    # Step 3: every theorem for this kind of head, the floors, and the lemmas
    constants = read_class(target, None, **dict.fromkeys((*_CONSTANTS, "exponent")))
    announce("theorems")
    theorems, points = validated("error", head.family), head.points
    if isinstance(points, EqualMeasurePartition | PointSet):  # measured as far as a theorem that speaks of them asks
        speaking = [theorem for theorem in theorems if not theorem.requires.lack(points)]
        prefix = measure_points(points, {name for theorem in speaking for name in (*theorem.needs, *theorem.uses)})
    else:
        prefix = Prefix(n=len(head))
    size = _measure_size(head, target, claims, **search)
    case = Case(
        head, target, error=without_refuted(error, claims), claims=claims, size=size, constants=constants,
        prefix=prefix, search=search, proof=proof, announce=announce,
    )  # fmt: skip
    checks = [_upper(case, theorem) for theorem in theorems] + _second_order(case)
    if "worst case" in parts and head.family == "split":
        checks += _floors(case)
    lemmas = tuple(of_lemmas(case)) if "lemmas" in parts else ()
    limits, rng = proof or PROOF, search["rng"]
    options = {
        "n": search["n"], "rng": rng if isinstance(rng, int) else None, "certified": proof is not None,
        "slack": limits.slack, "max_evaluations": limits.max_evaluations, "examine": sorted(parts),
    }  # fmt: skip
    return Validation(
        case.error, tuple(checks), tuple(claims.values()), lemmas=lemmas, head=head, target=target, options=options
    )


def validated(quantity: str, family: str = "any") -> tuple[Theorem, ...]:
    """Return the theorems that a quantity is held against, for a kind of head, the thesis's last."""
    theorems = (theorem for theorem in THEOREMS.values() if theorem.measured == quantity and theorem.head == family)
    return tuple(sorted(theorems, key=lambda theorem: theorem.printed))


def _check(head: object, target: object, error: object) -> None:
    """Raise unless these are a head, a target of the same sphere, and None or an error that can be one."""
    head = _checks.instance(head, "head", *FAMILIES.values())
    dim, _ = head.dim, _checks.one_concentration(head.concentration, "the theorems treat")
    target = _checks.instance(target, "target", Target, remedy="wrap a function, Target(f, dim=...)")
    _checks.same_dim(target.dim, "target", dim, why="as the head has")
    if error is None:
        return
    error = _checks.instance(error, "error", ErrorInterval, remedy="sup_error returns one")
    _checks.real(error.lower, "error.lower", minimum=0.0)
    _checks.real(error.upper, "error.upper", minimum=error.lower, finite=False)
    _checks.one_row(error.at, "error.at", dim=dim)


def _measure_size(head: Head, target: Target, claims: dict[str, Claim], *, rng: Any, **search: Any) -> float | None:
    """Return sup |f| as measured, None for values that are no Riemann coefficients."""
    if attempts.SUP_NORM in claims and claims[attempts.SUP_NORM].found is not None:
        return claims[attempts.SUP_NORM].found
    if claims[attempts.VALUES].outcome != "survived":
        return None
    return attempts.Trial(head, target, None, rng=_checks.generator(rng), **search).largest().lower


def _obstacle(theorem: Theorem, case: Case) -> str:
    """Return the first unmet requirement of a theorem, empty for none."""
    head, target = case.head, case.target
    lacking = [
        f"needs the target's {words} ({name}=)"
        for name, words in _CONSTANTS.items()
        if name in theorem.needs and case.constants[name] is None
    ]
    if target.lipschitz is None:
        return lacking[0]
    if not np.array_equal(nodes(head.control_points if head.points is None else head.points)[0], head.control_points):
        return "needs control points that are what head.points says"
    if not case.riemann:
        return "needs Riemann coefficients: the values that coefficients='riemann' gives for this target"
    if lacking:
        return lacking[0]
    lack = theorem.requires.lack(head.points)
    return lack and "needs " + lack


def _upper(case: Case, theorem: Theorem) -> Check:
    """Hold an upper bound against the error on this target."""
    obstacle, achieved = _obstacle(theorem, case), case.error.lower
    if obstacle:
        return Check(theorem.name, None, achieved, verdict="not applicable", reason=obstacle)
    bound = promised(theorem, case.constants, case.prefix, **check_options(concentration=case.concentration))
    if bound.failed:
        return Check(
            theorem.name, bound, achieved, verdict="not applicable", reason="needs " + " and ".join(bound.failed)
        )
    names = (*theorem.needs, *theorem.uses)
    constants = (claim for name, claim in CLAIMS.items() if name in names)
    check = judged(
        bound, case.size, case.error, claims=case.entering(*constants, attempts.ERROR, *theorem.requires.claims)
    )
    return with_estimates(check, case.target, names)


def _second_order(case: Case) -> list[Check]:
    """Hold the second-order bounds that apply, at a sample and where the error was seen, against the error."""
    head, target, error, search = case.head, case.target, case.error, case.search
    if not isinstance(head, SplitHead) or not case.riemann:
        return []
    if all(theorem.lack(target) for theorem in POINTWISE.values()):
        return []
    x = np.concatenate([sample(head.dim, min(search["n"], POINTS), _checks.generator(search["rng"])), error.at[None]])
    checks = []
    for theorem, *bounds in bounds_at(head, target, x, workers=search["workers"]):
        degree = (attempts.DEGREE,) if theorem.local else ()  # the derivatives are those of a polynomial
        constants = (CLAIMS[name] for name in theorem.constants if name in CLAIMS)
        claims = case.entering(attempts.ERROR, *constants, *degree)
        for bound in bounds:  # where the error was seen, then everywhere
            check = judged(bound, case.size, error, claims=claims)
            if check.verdict == "violated":
                break
        if check.verdict in ("proved", "holds"):
            reason = f"the bound's largest value at {len(x)} points"
            check = replace(check, reason="; ".join(filter(None, (reason, check.reason))))
        checks.append(with_estimates(replace(check, quantity="error at points"), target, theorem.constants))
    return checks


def _floors(case: Case) -> list[Check]:
    """Hold the floors of methods that sample against the worst-case error of a head's points."""
    quantity: Quantity = "worst-case error"
    theorems, head, target = validated(quantity), case.head, case.target
    if not target.lipschitz or target.exponent != 1.0:
        lacks = "the exponent 1" if target.lipschitz else "a Lipschitz constant > 0"
        return [
            Check(theorem.name, None, None, verdict="not applicable", reason=f"needs {lacks}", quantity=quantity)
            for theorem in theorems
        ]
    case.announce("worst case")
    points = head.control_points if head.points is None else head.points
    worst = worst_case_error(points, case.concentration, **case.measuring("worst-case", PAIRS / len(head)))
    constants = case.constants | {"sup_norm": None}  # that of the worst target is not bounded
    bounds = [promised(theorem, constants, case.prefix) for theorem in theorems]
    low, high = target.lipschitz * worst.lower, target.lipschitz * worst.upper
    checks = []
    for bound in bounds:
        check = partial(Check, bound.theorem, bound, quantity=quantity, upper=high)
        if high < bound.value * (1.0 - ROUNDING):
            checks.append(check(high, "violated", "a bug: please report it", at=worst.at))
            continue
        verdict: Verdict = "holds" if low >= bound.value * (1.0 - ROUNDING) else "undecided"
        if case.proof is not None and low >= bound.value * (1.0 + 1e-7):  # what W is accurate to
            verdict = "proved"
        checks.append(with_estimates(check(low, verdict), target, ("lipschitz",)))
    return checks
