"""Scripts that no test runs whole: what they import from the library is there."""

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("benchmarks", "docs", "docs/gallery", "tests/reference")
EXTRAS = ("torch", "transformers", "dask", "flint", "sklearn")


def imports(path):
    """Yield the modules of the library that a script imports names from, each with a name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("spherapprox", "bounds"):
            yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize(
    "path", [path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.py"))], ids=lambda path: path.name
)
def test_what_a_script_imports_is_there(path):
    for module, name in imports(path):
        try:
            home = importlib.import_module(module)
            if not hasattr(home, name):
                importlib.import_module(f"{module}.{name}")
        except ImportError as error:  # the extra that a script is for may be missing
            if error.name not in EXTRAS and "pip install" not in str(error):
                raise
