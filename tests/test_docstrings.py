"""Every public callable says what it takes and what it raises, and shows itself at work."""

import inspect
import re
from dataclasses import is_dataclass

import public
import pytest

import bounds
import spherapprox
from spherapprox.summation import distributed

PACKAGES = ("spherapprox", "bounds")


def is_ours(thing):
    return callable(thing) and (getattr(thing, "__module__", None) or "").partition(".")[0] in PACKAGES


def callables(*modules):
    """Yield the public classes and functions of modules, and their methods."""
    for _, thing in public.list_public(*modules):
        if is_ours(thing) and not (inspect.isclass(thing) and issubclass(thing, Exception)):
            yield f"{thing.__module__}.{thing.__qualname__}", (thing, None)
            for member in vars(thing) and [getattr(thing, m) for m in dir(thing) if inspect.isclass(thing)]:
                if is_ours(member) and (member.__name__ == "__call__" or not member.__name__.startswith("_")):
                    yield f"{member.__module__}.{member.__qualname__}", (member, thing)


CALLABLES = dict(callables(spherapprox, bounds, distributed))


def section(doc, title):
    """Return the text of a section of a docstring, None where it is missing."""
    match = re.search(rf"^{title}\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", doc, re.DOTALL | re.MULTILINE)
    return match and match[1]


def arguments(thing):
    """Return the names of what a caller passes, without the instance and what stands for any others."""
    return [
        name
        for name, parameter in inspect.signature(thing).parameters.items()
        if name not in ("self", "cls") and not name.startswith("_") and parameter.kind is not parameter.VAR_KEYWORD
    ]


@pytest.mark.parametrize("name", sorted(CALLABLES))
def test_every_public_callable_is_documented(name):
    thing, owner = CALLABLES[name]
    doc, names = inspect.cleandoc(thing.__doc__ or ""), arguments(thing)
    text = (section(doc, "Parameters") or "") + (section(doc, "Attributes") or "")
    named = set(re.findall(r"\w+", " ".join(line for line in text.splitlines() if not line.startswith(" "))))
    room = inspect.getmodule(thing).__doc__ or ""
    family = "The arguments are the same throughout" in " ".join(room.split()) or "They are the same throughout" in room
    if family:  # functions of the same arguments say what they are once
        named |= set(re.findall(r"`(\w+)`", room))
    assert not set(names) - named, "not among the parameters"
    record = (is_dataclass(thing) and thing.__dataclass_params__.init and not hasattr(thing, "__post_init__")) or (
        inspect.isclass(thing) and issubclass(thing, tuple)
    )
    if (names and not record) or (not inspect.isclass(thing) and re.search(r"\braise\b", inspect.getsource(thing))):
        assert section(doc, "Raises") or (family and "Error names" in room), "no section Raises"
    if ">>> " not in (section(doc, "Examples") or ""):
        example = owner and section(inspect.cleandoc(owner.__doc__), "Examples")
        call = r"\w\(" if thing.__name__ == "__call__" else rf"\.{thing.__name__}\("
        assert re.search(rf"(?m)^(>>>|\.\.\.) .*{call}", example or ""), "no example, and none of its class calls it"
