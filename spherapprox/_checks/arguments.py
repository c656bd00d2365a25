"""Guards of what is given: objects of the right class, arguments that need or exclude others, and extras installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from .scalars import show, wrong_type

T = TypeVar("T")


def instance(value: object, name: str, *kinds: type[T], remedy: str = "") -> T:
    """Return `value`, an object of one of the classes."""
    if not isinstance(value, kinds):
        words = " or ".join(f"{'an' if kind.__name__[0] in 'AEIOU' else 'a'} {kind.__name__}" for kind in kinds)
        raise wrong_type(value, name, words, remedy)
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


def agreeing(value: object, name: str, stored: object, source: str) -> None:
    """Check that an argument is None or agrees with the value known from the `source`."""
    if value is None:
        return
    try:
        agrees = bool(value == stored)
    except (RuntimeError, TypeError, ValueError):  # arrays and tensors have no one truth
        agrees = False
    if not agrees:
        raise ValueError(f"'{name}' must be {stored}{source}, got {show(value)}: leave it out")


@contextmanager
def needs(package: str, what: str, extra: str) -> Iterator[None]:
    """Name the extra that holds a package where its import fails."""
    try:
        yield
    except ImportError as error:
        raise ImportError(f'{what} needs {package}: pip install "spherapprox[{extra}]" installs it') from error
