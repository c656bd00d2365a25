"""What else may be asked where a whole cache is compacted."""

from __future__ import annotations

from dataclasses import dataclass

from ..... import _checks
from ..heads.options import FitOptions


@dataclass(frozen=True, kw_only=True)
class CacheOptions(FitOptions):
    """How `compress_cache` works: queries, the budget over heads, and all that `FitOptions` has.

    Parameters
    ----------
    queries : int, default 4096
        Queries of each key's head that are kept, at most, of all heads that share it and evenly over the tokens of the
        text: memory and time grow with it. A fifth of them is held out.
    budget : {"uniform", "error"}
        Whether all heads get the same number of tokens, or as many in all where errors change the next token most: in
        proportion to the root of the Fisher information of what a head reads of the cache times how its values are
        spread, from a tenth of the mean to four times. The information is of slopes at 1024 tokens of what is read, by
        a pass backwards through the model, which needs its memory. Numbers of tokens then differ by head, for which
        the attention of this library is needed.
    mass, ridge, iterations, work, time_limit, progress
        As those of `FitOptions`.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from spherapprox.prompts.prefix.torch_modules.compaction import CacheOptions
    >>> CacheOptions(budget="error", iterations=50).queries
    4096
    """

    queries: int = 4096
    budget: str = "uniform"

    def __post_init__(self) -> None:
        super().__post_init__()
        queries = _checks.integer(self.queries, "queries", minimum=10, maximum=10**6)
        object.__setattr__(self, "queries", queries)
        _checks.choice(self.budget, "budget", ("uniform", "error"))
