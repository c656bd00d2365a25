"""Progress on stderr: a bar on a terminal, elsewhere a line every few seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tqdm import tqdm

from spherapprox import _checks


def each(
    items: Sequence[Any], progress: bool | None, unit: str, describe: Callable[[Any], str] = str, *,
    seconds: float = 5.0,
) -> Iterator[Any]:  # fmt: skip
    """Yield the items, with their count and the next one's description on stderr; None: on a terminal only.

    Elsewhere a line follows another after so many seconds.
    """
    if progress is not None:
        progress = _checks.flag(progress, "progress")
    terminal = sys.stderr.isatty()
    if terminal and progress is not False:
        with tqdm(items, unit=unit, leave=False) as bar:
            for item in bar:
                bar.set_description(describe(item))
                yield item
        return
    start = line = time.monotonic()
    for done, item in enumerate(items):
        now = time.monotonic()
        if progress and now - line >= seconds:
            line = now
            print(f"{done} of {len(items)} {unit}s after {now - start:.0f} s; next {describe(item)}", file=sys.stderr)
        yield item
