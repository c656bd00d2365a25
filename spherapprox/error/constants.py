"""Proven constants of a head: its sup norm, its Lipschitz constant and its largest second derivative."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _checks
from .._loading import load
from .._types import Float64
from ..summation.evaluation import LARGEST_CONCENTRATION
from ..target import Target
from .measured import sup_error
from .records import Certificate, ErrorInterval, Proof
from .search import largest_error, sample

_POINTS, _REFINED = 2000, 16
"""Points of the sample, and how many of them are followed to local maxima: the proof finds what they miss."""


@dataclass(frozen=True, eq=False)
class HeadConstants:
    """Enclose three constants of a head between values that it attains and proven bounds.

    Parameters
    ----------
    sup_norm : ErrorInterval
        ``sup_x |h(x)|`` in the Euclidean norm.
    lipschitz : ErrorInterval
        ``sup_x ||Dh(x)||``, the largest singular value: the least Lipschitz constant for angles.
    smoothness : ErrorInterval
        The largest ``|(h o gamma)''|`` over geodesics of unit speed, as `Target.smoothness`.
    """

    sup_norm: ErrorInterval
    lipschitz: ErrorInterval
    smoothness: ErrorInterval

    def __repr__(self) -> str:
        from tabulate import tabulate

        intervals = (("sup_norm", self.sup_norm), ("lipschitz", self.lipschitz), ("smoothness", self.smoothness))
        rows = [(name, _outward(interval.lower, -1.0), _outward(interval.upper, 1.0)) for name, interval in intervals]
        return str(tabulate(rows, ("constant", "at least", "at most"), disable_numparse=True))


def _outward(value: float, sign: float) -> str:
    """Write a number in six digits that are no smaller, or for the sign -1 no larger."""
    text = f"{value:.6g}"
    return text if sign * (float(text) - value) >= 0.0 else f"{value * (1.0 + sign * 5e-6):.6g}"


def head_constants(
    head: Any,
    *,
    slack: float = 0.05,
    max_evaluations: float = 2e7,
    workers: int | None = None,
    rng: np.random.Generator | int | None = 0,
    progress: bool = False,
) -> HeadConstants:
    """Prove a head's sup norm, Lipschitz constant and largest second derivative, each from below and above.

    Parameters
    ----------
    head : CoreHead, SplitHead or ClassicalHead
        On S^m with values in R or R^p; of a classical head the function of its split head.
    slack : float, default 0.05
        The proven bounds exceed the values found by this share at most; from 1e-4 to 16.
    max_evaluations : float, default 2e7
        Cells that may be tested for each constant, at least 1000. Where they do not suffice a larger slack is tried,
        and the interval's `reason` says so. In high dimensions m no number suffices: from m = 5 on the bounds are
        mostly those of the triangle inequality.
    workers : int or None, default None
        Threads, as in `spherapprox.evaluate`; the result is the same for any number.
    rng : None, int or numpy.random.Generator, default 0
        Rotates the sample and chooses directions.
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    HeadConstants
        Each constant with `lower`, a value that is taken at the point `at` up to roundings, and `upper`, proven, with
        roundings, for the function that the head's stored numbers define; the slope is per radian.

    Raises
    ------
    TypeError
        If `head` is no head of this library.
    ValueError
        If the head has several concentrations, or an option is out of its range.

    Notes
    -----
    For vector values on S^m, m >= 2, the bound of the second derivative is one of ``max_u (sum_i |A_i u|^2)^(1/2)``,
    A_i the second derivatives of the components: up to ``min(m, p)**0.5`` times the largest |(h o gamma)''|.

    References
    ----------
    docs/theorems/6.6-constants-of-heads.md.

    Examples
    --------
    >>> from spherapprox import EqualMeasurePartition, SplitHead, targets
    >>> from spherapprox.error import head_constants
    >>> head = SplitHead.from_target(targets.zonal_harmonic(2, 3), EqualMeasurePartition(2, 100), 20.0)
    >>> interval = head_constants(head, slack=0.1).lipschitz
    >>> print(round(interval.lower, 2), interval.upper <= 1.1 * interval.lower)
    1.61 True
    """
    if not hasattr(head, "family"):
        raise TypeError(f"'head' must be a head, a CoreHead, SplitHead or ClassicalHead, got {type(head).__name__}")
    slack = _checks.real(slack, "slack", minimum=1e-4, maximum=16.0)
    max_evaluations = _checks.real(max_evaluations, "max_evaluations", minimum=1000.0)
    concentration = _checks.one_concentration(head.concentration, "the proof treats")
    _checks.concentration(concentration, maximum=LARGEST_CONCENTRATION[np.dtype(np.float64)])
    progress, workers, generator = (
        _checks.flag(progress, "progress"), _checks.workers(workers), _checks.generator(rng)
    )  # fmt: skip
    shape, pole = head.values.shape[1:], head.control_points[:1]
    zero = Target(lambda x: np.zeros((len(x), *shape)), head.dim, degree=0, sup_norm=0.0, axes=pole)
    proof = Proof(slack, max_evaluations, progress=progress)
    sup_norm = sup_error(head, zero, n=_POINTS, workers=workers, rng=generator, certified=proof)
    load(f"{__package__}.certified")
    from .certified import Budget

    budget = Budget(slack, max_evaluations, workers, progress=progress, checkpoint=None)
    start = np.concatenate([sample(head.dim, _POINTS, generator), head.control_points[: _POINTS // 2]])
    lipschitz, smoothness = (_enclose_derivative(head, order, start, rng=generator, budget=budget) for order in (1, 2))
    return HeadConstants(sup_norm, lipschitz, smoothness)


def _enclose_derivative(
    head: Any, order: int, start: Float64, *, rng: np.random.Generator, budget: Any
) -> ErrorInterval:
    """Enclose the largest derivative of order 1 or 2, from points (n, dim+1)."""
    from .certified import prove_derivative
    from .certified.derivatives import Derivative

    problem = Derivative.of(head, order)
    if problem.ceiling == 0.0:
        return ErrorInterval(0.0, 0.0, start[0].copy(), certificate=Certificate(0.0, "", 0.0))
    interval = largest_error(problem.sizes, start, _REFINED, rng=rng, progress=budget.progress)
    interval = prove_derivative(problem, interval, budget)
    if order == 1 or problem.values.shape[1] == 1 or head.dim == 1:
        return interval
    return _raise_lower(problem.forms(interval.at[None, :])[0], problem.unit, interval, slack=budget.slack)


def _raise_lower(forms: Float64, unit: float, interval: ErrorInterval, *, slack: float) -> ErrorInterval:
    """Replace the lower end by a second derivative along a geodesic, from those of components (p, m, m)."""
    u = np.linalg.svd(forms.reshape(-1, forms.shape[1]))[2][0]
    for _ in range(30):  # each step takes the best direction for the last value's
        value = np.einsum("pij,i,j->p", forms, u, u)
        sizes, vectors = np.linalg.eigh(np.einsum("p,pij->ij", value, forms))
        u = vectors[:, np.argmax(np.abs(sizes))]
    lower = float(np.linalg.norm(np.einsum("pij,i,j->p", forms, u, u))) * unit
    assert interval.certificate is not None
    excess = interval.upper / lower - 1.0 if lower > 0.0 else math.inf
    reason = interval.reason or "the bound for vector values is not sharp: docs/theorems/6.6-constants-of-heads.md"
    certificate = replace(interval.certificate, slack=excess, reason=reason if excess > slack else "")
    return replace(interval, lower=lower, certificate=certificate)
