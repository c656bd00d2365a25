"""Every public callable says what it takes and what it raises, and shows itself at work."""

import inspect
import re
import types
from dataclasses import is_dataclass

import pytest

import bounds
import spherapprox
from spherapprox.summation import distributed

PACKAGES = ("spherapprox", "bounds")


def is_ours(thing):
    return callable(thing) and (getattr(thing, "__module__", None) or "").partition(".")[0] in PACKAGES


def public(module):
    """Yield the public classes and functions of a module, those of the modules that it names, and their methods."""
    for name in (*module.__all__, *getattr(module, "_MODULES", ())):
        thing = getattr(module, name)
        if isinstance(thing, types.ModuleType):
            yield from public(thing)
        elif is_ours(thing) and not (inspect.isclass(thing) and issubclass(thing, Exception)):
            yield f"{thing.__module__}.{thing.__qualname__}", thing
            for member in vars(thing) and [getattr(thing, m) for m in dir(thing) if inspect.isclass(thing)]:
                if is_ours(member) and (member.__name__ == "__call__" or not member.__name__.startswith("_")):
                    yield f"{member.__module__}.{member.__qualname__}", member


CALLABLES = {name: thing for module in (spherapprox, bounds, distributed) for name, thing in public(module)}


def section(doc, title):
    """Return the text of a section of a docstring, None where it is missing."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", doc, re.DOTALL | re.MULTILINE)
    return found and found[1]


def arguments(thing):
    """Return the names of what a caller passes, without the instance and what stands for any others."""
    return [
        name
        for name, parameter in inspect.signature(thing).parameters.items()
        if name not in ("self", "cls") and not name.startswith("_") and parameter.kind is not parameter.VAR_KEYWORD
    ]


@pytest.mark.parametrize("name", sorted(CALLABLES))
def test_every_public_callable_is_documented(name):
    thing = CALLABLES[name]
    doc, wanted = inspect.cleandoc(thing.__doc__ or ""), arguments(thing)
    text = (section(doc, "Parameters") or "") + (section(doc, "Attributes") or "")
    named = set(re.findall(r"\w+", " ".join(line for line in text.splitlines() if not line.startswith(" "))))
    room = inspect.getmodule(thing).__doc__ or ""
    family = "The arguments are the same throughout" in " ".join(room.split()) or "They are the same throughout" in room
    if family:  # functions of the same arguments say what they are once
        named |= set(re.findall(r"`(\w+)`", room))
    assert not set(wanted) - named, "not among the parameters"
    record = (is_dataclass(thing) and thing.__dataclass_params__.init and not hasattr(thing, "__post_init__")) or (
        inspect.isclass(thing) and issubclass(thing, tuple)
    )
    if (wanted and not record) or (not inspect.isclass(thing) and re.search(r"\braise\b", inspect.getsource(thing))):
        assert section(doc, "Raises") or (family and "Error names" in room), "no section Raises"
    owner = CALLABLES.get(name.rpartition(".")[0])
    use = "__call__" if thing.__name__ == "__call__" else f".{thing.__name__}("
    shown = inspect.isclass(owner) and use in (section(inspect.cleandoc(owner.__doc__), "Examples") or "") + "__call__"
    assert shown or ">>> " in (section(doc, "Examples") or ""), "no example"
