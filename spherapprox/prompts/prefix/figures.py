"""Figures of attention: maps of the weights of heads, and of the share of a prefix in layers and heads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._types import Float64

_COLUMNS, _MOST = 4, 12
"""Maps beside each other, and heads that are drawn where none are named."""
_ROUNDED = 1.02
"""What a weight of 1 may be in half precision."""
_LABELS = 44
"""Labels that have room beside each other, over all maps of a row."""


def draw_weights(
    weights: ArrayLike, *, heads: Sequence[int] | None = None, tokens: Sequence[str] | None = None, prefix: int = 0,
    asking: ArrayLike | None = None, title: str = "",
) -> Any:  # fmt: skip
    """Draw the attention of heads as small maps: a row for each token that asks, a column for each that answers.

    Parameters
    ----------
    weights : array_like, shape (heads, T, n)
        Attention, in [0, 1]; colours are of its square root, so that small weights are seen.
    heads : sequence of int, optional
        Those drawn; the first 12 by default.
    tokens : sequence of str, optional
        What the columns behind the prefix are; the last T of them are what asks.
    prefix : int, default 0
        Columns of a prefix, set apart by a line.
    asking : array_like, shape (T,), optional
        Which of the tokens ask; the last T by default.
    title : str, default ""
        What stands above the maps.

    Returns
    -------
    matplotlib.figure.Figure
        5.6 inches wide.

    Raises
    ------
    TypeError, ValueError
        If shapes do not fit, or there is no such head.

    Examples
    --------
    >>> from spherapprox.prompts.prefix import draw_weights
    >>> figure = draw_weights([[[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]]], prefix=1, tokens=["to", "be"])
    >>> [text.get_text() for text in figure.axes[0].get_xticklabels()]
    ['to', 'be']
    """
    maps = _checks.shaped(_checks.reals(weights, "weights", nan=False), "weights", ("heads", "T", "n"))
    _, count, n = maps.shape
    length = _checks.integer(prefix, "prefix", minimum=0, maximum=n, why="so many columns there are")
    if not (maps.min() >= 0.0 and maps.max() <= _ROUNDED):
        raise ValueError(f"'weights' must be in [0, 1], got {maps.min():g} to {maps.max():g}: softmax of logits is")
    chosen = [*range(min(len(maps), _MOST))] if heads is None else _list_items(heads, "heads")
    for head in chosen:
        _checks.integer(head, "heads", minimum=0, maximum=len(maps) - 1, why="so many heads there are")
    if tokens is not None and len(_list_items(tokens, "tokens")) != n - length:
        raise ValueError(f"'tokens' must be {n - length}, one for each column behind the prefix, got {len(tokens)}")
    rows = np.arange(n - length - count, n - length) if asking is None else np.asarray(asking)
    if rows.shape != (count,) or not (rows.max() < n - length):
        raise ValueError(
            f"'asking' must be {count} tokens below {n - length}, one for each row, got {_checks.show(rows)}"
        )
    figure, axes = _grid(len(chosen), (count, n))
    for ax, head in zip(axes, chosen, strict=True):
        image = ax.imshow(np.sqrt(maps[head]), cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto", interpolation="nearest")
        ax.set_title(f"head {head}", fontsize=10)
        if length:
            ax.axvline(length - 0.5, color="#D55E00", linewidth=1.0)
        shown = tokens if n <= _LABELS // _columns(len(chosen), n) else None
        _label(ax, shown, rows, (count, n - length), length)
    levels = np.array([0.0, 0.05, 0.25, 0.5, 1.0])
    bar = figure.colorbar(image, ax=axes, label="attention", shrink=0.9, aspect=30)
    bar.set_ticks(np.sqrt(levels), labels=[f"{level:g}" for level in levels])
    figure.supxlabel("token that answers", fontsize=10)
    figure.supylabel("token that asks", fontsize=10)
    if title:
        figure.suptitle(title, fontsize=10)
    return figure


def _list_items(values: Any, name: str) -> list[Any]:
    """Return a list of what is to be a sequence that is not empty."""
    if not isinstance(values, Iterable):
        raise _checks.wrong_type(values, name, "a sequence", f"[{_checks.show(values)}]")
    items = [*values]
    if not items:
        raise ValueError(f"'{name}' must not be empty")
    return items


def _columns(count: int, n: int) -> int:
    """Return how many of the maps of n tokens stand beside each other: fewer where labels need room."""
    most = min(count, _COLUMNS, max(_LABELS // n, 2))
    whole = (columns for columns in range(most, 1, -1) if count % columns == 0)  # labels stand below the last line
    return next(whole, most)


def _grid(count: int, shape: tuple[int, int]) -> tuple[Any, list[Any]]:
    """Return a figure and axes for so many maps of a shape."""
    from matplotlib import pyplot

    columns = _columns(count, shape[1])
    lines = -(-count // columns)
    height = min(max(4.6 / columns * shape[0] / shape[1], 0.9), 3.6) + 0.35
    size = 5.6, lines * height + 0.8
    figure, grid = pyplot.subplots(
        lines, columns, figsize=size, squeeze=False, sharex=True, sharey=True, layout="constrained"
    )
    for ax in grid.flat[count:]:
        ax.set_visible(False)
    return figure, [*grid.flat[:count]]


def _label(ax: Any, tokens: Sequence[str] | None, rows: Any, shape: tuple[int, int], length: int) -> None:
    """Write tokens, or their numbers, along the axes of a map."""
    count, n = shape
    small = {"fontsize": 7 if max(count, n) > 12 else 8}
    if tokens is None:
        ax.tick_params(labelsize=8)
        ax.set_xticks([0, shape[1] + length - 1])
        ax.set_yticks([0, count - 1], [f"{rows[0]}", f"{rows[-1]}"])
        return
    ax.set_xticks(length + np.arange(n), tokens, rotation=90, **small)
    ax.set_yticks(np.arange(count), [tokens[row] if row >= 0 else "" for row in rows], **small)
    ax.tick_params(length=0)


def draw_shares(shares: ArrayLike, *, layers: Sequence[Any] | None = None) -> Any:
    """Draw the share of attention that a prefix takes: a row for each layer, a column for each head.

    Parameters
    ----------
    shares : array_like, shape (layers, heads)
        In [0, 1]; nan where there is no head.
    layers : sequence, optional
        Names of the layers; 0, 1, ... by default.

    Returns
    -------
    matplotlib.figure.Figure
        5.6 inches wide; numbers stand in the map where they have room.

    Raises
    ------
    TypeError, ValueError
        If shapes do not fit.

    Examples
    --------
    >>> from spherapprox.prompts.prefix import draw_shares
    >>> figure = draw_shares([[0.1, 0.9], [0.3, 0.05]])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['.10', '.90', '.30', '.05']
    """
    map_ = _checks.shaped(_checks.reals(shares, "shares"), "shares", ("layers", "heads"))
    lines, heads = map_.shape
    if not (np.nanmin(map_, initial=0.0) >= 0.0 and np.nanmax(map_, initial=0.0) <= _ROUNDED):
        raise ValueError(f"'shares' must be in [0, 1], got {np.nanmin(map_):g} to {np.nanmax(map_):g}")
    names = range(lines) if layers is None else _list_items(layers, "layers")
    if len(names) != lines:
        raise ValueError(f"'layers' must be {lines} names, as 'shares' has rows, got {len(names)}")
    from matplotlib import pyplot
    from matplotlib.ticker import MaxNLocator

    size = 5.6, min(0.9 + 0.3 * lines, 7.5)
    figure, ax = pyplot.subplots(figsize=size, layout="constrained")
    image = ax.imshow(map_, cmap="viridis", vmin=0.0, vmax=1.0, aspect="auto", interpolation="nearest")
    ax.set(xlabel="head", ylabel="layer")
    every = -(-lines // 24)
    ax.set_yticks(np.arange(0, lines, every), [str(name) for name in names][::every])
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    figure.colorbar(image, ax=ax, label="share of the prefix", aspect=20)
    if heads <= 16 and lines <= 24:
        _write(ax, map_)
    return figure


def _write(ax: Any, shares: Float64) -> None:
    """Write the shares into their cells."""
    for (i, j), share in np.ndenumerate(shares):
        if np.isfinite(share):
            text = f"{share:.2f}"
            colour = "black" if share > 0.6 else "white"
            ax.text(j, i, text.removeprefix("0"), ha="center", va="center", fontsize=8, color=colour)
