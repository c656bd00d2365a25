"""Warnings that name the user's own line."""

from __future__ import annotations

import inspect
import warnings


def warn_inaccurate(message: str) -> None:
    """Warn of lost accuracy, at the line that called this package."""
    warn(message, RuntimeWarning)


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line that called this package."""
    frame, level = inspect.currentframe(), 0
    package = __name__.partition(".")[0] + "."
    while frame is not None and frame.f_globals["__name__"].startswith(package):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level + 1)
