"""The kinds of head, by name, for files, the regressor, studies and validation."""

from __future__ import annotations

from importlib import import_module

from . import HOMES
from .head import Head

HEADS: tuple[type[Head], ...] = tuple(
    getattr(import_module(f"{__package__}.{module}"), name) for name, module in HOMES.items()
)
"""All kinds of head."""

FAMILIES: dict[str, type[Head]] = {head.family: head for head in HEADS if "family" in vars(head)}
"""Families of functions by name, each with the kind that founds it: those that are fitted, studied and bounded."""
