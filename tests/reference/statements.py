"""Theorems with those of some options that they take."""

from __future__ import annotations

from typing import Any

from bounds.records import Statement
from bounds.theorems import THEOREMS, state


def with_options(theorem: str, **options: Any) -> Statement:
    """State a theorem with those of the options that it takes."""
    return state(theorem, **{name: value for name, value in options.items() if name in THEOREMS[theorem].options})
