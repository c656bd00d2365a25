"""What attention costs by polynomials of low degree, and what errors of its weights do to its outputs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from spherapprox import _checks, special
from spherapprox._softmax import log_sum_exp
from spherapprox._types import Float64

from ..records.bound import Bound, Hypothesis, over_arrays, settle
from ..theorems._degrees import log_binomial
from .lengths import between

COST_REFERENCE = "docs/theorems/8.10-attention-cost.md"
ERROR_REFERENCE = "docs/theorems/4.16-attention.md"
LARGEST_SCORE = 1e9
"""Score bounds up to it have degrees that are right to the last unit."""
MOST_COLUMNS = 10**12
_TERMS = 128
"""Terms of a tail whose first one is small enough: each is less than a third of the one before."""


@dataclass(frozen=True)
class AttentionCost:
    """What the polynomial method for attention takes.

    Parameters
    ----------
    score_bound : float
        Bound of the logits.
    degree : int
        Least degree of a polynomial that is close enough to the exponential on all logits.
    log_rank : float
        Logarithm of the number of monomials up to this degree, the rank of the matrix of weights.
    exponent : float
        The rank is n to this power: time is about n to 1 + exponent.
    subquadratic : bool
        Whether the exponent is below 1.

    Examples
    --------
    >>> from bounds import prompts
    >>> cost = prompts.attention_cost(32_768, 64, 1.0, 1e-2)
    >>> cost.degree, round(cost.exponent, 3), cost.subquadratic  # at a head size of 64 the method does not pay
    (4, 1.309, False)
    """

    score_bound: float
    degree: int
    log_rank: float
    exponent: float
    subquadratic: bool


def attention_cost(
    n: ArrayLike, dim: ArrayLike, entry_bound: ArrayLike, tolerance: ArrayLike, *, scaled: bool = True,
    basis: str = "chebyshev",
) -> AttentionCost:  # fmt: skip
    """Compute what attention among n tokens takes by a polynomial in place of the exponential.

    See docs/theorems/8.10-attention-cost.md.

    Parameters
    ----------
    n : float or array_like
        Number of tokens, at least 2; a float may be as large as floats are.
    dim : int or array_like
        Columns d of queries and keys.
    entry_bound : float or array_like
        Bound B of the absolute entries of queries, keys and values.
    tolerance : float or array_like
        Largest error of an entry of the output.
    scaled : bool, default True
        Whether logits are <q, k> / d, so that they are at most B^2; else d B^2.
    basis : {"chebyshev", "taylor"}
        Which series is cut off.

    Returns
    -------
    AttentionCost
        Of the worst case over all such inputs; an array of them for array arguments.

    Raises
    ------
    TypeError, ValueError
        For arguments out of their range, or logits above 1e9.

    Notes
    -----
    Lower bounds on time (the strong exponential time hypothesis) hold with constants that nobody knows: `subquadratic`
    says what this method does, not what is possible. The factor 1/sqrt(d) of heads in use lies between the two.

    Examples
    --------
    >>> from bounds import prompts
    >>> [round(prompts.attention_cost(10**6, 14, 1.0, 1e-6, scaled=s).exponent, 4) for s in (True, False)]
    [0.9175, 2.0413]
    """
    scaled, basis = _checks.flag(scaled, "scaled"), _checks.choice(basis, "basis", tuple(_LOG_TERMS))

    @over_arrays
    def entry(count: object, d: object, b: object, tol: object) -> AttentionCost:
        tokens = _checks.real(count, "n", minimum=2.0)
        columns = _checks.integer(d, "dim", minimum=1, maximum=MOST_COLUMNS)
        entry, error = between(b, "entry_bound"), between(tol, "tolerance")
        # 8.10: the logits are at most b = B^2 or d B^2
        score = entry * entry * (1 if scaled else columns)
        if score > LARGEST_SCORE:
            raise ValueError(f"'entry_bound' must bound logits by at most {LARGEST_SCORE:g}, got {entry:g}: {score:g}")
        # 8.10: eps = min(tol / (2 B), 1/2), g, log r = log C(d+g, g) and beta = log r/log n
        degree = least_degree(score, min(error / (2.0 * entry), 0.5), basis)
        log_rank = log_binomial(float(columns), float(degree))
        exponent = log_rank / math.log(tokens)
        return AttentionCost(score, degree, log_rank, exponent=exponent, subquadratic=exponent < 1.0)

    return entry(n, dim, entry_bound, tolerance)  # type: ignore[no-any-return]


def least_degree(score: float, eps: float, basis: str) -> int:
    """Return the least degree of a polynomial within a relative eps of exp on [-score, score], from the cut-off series.

    Examples
    --------
    >>> least_degree(4.0, 1e-4, "taylor"), least_degree(4.0, 1e-4, "chebyshev")
    (19, 13)
    """
    limit, log_terms = math.log(eps) - score, _LOG_TERMS[basis]

    def fits(degree: int) -> bool:
        # 8.10: e^b tau_g <= eps
        logs = log_terms(float(degree) + np.arange(1.0, _TERMS + 1.0), score)
        return float(logs[0]) <= limit and float(log_sum_exp(logs)) <= limit

    if fits(0):
        return 0
    low, high = 0, 1
    while not fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


_LOG_TERMS: dict[str, Callable[[Float64, float], Float64]] = {
    "chebyshev": lambda k, score: np.asarray(math.log(2.0) + special.log_iv(k, score)),
    "taylor": lambda k, score: np.asarray(k * math.log(score) - gammaln(k + 1.0)),
}


def attention_error(
    eps: ArrayLike, *, theorem: str = "relative", value_bound: ArrayLike = 1.0, smallest_mean: ArrayLike | None = None
) -> Bound:
    """Bound what errors of the weights of attention do to its outputs, in the maximum norm.

    Parameters
    ----------
    eps : float or array_like
        Error of the weights before they are divided by their sum.
    theorem : {"relative", "additive"}
        Whether each weight is right to a factor from 1 - eps to 1 + eps, or to eps itself.
    value_bound : float or array_like, default 1.0
        Largest absolute value.
    smallest_mean : float or array_like, optional
        Of "additive", which needs it: the least mean of a query's weights.

    Returns
    -------
    Bound
        On the quantity "sup error" (docs/theorems/4.16-attention.md); or an array of them, for array arguments. inf
        where eps is not below 1, or the smallest mean.

    Raises
    ------
    TypeError, ValueError
        For an unknown theorem, an argument that is missing or not of the theorem, or one out of its range.

    Examples
    --------
    >>> from bounds import prompts
    >>> round(prompts.attention_error(0.6).value, 12)  # 2 eps / (1 + sqrt(1 - eps^2))
    0.666666666667
    >>> round(prompts.attention_error(0.1, theorem="additive", smallest_mean=0.5).value, 12)
    0.5
    """
    name = _checks.choice(theorem, "theorem", ("relative", "additive"))
    if name == "relative":
        _checks.left_out(smallest_mean, "smallest_mean", 'for theorem="relative"')
    else:
        _checks.given(smallest_mean, "smallest_mean", ' for theorem="additive"')

    @over_arrays
    def entry(e: object, v: object, m: object) -> Bound:
        error, largest = between(e, "eps"), between(v, "value_bound")
        log = math.log(2.0) + math.log(error) + math.log(largest)
        if name == "relative":
            # 4.16 (relative): 2 V eps/(1 + sqrt(1 - eps^2))
            small = Hypothesis("eps < 1", error < 1.0)
            divisor = 1.0 + math.sqrt((1.0 - error) * (1.0 + error)) if small.holds else 1.0
        else:
            # 4.16 (additive): 2 V eta/(D - eta)
            mean = between(m, "smallest_mean")
            small = Hypothesis("eps < smallest_mean", error < mean)
            divisor = mean - error if small.holds else 1.0
        return settle(Bound(
            "sup error", log - math.log(divisor), "upper", theorem=name, reference=ERROR_REFERENCE, hypotheses=(small,),
        ))  # fmt: skip

    return entry(eps, value_bound, smallest_mean)  # type: ignore[no-any-return]
