"""What a search for the shortest head may store, and how long it may look."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .result import ShortestHead


@dataclass(frozen=True)
class TokenFormat:
    """What the tokens of a head are stored as.

    Parameters
    ----------
    keys : {"unit", "free"}
        "unit": one concentration for all tokens, m + p numbers for each. "free": one of its own for each token, one
        number more, as the keys of a real prefix have; it takes fewer tokens, by far where the target has local detail.
    value_bound : float, optional
        Bound of all |v_k|, in the target's units.
    dtype : {"float16", "bfloat16"}, optional
        Store keys and values as these numbers: eps is asked of the rounded head, which has a concentration for each
        token.

    Examples
    --------
    >>> from spherapprox import Target, shortest_head
    >>> from spherapprox.shortest import TokenFormat
    >>> height = Target(lambda x: x[:, 2], 2)
    >>> head = shortest_head(height, 0.1, tokens=TokenFormat(keys="free", dtype="float16")).head
    >>> bool((head.values == head.values.astype("float16")).all())
    True
    """

    keys: str = "unit"
    value_bound: float | None = None
    dtype: str | None = None


@dataclass(frozen=True)
class SearchOptions:
    """How long a search looks, where it starts, and what it keeps.

    Parameters
    ----------
    max_tokens : int, default 300
        The largest number of tokens to try.
    starts : int, default 4
        Starts from points of equal measure for each number of tokens, besides those from longer and shorter heads.
    polish : bool, default False
        Lower nearly sufficient errors of scalar targets by linear programs: slow, worth a token or two.
    lower : bool, default True
        Bound the number of tokens from below, too, in seconds; `token_lower_bound` finds more in more time.
    time_limit : float, optional
        Seconds for all, of which fits take 60 % where a proof or a lower bound follows, and others what they leave: the
        best head so far is returned, and depends on the machine.
    start : ShortestHead or path, optional
        Go on from an earlier search for the same target, or from its file: its heads are starts, and what failed for an
        eps no smaller is not tried again.
    checkpoint : path, optional
        Save what has been found after each number of tokens; ``start=`` goes on from this file.
    rng : int, default 0
        Seed of the samples and the starts: the same one gives the same head, with any number of threads.
    progress : bool, default False
        Print a line for each number of tokens.

    Examples
    --------
    >>> from spherapprox import shortest_head, targets
    >>> from spherapprox.shortest import SearchOptions
    >>> shortest_head(targets.bump(2), 1e-6, "core", search=SearchOptions(lower=False, starts=1)).n
    1
    """

    max_tokens: int = 300
    starts: int = 4
    polish: bool = False
    lower: bool = True
    time_limit: float | None = None
    start: ShortestHead | str | os.PathLike[str] | None = None
    checkpoint: str | os.PathLike[str] | None = None
    rng: int = 0
    progress: bool = False
