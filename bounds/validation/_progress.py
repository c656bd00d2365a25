"""Progress on stderr: a bar on a terminal, elsewhere a line every few seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tqdm import tqdm

from spherapprox import _checks


@contextmanager
def show_steps(
    progress: bool | None, unit: str, total: int | None = None, *, seconds: float = 5.0
) -> Iterator[Callable[[str], None]]:
    """Yield what is called with the name of each step as it begins; None: shown on a terminal only.

    Elsewhere a line follows another after so many seconds.
    """
    if progress is not None:
        progress = _checks.flag(progress, "progress")
    terminal, count = sys.stderr.isatty(), 0
    start = line = time.monotonic()
    with tqdm(total=total, unit=unit, leave=False, disable=not terminal or progress is False) as bar:

        def begin(name: str) -> None:
            nonlocal count, line
            bar.set_description_str(name)
            bar.update(count - bar.n)
            now = time.monotonic()
            if progress and not terminal and now - line >= seconds:
                line, share = now, "" if total is None else f" of {total}"
                print(f"{count}{share} {unit}s after {now - start:.0f} s; next {name}", file=sys.stderr)
            count += 1

        yield begin


def each(
    items: Sequence[Any], progress: bool | None, unit: str, describe: Callable[[Any], str] = str, **options: float
) -> Iterator[Any]:
    """Yield the items, with their count and the next one's description on stderr, as `show_steps` does."""
    with show_steps(progress, unit, len(items), **options) as begin:
        for item in items:
            begin(describe(item))
            yield item
