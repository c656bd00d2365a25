"""Modules that are loaded when they are first used, by one thread at a time.

Python locks each module on its own: two threads that load neighbours in different order get one that is half loaded.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any


def renewed_by_fork(renew: Callable[[], None]) -> Callable[[], None]:
    """Call a function in each process that this one forks, which has none of the threads that may hold a lock."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=renew)
    return renew


_LOCK = threading.RLock()


@renewed_by_fork
def _new_lock() -> None:
    global _LOCK  # noqa: PLW0603
    _LOCK = threading.RLock()


def load(name: str) -> ModuleType:
    """Import a module, no other thread loading one meanwhile; numba, too, asks for kernels in an order of its own."""
    with _LOCK, nullcontext() if name in sys.modules else _interrupted_afterwards():
        return import_module(name)


@contextmanager
def _interrupted_afterwards() -> Iterator[None]:
    """Let an interruption wait for the end of the block: what is half of numba cannot be loaded again."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield
        return
    signals: list[Any] = []
    signal.signal(signal.SIGINT, lambda *arguments: signals.append(arguments))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if signals:
        handler(*signals[0])


class Session:
    """What this process has loaded of the kernels: it changes times, and never a bit of a result.

    `ranges` are the tests of arrays, `_kernels.ranges`, None until a kernel was needed for something else.
    """

    ranges: Any = None


session = Session()
WINGS = ("directional", "prompts")  # packages that stand on all others, and could be distributions of their own


def wings() -> Iterator[ModuleType]:
    """Load each wing's module ``_wing``: it defines what the wing saves, and TASKS that compile its kernels."""
    for name in WINGS:
        yield load(f"spherapprox.{name}._wing")


class Later:
    """A module of kernels, imported when one of its names is first used: many a process needs no compiler."""

    def __init__(self, name: str) -> None:
        self._name = name

    @cached_property
    def _module(self) -> ModuleType:
        return load(self._name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)
