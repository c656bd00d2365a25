"""How much code there is, how long its functions are, and which modules import each other in circles.

    python tests/reference/house/lines.py [TREE]

Lines are all lines of *.py files, docstrings and blank ones included. Those of this folder, which lives in the
history only, are left out. The length of a function (methods and nested functions too, each by itself) is that of its
`def`, from the line of `def` (decorators not counted) to its last; its code is the same without its docstring,
without comment and blank lines.

Imports are those of the packages' own modules: at module level, under `if TYPE_CHECKING`, and within functions. `from
. import a` counts as an import of the module a where there is one, else of the package. Not counted: that a submodule
makes Python import its parents, and what a package's __init__ takes for types from its own submodules (names that PEP
562 loads). A circle is a strongly connected component of two modules or more. Reported: those at module level (which
can break), those that only imports for types close (module level and TYPE_CHECKING), and those that only imports
within functions close.
"""

from __future__ import annotations

import ast
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGES = ("spherapprox", "bounds")
FOLDERS = (*PACKAGES, "tests", "benchmarks")
HERE = "tests/reference/house"


def files_of(tree: Path, folder: str) -> list[Path]:
    """Return the Python files of a folder that git knows, or all of them where there is no repository."""
    run = subprocess.run(
        ["git", "-C", tree, "ls-files", "-z", f"{folder}/*.py"], capture_output=True, text=True, check=False
    )
    names = [n for n in run.stdout.split("\0") if n] or [
        str(p.relative_to(tree)) for p in tree.glob(f"{folder}/**/*.py")
    ]
    return [tree / name for name in sorted(names) if HERE not in name and (tree / name).exists()]


def functions_of(path: Path) -> Iterator[tuple[int, int, str]]:
    """Yield the length of every function, that of its code, and its name."""
    text = path.read_text()
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            doc = range(first.lineno, first.end_lineno + 1) if ast.get_docstring(node, clean=False) is not None else ()
            code = [lines[i - 1].strip() for i in range(node.lineno, node.end_lineno + 1) if i not in doc]
            yield (
                node.end_lineno - node.lineno + 1,
                sum(bool(line) and line[0] != "#" for line in code),
                f"{path}:{node.name}",
            )


def imports_of(path: Path, name: str, known: set[str]) -> Iterator[tuple[str, str]]:
    """Yield (kind, module) for the imports of a module's file."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]

    def visit(node: ast.AST, kind: str) -> Iterator[tuple[str, str]]:
        if isinstance(node, ast.Import):
            yield from ((kind, nearest(alias.name)) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            base = ".".join(parts[: len(parts) - node.level + 1]) if node.level else ""
            base = ".".join(filter(None, (base, node.module)))
            for alias in node.names:
                yield kind, f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else nearest(base)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for part in node.body:
                yield from visit(part, "type")
            for part in node.orelse:
                yield from visit(part, kind)
        else:
            inner = "function" if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) else kind
            for child in ast.iter_child_nodes(node):
                yield from visit(child, inner)

    def nearest(module: str) -> str:
        while module and module not in known:
            module = module.rpartition(".")[0]
        return module

    yield from visit(ast.parse(path.read_text()), "module")


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected components of two modules or more, by Tarjan's algorithm."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def connect(v: str) -> None:
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in sorted(edges.get(v, ())):
            if w not in index:
                connect(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            part = stack[stack.index(v) :]
            del stack[stack.index(v) :]
            if len(part) > 1:
                found.append(sorted(part))

    sys.setrecursionlimit(10_000)
    for v in sorted(edges):
        if v not in index:
            connect(v)
    return found


def report_sizes(tree: Path) -> None:
    """Print lines, functions and the largest files."""
    print(
        f"{'folder':14}{'files':>7}{'lines':>8}{'functions':>11}"
        "   length: median, p90, largest      code: median, p90, largest"
    )
    groups = [*FOLDERS, "source"]
    for group in groups:
        paths = [p for folder in (PACKAGES if group == "source" else (group,)) for p in files_of(tree, folder)]
        if not paths:
            continue
        found = [f for path in paths for f in functions_of(path)]
        count = sum(len(path.read_text().splitlines()) for path in paths)
        shown = []
        for i in (0, 1):
            sizes = [f[i] for f in found]
            shown.append(f"{statistics.median(sizes):6g}{statistics.quantiles(sizes, n=10)[-1]:8.4g}{max(sizes):8}")
        print(f"{group:14}{len(paths):7}{count:8}{len(found):11}          {shown[0]}           {shown[1]}")
    source = [p for folder in PACKAGES for p in files_of(tree, folder)]
    print("\nlargest functions of the source, by code (length with docstring):")
    for length, code, name in sorted((f for p in source for f in functions_of(p)), key=lambda f: -f[1])[:10]:
        print(f"{code:6} ({length})  {Path(name).relative_to(tree)}")
    everything = [p for folder in FOLDERS for p in files_of(tree, folder)]
    print("\nlargest files:")
    for path in sorted(everything, key=lambda p: -len(p.read_text().splitlines()))[:12]:
        print(f"{len(path.read_text().splitlines()):6}  {path.relative_to(tree)}")
    long = [p for p in source if len(p.read_text().splitlines()) > 300]
    print(f"files of the source over 300 lines: {len(long)}; comment lines in the source: "
          f"{sum(line.lstrip().startswith('#') for p in source for line in p.read_text().splitlines())}")  # fmt: skip


def report_imports(tree: Path) -> None:
    """Print the circles of imports, each with the imports that close it."""
    names = {}
    for path in (p for folder in PACKAGES for p in files_of(tree, folder)):
        parts = path.relative_to(tree).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    edges: dict[str, dict[str, set[str]]] = {
        kind: {name: set() for name in names} for kind in ("module", "type", "function")
    }
    for name, path in names.items():
        for kind, module in imports_of(path, name, set(names)):
            own = kind == "type" and path.name == "__init__.py" and module.startswith(f"{name}.")
            if module and module != name and not own:
                edges[kind][name].add(module)
    at_top = circles(edges["module"])
    print(f"\ncircles at module level: {len(at_top)}")
    for part in at_top:
        _show(part, edges, ("module",))
    seen = at_top
    for title, extra in (
        ("imports for types only", ("type",)), ("imports within functions only", ("function",)),
        ("only both of these together", ("type", "function")),
    ):  # fmt: skip
        merged = {name: edges["module"][name].union(*(edges[kind][name] for kind in extra)) for name in names}
        new = [part for part in circles(merged) if part not in seen]
        seen = seen + new
        print(f"circles closed by {title}: {len(new)}, of {sum(map(len, new))} modules")
        for part in new:
            _show(part, edges, extra)


def _show(part: list[str], edges: dict[str, dict[str, set[str]]], kinds: tuple[str, ...]) -> None:
    """Print a circle's members and the imports of some kinds within it."""
    print(f"  {', '.join(part)}")
    for name in part:
        for kind in kinds:
            inside = sorted(edges[kind][name] & set(part) - (edges["module"][name] if kind != "module" else set()))
            if inside:
                print(f"      {kind}: {name} -> {', '.join(inside)}")


if __name__ == "__main__":
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    report_sizes(root)
    report_imports(root)
