"""What the packages make public, for tests that walk it."""

from collections.abc import Iterator
from types import ModuleType
from typing import Any


def list_public(*modules: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the dotted names of what modules, and those that they name, make public, each with what it names."""
    for module in modules:
        for name in (*module.__all__, *getattr(module, "_MODULES", ())):
            thing = getattr(module, name)
            yield from list_public(thing) if isinstance(thing, ModuleType) else [(f"{module.__name__}.{name}", thing)]
