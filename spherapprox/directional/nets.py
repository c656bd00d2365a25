"""What figures of directions are made of: nets, and the values and level sets of densities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._types import Float64
from .densities import read_directions

SIZE, COARSE = 401, 0.02  # points across a net or from pole to pole, and the share of one that is too much
UPWARD = np.array([1.0, 1.0, -1.0])


def draw_frame(ax: Any, net: str, text: str) -> Any:
    """Draw the lines of a net, unless they are there, and return its rim."""
    for rim in (patch for patch in ax.patches if "hemisphere" in str(patch.get_gid())):
        if rim.get_gid() != text:
            raise ValueError(f"'ax' must hold no other net, got {rim.get_gid()!r} for {text!r}: take new axes")
        return rim
    fixed, turning = np.meshgrid(np.radians(range(10, 180, 10)), np.linspace(0.0, math.pi, 91), indexing="ij")
    for north, dip in ((turning, fixed), (fixed, turning)):  # great circles through north, and small ones about it
        points = np.stack([np.cos(north), np.sin(north) * np.cos(dip), np.sin(north) * np.sin(dip)], axis=-1)
        lines = np.pad(project(points, net), ((0, 0), (0, 1), (0, 0)), constant_values=math.nan)
        ax.plot(*lines.reshape(-1, 2).T, color="0.86", linewidth=0.5, zorder=0.5)
    for name, (right, up) in zip("NESW", ((0, 1), (1, 0), (0, -1), (-1, 0)), strict=True):
        ax.annotate(name, (right, up), (9 * right, 9 * up), textcoords="offset points", ha="center", va="center")
    ax.text(-1.12, -1.12, text, fontsize="small", color="0.4")
    ax.set(aspect="equal", xlim=(-1.15, 1.15), ylim=(-1.15, 1.15))
    ax.set_axis_off()
    turns = np.linspace(0.0, 2.0 * math.pi, 721)
    return ax.fill(np.cos(turns), np.sin(turns), fill=False, gid=text, zorder=2.5)[0]


def project(rows: Float64, net: str) -> Float64:
    """Return places, to the right and up: the unit disk for the lower hemisphere."""
    rise = 1.0 + rows[..., 2:]
    return rows[..., 1::-1] / (np.sqrt(rise) if net == "schmidt" else rise)


def mark(ax: Any, rows: Float64, net: str, style: dict[str, Any], *, axial: bool) -> None:
    """Draw directions, open ones where they point up, or the lower ends of axes."""
    down = rows[:, 2] >= 0.0
    rows = np.where(down[:, None], rows, -rows if axial else rows * UPWARD)
    style = {"linestyle": "none", "clip_on": False} | style
    for chosen, face in ((down | axial, {}), (~(down | axial), {"markerfacecolor": "white"})):
        if chosen.any():
            ax.plot(*project(rows[chosen], net).T, **style | face)
            style.pop("label", None)  # one line has it


def read_cones(cones: Any) -> list[tuple[Float64, float]]:
    """Return directions (1, 3) and angles of one pair, or of several."""
    try:
        several = [cones] if len(cones) and _checks.is_real(cones[-1]) else cones
        pairs = [(pole, angle) for pole, angle in several]
    except (IndexError, TypeError, ValueError):
        raise _checks.wrong_type(cones, "cones", "a pair (direction, angle) or several") from None
    limits: dict[str, Any] = {"minimum": 0.0, "maximum": math.pi, "why": "in radians"}
    return [(read_directions([p], "cones", dim=2), _checks.real(angle, "cones", **limits)) for p, angle in pairs]


def draw_cone(ax: Any, pole: Float64, angle: float, *, net: str, color: Any, rim: Any, axial: bool) -> None:
    """Draw a direction (1, 3) as a star and the circle about it."""
    turns = np.linspace(0.0, 2.0 * math.pi, 721)
    across = np.stack([np.cos(turns), np.sin(turns)], axis=1) @ np.linalg.svd(pole)[2][1:]
    circle = math.cos(angle) * pole + math.sin(angle) * across
    for sheet, dash in ((circle, "solid"), (-circle, "solid") if axial else (circle * UPWARD, "dashed")):
        # the rim cuts it; what lies far outside would be at infinity
        places = project(np.where(sheet[:, 2:] > -0.9, sheet, math.nan), net).T
        ax.plot(*places, color=color, linestyle=dash, linewidth=1.5, zorder=2.0)[0].set_clip_path(rim)
    style = {"color": color, "marker": "*", "markersize": 11.0, "markeredgecolor": "black", "markeredgewidth": 0.7}
    mark(ax, pole, net, style | {"zorder": 3.5}, axial=axial)


def net_levels(density: Any, shares: ArrayLike, flip: Float64, *, net: str, axial: bool) -> tuple[Any, Any, Any]:
    """Return a net's columns, log densities of both hemispheres, or of axes, and rising levels with their shares."""
    falling = np.sort(_checks.reals(shares, "shares", minimum=1e-6, maximum=1.0 - 1e-6, nan=False), axis=None)[::-1]
    side = np.linspace(-1.0, 1.0, SIZE)
    square = side * side + (side * side)[:, None]
    if net == "schmidt":
        factor, down, area = np.sqrt(np.maximum(2.0 - square, 0.0)), 1.0 - square, np.ones_like(square)
    else:
        factor, down, area = 2.0 / (1.0 + square), (1.0 - square) / (1.0 + square), (1.0 + square) ** -2.0
    rows = np.stack([factor * side[:, None], factor * side, down], axis=-1)
    logs, _ = read_logs(density, np.stack([rows, -rows if axial else rows * UPWARD]) * flip)
    logs = np.logaddexp(logs[:1], logs[1:]) if axial else logs
    order = np.argsort(-logs, axis=None, kind="stable")
    area *= np.clip(0.5 + (1.0 - np.sqrt(square)) / (side[1] - side[0]), 0.0, 1.0)  # the rim cuts cells
    masses = (np.exp(logs) * area).ravel()[order]
    masses /= masses.sum()
    if masses.max() > COARSE:
        _checks.warn_inaccurate(f"'density' is too narrow to be drawn: one point in {SIZE}^2 has {masses.max():.2g}")
    # a little lower, so that flat tops have a border
    levels = np.interp(falling, np.cumsum(masses) - 0.5 * masses, logs.ravel()[order]) - 1e-9
    return side, logs, dict(zip(levels.tolist(), falling.tolist(), strict=True))


def draw_levels(ax: Any, side: Float64, logs: Float64, levels: dict[float, float], *, color: Any, rim: Any) -> None:
    """Fill level sets of the lower hemisphere, inner ones darker, outline those of both, and write their shares."""
    for level in levels:
        ax.contourf(side, side, logs[0], [level, 1.0], colors=[color], alpha=0.15, zorder=1.0).set_clip_path(rim)
    for sheet, dash in zip(logs, ("solid", "dashed"), strict=False):
        if inside := [level for level in levels if sheet.min() < level < sheet.max()]:
            style = {"colors": [color], "linestyles": dash, "linewidths": 0.8}
            ax.contour(side, side, sheet, inside, **style).set_clip_path(rim)
    text = ", ".join(f"{100.0 * share:g}" for share in sorted(levels.values()))
    ax.text(1.12, -1.12, f"{text} % inside", fontsize="small", color="0.4", ha="right")


def read_logs(density: Any, rows: Float64) -> tuple[Float64, float]:
    """Return log densities of rows (..., p), at most 0 and at least -700, and what was subtracted for it."""
    flat = rows.reshape(-1, rows.shape[-1])
    name = next((name for name in ("logpdf", "score_samples", "pdf") if hasattr(density, name)), "")
    if not name:
        _checks.callable_(density, "density")
    values = getattr(density, name)(flat) if name else _checks.called(density, flat)
    is_log = name in ("logpdf", "score_samples")
    values = _checks.reals(values, "density", minimum=None if is_log else 0.0, nan=False)
    _checks.shaped(values, "density", (len(flat),), verb="return")
    with np.errstate(divide="ignore"):
        values = values if is_log else np.log(values)
    if not math.isfinite(top := float(values.max())):
        raise ValueError(f"'density' must be finite, and not 0 everywhere, got {math.exp(top):g} as its maximum")
    return np.maximum(values - top, -700.0).reshape(rows.shape[:-1]), top
