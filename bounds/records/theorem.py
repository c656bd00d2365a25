"""`Theorem`: the record of a theorem, declared once in its own file under `bounds.theorems`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .bound import Bound, Hypothesis, Side
from .problem import Problem

Promise = tuple[float, tuple[Hypothesis, ...]]
"""The log of an error bound, and its hypotheses."""

Curve = Callable[[float], float]
"""A function of one number, for instance concentration -> log(error bound)."""

Claimed = Literal["covering radius", "degree of exactness"]
"""Numbers that a user states of control points."""

Measured = Literal["", "error", "worst-case error"]
"""What `bounds.validate` measures of a head to hold an error form against; nothing for none."""


@dataclass(frozen=True)
class Prefix:
    """What is known of control points, the tokens of a prefix: all that theorems use of them.

    Parameters
    ----------
    n : float or array_like, optional
        Their number, 1 to 1e300; no number of sample points, as `n` is in `sup_error`.
    radius : float or array_like, optional
        Their covering radius, or that of their cells, in radians. Where it is missing and n is given: the least one
        that a theorem promises for n points, of a cover (`covering_radius`) or of cells of equal measure.
    separation : float, optional
        The least distance between two of them, in radians.
    exactness : int, optional
        To this degree their quadrature, of positive weights, integrates spherical polynomials exactly.

    Examples
    --------
    >>> from bounds import error_bound
    >>> print(error_bound(theorem="lower", dim=2, lipschitz=1.0, points=Prefix(n=10_000)))
    lower: sup error >= 0.02199  [docs/theorems/4.5-lower-bound.md]
    """

    n: Any = None
    radius: Any = None
    separation: float | None = None
    exactness: int | None = None


@dataclass(frozen=True)
class Requirement:
    """The hypotheses of a theorem on control points: `lack` maps these to what they lack, in words, empty for nothing.

    `claims` are numbers that the user states of such points and that the theorem rests on.
    """

    lack: Callable[[object], str]
    claims: tuple[Claimed, ...] = ()


@dataclass(frozen=True)
class Theorem:
    """One theorem: its prefix length, its error form, and what each asks for.

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
        What may be chosen of it (`bounds.theorems.state`).
    joins : str
        The theorem that is the smallest of several, this one among them.
    attained : bool
        False for a limit of heads whose coefficients cancel in every digit.
    threshold : callable or None
        Problem -> the concentration from which the kernel alone is accurate enough.
    error : callable or None
        (problem, prefix) -> log of the sup error promised, and hypotheses.
    needs, uses : tuple of str
        Constants of the class, options and fields of `Prefix` without which the error form says nothing, and those that
        sharpen it.
    requires : Requirement
        What the error form needs of control points.
    radius : callable or None
        (n, dim) -> least radius promised for n control points; None: that of a cover.
    measured : {"", "error", "worst-case error"}
        What `bounds.validate` holds the error form against.
    free_concentration : callable or None
        (problem, prefix, concentration -> log error) -> concentration of the least error; None: not free to choose.
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
    error: Callable[[Problem, Prefix], Promise] | None = None
    needs: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    requires: Requirement = Requirement(lambda _: "")
    radius: Callable[[float, int], float] | None = None
    measured: Measured = ""
    free_concentration: Callable[[Problem, Prefix, Curve], float] | None = None

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
            "prefix length", log, self.side, theorem=self.name, reference=self.reference + note, hypotheses=hypotheses,
            concentration=concentration, radius=radius, constants=constants, whole=whole,
        )  # fmt: skip

    def sup_error(self, problem: Problem, prefix: Prefix) -> Bound:
        """Make the bound of the sup error that the error form promises for control points."""
        assert self.error is not None
        log, hypotheses = self.error(problem, prefix)
        radius = None if math.isnan(prefix.radius) else prefix.radius
        return Bound(
            "sup error", log, self.side, theorem=self.name, reference=self.reference, hypotheses=hypotheses,
            concentration=problem.concentration, radius=radius,
        )  # fmt: skip


@dataclass(frozen=True)
class Statement:
    """A theorem with the options chosen for it; `bounds.theorems.state` makes it.

    Parameters
    ----------
    theorem : Theorem
        Its record.
    options : mapping
        Options by name, checked.

    Examples
    --------
    >>> from bounds.theorems import state
    >>> dict(state("sharp-split-nearest", slack=0.1).options)
    {'slack': 0.1}
    """

    theorem: Theorem
    options: Mapping[str, Any]
