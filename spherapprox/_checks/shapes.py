"""Guards of shapes: of one array, of two that go together, and of points that lie on one sphere."""

from __future__ import annotations

from types import EllipsisType
from typing import Any, TypeVar

import numpy as np

A = TypeVar("A", bound=Any)
Shape = tuple["int | str | EllipsisType", ...]


def shaped(array: A, name: str, *shapes: Shape, note: str = "", remedy: str = "", verb: str = "have") -> A:
    """Return an array of one of the shapes.

    A word in a shape stands for an axis of any length but 0, and ``...`` at its beginning for any axes. `note` follows
    the shapes in the complaint, and `verb` is "return" for what a user's function returns.
    """
    shape = tuple(array.shape)
    for pattern in shapes:
        if _fits(shape, pattern):
            return array
    texts = (", ".join("..." if axis is ... else str(axis) for axis in pattern) for pattern in shapes)
    patterns = " or ".join(f"({text},)" if text and "," not in text else f"({text})" for text in texts)
    raise ValueError(f"'{name}' must {verb} shape {patterns}{note}, got {shape}" + (f": {remedy}" if remedy else ""))


def _fits(shape: tuple[int, ...], pattern: Shape) -> bool:
    """Tell whether a shape is that of the pattern."""
    if pattern[:1] == (...,):
        shape, pattern = shape[1 - len(pattern) :], pattern[1:]
    if len(shape) != len(pattern):
        return False
    for n, axis in zip(shape, pattern, strict=True):  # noqa: SIM110 - every call of a sum comes here, and all() is slower
        if n == 0 if isinstance(axis, str) else n != axis:
            return False
    return True


def broadcast_shape(remedy: str, **shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape to which arguments broadcast, each given by its name."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        names, text = " and ".join(map(repr, shapes)), " and ".join(map(str, shapes.values()))
        raise ValueError(f"{names} must broadcast, got shapes {text}: {remedy}") from None


def same_sphere(rows: Any, name: str, dim: int, owner: str) -> None:
    """Check that rows have the columns of points of S^dim, which is the `owner`'s sphere."""
    if (own := rows.shape[1] - 1) != dim:
        raise ValueError(f"'{name}' must lie on {owner} S^{dim}, got points of S^{own}: they need {dim + 1} columns")


def same_dim(dim: int, name: str, expected: int, why: str) -> None:
    """Check that an object that has a dimension lies on S^expected."""
    if dim != expected:
        raise ValueError(f"'{name}' must have dim = {expected} {why}, got {dim}")
