"""Stated constants of targets, control points and errors, and attempts to refute them by sampling."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from spherapprox import _checks, sphere
from spherapprox._norms import unit_of
from spherapprox._types import Float64
from spherapprox.error import ErrorInterval, lengths, sup_error
from spherapprox.harmonics import PolynomialDerivatives
from spherapprox.heads.head import Head
from spherapprox.partition import EqualMeasurePartition
from spherapprox.points import PointSet, nodes
from spherapprox.target import Target
from spherapprox.targets.circles import differences, on_great_circles
from spherapprox.vmf import VonMisesFisher

from .steepest import most_bent, precision, steepest

Outcome = Literal["survived", "refuted", "not attempted", "not stated"]

VALUES, LIPSCHITZ, SUP_NORM, SMOOTHNESS, THIRD, LAPLACIAN, DEGREE, COVERING, EXACTNESS, ERROR = (
    "values", "Lipschitz constant", "sup norm", "second derivatives", "third derivatives", "Laplacian", "degree",
    "covering radius", "degree of exactness", "error",
)  # fmt: skip
"""The names of claims."""

SAME = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-5}
"""Relative to the largest: values that differ by no more are the same but for rounding."""
EXACT = 1e-9
"""A polynomial of L2 norm 1 counts as integrated exactly with an error of no more."""
FACETS = 20_000
"""Of the hulls by which holes are looked for, a second's work; without effect on S^1 and S^2."""
OPERATIONS = 3e9
"""A degree of exactness is checked with no more, some seconds' work."""
ARC, LAPLACIANS = 256, 1e6
"""Points of each great circle for third differences; values of a polynomial that its Laplacians take, at most."""
NUMBERS = 2**22
"""Coordinates of a sample: in many dimensions its points are fewer."""


@dataclass(frozen=True, eq=False)
class Claim:
    """A stated number that a theorem uses, and the outcome of an attempt to refute it.

    Parameters
    ----------
    name : str
        "values", "Lipschitz constant", "sup norm", "second derivatives", "third derivatives", "Laplacian", "degree",
        "covering radius", "degree of exactness" or "error".
    stated : float or None
        The number stated; None for values, which are stated by the head.
    found : float or None
        What the attempt found in its place: the steepest slope, the largest norm, the largest second difference, the
        largest third one along great circles less what may be rounding, the largest Laplacian, the least degree that
        great circles allow with the remainder stated (or the one stated), the largest distance to the nearest control
        point, the degree up to which the rule is exact, the largest difference of a value from this target's (relative
        to the largest value), or the error at the point. None where nothing was attempted.
    outcome : {"survived", "refuted", "not attempted", "not stated"}
        "survived" says that this search found nothing against it, and proves nothing. "not stated": the head is of bare
        control points with values of its own, such as `shortest_head` finds; no rule was claimed.
    reason : str
        What was seen, or why nothing was attempted.
    at : ndarray, shape (k, dim+1), or None
        Where `found` was seen: two points for a Lipschitz constant and for second derivatives, one
        for others, None for a degree.

    Examples
    --------
    >>> import bounds
    >>> from spherapprox import EqualMeasurePartition, SplitHead, Target
    >>> target = Target(lambda x: 3.0 * x[:, 2], 2, lipschitz=2.0, sup_norm=3.0)
    >>> head = SplitHead.from_target(target, EqualMeasurePartition(2, 100), concentration=20.0)
    >>> _, claim, _ = bounds.validate(head, target, n=1000, examine=["claims"]).claims
    >>> claim.name, claim.stated, round(claim.found, 3), claim.outcome
    ('Lipschitz constant', 2.0, 3.0, 'refuted')
    >>> claim.reason, claim.at.shape
    ('|f(x) - f(y)| = ... at distance ...', (2, 3))
    """

    name: str
    stated: float | None
    found: float | None
    outcome: Outcome
    reason: str = ""
    at: Float64 | None = field(default=None, repr=False)


Finding = tuple[float, bool, str, Float64 | None]
"""What an attempt found, whether that refutes the claim, what was seen, and where."""


class Trial(NamedTuple):
    """A head and its target, with the sample by which stated numbers are attacked; all attempts share the generator."""

    head: Head
    target: Target
    error: ErrorInterval | None
    n: int
    workers: int | None
    rng: np.random.Generator

    def sample(self) -> Float64:
        """Draw n random points, fewer in many dimensions, and take up to half as many control points."""
        controls, dim = self.head.control_points, self.head.dim
        n = min(self.n, max(100, NUMBERS // (dim + 1)))
        controls = controls[:: -(-2 * len(controls) // n)].astype(np.float64)
        controls /= np.linalg.norm(controls, axis=1, keepdims=True)
        return np.concatenate([sphere.uniform(dim, n, self.rng), controls])

    def on_circles(self, per_circle: int) -> tuple[Float64, Float64, float, float]:
        """Return some n points of great circles, the values in a unit, this, and the epsilon of their precision."""
        target = self.target
        x, values = on_great_circles(target, max(4, min(self.n, 20_000) // per_circle), per_circle, rng=self.rng)
        f = values.astype(np.float64)  # (circles, points, p)
        unit = unit_of(f)
        return x, f / unit, unit, precision(values, values.dtype)

    def largest(self) -> ErrorInterval:
        """Measure ``sup |f|`` by the sample, and a search from the largest values."""
        shape = self.target(self.head.control_points[:1]).shape[1:]
        return sup_error(self.target, lambda x: np.zeros((len(x), *shape)), points=self.sample(), rng=self.rng)


def of_values(head: Head, target: Target) -> Claim:
    """Compare a head's values with the Riemann coefficients, c exp(lambda) w_k f(b_k) or f(b_k)."""
    claim = _attempt(VALUES, None, lambda: _compare_values(head, target))
    ruled = isinstance(head.points, EqualMeasurePartition | PointSet)
    return claim if ruled or claim.outcome != "refuted" else replace(claim, outcome="not stated")


def of_numbers(
    head: Head, target: Target, error: ErrorInterval | None, *, n: int, workers: int | None,
    rng: np.random.Generator | int | None, attempted: bool = True, announce: Callable[[str], object] = str,
) -> Iterator[Claim]:  # fmt: skip
    """Try to refute each number that is stated of a target, a head's control points and its error, once announced."""
    trial = Trial(head, target, error, n=n, workers=workers, rng=_checks.generator(rng))
    numbers: list[tuple[str, float | None, Callable[[float, Trial], Finding]]] = [
        (LIPSCHITZ, target.lipschitz, _refute_slope),
        (SUP_NORM, target.sup_norm, _refute_sup_norm),
        (SMOOTHNESS, target.smoothness, _refute_bend),
        (THIRD, target.third_derivative, _refute_third),
        (LAPLACIAN, target.laplacian, _refute_laplacian),
        (DEGREE, target.degree, _refute_degree),
    ]
    if isinstance(points := head.points, PointSet):
        numbers.append((COVERING, points.covering_bound() if points.covering_is_known else None, _refute_covering))
        numbers.append((EXACTNESS, points.degree, _refute_exactness))
    if error is not None:
        numbers.append((ERROR, error.lower, _refute_error))
    for name, constant, search in numbers:
        if constant is not None and attempted:
            announce(name)
            yield _attempt(name, float(constant), partial(search, float(constant), trial))
        elif constant is not None:
            yield Claim(name, float(constant), None, outcome="not attempted", reason="'examine' has no 'claims'")


def _attempt(name: str, constant: float | None, search: Callable[[], Finding]) -> Claim:
    """Record the result of a search, or the complaint of one that cannot be made."""
    try:
        value, refuted, reason, at = search()
    except ValueError as complaint:
        return Claim(name, constant, None, outcome="not attempted", reason=str(complaint))
    return Claim(name, constant, value, outcome="refuted" if refuted else "survived", reason=reason, at=at)


def _compare_values(head: Head, target: Target) -> Finding:
    """Compare the values with c exp(lambda) w_k f(b_k) of a core head, f(b_k) of a split head."""
    f = target(head.control_points)
    if f.shape != head.values.shape:
        return math.inf, True, f"shape {head.values.shape}, this target's is {f.shape}", None
    scale: Any = 1.0
    if head.family == "core":
        weights = None if head.points is None else nodes(head.points)[1]
        concentration = _checks.one_concentration(head.concentration, "the rule treats")
        log_peak = float(VonMisesFisher(head.dim, concentration).log_density(1.0))
        scale = math.exp(min(log_peak, 700.0)) * (np.full(len(head), 1.0 / len(head)) if weights is None else weights)
    coefficients = (f.astype(np.float64).T * scale).T  # (N,) or (N, p)
    difference = np.abs(head.values - coefficients).reshape(len(head), -1).max(axis=1)  # (N,)
    worst = int(np.argmax(difference))
    share = float(difference[worst]) / (float(np.abs(coefficients).max()) or 1.0)
    refuted = not share <= SAME[min(head.values.dtype, f.dtype)]
    reason = f"no Riemann coefficients of this target, by {share:.2g} of the largest" if refuted else ""
    return share, refuted, reason, head.control_points[worst : worst + 1].astype(np.float64)


def _refute_slope(constant: float, trial: Trial) -> Finding:
    pair = steepest(trial.target, trial.sample(), trial.target.exponent, rng=trial.rng)
    reason = f"|f(x) - f(y)| = {pair.change:.4g} at distance {pair.angle:.2g}"
    return pair.quotient, not pair.quotient <= constant * (1.0 + 1e-9), reason, np.stack([pair.x, pair.y])


def _refute_bend(constant: float, trial: Trial) -> Finding:
    arc = most_bent(trial.target, trial.sample(), trial.rng)
    reason = f"|f(x) - 2 f(c) + f(y)| = {arc.change:.4g} with c the middle of an arc of length {arc.angle:.2g}"
    return arc.quotient, not arc.quotient <= constant * (1.0 + 1e-9), reason, np.stack([arc.x, arc.y])


def _refute_third(constant: float, trial: Trial) -> Finding:
    _, f, unit, eps = trial.on_circles(ARC)
    noise = (trial.target.accuracy + 16.0 * eps) * float(lengths(f).max())
    rounding = 4.0 * math.sqrt(eps) * float(np.ptp(f, axis=(0, 1)).max()) + 64.0 * noise
    changes = differences(f, 3)
    quotient, angle = max((unit * max(change - rounding, 0.0) / arc**3, arc) for arc, change in changes)
    reason = f"a third difference over arcs of {angle:.2g} is {quotient * angle**3:.4g}"
    return quotient, not quotient <= constant * (1.0 + 1e-9), reason, None


def _refute_laplacian(constant: float, trial: Trial) -> Finding:
    """Take the Laplacians of a polynomial at random points."""
    target = trial.target
    if target.degree is None or target.remainder or target.dim > 4:
        raise ValueError("Laplacians are taken of polynomials of a stated degree on S^1 to S^4")
    derivatives = PolynomialDerivatives(target, target.dim, target.degree)
    cost = float(derivatives.evaluations(2))
    _checks.operations(cost, "a Laplacian", "state a lower degree", limit=LAPLACIANS)
    x = sphere.uniform(target.dim, min(trial.n, int(LAPLACIANS / cost)), trial.rng)
    there = derivatives(x, 2)
    sizes = lengths(np.einsum("npii->np", there.second))
    values = target(x[:100])
    noise = (target.accuracy + 100.0 * precision(values, values.dtype)) * float(lengths(there.value).max())
    noise *= 2.0 * target.dim * (target.degree + 1.0) ** 3  # 6.3, rounding
    worst = int(np.argmax(sizes))
    refuted = not sizes[worst] <= constant * (1.0 + 1e-9) + noise
    return float(sizes[worst]), refuted, "", x[worst : worst + 1]


def _refute_sup_norm(constant: float, trial: Trial) -> Finding:
    peak, values = trial.largest(), trial.target(trial.head.control_points[:100])
    refuted = not peak.lower <= constant * (1.0 + math.sqrt(precision(values, values.dtype)))
    return peak.lower, refuted, "", peak.at[None]


def _refute_covering(constant: float, trial: Trial) -> Finding:
    points: Any = trial.head.points
    hole = points.covering_interval(budget=FACETS, workers=trial.workers, rng=trial.rng)
    return hole.lower, not hole.lower <= constant * (1.0 + 1e-9), "", hole.at[None]


def _refute_exactness(constant: float, trial: Trial) -> Finding:
    points: Any = trial.head.points
    degree = int(constant)
    count = float(min(len(points) * math.comb(degree + points.dim, points.dim), 10**300))
    work = f"integrating all polynomials to degree {degree} by {len(points)} points"
    _checks.operations(count, work, "state a lower degree", limit=OPERATIONS)
    errors = points.quadrature_error(degree, by_degree=True, workers=trial.workers)
    wrong = np.flatnonzero(~(errors <= EXACT))
    if not wrong.size:
        return constant, False, f"errors up to {errors.max():.1g}", None
    first = int(wrong[0])
    return float(max(first - 1, 0)), True, f"a polynomial of degree {first} has the error {errors[first]:.2g}", None


def _refute_degree(constant: float, trial: Trial) -> Finding:
    """Look along great circles, where a polynomial of degree n is trigonometric, for a remainder beyond n."""
    target, degree = trial.target, int(constant)
    # Step 1: values at equidistant points of random circles, more than 2 n of them
    per_circle = 2 * max(16, degree + 1 + degree // 2)
    _checks.operations(float(per_circle), "points of a great circle", "state a lower degree", limit=1e6)
    x, f, unit, eps = trial.on_circles(per_circle)
    # Step 2: the root of the energy beyond each degree; beyond n it is at most that of the remainder
    coefficients = np.abs(np.fft.fft(f, axis=1)) / per_circle
    half = per_circle // 2
    energy = np.square(coefficients).sum(axis=2)  # (circles, points)
    folded = energy[:, : half + 1].copy()
    folded[:, 1:half] += energy[:, :half:-1]
    beyond = np.sqrt(np.cumsum(folded[:, ::-1], axis=1)[:, ::-1])  # of this degree and more
    worst = int(np.argmax(beyond[:, degree + 1]))
    allowed = target.remainder / unit + (target.accuracy + 16.0 * eps) * float(lengths(f).max())
    # Step 3: the least degree beyond which no circle has more than is allowed
    fits = (beyond <= allowed).all(axis=0)
    least = max(int(np.argmax(fits)) - 1, degree) if fits.any() else half
    excess = float(beyond[worst, degree + 1])
    reason = f"a great circle has {unit * excess:.2g} beyond degree {degree}, the remainder is {target.remainder:.2g}"
    return float(least), not excess <= allowed, reason, x[worst, :2]


def _refute_error(_: float, trial: Trial) -> Finding:
    """Compute an error given again at its point, and elsewhere if its upper end is finite."""
    head, target, error = trial.head, trial.target, trial.error
    assert error is not None
    again = sup_error(head, target, points=error.at[None], refine=0)
    size = float(lengths(target(error.at[None]).ravel()))
    allowance = 1e-5 * (size + again.lower)
    refuted = not error.lower - allowance <= again.lower <= error.upper + allowance
    if refuted or error.upper == math.inf:
        return again.lower, refuted, f"this head's error there is {again.lower:.4g}" if refuted else "", again.at[None]
    larger = sup_error(head, target, n=trial.n, rng=trial.rng)
    refuted = not larger.lower <= error.upper + 1e-12 * (size + larger.lower)
    return larger.lower, refuted, f"this head's error is {larger.lower:.4g}" if refuted else "", larger.at[None]
