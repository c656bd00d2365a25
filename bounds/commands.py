"""The commands of `spherapprox`: studies, validations, searches, the ladder, a comparison of points, a warm-up."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from spherapprox import __version__, show_config, warmup
from spherapprox.target import Target

from . import makers, rungs, shortest
from . import study as studies
from ._files import earlier
from ._options import add_output, add_target, chosen_target, count, show
from ._shortest_command import add_shortest, searched
from ._validate_command import STATUS, add_validate, validated
from .api import ladder, prefix_length
from .verdicts import FILES as VALIDATION

_SHARP = """\
core ... a-priori bounds for the same head: sharp-core, sharp-split-equal, sharp-split (docs/theorems/index.md)
2nd ...  for these points and this lambda: the largest value found of a bound that is proven at each point (4.H)
checks   of the least of them: it is proved or holds for the error found, is violated, is vacuous (above twice the sup
         norm), or does not apply, as a constant was refuted
floor*   no method that samples at N points can promise less for every target of this Lipschitz constant (4.5)
thesis   Lambda(eps), N(lambda, eps) for the error achieved: Theorems 4.12, 4.14 (core), 4.15 (split), C_R = C_H = 1"""
_MEASURED = """\
by       how lambda was chosen: theory, by the least bound; second-order, by that of 4.H for these points; best, by the
         least error; mean, by the least mean error
error    the largest found; mean, the mean over the sphere, at a random sample
proven   no error of this head is larger, by a proof; empty where it would take long, is above twice the error, or rests
         on an estimated or refuted constant"""


def _choice(text: str) -> str | float:
    """Parse --concentration: theory, second-order, best, mean, or a number."""
    return text if text in studies.CHOICES else float(text)


_choice.__name__ = "'theory', 'second-order', 'best', 'mean' or number"


def _parser() -> argparse.ArgumentParser:
    question = "How many prefix tokens does an attention head need on the sphere?"
    parser = argparse.ArgumentParser(prog="spherapprox", description=question)
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_study(commands.add_parser("study", help="approximate a target with growing prefixes and check every bound"))
    _add_bounds(commands.add_parser("bounds", help="print every theorem's concentration and prefix length"))
    _add_points(commands.add_parser("points", help="compare makers of control points by their covering radius"))
    add_validate(commands.add_parser("validate", help="prove a head's error, and hold it against every theorem"))
    add_shortest(commands.add_parser("shortest", help="search for the fewest tokens within eps of one target"))
    warm = commands.add_parser("warmup", help="compile every kernel now, so that no later call waits for it")
    warm.add_argument("--workers", type=int, help="processes (default: as many as there are cores)")
    warm.add_argument("-q", "--quiet", action="store_true", help="no progress bar, no report")
    return parser


def _add_study(parser: argparse.ArgumentParser) -> None:
    parser.epilog = STATUS
    add = parser.add_argument
    add_target(parser)
    add("--n", type=count, nargs="+", default=list(studies.PREFIX_LENGTHS), help="numbers of control points")
    ways = "'theory', 'second-order', 'best', 'mean' or a number (default: the first three that apply)"
    add("--concentration", type=_choice, help=ways)
    add("--estimate-lipschitz", action="store_true", help="estimate the constants that the target does not state")
    add("--eps", type=float, help="also print the ladder of prefix lengths for this sup error")
    add("--no-proof", action="store_true", help="measure only: prove no upper bounds")
    add("--points", type=count, default=20_000, help="points that measure each error (default: %(default)s)")
    add("--seed", type=count, default=0, help="default: %(default)s")
    add("--workers", type=int, help="threads; -1 takes all cores (default: all for long work)")
    add_output(parser, "folder for study.html, .csv, .json and figures (default: study)", "study")


def _add_bounds(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--dim", type=count, required=True, help="the manifold's dimension m of S^m")
    add("--eps", type=float, required=True, help="the sup error wanted")
    add("--lipschitz", type=float, default=1.0, help="per radian (default: 1)")
    add("--sup-norm", type=float, default=1.0, help="default: 1")
    add("--smoothness", type=float, help="bound of second derivatives along geodesics, for the theorems that need one")
    add("--ragozin", type=float, help="the thesis's C_R (default: 1, as the thesis leaves it open)")
    add_output(parser, "also write the table and figures over eps and dim to this folder")


def _add_points(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--dim", type=count, default=2, help="the manifold's dimension m of S^m (default: %(default)s)")
    add("--n", type=count, nargs="+", default=list(makers.COUNTS), help="numbers of points")
    known = ", ".join(map(shlex.quote, makers.MAKERS))
    add("--makers", nargs="+", action="extend", metavar="MAKER", help=f"who makes the points (default: all): {known}")
    add("--seed", type=count, default=0, help="default: %(default)s")
    add_output(parser, "also write the table and figures to this folder")


def _study(options: argparse.Namespace) -> int:
    target = chosen_target(options)
    later = options.estimate_lipschitz and None in (target.lipschitz, target.sup_norm)
    ladders = [] if options.eps is None or later else _ladders_for(options.eps, target)
    result = studies.run(
        target, options.n, points=options.points, rng=options.seed, workers=options.workers,
        choices=None if options.concentration is None else (options.concentration,),
        estimate=options.estimate_lipschitz, progress=not options.quiet, certified=not options.no_proof,
    )  # fmt: skip
    if options.eps is not None and later:
        ladders = _ladders_for(options.eps, result.target, " (estimated constants)")
    command = shlex.join(["spherapprox", *options.typed])
    written = studies.save(result, options.out, command=command)
    legend = [_MEASURED, *([] if result.target.lipschitz is None else [_SHARP])]
    notes = [f"note     {_as_option(note)}" for note in result.notes]
    text = [_title(result), result.table(), *legend, *notes, *(text for text, _ in ladders)]
    document = result.document() | ({"ladders": [found for _, found in ladders]} if ladders else {})
    show(options, text, document, written)
    return 1 if result.refuted or any(row.verdict.startswith("violated") for row in result.rows) else 0


def _title(result: studies.Study) -> str:
    target, said = result.target, []
    for name, words, unit in (("lipschitz", "Lipschitz constant", " per radian"), ("sup_norm", "sup norm", "")):
        value = getattr(target, name)
        known = "unknown" if value is None else f"{value:.6g}{unit}"
        said.append(f"{words} {known}" + (" (estimated)" if name in result.estimated else ""))
    return f"{target.name} on S^{target.dim}{f', {target.unit}' if target.unit else ''}: {', '.join(said)}"


def _bounds(options: argparse.Namespace) -> None:
    given = {name: getattr(options, name) for name in ("dim", "lipschitz", "sup_norm", "smoothness")}
    given["ragozin"] = 1.0 if options.ragozin is None else options.ragozin
    text, document = _ladder(options.eps, **given)
    said = rungs.hypotheses(ladder(options.eps, **given))
    written = () if options.out is None else rungs.save(options.out, options.eps, **given, progress=not options.quiet)
    show(options, [text, "\nHypotheses", said], {"made_by": f"spherapprox {__version__}"} | document, written)


def _points(options: argparse.Namespace) -> None:
    found = makers.compare(options.dim, options.n, makers=options.makers, rng=options.seed, progress=not options.quiet)
    written = () if options.out is None else makers.save(found, options.out)
    notes = ["floor    no N points have a smaller covering radius: the angle of a cap of measure 1/N", *found.notes]
    document = {"made_by": f"spherapprox {__version__}", "rows": found.records(), "notes": list(found.notes)}
    show(options, [found.table(), *notes], document, written)


def _ladders_for(eps: float, target: Target, said: str = "") -> list[tuple[str, dict[str, Any]]]:
    """Return the ladder for the target's own constants, and beside it the one that the thesis prints, L = F = 1."""
    if target.lipschitz is None or target.sup_norm is None:
        raise ValueError(
            f"'--eps' needs a Lipschitz constant and a sup norm, and '{target.name}' does not state both: "
            "leave it out, or use --estimate-lipschitz"
        )
    plain: dict[str, Any] = {"lipschitz": 1.0, "sup_norm": 1.0, "smoothness": None}
    own = {name: getattr(target, name) or value for name, value in plain.items()}  # a constant has zeros
    ladders = [_ladder(eps, dim=target.dim, ragozin=1.0, said=said, **own)]
    same = own | {"smoothness": None} == plain
    return ladders if same else [*ladders, _ladder(eps, dim=target.dim, ragozin=1.0, **plain)]


def _ladder(eps: float, *, ragozin: float, said: str = "", **known: Any) -> tuple[str, dict[str, Any]]:
    """Return the ladder with a title, its hypotheses' constants in a note, and as a document."""
    bounds = ladder(eps, ragozin=ragozin, **known)
    proven = prefix_length(eps, theorem="thesis-core", **known | {"smoothness": None})
    constants = f"Lipschitz constant {known['lipschitz']:g}, sup norm {known['sup_norm']:g}"
    constants += "" if known["smoothness"] is None else f", smoothness {known['smoothness']:g}"
    note = f"Thesis lines assume C_R = {ragozin:g} and C_H = 1"
    if proven.holds and ragozin == 1.0:
        note += f"; by the proven C_R (docs/theorems/4.6-jackson-constants.md) thesis-core needs 10^{proven.log10:.2f}"
    title = f"\nPrefix length for sup error {eps:g} on S^{known['dim']}, {constants}{said}"
    return f"{title}\n{rungs.table(bounds)}\n{note}.", {"eps": eps, **known, "rungs": rungs.records(bounds)}


def _warmup(options: argparse.Namespace) -> None:
    start = time.perf_counter()
    count = warmup(workers=options.workers, progress=not options.quiet)
    if not options.quiet:
        seconds = time.perf_counter() - start
        print(f"compiled {count} kernels in {seconds:.0f} s; they are in {show_config('dicts')['compiled code']}")


_COMMANDS: dict[str, tuple[Callable[[argparse.Namespace], int | None], Mapping[str, bytes]]] = {
    "study": (_study, studies.FILES),
    "bounds": (_bounds, rungs.FILES),
    "points": (_points, makers.FILES),
    "validate": (validated, VALIDATION),
    "shortest": (searched, shortest.FILES),
    "warmup": (_warmup, {}),
}


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status (0, 1 for what is violated or refuted, 2 for bad arguments)."""
    options = _parser().parse_args(arguments)
    options.typed = sys.argv[1:] if arguments is None else list(arguments)
    command, files = _COMMANDS[options.command]
    plain = warnings.formatwarning
    warnings.formatwarning = lambda message, *_: f"spherapprox: warning: {message}\n"  # without its line of source
    try:
        if getattr(options, "out", None) is not None:
            _check_files(options, files)
        status = command(options) or 0
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as head, has seen enough; files are written before anything is printed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, TypeError, OSError, MemoryError) as error:
        print(f"spherapprox {options.command}: error: {_as_option(str(error))}", file=sys.stderr)
        return 2
    except SystemExit as error:  # no command exits by itself: the user's function does
        print(f"spherapprox {options.command}: error: '--target {options.target}': {error!r}", file=sys.stderr)
        return 2
    finally:
        warnings.formatwarning = plain
    return status


def _as_option(text: str) -> str:
    """Name the option of the command where the library names its own."""
    return text.replace("estimate=True", "--estimate-lipschitz").replace("'estimate'", "'--estimate-lipschitz'")


def _check_files(options: argparse.Namespace, files: Mapping[str, bytes]) -> None:
    """Refuse to replace files that are no earlier results, unless forced; announce a replacement."""
    out = Path(options.out)
    own, others = earlier(out, files)
    if others and not options.force:
        names = ", ".join(str(out / name) for name in others)
        raise ValueError(f"{names}: in the way, and no earlier result; name another folder (--out) or use --force")
    if (own or others) and not options.quiet:
        print(f"spherapprox {options.command}: the results in {out} will be replaced", file=sys.stderr)
