"""`Study` and its `Row`s: heads with a growing prefix on one target, their errors and their bounds."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from tabulate import tabulate

from spherapprox import __version__
from spherapprox._checks import upper_text
from spherapprox.heads.head import Head
from spherapprox.target import Target

from ..records.bound import format_log10
from ..validation.check import to_json
from ..validation.claims import Claim

CHOICES = ("theory", "second-order", "best", "mean")
"""How the concentration is chosen: by the a-priori bound, by that of second order for these points, by the sup error
measured, by the mean error measured."""

COLUMNS = ("sharp-core", "sharp-split-mean", "sharp-split-equal", "sharp-split")
"""The theorems whose bounds a `Row` holds."""


@dataclass(frozen=True)
class Row:
    """One head of a study: its errors and its bounds, in the target's unit; None for theorems that do not apply.

    Parameters
    ----------
    n : int
        Number of control points.
    head : {"core", "split"}
    choice : {"theory", "second-order", "best", "mean", "fixed"}
        How the concentration was chosen.
    concentration : float
        lambda.
    radius : float
        Of the partition's largest cell, in radians.
    error : float
        The largest error found.
    relative_error : float or None
        Its share of the largest value at the study's random sample; None where that is 0, or no sup norm is stated.
    sharp_core, sharp_split_mean, sharp_split_equal, sharp_split : float or None
        A-priori bounds of the sup error; `bound` is the least of them.
    floor : float or None
        No method that samples at n points promises less for every target of this Lipschitz constant.
    verdict : str
        Of the least bound, as in `bounds.validate`, or "violated" with the theorems that the error contradicts; "not
        applicable" where a constant that it needs was refuted, empty where the target states no Lipschitz constant.
        Where one was estimated, "(estimated constants)" follows.
    thesis_concentration, thesis_log10_n : float or None
        Lambda(eps) and log10 N(lambda, eps) of the thesis for the error achieved, with the proven C_R and C_H = 1.
    thesis_needs : str
        The hypotheses of the thesis that fail.
    mean_error : float
        The mean of the errors over the sphere, at a random sample.
    second_order, second_order_local : float or None
        The largest values found of the bounds (i) and (iii) of `bounds.pointwise.second_order_bound`.
    upper : float or None
        Proven: no error of this head is larger. None where no proof was asked for, would take too long, or rests on
        constants that were estimated or refuted.

    Examples
    --------
    >>> import bounds
    >>> from spherapprox import targets
    >>> study = bounds.report.run_study(targets.distance(2), [100], choices=["theory"], points=500)
    >>> core, split = study.rows
    >>> split.n, split.head, split.choice, split.verdict
    (100, 'split', 'theory', 'holds')
    >>> split.floor <= split.bound == split.sharp_split_equal < split.sharp_split_mean
    True
    >>> split.sharp_core is None, split.thesis_needs
    (True, 'needs dim >= 8')
    """

    n: int
    head: str
    choice: str
    concentration: float
    radius: float
    error: float
    relative_error: float | None
    sharp_core: float | None
    sharp_split_mean: float | None
    sharp_split_equal: float | None
    sharp_split: float | None
    floor: float | None
    verdict: str
    thesis_concentration: float | None
    thesis_log10_n: float | None
    thesis_needs: str
    mean_error: float
    second_order: float | None = None
    second_order_local: float | None = None
    upper: float | None = None

    @property
    def bound(self) -> float | None:
        """The smallest a-priori bound that applies to this head."""
        bounds = (getattr(self, name.replace("-", "_")) for name in COLUMNS)
        return min((bound for bound in bounds if bound is not None), default=None)


@dataclass(frozen=True)
class Study:
    """The result of `run_study`.

    Parameters
    ----------
    target : Target
        With the constants that the bounds use.
    rows : tuple of Row
        One for each head.
    shown : CoreHead or SplitHead
        The head that the maps show: the one of least sup error among those of about 10 000 control points, or of
        least mean error where the target states no Lipschitz constant.
    shown_error : float
        Its sup error.
    points : int
        At least so many points measured each error.
    estimated : tuple of str
        Constants of the target that are estimates: "lipschitz", "sup_norm".
    refuted : tuple of Claim
        Constants that the target states and sampling refutes, as `bounds.validate` does.

    Examples
    --------
    >>> import bounds
    >>> from spherapprox import targets
    >>> study = bounds.report.run_study(targets.land(), [50], choices=["mean"], points=500)
    >>> study.target.name, len(study.rows), study.shown.concentration in {row.concentration for row in study.rows}
    ('land', 2, True)
    >>> print(study)  # doctest: +ELLIPSIS
    land on S^2: Lipschitz constant unknown, sup norm 1
      N  head    by      lambda    error    mean...
    no bounds: 'land' states no Lipschitz constant, and ...
    >>> list(study.document())
    ['made_by', 'target', 'estimated', 'notes', 'points', 'rows']
    """

    target: Target
    rows: tuple[Row, ...]
    shown: Head
    shown_error: float
    points: int
    estimated: tuple[str, ...] = ()
    refuted: tuple[Claim, ...] = ()

    @property
    def title(self) -> str:
        """The target and its constants, in words."""
        target, constants = self.target, []
        for name, words, unit in (("lipschitz", "Lipschitz constant", " per radian"), ("sup_norm", "sup norm", "")):
            value = getattr(target, name)
            number = "unknown" if value is None else f"{value:.6g}{unit}"
            constants.append(f"{words} {number}" + (" (estimated)" if name in self.estimated else ""))
        return f"{target.name} on S^{target.dim}{f', {target.unit}' if target.unit else ''}: {', '.join(constants)}"

    @property
    def notes(self) -> tuple[str, ...]:
        """The reasons for empty columns, and the estimated or refuted constants, in words."""
        states = f"'{self.target.name}' states no"
        remedy = "Target(f, dim, lipschitz=..., sup_norm=...) states both, `estimate_constants` estimates them"
        notes = []
        if self.target.lipschitz is None:
            notes.append(f"no bounds: {states} Lipschitz constant, and no theorem speaks of it; {remedy}")
        elif self.target.sup_norm is None:
            notes.append(f"no bounds for core heads: {states} sup norm; {remedy}")
        if self.estimated:
            words = " and ".join({"lipschitz": "Lipschitz constant", "sup_norm": "sup norm"}[e] for e in self.estimated)
            notes.append(f"the {words} used here: estimated from below, by the target's values; no bound is proven")
        if not any(0.0 < row.error < math.inf for row in self.rows):
            notes.append("every sup error is 0 or infinite: the logarithmic axis of error.png shows none")
        for c in self.refuted:
            evidence = c.reason or f"{c.found:.6g} was found"
            notes.append(f"refuted: the {c.name} {c.stated:.6g} that is stated; {evidence}")
        return tuple(notes)

    def table(self) -> str:
        """Return the rows as a text table, a line for each, without empty columns.

        "by" is how lambda was chosen, "proven" an upper bound of the error, "% of sup" the error's share of the sup
        norm, "core", "equal" and "nearest" are bounds, and "2nd order" is one for these points.
        """
        cells = [_cells(row) for row in self.rows]
        columns = [i for i in range(len(_COLUMNS)) if any(line[i] for line in cells)]
        align = ["left" if _COLUMNS[i] in _WORDS else "right" for i in columns]
        lines = [[line[i] for i in columns] for line in cells]
        return str(tabulate(lines, headers=[_COLUMNS[i] for i in columns], colalign=align, disable_numparse=True))

    def document(self) -> dict[str, Any]:
        """Return the content of study.json: the target's constants, notes and rows; None for what is not finite."""
        target = self.target
        return {
            "made_by": f"spherapprox {__version__}",
            "target": {"name": target.name, "unit": target.unit, "dim": target.dim, "n_outputs": self.shown.n_outputs,
                       "lipschitz": target.lipschitz, "exponent": target.exponent, "sup_norm": target.sup_norm},
            "estimated": list(self.estimated),
            "notes": list(self.notes),
            "points": self.points,
            "rows": [to_json(asdict(row)) for row in self.rows],
        }  # fmt: skip

    def __str__(self) -> str:
        return "\n".join([self.title, self.table(), *self.notes])


_COLUMNS = (
    "N", "head", "by", "lambda", "error", "proven", "mean", "% of sup", "core", "equal", "nearest", "2nd order",
    "floor*", "checks", "thesis lambda, N",
)  # fmt: skip
_WORDS = ("head", "by", "checks", "thesis lambda, N")


def _cells(row: Row) -> tuple[str, ...]:
    def show(value: float | None) -> str:
        return "" if value is None else f"{value:.4g}"

    thesis = row.thesis_needs
    if row.thesis_log10_n is not None:
        thesis = f"{show(row.thesis_concentration)}, {format_log10(row.thesis_log10_n)}"
    local = row.second_order if row.second_order_local is None else row.second_order_local
    percent = None if row.relative_error is None else 100.0 * row.relative_error
    return (
        str(row.n), row.head, row.choice, show(row.concentration), show(row.error),
        "" if row.upper is None else upper_text(row.upper), show(row.mean_error), show(percent), show(row.sharp_core),
        show(row.sharp_split_equal), show(row.sharp_split), show(local), show(row.floor), row.verdict, thesis,
    )  # fmt: skip
