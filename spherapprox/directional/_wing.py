"""What the core asks of this wing: kinds of saved objects, and calls that compile: there are none."""

from __future__ import annotations

from collections.abc import Callable

SAVED: tuple[type, ...] = ()
TASKS: dict[str, Callable[[], None]] = {}
