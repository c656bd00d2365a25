"""Scripts that no test runs whole: what they import from the library is there, and called as it asks."""

import ast
import importlib
import inspect
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


SCRIPTS = [path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.py"))]
each = pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)


def resolve(module, name):
    """Return what a script imports, None where the extra that it is for is missing."""
    try:
        home = importlib.import_module(module)
        try:
            return getattr(home, name)
        except AttributeError as error:
            return None if "pip install" in str(error) else importlib.import_module(f"{module}.{name}")
    except ImportError as error:
        if error.name not in EXTRAS and "pip install" not in str(error):
            raise


@each
def test_what_a_script_imports_is_there(path):
    for module, name in imports(path):
        resolve(module, name)


@each
def test_calls_of_what_a_script_imports_fit_its_signature(path):
    things = {name: resolve(module, name) for module, name in imports(path)}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        thing = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and things.get(node.func.id)
        if not inspect.isfunction(thing) and (not inspect.isclass(thing) or issubclass(thing, Exception)):
            continue
        names = [keyword.arg for keyword in node.keywords]
        if None not in names and not any(isinstance(argument, ast.Starred) for argument in node.args):
            inspect.signature(thing).bind(*node.args, **dict.fromkeys(names))
