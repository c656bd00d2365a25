"""Imports that are hidden in strings obey the layers, too: `lint-imports` reads statements only."""

import ast
import functools
from pathlib import Path

import pytest

from spherapprox import _loading

ROOT = Path(__file__).parents[2]
LOADERS = ("load", "_load", "Later", "import_module", "load_submodule")
DOORS = ("spherapprox", "bounds", "spherapprox.heads", "spherapprox._loading")
"""What names what lies above, for users."""
WINGS = (*(f"spherapprox.{name}" for name in _loading.WINGS), "bounds.prompts", "bounds.report")


def name_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for package in ("spherapprox", "bounds") for path in (ROOT / package).rglob("*.py")}


def package_of(module):
    return module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]


@functools.cache
def tree_of(module):
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def text_of(node, module):
    """Return the name in a call of a loader, None where a variable has it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        variables = {"__package__": package_of(module), "__name__": module}
        parts = [getattr(part, "value", None) for part in node.values]  # texts, and what stands in braces
        parts = [part if isinstance(part, str) else variables.get(ast.unparse(part)) for part in parts]
        return None if None in parts else "".join(parts)
    return None


def hidden(module):
    """Yield the modules that a module loads by name."""
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Call) and node.args and ast.unparse(node.func).rpartition(".")[2] in LOADERS:
            name = text_of(node.args[0], module)
            if name and name.partition(".")[0] in ("spherapprox", "bounds"):
                yield name


def statements(module):
    """Yield the modules that a module imports by statements, those of functions and for types included."""
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.ImportFrom):
            base = package_of(module).split(".")
            above = ".".join(base[: len(base) - node.level + 1]) if node.level else ""
            base = ".".join(filter(None, (above, node.module)))
            for name in (f"{base}.{alias.name}" for alias in node.names):
                if (target := name if name in MODULES else base) in MODULES and target not in ("spherapprox", "bounds"):
                    yield target


HIDDEN = [(module, name) for module in sorted(MODULES) for name in hidden(module)]


def test_strings_that_import_are_found():
    assert ("spherapprox.summation.dense", "spherapprox._kernels.summation.shifted") in HIDDEN
    assert len(HIDDEN) > 20
    assert all(name in MODULES for _, name in HIDDEN)


@pytest.mark.parametrize("wing", WINGS)
def test_no_string_leads_from_the_core_or_another_wing_into_a_wing(wing):
    def inside(module):
        return f"{module}.".startswith(f"{wing}.")

    own = ("bounds.prompts",) if wing == "spherapprox.prompts" else ()
    assert not [
        (module, name)
        for module, name in HIDDEN
        if inside(name) and not inside(module) and module not in DOORS and not module.startswith(own or "-")
    ]


def reached(start):
    """Return the modules that one imports, and those that these import."""
    modules, waiting = set(), [start]
    while waiting:
        if (module := waiting.pop()) not in modules and module in MODULES:
            modules.add(module)
            waiting += [*statements(module), *hidden(module)]
    return modules


def test_no_circle_is_hidden_behind_a_string():
    """Torch modules, which extras have, know the heads that make them; all else that is loaded late lies below."""
    late = {(module, name) for module, name in HIDDEN if "torch_modules" not in name and module not in DOORS}
    assert not [(module, name) for module, name in sorted(late) if module in reached(name)]
