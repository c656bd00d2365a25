"""Result files that appear together or not at all, and tables among them."""

from __future__ import annotations

import csv
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def together(out: Path) -> Iterator[Path]:
    """Give a temporary folder whose files move to `out` when all of them are written; nothing stays otherwise."""
    new = not out.exists()
    out.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=out))
    try:
        yield folder
        for path in sorted(folder.iterdir()):
            os.replace(path, out / path.name)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if new and not any(out.iterdir()):
            out.rmdir()


def write_csv(path: Path, names: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    """Write a table with a line of names; floats with all their digits, None as nothing."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)
