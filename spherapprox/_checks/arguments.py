"""Guards of objects, options that need or exclude others and extras, and warnings that name the user's own line."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from .scalars import show, wrong_type

T = TypeVar("T")


def instance(value: object, name: str, *kinds: type[T], remedy: str = "") -> T:
    """Return `value`, an object of one of the classes."""
    if not isinstance(value, kinds):
        words = " or ".join(f"{'an' if kind.__name__[0] in 'AEIOU' else 'a'} {kind.__name__}" for kind in kinds)
        raise wrong_type(value, name, words, remedy=remedy)
    return value


def given(value: T | None, name: str, remedy: str) -> T:
    """Return an argument that has no default here."""
    if value is None:
        raise TypeError(f"'{name}' must be given{remedy}")
    return value


def not_both(value: object, other: object, why: str) -> None:
    """Check that two arguments of which one stands for the other are not both given."""
    if value is not None and other is not None:
        raise TypeError(f"{why}: give one of them, got both")


def left_out(value: object, name: str, when: str, remedy: str = "") -> None:
    """Check that an argument is None where another leaves it no meaning."""
    if value is not None:
        raise ValueError(f"'{name}' must be left out {when}, got {show(value)}" + (f": {remedy}" if remedy else ""))


def agreeing(value: int | None, name: str, stored: int, source: str) -> None:
    """Check that a number is None or agrees with the value that the `source` has."""
    if value is not None and value != stored:
        raise ValueError(f"'{name}' must be {stored}{source}, got {show(value)}: leave it out")


@contextmanager
def needs(package: str, what: str, extra: str) -> Iterator[None]:
    """Name the extra that holds a package where its import fails."""
    try:
        yield
    except ImportError as error:
        raise ImportError(f'{what} needs {package}: pip install "spherapprox[{extra}]" installs it') from error


def warn_inaccurate(message: str) -> None:
    """Warn of lost accuracy, at the line that called this package."""
    warn(message, RuntimeWarning)


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line that called this package."""
    frame, level = inspect.currentframe(), 0
    package = __name__.partition(".")[0] + "."
    while frame is not None and frame.f_globals["__name__"].startswith(package):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level + 1)


def stock(module: object, name: str) -> Any:
    """Return the class of `torch.nn` of a name that an object is of, or extends; None if it does neither."""
    kinds = (kind for kind in type(module).__mro__ if kind.__module__.startswith("torch.nn.modules."))
    return next((kind for kind in kinds if kind.__name__ == name), None)


def obstacle(module: Any, name: str) -> str | None:
    """Say why a module may compute something else than its weights say in a class of `torch.nn`; None if it does not.

    Parametrized weights are no obstacle: their names give what is computed.
    """
    kind = type(module).__name__
    if hasattr(module, "base_layer"):
        return f"{kind} with an adapter: model.merge_and_unload() puts those of PEFT into the weights"
    own = stock(module, name)
    if own is None:
        return kind
    if type(module).forward is not own.forward or "forward" in vars(module):
        return f"{kind} with a forward of its own: copy the weights that it uses into a torch.nn.{name}"
    if module._forward_hooks or module._forward_pre_hooks:
        remedy = "remove_weight_norm, remove_spectral_norm, prune.remove or handle.remove() takes them off"
        return f"{kind} with forward hooks, which may change what it computes: {remedy}"
    return None
