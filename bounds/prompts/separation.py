"""How far attention keeps the contexts of a token apart: Boltzmann operators, separating directions, both together."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from spherapprox import _checks
from spherapprox._scalars.gamma import log_gamma_half_ratio

from ..records.bound import Bound, Hypothesis, over_arrays, settle
from ..records.problem import SMALLEST, WIDEST
from .lengths import between

REFERENCE = "docs/theorems/8.9-contextual-mapping.md"
BOLTZMANN = ("corrected", "sharp")
CONTEXT = ("corrected", "sharp", "printed")
RATIO = ("sharp", "printed")
LARGEST = 10**9
GAP = 1.5
"""The distance of different scores from which the sharper bounds hold."""
ROOM = 1e-9
"""The share of a gap that may lack, of the room that the constants of 8.9 leave: gaps are rounded."""
SMALL = 1e-8
"""A share of the sphere below which a band's is its width times the measure of the equator, to the last digit."""


def boltzmann_separation(a: ArrayLike, b: ArrayLike, *, theorem: str = "corrected") -> Bound:
    """Bound the difference of the Boltzmann operators of two sets of numbers.

    Parameters
    ----------
    a, b : array_like, shape (n,)
        The numbers, n >= 2, in any order, up to 1e100 in size.
    theorem : str, default "corrected"
        ``"corrected"``: ``log(n)^2 exp(-(c - min(a_i, b_i)))``, with the largest number c of all and the first place i
        at which the descending vectors differ. ``"sharp"``: ``F x exp(-x)`` with x = c - max(a_i, b_i), and
        ``(1 - 2 r) / (1 - r) abs(a_1 - b_1)`` for i = 1, with r = exp(-gap), the least distance of two different
        numbers, and F = (1 - 4 r + r^2) / (1 + r^3) (1 - r / (2 (1 - r))): 0.133 for a gap of 3/2, 0.44 for 2, 0.92 for
        4. The difference is at most ``x exp(-x) / (1 - r)^2`` and ``abs(a_1 - b_1) / (1 - r)``.

    Returns
    -------
    Bound
        On the quantity "context separation", below `spherapprox.prompts.contextual.boltzmann`'s difference. It holds if
        any two different numbers, of one vector or both, are 4 log(n) apart, or, for "sharp", 3/2; no vector has one
        twice, and the sets differ.

    Raises
    ------
    TypeError, ValueError

    References
    ----------
    docs/theorems/8.9-contextual-mapping.md; Hu et al. (2024), arXiv:2411.16525, Lemma C.9.

    Examples
    --------
    >>> from bounds import prompts
    >>> from spherapprox.prompts.contextual import boltzmann
    >>> a, b = [9.0, 4.5, 0.0], [9.0, 0.0, -4.5]
    >>> found = [prompts.boltzmann_separation(a, b, theorem=name).value for name in ("corrected", "sharp")]
    >>> print(*(f"{value:.2g}" for value in (*found, abs(boltzmann(a) - boltzmann(b)))))
    0.00015 0.048 0.049
    """
    name = _checks.choice(theorem, "theorem", BOLTZMANN)
    first, second = _descending(a, "a"), _descending(b, "b")
    n = len(first)
    if len(second) != n:
        raise ValueError(f"'a' and 'b' must have one length, got {n} and {len(second)}")
    union = sorted({*first, *second})
    gap = min((y - x for x, y in pairwise(union)), default=math.inf)
    log, conditions = -math.inf, _hypotheses(first, second, gap=gap, theorem=name)
    if all(condition.holds for condition in conditions):
        # 8.9 (boltzmann): x = m - h for i >= 2, |a_1 - b_1| for i = 1, r = e^-delta, and the last formula
        place = next(i for i in range(n) if first[i] != second[i])
        top, (low, high) = max(first[0], second[0]), sorted((first[place], second[place]))
        r = math.exp(-gap)
        if name == "corrected":
            log = 2.0 * math.log(math.log(n)) - (top - low)
        elif place == 0:
            log = math.log1p(-r / (1.0 - r)) + math.log(high - low)
        else:
            factor = (1.0 - 4.0 * r + r * r) / (1.0 + r**3) * (1.0 - 0.5 * r / (1.0 - r))
            log = math.log(factor) + math.log(top - high) - (top - high)
    return settle(Bound("context separation", log, "lower", theorem=name, reference=REFERENCE, hypotheses=conditions))


def _descending(value: ArrayLike, name: str) -> list[float]:
    """Return numbers in descending order."""
    array = _checks.floating(_checks.detached(value), name, ("n",)).astype(np.float64)
    _checks.reals(array, name, minimum=-WIDEST, maximum=WIDEST)
    if len(array) < 2:
        raise ValueError(f"'{name}' must hold at least 2 numbers, got {len(array)}")
    return [float(number) for number in np.sort(array)[::-1]]


def _hypotheses(a: list[float], b: list[float], gap: float, theorem: str) -> tuple[Hypothesis, ...]:
    """Return the conditions on two descending vectors and their gap (8.9, boltzmann)."""
    n = len(a)
    words, least = ("3/2", GAP) if theorem == "sharp" else ("4 log(n)", 4.0 * math.log(n))
    return (
        Hypothesis("different sets", {*a} != {*b}),
        Hypothesis("no number twice in a vector", len({*a}) == len({*b}) == n),
        Hypothesis(f"different numbers {words} apart", gap >= least * (1.0 - ROOM)),
    )


def context_separation(
    vocabulary_size: ArrayLike, length: ArrayLike, *, token_dim: ArrayLike, separation: ArrayLike,
    smallest_norm: ArrayLike, largest_norm: ArrayLike, theorem: str = "corrected",
) -> Bound:  # fmt: skip
    """Bound by how much the best attention head tells the contexts of tokens apart, for the worst vocabulary.

    Some head of any given rank has outputs ``x + attention`` that are this far apart, for every two tokens that differ
    or stand in sequences with different sets of tokens. The bound is of no use as a number (10^-9462 for four tokens):
    `spherapprox.prompts.contextual.context_separation` measures what the weights at hand do.

    Parameters
    ----------
    vocabulary_size : int or array_like
        Number V of tokens.
    length : int or array_like
        Tokens of a sequence, 2 to V, all different; "sharp" does not depend on it.
    token_dim : int or array_like
        Numbers d of a token.
    separation : float or array_like
        The least distance of two tokens.
    smallest_norm, largest_norm : float or array_like
        The least and the largest length of a token.
    theorem : str, default "corrected"
        ``"corrected"``: Lemma 2.2 of Hu et al. with what its proof gives; ``"sharp"``: with scores that are 3/2 apart,
        not 4 log(n), and the best ratio of a separating direction that a random one proves; ``"printed"``: the lemma,
        which holds with a factor `separation` only, and claims more than its proof gives for small vocabularies.

    Returns
    -------
    Bound
        On the quantity "context separation", the largest score among its constants; or an array of them, for array
        arguments.

    Raises
    ------
    TypeError, ValueError

    References
    ----------
    docs/theorems/8.9-contextual-mapping.md; Hu et al. (2024), arXiv:2411.16525, Lemma 2.2.

    Examples
    --------
    >>> from bounds import prompts
    >>> tokens = {"token_dim": 3, "separation": 0.5, "smallest_norm": 1.0, "largest_norm": 3.0}
    >>> print(prompts.context_separation(9, 3, **tokens))
    corrected: context separation >= 10^-809423.93  [docs/theorems/8.9-contextual-mapping.md]
    """
    name = _checks.choice(theorem, "theorem", CONTEXT)

    @over_arrays
    def entry(v: object, n: object, d: object, e: object, low: object, high: object) -> Bound:
        size = _checks.integer(v, "vocabulary_size", minimum=2, maximum=LARGEST)
        tokens = _checks.integer(n, "length", minimum=2, maximum=size)
        dim = _checks.integer(d, "token_dim", minimum=1, maximum=LARGEST)
        largest = between(high, "largest_norm")
        smallest = _checks.real(low, "smallest_norm", minimum=SMALLEST, maximum=largest)
        apart = _checks.real(e, "separation", minimum=SMALLEST, maximum=2.0 * largest)
        if name == "printed":
            # Hu et al., Lemma 2.2
            log = -5.0 * float(size) ** 4 * dim * (largest / smallest) * largest * math.log(tokens) / apart
            return Bound("context separation", log, "lower", theorem=name, reference=REFERENCE)
        # 8.9 (direction): t of V + 1 points, or the smaller one of Hu et al., Lemma D.1
        ratio = (_sharp_ratio if name == "sharp" else _printed_ratio)(size + 1, dim)
        # 8.9 (rank): c at sigma = 0, G = c Gamma^2, the log of eps/16 e^(-2G), or of eps/4 (log n)^2 e^(-2G)/G
        gap = GAP if name == "sharp" else 4.0 * math.log(tokens)
        factor = gap / (ratio * apart) / (ratio * smallest)
        score = factor * largest**2
        log = math.log(apart / 16.0) - 2.0 * score
        if name == "corrected":
            log = math.log(apart / 4.0) + 2.0 * math.log(math.log(tokens)) - 2.0 * score - math.log(score)
        different = Hypothesis("tokens of a sequence are different, none is 0", True)
        constants = ("score", score), ("ratio", ratio)
        return Bound(
            "context separation", log, "lower", theorem=name, reference=REFERENCE, hypotheses=(different,),
            constants=constants,
        )  # fmt: skip

    sizes = vocabulary_size, length, token_dim
    return entry(*sizes, separation, smallest_norm, largest_norm)  # type: ignore[no-any-return]


def separating_ratio(n: ArrayLike, dim: ArrayLike, theorem: str = "sharp") -> float:
    """Return a ratio in which some direction keeps any n points of R^dim apart.

    Parameters
    ----------
    n : int or array_like
        Number of points, 2 to 1e9.
    dim : int or array_like
        Dimension d, 1 to 1e9.
    theorem : str, default "sharp"
        ``"sharp"``: the t with I_{t^2}(1/2, (d - 1)/2) = 2 / (n (n - 1)), below which a random direction fails with a
        probability below 1; ``"printed"``: ``sqrt(8 / (pi d)) / n^2``, smaller.

    Returns
    -------
    float or ndarray
        The t for which, whatever the points, a unit vector u has ``abs(u @ (x - y)) >= t * norm(x - y)`` for all of
        them; right to 1e-14.

    Raises
    ------
    TypeError, ValueError

    References
    ----------
    docs/theorems/8.9-contextual-mapping.md; Hu et al. (2024), arXiv:2411.16525, Lemma D.1.

    Examples
    --------
    >>> from bounds import prompts
    >>> print(f"{prompts.separating_ratio(10, 3):.6f} {prompts.separating_ratio(10, 3, 'printed'):.6f}")
    0.022222 0.009213
    """
    name = _checks.choice(theorem, "theorem", RATIO)

    @over_arrays
    def entry(n: object, d: object) -> float:
        count = _checks.integer(n, "n", minimum=2, maximum=LARGEST)
        columns = _checks.integer(d, "dim", minimum=1, maximum=LARGEST)
        return (_sharp_ratio if name == "sharp" else _printed_ratio)(count, columns)

    return entry(n, dim)  # type: ignore[no-any-return]


def _printed_ratio(count: int, columns: int) -> float:
    # Hu et al., Lemma D.1
    return math.sqrt(8.0 / (math.pi * columns)) / count**2


def _sharp_ratio(count: int, columns: int) -> float:
    if columns == 1 or count == 2:
        return 1.0
    # 8.9 (direction): I_{t^2}(1/2, (d-1)/2) = 2/(n (n-1))
    share, half = 2.0 / (count * (count - 1)), 0.5 * (columns - 1)
    if share > SMALL:
        return math.sqrt(betaincinv(0.5, half, share))
    # the band's measure is 2 t / B(1/2, (d-1)/2) but for a share of t^2
    return 0.5 * share * math.sqrt(math.pi) * math.exp(-log_gamma_half_ratio(half))
