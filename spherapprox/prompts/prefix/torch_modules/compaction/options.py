"""How caches are compacted: the methods, and what else may be asked."""

from __future__ import annotations

from dataclasses import dataclass

from ..... import _checks

FITTED = ("descent", "attention matching", "top attention")
"""Methods with biases and values of their own, best first."""
CONTEXT = ("snapkv", "h2o")
"""Methods that choose by what the context itself attends to."""
FOLDS = 5
"""Of so many queries one is held out."""
METHODS = (*FITTED, *CONTEXT, "recent", "uniform")


@dataclass(frozen=True)
class CacheOptions:
    """How `compress_cache` works: queries, the budget over heads, the accuracy of fits, and the end.

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
    mass : float, default 0.5
        What an error of 1 in the log mass counts in a descent, against the root mean square of the outputs.
    ridge : float, default 1e-5
        The ridge on values, over the mean square of a token's attention. Smaller ones lower errors at the queries of
        the fit, and raise them at others where queries are few.
    iterations : int, default 200
        Iterations of a descent.
    work : float, default 1e12
        Operations of a descent in each head, at most: some 20 seconds of one core. Where they suffice for fewer than
        20 iterations, tokens are chosen as in "attention matching".
    time_limit : float, optional
        Seconds after which descents end, and heads that are left are done by "top attention".
    progress : bool, default False
        Print a line for each layer.

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
    mass: float = 0.5
    ridge: float = 1e-5
    iterations: int = 200
    work: float = 1e12
    time_limit: float | None = None
    progress: bool = False

    def __post_init__(self) -> None:
        queries = _checks.integer(self.queries, "queries", minimum=10, maximum=10**6)
        object.__setattr__(self, "queries", queries)
        _checks.choice(self.budget, "budget", ("uniform", "error"))
        _checks.real(self.mass, "mass", minimum=0.0, maximum=1e6)
        _checks.real(self.ridge, "ridge", minimum=1e-12, maximum=1.0)
        iterations = _checks.integer(self.iterations, "iterations", minimum=0, maximum=10**5)
        object.__setattr__(self, "iterations", iterations)
        _checks.real(self.work, "work", minimum=0.0)
        if self.time_limit is not None:
            _checks.real(self.time_limit, "time_limit", above=0.0)
        _checks.flag(self.progress, "progress")
