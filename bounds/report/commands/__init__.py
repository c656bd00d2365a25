"""The commands of `spherapprox`: studies, validations, searches, the ladder, a warm-up.

Each is a module with ``add(parser)``, ``run(options)`` and the FILES that it writes, loaded when it is asked for.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spherapprox import __version__

from .._files import earlier
from .options import as_option

COMMANDS = {
    "study": ("study", "approximate a target with growing prefixes and check every bound"),
    "bounds": ("ladder", "print every theorem's concentration and prefix length"),
    "validate": ("validate", "prove a head's error, and hold it against every theorem"),
    "shortest": ("shortest", "search for the fewest tokens within eps of one target"),
    "warmup": ("warmup", "compile every kernel now, so that no later call waits for it"),
}


def _parser(command: str | None) -> tuple[argparse.ArgumentParser, Any]:
    """Return the parser, with the options of one command alone, and this command's module."""
    question = "How many prefix tokens does an attention head need on the sphere?"
    parser = argparse.ArgumentParser(prog="spherapprox", description=question)
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    module: Any = None
    for name, (home, purpose) in COMMANDS.items():
        own = commands.add_parser(name, help=purpose)
        if name == command:
            module = importlib.import_module(f".{home}", __package__)
            module.add(own)
    return parser, module


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status (0, 1 for what is violated or refuted, 2 for bad arguments)."""
    typed = sys.argv[1:] if arguments is None else list(arguments)
    parser, module = _parser(next((word for word in typed if word in COMMANDS), None))
    options = parser.parse_args(typed)
    options.typed = typed
    plain = warnings.formatwarning
    warnings.formatwarning = lambda message, *_: f"spherapprox: warning: {message}\n"  # without its line of source
    try:
        if (out := getattr(options, "out", None)) is not None:  # refuse what is no earlier result, unless forced
            own, foreign = earlier(Path(out), module.FILES)
            if foreign and not options.force:
                names = ", ".join(str(Path(out, name)) for name in foreign)
                why = "in the way, and no earlier result; name another folder (--out) or use --force"
                raise ValueError(f"{names}: {why}")
            if (own or foreign) and not options.quiet:
                print(f"spherapprox {options.command}: the results in {out} will be replaced", file=sys.stderr)
        status: int = module.run(options) or 0
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as head, has seen enough; files are written before anything is printed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, TypeError, OSError, MemoryError) as error:
        print(f"spherapprox {options.command}: error: {as_option(str(error))}", file=sys.stderr)
        return 2
    except SystemExit as error:  # no command exits by itself: the user's function does
        print(f"spherapprox {options.command}: error: '--target {options.target}': {error!r}", file=sys.stderr)
        return 2
    finally:
        warnings.formatwarning = plain
    return status
