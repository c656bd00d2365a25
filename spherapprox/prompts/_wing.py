"""What the core asks of this wing: kinds of saved objects, registered by being imported, and calls that compile."""

from __future__ import annotations

from collections.abc import Callable

from .prefix import CompressedPrefix, Trial
from .recurrent import Input, LinState, Network, Program
from .sequences import SequenceHead

SAVED = (CompressedPrefix, Network, SequenceHead, Trial)


def _recurrences() -> None:
    x = Input(1)
    Program(LinState(x, 0.5) * x).compile()([[1.0]])


TASKS: dict[str, Callable[[], None]] = {"recurrences": _recurrences}
