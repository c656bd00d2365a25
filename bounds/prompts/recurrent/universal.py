"""One network for all continuous functions: tokens for an error, and the error of tokens (10.9)."""

from __future__ import annotations

import math
from bisect import bisect_right

from spherapprox._integrals.piece import log_sum

from ...records.bound import ACCURACY, Bound, Hypothesis, settle

REFERENCE = "docs/theorems/10.9-one-model-for-all-functions.md"


def universal_length(per_axis: float, dim: int, constant: float) -> Bound:
    """Bound the number of tokens for cells of side 1 / per_axis; the constant is that for the maximum norm."""
    # 10.9 (rate)
    cells = per_axis + dim / (dim + 1)
    is_whole = cells < 1e15
    log = _log_tokens(math.ceil(cells * (1.0 - ACCURACY)) if is_whole else cells, dim, constant=constant)
    return Bound("prompt length", log, "upper", theorem="universal", reference=REFERENCE, whole=is_whole)


def universal_error(n: int, dim: int, constant: float) -> Bound:
    """Bound the error of the most cells that n tokens have room for."""
    # 10.9 (rate)
    log, most = math.log(n) + ACCURACY, math.ceil(math.exp(math.log(n) / dim))
    cells = bisect_right(range(1, most + 1), log, key=lambda count: _log_tokens(count, dim, constant=constant))
    room = Hypothesis("room for a cell of each grid", cells > 0)
    error = constant * min(1.0, 0.5 * (dim + 1) / ((dim + 1) * max(cells, 1) - dim))
    bound = Bound("sup error", math.log(error), "upper", theorem="universal", reference=REFERENCE, hypotheses=(room,))
    return settle(bound)


def _log_tokens(cells: float, dim: int, constant: float) -> float:
    """Return the log of the number of tokens with so many cells an axis."""
    some = math.ceil(math.sqrt(2.0 * constant) * math.sqrt((dim + 1) * cells - dim))
    return log_sum([math.log(dim + 1) + dim * math.log(cells), math.log(max(2 * some - 1, 1))])
