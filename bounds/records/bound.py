"""`Bound`: a number that a theorem promises, with its side, source and hypotheses."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from spherapprox import _checks
from spherapprox._types import Array

if TYPE_CHECKING:
    from .enclosure import Enclosure

ACCURACY = 1e-12
"""What a float64 logarithm may be off by, relative to itself or absolutely where it is below 1."""

EXACT = 27.0
"""A count whose logarithm is below this is known to the last unit: 5e11, and logarithms are right to 1e-14."""

COUNTS = ("prefix length", "covering number", "prompt length", "completions", "maps", "state bits", "hidden units")
"""The quantities that are whole numbers; a prompt may be empty, of the others there is one at least."""

FROM_ZERO = ("sup error", "prompt length", "context separation")
"""The quantities that may be 0."""

Side = Literal["upper", "lower"]

MAX_DIGITS = 4300
"""`Bound.as_integer` refuses numbers with more decimal digits than this: Python prints no longer int by default."""


@dataclass(frozen=True)
class Hypothesis:
    """One condition of a theorem, in words, and its truth for the arguments at hand.

    Parameters
    ----------
    statement : str
        The condition, as ``"dim >= 8"``; one that nobody can check, such as what is assumed of the target, is stated
        too and counts as met.
    holds : bool
        Whether it is met. `Bound.holds` asks for all of them, `Bound.failed` lists those that are not.

    Examples
    --------
    >>> from bounds import prefix_length
    >>> print(prefix_length(0.1, dim=2, theorem="thesis-core").hypotheses[0])
    dim >= 8 (fails)
    """

    statement: str
    holds: bool

    def __str__(self) -> str:
        return f"{self.statement} ({'holds' if self.holds else 'fails'})"


class HypothesisError(ValueError):
    """The error of a bound required outside its hypotheses (`Bound.require`); a ValueError.

    Examples
    --------
    >>> from bounds import prefix_length
    >>> prefix_length(0.1, dim=2, theorem="thesis-core").require()
    Traceback (most recent call last):
    bounds.records.bound.HypothesisError: Petrov (2025), Theorem 4.12 (docs/theorems/2-thesis.md) needs dim >= 8
    """


@dataclass(frozen=True)
class Bound:
    """An upper or a lower bound by one theorem, kept as its natural logarithm.

    Outside its hypotheses a bound takes the trivial value on its side: infinity above; below, 1 for a count and 0
    for an error, the length of a prompt and a separation.

    Parameters
    ----------
    quantity : str
        What is bounded: "prefix length", "sup error", "covering number", "prompt length" and others.
    log : float
        Natural logarithm of the bound; ``inf`` and ``-inf`` are the trivial values.
    side : {"upper", "lower"}
        Whether the quantity is at most or at least this.
    theorem : str
        The name by which the bound is asked for.
    reference : str
        Where it is stated and proved.
    hypotheses : tuple of Hypothesis
        The conditions, each with whether it holds here.
    concentration, radius : float or None
        The concentration lambda and the covering (or cell) radius that the bound uses, those to make a head with; None
        where it uses none.
    constants : tuple of (str, float)
        Other numbers that went in.
    whole : bool
        True where the value is a whole number known exactly.
    enclosure : Enclosure or None
        Of the logarithm, proven in ball arithmetic, where it was asked for (``certified=True``).

    Examples
    --------
    >>> from bounds import prefix_length
    >>> bound = prefix_length(0.1, dim=8, theorem="lower")
    >>> round(bound.log10, 2), bound.side, bound.holds
    (9.28, 'lower', True)
    >>> bound.require().as_integer()
    1894717091
    """

    quantity: str
    log: float
    side: Side
    theorem: str
    reference: str
    hypotheses: tuple[Hypothesis, ...] = ()
    concentration: float | None = None
    radius: float | None = None
    constants: tuple[tuple[str, float], ...] = ()
    whole: bool = False
    enclosure: Enclosure | None = None

    @property
    def value(self) -> float:
        """The bound itself; ``inf`` above the largest float, 0 below the smallest."""
        try:
            value = math.exp(self.log)
        except OverflowError:
            return math.inf
        return float(round(value)) if self.whole and self.log < EXACT else value

    @property
    def log10(self) -> float:
        """Decimal logarithm of the bound."""
        return self.log / math.log(10.0)

    @property
    def holds(self) -> bool:
        """The truth of all hypotheses together."""
        return all(h.holds for h in self.hypotheses)

    @property
    def failed(self) -> tuple[str, ...]:
        """The failing hypotheses, in words."""
        return tuple(h.statement for h in self.hypotheses if not h.holds)

    def require(self) -> Self:
        """Return the bound itself, of which all hypotheses hold.

        Raises
        ------
        HypothesisError
            When one fails.
        """
        if not self.holds:
            raise HypothesisError(f"{self.reference} needs {' and '.join(self.failed)}")
        return self

    def as_integer(self) -> int:
        """Return the bound as an exact int on its safe side: rounded up, as counts are whole, after the allowance.

        The logarithm is a float, right to 1e-12 of its size; the result allows for that, so of 668 digits the first 8
        or so are those of the formula and the int is a valid bound. A certified bound allows for its enclosure.

        Raises
        ------
        ValueError
            When the bound is infinite or has more than `MAX_DIGITS` digits.
        """
        if not self.log10 <= MAX_DIGITS:
            raise ValueError(
                f"the bound is 10^{self.log10:.6g}, more than {MAX_DIGITS} digits: use .log10 instead of .as_integer()"
            )
        if self.whole and self.log < EXACT:
            return round(math.exp(self.log))
        if self.log == -math.inf:
            return 0
        import mpmath  # 0.1 s that only exact integers need

        with mpmath.workdps(max(30, int(self.log10) + 30)):
            upper = self.side == "upper"
            if self.enclosure is not None:
                log = self.enclosure.upper if upper else self.enclosure.lower
            else:
                allowance = mpmath.mpf(ACCURACY) * max(1.0, abs(self.log))
                log = mpmath.mpf(self.log) + (allowance if upper else -allowance)
            edge = mpmath.exp(log)
            counted = upper or self.quantity in COUNTS  # a count of at least 81.01 is one of 82
            return int(mpmath.ceil(edge)) if counted else int(mpmath.floor(edge))

    def __str__(self) -> str:
        sign = "<=" if self.side == "upper" else ">="
        parts = [f"{self.theorem}: {self.quantity} {sign} {format_log10(self.log10)}"]
        if self.concentration is not None:
            parts.append(f"concentration {self.concentration:.6g}")
        if self.radius is not None:
            parts.append(f"radius {self.radius:.6g}")
        if self.failed:
            parts.append("needs " + " and ".join(self.failed))
        return ", ".join(parts) + f"  [{self.reference}]"


def format_log10(log10: float) -> str:
    """Write a number given by its decimal logarithm: plainly when short, else as a power of ten."""
    if math.isinf(log10):
        return "inf" if log10 > 0 else "0"
    return f"{10.0**log10:.4g}" if -3 <= log10 < 5 else f"10^{log10:.2f}"


def settle(bound: Bound) -> Bound:
    """Replace a bound whose hypotheses fail by the trivial one on its side."""
    if bound.holds:
        return bound
    trivial_below = -math.inf if bound.quantity in FROM_ZERO else 0.0
    log = math.inf if bound.side == "upper" else trivial_below
    return replace(bound, log=log, concentration=None, radius=None, whole=False)


def over_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of scalars (None is one) take arrays, which broadcast, too; then it returns floats or objects."""

    @wraps(function)
    def over(*arguments: ArrayLike | None) -> Any:
        try:
            scalars = [argument is None or np.ndim(argument) == 0 for argument in arguments]
        except ValueError:
            raise ValueError("an array of arguments must have one shape, got lists of different lengths") from None
        if all(scalars):
            return function(*arguments)
        if any(map(_checks.is_masked, arguments)):
            raise ValueError("an array of arguments must not have masked elements: fill or drop them first")
        try:
            rows = np.broadcast(*(np.asarray(argument, dtype=object) for argument in arguments))
        except (RuntimeError, TypeError) as error:  # tensors on another device, or with a graph
            raise TypeError(f"an array of arguments must be one that NumPy can read: {error}") from None
        results = [function(*row) for row in rows]
        kind = float if results and all(isinstance(result, float) for result in results) else object
        array: Array = np.empty(len(results), dtype=kind)
        for i, result in enumerate(results):
            array[i] = result
        return array.reshape(rows.shape)

    return over
