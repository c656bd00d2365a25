"""The report of the ladder: prefix lengths by every theorem for one accuracy, and over accuracies and dimensions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from spherapprox import __version__, _checks
from spherapprox._loading import Later

from ..api import COUNTED, concentration, ladder
from ..records.bound import Bound, format_log10
from ..records.theorem import Statement
from ..theorems import as_statements, state
from .ladder import describe_rungs, evaluate_ladder
from .report import Cell, Facts, Picture, Report, Table, Verdict, name_sphere

_plot = Later(f"{__package__}.plot")  # matplotlib is loaded when a figure is drawn

FILES = {"ladder.csv": b"theorem,side,log10_n"} | dict.fromkeys(
    ("ladder.json", "ladder.html", "ladder_eps.png", "ladder_dim.png", "concentration.png"), b"spherapprox"
)
"""What the report saves, and what stands near the beginning of each."""

EPS = np.geomspace(1e-3, 1.0, 31)
DIMS = np.array([1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64])
_SHADED = "Shaded is what is open: between the floor of methods that sample and the least proven for split heads."


def report_ladder(
    eps: float, *, dim: int, lipschitz: float = 1.0, sup_norm: float = 1.0,
    theorems: Iterable[str | Statement] | None = None, progress: bool | None = False,
    axes: tuple[Any, Any] = (EPS, DIMS),
) -> Report:  # fmt: skip
    """Report the prefix lengths by every theorem, as a table and as curves over accuracies and dimensions.

    It saves ladder.html, .csv and .json, ladder_eps.png, ladder_dim.png and concentration.png; the figures take some
    seconds.

    Parameters
    ----------
    eps, dim : float, int
        The sup error and the dimension m of the table.
    lipschitz, sup_norm, theorems
        As in `bounds.ladder`.
    progress : bool or None
        As in `run_study`, when the figures are drawn.
    axes : pair of array_like
        The curves' values of eps/lipschitz and of dim, beside those of the table.

    Raises
    ------
    ValueError, TypeError
        For arguments outside their ranges.

    Examples
    --------
    >>> import bounds
    >>> printed = bounds.theorems.state_all(jackson_constant=1.0)
    >>> report = bounds.report.report_ladder(0.3, dim=8, theorems=printed)
    >>> report.verdict.text
    '10^6.39 tokens suffice for every function, and methods that sample need 10^5.49.'
    """
    constants: dict[str, Any] = {"lipschitz": lipschitz, "sup_norm": sup_norm}
    statements = as_statements(theorems, COUNTED)
    bounds = ladder(_checks.real(eps, "eps"), dim=_checks.dimension(dim), theorems=statements, **constants)
    axis = np.unique([*np.asarray(axes[0]) * lipschitz, eps, 0.999 * sup_norm])
    axis = axis[axis < max(sup_norm, np.nextafter(axis[0], np.inf))]  # from sup_norm on, 0 is near enough
    dims = np.unique(np.append(axes[1], dim))

    def over(eps: Any, dim: Any) -> Any:
        curves = evaluate_ladder(eps, dim=dim, theorems=statements, progress=progress, **constants)
        return _plot.ladder_figure(curves)

    def over_concentration() -> Any:
        problem: dict[str, Any] = {"dim": dim, "lipschitz": lipschitz}
        theorems = (state("thesis-core", jackson_constant=1.0), "thesis", "sharp")  # C_R = 1, and a proven C_R
        curves = [concentration(axis, theorem=theorem, **problem) for theorem in theorems]
        return _plot.ladder.concentration_figure(axis, curves, dim)

    figures = [
        Picture("ladder_eps.png", lambda: over(axis, dim), "Over the accuracy", caption=_SHADED),
        Picture("ladder_dim.png", lambda: over(eps, dims), "Over the dimension", caption=_SHADED),
        Picture(
            "concentration.png", over_concentration, "The concentration of the kernel",
            caption="From these concentrations on, the convolution with the kernel alone is as near to every function.",
        ),
    ]  # fmt: skip
    options = {name: value for statement in statements for name, value in statement.options.items()}
    pairs = [(name.replace("_", " "), str(value)) for name, value in (constants | options).items() if value is not None]
    return Report(
        name="ladder", title=f"Prefix length for sup error {eps:g} on {name_sphere(dim)}",
        subtitle=f"For all functions of Lipschitz constant {lipschitz:g} and sup norm {sup_norm:g}",
        verdict=_verdict(bounds), rows=list(map(_row, bounds)),
        document={"made_by": f"spherapprox {__version__}"}
        | describe_ladder(eps, bounds, dim=dim, **constants | options),
        tables=[_every(bounds)], figures=figures, facts=[Facts("What was asked", pairs)], marks=FILES,
    )  # fmt: skip


def describe_ladder(eps: float, bounds: Sequence[Bound], **constants: Any) -> dict[str, Any]:
    """Return a ladder with the numbers that it is for as a document for JSON."""
    return {"eps": eps, **constants, "rungs": describe_rungs(bounds)}


def _verdict(bounds: Sequence[Bound]) -> Verdict:
    """Return the least prefix length that is proven, and the largest that is necessary."""
    upper = [(b.log10, b.theorem) for b in bounds if b.side == "upper" and b.holds and math.isfinite(b.log)]
    lower = max((b.log10, b.theorem) for b in bounds if b.side == "lower")
    if not upper:
        return Verdict("undecided", "No theorem speaks of this.", [])
    numbers = [(f"suffice ({min(upper)[1]})", format_log10(min(upper)[0]))]
    numbers += [(f"are necessary ({lower[1]})", format_log10(lower[0]))] if lower[0] > 0.0 else []
    text = f"10^{min(upper)[0]:.2f} tokens suffice for every function"
    text += f", and methods that sample need 10^{lower[0]:.2f}." if lower[0] > 0.0 else "."
    return Verdict("proved", text, numbers)


def _every(bounds: Sequence[Bound]) -> Table:
    """Return the table of all theorems with their hypotheses."""
    rows = [
        [
            Cell(b.theorem, "name", (b.reference,)),
            Cell.number(b.concentration, 6),
            Cell("≥ " * (b.side == "lower") + ("-" if math.isinf(b.log) else f"{b.log10:.2f}"), "number"),
            Cell("holds" if b.holds else "not applicable", "verdict", ("; ".join(map(str, b.hypotheses)),)),
        ]
        for b in bounds
    ]
    return Table("Every theorem", ("theorem", "concentration", "log10 N", "hypotheses"), rows)


def _row(b: Bound) -> dict[str, object]:
    hypotheses = "; ".join(map(str, b.hypotheses))
    constants = "; ".join(f"{name} = {value!r}" for name, value in b.constants)
    return {
        "theorem": b.theorem, "side": b.side, "log10_n": b.log10, "concentration": b.concentration, "radius": b.radius,
        "holds": b.holds, "hypotheses": hypotheses, "constants": constants, "reference": b.reference,
    }  # fmt: skip
