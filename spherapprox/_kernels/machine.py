"""What was measured on this machine, once: numbers that say how fast it is.

It is kept in a sealed file beside the compiled kernels, for one processor and number of cores; a file that is damaged,
or of another machine, is measured again, and without a folder the numbers last as long as the process.
"""

from __future__ import annotations

import json
import math
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from .._loading import renewed_by_fork
from .._version import __version__
from .jit import cache_folder
from .simd.registers import host

ROUNDS, PATIENCE = 9, 0.06  # runs, at most, and their seconds from which on there is no further one

_LOCK = threading.RLock()
_numbers: dict[str, float] = {}
_read: list[bool] = []


@renewed_by_fork
def _new_lock() -> None:
    global _LOCK  # noqa: PLW0603
    _LOCK = threading.RLock()


def measured(name: str, measure: Callable[[], float], smallest: float, largest: float) -> float:
    """Return a number that was measured on this machine, within bounds of sanity; `measure` is called at most once."""
    with _LOCK:
        _read_once()
        if type(_numbers.get(name)) is not float:
            _numbers[name] = float(measure())
            _write()
        return min(max(_numbers[name], smallest), largest)


def seconds(run: Callable[[], object]) -> float:
    """Return the seconds that a short run takes, without recording them.

    It is called once unmeasured, for what must be loaded or compiled, and then some times for some 50 ms: the least
    time counts, since a busy machine only adds to it.
    """
    run()
    least, elapsed = math.inf, 0.0
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        run()
        took = time.perf_counter() - begin
        least, elapsed = min(least, max(took, 1e-9)), elapsed + took
        if elapsed > PATIENCE:
            break
    return least


def recorded() -> dict[str, float]:
    """Return all that has been measured on this machine, by name."""
    with _LOCK:
        _read_once()
        return dict(sorted(_numbers.items()))


def _machine() -> list[str | int]:
    """Return the machine and the versions that speeds depend on; the folder's name stands for the kernels."""
    return [*map(str, host()), os.cpu_count() or 1, np.__version__, __version__]


def _path() -> Path | None:
    """Return the file of this machine's numbers."""
    folder = cache_folder()
    return None if folder is None else folder / f"machine-{_digest(_machine())[:12]}.json"


def _digest(content: Any) -> str:
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _read_once() -> None:
    """Take what the file holds, once in a process."""
    if not _read:
        _read.append(True)
        _numbers.update(_stored() | _numbers)


def _stored() -> dict[str, float]:
    """Return the speeds of the file; none if there is none, or it is damaged or another machine's."""
    path = _path()
    try:
        content = {} if path is None else json.loads(path.read_text(encoding="utf-8"))
        machine, numbers = content["machine"], content["measured"]
        if content["seal"] != _digest([machine, numbers]) or machine != _machine():
            return {}
        return {name: number for name, number in numbers.items() if type(number) is float and 0.0 < number < math.inf}
    except Exception:  # whatever ails the file, all can be measured again
        return {}


def _write() -> None:
    """Keep all that is known, with what other processes have written by now; it is no loss if that fails."""
    path = _path()
    if path is None:
        return
    machine, numbers = _machine(), _stored() | _numbers
    content = json.dumps({"machine": machine, "measured": numbers, "seal": _digest([machine, numbers])})
    part = path.with_name(f"{uuid4().hex}.part")
    with suppress(OSError):
        try:
            part.write_text(content, encoding="utf-8")
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
