"""The command ``spherapprox study``: a target approximated with growing prefixes, held against every bound."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from spherapprox.target import Target

from .. import from_study
from ..study import PREFIX_LENGTHS, estimate_constants, run_study
from .ladder import print_ladder
from .options import STATUS, add_measuring, add_output, add_target, as_option, choice, chosen_target, count, show

FILES = from_study.FILES

_SHARP = """\
core ... a-priori bounds for the same head: sharp-core, sharp-split-equal, sharp-split (docs/theorems/index.md)
2nd ...  for these points and this lambda: the largest value found of a bound that is proven at each point (4.H)
checks   of the least of them: it is proved or holds for the error found, is violated, is vacuous (above twice the sup
         norm), or does not apply, as a constant was refuted
floor*   no method that samples at N points can promise less for every target of this Lipschitz constant (4.5)
thesis   Lambda(eps), N(lambda, eps) for the error achieved: Theorems 4.12, 4.14, 4.15, proven C_R, C_H = 1"""
_MEASURED = """\
by       how lambda was chosen: theory, by the least bound; second-order, by that of 4.H for these points; best, by the
         least error; mean, by the least mean error
error    the largest found; mean, the mean over the sphere, at a random sample
proven   no error of this head is larger, by a proof; empty where it would take long, is above twice the error, or rests
         on an estimated or refuted constant"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.epilog = STATUS
    add = parser.add_argument
    add_target(parser)
    add("--n", type=count, nargs="+", default=list(PREFIX_LENGTHS), help="numbers of control points")
    ways = "'theory', 'second-order', 'best', 'mean' or a number (default: the first three that apply)"
    add("--concentration", type=choice, help=ways)
    add("--eps", type=float, help="also print the ladder of prefix lengths for this sup error")
    add_measuring(parser)
    add_output(parser, "folder for study.html, .csv, .json and figures (default: study)", "study")


def run(options: argparse.Namespace) -> int:
    """Run the command; returns its exit status."""
    target = chosen_target(options)
    later = options.estimate_lipschitz and None in (target.lipschitz, target.sup_norm)
    ladders = [] if options.eps is None or later else _ladders_for(options.eps, target)
    target = estimate_constants(target, options.seed) if options.estimate_lipschitz else target
    study = run_study(
        target, options.n, choices=None if options.concentration is None else (options.concentration,),
        points=options.points, rng=options.seed, workers=options.workers, progress=not options.quiet,
        certified=not options.no_proof,
    )  # fmt: skip
    if options.eps is not None and later:
        ladders = _ladders_for(options.eps, study.target, " (estimated constants)")
    files = from_study.report_study(study, command=shlex.join(["spherapprox", *options.typed])).save(options.out)
    table = study.table()
    sharp = "\n".join(line for line in _SHARP.splitlines() if "2nd order" in table or not line.startswith("2nd"))
    legend = [_MEASURED, *([] if study.target.lipschitz is None else [sharp])]
    notes = [f"note     {as_option(note)}" for note in study.notes]
    text = [study.title, table, *legend, *notes, *(text for text, _ in ladders)]
    document = study.document() | ({"ladders": [document for _, document in ladders]} if ladders else {})
    show(options, text, document, files=files)
    return 1 if study.refuted or any(row.verdict.startswith("violated") for row in study.rows) else 0


def _ladders_for(eps: float, target: Target, remark: str = "") -> list[tuple[str, dict[str, Any]]]:
    """Return the ladder for the target's own constants, and beside it the one that the thesis prints, L = F = 1."""
    if target.lipschitz is None or target.sup_norm is None:
        raise ValueError(
            f"'--eps' needs a Lipschitz constant and a sup norm, and '{target.name}' does not state both: "
            "leave it out, or use --estimate-lipschitz"
        )
    plain: dict[str, Any] = {"lipschitz": 1.0, "sup_norm": 1.0, "smoothness": None}
    own = {name: getattr(target, name) or value for name, value in plain.items()}  # a constant has zeros
    ladders = [print_ladder(eps, dim=target.dim, remark=remark, **own)]
    return ladders if own | {"smoothness": None} == plain else [*ladders, print_ladder(eps, dim=target.dim, **plain)]
