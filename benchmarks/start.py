"""First calls: seconds, compiled kernels and bytes of every public example in a fresh process, cache empty and filled.

Each row runs the example of one docstring in two new processes, the first with an empty folder of kernels, the second
with what the first left there; seconds are those of the whole process, imports and all, so hold them against the rows
of ``import numpy``. CPU seconds bear a busy machine, wall seconds do not. A quarter of an hour, or a choice::

    python benchmarks/start.py
    python benchmarks/start.py --only study imports summation.evaluate
"""

from __future__ import annotations

import argparse
import doctest
import importlib
import importlib.metadata
import inspect
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tabulate import tabulate
from timing import machine
from tqdm import tqdm

MODULES = (
    *(f"spherapprox{end}" for end in ("", ".harmonics", ".points", ".special", ".sphere", ".targets", ".error")),
    *(f"spherapprox{end}" for end in (".summation", ".prompts.prefix")),
    *(f"bounds{end}" for end in ("", ".report", ".prompts", ".covering")),
)
RUN = "import bounds.report.commands; bounds.report.commands.run"
PROCESSES = {
    "imports: numpy": "import numpy",
    "imports: spherapprox": "import spherapprox",
    "imports: bounds": "import bounds",
    "imports: numba": "import numba",
    "command: spherapprox --help": f"{RUN}(['--help'])",
    "command: spherapprox study": f"{RUN}(['study', '--out', 'study'])",
    "command: spherapprox shortest": f"{RUN}(['shortest', '--eps', '0.1', '--relative', '--out', 'found'])",
}
HEADER = ["call", "CPU s", "wall s", "kernels", "kB", "CPU s, filled", "wall s, filled"]
SLOW = 5.0


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORD", help="rows whose names contain a word")
    return parser.parse_args()


def calls() -> Iterator[tuple[str, str]]:
    """Return the name and the Python code of each row."""
    yield from PROCESSES.items()
    seen = set()
    for name in MODULES:
        module = importlib.import_module(name)
        for public in module.__all__:
            for what, document in _documents(f"{name}.{public}", getattr(module, public)):
                code = _code(document)
                if code and code not in seen:
                    seen.add(code)
                    home = getattr(module, public).__module__  # whose names doctests know
                    yield what, f"import importlib; globals().update(vars(importlib.import_module({home!r})))\n{code}"


def _documents(name: str, found: object) -> Iterator[tuple[str, str]]:
    """Return the docstrings of a function, or of a class and its methods."""
    if inspect.isclass(found) or inspect.isroutine(found):
        yield name, inspect.getdoc(found) or ""
    if inspect.isclass(found):
        for method in dir(found):
            if not method.startswith("_"):
                yield f"{name}.{method}", inspect.getdoc(getattr(found, method)) or ""


def _code(document: str) -> str:
    """Return the examples of a docstring that run."""
    examples = doctest.DocTestParser().get_examples(document)
    return "".join(example.source for example in examples if not example.options.get(doctest.SKIP))


@dataclass(frozen=True)
class Run:
    """What one process took and left."""

    cpu: float
    wall: float
    kernels: int
    size: int
    failed: bool


def run(code: str, cache: Path, folder: Path) -> Run:
    """Run code in a fresh process with that folder of kernels."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = os.environ | one | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": os.pathsep.join(sys.path[1:])}
    before, start = _seconds_of_children(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-P", "-W", "ignore", "-c", code], cwd=folder, env=environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    wall, cpu = time.perf_counter() - start, _seconds_of_children() - before
    files = list(cache.rglob("*.nbc"))
    return Run(cpu, wall, len(files), sum(file.stat().st_size for file in files), done.returncode != 0)


def _seconds_of_children() -> float:
    """Return the CPU seconds of the processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def row(name: str, code: str) -> list[str]:
    """Run code with an empty and with a filled folder of kernels."""
    with tempfile.TemporaryDirectory() as cache:
        runs = []
        for _ in range(2):
            with tempfile.TemporaryDirectory() as folder:
                runs.append(run(code, Path(cache), Path(folder)))
    first, second = runs
    name += "  FAILED" if first.failed or second.failed else ""
    return [
        name, f"{first.cpu:.2f}", f"{first.wall:.2f}", f"{first.kernels}", f"{first.size / 1e3:.0f}",
        f"{second.cpu:.2f}", f"{second.wall:.2f}",
    ]  # fmt: skip


def main() -> None:
    """Print the table, the slowest first calls first."""
    words = options().only
    chosen = [(name, code) for name, code in calls() if any(word in name for word in words)]
    rows = [row(name, code) for name, code in tqdm(chosen, disable=None)]
    rows.sort(key=lambda row: -float(row[1]))
    print(machine("numpy", "scipy", "numba", "llvmlite"))
    print(tabulate(rows, HEADER, disable_numparse=True))
    print(f"{sum(float(row[1]) > SLOW for row in rows)} of {len(rows)} first calls take more than {SLOW:g} CPU seconds")


if __name__ == "__main__":
    main()
