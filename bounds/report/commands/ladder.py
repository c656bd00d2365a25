"""The command ``spherapprox bounds``: every theorem's concentration and prefix length."""

from __future__ import annotations

import argparse
from typing import Any

from spherapprox import __version__

from ...api import ladder, prefix_length
from ...theorems import state, state_all
from .. import from_ladder
from ..ladder import list_hypotheses
from .options import add_output, count, show

FILES = from_ladder.FILES


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add = parser.add_argument
    add("--dim", type=count, required=True, help="the manifold's dimension m of S^m")
    add("--eps", type=float, required=True, help="the sup error wanted")
    add("--lipschitz", type=float, default=1.0, help="per radian (default: 1)")
    add("--sup-norm", type=float, default=1.0, help="default: 1")
    add("--smoothness", type=float, help="bound of second derivatives along geodesics, for the theorems that need one")
    add("--ragozin", type=float, help="the thesis's C_R, 1 for its numbers (default: the proven one)")
    add_output(parser, "also write the table and figures over eps and dim to this folder")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    constants = {name: getattr(options, name) for name in ("dim", "lipschitz", "sup_norm")}
    choices = {"smoothness": options.smoothness, "jackson_constant": options.ragozin}
    text, document = print_ladder(options.eps, **constants, **choices)
    constants["theorems"] = state_all(**choices)
    hypotheses = list_hypotheses(ladder(options.eps, **constants))
    report = from_ladder.report_ladder(options.eps, **constants, progress=not options.quiet)
    files = () if options.out is None else report.save(options.out)
    document = {"made_by": f"spherapprox {__version__}"} | document
    show(options, [text, "\nHypotheses", hypotheses], document, files=files)


def print_ladder(
    eps: float, *, jackson_constant: float | None = None, smoothness: float | None = None, remark: str = "",
    **constants: Any,
) -> tuple[str, dict[str, Any]]:  # fmt: skip
    """Return the ladder with a title, its hypotheses' constants in a note, and as a document."""
    bounds = ladder(eps, theorems=state_all(jackson_constant=jackson_constant, smoothness=smoothness), **constants)
    thesis = prefix_length(eps, theorem=state("thesis-core", jackson_constant=1.0), **constants)
    names = f"Lipschitz constant {constants['lipschitz']:g}, sup norm {constants['sup_norm']:g}"
    names += "" if smoothness is None else f", smoothness {smoothness:g}"
    note = "Thesis lines take the proven C_R (docs/theorems/4.6-jackson-constants.md) and C_H = 1"
    if jackson_constant is not None:
        note = f"Thesis lines assume C_R = {jackson_constant:g} and C_H = 1"
    elif thesis.holds:
        note += f"; with C_R = 1, as the thesis leaves it open, thesis-core needs 10^{thesis.log10:.2f}"
    title = f"\nPrefix length for sup error {eps:g} on S^{constants['dim']}, {names}{remark}"
    document = from_ladder.describe_ladder(eps, bounds, **constants, smoothness=smoothness)
    return f"{title}\n{bounds}\n{note}.", document
