"""The harness of the experiments: cases measured once and kept, then a table, a figure and a page.

An experiment is a module of this folder with ``EXPERIMENT = Experiment(...)``, whose name, question and `requires` are
literals (`python -m benchmarks` reads them without importing the module), and ``main(EXPERIMENT)`` as its script.
Infinite and undefined numbers stand as "inf", "-inf" and "nan" in the files: ``float`` reads them.
"""

from __future__ import annotations

import csv
import inspect
import json
import math
import os
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from catalogue import INTERRUPTED, missing, options
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits
from timing import machine

from bounds.report import plot
from bounds.report._files import write_together
from bounds.validation._progress import each
from spherapprox import __version__

Case = dict[str, Any]
Row = dict[str, Any]


@dataclass(frozen=True)
class Experiment:
    """A question, and how it is answered.

    Parameters
    ----------
    name : str
        The module's, and that of the files.
    question : str
        One line.
    cases : callable
        Returns what to measure, as dicts of JSON, small ones for ``quick=True``.
    measure : callable
        Returns the rows (dicts of JSON and NumPy's numbers) of a case. They must depend on nothing else: a case that
        was measured with this version is not measured again.
    draw : callable
        Draws the figure from all rows.
    summary : callable
        Returns a Markdown table and at most three sentences from all rows.
    requires : tuple of str
        Modules that an extra brings.
    packages : tuple of str
        Distributions whose versions are named, beside NumPy, SciPy and numba.
    """

    name: str
    question: str
    cases: Callable[[bool], list[Case]]
    measure: Callable[[Case], list[Row]]
    draw: Callable[[list[Row]], Figure]
    summary: Callable[[list[Row]], str]
    requires: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()


def plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def lively(value: Any) -> Any:
    """Return the numbers that `plain` was given: infinite and undefined ones again."""
    if isinstance(value, dict):
        return {key: lively(item) for key, item in value.items()}
    if isinstance(value, list):
        return [lively(item) for item in value]
    return float(value) if value in ("inf", "-inf", "nan") else value


def key(case: Case, version: str = __version__) -> str:
    """Return the key of a case, under which its rows are kept."""
    return json.dumps([version, plain(case)], sort_keys=True)


def kept(path: Path) -> dict[str, Row]:
    """Return the records of a file by their keys; a line that was cut off is dropped from the file too."""
    if not path.exists():
        return {}
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if whole != text:
        os.truncate(path, len(whole))
    records = {}
    for line in whole.splitlines():
        try:
            record = json.loads(line)
            records[key(record["case"], record["version"])] = record
        except (ValueError, KeyError, TypeError):  # not ours
            continue
    return records


def described(case: Case) -> str:
    """Return a case in words."""
    return ", ".join(f"{name} {value}" for name, value in case.items())


def collect(experiment: Experiment, cases: list[Case], store: Path, quiet: bool) -> list[Row]:
    """Measure the cases that are not kept, each kept at once, and return the records of all."""
    records = kept(store)
    waiting = [case for case in cases if key(case) not in records]
    if not quiet and len(waiting) < len(cases):
        print(f"{experiment.name}: {len(cases) - len(waiting)} of {len(cases)} cases are kept", file=sys.stderr)
    with store.open("a", encoding="utf-8") as file:
        for case in each(waiting, not quiet, "case", described):
            start = time.perf_counter()
            rows = plain(experiment.measure(case))
            record = {"version": __version__, "case": plain(case), "seconds": time.perf_counter() - start, "rows": rows}
            file.write(json.dumps(record, allow_nan=False) + "\n")
            file.flush()
            records[key(case)] = record
    return [records[key(case)] for case in cases]


def report(experiment: Experiment, records: list[Row], command: str) -> Row:
    """Return the document of an experiment."""
    rows = lively([row for record in records for row in record["rows"]])
    return {
        "name": experiment.name, "question": experiment.question, "command": command,
        "date": f"{datetime.now(UTC):%Y-%m-%d}", "seconds": round(sum(record["seconds"] for record in records), 1),
        "version": __version__, "machine": machine("numpy", "scipy", "numba", *experiment.packages),
        "summary": experiment.summary(rows).strip(), "rows": rows,
    }  # fmt: skip


def footer(document: Row) -> str:
    """Return how, when and where an experiment was run."""
    return (
        f"`{document['command']}`, {document['seconds']:.0f} s, {document['date']}; "
        f"{document['machine']}, spherapprox {document['version']}."
    )


def page(document: Row) -> str:
    """Return the page of an experiment in Markdown."""
    title, question = document["name"].replace("_", " ").capitalize(), document["question"]
    figure = f"![{question}]({document['name']}.png)"
    return "\n\n".join((f"## {title}", question, figure, document["summary"], footer(document))) + "\n"


def write_rows(path: Path, rows: list[Row]) -> None:
    """Write rows as a table, with a column for every name that occurs."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)))
        writer.writeheader()
        writer.writerows(rows)


def write(experiment: Experiment, document: Row, out: Path) -> None:
    """Write the table, the document, the figure and the page, all or none."""
    name, text = experiment.name, json.dumps(plain(document), indent=1, allow_nan=False) + "\n"
    write_together(out, {}, {
        f"{name}.csv": lambda path: write_rows(path, document["rows"]),
        f"{name}.json": lambda path: path.write_text(text, encoding="utf-8"),
        f"{name}.png": lambda path: plot.write(experiment.draw(document["rows"]), path),
        f"{name}.md": lambda path: path.write_text(page(document), encoding="utf-8"),
    })  # fmt: skip


def main(experiment: Experiment, argv: list[str] | None = None, more: tuple[str, ...] = ()) -> None:
    """Run an experiment as a command, which names `more` options: measure what is missing, write all files."""
    chosen = options(inspect.getdoc(inspect.getmodule(experiment.measure))).parse_args(argv)
    if lack := missing(experiment.requires):
        raise SystemExit(f"{experiment.name} {lack}")
    chosen.out.mkdir(parents=True, exist_ok=True)
    store, cases = chosen.out / f"{experiment.name}.jsonl", experiment.cases(chosen.quick)
    if chosen.fresh:
        store.unlink(missing_ok=True)
    command = shlex.join(["python", "-m", "benchmarks", experiment.name, *["--quick"] * chosen.quick, *more])
    try:
        with threadpool_limits(1, "blas"):  # idle threads of BLAS spin on the cores of those that work
            document = report(experiment, collect(experiment, cases, store, chosen.quiet), command)
            write(experiment, document, chosen.out)
    except KeyboardInterrupt:
        done = sum(key(case) in kept(store) for case in cases)
        print(f"\ninterrupted: {done} of {len(cases)} cases are kept; the same command goes on", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
    if not chosen.quiet:
        print(f"{experiment.question}\n\n{document['summary']}\n\n{footer(document)}")
        print(f"Written to {chosen.out}: {experiment.name}.csv, .json, .png, .md")
