"""Files from which an interrupted search for a proof goes on."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from ... import _archive
from ..._types import Array, Float64
from ...sphere.cells import Cells
from .search import State, join_cells

KIND = "certificate-in-progress"
SECONDS = 10.0
"""Time between two writings of a file."""


def fingerprint(*parts: Array | float | str) -> str:
    """Return a digest of what a search is about."""
    state = hashlib.sha256()
    for part in parts:
        state.update(part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode())
    return state.hexdigest()


@contextmanager
def keep_state(path: str | None, digest: str, state: State) -> Iterator[Callable[[State], None]]:
    """Take the state from a file if there is one, write it there now and then, and remove it at the end."""
    if path is None:
        yield lambda state: None
        return
    if os.path.exists(path):
        _read(path, digest, state)
    latest = time.monotonic()

    def report(state: State) -> None:
        nonlocal latest
        if time.monotonic() - latest > SECONDS:
            _write(path, digest, state)
            latest = time.monotonic()

    try:
        yield report
    except BaseException:
        _write(path, digest, state)
        raise
    if os.path.exists(path):
        os.unlink(path)


def _write(path: str, digest: str, state: State) -> None:
    """Write a state to a file."""
    survivors = join_cells(state.survivors)
    fields: dict[str, _archive.Field] = {
        "digest": digest, "lower": state.lower, "at": state.at, "slack": state.slack,
        "evaluations": state.evaluations, "spent": state.earlier,
        "riesz": state.counts.get("Riesz", 0), "taylor": state.counts.get("Taylor", 0),
        "todo": None if state.todo is None else _table(state.todo),
        "kept": None if survivors is None else _table(survivors),
        "divisions": None if state.todo is None else state.todo.divisions,
    }  # fmt: skip
    _archive.write(path, _archive.Record(KIND, fields))


def _read(path: str, digest: str, state: State) -> None:
    """Read a state from a file of the same search."""
    record = _archive.read(path)
    fields = dict(record.fields)
    if record.kind != KIND or fields["digest"] != digest:
        raise ValueError(
            f"'checkpoint' must be the file of this search, got {path!r} of another head, target or slack: "
            "name another file, or remove it"
        )
    state.lower, state.at, state.slack = fields["lower"], fields["at"], fields["slack"]  # type: ignore[assignment]
    state.evaluations, state.earlier = fields["evaluations"], fields["spent"]  # type: ignore[assignment]
    if fields["todo"] is None:
        return
    divisions: int = fields["divisions"]  # type: ignore[assignment]
    state.begin(_cells(fields["todo"], divisions))  # type: ignore[arg-type]
    state.counts = {"Riesz": fields["riesz"], "Taylor": fields["taylor"]}  # type: ignore[dict-item]
    if fields["kept"] is not None:
        state.survivors = [_cells(fields["kept"], divisions)]  # type: ignore[arg-type]


def _table(cells: Cells) -> Float64:
    """Return faces and indices as one table of floats (n, 1 + m), which holds them exactly."""
    return np.column_stack([cells.faces, cells.indices]).astype(np.float64)


def _cells(table: Float64, divisions: int) -> Cells:
    """Return the cells of a table."""
    return Cells(table[:, 0].astype(np.intp), table[:, 1:].astype(np.intp), divisions)
