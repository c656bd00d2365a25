"""The result of a search for the fewest tokens: the head, its error, and what was tried."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..error import ErrorInterval
from ..heads.head import Head


@dataclass(frozen=True)
class Rung:
    """The best head of one length that a search found.

    Parameters
    ----------
    n : int
        Number of tokens.
    error : float
        Largest error at the points that the search checked, in the target's units; of those within eps, at its peaks.
    rms : float
        Root of the mean squared error there.
    concentration, largest_value, digits_lost, condition : float
        lambda; the largest |v_k|; decimal digits that cancel, log10 of the largest ``sum_k |A_k v_k|`` over sup |f|;
        and the condition number of the weights A at the samples.
    start : str
        What the fit began from: "prune" or "insert", from the rung above or below, "equal 0", ... from points of equal
        measure.
    starts : int
        Starts tried.
    seconds : float
        Time spent.
    reached : bool
        Whether the error is at most eps.
    """

    n: int
    error: float
    rms: float
    concentration: float
    largest_value: float
    digits_lost: float
    condition: float
    start: str
    starts: int
    seconds: float
    reached: bool


@dataclass(frozen=True)
class ShortestHead:
    """The shortest head that a search found, and how it was found.

    Parameters
    ----------
    head : CoreHead or SplitHead
        The shortest one within eps; of least error, if none is.
    error : ErrorInterval
        Its sup error, in the target's units, with a proven upper end if asked for.
    eps : float
        The error asked for, in the target's units.
    reached : bool
        Whether the error found is at most eps.
    failed : tuple of (int, int)
        The largest length that failed below it, and the starts that were tried there: evidence, no proof. (0, 0) if
        none was tried.
    history : tuple of Rung
        A row for each length that was tried, shortest first.
    notes : tuple of str
        What a reader should know, such as a number of tokens that may reach eps.

    Examples
    --------
    >>> from spherapprox import targets
    >>> from spherapprox.shortest import shortest_head
    >>> found = shortest_head(targets.bump(2), 1e-6, "core")
    >>> found.n, found.reached, found.head
    (1, True, CoreHead(n=1, dim=2, concentration=10))
    """

    head: Head
    error: ErrorInterval
    eps: float
    reached: bool
    failed: tuple[int, int]
    history: tuple[Rung, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def n(self) -> int:
        """Number of tokens."""
        return len(self.head)

    def table(self) -> str:
        """Return the history as a text table.

        Returns
        -------
        str
            A line for each length; "lost" are the decimal digits that cancel.

        Examples
        --------
        >>> from spherapprox import targets
        >>> from spherapprox.shortest import shortest_head
        >>> print(shortest_head(targets.bump(2), 1e-6, "core").table().splitlines()[0].split())
        ['N', 'error', 'rms', 'lambda', 'max', '|v|', 'lost', 'condition', 'start', 'starts', 's']
        """
        from tabulate import tabulate

        rows = [
            (r.n, f"{r.error:.3g}", f"{r.rms:.3g}", f"{r.concentration:.4g}", f"{r.largest_value:.3g}",
             f"{r.digits_lost:.1f}", f"{r.condition:.1g}", r.start, r.starts, f"{r.seconds:.1f}",
             "reached" if r.reached else "")
            for r in self.history
        ]  # fmt: skip
        headers = ("N", "error", "rms", "lambda", "max |v|", "lost", "condition", "start", "starts", "s", "")
        align = [*["right"] * 7, "left", *["right"] * 2, "left"]
        return str(tabulate(rows, headers=headers, disable_numparse=True, colalign=align))

    def __str__(self) -> str:
        return "\n".join([self.table(), *self.notes])
