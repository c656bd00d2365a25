"""Figures of directions: Schmidt and Wulff nets, densities on the globe, and roses on the circle.

The arguments are the same throughout: `x`, unit rows; `density`, an object with `logpdf`, `score_samples` or `pdf`, as
distributions here and in SciPy and estimators have, or a function that returns n values, none below 0 and of any total,
for unit rows (n, p); `ax`, Axes of Matplotlib to draw on, by default new ones, which are returned; `marks`, options of
``Axes.plot`` for points. Error names: TypeError and ValueError, if an argument is of the wrong kind, shape or range.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks, sphere, targets
from .._types import Float64
from . import nets
from .cones import confidence_cone
from .densities import read_directions

NETS = {"schmidt": "equal area", "wulff": "equal angle"}


def draw_net(
    x: ArrayLike | None = None, density: Any = None, cones: Any = (), *, shares: ArrayLike = (0.5, 0.95),
    net: str = "schmidt", hemisphere: str = "lower", axial: bool = False, ax: Any = None, **marks: Any,
) -> Any:  # fmt: skip
    """Draw directions (north, east, down) on a net: points, level sets of a density and cones of confidence.

    What points to the other hemisphere keeps its azimuth and is drawn open, or dashed, as in paleomagnetism; of axes
    the ends in the hemisphere are drawn, as in structural geology. Another call for the same `ax` adds to the net.

    Parameters
    ----------
    cones : pair or sequence of pairs
        (direction, angle) in radians, as `confidence_cone` returns it; pi/2 is for the great circle across a pole.
    shares : array_like
        In (0, 1): the smallest regions that hold so much of the density are drawn, to 0.002 for concentrations up to 40
        and to 0.02 for 2000.
    net, hemisphere : {"schmidt", "wulff"}, {"lower", "upper"}
        Equal area, where clusters can be compared; or equal angle, where cones are circles.
    axial : bool
        True where x and -x are one axis.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from spherapprox import VonMisesFisher, directional, sphere
    >>> x = VonMisesFisher(sphere.from_declination_inclination(10.0, 60.0), 30.0).rvs(25, rng=0)
    >>> ax = directional.draw_net(x, cones=directional.confidence_cone(x), ax=Figure().add_subplot(), label="site 1")
    >>> ax.get_legend_handles_labels()[1]
    ['site 1']
    """
    flip = np.ones(3) if _checks.choice(hemisphere, "hemisphere", ("lower", "upper")) == "lower" else nets.UPWARD
    text = f"{NETS[_checks.choice(net, 'net', NETS)]}\n{hemisphere} hemisphere"
    rows, axial = None if x is None else read_directions(x, dim=2) * flip, _checks.flag(axial, "axial")
    circles = [(pole * flip, angle) for pole, angle in nets.read_cones(cones)]
    levels = None if density is None else nets.net_levels(density, shares, flip, net=net, axial=axial)
    ax, marks = _axes(ax), _full_names(marks)
    rim = nets.draw_frame(ax, net, text)
    (line,) = ax.plot([], [], **marks)  # takes the next colour, if none is given
    line.remove()
    color = line.get_color()
    if levels is not None:
        nets.draw_levels(ax, *levels, color=color, rim=rim)
    for pole, angle in circles:
        nets.draw_cone(ax, pole, angle, net=net, color=color, rim=rim, axial=axial)
    if rows is not None:
        nets.mark(ax, rows, net, {"marker": "o", "markersize": 5.0, "zorder": 3.0, "color": color} | marks, axial=axial)
    return ax


def draw_globe(
    density: Any = None, x: ArrayLike | None = None, *, coastlines: bool = False, ax: Any = None, cmap: Any = None,
    **marks: Any,
) -> Any:  # fmt: skip
    """Draw a density on S^2 in colours, and points, on a map of the whole globe that keeps areas.

    Coordinates are those of `sphere.from_latitude_longitude`: the last axis is the north pole. Axes are Mollweide's;
    ``ax.figure.colorbar(ax.collections[0], ax=ax)`` adds a colour bar.

    Parameters
    ----------
    coastlines, cmap : bool; str or Colormap, optional
        Whether to draw the coasts of `targets.land`, and the colours of the density.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from spherapprox import VonMisesFisher, directional, sphere
    >>> vienna = VonMisesFisher(sphere.from_latitude_longitude(48.0, 16.2), 50.0)
    >>> ax = directional.draw_globe(vienna, ax=Figure().add_subplot(projection="mollweide"))
    >>> round(float(ax.collections[0].get_array().max()), 2)  # 50/(2 pi) per steradian
    7.96
    """
    rows = None if x is None else read_directions(x, dim=2)
    north, east = np.linspace(-90.0, 90.0, nets.SIZE), np.linspace(-180.0, 180.0, 2 * nets.SIZE - 1)
    if density is not None:
        logs, top = nets.read_logs(density, sphere.from_latitude_longitude(north[:, None], east))
    ax = _axes(ax, "mollweide")
    ax.tick_params(labelleft=False, labelbottom=False)
    if density is not None:
        style = {"shading": "gouraud", "rasterized": True, "cmap": cmap, "vmin": 0.0}
        ax.pcolormesh(np.radians(east), np.radians(north), np.exp(np.minimum(logs + top, 700.0)), **style)
    ax.grid(color="0.7", alpha=0.35, linewidth=0.5)
    if _checks.flag(coastlines, "coastlines"):
        north, east = np.arange(-89.75, 90.0, 0.5), np.arange(-179.75, 180.0, 0.5)  # the cells of it
        land = targets.land()(sphere.from_latitude_longitude(north[:, None], east).reshape(-1, 3))
        ax.contour(np.radians(east), np.radians(north), land.reshape(360, 720), [0.5], colors="0.5", linewidths=0.5)
    if rows is not None:
        places = sphere.to_latitude_longitude(rows, degrees=False)[::-1]
        ax.plot(*places, **{"marker": "o", "linestyle": "none", "markersize": 3.0, "zorder": 3.0} | _full_names(marks))
    return ax


def draw_rose(
    x: ArrayLike, density: Any = None, *, sectors: int = 16, level: float | None = 0.95, ax: Any = None, **bars: Any
) -> Any:
    """Draw directions (north, east) on the circle as a rose, with the mean direction and its arc of confidence.

    A sector's area is its share of the rows, since the eye compares areas. Radii are sqrt(2 share/width), and sqrt(2 f)
    for the density f, whose curve encloses the area of all sectors. Of axes give both ends, and no level.

    Parameters
    ----------
    sectors : int
        3 to 360, the first one about north.
    level : float, optional
        Confidence of the arc, by `confidence_cone` with "conditional". None: neither mean nor arc.
    ax : Axes, optional
        Polar ones; ``ax.set(theta_zero_location="E", theta_direction=1)`` makes them those of mathematics.
    bars : dict
        Options of ``Axes.bar``.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from spherapprox import directional, sphere
    >>> winds = sphere.from_polar([[-0.2], [0.1], [0.1], [0.7]])  # azimuths in radians
    >>> ax = directional.draw_rose(winds, ax=Figure().add_subplot(projection="polar"))
    >>> [round(float(bar.get_width() * bar.get_height() ** 2 / 2), 2) for bar in ax.patches[:3]]
    [0.5, 0.0, 0.25]
    """
    rows, count = read_directions(x, dim=1), _checks.integer(sectors, "sectors", minimum=3, maximum=360)
    mean, angle = (rows[0], 0.0) if level is None else confidence_cone(rows, level, "conditional")
    turns, width = np.linspace(0.0, 2.0 * math.pi, 1441), 2.0 * math.pi / count
    if density is not None:
        values = np.exp(nets.read_logs(density, np.stack([np.cos(turns), np.sin(turns)], axis=1))[0])
    # a row on a border, but for rounding, counts for the next sector
    places = np.floor(np.arctan2(rows[:, 1], rows[:, 0]) / width + (0.5 + 1e-9)).astype(int) % count
    shares = np.bincount(places, minlength=count) / len(rows)
    ax = _axes(ax, "polar")
    ax.set(theta_zero_location="N", theta_direction=-1)
    ax.set_xticks(0.25 * math.pi * np.arange(8), ["N", "NE", "E", "SE", "S", "SW", "W", "NW"])
    ax.grid(color="0.8", linewidth=0.6)
    ax.set_axisbelow(False)  # percentages are read on bars, too
    style = {"width": width, "edgecolor": "white", "linewidth": 0.8}
    ax.bar(width * np.arange(count), np.sqrt(2.0 * shares / width), **style | _full_names(bars, of_bars=True))
    if density is not None:
        ax.plot(turns, np.sqrt(values / (math.pi * values[:-1].mean())), color="black", linewidth=1.3, zorder=3.0)
    if level is not None:
        middle, radius = math.atan2(mean[1], mean[0]), 1.06 * ax.dataLim.ymax
        arc = middle + angle * np.linspace(-1.0, 1.0, 181)
        ax.plot(arc, np.full(181, radius), color="C3", linewidth=2.5, solid_capstyle="butt", zorder=4.0)
        ax.plot([middle, middle], [0.0, radius], color="C3", linewidth=1.5, zorder=4.0)
    _label_shares(ax, shares, width)
    return ax


def _axes(ax: Any, projection: str = "rectilinear") -> Any:
    """Return new axes, or those given if they are of the projection."""
    if ax is None:
        from matplotlib import pyplot

        return pyplot.subplots(subplot_kw={"projection": projection}, layout="constrained")[1]
    if getattr(ax, "name", "") != projection:
        remedy = f"figure.add_subplot(projection={projection!r}) makes them"
        raise _checks.wrong_type(ax, "ax", f"{projection} axes", remedy)
    return ax


def _full_names(options: dict[str, Any], *, of_bars: bool = False) -> dict[str, Any]:
    """Return options of lines, or of bars, by their full names, such as color for c."""
    from matplotlib import cbook, lines, patches

    return cbook.normalize_kwargs(options, patches.Rectangle if of_bars else lines.Line2D)


def _label_shares(ax: Any, shares: Float64, width: float) -> None:
    """Write percentages of the rows on the radial axis, where the rose is emptiest between two letters."""
    from matplotlib.ticker import MaxNLocator

    top = 100.0 * shares.max()
    ticks = [tick for tick in MaxNLocator(4).tick_values(0.0, top) if 0.0 < tick <= 1.1 * top]
    ax.set_yticks(np.sqrt(0.02 * np.array(ticks) / width), [f"{tick:g} %" for tick in ticks], fontsize="small")
    ax.set_ylim(0.0, 1.02 * ax.dataLim.ymax)
    between = math.pi * np.arange(0.125, 2.0, 0.25)
    emptiest = np.argmin(shares[np.rint(between / width).astype(int) % len(shares)])
    ax.set_rlabel_position(math.degrees(between[emptiest]))
