"""A row of the catalogue: a function that makes a target, and the spheres on which it does."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass

from ..target import CONSTANTS, Target

DERIVED = dict.fromkeys(CONSTANTS, "derived")  # origins of the catalogue's constants, all of which are exact or proven


@dataclass(frozen=True)
class Entry:
    """A maker of targets, known by its name; without an argument ``dim`` it makes them on S^dim alone."""

    maker: Callable[..., Target]
    dim: int = 2
    """The sphere's dimension where none is asked for."""

    @property
    def name(self) -> str:
        """The name in the catalogue."""
        return self.maker.__name__

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of the maker's arguments."""
        return tuple(inspect.signature(self.maker).parameters)
