"""Timing of one call beside a named peer's, in interleaved rounds; imports nothing that reads the limits on threads."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

HEADER = ["what / peer", "ours (s)", "peer (s)", "peer/ours", "target", "kept", "worst disagreement"]


def machine(*packages: str) -> str:
    """Name the processor, its cores and the versions of Python and of packages, one without any where not installed."""
    listed, model = Path("/proc/cpuinfo"), platform.processor() or platform.machine()
    if listed.exists():
        names = [
            line.partition(":")[2].strip() for line in listed.read_text("utf-8").splitlines() if "model name" in line
        ]
        model = names[0] if names else model
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = ", ".join(f"{package} {_version(package)}" for package in packages)
    return f"{model}, {cores} cores; Python {platform.python_version()}, {versions}"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "-"


def resident() -> float:
    """Return the largest resident memory so far, in MiB."""
    import resource  # of Unix alone

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


@dataclass(frozen=True)
class Row:
    """A comparison: two calls that return their seconds, and the disagreement of their results in words."""

    what: str
    ours: Callable[[], float]
    peer: Callable[[], float]
    agreement: Callable[[], str]
    target: float | None = None
    peer_rounds: int = 10**9


clock: Callable[[], float] = time.perf_counter
"""What times calls: wall time, for which an experiment may put that of this process, which others do not disturb."""


class Timed:
    """A call that returns its seconds and keeps its last result."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function
        self.result: Any = None

    def __call__(self) -> float:
        """Time one call; the earlier result is freed before it."""
        self.result = None
        start = clock()
        self.result = self.function()
        return clock() - start


def seconds(row: Row, rounds: int) -> tuple[float, float]:
    """Return the medians of our and the peer's times in interleaved rounds, after one call that loads compiled code."""
    row.ours()
    ours, peer = [], []
    for i in range(rounds):
        ours.append(row.ours())
        if i < row.peer_rounds:
            peer.append(row.peer())
    return statistics.median(ours), statistics.median(peer)


def measure(row: Row, rounds: int) -> list[str]:
    """Time a row and return its line of the table."""
    mine, theirs = seconds(row, rounds)
    target = kept = ""
    if row.target is not None:
        target, kept = f">= {row.target:.3g}", "yes" if theirs >= row.target * mine else "NO"
    return [row.what, f"{mine:.3g}", f"{theirs:.3g}", f"{theirs / mine:.3g}", target, kept, row.agreement()]
