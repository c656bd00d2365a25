"""The command ``spherapprox points``: makers of control points compared by their covering radius."""

from __future__ import annotations

import argparse
import shlex

from spherapprox import __version__

from .. import makers
from .options import add_output, count, show

FILES = makers.FILES


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add = parser.add_argument
    add("--dim", type=count, default=2, help="the manifold's dimension m of S^m (default: %(default)s)")
    add("--n", type=count, nargs="+", default=list(makers.COUNTS), help="numbers of points")
    known = ", ".join(map(shlex.quote, makers.MAKERS))
    add("--makers", nargs="+", action="extend", metavar="MAKER", help=f"who makes the points (default: all): {known}")
    add("--seed", type=count, default=0, help="default: %(default)s")
    add_output(parser, "also write the table and figures to this folder")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    found = makers.compare(options.dim, options.n, makers=options.makers, rng=options.seed, progress=not options.quiet)
    written = () if options.out is None else makers.save(found, options.out)
    notes = ["floor    no N points have a smaller covering radius: the angle of a cap of measure 1/N", *found.notes]
    document = {"made_by": f"spherapprox {__version__}", "rows": found.records(), "notes": list(found.notes)}
    show(options, [found.table(), *notes], document, written)
