"""Figures of a program for recurrent models: what its variables are computed from, and what they are at each step."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from numpy.typing import ArrayLike

from spherapprox import _checks

from .style import BLUE, GREEN, ORANGE, PURPLE, Figure

_COLOURS = {
    "Input": "black", "Linear": "0.6", "LinState": BLUE, "ReLU": ORANGE, "Multiplicative": GREEN, "RunningMax": PURPLE,
}  # fmt: skip
_SWEEPS = 12


def program_figure(program: Any) -> Figure:
    """Draw the graph of a program, inputs on the left and the output on the right.

    There is a disc for the input, for each variable that is not linear, for linear ones with a name and for the output,
    with the number of entries in it, and with lines from all that it is computed from. States, which one step hands to
    the next, have a ring.

    Parameters
    ----------
    program : spherapprox.prompts.recurrent.Program

    Raises
    ------
    TypeError
        If it is no program.

    Examples
    --------
    >>> from bounds.report import plot
    >>> from spherapprox.prompts.recurrent import Input, LinState, Program, step
    >>> total = LinState(2.0 * Input(1, name="bits") - 1.0, 1.0, name="total")
    >>> figure = plot.program_figure(Program(step(total), "majority"))
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['1', 'bits', '1', 'total', '1', '1', '1', 'output']
    """
    _check(program)
    sources = _sources(program)
    places = _places(sources)
    columns = 1.0 + max(x for x, _ in places.values())
    rows = max(y for _, y in places.values()) - min(y for _, y in places.values())
    figure = Figure(figsize=(max(4.5, 0.9 * columns), 1.5 + 0.6 * rows), layout="constrained")
    axes: Any = figure.subplots()
    for node, before in sources.items():
        for source in before:
            axes.add_patch(_edge(places[source], places[node]))
        kind, place = _kind(node), places[node]
        axes.plot(*place, "o", ms=15.0, color=_COLOURS[kind], zorder=3)
        if kind in ("LinState", "RunningMax"):
            axes.plot(*place, "o", ms=20.0, mfc="none", mec=_COLOURS[kind], mew=1.5, zorder=2)
        axes.annotate(str(node.dim), place, color="white", ha="center", va="center", fontsize=9, zorder=4)
        if label := node.name or ("output" if node is program.output else ""):
            axes.annotate(label, place, (0, -12), textcoords="offset points", ha="center", va="top", fontsize=10)
    axes.set(xlim=(-0.6, columns - 0.4), title=program.name)
    axes.set_ylim(*np.add([-0.7, 0.5], axes.get_ylim()))
    axes.axis("off")
    kinds = [kind for kind in _COLOURS if any(_kind(node) == kind for node in sources)]
    handles = [Line2D([], [], color=_COLOURS[kind], marker="o", ls="", label=kind) for kind in kinds]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(kinds), frameon=False)
    return figure


def trace_figure(program: Any, x: ArrayLike) -> Figure:
    """Draw what the named variables of a program are: a row for each entry, a column for each step.

    Cells are as dark as their number is large among those of the variable; an arrow stands before states.

    Parameters
    ----------
    program : spherapprox.prompts.recurrent.Program
    x : array_like, shape (L, d)
        One sequence.

    Raises
    ------
    TypeError, ValueError
        If it is no program, x does not fit, no variable has a name, or there are more than 2000 cells.

    Examples
    --------
    >>> from bounds.report import plot
    >>> from spherapprox.prompts.recurrent import Input, LinState, Program
    >>> program = Program(LinState(Input(1, name="bit"), 1.0, name="count"))
    >>> figure = plot.trace_figure(program, [[1.0], [0.0], [1.0]])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['1', '0', '1', '1', '1', '2']
    """
    _check(program)
    traces = program.trace(x)
    if not traces:
        raise ValueError("'program' must have a variable with a name: see Variable.named")
    if next(iter(traces.values())).ndim != 2:
        raise ValueError(f"'x' must be one sequence, shape (L, d), got shape {np.shape(x)}")
    values = np.hstack(list(traces.values())).T
    if values.size > 2000:
        raise ValueError(f"'x' must be shorter: a figure has room for 2000 numbers, and these are {values.size}")
    largest = [np.full(v.shape[1], np.abs(v).max()) for v in traces.values()]
    figure = Figure(figsize=(1.6 + 0.42 * values.shape[1], 0.9 + 0.24 * len(values)), layout="constrained")
    axes: Any = figure.subplots()
    shares = values / np.maximum(np.concatenate(largest), np.finfo(float).tiny)[:, None]
    axes.imshow(shares, cmap="RdBu_r", vmin=-1.6, vmax=1.6, aspect="auto")
    for (row, step), number in np.ndenumerate(values):
        axes.text(step, row, f"{number + 0.0:.3g}", ha="center", va="center", fontsize=10)
    nodes = [node for node in program.variables if node.name is not None]  # in the order of their traces
    labels = [
        ("→ " if _kind(node) in ("LinState", "RunningMax") else "") + name + (f"[{i}]" if node.dim > 1 else "")
        for node, name in zip(nodes, traces, strict=True)
        for i in range(node.dim)
    ]
    axes.set_yticks(range(len(values)), labels, fontsize=10)
    for edge in np.cumsum([v.shape[1] for v in traces.values()])[:-1]:
        axes.axhline(edge - 0.5, color="0.4", lw=0.8)
    axes.set_xticks(range(values.shape[1]), range(1, values.shape[1] + 1), fontsize=10)
    axes.set(xlabel="step", title=program.name)
    return figure


def _check(program: Any) -> None:
    if not all(hasattr(program, part) for part in ("name", "variables", "output")):
        raise _checks.wrong_type(program, "program", "a Program")


def _kind(node: Any) -> str:
    """Return the kind of a variable as the legend has it."""
    return next(base.__name__ for base in type(node).__mro__ if base.__name__ in _COLOURS)


def _sources(program: Any) -> dict[Any, list[Any]]:
    """Return the variables that are drawn, each with those that it is computed from."""
    sources: dict[Any, list[Any]] = {}
    through: dict[Any, list[Any]] = {}
    for node in program.variables:
        before = list(dict.fromkeys(source for v in node.inputs for source in through[v]))
        visible = _kind(node) != "Linear" or node.name is not None or node is program.output
        through[node] = [node] if visible else before
        if visible:
            sources[node] = before
    return sources


def _places(sources: dict[Any, list[Any]]) -> dict[Any, tuple[float, float]]:
    """Return a place for each variable: right of all that it is computed from, near the mean height of neighbours."""
    column: dict[Any, int] = {}
    near = {node: list(before) for node, before in sources.items()}
    for node, before in sources.items():
        column[node] = 1 + max((column[v] for v in before), default=-1)
        for source in before:
            near[source].append(node)
    columns: list[list[Any]] = [[] for _ in range(1 + max(column.values()))]
    for node, place in column.items():
        columns[place].append(node)
    height = {node: _row(i, len(nodes)) for nodes in columns for i, node in enumerate(nodes)}
    for _ in range(_SWEEPS):
        for nodes in columns:
            heights = [float(np.mean([height[v] for v in near[node]] or [0.0])) for node in nodes]
            for i, k in enumerate(np.argsort(heights, kind="stable")):
                height[nodes[k]] = _row(i, len(nodes))
    return {node: (float(column[node]), height[node]) for node in sources}


def _row(i: int, count: int) -> float:
    """Return the height of a disc among those of its column; odd and even columns do not lie on one line."""
    return i - 0.5 * (count - 1.0) if count > 1 else 0.12


def _edge(start: tuple[float, float], end: tuple[float, float]) -> PathPatch:
    """Return a curve from one variable to another, level at both ends, and around those between them."""
    span, middle = end[0] - start[0], 0.5 * (start[0] + end[0])
    around = (0.0 if span < 1.5 else 0.35 + 0.06 * span) * (1.0 if start[1] + end[1] >= 0.0 else -1.0)
    points = [start, (middle, start[1] + around), (middle, end[1] + around), end]
    return PathPatch(Path(points, [Path.MOVETO, *[Path.CURVE4] * 3]), fc="none", ec="0.7", lw=0.9, zorder=1)
