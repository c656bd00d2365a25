"""The command ``spherapprox warmup``: every kernel compiled now."""

from __future__ import annotations

import argparse
import time

from spherapprox.config import show_config
from spherapprox.warmup import compile_kernels

FILES: dict[str, bytes] = {}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--workers", type=int, help="processes (default: as many as there are cores)")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress bar, no report")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    start = time.perf_counter()
    count = compile_kernels(workers=options.workers, progress=not options.quiet)
    if not options.quiet:
        seconds = time.perf_counter() - start
        print(f"compiled {count} kernels in {seconds:.0f} s; they are in {show_config('dicts')['compiled code']}")
