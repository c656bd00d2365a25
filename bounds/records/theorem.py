"""`Theorem`: the record of a theorem, declared once in its own file under `bounds.theorems`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from .bound import Bound, Hypothesis, Side
from .problem import Problem

Promise = tuple[float, tuple[Hypothesis, ...]]
"""The log of an error bound, and its hypotheses."""

Curve = Callable[[float], float]
"""A function of one number, for instance concentration -> log(error bound)."""

Claimed = Literal["covering radius", "degree of exactness"]
"""Numbers that a user states of control points."""


@dataclass(frozen=True)
class Prefix:
    """Tokens and the targets that they serve: a class (a `Problem` whose eps is unused) and its control points."""

    problem: Problem
    sup_norm: float | None
    radius: float
    n: float
    separation: float | None
    degree: int
    exactness: int

    @property
    def concentration(self) -> float:
        """The concentration of the head, by default 0."""
        return self.problem.concentration or 0.0


@dataclass(frozen=True)
class Requirement:
    """The hypotheses of a theorem on control points.

    Parameters
    ----------
    lack : callable
        Control points -> what they lack, in words; empty where they lack nothing.
    claims : tuple of str
        What the user states of such points and the theorem rests on.
    """

    lack: Callable[[object], str]
    claims: tuple[Claimed, ...] = ()


@dataclass(frozen=True)
class Theorem:
    """One theorem: its prefix length, its error form, and the arguments of each.

    Parameters
    ----------
    name, reference, statement : str
        How it is asked for, where it is stated and proved, and what it promises in a line.
    head : {"core", "split", "any"}
        The heads that it speaks of; "any" for what no scheme can undercut, and for the kernel alone.
    side : {"upper", "lower"}
        Whether its numbers suffice or are necessary.
    printed : bool
        Whether it is the thesis's own.
    count : callable or None
        Problem -> prefix length.
    constants : tuple of str
        Constants of the target's class that the prefix length needs.
    options : tuple of str
        Arguments of `bounds.prefix_length` that only some theorems have.
    joins : str
        The theorem that is the smallest of several, this one among them.
    attained : bool
        False for a limit of heads whose coefficients cancel in every digit.
    threshold : callable or None
        Problem -> the concentration from which the kernel alone is accurate enough.
    error : callable or None
        Prefix -> log of the sup error promised, and hypotheses.
    needs, uses : tuple of str
        Arguments of `bounds.error_bound` without which the error form says nothing, and those that sharpen it.
    requires : Requirement
        What the error form needs of control points.
    radius : callable or None
        (n, dim) -> least radius promised for n control points; None: that of a cover.
    validated : bool
        Whether `bounds.validate` holds it against heads with Riemann coefficients.
    free_concentration : callable or None
        (prefix, slack, concentration -> log error) -> concentration of the least error; None: not free to choose.
    proof : str
        The module whose `prove` encloses the prefix length; loaded with python-flint.
    """

    name: str
    reference: str
    statement: str
    head: Literal["core", "split", "any"]
    side: Side = "upper"
    printed: bool = False
    count: Callable[[Problem], Bound] | None = None
    constants: tuple[str, ...] = ("lipschitz", "sup_norm")
    options: tuple[str, ...] = ()
    joins: str = ""
    attained: bool = True
    threshold: Callable[[Problem], float] | None = None
    error: Callable[[Prefix], Promise] | None = None
    needs: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    requires: Requirement = Requirement(lambda _: "")
    radius: Callable[[float, int], float] | None = None
    validated: bool = False
    free_concentration: Callable[[Prefix, float, Curve], float] | None = None
    proof: str = ""

    @property
    def family(self) -> str:
        """The family of comparable theorems: "thesis", "core", "split" or "lower"."""
        return "thesis" if self.printed else "lower" if self.side == "lower" else self.head

    def prefix_length(
        self, log: float, *hypotheses: Hypothesis, concentration: float | None = None, radius: float | None = None,
        constants: tuple[tuple[str, float], ...] = (), whole: bool = False, note: str = "",
    ) -> Bound:  # fmt: skip
        """Make the bound of a prefix length from its logarithm; a note is added to the reference."""
        return Bound(
            "prefix length", log, self.side, self.name, self.reference + note, hypotheses, concentration, radius,
            constants, whole,
        )  # fmt: skip
