"""Sums whose control points have concentrations of their own; quotients, by bands of concentrations of about one size.

A plain sum is one problem: its exponents ``lambda_k |x - b_k|^2 / 2`` keep their digits at any lambda_k. The logits
``lambda_k - lambda_k |x - b_k|^2 / 2`` of a quotient are relative to a largest lambda; those of small lambda_k would
lose theirs beside a huge one, so that each band is a quotient by itself, and the bands are averaged by their masses.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from .._types import Bools, Float64, Floats
from . import scaling
from .plan import ALL_PAIRS, Plan, Wish, joint
from .problem import UNSCALED, Problem

SMALL, OCTAVES = 64.0, 2  # concentrations up to the first are in one band; beyond, a band is so many octaves wide
_REASON = "the control points have concentrations of their own"
_NEGLIGIBLE = 2200.0  # what a logarithm of a mass may be below the whole one's to matter beside values of any size


class Band(NamedTuple):
    """The problem over the control points of a band, whose largest concentration is `top`: its logits are below."""

    problem: Problem
    top: float


def sums(problem: Problem, concentrations: Float64, wish: Wish, log: bool) -> tuple[Float64, Plan]:
    """Return sums (m, p) or quotients, or logarithms, for concentrations (n,) in place of the rate; their plan."""
    if wish.method not in ("auto", *ALL_PAIRS):
        raise ValueError(
            f"'method' {wish.method!r} cannot be used here: {_REASON}, {concentrations.min():g} to "
            f'{concentrations.max():g}; method="auto" takes one that can'
        )
    wish = wish._replace(method="dense") if wish.method == "auto" else wish
    if not problem.normalize:
        problem_of_all = _band(problem, concentrations, np.full(len(concentrations), True)).problem
        answer, record = (scaling.logarithms if log else scaling.sums)(problem_of_all, wish)
        return answer, replace(record, reason=_REASON)
    octaves = np.frexp(np.maximum(concentrations / SMALL, 0.5))[1] // OCTAVES  # (n,)
    members = [octaves == octave for octave in np.unique(octaves)]
    bands = [_band(problem, concentrations, band) for band in members]
    return (_logarithms if log else quotients)(bands, wish)


def _band(problem: Problem, concentrations: Float64, members: Bools) -> Band:
    """Return the band of some control points, its exponents relative to its largest concentration."""
    assert problem.values is not None
    rates, part = concentrations[members], problem.among(members, problem.values[members])
    top = float(rates.max())
    if top == float(rates.min()):
        return Band(part._replace(rate=top / 2.0), top)
    # 4.8, concentrations of their own
    offset = 2.0 * ((top - rates) / top) if problem.normalize else None
    return Band(part._replace(rate=top / 2.0, stretch=rates / top, offset=offset), top)


def quotients(bands: list[Band], wish: Wish) -> tuple[Float64, Plan]:
    """Return the averages (m, p) of all bands by their masses, and their plan."""
    fractions, plans, masses = [], [], []  # masses: the logarithms of denominators, of exponentials of logits
    for band in bands:
        own, state, record = scaling.with_denominators(band.problem, wish)
        if len(bands) == 1:
            return own, replace(record, reason=_REASON)
        assert state is not None
        fractions.append(own)
        plans.append(record)
        masses.append(np.log(state.denominator) - band.problem.rate * state.shift + band.top)
    total = np.logaddexp.reduce(masses, axis=0)  # (m,)
    answer = np.zeros_like(fractions[0])
    for mass, own in zip(masses, fractions, strict=True):
        answer += scaling.times_exp(own, mass - total, UNSCALED)
    return answer, _joint(bands, plans, np.stack(masses) - total)


def _logarithms(bands: list[Band], wish: Wish) -> tuple[Float64, Plan]:
    """Return the logarithms (m, p) of the quotients over all bands, and their plan."""
    logs, plans = [], []
    for band in bands:
        values = band.problem.values
        assert values is not None
        extended: Floats = np.concatenate([values, np.ones((len(values), 1), values.dtype)], axis=1)
        logarithms, record = scaling.logarithms(band.problem._replace(values=extended, normalize=False), wish)
        logs.append(logarithms + (band.top if len(bands) > 1 else 0.0))
        plans.append(record)
    total = reduce(np.logaddexp, logs)  # (m, p+1)
    record = _joint(bands, plans, np.stack([log[:, -1] for log in logs]) - total[:, -1])
    return total[:, :-1] - total[:, -1:], record


def _joint(bands: list[Band], plans: list[Plan], shares: Float64) -> Plan:
    """Return the plan of all bands, from the logarithms (bands, m) of their shares in the mass."""
    matter = (shares > -_NEGLIGIBLE).any(axis=1)  # (bands,)
    # 4.8, concentrations of their own: the quotients, the masses and their sum
    tops, errors = np.array([band.top for band in bands]), np.array([record.rtol for record in plans])
    worst = 3.0 * float((errors + 2.0**-53 * (8.0 * tops + 2.0 * _NEGLIGIBLE))[matter].max())
    reason = _REASON + (f", of {len(bands)} sizes" if len(bands) > 1 else "")
    kept = 8.0 * len(bands[0].problem.x) * (len(bands) + 2.0) * (bands[0].problem.p + 2.0)
    return replace(joint(plans, kept=kept), reason=reason, rtol=worst, atol=sum(record.atol for record in plans))
