"""What the folder holds: its experiments and other scripts, read and not imported, and what these require."""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from spherapprox._extras import installed

FOLDER = Path(__file__).parent
EXTRAS = {"torch": "torch", "sklearn": "learn", "flint": "certify", "dask": "distributed", "transformers": "interop",
          "peft": "interop", "anarcii": "pretrained", "onnx": "pretrained"}  # fmt: skip
"""The extra of this package that brings a module."""
INTERRUPTED = 130
"""The exit status of a script that was interrupted."""


@dataclass(frozen=True)
class Script:
    """A script of the folder: an experiment, which has options of its own, or another."""

    path: Path
    said: str
    experiment: bool
    requires: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the name by which it is run."""
        return self.path.stem


def scripts(folder: Path = FOLDER) -> dict[str, Script]:
    """Return the scripts of a folder, read and not imported."""
    found = {}
    for path in sorted(folder.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        if re.search(r'^if __name__ == "__main__":', text, re.MULTILINE) and path.stem != "__main__":
            found[path.stem] = _read(path, ast.parse(text))
    return found


def _read(path: Path, tree: ast.Module) -> Script:
    """Return a script from its syntax: what it says of itself, and what it requires."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "EXPERIMENT":
            call = node.value
            given = dict(zip(("name", "question"), call.args, strict=False)) | {k.arg: k.value for k in call.keywords}
            requires = ast.literal_eval(given["requires"]) if "requires" in given else ()
            return Script(path, ast.literal_eval(given["question"]), True, requires)
    return Script(path, (ast.get_docstring(tree) or "").partition("\n")[0], False)


def missing(requires: Iterable[str]) -> str:
    """Return the command that installs what is missing, or nothing."""
    lacking = [module for module in requires if not installed(module)]
    extras = sorted({EXTRAS[module] for module in lacking if module in EXTRAS})
    wanted = [f'".[{",".join(extras)}]"'] * bool(extras) + [module for module in lacking if module not in EXTRAS]
    return f"needs {', '.join(lacking)}: pip install {' '.join(wanted)}" if lacking else ""


def options(description: str | None = None) -> argparse.ArgumentParser:
    """Return the options that all experiments share."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--out", type=Path, default=Path("results"), help="folder of the results (default: results)")
    add("--quick", action="store_true", help="fewer and smaller cases: at most a minute")
    add("--fresh", action="store_true", help="forget what earlier calls measured")
    add("--quiet", action="store_true", help="print nothing but errors")
    return parser
