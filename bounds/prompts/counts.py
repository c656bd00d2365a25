"""What virtual and hard tokens can make a model generate: numbers of completions and maps, and what they take."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from spherapprox import _checks
from spherapprox.prompts.prefix.programs.virtual import least_gap

from ..records.bound import Bound, Hypothesis, over_arrays
from ..records.problem import WIDEST
from .lengths import between

REFERENCE = "docs/theorems/8.7-virtual-tokens.md"
MOST = 10**9
"""The largest count that is taken."""


def completions(vocabulary: ArrayLike, length: ArrayLike, *, tokens: ArrayLike = 1, soft: bool = True) -> Bound:
    """Bound how many sequences of symbols a deterministic model can be made to generate by its first tokens.

    Parameters
    ----------
    vocabulary : int or array_like
        Number V of symbols, at least 2.
    length : int or array_like
        Number N of symbols that are generated.
    tokens : int or array_like, default 1
        Number of first tokens that are free.
    soft : bool, default True
        Whether the tokens are vectors of real numbers: then all V^N sequences, from one token on, by the model of
        `spherapprox.prompts.prefix.VirtualToken`. Tokens of the vocabulary make at most min(V^tokens, V^N), in every
        model.

    Returns
    -------
    Bound
        On the quantity "completions" (docs/theorems/8.7-virtual-tokens.md); or an array of them, for array arguments.
        From 5e11 on, `as_integer` is on the safe side by a relative 1e-12.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from bounds import prompts
    >>> prompts.completions(10, 5).as_integer(), prompts.completions(10, 5, soft=False).as_integer()
    (100000, 10)
    >>> print(prompts.completions(32_000, 10, soft=False))
    hard: completions <= 3.2e+04  [docs/theorems/8.7-virtual-tokens.md]
    """
    soft = _checks.flag(soft, "soft")

    @over_arrays
    def entry(v: object, n: object, s: object) -> Bound:
        symbols, free, answers = _count(v, "vocabulary", 2), _count(s, "tokens"), _count(n, "length")
        return _counted("completions", symbols, answers, tokens=free, soft=soft)

    return entry(vocabulary, length, tokens)  # type: ignore[no-any-return]


def maps(
    vocabulary: ArrayLike, length: ArrayLike = 1, *, inputs: ArrayLike = 1, tokens: ArrayLike = 1, soft: bool = True
) -> Bound:
    """Bound how many maps from a user's symbols to a response a model can be made to do by its first tokens.

    Parameters
    ----------
    vocabulary, tokens
        As in `completions`.
    length, inputs : int or array_like, default 1
        Numbers of symbols of the response, and of those that the user gives.
    soft : bool, default True
        Whether the tokens are vectors of real numbers: then all V^(length V^inputs) maps, proven for
        `tokens` >= `length`. Tokens of the vocabulary do at most V^tokens.

    Returns
    -------
    Bound
        On the quantity "maps" (docs/theorems/8.7-virtual-tokens.md); or an array of them, for array arguments. Outside
        what is proven, a trivial 1.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from bounds import prompts
    >>> prompts.maps(4).as_integer(), prompts.maps(4, soft=False).as_integer()
    (256, 4)
    """
    soft = _checks.flag(soft, "soft")

    @over_arrays
    def entry(v: object, n: object, x: object, s: object) -> Bound:
        symbols, free = _count(v, "vocabulary", 2), _count(s, "tokens")
        answers, input_symbols = _count(n, "length"), _count(x, "inputs")
        if input_symbols * math.log(symbols) > math.log(WIDEST):
            raise ValueError(f"'inputs' must have at most {WIDEST:g} values, got {symbols}^{input_symbols}")
        conditions: tuple[Hypothesis, ...] = ()
        if soft:
            conditions = (Hypothesis("tokens >= length", free >= answers),)  # 8.7 (response)
        count = answers * symbols**input_symbols
        return _counted("maps", symbols, count, tokens=free, soft=soft, conditions=conditions)

    return entry(vocabulary, length, inputs, tokens)  # type: ignore[no-any-return]


def gap(
    vocabulary: ArrayLike, length: ArrayLike, largest: ArrayLike = 1.0, *, inputs: ArrayLike = 0,
    packed: int | None = None,
) -> Bound:  # fmt: skip
    """Bound the gap of logits with which virtual tokens make a model generate everything.

    Parameters
    ----------
    vocabulary, length, inputs, packed
        As those of `spherapprox.prompts.prefix.VirtualToken`.
    largest : float or array_like, default 1.0
        Largest entry of the embedding, in absolute value; without inputs alone.

    Returns
    -------
    Bound
        On the quantity "logit gap" (docs/theorems/8.7-virtual-tokens.md): the least one that serves is at most this.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from bounds import prompts
    >>> print(round(prompts.gap(10, 5).value, 4))
    5.7038
    """

    @over_arrays
    def entry(v: object, n: object, b: object, x: object) -> Bound:
        # 8.7 (sequence), (response)
        log_gap = least_gap(v, n, inputs=x, packed=packed, largest=b)  # type: ignore[arg-type]
        theorem = "response" if x else "sequence"
        return Bound("logit gap", math.log(log_gap), "upper", theorem=theorem, reference=REFERENCE)

    return entry(vocabulary, length, largest, inputs)  # type: ignore[no-any-return]


def hard_tokens(
    tokens: ArrayLike, eps: ArrayLike, *, vocabulary: ArrayLike, numbers: ArrayLike, value_range: ArrayLike = 1.0,
    theorem: str = "digits",
) -> Bound:  # fmt: skip
    """Bound how many tokens of a vocabulary describe soft tokens to an accuracy.

    See docs/theorems/8.7-virtual-tokens.md; the quantity is "prompt length".

    Parameters
    ----------
    tokens : int or array_like
        Number of soft tokens.
    eps : float or array_like
        Largest error of each number, kept to a relative 1e-12.
    vocabulary : int or array_like
        Number V of symbols, at least 2.
    numbers : int or array_like
        Numbers of a soft token: m + 1 of a control point, s + p of a key and a value.
    value_range : float or array_like, default 1.0
        Length of the interval in which each number is.
    theorem : {"digits", "digits-printed"}
        ``tokens * numbers * ceil(log_V(value_range / (2 eps)))``, the least number if each number is written by itself,
        or what Petrov (2025), 4.5 says, with value_range / eps.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from bounds import prompts
    >>> prompts.hard_tokens(100, 1e-3, vocabulary=32_000, numbers=64, value_range=2.0).as_integer()
    6400
    """
    theorem = _checks.choice(theorem, "theorem", ("digits", "digits-printed"))
    twice = 2.0 if theorem == "digits" else 1.0

    @over_arrays
    def entry(n: object, e: object, v: object, k: object, r: object) -> Bound:
        symbols, wide = _count(v, "vocabulary", 2), between(r, "value_range")
        # 8.7 (digits): n k ceil(log_V(R/(2 eps)))
        cells = math.ceil(wide / (twice * between(e, "eps")) * (1.0 - 1e-12))
        digits = 0
        while symbols**digits < cells:
            digits += 1
        total = _count(n, "tokens") * _count(k, "numbers") * digits
        log = math.log(total) if total else -math.inf
        return Bound("prompt length", log, "upper", theorem=theorem, reference=REFERENCE, whole=True)

    return entry(tokens, eps, vocabulary, numbers, value_range)  # type: ignore[no-any-return]


def _counted(
    quantity: str, symbols: int, free: int, *, tokens: int, soft: bool, conditions: tuple[Hypothesis, ...] = ()
) -> Bound:
    """Return symbols^free for soft tokens, which is reached; for hard ones at most symbols^tokens of these."""
    # 8.7 (counts)
    log = (free if soft else min(free, tokens)) * math.log(symbols)
    if not all(h.holds for h in conditions):
        log = 0.0
    name, side = ("soft", "lower") if soft else ("hard", "upper")
    return Bound(quantity, log, side, theorem=name, reference=REFERENCE, hypotheses=conditions, whole=True)  # type: ignore[arg-type]


def _count(value: object, name: str, minimum: int = 1) -> int:
    return _checks.integer(value, name, minimum=minimum, maximum=MOST)
