"""How far a call wanders: Python calls, distinct functions, distinct files, and switches between files.

    PYTHONPATH=TREE python tests/reference/house/flow.py               # one line for each of the calls below
    PYTHONPATH=TREE python tests/reference/house/flow.py --trace prefix_length # every call of one, in order

Convention. `sys.setprofile` hears every "call" event whose code lies in a file of the packages spherapprox or bounds;
calls of numba's compiled code, NumPy and the standard library make none (what these call back does). An event is a
function, a lambda, a property, a generator expression, or a generator each time it is resumed; comprehensions are
none from Python 3.12 on. A function is (file, name of its code), so that all lambdas of a file are one. A switch is
an event whose file is another one than that of the event before it; returns make none. Each call is warmed up once
and then counted once, in one thread, with all kernels of dense sums loaded (15 000 x 15 000 sums come first): small
sums go through NumPy otherwise, by other files.

The numbers 95/60/12/57, 84/58/13/57 and 4887/143/21/1082 that were written down for `evaluate`, `SplitHead.__call__`
and `prefix_length` are reproduced to the last digit by this convention at commit 8851f42, with method="auto" (which
takes dense; naming it makes 5 calls fewer there). At 7fd21e5 more checks lie on the way. What was written down for
`validate`, 14.7k/271/51/7.6k, is not reproduced: its head was not named. At 8851f42 concentrations from 200 to 1e4
make 13.3k to 15.9k calls, 206 or 207 functions, 40 files and 7.1k to 8.6k switches. The one below stands for it
before and after.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable
from itertools import pairwise
from types import CodeType
from typing import Any

ENVIRONMENT = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "SPHERAPPROX_WORKERS": "1"}


def calls_of(function: Callable[[], Any], roots: tuple[str, ...]) -> list[tuple[int, CodeType]]:
    """Return the depth and the code of every call of the packages, in order."""
    found: list[tuple[int, CodeType]] = []
    depth = 0

    def hear(frame: Any, event: str, argument: object) -> None:
        nonlocal depth
        if frame.f_code.co_filename.startswith(roots):
            if event == "call":
                found.append((depth, frame.f_code))
            depth += {"call": 1, "return": -1}.get(event, 0)

    sys.setprofile(hear)
    try:
        function()
    finally:
        sys.setprofile(None)
    return found


def flow(calls: list[tuple[int, CodeType]]) -> tuple[int, int, int, int]:
    """Return the numbers of calls, functions, files and switches."""
    files = [code.co_filename for _, code in calls]
    functions = {(code.co_filename, code.co_name) for _, code in calls}
    return len(calls), len(functions), len(set(files)), sum(a != b for a, b in pairwise(files))


def tasks() -> dict[str, Callable[[], Any]]:
    """Return the calls that are counted."""
    import numpy as np

    import bounds
    from spherapprox import CoreHead, EqualMeasurePartition, SplitHead, evaluate, sup_error, targets

    def rows(n: int, seed: int) -> np.ndarray:
        x = np.random.default_rng(seed).standard_normal((n, 3))
        return x / np.linalg.norm(x, axis=1, keepdims=True)

    many = rows(15000, 1), rows(15000, 2)
    for normalize in (False, True):
        evaluate(*many, many[1][:, 0], 50.0, method="dense", normalize=normalize)
    x, b = rows(200, 1), rows(300, 2)
    v = b[:, 0].copy()
    head, target = SplitHead(b, v, 50.0), targets.distance(2)
    cells = EqualMeasurePartition(2, 100)
    split, core = (
        kind.from_target(target, cells, 300.0 if kind is SplitHead else 30.0) for kind in (SplitHead, CoreHead)
    )
    return {
        "evaluate": lambda: evaluate(x, b, v, 50.0),
        "evaluate dense": lambda: evaluate(x, b, v, 50.0, method="dense"),
        "SplitHead.__call__": lambda: head(x),
        "prefix_length": lambda: bounds.prefix_length(0.1, dim=8),
        "validate": lambda: bounds.validate(split, target, n=1000),
        "validate core": lambda: bounds.validate(core, target, n=1000),
        "sup_error": lambda: sup_error(split, target, n=1000),
        "ladder": lambda: bounds.ladder(0.1, dim=8),
        "error_bound": lambda: bounds.error_bound(
            target=target, points=cells, theorem="sharp-split-equal", concentration=300.0
        ),
        "from_target": lambda: SplitHead.from_target(target, EqualMeasurePartition(2, 100), 300.0),
        "cell_radius": lambda: EqualMeasurePartition(3, 1000).cell_radius(),
    }  # fmt: skip


def main() -> int:
    """Print the table, or the trace of one call."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace", metavar="NAME")
    options = parser.parse_args()
    if any(os.environ.get(name) != value for name, value in ENVIRONMENT.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | ENVIRONMENT)
    import bounds
    import spherapprox

    warnings.simplefilter("ignore")
    folders = [os.path.dirname(str(package.__file__)) for package in (spherapprox, bounds)]
    found = tasks()
    if options.trace:
        found = {options.trace: found[options.trace]}
    else:
        print(f"{'call':22}{'calls':>8}{'functions':>11}{'files':>7}{'switches':>10}")
    for name, task in found.items():
        try:
            task()
        except TypeError as error:  # an older commit
            print(f"{name:22}{error}")
            continue
        calls = calls_of(task, tuple(folder + os.sep for folder in folders))
        if options.trace:
            for depth, code in calls:
                print(f"{'  ' * depth}{code.co_qualname}  {os.path.relpath(code.co_filename, folders[0])}")
        else:
            print("{:22}{:8}{:11}{:7}{:10}".format(name, *flow(calls)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
