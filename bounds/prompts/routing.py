"""Reading by attention: how much of it misses the key that is meant, what that costs, and how many keys there are."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from spherapprox import _checks
from spherapprox._norms import unit_of
from spherapprox.special import log_cap_measure

from ..records.bound import Bound, over_arrays
from .lengths import between

REFERENCE = "docs/theorems/9.2-routing.md"
NORMS = ("max", "euclidean")


def impurity(n: ArrayLike, margin: ArrayLike, temperature: ArrayLike, sharp: bool = True) -> float:
    """Bound the attention that tokens other than the one with the best key take together.

    See docs/theorems/9.2-routing.md.

    Parameters
    ----------
    n : int or array_like
        Number of all tokens that are attended to: also those of no prompt.
    margin : float or array_like
        By how much the best logit exceeds every other before it is divided by the temperature. Where logits are divided
        by sqrt(d) too, the margin of the keys over sqrt(d).
    temperature : float or array_like
    sharp : bool, default True
        Return ``x / (1 + x)`` for ``x = (n - 1) exp(-margin / temperature)``, which is attained, and not x.

    Returns
    -------
    float or ndarray

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from bounds import prompts
    >>> print(f"{prompts.impurity(33, 0.7482, 0.0556):.4e}")
    4.5804e-05
    """
    sharp = _checks.flag(sharp, "sharp")

    @over_arrays
    def entry(count: object, gap: object, tau: object) -> float:
        n_others = _checks.integer(count, "n", minimum=1) - 1
        rate = _checks.real(gap, "margin", above=0.0) / between(tau, "temperature")
        if not n_others:
            return 0.0
        # 9.2 (impurity)
        x = math.exp(-min(rate - math.log(n_others), 700.0))  # a bound is never 0
        return x / (1.0 + x) if sharp else x

    return entry(n, margin, temperature)  # type: ignore[no-any-return]


def temperature(n: ArrayLike, margin: ArrayLike, impurity: ArrayLike) -> float:
    """Return the largest temperature with which attention to a key has an impurity.

    See docs/theorems/9.2-routing.md.

    Parameters
    ----------
    n, margin : int and float, or array_like
        As in `impurity`; n is 2 at least.
    impurity : float or array_like
        Above 0 and below ``(n - 1) / n``, that of even attention.

    Returns
    -------
    float or ndarray
        ``margin / log((n - 1) (1 - impurity) / impurity)``.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from bounds import prompts
    >>> round(prompts.temperature(33, 0.7482, 1e-3), 6)
    0.072133
    """

    @over_arrays
    def entry(count: object, gap: object, share: object) -> float:
        tokens = _checks.integer(count, "n", minimum=2)
        why = "that of even attention"
        eta = _checks.real(share, "impurity", above=0.0, below=(tokens - 1) / tokens, why=why)
        # 9.2 (impurity): tau
        return _checks.real(gap, "margin", above=0.0) / (math.log(tokens - 1) + math.log1p(-eta) - math.log(eta))

    return entry(n, margin, impurity)  # type: ignore[no-any-return]


def read_error(impurity: float, values: ArrayLike, target: int, *, norm: str = "max") -> float:
    """Bound the difference between what attention reads and the value that is meant.

    See docs/theorems/9.2-routing.md.

    Parameters
    ----------
    impurity : float
        Share of the attention that goes to other tokens, from 0 to 1.
    values : array_like, shape (n,) or (n, p)
        Values of all tokens.
    target : int
        Index of the one that is meant, from 0.
    norm : {"max", "euclidean"}

    Returns
    -------
    float
        ``impurity * max |v_j - v_target|``.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from bounds import prompts
    >>> prompts.read_error(0.125, [[1.0, 0.0], [-1.0, 0.5]], 0)
    0.25
    """
    share = _checks.real(impurity, "impurity", minimum=0.0, maximum=1.0)
    rows = _checks.floating(_checks.detached(values), "values", ("n",), ("n", "p")).astype(np.float64)
    rows = rows.reshape(len(rows), -1)
    index = _checks.integer(target, "target", minimum=0, maximum=len(rows) - 1)
    order = np.inf if _checks.choice(norm, "norm", NORMS) == "max" else 2
    unit = unit_of(rows)
    scaled = rows / unit
    # 9.2 (read error)
    return share * float(np.linalg.norm(scaled - scaled[index], ord=order, axis=1).max()) * unit


def compose_errors(errors: ArrayLike, lipschitz: ArrayLike) -> float:
    """Bound the error of a composition of maps by those of its maps.

    See docs/theorems/9.2-routing.md.

    Parameters
    ----------
    errors : array_like, shape (n,)
        Largest error of each map, in their order.
    lipschitz : array_like, shape (n,)
        Lipschitz constant of each exact map; that of the first one does not matter.

    Returns
    -------
    float
        What ``e <- lipschitz_t e + errors_t`` makes of 0.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from bounds import prompts
    >>> round(prompts.compose_errors([0.1, 0.2, 0.3], [2.0, 3.0, 0.5]), 12)
    0.55
    """
    steps = _checks.floating(_checks.reals(errors, "errors", minimum=0.0, nan=False), "errors", ("n",))
    slopes = _checks.reals(lipschitz, "lipschitz", minimum=0.0, finite=True, nan=False)
    _checks.shaped(slopes, "lipschitz", steps.shape, note=", as 'errors' have")
    total = 0.0
    for slope, step in zip(slopes.tolist(), steps.tolist(), strict=True):
        # 9.2 (composition)
        total = slope * total + step
    return total


def key_count(margin: ArrayLike, *, dim: ArrayLike) -> Bound:
    """Bound the number of unit keys that have a margin.

    Parameters
    ----------
    margin : float or array_like
        By how much a key's inner product with itself exceeds that with every other key: above 0, at most 1.
    dim : int or array_like
        Dimension m of the sphere S^m: keys have m + 1 columns.

    Returns
    -------
    Bound
        An upper one on the quantity "keys" (docs/theorems/9.2-routing.md), by the measure of caps; or an array of them,
        for array arguments.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from bounds import prompts
    >>> print(prompts.key_count(0.391, dim=3))
    key-caps: keys <= 51.15  [docs/theorems/9.2-routing.md]
    """

    @over_arrays
    def entry(gap: object, m: object) -> Bound:
        angle = math.asin(math.sqrt(0.5 * _checks.real(gap, "margin", above=0.0, maximum=1.0)))
        # 9.2 (keys)
        log = -float(log_cap_measure(_checks.dimension(m), angle))
        return Bound("keys", log, "upper", theorem="key-caps", reference=REFERENCE)

    return entry(margin, dim)  # type: ignore[no-any-return]
