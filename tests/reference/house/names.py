"""The public names of the packages with their signatures, as plain dicts for JSON."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re
import sys
import types
import warnings
from typing import Any

PACKAGES = ("spherapprox", "bounds")
FIXED = (
    "spherapprox", "spherapprox.coefficients", "spherapprox.config", "spherapprox.error", "spherapprox.harmonics",
    "spherapprox.heads", "spherapprox.heads.modules", "spherapprox.heads.regressor", "spherapprox.io",
    "spherapprox.partition", "spherapprox.points", "spherapprox.quality", "spherapprox.quality.covering",
    "spherapprox.quality.separation", "spherapprox.special", "spherapprox.sphere",
    "spherapprox.summation", "spherapprox.summation.distributed", "spherapprox.target", "spherapprox.targets",
    "spherapprox.vmf",
    "bounds", "bounds.certify", "bounds.cli", "bounds.covering", "bounds.makers", "bounds.plot", "bounds.ragozin",
    "bounds.rungs", "bounds.spectral", "bounds.study", "bounds.thesis", "bounds.validate",
)  # fmt: skip
"""Modules whose names scripts may rest on; those of other modules are listed, but may move."""
EXTRA = {"spherapprox": ("HeadRegressor", "__version__")}
"""Documented names that no `__all__` lists."""
ONLY = {
    "bounds.cli": ("main",), "bounds.validate": ("validate",), "spherapprox.heads.regressor": ("HeadRegressor",),
    "spherapprox.quality.covering": ("covering_interval",), "spherapprox.quality.separation": ("separation",),
}  # fmt: skip
"""The documented names of modules without `__all__` that make others too."""
SPECIAL = ("__init__", "__call__", "__len__", "__eq__", "__hash__", "__getitem__", "__iter__", "__add__", "__str__")
"""Methods with underscores that count, where a class of ours (or its dataclass) defines them."""


def collect() -> dict[str, Any]:
    """Return {"modules": module -> its names, "all": every name that can be reached -> its description}."""
    modules, reached = {}, {}
    for module in _modules():
        own = public(module)
        modules[module.__name__] = sorted(own)
        for name in sorted({*own, *(n for n in dir(module) if not n.startswith("_"))}):
            thing = _get(module, name)
            home = thing.__name__ if isinstance(thing, types.ModuleType) else getattr(thing, "__module__", None)
            if name in own or not isinstance(home, str) or home.partition(".")[0] in PACKAGES:
                reached[f"{module.__name__}.{name}"] = describe(thing)
    return {"modules": modules, "all": reached}


def _get(module: types.ModuleType, name: str) -> Any:
    try:
        return getattr(module, name)
    except (AttributeError, ImportError) as error:
        return error


def _modules() -> list[types.ModuleType]:
    found = []
    for package in PACKAGES:
        root = importlib.import_module(package)
        names = [
            package,
            *(m.name for m in pkgutil.walk_packages(root.__path__, f"{package}.", onerror=lambda _: None)),
        ]
        for name in names:
            if any(part.startswith("_") for part in name.split(".")):
                continue
            try:
                importlib.import_module(name)
            except ImportError as error:  # an extra that is not installed
                print(f"left out: {name} ({error})", file=sys.stderr)
                continue
            found.append(sys.modules[name])  # `bounds.validate` is the function, this is the module
    return found


def public(module: types.ModuleType) -> list[str]:
    """Return `__all__`, else the functions and classes that the module makes: no name that it merely imports."""
    if module.__name__ in ONLY:
        return [name for name in ONLY[module.__name__] if hasattr(module, name)]
    if hasattr(module, "__all__"):
        extra = [name for name in EXTRA.get(module.__name__, ()) if not isinstance(_get(module, name), Exception)]
        return [*module.__all__, *extra]
    things = {name: _get(module, name) for name in dir(module) if not name.startswith("_")}
    homes = {name: getattr(thing, "__module__", None) for name, thing in things.items()}
    return [name for name, home in homes.items() if f"{home}.".startswith(f"{module.__name__}.")]


def describe(thing: Any) -> dict[str, Any]:
    """Return what callers of a name can tell: its kind, signature and members; annotations stand apart."""
    if isinstance(thing, types.ModuleType):
        return {"kind": "module", "name": thing.__name__}
    if inspect.isclass(thing):
        ours = [base for base in thing.__mro__ if base.__module__.partition(".")[0] in PACKAGES]
        return {
            "kind": "class", **_signature(thing), "bases": [base.__name__ for base in ours[1:] if _named(base)],
            "exception": [base.__name__ for base in thing.__mro__[:-1] if base not in ours][:3],
            "fields": [f.name for f in dataclasses.fields(thing)] if dataclasses.is_dataclass(thing) else [],
            "frozen": bool(getattr(getattr(thing, "__dataclass_params__", None), "frozen", False)),
            "members": {name: _member(thing, name, owner) for name, owner in sorted(_members(thing, ours).items())},
        }  # fmt: skip
    if inspect.isroutine(thing) or (callable(thing) and hasattr(thing, "__wrapped__")):
        return {"kind": "function", **_signature(thing)}
    if isinstance(thing, Exception):
        return {"kind": "missing", "why": type(thing).__name__}
    shown = sorted(map(str, thing)) if isinstance(thing, dict | frozenset | set) else thing
    text = re.sub(r" at 0x[0-9a-f]+", "", repr(shown))
    return {"kind": "constant", "type": type(thing).__name__, "value": text[:500]}


def _named(thing: type) -> bool:
    """Say whether a class has a name in its package itself."""
    package = importlib.import_module(thing.__module__.partition(".")[0])
    return thing.__name__ in package.__all__


def _members(thing: type, ours: list[type]) -> dict[str, type]:
    """Return the members that classes of ours define -> the first of these classes."""
    found: dict[str, type] = {}
    for base in ours:
        for name in vars(base):
            if not name.startswith("_") or name in SPECIAL:
                found.setdefault(name, base)
    return found


def _member(thing: type, name: str, owner: type) -> dict[str, Any]:
    raw = vars(owner)[name]
    if isinstance(raw, classmethod | staticmethod):
        return {"kind": type(raw).__name__, **_signature(getattr(thing, name))}
    if inspect.isfunction(raw):
        return {"kind": "method", **_signature(raw)}
    if hasattr(raw, "__get__"):  # property, cached_property, deprecated alias, slot, tuple field
        return {"kind": "attribute"}
    return {"kind": "value", "value": re.sub(r" at 0x[0-9a-f]+", "", repr(raw))[:200]}


def _signature(thing: Any) -> dict[str, str]:
    """Return a signature as callers see it, and with annotations, whose aliases may be renamed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            full = inspect.signature(thing)
    except (TypeError, ValueError):
        return {"call": "unknown", "annotated": "unknown"}
    bare = [parameter.replace(annotation=parameter.empty) for parameter in full.parameters.values()]
    texts = str(full.replace(parameters=bare, return_annotation=full.empty)), str(full)
    call, annotated = (re.sub(r" at 0x[0-9a-f]+", "", text) for text in texts)
    return {"call": call, "annotated": annotated}
