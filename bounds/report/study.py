"""A study: heads with a growing prefix on one target, their errors, and their bounds by every theorem."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from spherapprox import _checks, sphere
from spherapprox.heads.head import Head
from spherapprox.heads.registry import FAMILIES
from spherapprox.partition import EqualMeasurePartition
from spherapprox.target import Target

from ..records.problem import LARGEST_CONCENTRATION
from ..theorems import POINTWISE
from ..validation._progress import each
from ..validation.claims import of_numbers
from ..validation.estimates import with_estimates, with_proofs
from ._study import CHOICES, Row, Study
from ._trial import LOCAL, Measure, can_choose, measure_head, without_refuted

PREFIX_LENGTHS = (100, 300, 1000, 3000, 10_000, 30_000)
"""The numbers of control points of the standard study."""

_MAPPED = 10_000
"""The maps show the best head of the n nearest to this."""
_SAMPLE = 100_000
"""Mean errors are taken at no more points than this."""


def estimate_constants(target: Target, rng: np.random.Generator | int | None = 0) -> Target:
    """Estimate the unstated of a target's Lipschitz constant and sup norm, from below; prove them where that is cheap.

    Those whose `Target.origin` is "estimated" prove nothing; studies and validations say so.

    Parameters
    ----------
    target : Target
    rng : None, int or numpy.random.Generator
        Seeds the points that the search for the largest value and the steepest slope begins with.

    Raises
    ------
    ValueError
        For a target whose secants grow without end as they become shorter, as at a jump, or whose exponent is not 1.

    Examples
    --------
    >>> import bounds
    >>> from spherapprox import Target
    >>> target = bounds.report.estimate_constants(Target(lambda x: 3.0 * x[:, 0], dim=2))
    >>> round(target.lipschitz, 5), target.origin("lipschitz")
    (3.0, 'estimated')
    """
    _checks.instance(target, "target", Target, remedy="Target(function, dim) makes one")
    return with_estimates(with_proofs(target), rng)[0]


def run_study(
    target: Target, n: Sequence[int] = PREFIX_LENGTHS, *, choices: Sequence[str | float] | None = None,
    points: int = 20_000, rng: np.random.Generator | int | None = 0, workers: int | None = None,
    progress: bool | None = False, certified: bool = False,
) -> Study:  # fmt: skip
    """Approximate a target by core and split heads on equal-measure partitions, and hold their errors against theory.

    Parameters
    ----------
    target : Target
        What is approximated. Bounds need a Lipschitz constant, those of core heads a sup norm too; measured errors need
        neither, so that ``Target(function, dim)`` will do. No bound made with constants of `estimate_constants` is
        proven.
    n : sequence of int
        Numbers of control points.
    choices : sequence of {"theory", "second-order", "best", "mean"} or float, optional
        How each head's concentration is chosen: "theory" minimises the a-priori bound at that n, "second-order" that of
        split heads at these very points (`best_concentration`, "second-order-local"), "best" the measured sup error,
        "mean" the measured mean error; a number is taken as it is. By default "theory" and "best", "second-order" too
        for polynomials, or "best" and "mean" where the target states no Lipschitz constant: it may jump, and then no
        sup error becomes small.
    points : int
        At least so many points measure each error, before local refinement of the worst ones.
    rng : None, int or numpy.random.Generator
        Seeds the samples.
    workers : int or None, default None
        Threads, as in `spherapprox.evaluate`; the result is the same for any number.
    progress : bool or None
        Show progress on stderr: a bar on a terminal, elsewhere a line every few seconds; None: on a terminal only.
    certified : bool
        Prove an upper bound, 5 % above the largest error found, for heads whose proof takes seconds: nearly all on S^1
        and S^2.

    Raises
    ------
    ValueError, TypeError
        For a target that is none, a choice that needs constants which it does not state, an empty or invalid `n`, or an
        unknown choice.

    Examples
    --------
    >>> import bounds
    >>> from spherapprox import Target, targets
    >>> study = bounds.report.run_study(targets.distance(2), [100, 400], choices=["theory"], points=2000)
    >>> [(row.n, row.head, row.verdict) for row in study.rows]
    [(100, 'core', 'holds'), (100, 'split', 'holds'), (400, 'core', 'holds'), (400, 'split', 'holds')]

    A plain function has measured errors:

    >>> study = bounds.report.run_study(Target(lambda x: abs(x[:, 0]), 2), [400], choices=["best"], points=2000)
    >>> [(row.head, round(row.error, 2), row.bound) for row in study.rows]
    [('core', 0.07, None), ('split', 0.05, None)]
    """
    # Step 1: the target, the choices and the sample
    target = with_proofs(_checks.instance(target, "target", Target, remedy="Target(function, dim) makes one"))
    estimated = tuple(name for name in ("lipschitz", "sup_norm") if target.origin(name) == "estimated")
    counts, points = _counts(n), _checks.integer(points, "points", minimum=100, maximum=10**8)
    ways = _choices(target, choices)
    sample = sphere.uniform(target.dim, min(points, _SAMPLE), rng=rng)
    certified = _checks.flag(certified, "certified")
    measure = Measure(
        target, estimated, points, sample=sample, values=target(sample), rng=rng, workers=workers, certified=certified
    )
    steps = [(n, kind, way) for n in counts for kind in FAMILIES for way in ways if can_choose(way, kind, target)]
    # Step 2: every head
    rows: list[Row] = []
    candidates: list[tuple[float, float, Head]] = []
    nearest = min(counts, key=lambda count: abs(math.log(count / _MAPPED)))
    words = "N = {0[0]}, {0[1]} head, {0[2]}".format
    for count, kind, way in each(steps, progress, "head", describe=words):
        head, row = measure_head(measure, EqualMeasurePartition(target.dim, count), kind, way=way)
        rows.append(row)
        if count == nearest:
            candidates.append((row.mean_error if target.lipschitz is None else row.error, row.error, head))
    # Step 3: the best head, and attempts to refute the target's constants
    _, error, head = min(candidates, key=lambda entry: entry[0])
    study = Study(target, tuple(rows), head, shown_error=error, points=points, estimated=estimated)
    if estimated:
        return study
    claims = of_numbers(head, target, None, n=points, workers=workers, rng=rng)
    refuted = tuple(claim for claim in claims if claim.outcome == "refuted")
    names = {claim.name for claim in refuted}
    rows = [without_refuted(row, names) for row in rows] if names else rows
    return replace(study, rows=tuple(rows), refuted=refuted)


def _counts(n: Sequence[int]) -> list[int]:
    if isinstance(cast("object", n), str) or not np.iterable(n):
        raise TypeError(f"'n' must be a sequence of numbers of control points, got {_checks.show(n)}: write [n]")
    why = "a study holds all its control points in memory"
    counts = sorted({_checks.integer(count, "n", minimum=1, maximum=10**8, limit=why) for count in n})
    if not counts:
        raise ValueError("'n' must name at least one number of control points, got none")
    return counts


def _choices(target: Target, choices: Sequence[str | float] | None) -> list[str | float]:
    """Check the choices, or make them."""
    bare = target.lipschitz is None
    lack = POINTWISE[LOCAL].lack(target)
    if choices is None:
        return ["best", "mean"] if bare else ["theory", *([] if lack else ["second-order"]), "best"]
    if isinstance(choices, str) or not np.iterable(choices):
        raise TypeError(f"'choices' must be a sequence, got {choices!r}: write [{choices!r}]")
    ways: list[str | float] = []
    for choice in choices:
        word = isinstance(choice, str) and _checks.choice(choice, "choices", CHOICES)
        ways.append(word or _checks.concentration(choice, maximum=LARGEST_CONCENTRATION))
    if not ways:
        raise ValueError("'choices' must hold 'theory', 'second-order', 'best', 'mean' or a concentration, got none")
    if "theory" in ways and bare:
        raise ValueError(
            f"'choices' may hold 'theory' only where the target states a Lipschitz constant, and '{target.name}' "
            "states none: Target(function, dim, lipschitz=..., sup_norm=...), or `estimate_constants`"
        )
    if "second-order" in ways and lack:
        raise ValueError(f"'choices' may hold 'second-order' only for a target with what it needs: {lack}")
    return ways
