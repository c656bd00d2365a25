"""What is asked of dot-product attention beside its arrays, and what its plan says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _checks
from ..._types import Float64
from ..evaluation import checked_wish
from ..plan import Wish

CHOLESKY, LIFTED = "cholesky", "lifted"


@dataclass(frozen=True)
class AttentionSolver:
    """How attention is computed: the method and its options.

    Parameters
    ----------
    method : {"auto", "dense", "lifted", "truncated", "harmonic", "lowrank", "cholesky"}
        "dense" takes all pairs that a mask leaves visible, tile by tile; no other knows of masks. The others are those
        of `spherapprox.evaluate` for rows that become unit rows by two more coordinates (the lift): "lifted" is its
        "dense", which takes all pairs, too, and of few columns some 0.7 times as long as "dense" here, with errors that
        grow with the longest rows; "harmonic" is for s = 1; "lowrank" takes polynomials of s variables, for small
        concentrations and few columns: not for heads of 64. "cholesky" takes a factor of low rank that follows the
        data, with an error for each query that is proven afterwards. "auto" takes the cheapest, of all but the last,
        for rows of at most 16 columns without a mask, else "dense".
    rtol : float or None, default 1e-14
        As that of `spherapprox.evaluate`: what may be left out, relative to averages of absolute values. With
        "cholesky", what a query's error may be relative to the largest absolute value: queries without this certificate
        are computed by all pairs. "dense" leaves out nothing, and None asks for that.
    rank : int or None, default None
        Largest rank, of "cholesky" alone; None for one that costs as much as all pairs do.
    workers : int or None, default None
        As that of `spherapprox.evaluate`. The result is the same for any number.

    Raises
    ------
    TypeError, ValueError
        If the method is none of these or its options do not fit it.

    Examples
    --------
    >>> from spherapprox.summation import AttentionSolver
    >>> AttentionSolver("cholesky", rtol=1e-3).method
    'cholesky'
    """

    method: str = "auto"
    rtol: float | None = 1e-14
    rank: int | None = None
    workers: int | None = None

    def __post_init__(self) -> None:
        wish_of(self)


def wish_of(solver: AttentionSolver) -> Wish:
    """Return the checked options of a solver as sums know them."""
    if solver.rank is not None:
        _checks.integer(solver.rank, "rank", minimum=1)
    wish = checked_wish(solver.method, solver.rtol, solver.workers, extra=(LIFTED, CHOLESKY))
    if solver.method != CHOLESKY:
        _checks.left_out(solver.rank, "rank", f"for method={solver.method!r}", remedy='it is of "cholesky"')
    return wish


def solver_of(argument: object) -> AttentionSolver:
    """Return the solver that an argument stands for: None, the name of a method, or itself."""
    if argument is None or isinstance(argument, str):
        return AttentionSolver() if argument is None else AttentionSolver(argument)
    remedy = 'or take the name of a method, as in solver="dense"'
    return _checks.instance(argument, "solver", AttentionSolver, remedy=remedy)


@dataclass(frozen=True, eq=False)
class AttentionPlan:
    """What computed attention, bounds of its errors, and the logarithms of its sums: of all heads together.

    Parameters
    ----------
    error : ndarray, shape (..., T)
        A bound of the largest error of the outputs of each query, ``|output - exact|``, with all roundings: the worst
        case, usually 10 to 1000 times what happens.
    log_sum_exp : ndarray, shape (..., T)
        The natural logarithm of ``sum_j exp(scale <q, k_j> + mask_j)`` of each query, in float64; -inf where the mask
        hides all keys.
    log_sum_exp_error : ndarray, shape (..., T)
        A bound of its error, with all roundings.
    concentration : ndarray, shape (...)
        ``scale R_q R_k`` of each head: no logit is larger in absolute value, once keys are relative to a centre. R_q
        is the length of the longest query, R_k that of the longest key.
    heads : ndarray of Plan, shape (...)
        The method that computed each head, why, and the prices compared. `rtol` and `atol` are for the sums over the
        lifted rows, or nan for "dense"; `error` has these in it. For "cholesky" `rtol` is relative to the largest of
        the absolute values.

    Examples
    --------
    >>> from spherapprox.summation import explain_attention
    >>> output, plan = explain_attention([[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [[0.0], [1.0]])
    >>> plan.method, plan.error.shape, bool(plan.error[0] < 1e-13)
    ('dense', (1,), True)
    >>> plan.log_sum_exp.round(12)  # log(exp(1 / sqrt(2)) + 1)
    array([1.107940...])
    """

    error: Float64
    log_sum_exp: Float64
    log_sum_exp_error: Float64
    concentration: Float64
    heads: NDArray[Any]

    @property
    def method(self) -> str:
        """The method, or the names of several, each once."""
        return ", ".join(sorted({plan.method for plan in self.heads.flat}))

    @property
    def reason(self) -> str:
        """Why it was taken: the reasons of all heads, each once."""
        return "; ".join(dict.fromkeys(plan.reason for plan in self.heads.flat))

    def __repr__(self) -> str:
        return f"AttentionPlan({self.method!r}, {self.reason!r}, error to {np.max(self.error):.3g})"
