"""The kinds of head, by name, for files, the regressor, studies and validation."""

from __future__ import annotations

from .. import heads
from .head import Head

HEADS: tuple[type[Head], ...] = tuple(getattr(heads, name) for name in heads.HOMES)
"""All kinds of head."""

FAMILIES: dict[str, type[Head]] = {head.family: head for head in HEADS if "family" in vars(head)}
"""Families of functions by name, each with the kind that founds it: those that are fitted, studied and bounded."""
