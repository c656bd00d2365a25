"""`table_units`: how large a transformer of one attention layer has to be that has a prompt for each Lipschitz map."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from spherapprox import _checks

from ..records.bound import Bound, Hypothesis, over_arrays
from .lengths import between, grid_cells

REFERENCE = "docs/theorems/8.11-prompts-as-tables.md"
TABLES = ("deep", "wide", "function", "printed")


def table_units(
    eps: ArrayLike, *, token_dim: ArrayLike, length: ArrayLike, lipschitz: ArrayLike = 1.0, exponent: ArrayLike = 1.0,
    theorem: str = "deep",
) -> Bound:  # fmt: skip
    """Bound the hidden units with which a transformer of one attention head has a prompt for each Lipschitz map.

    The class of maps is that of `prompt_length`, and prompts are those of its "grid-midpoint";
    `spherapprox.prompts.contextual.TableTransformer` is the transformer.

    Parameters
    ----------
    eps : float or array_like
        The error, in the norm of the exponent, at all inputs but a share that may be as small as one likes.
    token_dim, length : int or array_like
        Numbers of a token, and tokens of a sequence, up to 1e9.
    lipschitz, exponent : float or array_like, default 1.0
        The Lipschitz constant, and the exponent alpha of the norm, at least 1, or infinity.
    theorem : str, default "deep"
        ``"deep"``: layers of 4 units, and ``"wide"``: one layer before attention and one behind, each for all maps by
        their prompts; ``"function"``: one layer behind it, for one map, without a prompt; ``"printed"``: the bumps of
        Hu et al. for "wide".

    Returns
    -------
    Bound
        On the quantity "hidden units"; or an array of them, for array arguments.

    Raises
    ------
    TypeError, ValueError

    References
    ----------
    docs/theorems/8.11-prompts-as-tables.md; Hu et al. (2024), arXiv:2411.16525, Theorems 2.3, 2.4 and B.1, Lemma 2.5.

    Examples
    --------
    >>> from bounds import prompts
    >>> for theorem in ("deep", "wide"):
    ...     print(prompts.table_units(0.1, token_dim=1, length=1, theorem=theorem))
    deep: hidden units <= 1.704e+04  [docs/theorems/8.11-prompts-as-tables.md]
    wide: hidden units <= 10^27.32  [docs/theorems/8.11-prompts-as-tables.md]
    """
    name = _checks.choice(theorem, "theorem", TABLES)

    @over_arrays
    def entry(e: object, d: object, n: object, c: object, a: object) -> Bound:
        tokens = _checks.integer(n, "length", minimum=1, maximum=10**9)
        dim = _checks.integer(d, "token_dim", minimum=1, maximum=10**9)
        norm = _checks.real(a, "exponent", minimum=1.0, finite=False)
        stretch = float(dim * tokens) ** (1.0 / norm)
        grid = "grid-printed" if name == "printed" else "grid-midpoint"
        cells = grid_cells(grid, between(c, "lipschitz"), between(e, "eps"), stretch=stretch)[0]
        if name != "printed":
            cells = max(cells, 2.0)
        log = _log_units(name, math.log(cells), dim, tokens)
        share = Hypothesis("inputs are off the ramps, a share of them as small as is wished", True)
        constants = (("cells", cells),)
        return Bound(
            "hidden units", log, "upper", theorem=name, reference=REFERENCE, hypotheses=(share,), constants=constants,
            whole=name != "printed",
        )  # fmt: skip

    return entry(eps, token_dim, length, lipschitz, exponent)  # type: ignore[no-any-return]


def _log_units(theorem: str, log_cells: float, d: int, n: int) -> float:
    """Return the log of the units for e^log_cells cells, inf beyond the largest float."""
    log_n, log_table = math.log(n), d * n * log_cells  # of K = c^(d n)
    log_all = log_n if theorem == "function" else log_n + _add(log_table, 0.0)  # of N, all tokens
    before = math.log(2.0 * d) + log_cells + log_all
    power = math.exp(log_all) * d * log_cells if log_all < 700.0 else math.inf  # of c^(d N)
    if theorem == "function":
        return _add(before, log_n + log_table)
    if theorem == "wide":
        return _add(before, log_n + power)
    if theorem == "printed":
        return math.log(3.0 * d) + log_all + power
    # 8.11 (deep): 4 (c d N + n K + n K^2 (K - 1)/2 + sum c^(d k) + d)
    less_one = math.log1p(-math.exp(-log_table))  # of 1 - 1/K
    drops = log_n + 3.0 * log_table - math.log(2.0) + less_one
    reads = log_table + less_one - math.log1p(-math.exp(-d * log_cells))
    return math.log(4.0) + _add(before - math.log(2.0), log_n + log_table, drops, reads, math.log(d))


def _add(*logs: float) -> float:
    """Return the log of a sum."""
    top = max(logs)
    return top + math.log(math.fsum(math.exp(x - top) for x in logs)) if top < math.inf else top
