"""The command ``spherapprox shortest``: the fewest tokens found for one target, with its head and figures."""

from __future__ import annotations

import argparse
import shlex

from spherapprox import shortest_head
from spherapprox._checks import upper_text
from spherapprox.heads.registry import FAMILIES
from spherapprox.shortest import SearchOptions, TokenFormat

from .. import from_search
from ..from_search import compare_fixed_points
from .options import add_output, add_target, chosen_target, count, show

FILES = from_search.FILES

STATUS = "exit status: 0; 1 where no head within eps was found; 2 for bad arguments"
_LEGEND = """\
error    the largest found, of the head that is picked by a search of the whole sphere; proven: no error is larger
numbers  what is stored: keys, values and a common concentration; lost: decimal digits that cancel in the sum"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.epilog = STATUS
    add = parser.add_argument
    add_target(parser)
    add("--eps", type=float, required=True, help="the error wanted, in the target's units")
    add("--relative", action="store_true", help="eps is a share of the target's largest value")
    add("--kind", choices=list(FAMILIES), default="split", help="default: %(default)s")
    add("--keys", choices=["unit", "free"], default="unit", help="free: a concentration per token (default: unit)")
    add("--norm", choices=["sup", "rms"], default="sup", help="the norm of the error (default: %(default)s)")
    add("--max-tokens", type=count, default=300, help="default: %(default)s")
    add("--value-bound", type=float, help="bound of all values")
    add("--dtype", choices=["float16", "bfloat16"], help="what keys and values are stored in")
    add("--polish", action="store_true", help="also by linear programs: slow, worth a token or two")
    add("--starts", type=count, default=4, help="starts for each number of tokens (default: %(default)s)")
    add("--time-limit", type=float, metavar="SECONDS", help="stop then, with the best head so far")
    add("--no-proof", action="store_true", help="measure the error only")
    add("--no-lower", action="store_true", help="leave out the lower bound of the number of tokens")
    add("--start", metavar="FILE", help="go on from an earlier shortest.npz or checkpoint")
    add("--checkpoint", metavar="FILE", help="keep what has been found in this file, for --start")
    add("--seed", type=count, default=0, help="default: %(default)s")
    add_output(parser, "folder for the head, shortest.csv, .json, .npz and figures (default: shortest)", "shortest")


def run(options: argparse.Namespace) -> int:
    """Run the command; returns its exit status."""
    target = chosen_target(options)
    how = SearchOptions(
        max_tokens=options.max_tokens, starts=options.starts, polish=options.polish, lower=not options.no_lower,
        time_limit=options.time_limit, start=options.start, checkpoint=options.checkpoint, rng=options.seed,
        progress=not (options.quiet or options.json),
    )  # fmt: skip
    search = shortest_head(
        target, options.eps, options.kind, relative=options.relative, norm=options.norm, search=how,
        tokens=TokenFormat(options.keys, options.value_bound, options.dtype), certified=not options.no_proof,
    )  # fmt: skip
    methods = compare_fixed_points(target, least=search.eps)
    command = shlex.join(["spherapprox", *options.typed])
    report = from_search.report_search(search, target, others=methods, command=command)
    files, error = report.save(options.out), search.error
    upper = f", and no error is above {upper_text(error.upper)}" if error.upper < float("inf") else ""
    reached = f"{search.n} tokens, error {error.lower:.4g} (eps {upper_text(search.eps)}){upper}"
    end = f"{target.name} on S^{target.dim}: {reached}"
    show(options, ["", str(search), "", _LEGEND, "", end], report.document, files=files)
    return 0 if search.reached else 1
