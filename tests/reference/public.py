"""What the packages make public, and what the pages name of it, for tests that walk it."""

import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any


def list_public(*modules: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the dotted names of what modules, and those that they name, make public, each with what it names."""
    for module in modules:
        for name in (*module.__all__, *getattr(module, "_MODULES", ())):
            try:
                thing = getattr(module, name)
            except AttributeError as error:
                if "pip install" in str(error):  # an extra is missing
                    continue
                raise
            yield from list_public(thing) if isinstance(thing, ModuleType) else [(f"{module.__name__}.{name}", thing)]


def list_attributes(text: str) -> set[str]:
    """Return the dotted names of a page's code and of its tables of the reference."""
    names, module = set(re.findall(r"`((?:spherapprox|bounds)(?:\.\w+)+)(?<!\.json)\b", text)), ""
    for line in text.splitlines():
        if match := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
            module = match[1]
        elif match := re.fullmatch(r" {3}(\w+)|\.\. autodata:: (\S+)", line):
            names.add(match[2] or f"{module}.{match[1]}")
    return names
