"""Break the code in one place at a time, and see that the tests notice.

    python tests/reference/mutations.py                  # all that have no result in mutations.json yet
    python tests/reference/mutations.py --only zone cap  # those whose file or name contains one of the words

Each mutation is made in a temporary copy of the tree. Kernels that cannot see it are taken from the user's cache
folder, the others compile in a folder of the mutation's own: without a warm cache (`spherapprox warmup`) it takes long.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import json
import os
import shutil
import subprocess
import symtable
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
COMPILED = ("spherapprox/_kernels", "spherapprox/_scalars")
LIMIT = 900
"""Seconds after which a run of the tests counts as one that noticed."""
COMPLAINTS = "tests/test_complaints.py"
"""Run after the tests that a mutation names: the bad calls of all rooms."""
ASK = "from spherapprox._kernels.jit import cache_folder; print(cache_folder())"


class Mutant(NamedTuple):
    """A text that a file has once, what takes its place, and the tests that should fail."""

    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def test_of(folder: str, node: str) -> str:
    """Return the path of a test or of a file of tests: "points/refine::x" is test_x in points/test_refine.py."""
    where, _, name = node.partition("::")
    path = Path(folder, where)
    return f"{path.parent}/test_{path.name}.py" + (name and f"::test_{name}")


def table() -> list[Mutant]:
    """Read the mutations."""
    entries, source, tests = [], "", ""
    for line in Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            source, tests = line.strip("[]").split()
        elif line and not line.startswith("#"):
            file, old, new, nodes = line.split(" | ")
            old, new = (text.strip("`").replace("\\n", "\n") for text in (old, new))
            named = tuple(test_of(tests, node) for node in nodes.split(", "))
            entries.append(Mutant(f"{source}/{file}.py", old, new, named))
    return entries


def outdated(mutants: list[Mutant]) -> list[str]:
    """List the faults of the table: texts that are missing or ambiguous, names and tests that do not exist."""
    entries = []
    for mutant in mutants:
        path = ROOT / mutant.file
        text = path.read_text("utf-8") if path.exists() else ""
        if (count := text.count(mutant.old)) != 1:
            entries.append(f"{mutant.file}: {mutant.old!r} is there {count} times")
        elif missing := undefined(text.replace(mutant.old, mutant.new)):
            entries.append(f"{mutant.file}: {mutant.new!r} has names that nothing defines: {missing}")
        for test in mutant.tests:
            file, _, name = test.partition("::")
            if not (ROOT / file).exists() or (name and f"\ndef {name}(" not in (ROOT / file).read_text("utf-8")):
                entries.append(f"{mutant.file}: there is no {test}")
    return entries


def undefined(source: str) -> set[str]:
    """Return the names that code takes from its module, which does not have them: any test would notice."""
    module = symtable.symtable(source, "", "exec")
    defined = {symbol.get_name() for symbol in module.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    tables, names = [module], set()
    for table in tables:
        names |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global() and symbol.is_referenced()}
        tables += table.get_children()
    return {name for name in names - defined - vars(builtins).keys() if not name.startswith("__")}


def module_of(path: Path) -> str:
    """Return a file's module inside the package: "_kernels.partition.zone"."""
    parts = path.with_suffix("").parts
    inside = parts[parts.index("spherapprox") + 1 :]
    return ".".join(inside[:-1] if inside[-1] == "__init__" else inside)


def imported(path: Path) -> set[str]:
    """Return the modules inside the package that a file may import: what is relative in it, names and all."""
    package = (module_of(path) + ".").split(".")[: -1 if path.name == "__init__.py" else -2]
    entries = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1] + (node.module.split(".") if node.module else [])
            entries |= {".".join(base), *(".".join([*base, name.name]) for name in node.names)}
    return entries


def uses(tree: Path) -> dict[str, set[str]]:
    """Return the compiled modules that each compiled module can see, itself included."""
    paths = [path for folder in COMPILED for path in (tree / folder).rglob("*.py")]
    direct = {module_of(path): {module_of(path), *imported(path)} for path in paths}
    visible = {name: entries & direct.keys() for name, entries in direct.items()}
    while True:
        more = {name: set().union(*(visible[one] for one in entries)) for name, entries in visible.items()}
        if more == visible:
            return visible
        visible = more


def folder_of(tree: Path, environment: dict[str, str]) -> Path:
    """Return the cache folder of a tree's kernels."""
    told = subprocess.run([sys.executable, "-c", ASK], cwd=tree, env=environment, stdout=subprocess.PIPE, check=True)
    return Path(told.stdout.decode().strip())


def environment_of(tree: Path, mutant: Mutant) -> dict[str, str]:
    """Return the settings under which the tests run; for a kernel the cache folder holds what it cannot change."""
    plain = os.environ | {"PYTHONPATH": str(tree)}
    if not mutant.file.startswith(COMPILED):
        return plain
    own = plain | {"NUMBA_CACHE_DIR": str(tree / "cache")}
    mutated = module_of(Path(mutant.file))
    warm, cold, visible = folder_of(ROOT, os.environ | {"PYTHONPATH": str(ROOT)}), folder_of(tree, own), uses(tree)
    for path in warm.glob("*.nbc"):
        if mutated not in visible.get(path.name.partition("-")[0], {mutated}):
            shutil.copy2(path, cold)
    return own


def run(mutant: Mutant, folder: str) -> tuple[str, str]:
    """Return "killed" or "survived", and the first test that failed."""
    tree = Path(folder) / "tree"
    out = shutil.ignore_patterns(".git", "__pycache__", ".hypothesis", ".*_cache", "shared", "study")
    shutil.copytree(ROOT, tree, ignore=out)
    path = tree / mutant.file
    path.write_text(path.read_text("utf-8").replace(mutant.old, mutant.new), "utf-8")
    command = [sys.executable, "-m", "pytest", "-n", "0", "-x", "-p", "no:cacheprovider", *mutant.tests, COMPLAINTS]
    process = subprocess.Popen(
        command, cwd=tree, env=environment_of(tree, mutant), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        told, _ = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        return "killed", "ran too long"
    if process.returncode not in (0, 1):  # no tests, or none that can be collected
        raise SystemExit(f"{mutant.file}: pytest ended with {process.returncode}\n{told[-2000:]}")
    failed = [line.partition(" ")[2] for line in told.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return ("killed", failed[0].partition(" - ")[0]) if process.returncode else ("survived", "")


def main() -> int:
    parser = argparse.ArgumentParser(description="Break the code in one place at a time, and see that tests notice.")
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="only files or texts that contain one")
    parser.add_argument("--again", action="store_true", help="also those that have a result")
    parser.add_argument("--results", type=Path, default=Path("mutations.json"), help="default: %(default)s")
    options = parser.parse_args()
    mutants = [(f"{one.file}: {one.old!r} -> {one.new!r}", one) for one in table()]
    mutants = [(name, one) for name, one in mutants if not options.only or any(word in name for word in options.only)]
    if wrong := outdated([one for _, one in mutants]):
        print("mend mutations.txt:", *wrong, sep="\n  ", file=sys.stderr)
        return 2
    os.nice(10)
    results = json.loads(options.results.read_text("utf-8")) if options.results.exists() else {}
    for name, mutant in mutants:
        if name in results and not options.again:
            continue
        start = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
            verdict, by = run(mutant, folder)
        results[name] = verdict
        options.results.write_text(json.dumps(results, indent=1))
        print(f"{verdict:9s}{time.perf_counter() - start:5.0f} s  {name}  {by}", flush=True)
    survivors = [name for name, _ in mutants if results[name] == "survived"]
    print(f"{len(mutants) - len(survivors)} killed of {len(mutants)}", *survivors, sep="\n  ")
    return bool(survivors)


if __name__ == "__main__":
    sys.exit(main())
