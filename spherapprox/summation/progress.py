"""Progress bars of sums, where they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from .. import _checks
from .plan import Wish

is_shown = ContextVar("progress bars of sums", default=False)


@contextmanager
def show_progress(shown: bool = True) -> Iterator[None]:
    """Show a progress bar for each sum that is evaluated in the block, of heads too, and the part of `bounds.validate`.

    Parameters
    ----------
    shown : bool, default True
        False shows none, as outside of the block.

    Raises
    ------
    TypeError
        When `shown` is neither True nor False.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import evaluate
    >>> from spherapprox.summation import show_progress
    >>> with show_progress():  # on stderr
    ...     evaluate(np.eye(3)[:1], np.eye(3), np.ones(3), 0.0)
    array([3.])
    """
    token = is_shown.set(_checks.flag(shown, "shown"))
    try:
        yield
    finally:
        is_shown.reset(token)


@contextmanager
def reported(wish: Wish) -> Iterator[Wish]:
    """Show a bar over pairs, and yield the options by which sums report to it."""
    from tqdm.auto import tqdm

    with tqdm(total=0, unit="pair", unit_scale=True) as bar:

        def report(pairs: int, total: int = 0) -> None:
            bar.total = (bar.total or 0) + total
            bar.update(pairs)

        yield wish._replace(report=report)
