"""`Bound`: a number that a theorem promises, with its side, its source, and whether its hypotheses hold here."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Side = Literal["upper", "lower"]

MAX_DIGITS = 4300
"""`Bound.as_integer` refuses numbers with more decimal digits than this: Python prints no longer int by default."""


@dataclass(frozen=True)
class Hypothesis:
    """One condition of a theorem, in words, and whether it holds for the arguments at hand."""

    statement: str
    holds: bool

    def __str__(self) -> str:
        return f"{self.statement} ({'holds' if self.holds else 'fails'})"


class HypothesisError(ValueError):
    """A theorem was asked for, with ``strict=True``, outside its hypotheses."""


@dataclass(frozen=True)
class Bound:
    """What one theorem says: an upper or a lower bound, kept as its natural logarithm.

    Outside its hypotheses a bound takes the trivial value on its side: infinity above; below, 1 for a count and 0
    for an error.

    Parameters
    ----------
    quantity : str
        What is bounded: "prefix length", "sup error", "covering number".
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
        The concentration lambda and the covering (or cell) radius that the bound uses; None where it uses none.
    constants : tuple of (str, float)
        Other numbers that went in.
    whole : bool
        True where the value is a whole number known exactly.

    Examples
    --------
    >>> from bounds import prefix_length
    >>> bound = prefix_length(0.1, dim=8, theorem="lower")
    >>> round(bound.log10, 2), bound.side, bound.holds
    (8.87, 'lower', True)
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

    @property
    def value(self) -> float:
        """The bound itself; ``inf`` where it exceeds the largest float, 0 where it is below the smallest."""
        try:
            value = math.exp(self.log)
        except OverflowError:
            return math.inf
        return float(round(value)) if self.whole and value < 2**53 else value

    @property
    def log10(self) -> float:
        """Decimal logarithm of the bound."""
        return self.log / math.log(10.0)

    @property
    def holds(self) -> bool:
        """Whether every hypothesis holds."""
        return all(h.holds for h in self.hypotheses)

    @property
    def failed(self) -> tuple[str, ...]:
        """The hypotheses that fail, in words."""
        return tuple(h.statement for h in self.hypotheses if not h.holds)

    def as_integer(self) -> int:
        """Return the bound as an exact int on its safe side: above an upper bound, below a lower one.

        The logarithm is a float, right to about 1e-13 of its size; the result allows for that, so of 668 digits the
        first 10 or so are those of the formula and the int is a valid bound.

        Raises
        ------
        ValueError
            When the bound is infinite or has more than `MAX_DIGITS` digits.
        """
        if not self.log10 <= MAX_DIGITS:
            raise ValueError(
                f"the bound is 10^{self.log10:.6g}, more than {MAX_DIGITS} digits: use .log10 instead of .as_integer()"
            )
        if self.whole and self.log < 36.0:
            return round(math.exp(self.log))
        if self.log == -math.inf:
            return 0
        import mpmath  # 0.1 s that only exact integers need

        with mpmath.workdps(max(30, int(abs(self.log10)) + 30)):
            allowance = mpmath.mpf(1e-13) * max(1.0, abs(self.log))
            if self.side == "upper":
                return int(mpmath.ceil(mpmath.exp(mpmath.mpf(self.log) + allowance)))
            return int(mpmath.floor(mpmath.exp(mpmath.mpf(self.log) - allowance)))

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
    """Write a number given by its decimal logarithm: plainly when short, else as a power of ten.

    Examples
    --------
    >>> format_log10(3.0), format_log10(667.98857), format_log10(float("inf"))
    ('1000', '10^667.99', 'inf')
    """
    if math.isinf(log10):
        return "inf" if log10 > 0 else "0"
    return f"{10.0**log10:.4g}" if -3 <= log10 < 5 else f"10^{log10:.2f}"


def settle(bound: Bound, *, strict: bool) -> Bound:
    """Replace a bound whose hypotheses fail by the trivial one on its side, or raise when `strict`.

    Raises
    ------
    HypothesisError
        When `strict` and a hypothesis fails.
    """
    if bound.holds:
        return bound
    if strict:
        raise HypothesisError(f"{bound.reference} needs {' and '.join(bound.failed)}")
    trivial_below = -math.inf if bound.quantity == "sup error" else 0.0
    log = math.inf if bound.side == "upper" else trivial_below
    return replace(bound, log=log, concentration=None, radius=None, whole=False)


def over_arrays(function: Callable[..., Any], eps: ArrayLike, dim: ArrayLike) -> Any:
    """Apply ``function(eps, dim)`` to scalars, or elementwise over broadcast arrays."""
    if np.ndim(eps) == 0 and np.ndim(dim) == 0:
        return function(eps, dim)
    pair = np.broadcast(np.asarray(eps), np.asarray(dim))
    results = [function(e, d) for e, d in pair]
    kind = float if all(isinstance(r, float) for r in results) else object
    array: NDArray[Any] = np.empty(len(results), dtype=kind)
    for i, result in enumerate(results):
        array[i] = result
    return array.reshape(pair.shape)
