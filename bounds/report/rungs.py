"""The ladder of prefix lengths as a table, as curves over eps or dim, and as files."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from tabulate import tabulate

from spherapprox import _checks

from ..api import concentration, ladder
from ..records.bound import Bound
from ..theorems import state, state_all
from ..theorems._ladder import checked, in_float64, table
from ._curves import Curves
from ._files import write_csv, write_together
from ._progress import each

__all__ = ["Curves", "curves", "hypotheses", "records", "save", "table"]


def hypotheses(bounds: Sequence[Bound]) -> str:
    """Return the hypotheses of each theorem of a ladder with their truth, a line for each theorem.

    Parameters
    ----------
    bounds : sequence of Bound
        As in `table`.

    Returns
    -------
    str
        Lines of up to 120 characters; more follow, indented, where the hypotheses are longer.

    Raises
    ------
    TypeError
        As `table` does.

    Examples
    --------
    >>> import bounds
    >>> print(bounds.report.rungs.hypotheses(bounds.ladder(0.1, dim=8)[-1:]))
    lower  eps < sup_norm (holds)
    """
    lines = [(bound.theorem, "; ".join(map(str, bound.hypotheses)) or "none") for bound in checked(bounds)]
    return str(tabulate(lines, tablefmt="plain", disable_numparse=True, maxcolwidths=[None, 90]))


def ladder_with(
    eps: ArrayLike, *, jackson_constant: float | None = None, smoothness: float | None = None, **known: Any
) -> Any:
    """Return `bounds.ladder` with two options of theorems."""
    options = {"jackson_constant": jackson_constant, "smoothness": smoothness}
    return ladder(eps, theorems=state_all(**options), **known)


def curves(
    eps: ArrayLike, *, dim: ArrayLike, lipschitz: float = 1.0, sup_norm: float = 1.0, exponent: float = 1.0,
    jackson_constant: float | None = None, progress: bool | None = False, smoothness: float | None = None,
) -> Curves:  # fmt: skip
    """Evaluate the ladder along an axis: one of `eps` and `dim` is an array, the other a number.

    Parameters
    ----------
    eps, dim, lipschitz, sup_norm, exponent, jackson_constant, smoothness
        As in `bounds.ladder`.
    progress : bool or None
        Show progress on stderr: a bar on a terminal, elsewhere a line every few seconds; None: on a terminal only.

    Returns
    -------
    Curves

    Raises
    ------
    ValueError
        Unless exactly one of `eps` and `dim` is a one-dimensional array.

    Examples
    --------
    >>> found = curves([0.1, 0.5], dim=8)
    >>> found.log10["lower"].round(2)
    array([8.87, 3.37])
    """
    shapes = np.ndim(eps), np.ndim(dim)
    if sorted(shapes) != [0, 1]:
        raise ValueError(f"one of 'eps' and 'dim' must be a sequence, the other a number, got shapes {shapes}")
    over = "eps" if shapes[0] else "dim"
    axis = _checks.shaped(_checks.numeric(eps if shapes[0] else dim, over), over, ("n",))
    other = dim if shapes[0] else eps
    known: dict[str, Any] = {"lipschitz": lipschitz, "sup_norm": sup_norm, "exponent": exponent}
    known |= {"jackson_constant": jackson_constant, "smoothness": smoothness}
    found: list[Sequence[Bound]] = []
    for value in each(axis.tolist(), progress, "ladder", lambda value: f"{over} = {value:.4g}"):
        e, d = (value, other) if shapes[0] else (other, value)
        found.append(ladder_with(e, dim=d, **known))
    log10 = {
        rung[0].theorem: np.array([b.log10 if b.holds and math.isfinite(b.log) else math.nan for b in rung])
        for rung in zip(*found, strict=True)
    }
    sides: dict[str, str] = {bound.theorem: bound.side for bound in found[0]}
    return Curves(over, axis.astype(np.float64), float(np.asarray(other)), log10, sides)


FILES = {"ladder.csv": b"theorem,side,log10_n"} | dict.fromkeys(
    ("ladder_eps.png", "ladder_dim.png", "concentration.png"), b"spherapprox"
)
"""What `save` writes, and what stands near the beginning of each."""

EPS = np.geomspace(1e-3, 1.0, 31)
DIMS = np.array([1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64])


def save(
    out: str | os.PathLike[str], eps: float, *, dim: int, lipschitz: float = 1.0, sup_norm: float = 1.0,
    jackson_constant: float | None = None, progress: bool | None = False, smoothness: float | None = None,
) -> tuple[Path, ...]:  # fmt: skip
    """Write ladder.csv and the figures ladder_eps.png, ladder_dim.png and concentration.png; all of them or none.

    The axes run over eps/lipschitz from 1e-3 to 1 (and around the given eps), and over dim from 1 to 64.

    Parameters
    ----------
    out : str or os.PathLike
        The folder, made where there is none; files of these names in it are replaced.
    eps : float
        The sup error that ladder.csv is for.
    dim : int
        The dimension m that ladder.csv is for.
    lipschitz, sup_norm, jackson_constant, smoothness
        As in `bounds.ladder`.
    progress : bool or None
        Show progress on stderr: a bar on a terminal, elsewhere a line every few seconds; None: on a terminal only.

    Returns
    -------
    tuple of Path
        The files written.

    Raises
    ------
    ValueError, TypeError
        For arguments outside their ranges, and for an `out` that is no path.
    OSError
        When the folder cannot be written.

    Examples
    --------
    The figures take some seconds:

    >>> import bounds
    >>> [path.name for path in bounds.report.rungs.save("ladder", 0.3, dim=8, jackson_constant=1.0)]  # doctest: +SKIP
    ['concentration.png', 'ladder.csv', 'ladder_dim.png', 'ladder_eps.png']
    """
    from . import plot  # matplotlib is loaded when a figure is asked for

    _checks.instance(out, "out", str, os.PathLike, remedy="name a folder")
    options: dict[str, Any] = {"lipschitz": lipschitz, "sup_norm": sup_norm, "jackson_constant": jackson_constant}
    options["smoothness"] = smoothness
    rung = ladder_with(_checks.real(eps, "eps"), dim=_checks.dimension(dim), **options)
    axis = np.unique([*EPS * lipschitz, eps, 0.999 * sup_norm])
    axis = axis[axis < max(sup_norm, np.nextafter(axis[0], np.inf))]  # from sup_norm on, 0 is near enough
    by_eps = curves(axis, dim=dim, progress=progress, **options)
    by_dim = curves(eps, dim=np.unique(np.append(DIMS, dim)), progress=progress, **options)
    printed = concentration(axis, dim=dim, lipschitz=lipschitz, theorem=state("thesis-core", jackson_constant=1.0))
    proven = concentration(axis, dim=dim, lipschitz=lipschitz, theorem="thesis")
    sharp = concentration(axis, dim=dim, lipschitz=lipschitz)
    writers: dict[str, Callable[[Path], object]] = {
        "ladder.csv": lambda path: _write(rung, path),
        "ladder_eps.png": lambda path: plot.write(plot.ladder_figure(by_eps), path),
        "ladder_dim.png": lambda path: plot.write(plot.ladder_figure(by_dim), path),
        "concentration.png": lambda path: plot.write(
            plot.concentration_figure(axis, printed, proven, sharp, dim), path
        ),
    }
    return write_together(out, FILES, writers)


def _write(bounds: Sequence[Bound], path: Path) -> None:
    names = ("theorem", "side", "log10_n", "concentration", "radius", "holds", "hypotheses", "constants", "reference")
    write_csv(path, names, map(_row, bounds))


def _row(b: Bound) -> tuple[object, ...]:
    said = "; ".join(map(str, b.hypotheses))
    constants = "; ".join(f"{name} = {value!r}" for name, value in b.constants)
    return b.theorem, b.side, b.log10, b.concentration, b.radius, b.holds, said, constants, b.reference


def records(bounds: Sequence[Bound]) -> list[dict[str, Any]]:
    """Return a ladder for a JSON document, a record for each theorem.

    Parameters
    ----------
    bounds : sequence of Bound
        As in `table`.

    Returns
    -------
    list of dict
        "log10_n" is None, JSON's null, where a theorem says nothing; "in_float64" tells whether its head exists there.

    Raises
    ------
    TypeError
        As `table` does.

    Examples
    --------
    >>> import bounds
    >>> bounds.report.rungs.records(bounds.ladder(0.1, dim=8))[-1]["side"]
    'lower'
    """
    return [
        {
            "theorem": b.theorem, "side": b.side, "log10_n": b.log10 if math.isfinite(b.log) else None,
            "concentration": b.concentration, "radius": b.radius, "holds": b.holds,
            "in_float64": in_float64(b),
            "hypotheses": [{"statement": h.statement, "holds": h.holds} for h in b.hypotheses],
            "constants": dict(b.constants), "reference": b.reference,
        }
        for b in checked(bounds)
    ]  # fmt: skip
