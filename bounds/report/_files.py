"""Result files that appear together or not at all, that replace earlier results only, and tables among them."""

from __future__ import annotations

import csv
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from spherapprox import _checks


def write_together(
    out: str | os.PathLike[str], marks: Mapping[str, bytes], writers: Mapping[str, Callable[[Path], object]]
) -> tuple[Path, ...]:
    """Write files to a folder, all of them or none, each by the function that stands beside its name.

    What is replaced comes back if a later one cannot take its place, as where a folder has its name. Earlier results
    that are not written anew are deleted: `marks` says what stands near the beginning of each file.
    """
    _checks.instance(out, "out", str, os.PathLike, remedy="name a folder")
    out = Path(out)
    new = not out.exists()
    out.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=out))
    try:
        for name, write in writers.items():
            write(folder / name)
        _exchange(folder, out, list(writers), outdated=[name for name in earlier(out, marks)[0] if name not in writers])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if new and not any(out.iterdir()):
            out.rmdir()
    return tuple(out / name for name in sorted(writers))


def _exchange(folder: Path, out: Path, names: Sequence[str], outdated: Sequence[str]) -> None:
    """Move files from a folder to another and delete outdated ones there, or leave all as it was."""
    with tempfile.TemporaryDirectory(prefix="before-", dir=folder) as before:
        there = [name for name in (*names, *outdated) if os.path.lexists(out / name)]
        for name in there:
            shutil.copy2(out / name, Path(before, name), follow_symlinks=False)
        changed: list[str] = []
        try:
            for name in (*names, *outdated):
                os.replace(folder / name, out / name) if name in names else (out / name).unlink()
                changed.append(name)
        except BaseException:
            for name in changed:
                os.replace(Path(before, name), out / name) if name in there else (out / name).unlink()
            raise


def earlier(out: Path, marks: Mapping[str, bytes]) -> tuple[list[str], list[str]]:
    """Return the names present in a folder: earlier results, and files from elsewhere."""
    there = [name for name in marks if (out / name).exists()]
    own = [name for name in there if (out / name).is_file() and marks[name] in _beginning(out / name)]
    return own, [name for name in there if name not in own]


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(500)


def write_csv(path: Path, names: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    """Write a table with a line of names; floats with all their digits, None as nothing."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)
