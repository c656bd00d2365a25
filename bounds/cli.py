"""The command `spherapprox`: run a study, print the ladder of prefix lengths, or compare control points."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

from spherapprox import __version__, show_config, targets, warmup
from spherapprox.target import Target

from . import makers, rungs
from . import study as studies
from ._bound import Bound
from .api import ladder, prefix_length

_LEGEND = """\
by       how lambda was chosen: theory, by the least bound; best, by the least measured error
error    the largest found
core ... a-priori bounds for the same head: sharp-core, sharp-split-equal, sharp-split (docs/theorems.md, 4.3, 4.B, 4.4)
floor*   no method that samples at N points can promise less for every target of this Lipschitz constant (4.5)
thesis   Lambda(eps), N(lambda, eps) for the error achieved: Theorems 4.12, 4.14 (core), 4.15 (split), C_R = C_H = 1"""


def _count(text: str) -> int:
    """Parse a whole number, also written as 1e5."""
    value = float(text)
    if not value.is_integer() or value < 0:
        raise ValueError(text)
    return int(value)


def _choice(text: str) -> str | float:
    """Parse what --concentration takes: theory, best, or a number."""
    return text if text in studies.CHOICES else float(text)


def _folder(text: str) -> Path:
    """Parse a folder that results can be written to, though it need not exist yet."""
    path = Path(text)
    nearest = next(p for p in (path, *path.absolute().parents) if p.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK | os.X_OK):
        raise argparse.ArgumentTypeError(f"{text!r} is no folder that can be written to: {nearest} is in the way")
    return path


_count.__name__, _choice.__name__ = "whole number", "'theory', 'best' or number"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="spherapprox", description="How many prefix tokens does an attention head need on the sphere?"
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_study(commands.add_parser("study", help="approximate a target with growing prefixes and check every bound"))
    _add_bounds(commands.add_parser("bounds", help="print every theorem's concentration and prefix length"))
    _add_points(commands.add_parser("points", help="compare makers of control points by their covering radius"))
    _add_warmup(commands.add_parser("warmup", help="compile every kernel now, so that no later call waits for it"))
    return parser


def _add_study(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--target", default="geomagnetic_field", choices=targets.names(), help="default: %(default)s")
    add("--dim", type=_count, help="the manifold's dimension m of S^m (default: the target's own)")
    add("--n", type=_count, nargs="+", default=list(studies.PREFIX_LENGTHS), help="numbers of control points")
    add("--concentration", type=_choice, help="'theory', 'best' or a number (default: theory and best)")
    add("--eps", type=float, help="also print the ladder of prefix lengths for this sup error")
    add("--year", type=float, help="epoch of the geomagnetic field, 1900 to 2030 (default: 2025)")
    add(
        "--out",
        type=_folder,
        default="study",
        metavar="DIR",
        help="folder for study.csv, study.json and figures (default: study)",
    )
    add("--points", type=_count, default=20_000, help="points that measure each error (default: %(default)s)")
    add("--seed", type=_count, default=0, help="default: %(default)s")
    add("--workers", type=int, default=-1, help="threads (default: all)")


def _add_bounds(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--dim", type=_count, required=True, help="the manifold's dimension m of S^m")
    add("--eps", type=float, required=True, help="the sup error wanted")
    add("--lipschitz", type=float, default=1.0, help="per radian (default: 1)")
    add("--sup-norm", type=float, default=1.0, help="default: 1")
    add("--ragozin", type=float, help="the thesis's C_R (default: 1, as the thesis leaves it open)")
    add("--out", type=_folder, metavar="DIR", help="also write the table and figures over eps and dim to this folder")


def _add_points(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--dim", type=_count, default=2, help="the manifold's dimension m of S^m (default: %(default)s)")
    add("--n", type=_count, nargs="+", default=list(makers.COUNTS), help="numbers of points")
    add(
        "--makers",
        nargs="+",
        action="extend",
        metavar="MAKER",
        help=f"who makes the points (default: all): {', '.join(map(shlex.quote, makers.MAKERS))}",
    )
    add("--seed", type=_count, default=0, help="default: %(default)s")
    add("--out", type=_folder, metavar="DIR", help="also write the table and figures to this folder")


def _add_warmup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--workers", type=int, default=-1, help="processes (default: as many as there are cores)")
    parser.add_argument("--quiet", action="store_true", help="no progress bar, no report")


def _study(options: argparse.Namespace) -> None:
    extra = {} if options.year is None else {"year": options.year}
    target = targets.make(options.target, dim=options.dim, **extra)
    ladders = [] if options.eps is None else _ladders_for(options.eps, target)
    choices = studies.CHOICES if options.concentration is None else (options.concentration,)
    result = studies.run(
        target, options.n, choices=choices, points=options.points, rng=options.seed, workers=options.workers,
        progress=None,
    )  # fmt: skip
    written = studies.save(result, options.out)
    constants = f"Lipschitz constant {target.lipschitz:.6g} per radian, sup norm {target.sup_norm:.6g}"
    print(f"{target.name} on S^{target.dim}{f', {target.unit}' if target.unit else ''}: {constants}")
    print(result.table(), _LEGEND, *ladders, *(f"wrote {path}" for path in written), sep="\n")


def _bounds(options: argparse.Namespace) -> None:
    ragozin = 1.0 if options.ragozin is None else options.ragozin
    text, bounds = _ladder(options.eps, options.dim, options.lipschitz, options.sup_norm, ragozin)
    said = f"\nHypotheses\n{rungs.hypotheses(bounds)}"
    written: tuple[Path, ...] = ()
    if options.out is not None:
        written = rungs.save(
            options.out, options.eps, dim=options.dim, lipschitz=options.lipschitz, sup_norm=options.sup_norm,
            ragozin=ragozin, progress=None,
        )  # fmt: skip
    print(text, said, *(f"wrote {path}" for path in written), sep="\n")


def _points(options: argparse.Namespace) -> None:
    found = makers.compare(options.dim, options.n, makers=options.makers, rng=options.seed, progress=None)
    written = () if options.out is None else makers.save(found, options.out)
    note = "floor    no N points have a smaller covering radius: the angle of a cap of measure 1/N"
    print(found.table(), note, *(f"wrote {path}" for path in written), sep="\n")


def _warmup(options: argparse.Namespace) -> None:
    start = time.perf_counter()
    count = warmup(workers=options.workers, progress=not options.quiet)
    if not options.quiet:
        seconds, folder = time.perf_counter() - start, show_config("dicts")["compiled code"]
        print(f"compiled {count} kernels in {seconds:.0f} s; they are in {folder}")


def _ladders_for(eps: float, target: Target) -> list[str]:
    """Return the ladder for the target's own constants, and beside it the one that the thesis prints, L = F = 1."""
    constants = {(target.lipschitz or 1.0, target.sup_norm or 1.0), (1.0, 1.0)}
    return [_ladder(eps, target.dim, *pair, 1.0)[0] for pair in sorted(constants, reverse=True)]


def _ladder(eps: float, dim: int, lipschitz: float, sup_norm: float, ragozin: float) -> tuple[str, tuple[Bound, ...]]:
    """Return the ladder with a title and a note, and its bounds."""
    bounds = ladder(eps, dim=dim, lipschitz=lipschitz, sup_norm=sup_norm, ragozin=ragozin)
    proven = prefix_length(eps, dim=dim, lipschitz=lipschitz, sup_norm=sup_norm, theorem="thesis-core")
    title = f"Prefix length for sup error {eps:g} on S^{dim}, Lipschitz constant {lipschitz:g}, sup norm {sup_norm:g}"
    note = f"Thesis lines assume C_R = {ragozin:g} and C_H = 1"
    if proven.holds and ragozin == 1.0:
        note += f"; with the proven C_R of docs/theorems.md, 4.6, thesis-core needs 10^{proven.log10:.2f}"
    return f"\n{title}\n{rungs.table(bounds)}\n{note}.", bounds


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status (0, 2 for bad arguments, 130 when interrupted)."""
    options = _parser().parse_args(arguments)
    plain, warnings.formatwarning = warnings.formatwarning, _one_line
    try:
        {"study": _study, "bounds": _bounds, "points": _points, "warmup": _warmup}[options.command](options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as head, has seen enough; files are written before anything is printed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, TypeError, OSError, MemoryError) as error:
        print(f"spherapprox {options.command}: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ninterrupted; nothing was written", file=sys.stderr)
        return 130
    finally:
        warnings.formatwarning = plain
    return 0


def _one_line(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """Print a warning without the line of source that raised it."""
    return f"spherapprox: warning: {message}\n"


if __name__ == "__main__":
    sys.exit(main())
