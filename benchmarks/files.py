"""Saving and loading a head of many control points, beside np.savez and np.load with the head's constructor.

What a head's file has beyond theirs is a SHA-256 over all bytes, written and checked, and that it appears complete or
not at all: fsync and a rename. ::

    python benchmarks/files.py --n 1000000
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from tabulate import tabulate
from timing import HEADER, Row, Timed, measure

from spherapprox import CoreHead, load, sphere


def rows(head: CoreHead, folder: Path) -> list[Row]:
    """Return the comparisons of writing and of reading."""
    ours, peer = folder / "ours.npz", folder / "peer.npz"

    def savez() -> None:
        np.savez(peer, control_points=head.control_points, values=head.values, concentration=head.concentration)

    def make() -> CoreHead:
        with np.load(peer) as file:
            return CoreHead(file["control_points"], file["values"], float(file["concentration"]))

    reading, making = Timed(lambda: load(ours)), Timed(make)

    def sizes() -> str:
        return f"{ours.stat().st_size - peer.stat().st_size} bytes more"

    def agreement() -> str:
        same = all(
            getattr(head, name).tobytes() == getattr(reading.result, name).tobytes()
            for name in ("control_points", "values")
        )
        return "every bit" if same else "DIFFERENT"

    return [
        Row("save / np.savez", Timed(lambda: head.save(ours)), Timed(savez), sizes),
        Row("load / np.load and CoreHead", reading, making, agreement),
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=10**6, help="control points")
    parser.add_argument("--dim", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--folder", help="where the files go; a temporary folder by default")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    head = CoreHead(sphere.uniform(options.dim, options.n, rng=rng), rng.standard_normal(options.n), 100.0)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        print(tabulate([measure(row, options.rounds) for row in rows(head, Path(folder))], HEADER))


if __name__ == "__main__":
    main()
