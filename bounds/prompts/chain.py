"""Errors that add up in a chain of thought, whose outputs are the next inputs."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from spherapprox import _checks

from ..records.bound import Bound, Hypothesis, over_arrays, settle
from .lengths import between

REFERENCE = "docs/theorems/9.3-chain-of-thought.md"


def chain_error(
    eps: ArrayLike, steps: ArrayLike, *, lipschitz: ArrayLike = 1.0, snap_radius: ArrayLike | None = None,
) -> Bound:  # fmt: skip
    """Bound the error of an executor whose outputs are its next inputs, after some steps.

    See docs/theorems/9.3-chain-of-thought.md; the quantity is "executor error".

    Parameters
    ----------
    eps : float or array_like
        Error of one step.
    steps : int or array_like
        Number of steps.
    lipschitz : float or array_like, default 1.0
        Lipschitz constant of the network in the maximum norm: at most the product of its `row_sums`.
    snap_radius : float or array_like, optional
        A radius around each exact intermediate result in which the network is constant: then errors do not add up.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from bounds import prompts
    >>> print(prompts.chain_error(1e-3, 100, lipschitz=1.01))
    chain: executor error <= 0.1705  [docs/theorems/9.3-chain-of-thought.md]
    >>> print(prompts.chain_error(0.05, 2000, lipschitz=4.0, snap_radius=0.25))
    chain-snapped: executor error <= 0.05  [docs/theorems/9.3-chain-of-thought.md]
    """
    inside = Hypothesis("inputs of all steps within the executor's radius, errors included", True)

    @over_arrays
    def entry(e: object, t: object, slope: object, radius: object) -> Bound:
        error, count = between(e, "eps"), _checks.integer(t, "steps", minimum=1)
        rate = _checks.real(slope, "lipschitz", minimum=0.0)
        if radius is None:
            # 9.3 (chain)
            log = math.log(error) + _log_geometric(rate, count)
            return Bound("executor error", log, "upper", theorem="chain", reference=REFERENCE, hypotheses=(inside,))
        # 9.3 (snapped)
        near = _checks.real(radius, "snap_radius", above=0.0)
        conditions = inside, Hypothesis(f"eps <= {near:g}, the radius of constancy", error <= near)
        return settle(Bound(
            "executor error", math.log(error), "upper", theorem="chain-snapped", reference=REFERENCE,
            hypotheses=conditions,
        ))  # fmt: skip

    return entry(eps, steps, lipschitz, snap_radius)  # type: ignore[no-any-return]


def _log_geometric(rate: float, count: int) -> float:
    """Return log(1 + rate + ... + rate^(count - 1)) (9.3)."""
    if rate in (0.0, 1.0) or count == 1:
        return math.log(count) if rate == 1.0 else 0.0
    step = math.log(rate)
    top = max(count * step, 0.0) - max(step, 0.0)
    return top + math.log(-math.expm1(-abs(count * step))) - math.log(-math.expm1(-abs(step)))
