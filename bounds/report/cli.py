"""The entry point of the command `spherapprox`, which handles Ctrl-C while the rest is loaded."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status: 0, 1 for what is refuted, 2 for bad arguments, 130 if interrupted."""
    try:
        from .commands import run  # a second or two

        return run(arguments)
    except KeyboardInterrupt:
        print("spherapprox: interrupted; results are written at the end, all or none", file=sys.stderr)
        if arguments is None:  # threads may be inside a kernel, which the interpreter's own end does not survive
            os._exit(130)
        return 130


if __name__ == "__main__":
    sys.exit(main())
