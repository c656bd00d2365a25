"""Options that several commands share: numbers, folders and targets of the command line, and what is printed."""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spherapprox import _checks, sphere, targets
from spherapprox.target import Target

from .._study import CHOICES

STATUS = """\
exit status: 0; 1 where a theorem is violated or a stated number is refuted; 2 for bad arguments"""
"""The end of ``--help``."""


def count(text: str) -> int:
    """Parse a whole number, also written as 1e5."""
    value = float(text)
    if not value.is_integer() or value < 0:
        raise ValueError(text)
    return int(value)


def folder(text: str) -> Path:
    """Parse a folder that results can be written to, though it need not exist yet."""
    path = Path(text)
    nearest = next(p for p in (path, *path.absolute().parents) if p.exists())
    why = "" if text else "write . for the current one"
    try:  # permissions do not tell: /proc takes no files from anybody
        tempfile.TemporaryDirectory(prefix=".unfinished-", dir=nearest).cleanup()
    except OSError:
        why = why or (f"nothing can be made in {nearest}" if nearest.is_dir() else f"{nearest} is in the way")
    if why:
        raise argparse.ArgumentTypeError(f"{text!r} is no folder that can be written to: {why}")
    return path


count.__name__ = "whole number"


def choice(text: str) -> str | float:
    """Parse --concentration: a choice or a number."""
    return text if text in CHOICES else float(text)


choice.__name__ = "'theory', 'second-order', 'best', 'mean' or number"


def add_output(parser: argparse.ArgumentParser, purpose: str, out: str | None = None) -> None:
    """Add the options on what is written and printed."""
    add = parser.add_argument
    add("--out", type=folder, default=out, metavar="DIR", help=purpose)
    add("--force", action="store_true", help="replace files of the same names that are no earlier results")
    add("--json", action="store_true", help="print a JSON document in place of the tables")
    add("-q", "--quiet", action="store_true", help="print no progress and no notes on stderr")


def add_measuring(parser: argparse.ArgumentParser) -> None:
    """Add the options on how errors are measured."""
    add = parser.add_argument
    add("--estimate-lipschitz", action="store_true", help="estimate the constants that the target does not state")
    add("--no-proof", action="store_true", help="measure only: prove no upper bounds")
    add("--points", type=count, default=20_000, help="points that measure each error (default: %(default)s)")
    add("--seed", type=count, default=0, help="default: %(default)s")
    add("--workers", type=int, help="threads; -1 takes all cores (default: all for long work)")


def add_target(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose a target."""
    add = parser.add_argument
    names = ", ".join(targets.names())
    add("--target", default="geomagnetic_field", help=f"{names}, or module:function (default: %(default)s)")
    add("--dim", type=count, help="the manifold's dimension m of S^m (default: the target's own)")
    add("--year", type=float, help="epoch of the geomagnetic field, 1900 to 2030 (default: 2025)")


def chosen_target(options: argparse.Namespace) -> Target:
    """Return the target of --target, --dim and --year."""
    name = options.target
    if ":" not in name:
        if name not in targets.names():
            names = f"{', '.join(targets.names())}, got {name!r}{_checks.did_you_mean(name, targets.names())}"
            raise ValueError(f"'--target' must be module:function or one of {names}")
        return targets.make(name, dim=options.dim, **({} if options.year is None else {"year": options.year}))
    _checks.left_out(options.year, "--year", "where '--target' is not of the catalogue")
    folder = os.getcwd()
    sys.path.insert(0, folder)  # no longer than this lasts: nobody else's file is to run
    try:
        return _test_target(_import_function(name), name, options.dim)
    finally:
        sys.path.remove(folder)


def _test_target(function: Any, name: str, dim: int | None) -> Target:
    """Return the target of the user's function, which is called once: it may import its neighbours only then."""
    if isinstance(function, Target):
        target = function
        _checks.agreeing(dim, "--dim", target.dim, source=f", as '{name}' says")
    elif dim is None:
        raise ValueError(f"'--dim' must be given: '{name}' is no Target that has its own")
    else:
        target = Target(function, dim)
    x = sphere.uniform(target.dim, target.dim + 3, rng=0)  # not as many rows as columns
    try:
        target(x)
    except (Exception, SystemExit) as error:  # whatever the user's function does
        raise ValueError(f"'--target {name}' on rows of shape {x.shape}: {type(error).__name__}: {error}") from error
    return target


def _import_function(text: str) -> Any:
    """Import module:function."""
    module, _, name = text.partition(":")
    if not module or not name:
        raise ValueError(f"'--target' must be module:function or a name, got {text!r}")
    try:
        return functools.reduce(getattr, name.split("."), importlib.import_module(module))
    except ModuleNotFoundError as error:
        where = "in this folder or on Python's path (write it as in `import`, without .py)"
        raise ValueError(f"'--target {text}': there is no module {error.name!r} {where}") from error
    except (Exception, SystemExit) as error:  # whatever the user's module does
        raise ValueError(f"'--target {text}': {type(error).__name__}: {error}") from error


def show(options: argparse.Namespace, text: Sequence[str], document: Mapping[str, Any], *, files: Any) -> None:
    """Print the tables, or the document alone; then the files are named on stderr."""
    print(json.dumps(document, indent=1, allow_nan=False) if options.json else "\n".join(text))
    for path in () if options.json and options.quiet else files:
        print(f"wrote {path}", file=sys.stderr if options.json else sys.stdout)


def as_option(text: str) -> str:
    """Name the option of the command where the library names its function."""
    return text.replace("`estimate_constants`", "--estimate-lipschitz").replace(
        "'estimate_constants'", "'--estimate-lipschitz'"
    )
