"""How long prompts have to be, and which lengths suffice: to memorise examples, and for all functions of a class."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from spherapprox import _checks
from spherapprox._softmax import log_sum_exp

from ..records.bound import ACCURACY, Bound, Hypothesis, Side, over_arrays, settle
from ..records.problem import SMALLEST, WIDEST

REFERENCE = "docs/theorems/8.8-prompt-lengths.md"
MEMORIZE = ("memorize-bits", "memorize-values", "memorize-dimension", "memorize-interpolation")
GRIDS = ("grid", "grid-midpoint", "grid-printed", "grid-bits")
MOST_EXAMPLES = 10**10
UNITS = {"float64": 2.0**-53, "float32": 2.0**-24}
"""Largest relative error of a rounding."""


def memorization_length(
    n_examples: ArrayLike, *, theorem: str, numbers: ArrayLike, bits: ArrayLike = 16, classes: ArrayLike = 2,
    accuracy: ArrayLike = 1.0, n_outputs: ArrayLike = 1, tol: ArrayLike = 1e-3,
) -> Bound:  # fmt: skip
    """Bound the length of a prompt, or prefix, with which a fixed model answers given examples.

    Parameters
    ----------
    n_examples : int or array_like
        Number N of examples, up to 1e10: different inputs, each with a wanted answer, any of those that can be.
    theorem : str
        Lower bounds: ``"memorize-bits"`` (one of `classes` labels each, right for the share `accuracy` of them),
        ``"memorize-values"`` (`n_outputs` numbers in [-1, 1] each, to within `tol`), which hold for every model and
        numbers of `bits` bits, and ``"memorize-dimension"`` (`n_outputs` numbers each, exactly; models that depend
        smoothly on a prompt of real numbers). An upper one: ``"memorize-interpolation"``, for a prefix of one attention
        head with different queries.
    numbers : int or array_like
        Free numbers of a token: its d columns in prompt tuning, in prefix tuning s + p for each head of each layer.
    bits : float or array_like, default 16
        Bits of a number.
    classes : int or array_like, default 2
        Number K of labels.
    accuracy : float or array_like, default 1.0
        Share of the examples whose label has to be right, above 0.
    n_outputs : int or array_like, default 1
        Numbers of an answer.
    tol : float or array_like
        The error that a number of an answer may have, over the largest absolute value of one.

    Returns
    -------
    Bound
        On the quantity "prompt length" (docs/theorems/8.8-prompt-lengths.md), the bits that are needed among its
        constants; or an array of them, for array arguments. ``as_integer()`` is the length in whole tokens.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from bounds import prompts
    >>> found = prompts.memorization_length(10**6, theorem="memorize-bits", numbers=4096, classes=32_000)
    >>> print(found, found.as_integer())
    memorize-bits: prompt length >= 228.4  [docs/theorems/8.8-prompt-lengths.md] 229
    """
    name = _checks.choice(theorem, "theorem", MEMORIZE)

    @over_arrays
    def entry(n: object, k: object, b: object, c: object, a: object, p: object, t: object) -> Bound:
        count = _checks.integer(n, "n_examples", minimum=1, maximum=MOST_EXAMPLES)
        free = _checks.integer(k, "numbers", minimum=1)
        width = _checks.real(b, "bits", minimum=1.0, maximum=1e12)
        labels = _checks.integer(c, "classes", minimum=1)
        share = _checks.real(a, "accuracy", above=0.0, maximum=1.0)
        outputs = _checks.integer(p, "n_outputs", minimum=1)
        error = between(t, "tol")
        if name == "memorize-interpolation":
            # 8.8 (interpolation)
            different = Hypothesis("one head, whose queries at the examples are different", True)
            return Bound(
                "prompt length", math.log(count), "upper", theorem=name, reference=REFERENCE, hypotheses=(different,),
                whole=True,
            )  # fmt: skip
        if name == "memorize-dimension":
            # 8.8 (dimension)
            smooth = Hypothesis("answers depend smoothly on the prompt", True)
            log = math.log(count) + math.log(outputs) - math.log(free)
            return Bound("prompt length", log, "lower", theorem=name, reference=REFERENCE, hypotheses=(smooth,))
        if name == "memorize-bits":
            # 8.8 (bits)
            information = label_bits(count, labels, share)
        else:
            # 8.8 (values)
            information = count * outputs * math.log2(max(math.ceil(1.0 / error * (1.0 - 1e-9)), 1))
        log = math.log(information) - math.log(width) - math.log(free) if information > 0.0 else -math.inf
        return Bound(
            "prompt length", log, "lower", theorem=name, reference=REFERENCE, constants=(("bits", information),)
        )

    options = (numbers, bits, classes, accuracy, n_outputs, tol)
    return entry(n_examples, *options)  # type: ignore[no-any-return]


def label_bits(count: int, classes: int, accuracy: float) -> float:
    """Return bits without which not every labelling of examples can be met with an accuracy, for checked arguments.

    They are ``count log2(classes) - log2 V``, V the number of labellings that are as near to one as they may be.

    Examples
    --------
    >>> label_bits(4, 2, 1.0), round(label_bits(4, 2, 0.75), 4)
    (4.0, 1.6781)
    """
    if classes == 1:
        return 0.0
    wrong = min(math.floor((1.0 - accuracy + 1e-15) * count), count)  # 0.7 of 10 examples may be 3 wrong
    total = count * math.log2(classes)
    if not wrong:
        return total
    # terms fall off from the binomial distribution's mode like a normal density: 40 deviations hold all that count
    top = min(wrong, math.floor((count + 1) * (1.0 - 1.0 / classes)))
    reach = math.ceil(20.0 * math.sqrt(count)) + 100
    j = np.arange(max(top - reach, 0), min(top + reach, wrong) + 1, dtype=np.float64)
    # 8.8 (bits): log2 V = log2 sum C(N, j) (K-1)^j
    logs = gammaln(count + 1.0) - gammaln(j + 1.0) - gammaln(count - j + 1.0) + j * math.log(classes - 1.0)
    ball = float(log_sum_exp(logs)) / math.log(2.0)
    return max(total - ball - ACCURACY * total, 0.0)  # the difference of two rounded numbers, on the safe side


def prompt_length(
    eps: ArrayLike, *, token_dim: ArrayLike, length: ArrayLike, theorem: str, lipschitz: ArrayLike = 1.0,
    exponent: ArrayLike = 1.0, bits: ArrayLike = 16,
) -> Bound:  # fmt: skip
    """Bound the length of a prompt with which one model does all Lipschitz maps of sequences.

    The class holds the maps f of [0, 1]^D, D = token_dim * length, into itself that have the Lipschitz constant in the
    norm of an exponent, ``sum(|x_i|^alpha)^(1/alpha)``.

    Parameters
    ----------
    eps : float or array_like
        The error everywhere, in the same norm; for "grid-bits" in the maximum norm, which is smaller.
    token_dim : int or array_like
        Numbers of a token.
    length : int or array_like
        Number L of tokens of a sequence.
    theorem : str
        Upper bounds, for the best model of all, whose prompts are tables: ``"grid"``, with a grid of corners as Hu et
        al. have it, ``"grid-midpoint"``, of midpoints, and ``"grid-printed"``, as in their Theorem 2.5, which is false.
        A lower one, for every model and numbers of `bits` bits: ``"grid-bits"``.
    lipschitz : float or array_like, default 1.0
        Lipschitz constant C.
    exponent : float or array_like, default 1.0
        Exponent alpha >= 1 of the norm on R^D, or infinity.
    bits : float or array_like, default 16
        Bits of a number of a prompt; "grid-bits" alone uses it.

    Returns
    -------
    Bound
        On the quantity "prompt length", the cells of a number among its constants; or an array of them, for array
        arguments. `spherapprox.prompts.contextual.TableTransformer` has such prompts.

    Raises
    ------
    TypeError, ValueError

    References
    ----------
    docs/theorems/8.8-prompt-lengths.md; Hu et al. (2024), arXiv:2411.16525, Lemma 2.3 and Theorem 2.5.

    Examples
    --------
    >>> from bounds import prompts
    >>> print(prompts.prompt_length(0.1, token_dim=8, length=16, theorem="grid-midpoint"))
    grid-midpoint: prompt length <= 10^437.46  [docs/theorems/8.8-prompt-lengths.md]
    """
    name = _checks.choice(theorem, "theorem", GRIDS)

    @over_arrays
    def entry(e: object, d: object, n: object, c: object, a: object, b: object) -> Bound:
        tokens = _checks.integer(n, "length", minimum=1, maximum=10**9)
        size = _checks.integer(d, "token_dim", minimum=1, maximum=10**9) * tokens
        norm = _checks.real(a, "exponent", minimum=1.0, finite=False)
        width = _checks.real(b, "bits", minimum=1.0, maximum=1e12)
        side: Side = "lower" if name == "grid-bits" else "upper"
        cells, conditions = grid_cells(
            name, between(c, "lipschitz"), between(e, "eps"), stretch=float(size) ** (1.0 / norm)
        )
        # 8.8 (grid), (midpoint), (pyramids): n c^D, or n c^D/b
        log = math.log(tokens) - (math.log(width) if side == "lower" else 0.0)
        log += size * math.log(cells) if cells > 0.0 else -math.inf
        is_whole = side == "upper" and name != "grid-printed"
        return settle(
            Bound(
                "prompt length", log, side, theorem=name, reference=REFERENCE, hypotheses=conditions, whole=is_whole,
                constants=(("cells", cells),),
            )
        )  # fmt: skip

    return entry(eps, token_dim, length, lipschitz, exponent, bits)  # type: ignore[no-any-return]


def grid_cells(theorem: str, lipschitz: float, eps: float, stretch: float) -> tuple[float, tuple[Hypothesis, ...]]:
    """Return the cells for each number: of tables within eps, or of pyramids, up or down, more than 2 eps apart."""
    if theorem == "grid-printed":
        return 2.0 * lipschitz * stretch / eps, ()
    if theorem != "grid-bits":  # 8.8 (grid), (midpoint)
        share = 0.5 if theorem == "grid" else 1.0
        return math.ceil((lipschitz + 1.0) * stretch / (share * eps) * (1.0 - ACCURACY)), ()
    # 8.8 (pyramids)
    cells = math.ceil(lipschitz / (2.0 * eps * stretch) * (1.0 - ACCURACY)) - 1
    steep = cells >= 1 and lipschitz / (2.0 * cells * stretch) > 0.5
    wide = Hypothesis("lipschitz > 2 eps D^(1/exponent)", cells >= 1)
    return float(max(cells, 0)), (wide, Hypothesis("pyramids at most 1/2 high", not steep))


def between(value: object, name: str) -> float:
    """Return a positive number with which every formula keeps its digits."""
    return _checks.real(value, name, minimum=SMALLEST, maximum=WIDEST)
