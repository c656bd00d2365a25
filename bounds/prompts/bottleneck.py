"""What a few continuous numbers cannot carry: the bottleneck of sequences (7.1), part of `bounds.prompts.sequences`."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from spherapprox import _checks

from ..records.bound import Bound, Hypothesis, over_arrays, settle
from ..records.problem import LARGEST_DIM


def bottleneck(channels: ArrayLike, *, dim: ArrayLike, length: ArrayLike = 1, domain: str = "sphere") -> Bound:
    """Bound the error of the identity from below, for what reaches the output through few continuous numbers.

    Whatever function G follows r continuous numbers R(X) of the sequence X, ``G(R(X))`` is so far from X somewhere.

    Parameters
    ----------
    channels : int or array_like
        r >= 0.
    dim : int or array_like
        m of the sphere S^m of each token; of the cube, the numbers of a token.
    length : int or array_like, default 1
        T, tokens of a sequence.
    domain : {"sphere", "cube"}
        X in (S^m)^T, the error the largest distance in R^(m+1) of a token; or X in [0, 1]^(dim T), the error the
        largest of a number.

    Returns
    -------
    Bound
        On the quantity "sup error" (docs/theorems/7.1-bottleneck.md): 1 for r <= m, the error of the output 0, ``sin(pi
        / (2 sqrt t))`` for r < m t with the least such t <= T; on the cube 1/2 for r < dim T. 0 where r is larger.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from bounds.prompts import sequences
    >>> print(sequences.bottleneck(1, dim=2, length=10))  # the thesis's construction passes one number
    bottleneck: sup error >= 1  [docs/theorems/7.1-bottleneck.md]
    >>> [round(sequences.bottleneck(2 * t - 1, dim=2, length=t).value, 6) for t in (1, 2, 3, 4)]
    [1.0, 0.896019, 0.787597, 0.707107]
    """
    where = _checks.choice(domain, "domain", ("sphere", "cube"))

    @over_arrays
    def entry(r: object, d: object, t: object) -> Bound:
        count = _checks.integer(r, "channels", minimum=0)
        m, tokens = _checks.dimension(d, maximum=LARGEST_DIM), token_count(t)
        enough = Hypothesis("channels < dim * length", count < m * tokens)
        if where == "cube":
            # 7.1 (c)
            value = 0.5
        elif count <= m:
            # 7.1 (a)
            value, enough = 1.0, Hypothesis("channels <= dim", True)
        else:
            # 7.1 (b)
            value = math.sin(math.pi / (2.0 * math.sqrt(count // m + 1)))
        reference = "docs/theorems/7.1-bottleneck.md"
        return settle(
            Bound(
                "sup error", math.log(value), "lower", theorem="bottleneck", reference=reference, hypotheses=(enough,)
            )
        )

    return entry(channels, dim, length)  # type: ignore[no-any-return]


def token_count(value: object) -> int:
    """Check a length of sequences."""
    return _checks.integer(value, "length", minimum=1, maximum=10**6)
