"""The kinds of head, as files, the regressor, studies and validation look them up."""

from __future__ import annotations

from importlib import import_module

from . import HOMES
from .head import Head

HEADS: tuple[type[Head], ...] = tuple(
    getattr(import_module(f"{__package__}.{module}"), name) for name, module in HOMES.items()
)
"""All kinds of head; what each is and can do, its class says."""

FAMILIES: dict[str, type[Head]] = {head.family: head for head in HEADS if "family" in vars(head)}
"""Families of functions by name, each with the kind that founds it: those that are fitted, studied and bounded."""
