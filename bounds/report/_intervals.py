"""An inline SVG of bounds against intervals achieved, on a logarithmic axis; it takes its colours from the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from ..validation.check import Check


def chart(checks: Sequence[Check], unit: str) -> str:
    """Draw each check on a line: a bar for the interval, a tick for the bound; a wide and a narrow version."""
    shown = [c for c in checks if c.predicted and c.achieved and c.predicted < math.inf]
    if not shown:
        return ""
    ends = [value for c in shown for value in (c.predicted, c.achieved, c.upper) if value and value < math.inf]
    low, high = math.log10(min(ends)), math.log10(max(ends))
    margin = max(0.06 * (high - low), 0.05)
    limits = low - margin, high + margin
    return _drawn(shown, unit, limits, 960, 190, "wide") + _drawn(shown, unit, limits, 360, 0, "narrow")


def _drawn(shown: Sequence[Check], unit: str, limits: tuple[float, float], width: int, names: int, kind: str) -> str:
    """Draw one version: names to the left of the lines, or above them where `names` is 0."""
    step, top, pad = (34, 8, 14) if names else (46, 22, 14)
    height = top + step * len(shown) + 42
    bottom = height - 36

    def across(value: float) -> float:
        share = (math.log10(value) - limits[0]) / (limits[1] - limits[0])
        return names + pad + share * (width - names - 2 * pad)

    parts = []
    for value in _ticks(limits):
        x = across(value)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{bottom}"/>')
        parts.append(f'<text class="soft" x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{value:g}</text>')
    for line, check in enumerate(shown):
        parts.append(_line(check, across, top + step * line + step / 2, names))
    label = "error achieved (bar) and bound (tick)" + (f", {unit}" if unit else "")
    middle = names + (width - names) / 2
    parts.append(f'<text class="soft" x="{middle}" y="{height - 3}" text-anchor="middle">{escape(label)}</text>')
    said = escape("; ".join(f"{c.theorem}: bound {c.predicted:.4g}, achieved {c.achieved:.4g}" for c in shown))
    return f'<svg class="{kind}" viewBox="0 0 {width} {height}" role="img" aria-label="{said}">{"".join(parts)}</svg>'


def _line(check: Check, across: object, y: float, names: int) -> str:
    """Draw one check at a height."""
    assert callable(across)
    assert check.predicted is not None
    assert check.achieved is not None
    left, bound = across(check.achieved), across(check.predicted)
    right = across(check.upper) if check.upper < math.inf else left
    right = max(right, left + 3.0)
    place = f'x="{names - 8}" y="{y + 4:.1f}" text-anchor="end"' if names else f'x="14" y="{y - 14:.1f}"'
    return (
        f'<g class="{check.verdict.replace(" ", "-")}"><text {place}>{escape(check.theorem)}</text>'
        f'<line class="mark" x1="{right:.1f}" x2="{bound:.1f}" y1="{y}" y2="{y}" stroke-width="1.5" '
        f'stroke-dasharray="2 4"/>'
        f'<rect class="dot" x="{left:.1f}" y="{y - 6}" width="{right - left:.1f}" height="12" rx="1.5"/>'
        f'<line class="mark" x1="{bound:.1f}" x2="{bound:.1f}" y1="{y - 10}" y2="{y + 10}" stroke-width="3.5"/></g>'
    )


def _ticks(limits: tuple[float, float]) -> list[float]:
    """Return round numbers within the limits, which are decimal logarithms; at most seven."""
    low, high = math.ceil(limits[0]), math.floor(limits[1])
    factors = (1.0,) if high - low >= 3 else (1.0, 3.0) if high - low >= 1 else (1.0, 2.0, 3.0, 5.0, 7.0)
    every = max(1, math.ceil((high - low) / 6))
    values = [f * 10.0**k for k in range(low - 1, high + 1) if not k % every or len(factors) > 1 for f in factors]
    return [value for value in values if limits[0] <= math.log10(value) <= limits[1]]
