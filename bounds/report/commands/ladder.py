"""The command ``spherapprox bounds``: every theorem's concentration and prefix length."""

from __future__ import annotations

import argparse
from typing import Any

from spherapprox import __version__

from ...api import prefix_length
from ...theorems import state
from .. import rungs
from .options import add_output, count, show

FILES = rungs.FILES


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
    given = {name: getattr(options, name) for name in ("dim", "lipschitz", "sup_norm", "smoothness")}
    given["jackson_constant"] = options.ragozin
    text, document = ladder_text(options.eps, **given)
    said = rungs.hypotheses(rungs.ladder_with(options.eps, **given))
    written = () if options.out is None else rungs.save(options.out, options.eps, **given, progress=not options.quiet)
    show(options, [text, "\nHypotheses", said], {"made_by": f"spherapprox {__version__}"} | document, written)


def ladder_text(
    eps: float, *, jackson_constant: float | None = None, said: str = "", **known: Any
) -> tuple[str, dict[str, Any]]:
    """Return the ladder with a title, its hypotheses' constants in a note, and as a document."""
    bounds = rungs.ladder_with(eps, jackson_constant=jackson_constant, **known)
    constants = {name: value for name, value in known.items() if name != "smoothness"}
    printed = prefix_length(eps, theorem=state("thesis-core", jackson_constant=1.0), **constants)
    words = f"Lipschitz constant {known['lipschitz']:g}, sup norm {known['sup_norm']:g}"
    words += "" if known["smoothness"] is None else f", smoothness {known['smoothness']:g}"
    note = "Thesis lines take the proven C_R (docs/theorems/4.6-jackson-constants.md) and C_H = 1"
    if jackson_constant is not None:
        note = f"Thesis lines assume C_R = {jackson_constant:g} and C_H = 1"
    elif printed.holds:
        note += f"; with C_R = 1, as the thesis leaves it open, thesis-core needs 10^{printed.log10:.2f}"
    title = f"\nPrefix length for sup error {eps:g} on S^{known['dim']}, {words}{said}"
    return f"{title}\n{rungs.table(bounds)}\n{note}.", {"eps": eps, **known, "rungs": rungs.records(bounds)}
